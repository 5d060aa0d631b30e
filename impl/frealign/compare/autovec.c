// SPDX-License-Identifier: MIT
// autovec.c: cc3m, presb, sigma2 and ccoef: naive's steps as loops that a compiler vectorises, on one core or all. Ring numbers
// and the mask, which are the same for all trials, are computed once. Trials are distributed over threads.
//
// Bound: fp32, as for naive; the transforms are FFTW's.
#include "../autovec_section.h"
#include "index.h"
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

typedef enum { CC3M, PRESB, SIGMA2, CCOEF } routine;

typedef struct plan {
    fftwf_plan forward, inverse;
    int *ring;       // of each coefficient
    fr_masking mask; // for sigma2 `share` says whether a pixel is in the disc
    float *memory;   // for all threads
    size_t floats;   // per thread: plane, a, x, table of columns
} plan;

RG_HD float *image_of(const fr_call *p, float *plane, int which) {
    return plane + fr_rounded(2 * p->stored) + (size_t)which * fr_rounded(p->side * p->side);
}
RG_HD float *table_of(const fr_call *p, float *plane) { return image_of(p, plane, 2); }

static void finish(rg_call *call) {
    plan *s = (plan *)call->state;
    if (!s) return;
    if (s->forward) fftwf_destroy_plan(s->forward);
    if (s->inverse) fftwf_destroy_plan(s->inverse);
    fftwf_free(s->ring);
    fftwf_free(s->mask.share);
    fftwf_free(s->memory);
    free(s);
    call->state = NULL;
}

static int prepare(rg_call *call) {
    const fr_call p = fr_call_of(call);
    const int side = (int)p.side;
    plan *s = (plan *)(call->state = calloc(1, sizeof *s));
    if (!s) return RG_E_STATE;
    s->floats = fr_rounded(2 * p.stored) + 2 * fr_rounded(p.side * p.side) + fr_rounded(2 * p.width);
    s->memory = fftwf_alloc_real(s->floats * (size_t)call->threads);
    s->mask.share = fftwf_alloc_real(2 * (size_t)(p.side * p.side));
    s->ring = (int *)fftwf_malloc((size_t)p.stored * sizeof *s->ring);
    if (!s->memory || !s->mask.share || !s->ring) return RG_E_STATE;
    s->mask.edge = s->mask.share + p.side * p.side;
    for (int64_t e = 0; e < p.stored; e++) {
        const int64_t i = fr_i(p.side, e), j = fr_j(p.side, e);
        s->ring[e] = (int)fr_ring(i * i + j * j);
    }
    float *image = image_of(&p, s->memory, 0);
    s->forward = fftwf_plan_dft_r2c_2d(side, side, image, (fftwf_complex *)s->memory, FFTW_ESTIMATE);
    s->inverse = fftwf_plan_dft_c2r_2d(side, side, (fftwf_complex *)s->memory, image, FFTW_ESTIMATE);
    return s->forward && s->inverse ? RG_OK : RG_E_LIBRARY;
}

// ---- steps of a trial ----------------------------------------------------------------------------------------------------

// Loads the shifted particle in the band; flip: changes its sign where c < 0.
RG_HD void load_particle(const fr_call *p, int64_t at, int flip, float *restrict table, float *restrict plane) {
    const float *pose = p->pose + FR_POSE_FLOATS * at;
    const int64_t particle = at / p->trials * p->stored;
    fr_shift_columns(pose[6], p->width, table);
    memset(plane, 0, (size_t)p->stored * 2 * sizeof *plane);
    for (int64_t j = -p->outer + 1; j < p->outer; j++) {
        int64_t i, past;
        for (fr_band_row(p, j, &i, &past); i < past; i += FR_PIECE) {
            const int n = past - i < FR_PIECE ? (int)(past - i) : FR_PIECE;
            const int64_t from = fr_element(p->side, i, j);
            const float *restrict c = p->c + particle + from;
            float *restrict to = plane + 2 * from, Y[2 * FR_PIECE];
            fr_shift_piece(p->X + 2 * (particle + from), table + 2 * i, pose[7] * (float)j, n, Y);
            for (int e = 0; e < n; e++) {
                const float sign = flip && c[e] < 0 ? -1 : 1;
                to[2 * e] = sign * Y[2 * e];
                to[2 * e + 1] = sign * Y[2 * e + 1];
            }
        }
    }
}

// C, B, Q of every ring, from the masked section in the plane and the particle.
RG_HD void ring_sums(
    const plan *s, const fr_call *p, int64_t at, const float *plane, float *table, double sums[3][FR_SIDE_MAX / 2]) {
    const float *pose = p->pose + FR_POSE_FLOATS * at;
    fr_shift_columns(pose[6], p->width, table);
    for (int k = 0; k < 3; k++) memset(sums[k], 0, (size_t)fr_rings(p->side) * sizeof **sums);
    for (int64_t j = -p->outer + 1; j < p->outer; j++) {
        int64_t i, past;
        for (fr_band_row(p, j, &i, &past); i < past; i += FR_PIECE) {
            const int n = past - i < FR_PIECE ? (int)(past - i) : FR_PIECE;
            const int64_t from = fr_element(p->side, i, j);
            const float *restrict A = plane + 2 * from;
            const int *ring = s->ring + from;
            float Y[2 * FR_PIECE], c[FR_PIECE], b[FR_PIECE], q[FR_PIECE];
            fr_shift_piece(p->X + 2 * (at / p->trials * p->stored + from), table + 2 * i, pose[7] * (float)j, n, Y);
            for (int e = 0; e < n; e++) {
                c[e] = Y[2 * e] * A[2 * e] + Y[2 * e + 1] * A[2 * e + 1];
                b[e] = Y[2 * e] * Y[2 * e] + Y[2 * e + 1] * Y[2 * e + 1];
                q[e] = A[2 * e] * A[2 * e] + A[2 * e + 1] * A[2 * e + 1];
            }
            for (int e = 0; e < n; e++) { // the only loop that compilers do not vectorise: neighbours share rings
                sums[0][ring[e]] += c[e];
                sums[1][ring[e]] += b[e];
                sums[2][ring[e]] += q[e];
            }
        }
    }
}

RG_HD void write_rings(const fr_call *p, double sums[3][FR_SIDE_MAX / 2], float *cc) {
    for (int64_t k = 0; k < fr_rings(p->side); k++) {
        const double both = sums[1][k] * sums[2][k];
        cc[k] = both > 0 ? (float)(sums[0][k] / sqrt(both)) : 0;
    }
}

RG_HD float correlate(int64_t pixels, const float *restrict a, const float *restrict x) {
    double ax = 0, aa = 0, xx = 0;
#pragma omp simd reduction(+ : ax, aa, xx)
    for (int64_t e = 0; e < pixels; e++) {
        ax += (double)a[e] * x[e];
        aa += (double)a[e] * a[e];
        xx += (double)x[e] * x[e];
    }
    return aa * xx > 0 ? (float)(ax / sqrt(aa * xx)) : 0;
}

// Computes the means first, then the sums of deviations from them.
RG_HD void write_moments(const plan *s, int64_t pixels, const float *restrict a, const float *restrict x, float *moment) {
    const float *restrict disc = s->mask.share;
    double sum_a = 0, sum_x = 0, n = 0, all = 0, ax = 0, aa = 0, xx = 0;
#pragma omp simd reduction(+ : sum_a, sum_x, n, all)
    for (int64_t e = 0; e < pixels; e++) {
        sum_a += disc[e] * a[e];
        sum_x += disc[e] * x[e];
        n += disc[e];
        all += (double)x[e] * x[e];
    }
    const double mean_a = n > 0 ? sum_a / n : 0, mean_x = n > 0 ? sum_x / n : 0;
#pragma omp simd reduction(+ : ax, aa, xx)
    for (int64_t e = 0; e < pixels; e++) {
        const double from_a = disc[e] * (a[e] - mean_a), from_x = disc[e] * (x[e] - mean_x);
        ax += from_a * from_x;
        aa += from_a * from_a;
        xx += from_x * from_x;
    }
    const double sums[FR_MOMENTS] = {n > 0 ? ax / n : 0, n > 0 ? aa / n : 0, n > 0 ? xx / n : 0, all / (double)pixels};
    for (int i = 0; i < FR_MOMENTS; i++) moment[i] = (float)(sums[i] / (double)pixels / (double)pixels);
}

RG_HD void compare_trial(const plan *s, const fr_call *p, routine what, int64_t at, float *plane, float *out) {
    const int64_t pixels = p->side * p->side;
    float *a = image_of(p, plane, 0), *x = image_of(p, plane, 1), *table = table_of(p, plane);
    double sums[3][FR_SIDE_MAX / 2];
    fr_section_plane(p, at, what == SIGMA2, plane);
    fftwf_execute_dft_c2r(s->inverse, (fftwf_complex *)plane, a);
    if (what == CC3M || what == PRESB) {
        fr_masking_apply(&s->mask, p->side, a);
        fftwf_execute_dft_r2c(s->forward, a, (fftwf_complex *)plane);
        ring_sums(s, p, at, plane, table, sums);
        if (what == CC3M)
            *out = fr_score(p, sums[0], sums[1], sums[2]);
        else
            write_rings(p, sums, out);
        return;
    }
    load_particle(p, at, what == SIGMA2, table, plane);
    fftwf_execute_dft_c2r(s->inverse, (fftwf_complex *)plane, x);
    if (what == CCOEF)
        *out = correlate(pixels, a, x);
    else
        write_moments(s, pixels, a, x, out);
}
RG_AUTOVEC(compare_trial, (const plan *s, const fr_call *p, routine what, int64_t at, float *plane, float *out),
    (s, p, what, at, plane, out))

static int run(rg_call *call, routine what, int64_t outputs) {
    plan *s = (plan *)call->state;
    const fr_call p = fr_call_of(call);
    if (!s) return RG_E_STATE;
    if (what == CC3M || what == PRESB) fr_masking_fill(&s->mask, p.side, p.setting[0], 0);
    for (int64_t e = 0; what == SIGMA2 && e < p.side * p.side; e++)
        s->mask.share[e] = (float)fr_in_disc(p.setting[0], fr_square(p.side, e, 0));
    compare_trial_fn *trial = compare_trial_for(rg_cpu_has(RG_AUTOVEC_WIDE));
#pragma omp parallel for num_threads(call->threads) schedule(dynamic)
    for (int64_t at = 0; at < p.comparisons; at++) {
#ifdef _OPENMP
        float *own = s->memory + (size_t)omp_get_thread_num() * s->floats;
#else
        float *own = s->memory;
#endif
        trial(s, &p, what, at, own, (float *)call->arg[FR_SCORE] + outputs * at);
    }
    return RG_OK;
}

static int run_cc3m(rg_call *call) { return run(call, CC3M, 1); }
static int run_presb(rg_call *call) { return run(call, PRESB, fr_rings(call->shape->n[FR_SIDE])); }
static int run_sigma2(rg_call *call) { return run(call, SIGMA2, FR_MOMENTS); }
static int run_ccoef(rg_call *call) { return run(call, CCOEF, 1); }

// Nodes read, transforms of 5 n log2 n operations (two count as one multiply-add), and a dozen for each coefficient.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    const double n = fr_nodes(fr_interpolation(s->n[FR_KIND])), pixels = (double)(s->n[FR_SIDE] * s->n[FR_SIDE]);
    const double trials = (double)(s->n[FR_PARTICLES] * s->n[FR_TRIALS]),
                 band = 1.5708 * (double)(s->n[FR_OUTER] * s->n[FR_OUTER]);
    c->amount[RG_F32_MAD] = trials * (band * (2 * n * n * n + 12) + 2 * 1.25 * pixels * fr_log(pixels));
}

#define AUTOVEC(ALGO)                                                                                                          \
    {                                                                                                                          \
        .abi = RG_ABI, .bytes = sizeof(rg_variant), .algo = #ALGO, .name = "autovec",                                          \
        .idea = "naive's steps as a compiler vectorises them, no intrinsics; any number of cores", .role = RG_SIMD,            \
        .space = RG_HOST, .needs = RG_AUTOVEC_NEEDS, .flags = RG_THREADED, .refuse = fr_section_refuse, .cost = cost,          \
        .prepare = prepare, .run = run_##ALGO, .finish = finish,                                                               \
    }

RG_VARIANT(cc3m_autovec) = AUTOVEC(cc3m);
RG_VARIANT(presb_autovec) = AUTOVEC(presb);
RG_VARIANT(sigma2_autovec) = AUTOVEC(sigma2);
RG_VARIANT(ccoef_autovec) = AUTOVEC(ccoef);
