// SPDX-License-Identifier: MIT
// naive.c: ctfapply in plain C on one core: transform, shift, mask, transform, whitening, pass by pass.
#include "apply.h"
#include "../plain.h"
#include <string.h>

typedef struct work {
    fr_application call;
    fftwf_plan forward, inverse;
    fftwf_complex *plane;
    float *image;
} work;

static size_t scratch(const rg_shape *s, const int64_t *param) {
    const int64_t side = s->n[FR_SIDE];
    (void)param;
    return FR_PLAN_BYTES + sizeof(float) * (fr_rounded(2 * fr_stored(side)) + fr_rounded(side * side));
}

static work work_of(rg_call *call) {
    work w = {.call = fr_application_of(call), .forward = fr_plans(call)[0], .inverse = fr_plans(call)[1]};
    w.plane = (fftwf_complex *)fr_after_plans(call);
    w.image = (float *)w.plane + fr_rounded(2 * w.call.stored);
    return w;
}

static int prepare(rg_call *call) {
    const work w = work_of(call);
    const int side = (int)w.call.side;
    fr_plans(call)[0] = fftwf_plan_dft_r2c_2d(side, side, w.image, w.plane, FFTW_ESTIMATE);
    fr_plans(call)[1] = fftwf_plan_dft_c2r_2d(side, side, w.plane, w.image, FFTW_ESTIMATE);
    return fr_plans_made(call, 2);
}

static void finish(rg_call *call) { fr_plans_finish(call, 2); }

// Writes X0 to the plane and D to its argument.
static void shift_and_sign(const work *w, const fr_application *p, int64_t particle, float *D) {
    const float *shift = p->shift + 2 * particle;
    for (int64_t e = 0; e < p->stored; e++) {
        const float phase = shift[0] * (float)fr_i(p->side, e) + shift[1] * (float)fr_j(p->side, e);
        const float co = cosf(phase), si = sinf(phase), re = w->plane[e][0], im = w->plane[e][1];
        w->plane[e][0] = re * co - im * si;
        w->plane[e][1] = re * si + im * co;
    }
    fr_hermitian(p->side, fr_width(p->side), (float *)w->plane);
    for (int64_t e = 0; e < p->stored; e++) {
        const float sign = fr_sign(fr_i(p->side, e), fr_j(p->side, e));
        D[2 * e] = sign * w->plane[e][0];
        D[2 * e + 1] = sign * w->plane[e][1];
    }
}

// Computes c and X from Xm in the plane.
static void weigh(const work *w, const fr_application *p, const float *optics, float *X, float *c) {
    double power[FR_SIDE_MAX] = {0}, n[FR_SIDE_MAX] = {0};
    for (int64_t e = 0; e < p->stored; e++) {
        const int64_t i = fr_i(p->side, e), j = fr_j(p->side, e), k = fr_ring(i * i + j * j);
        power[k] += w->plane[e][0] * w->plane[e][0] + w->plane[e][1] * w->plane[e][1];
        n[k]++;
    }
    for (int64_t e = 0; e < p->stored; e++) {
        const int64_t i = fr_i(p->side, e), j = fr_j(p->side, e), k = fr_ring(i * i + j * j);
        c[e] = fr_ctf(optics, (float)i, (float)j);
        const float factor = fr_sign(i, j) * fr_apply_factor(p, c[e], k, (float)sqrt(power[k] / n[k]));
        X[2 * e] = factor * w->plane[e][0];
        X[2 * e + 1] = factor * w->plane[e][1];
    }
}

static int run(rg_call *call) {
    const work w = work_of(call);
    const fr_application *p = &w.call;
    for (int64_t particle = 0; particle < p->particles; particle++) {
        const int64_t first = particle * p->stored;
        memcpy(w.image, p->image + particle * p->side * p->side, (size_t)(p->side * p->side) * sizeof *w.image);
        fftwf_execute_dft_r2c(w.forward, w.image, w.plane);
        shift_and_sign(&w, p, particle, p->D + 2 * first);
        fftwf_execute_dft_c2r(w.inverse, w.plane, w.image);
        fr_mask_image(p->side, p->setting[0], p->side / 2, w.image);
        fftwf_execute_dft_r2c(w.forward, w.image, w.plane);
        weigh(&w, p, p->optics + FR_OPTICS * particle, p->X + 2 * first, p->c + first);
    }
    return RG_OK;
}

// Three transforms of 5/2 n log2 n operations, two of which count as one multiply-add.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    const double pixels = (double)(s->n[FR_SIDE] * s->n[FR_SIDE]);
    c->amount[RG_F32_MAD] = (double)s->n[FR_PARTICLES] * pixels * (3 * 1.25 * fr_log(pixels) + 40);
}

RG_VARIANT(ctfapply_naive) = {
    RG_VARIANT_OF(
        "ctfapply", "naive", RG_NAIVE, RG_HOST, "plain C: transform, shift, mask, transform, whitening, one pass each"),
    .scratch = scratch,
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .finish = finish,
};
