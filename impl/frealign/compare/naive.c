// SPDX-License-Identifier: MIT
// naive.c: cc3m, presb, sigma2 and ccoef in plain C on one core, loop by loop as in the paper: the baseline of all speed-ups.
//
// For each trial: the section, coefficient by coefficient, node by node; the inverse transform of the whole plane (FFTW); the
// mask in two passes; the forward transform; sums over all coefficients. sigma2 and ccoef also transform the particle back and
// sum over pixels. Sums are in double precision. Nothing is shared between trials, left out or vectorised on purpose.
#include "../call.h"
#include "../plain.h"
#include "index.h"
#include <string.h>

typedef struct work {
    fr_call call;
    fftwf_plan forward, inverse;
    fftwf_complex *plane; // half plane
    float *a, *x;         // images
} work;

static size_t scratch(const rg_shape *s, const int64_t *param) {
    const int64_t side = s->n[FR_SIDE];
    (void)param;
    return FR_PLAN_BYTES + sizeof(float) * (fr_rounded(2 * fr_stored(side)) + 2 * fr_rounded(side * side));
}

static work work_of(rg_call *call) {
    work w = {.call = fr_call_of(call), .forward = fr_plans(call)[0], .inverse = fr_plans(call)[1]};
    w.plane = (fftwf_complex *)fr_after_plans(call);
    w.a = (float *)w.plane + fr_rounded(2 * w.call.stored);
    w.x = w.a + fr_rounded(w.call.side * w.call.side);
    return w;
}

static int prepare(rg_call *call) {
    const work w = work_of(call);
    const int side = (int)w.call.side;
    fr_plans(call)[0] = fftwf_plan_dft_r2c_2d(side, side, w.a, w.plane, FFTW_ESTIMATE);
    fr_plans(call)[1] = fftwf_plan_dft_c2r_2d(side, side, w.plane, w.a, FFTW_ESTIMATE);
    return fr_plans_made(call, 2);
}

static void finish(rg_call *call) { fr_plans_finish(call, 2); }

// ---- steps ---------------------------------------------------------------------------------------------------------------

static const float *pose_of(const fr_call *p, int64_t at) { return p->pose + FR_POSE_FLOATS * at; }

// Loads the section in the band times f; absolute: f = 2|c|.
static void load_section(const work *w, int64_t at, int absolute) {
    const fr_call *p = &w->call;
    const float *c = p->c + at / p->trials * p->stored;
    memset(w->plane, 0, (size_t)p->stored * sizeof *w->plane);
    for (int64_t e = 0; e < p->stored; e++) {
        const int64_t i = fr_i(p->side, e), j = fr_j(p->side, e);
        if (!fr_in_band(p->side, i, j, p->inner, p->outer)) continue;
        const float f = absolute ? 2 * fabsf(c[e]) : fr_factor(p, c[e]);
        float S[2];
        fr_section(p, pose_of(p, at), i, j, S);
        w->plane[e][0] = f * S[0];
        w->plane[e][1] = f * S[1];
    }
}

// X e^{i s.q}.
static void shifted(const work *w, int64_t at, int64_t e, float Y[2]) {
    const fr_call *p = &w->call;
    const float *pose = pose_of(p, at), *X = p->X + 2 * (at / p->trials * p->stored + e);
    const float phase = pose[6] * (float)fr_i(p->side, e) + pose[7] * (float)fr_j(p->side, e), co = cosf(phase),
                si = sinf(phase);
    Y[0] = X[0] * co - X[1] * si;
    Y[1] = X[0] * si + X[1] * co;
}

static void load_particle(const work *w, int64_t at, int flip) {
    const fr_call *p = &w->call;
    const float *c = p->c + at / p->trials * p->stored;
    memset(w->plane, 0, (size_t)p->stored * sizeof *w->plane);
    for (int64_t e = 0; e < p->stored; e++) {
        if (!fr_in_band(p->side, fr_i(p->side, e), fr_j(p->side, e), p->inner, p->outer)) continue;
        float Y[2];
        shifted(w, at, e, Y);
        w->plane[e][0] = flip && c[e] < 0 ? -Y[0] : Y[0];
        w->plane[e][1] = flip && c[e] < 0 ? -Y[1] : Y[1];
    }
}

// C, B, Q of every ring: sums of the masked section in the plane with the particle.
static void compare_rings(const work *w, int64_t at, double *C, double *B, double *Q) {
    const fr_call *p = &w->call;
    load_section(w, at, 0);
    fftwf_execute_dft_c2r(w->inverse, w->plane, w->a);
    fr_mask_image(p->side, p->setting[0], 0, w->a);
    fftwf_execute_dft_r2c(w->forward, w->a, w->plane);
    memset(C, 0, (size_t)fr_rings(p->side) * sizeof *C);
    memset(B, 0, (size_t)fr_rings(p->side) * sizeof *B);
    memset(Q, 0, (size_t)fr_rings(p->side) * sizeof *Q);
    for (int64_t e = 0; e < p->stored; e++) {
        const int64_t i = fr_i(p->side, e), j = fr_j(p->side, e), k = fr_ring(i * i + j * j);
        if (!fr_in_band(p->side, i, j, p->inner, p->outer)) continue;
        const float *A = w->plane[e];
        float Y[2];
        shifted(w, at, e, Y);
        C[k] += Y[0] * A[0] + Y[1] * A[1];
        B[k] += Y[0] * Y[0] + Y[1] * Y[1];
        Q[k] += A[0] * A[0] + A[1] * A[1];
    }
}

// ---- the four routines ---------------------------------------------------------------------------------------------------

static int run_cc3m(rg_call *call) {
    const work w = work_of(call);
    double sums[3][FR_SIDE_MAX / 2];
    float *score = call->arg[FR_SCORE];
    for (int64_t at = 0; at < w.call.comparisons; at++) {
        compare_rings(&w, at, sums[0], sums[1], sums[2]);
        score[at] = fr_score(&w.call, sums[0], sums[1], sums[2]);
    }
    return RG_OK;
}

static int run_presb(rg_call *call) {
    const work w = work_of(call);
    const int64_t rings = fr_rings(w.call.side);
    double sums[3][FR_SIDE_MAX / 2];
    float *cc = call->arg[FR_SCORE];
    for (int64_t at = 0; at < w.call.comparisons; at++) {
        compare_rings(&w, at, sums[0], sums[1], sums[2]);
        for (int64_t k = 0; k < rings; k++) {
            const double both = sums[1][k] * sums[2][k];
            cc[at * rings + k] = both > 0 ? (float)(sums[0][k] / sqrt(both)) : 0;
        }
    }
    return RG_OK;
}

static int run_ccoef(rg_call *call) {
    const work w = work_of(call);
    float *cc = call->arg[FR_SCORE];
    for (int64_t at = 0; at < w.call.comparisons; at++) {
        double ax = 0, aa = 0, xx = 0;
        load_section(&w, at, 0);
        fftwf_execute_dft_c2r(w.inverse, w.plane, w.a);
        load_particle(&w, at, 0);
        fftwf_execute_dft_c2r(w.inverse, w.plane, w.x);
        for (int64_t e = 0; e < w.call.side * w.call.side; e++) {
            ax += (double)w.a[e] * w.x[e];
            aa += (double)w.a[e] * w.a[e];
            xx += (double)w.x[e] * w.x[e];
        }
        cc[at] = aa * xx > 0 ? (float)(ax / sqrt(aa * xx)) : 0;
    }
    return RG_OK;
}

// Computes the means first, then the sums of deviations from them.
static void moments(const work *w, float moment[FR_MOMENTS]) {
    const fr_call *p = &w->call;
    const double pixels = (double)(p->side * p->side);
    double sum_a = 0, sum_x = 0, n = 0, all = 0, ax = 0, aa = 0, xx = 0;
    for (int64_t e = 0; e < p->side * p->side; e++) {
        all += (double)w->x[e] * w->x[e];
        if (!fr_in_disc(p->setting[0], fr_square(p->side, e, 0))) continue;
        sum_a += w->a[e];
        sum_x += w->x[e];
        n++;
    }
    for (int64_t e = 0; e < p->side * p->side; e++) {
        if (!fr_in_disc(p->setting[0], fr_square(p->side, e, 0))) continue;
        const double a = w->a[e] - sum_a / n, x = w->x[e] - sum_x / n;
        ax += a * x;
        aa += a * a;
        xx += x * x;
    }
    const double sums[FR_MOMENTS] = {n > 0 ? ax / n : 0, n > 0 ? aa / n : 0, n > 0 ? xx / n : 0, all / pixels};
    for (int i = 0; i < FR_MOMENTS; i++) moment[i] = (float)(sums[i] / pixels / pixels); // the transforms' 1/N^2, squared
}

static int run_sigma2(rg_call *call) {
    const work w = work_of(call);
    for (int64_t at = 0; at < w.call.comparisons; at++) {
        load_section(&w, at, 1);
        fftwf_execute_dft_c2r(w.inverse, w.plane, w.a);
        load_particle(&w, at, 1);
        fftwf_execute_dft_c2r(w.inverse, w.plane, w.x);
        moments(&w, (float *)call->arg[FR_SCORE] + FR_MOMENTS * at);
    }
    return RG_OK;
}

// Nodes read, transforms of 5 n log2 n operations (two count as one multiply-add), and a dozen for each coefficient.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    const double n = fr_nodes(fr_interpolation(s->n[FR_KIND])), pixels = (double)(s->n[FR_SIDE] * s->n[FR_SIDE]);
    const double trials = (double)(s->n[FR_PARTICLES] * s->n[FR_TRIALS]),
                 band = 1.5708 * (double)(s->n[FR_OUTER] * s->n[FR_OUTER]);
    c->amount[RG_F32_MAD] = trials * (band * (2 * n * n * n + 12) + 2 * 1.25 * pixels * fr_log(pixels));
}

#define NAIVE(ALGO, IDEA)                                                                                                      \
    {                                                                                                                          \
        RG_VARIANT_OF(#ALGO, "naive", RG_NAIVE, RG_HOST, IDEA), .scratch = scratch, .cost = cost, .prepare = prepare,          \
                                                                .run = run_##ALGO, .finish = finish,                           \
    }

RG_VARIANT(cc3m_naive) = NAIVE(cc3m, "plain C: section, mask between two transforms, sums over coefficients");
RG_VARIANT(presb_naive) = NAIVE(presb, "plain C: cc3m's steps over all rings, a correlation for each");
RG_VARIANT(sigma2_naive) = NAIVE(sigma2, "plain C: section and particle transformed back, sums over the pixels of the disc");
RG_VARIANT(ccoef_naive) = NAIVE(ccoef, "plain C: section and particle transformed back, sums over all pixels");
