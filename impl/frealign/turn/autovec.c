// SPDX-License-Identifier: MIT
// autovec.c: ccp: naive's steps as loops that a compiler vectorises. The rotations of a direction are distributed over threads.
//
// Bound: FFTW's transform of (N/2)^2 points for every rotation.
#include "../autovec_section.h"
#include "index.h"
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct plan {
    fftwf_plan inverse, wide, lags;
    int64_t points, step;                // points per side of the lags' transform; lags are `step` points apart
    float *plane, *image, *padded, *big; // for one direction: the section, its image, padded, and the transform of that
    float *own;                          // per thread: a half plane of `points`, and its image
    size_t floats;
} plan;

static void finish(rg_call *call) {
    plan *s = (plan *)call->state;
    if (!s) return;
    const fftwf_plan plans[3] = {s->inverse, s->wide, s->lags};
    for (int i = 0; i < 3; i++)
        if (plans[i]) fftwf_destroy_plan(plans[i]);
    fftwf_free(s->plane);
    fftwf_free(s->own);
    free(s);
    call->state = NULL;
}

static int prepare(rg_call *call) {
    const int64_t side = call->shape->n[FR_SIDE], wide = FR_PAD_TURN * side;
    plan *s = (plan *)(call->state = calloc(1, sizeof *s));
    if (!s) return RG_E_STATE;
    s->points = side % 4 == 0 ? side / 2 : side;
    s->step = side % 4 == 0 ? 1 : 2;
    s->floats = fr_rounded(2 * fr_stored(s->points)) + fr_rounded(s->points * s->points);
    s->plane = fftwf_alloc_real(
        fr_rounded(2 * fr_stored(side)) + fr_rounded(side * side) + fr_rounded(wide * wide) + fr_rounded(2 * fr_stored(wide)));
    s->own = fftwf_alloc_real(s->floats * (size_t)call->threads);
    if (!s->plane || !s->own) return RG_E_STATE;
    s->image = s->plane + fr_rounded(2 * fr_stored(side));
    s->padded = s->image + fr_rounded(side * side);
    s->big = s->padded + fr_rounded(wide * wide);
    float *lags = s->own + fr_rounded(2 * fr_stored(s->points));
    s->inverse = fftwf_plan_dft_c2r_2d((int)side, (int)side, (fftwf_complex *)s->plane, s->image, FFTW_ESTIMATE);
    s->wide = fftwf_plan_dft_r2c_2d((int)wide, (int)wide, s->padded, (fftwf_complex *)s->big, FFTW_ESTIMATE);
    s->lags = fftwf_plan_dft_c2r_2d((int)s->points, (int)s->points, (fftwf_complex *)s->own, lags, FFTW_ESTIMATE);
    return s->inverse && s->wide && s->lags ? RG_OK : RG_E_LIBRARY;
}

// ---- once per direction --------------------------------------------------------------------------------------------------

RG_HD void ccp_section(const fr_call *p, int64_t at, float *plane) { fr_section_plane(p, at, 0, plane); }
RG_AUTOVEC(ccp_section, (const fr_call *p, int64_t at, float *plane), (p, at, plane))

// Pads to four times the width: the corners stay, the rest is the mean of the border.
static void pad(const plan *s, int64_t side, float scale) {
    const int64_t wide = FR_PAD_TURN * side, half = side / 2;
    double border = 0;
    for (int64_t e = 0; e < side; e++) {
        border += s->image[half * side + e] + s->image[(half - 1) * side + e];
        if (e != half && e != half - 1) border += s->image[e * side + half] + s->image[e * side + half - 1];
    }
    const float mean = scale * (float)(border / (double)(4 * side - 4));
    for (int64_t e = 0; e < wide * wide; e++) s->padded[e] = mean;
    for (int64_t y = 0; y < side; y++) {
        const float *from = s->image + y * side;
        float *to = s->padded + (y < half ? y : y + wide - side) * wide;
        for (int64_t x = 0; x < half; x++) {
            to[x] = scale * from[x];
            to[x + wide - half] = scale * from[x + half];
        }
    }
    fftwf_execute_dft_r2c(s->wide, s->padded, (fftwf_complex *)s->big);
}

// ---- once per rotation ---------------------------------------------------------------------------------------------------

RG_HD void ccp_rotation(
    const plan *s, const fr_call *p, const float *X, const float *turn, int v, float *restrict plane, float *cc) {
    const int wide = FR_PAD_TURN * (int)p->side, half = wide / 2, width = half + 1;
    const float co = turn[0], si = turn[1], *restrict big = s->big;
    int64_t across[2], down[2]; // change of from_i, from_j with i and with j
    double PP = 0, XX = 0;
    fr_quarter(v, 1, 0, &across[0], &across[1]);
    fr_quarter(v, 0, 1, &down[0], &down[1]);
    memset(plane, 0, (size_t)fr_stored(s->points) * 2 * sizeof *plane);
    for (int64_t j = -p->outer + 1; j < p->outer; j++) {
        int64_t first, past;
        fr_band_row(p, j, &first, &past);
        const int column = (int)first, n = (int)(past - first);
        const int i_step = (int)across[0], j_step = (int)across[1], i_row = (int)(down[0] * j), j_row = (int)(down[1] * j);
        const float *restrict x = X + 2 * fr_element(p->side, first, j);
        float *restrict W = plane + 2 * fr_element(s->points, first, j);
#pragma omp simd reduction(+ : PP, XX)
        for (int e = 0; e < n; e++) {
            const int i = i_step * (column + e) + i_row, row = j_step * (column + e) + j_row, mate = i < 0 ? -1 : 1;
            const float fi = (float)(mate * i), fj = (float)(mate * row);
            const int at_x = (int)fr_nearest(FR_PAD_TURN * (co * fi + -si * fj)),
                      at_y = (int)fr_nearest(FR_PAD_TURN * (si * fi + co * fj));
            const int right = at_x > half ? at_x - wide : at_x, flip = right < 0 ? -1 : 1, up = flip * at_y;
            const int at = 2 * ((up < 0 ? up + wide : up) * width + flip * right);
            const float re = big[at], im = (float)(flip * mate) * big[at + 1], a = x[2 * e], b = x[2 * e + 1];
            PP += re * re + im * im;
            XX += a * a + b * b;
            W[2 * e] = a * re + b * im;
            W[2 * e + 1] = b * re - a * im;
        }
    }
    float *image = plane + fr_rounded(2 * fr_stored(s->points));
    fftwf_execute_dft_c2r(s->lags, (fftwf_complex *)plane, image);
    const float scale = PP * XX > 0 ? (float)(1 / sqrt(PP * XX)) : 0;
    for (int64_t y = -FR_LAG; y <= FR_LAG; y++)
        for (int64_t x = -FR_LAG; x <= FR_LAG; x++) {
            const int64_t n = s->points, row = ((y * s->step) % n + n) % n, place = ((x * s->step) % n + n) % n;
            cc[fr_lag(x, y)] = scale * image[row * n + place];
        }
}
RG_AUTOVEC(ccp_rotation, (const plan *s, const fr_call *p, const float *X, const float *turn, int v, float *plane, float *cc),
    (s, p, X, turn, v, plane, cc))

static int run(rg_call *call) {
    const plan *s = (const plan *)call->state;
    fr_call p = fr_call_of(call);
    const int64_t turns = call->shape->n[FR_TURNS], all = FR_QUARTERS * turns, masked = call->shape->n[FR_KIND] & FR_MASKED;
    const int avx512 = rg_cpu_has(RG_AUTOVEC_WIDE);
    ccp_rotation_fn *rotation = ccp_rotation_for(avx512);
    if (!s) return RG_E_STATE;
    p.inner = 1; // n[5] is the number of turns here
    for (int64_t at = 0; at < p.comparisons; at++) {
        ccp_section_for(avx512)(&p, at, s->plane);
        fftwf_execute_dft_c2r(s->inverse, (fftwf_complex *)s->plane, s->image);
        if (masked) fr_mask_image(p.side, p.setting[0], 0, s->image);
        pad(s, p.side, masked ? 1 : 1 / ((float)p.side * (float)p.side));
#pragma omp parallel for num_threads(call->threads) schedule(dynamic)
        for (int64_t r = 0; r < all; r++) {
#ifdef _OPENMP
            float *own = s->own + (size_t)omp_get_thread_num() * s->floats;
#else
            float *own = s->own;
#endif
            rotation(s, &p, p.X + 2 * (at / p.trials * p.stored), (const float *)call->arg[FR_CCP_TURN] + 2 * (r % turns),
                (int)(r / turns), own, (float *)call->arg[FR_CCP_CC] + FR_LAGS * FR_LAGS * (at * all + r));
        }
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

RG_VARIANT(ccp_autovec) = {
    RG_VARIANT_OF("ccp", "autovec", RG_SIMD, RG_HOST,
        "naive's steps as a compiler vectorises them, no intrinsics; rotations over any number of cores"),
    .needs = RG_AUTOVEC_NEEDS,
    .flags = RG_THREADED,
    .refuse = fr_section_refuse,
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .finish = finish,
};
