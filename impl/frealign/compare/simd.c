// SPDX-License-Identifier: MIT
// simd.c: cc3m, presb, sigma2 and ccoef with AVX2, on one core or all.
//
// Work that is left out: coefficients outside the band are never visited, their columns are not transformed, nor are rows
// beyond the mask or the disc (simd_plane.h). The particle of cc3m and presb needs no transform, and ccoef needs none at all:
// by Parseval's theorem sums over all pixels are sums over coefficients, those with i > 0 counted twice. The same holds for
// sigma2's sum over all pixels. Sections are gathered row by row (simd_section.h). Trials are distributed over threads; results
// do not depend on their number.
//
// Bound: the section's reads from memory: samples of four pieces (trilinear), most of them a cache line each. A single call has
// only one trial for the threads. Measured: data/machines/h100-16xeon.tsv.
#include "../simd_plane.h"
#include "index.h"
#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct plan {
    fr_space space;
    int threads;
    uint16_t *ring; // of (i, |j|): ring[|j| * outer + i]
    float *plane;   // two per thread
    size_t plane_floats;
} plan;

static void plan_free(plan *p) {
    fr_space_free(&p->space);
    free(p->ring);
    fftwf_free(p->plane);
    free(p);
}

static void finish(rg_call *call) {
    if (call->state) plan_free(call->state);
    call->state = NULL;
}

static int prepare(rg_call *call) {
    const int64_t side = call->shape->n[FR_SIDE], b = call->shape->n[FR_OUTER];
    plan *p = call->state = calloc(1, sizeof *p);
    if (!p) return RG_E_STATE;
    p->threads = call->threads;
    p->plane_floats = fr_plane_floats(side);
    p->plane = fr_planes(side, 2 * call->threads);
    p->ring = malloc((size_t)(b * b) * sizeof *p->ring);
    const int made = p->plane && p->ring ? fr_space_make(&p->space, side, b < side / 2 ? b : side / 2) : RG_E_STATE;
    if (made != RG_OK) {
        finish(call);
        return made;
    }
    for (int64_t j = 0; j < b; j++)
        for (int64_t i = 0; i < b; i++) p->ring[j * b + i] = (uint16_t)fr_ring(i * i + j * j);
    return RG_OK;
}

// ---- rows of coefficients ------------------------------------------------------------------------------------------------

// One trial: its particle's arrays, its pose, and e^{i s_x i} for each column.
typedef struct trial {
    const fr_call *p;
    const float *X, *c, *pose;
    float turn[2 * (FR_SIDE_MAX / 2 + 1)];
} trial;

static void trial_begin(trial *t, const fr_call *p, int64_t at) {
    const int64_t particle = at / p->trials;
    t->p = p;
    t->X = p->X + 2 * particle * p->stored;
    t->c = p->c + particle * p->stored;
    t->pose = p->pose + FR_POSE_FLOATS * at;
    for (int64_t i = 0; i < p->outer; i++) {
        t->turn[2 * i] = (float)cos((double)t->pose[6] * (double)i);
        t->turn[2 * i + 1] = (float)sin((double)t->pose[6] * (double)i);
    }
}

// A0 of row j: the section times f; absolute: f = 2|c|. Clears coefficients outside the band.
FR_AVX2 static void section_row(const trial *t, int64_t j, int absolute, float *A) {
    const fr_call *p = t->p;
    const int64_t first = fr_band_first(p->inner, j), past = fr_band_past(p->side, p->outer, j);
    const float *c = t->c + fr_element(p->side, 0, j);
    fr_section_row(p, t->pose, j, first, past, A);
    for (int64_t i = 0; i < first; i++) A[2 * i] = A[2 * i + 1] = 0;
    for (int64_t i = first; i < past; i++) {
        const float f = absolute ? 2 * fabsf(c[i]) : p->squared ? c[i] * c[i] : 2 * c[i];
        A[2 * i] *= f;
        A[2 * i + 1] *= f;
    }
    memset(A + 2 * (past > first ? past : first), 0, (size_t)(p->width - (past > first ? past : first)) * 2 * sizeof *A);
}

// Y = X e^{i s.q} of row j in the band; flip: also times the sign of c.
FR_AVX2 static void particle_row(const trial *t, int64_t j, int flip, float *Y) {
    const fr_call *p = t->p;
    const int64_t first = fr_band_first(p->inner, j), past = fr_band_past(p->side, p->outer, j),
                  row = fr_element(p->side, 0, j);
    const float co = (float)cos((double)t->pose[7] * (double)j), si = (float)sin((double)t->pose[7] * (double)j);
    const float *X = t->X + 2 * row, *c = t->c + row;
    memset(Y, 0, (size_t)p->width * 2 * sizeof *Y);
    for (int64_t i = first; i < past; i++) {
        const float tr = t->turn[2 * i] * co - t->turn[2 * i + 1] * si, ti = t->turn[2 * i] * si + t->turn[2 * i + 1] * co;
        const float sign = flip && c[i] < 0 ? -1 : 1;
        Y[2 * i] = sign * (X[2 * i] * tr - X[2 * i + 1] * ti);
        Y[2 * i + 1] = sign * (X[2 * i] * ti + X[2 * i + 1] * tr);
    }
}

// Adds row j to the rings' sums.
FR_AVX2 static void add_rings(
    const trial *t, int64_t j, const float *Y, const float *A, const uint16_t *ring, double *C, double *B, double *Q) {
    const fr_call *p = t->p;
    const int64_t past = fr_band_past(p->side, p->outer, j);
    for (int64_t i = fr_band_first(p->inner, j); i < past; i++) {
        const int k = ring[llabs(j) * p->outer + i];
        C[k] += Y[2 * i] * A[2 * i] + Y[2 * i + 1] * A[2 * i + 1];
        B[k] += Y[2 * i] * Y[2 * i] + Y[2 * i + 1] * Y[2 * i + 1];
        Q[k] += A[2 * i] * A[2 * i] + A[2 * i + 1] * A[2 * i + 1];
    }
}

// ---- cc3m and presb ------------------------------------------------------------------------------------------------------

enum { RINGS_MAX = FR_SIDE_MAX / 2 };

static void load_section(const fr_space *s, const trial *t, int absolute, float *plane) {
    const int64_t b = t->p->outer;
    for (int64_t j = -b + 1; j < b; j++) section_row(t, j, absolute, fr_row(s, plane, j));
    for (int64_t j = b; j <= s->side - b; j++) memset(fr_row(s, plane, j), 0, (size_t)t->p->width * 2 * sizeof *plane);
}

static void compare_rings(const plan *state, const trial *t, float *plane, double sums[3][RINGS_MAX]) {
    const fr_space *s = &state->space;
    const int64_t b = t->p->outer;
    float Y[2 * (FR_SIDE_MAX / 2 + 1)];
    load_section(s, t, 0, plane);
    fr_back(s, plane);
    fr_mask_rows(s, plane);
    fr_forth(s, plane);
    memset(sums, 0, sizeof(double[3][RINGS_MAX]));
    for (int64_t j = -b + 1; j < b; j++) {
        particle_row(t, j, 0, Y);
        add_rings(t, j, Y, fr_row(s, plane, j), state->ring, sums[0], sums[1], sums[2]);
    }
}

static void cc3m(const plan *state, const trial *t, float *plane, float *score) {
    double sums[3][RINGS_MAX];
    compare_rings(state, t, plane, sums);
    *score = fr_score(t->p, sums[0], sums[1], sums[2]);
}

static void presb(const plan *state, const trial *t, float *plane, float *cc) {
    double sums[3][RINGS_MAX];
    compare_rings(state, t, plane, sums);
    for (int64_t k = 0; k < fr_rings(t->p->side); k++) {
        const double both = sums[1][k] * sums[2][k];
        cc[k] = both > 0 ? (float)(sums[0][k] / sqrt(both)) : 0;
    }
}

// ---- ccoef and sigma2 ----------------------------------------------------------------------------------------------------

typedef struct products {
    double a, x, ax, aa, xx; // sums of a, x and their products
} products;

FR_AVX2 FR_INLINE double add_up(__m256d v) {
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

// Adds the sums over n numbers and over their products, in double precision.
FR_AVX2 static void add_products(const float *a, const float *x, int64_t n, products *to) {
    __m256d sum[5];
    for (int i = 0; i < 5; i++) sum[i] = _mm256_setzero_pd();
    int64_t e = 0;
    for (; e + 4 <= n; e += 4) {
        const __m256d u = _mm256_cvtps_pd(_mm_loadu_ps(a + e)), v = _mm256_cvtps_pd(_mm_loadu_ps(x + e));
        sum[0] = _mm256_add_pd(sum[0], u);
        sum[1] = _mm256_add_pd(sum[1], v);
        sum[2] = _mm256_fmadd_pd(u, v, sum[2]);
        sum[3] = _mm256_fmadd_pd(u, u, sum[3]);
        sum[4] = _mm256_fmadd_pd(v, v, sum[4]);
    }
    products p = {add_up(sum[0]), add_up(sum[1]), add_up(sum[2]), add_up(sum[3]), add_up(sum[4])};
    for (; e < n; e++) {
        p.a += a[e];
        p.x += x[e];
        p.ax += (double)a[e] * x[e];
        p.aa += (double)a[e] * a[e];
        p.xx += (double)x[e] * x[e];
    }
    *to = (products){to->a + p.a, to->x + p.x, to->ax + p.ax, to->aa + p.aa, to->xx + p.xx};
}

// Columns with i > 0 count for their mates, too.
FR_AVX2 static void ccoef(const plan *state, const trial *t, float *plane, float *cc) {
    const int64_t b = t->p->outer, columns = state->space.columns;
    float *A = plane, *Y = plane + 2 * state->space.pitch;
    products once = {0}, twice = {0};
    for (int64_t j = -b + 1; j < b; j++) {
        section_row(t, j, 0, A);
        particle_row(t, j, 0, Y);
        add_products(A, Y, 2, &once);
        add_products(A + 2, Y + 2, 2 * (columns - 1), &twice);
    }
    const double ax = once.ax + 2 * twice.ax, aa = once.aa + 2 * twice.aa, xx = once.xx + 2 * twice.xx;
    *cc = aa * xx > 0 ? (float)(ax / sqrt(aa * xx)) : 0;
}

FR_AVX2 static void sigma2(const plan *state, const trial *t, float *plane, float *moment) {
    const fr_space *s = &state->space;
    const int64_t b = t->p->outer, side = s->side;
    float *other = plane + state->plane_floats;
    products once = {0}, twice = {0}, disc = {0};
    double n = 0;
    load_section(s, t, 1, plane);
    for (int64_t j = b; j <= side - b; j++) memset(fr_row(s, other, j), 0, (size_t)t->p->width * 2 * sizeof *other);
    for (int64_t j = -b + 1; j < b; j++) {
        float *Y = fr_row(s, other, j);
        particle_row(t, j, 1, Y);
        add_products(Y, Y, 2, &once);
        add_products(Y + 2, Y + 2, 2 * (s->columns - 1), &twice);
    }
    fr_back(s, plane);
    fr_back(s, other);
    for (int64_t y = fr_rows_from(s); y < s->rows; y++) {
        const int64_t past = s->edge_past[llabs(y)], right = past < side / 2 ? past : side / 2;
        const float *a = fr_row(s, plane, y), *x = fr_row(s, other, y);
        add_products(a, x, right, &disc);
        add_products(a + side + 1 - past, x + side + 1 - past, past - 1, &disc);
        n += (double)(right + past - 1);
    }
    const double pixels = (double)(side * side), scale = n > 0 ? 1 / (n * pixels * pixels) : 0;
    moment[0] = n > 0 ? (float)(scale * (disc.ax - disc.a * disc.x / n)) : 0;
    moment[1] = n > 0 ? (float)(scale * fmax(disc.aa - disc.a * disc.a / n, 0)) : 0;
    moment[2] = n > 0 ? (float)(scale * fmax(disc.xx - disc.x * disc.x / n, 0)) : 0;
    moment[3] = (float)((once.xx + 2 * twice.xx) / (pixels * pixels));
}

// ---- all trials ----------------------------------------------------------------------------------------------------------

typedef void routine(const plan *, const trial *, float *plane, float *out);

static int run(rg_call *call, routine *one, int64_t outputs, int disc) {
    plan *state = call->state;
    const fr_call p = fr_call_of(call);
    float *out = call->arg[FR_SCORE];
    if (!state) return RG_E_STATE;
    if (disc)
        fr_space_disc(&state->space, p.setting[0]);
    else
        fr_space_mask(&state->space, p.setting[0]);
#pragma omp parallel num_threads(state->threads)
    {
        trial t;
#ifdef _OPENMP
        float *plane = state->plane + 2 * (size_t)omp_get_thread_num() * state->plane_floats;
#else
        float *plane = state->plane;
#endif
#pragma omp for schedule(dynamic)
        for (int64_t at = 0; at < p.comparisons; at++) {
            trial_begin(&t, &p, at);
            one(state, &t, plane, out + outputs * at);
        }
    }
    return RG_OK;
}

static int run_cc3m(rg_call *call) { return run(call, cc3m, 1, 0); }
static int run_presb(rg_call *call) { return run(call, presb, fr_rings(call->shape->n[FR_SIDE]), 0); }
static int run_ccoef(rg_call *call) { return run(call, ccoef, 1, 0); }
static int run_sigma2(rg_call *call) { return run(call, sigma2, FR_MOMENTS, 1); }

// The pieces of the reference that the samples read, one cache line each, and the transforms of the kept columns and rows.
static void cost_of(const rg_shape *s, double transforms, rg_cost *c) {
    const double n = fr_nodes(fr_interpolation(s->n[FR_KIND])), side = (double)s->n[FR_SIDE], b = (double)s->n[FR_OUTER];
    const double trials = (double)(s->n[FR_PARTICLES] * s->n[FR_TRIALS]), band = 1.5708 * b * b;
    c->amount[RG_F32_MAD] =
        trials * (band * (2 * n * n * n + 20) + transforms * side * (2.5 * b + 0.85 * 1.25 * side) * fr_log(side));
    c->amount[RG_MEM_BYTES] = trials * band * (12 + 64 * n * n / (1 + n / 3)); // adjacent samples share lines
}
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) { (void)param, cost_of(s, 2, c); }
static void cost_ccoef(const rg_shape *s, const int64_t *param, rg_cost *c) { (void)param, cost_of(s, 0, c); }

#define SIMD(ALGO, IDEA, COST)                                                                                                 \
    {                                                                                                                          \
        RG_VARIANT_OF(#ALGO, "simd", RG_SIMD, RG_HOST, IDEA), .needs = "avx2", .flags = RG_THREADED, .cost = COST,             \
                                                              .prepare = prepare, .run = run_##ALGO, .finish = finish,         \
    }

RG_VARIANT(cc3m_simd) = SIMD(cc3m, "AVX2; only columns of the band and rows of the mask are transformed", cost);
RG_VARIANT(presb_simd) = SIMD(presb, "AVX2; cc3m's steps over all rings", cost);
RG_VARIANT(sigma2_simd) = SIMD(sigma2, "AVX2; only columns of the band and rows of the disc are transformed", cost);
RG_VARIANT(ccoef_simd) = SIMD(ccoef, "AVX2; by Parseval's theorem, no transform at all", cost_ccoef);
