// SPDX-License-Identifier: MIT
// naive.c: ccp in plain C on one core, as in FREALIGN: one transform per rotation.
//
// The section's image is padded to four times its side and transformed once per direction. For every rotation the coefficients
// are looked up, multiplied with the particle's, and transformed back over N/2 x N/2 points if that side is even, else over N x
// N points of which every second is used; the 15 x 15 lags are taken from it.
#include "../call.h"
#include "../plain.h"
#include "index.h"
#include <string.h>

typedef struct work {
    fr_call call;
    fftwf_plan inverse, wide, lags;
    int64_t points, step;       // points per side of the lags' transform; lags are `step` points apart
    fftwf_complex *plane, *big; // half planes of the section and of its padded image; plane is also used for the lags
    float *image, *padded;
} work;

static size_t scratch(const rg_shape *s, const int64_t *param) {
    const int64_t side = s->n[FR_SIDE], wide = FR_PAD_TURN * side;
    (void)param;
    return FR_PLAN_BYTES +
        sizeof(float) *
        (fr_rounded(2 * fr_stored(side)) + fr_rounded(2 * fr_stored(wide)) + fr_rounded(side * side) + fr_rounded(wide * wide));
}

static work work_of(rg_call *call) {
    work w = {.call = fr_call_of(call), .inverse = fr_plans(call)[0], .wide = fr_plans(call)[1], .lags = fr_plans(call)[2]};
    const int64_t side = w.call.side, wide = FR_PAD_TURN * side;
    w.points = side % 4 == 0 ? side / 2 : side;
    w.step = side % 4 == 0 ? 1 : 2;
    w.plane = (fftwf_complex *)fr_after_plans(call);
    w.big = (fftwf_complex *)((float *)w.plane + fr_rounded(2 * fr_stored(side)));
    w.image = (float *)w.big + fr_rounded(2 * fr_stored(wide));
    w.padded = w.image + fr_rounded(side * side);
    return w;
}

static int prepare(rg_call *call) {
    const work w = work_of(call);
    const int side = (int)w.call.side, wide = FR_PAD_TURN * side, points = (int)w.points;
    fr_plans(call)[0] = fftwf_plan_dft_c2r_2d(side, side, w.plane, w.image, FFTW_ESTIMATE);
    fr_plans(call)[1] = fftwf_plan_dft_r2c_2d(wide, wide, w.padded, w.big, FFTW_ESTIMATE);
    fr_plans(call)[2] = fftwf_plan_dft_c2r_2d(points, points, w.plane, w.image, FFTW_ESTIMATE);
    return fr_plans_made(call, 3);
}

static void finish(rg_call *call) { fr_plans_finish(call, 3); }

// ---- once per direction --------------------------------------------------------------------------------------------------

static void load_section(const work *w, int64_t at) {
    const fr_call *p = &w->call;
    const float *c = p->c + at / p->trials * p->stored;
    memset(w->plane, 0, (size_t)p->stored * sizeof *w->plane);
    for (int64_t e = 0; e < p->stored; e++) {
        const int64_t i = fr_i(p->side, e), j = fr_j(p->side, e);
        if (!fr_in_band(p->side, i, j, 1, p->outer)) continue;
        float S[2];
        fr_section(p, p->pose + FR_POSE_FLOATS * at, i, j, S);
        w->plane[e][0] = fr_factor(p, c[e]) * S[0];
        w->plane[e][1] = fr_factor(p, c[e]) * S[1];
    }
    fftwf_execute_dft_c2r(w->inverse, w->plane, w->image);
}

// Pads to four times the width: the corners stay, the rest is the mean of the border.
static void pad(const work *w, float scale) {
    const int64_t side = w->call.side, wide = FR_PAD_TURN * side;
    double border = 0;
    for (int64_t e = 0; e < side * side; e++) {
        const int64_t x = fr_offset(side, e % side), y = fr_offset(side, e / side);
        if (x == -side / 2 || x == side / 2 - 1 || y == -side / 2 || y == side / 2 - 1) border += w->image[e];
    }
    const float mean = (float)(border / (double)(4 * side - 4));
    for (int64_t e = 0; e < wide * wide; e++) w->padded[e] = scale * mean;
    for (int64_t e = 0; e < side * side; e++) {
        const int64_t x = fr_offset(side, e % side), y = fr_offset(side, e / side);
        w->padded[(y < 0 ? y + wide : y) * wide + (x < 0 ? x + wide : x)] = scale * w->image[e];
    }
    fftwf_execute_dft_r2c(w->wide, w->padded, w->big);
}

// ---- once per rotation ---------------------------------------------------------------------------------------------------

// P_u(i, j) for any i and j.
static void turned(const work *w, const float *turn, int64_t i, int64_t j, float P[2]) {
    const int64_t wide = FR_PAD_TURN * w->call.side;
    const float mate = i < 0 ? -1 : 1;
    const float x = fr_product_sum(turn[0], mate * (float)i, -turn[1], mate * (float)j);
    const float y = fr_product_sum(turn[1], mate * (float)i, turn[0], mate * (float)j);
    int64_t at[3] = {(int64_t)fr_nearest(FR_PAD_TURN * x), (int64_t)fr_nearest(FR_PAD_TURN * y), 0};
    const float sign = fr_fold(wide, &at[0], &at[1], &at[2]) ? -mate : mate;
    const float *big = w->big[fr_element(wide, at[0], at[1])];
    P[0] = big[0];
    P[1] = sign * big[1];
}

static void rotation(const work *w, const float *X, const float *turn, int v, float *cc) {
    const fr_call *p = &w->call;
    const int64_t b = p->outer;
    double PP = 0, XX = 0;
    memset(w->plane, 0, (size_t)fr_stored(w->points) * sizeof *w->plane);
    for (int64_t j = -b; j <= b; j++)
        for (int64_t i = 0; i < b; i++) {
            if (!fr_in_band(p->side, i, j, 1, b)) continue;
            const float *x = X + 2 * fr_element(p->side, i, j);
            int64_t from_i, from_j;
            float P[2];
            fr_quarter(v, i, j, &from_i, &from_j);
            turned(w, turn, from_i, from_j, P);
            PP += P[0] * P[0] + P[1] * P[1];
            XX += x[0] * x[0] + x[1] * x[1];
            float *W = w->plane[fr_element(w->points, i, j)];
            W[0] = x[0] * P[0] + x[1] * P[1];
            W[1] = x[1] * P[0] - x[0] * P[1];
        }
    fftwf_execute_dft_c2r(w->lags, w->plane, w->image);
    const float scale = PP * XX > 0 ? (float)(1 / sqrt(PP * XX)) : 0;
    for (int64_t y = -FR_LAG; y <= FR_LAG; y++)
        for (int64_t x = -FR_LAG; x <= FR_LAG; x++) {
            const int64_t n = w->points, row = ((y * w->step) % n + n) % n, column = ((x * w->step) % n + n) % n;
            cc[fr_lag(x, y)] = scale * w->image[row * n + column];
        }
}

static int run(rg_call *call) {
    const work w = work_of(call);
    const fr_call *p = &w.call;
    const int64_t turns = call->shape->n[FR_TURNS], masked = call->shape->n[FR_KIND] & FR_MASKED;
    const float *turn = call->arg[FR_CCP_TURN];
    float *cc = call->arg[FR_CCP_CC];
    for (int64_t at = 0; at < p->comparisons; at++) {
        load_section(&w, at);
        if (masked) fr_mask_image(p->side, p->setting[0], 0, w.image);
        pad(&w, masked ? 1 : 1 / ((float)p->side * (float)p->side));
        for (int64_t r = 0; r < FR_QUARTERS * turns; r++, cc += FR_LAGS * FR_LAGS)
            rotation(&w, p->X + 2 * (at / p->trials * p->stored), turn + 2 * (r % turns), (int)(r / turns), cc);
    }
    return RG_OK;
}

// A transform of (N/2)^2 points for every rotation.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    const double points = (double)(s->n[FR_SIDE] * s->n[FR_SIDE]) / 4, wide = 64 * points;
    const double directions = (double)(s->n[FR_PARTICLES] * s->n[FR_TRIALS]);
    c->amount[RG_F32_MAD] = directions * 1.25 * (wide * fr_log(wide) + (double)fr_turns(s) * points * fr_log(points));
}

RG_VARIANT(ccp_naive) = {
    RG_VARIANT_OF("ccp", "naive", RG_NAIVE, RG_HOST, "plain C: coefficients looked up and a transform for every rotation"),
    .scratch = scratch,
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .finish = finish,
};
