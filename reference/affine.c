// SPDX-License-Identifier: MIT
// affine.c: an image or volume under affine maps by linear interpolation, and its Pearson correlation with a reference (Garcia
// et al. 2014, eqs 1 and 2), in double.
//
// Result pixel p comes from q = c + M (p - c) + t of the input, c = floor(side / 2) along each axis. The same code handles two
// and three dimensions: an image is one plane of a volume, whose map does not change z, so that no other plane contributes.
// Outside: 0 zero, 1 nearest edge, 2 takes no part beyond 1/64 pixel. The correlation has two passes: the means, then the
// products of the differences from them.
#include "reference.h"
#include <math.h>
#include <stdlib.h>

typedef struct problem {
    int64_t side[3]; // x, y, z
    int64_t maps;
    int dims, outside;
    const float *image, *reference, *matrix;
} problem;

// affine2d has arguments image, matrix, transformed; the two others image, reference, matrix, rho, pixels.
static problem problem_of(const rg_shape *s, void *const *arg, int dims, int correlate) {
    problem p = {{s->n[0], s->n[1], dims == 3 ? s->n[2] : 1}, s->n[dims], dims, (int)s->n[dims + 1], arg[0], 0, arg[1]};
    if (correlate) {
        p.reference = arg[1];
        p.matrix = arg[2];
    }
    return p;
}

static int64_t volume(const problem *p) { return p->side[0] * p->side[1] * p->side[2]; }

static double pixel(const problem *p, const int64_t at[3]) {
    return p->image[(at[2] * p->side[1] + at[1]) * p->side[0] + at[0]];
}

// The place q of the input that pixel e of the result comes from.
static void source(const problem *p, int64_t map, int64_t e, double q[3]) {
    const int64_t at[3] = {e % p->side[0], e / p->side[0] % p->side[1], e / (p->side[0] * p->side[1])};
    const float *m = p->matrix + map * p->dims * (p->dims + 1);
    q[2] = 0;
    for (int row = 0; row < p->dims; row++, m += p->dims + 1) {
        q[row] = (double)(p->side[row] / 2) + m[p->dims];
        for (int a = 0; a < p->dims; a++) q[row] += (double)m[a] * (double)(at[a] - p->side[a] / 2);
    }
}

// Whether the pixel that comes from q takes part.
static int counts_at(const problem *p, const double q[3]) {
    for (int a = 0; a < 3; a++)
        if (p->outside == 2 && (q[a] < -1.0 / 64 || q[a] > (double)(p->side[a] - 1) + 1.0 / 64)) return 0;
    return 1;
}

// The value at q by interpolation along one axis after the other; sets *counts to whether the pixel takes part.
static double value_at(const problem *p, double q[3], int *counts) {
    double share[3] = {0};
    int64_t below[3] = {0};
    *counts = counts_at(p, q);
    for (int a = 0; a < p->dims; a++) {
        const double last = (double)(p->side[a] - 1);
        if (p->outside != 0) q[a] = q[a] < 0 ? 0 : q[a] > last ? last : q[a];
        q[a] = q[a] < -2      ? -2
            : q[a] > last + 2 ? last + 2
                              : q[a]; // farther out makes no difference, but may not fit an integer
        below[a] = (int64_t)floor(q[a]);
        share[a] = q[a] - floor(q[a]);
    }
    double sum = 0;
    for (int corner = 0; corner < 1 << p->dims; corner++) {
        double weight = 1;
        int64_t at[3];
        int outside = 0;
        for (int a = 0; a < 3; a++) {
            const int upper = corner >> a & 1;
            at[a] = below[a] + upper;
            weight *= upper ? share[a] : 1 - share[a];
            outside |= at[a] < 0 || at[a] >= p->side[a];
        }
        if (weight > 0 && !outside) sum += weight * pixel(p, at);
    }
    return *counts ? sum : 0;
}

static double result_pixel(const problem *p, int64_t map, int64_t e, int *counts) {
    double q[3];
    source(p, map, e, q);
    return value_at(p, q, counts);
}

static int32_t taken_pixels(const problem *p, int64_t map) {
    int32_t taken = 0;
    for (int64_t e = 0; e < volume(p); e++) {
        double q[3];
        source(p, map, e, q);
        taken += counts_at(p, q);
    }
    return taken;
}

// Correlation for map number `map`; 0 if it is undefined: a spread below 1e-6 of the size counts as none.
static double correlation(const problem *p, int64_t map, int32_t *pixels) {
    const int64_t n = volume(p);
    double taken = 0, mean_a = 0, mean_b = 0, size_a = 0, size_b = 0, aa = 0, bb = 0, ab = 0;
    float *counted = malloc((size_t)n * sizeof *counted); // 1 if the pixel takes part
    double *value = malloc((size_t)n * sizeof *value);
    if (!counted || !value) abort();
    for (int64_t e = 0; e < n; e++) {
        int counts;
        value[e] = result_pixel(p, map, e, &counts);
        counted[e] = (float)counts;
        taken += counts;
        mean_a += counts * value[e];
        mean_b += counts * (double)p->reference[e];
        size_a += counts * value[e] * value[e];
        size_b += counts * (double)p->reference[e] * p->reference[e];
    }
    *pixels = (int32_t)taken;
    for (int64_t e = 0; e < n && taken > 0; e++) {
        const double a = value[e] - mean_a / taken, b = p->reference[e] - mean_b / taken;
        aa += counted[e] * a * a;
        bb += counted[e] * b * b;
        ab += counted[e] * a * b;
    }
    free(counted);
    free(value);
    return taken >= 2 && aa > 1e-12 * size_a && bb > 1e-12 * size_b ? ab / sqrt(aa * bb) : 0;
}

void rg_ref_affine2d(const rg_shape *s, void *const *arg) {
    const problem p = problem_of(s, arg, 2, 0);
    float *to = arg[2];
    const int64_t n = volume(&p);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n * p.maps; e++) {
        int counts;
        to[e] = (float)result_pixel(&p, e / n, e % n, &counts);
    }
}

void rg_ref_affine2d_at(const rg_shape *s, void *const *arg, int which, const int64_t *element, int64_t n, void *out) {
    const problem p = problem_of(s, arg, 2, 0);
    float *to = out;
    (void)which;
    for (int64_t i = 0; i < n; i++) {
        int counts;
        to[i] = (float)result_pixel(&p, element[i] / volume(&p), element[i] % volume(&p), &counts);
    }
}

static void align(const problem *p, double *rho, int32_t *pixels) {
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < p->maps; i++) rho[i] = correlation(p, i, &pixels[i]);
}

static void align_at(const problem *p, int which, const int64_t *element, int64_t n, void *out) {
    double *rho = out;
    int32_t *pixels = out;
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < n; i++) {
        int32_t taken;
        if (which == 3)
            rho[i] = correlation(p, element[i], &taken);
        else
            pixels[i] = taken_pixels(p, element[i]);
    }
}

void rg_ref_align2d(const rg_shape *s, void *const *arg) {
    const problem p = problem_of(s, arg, 2, 1);
    align(&p, arg[3], arg[4]);
}
void rg_ref_align3d(const rg_shape *s, void *const *arg) {
    const problem p = problem_of(s, arg, 3, 1);
    align(&p, arg[3], arg[4]);
}
void rg_ref_align2d_at(const rg_shape *s, void *const *arg, int which, const int64_t *element, int64_t n, void *out) {
    const problem p = problem_of(s, arg, 2, 1);
    align_at(&p, which, element, n, out);
}
void rg_ref_align3d_at(const rg_shape *s, void *const *arg, int which, const int64_t *element, int64_t n, void *out) {
    const problem p = problem_of(s, arg, 3, 1);
    align_at(&p, which, element, n, out);
}
