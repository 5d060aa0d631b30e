// SPDX-License-Identifier: MIT
// frealign_section.c: cc3m, presb, ccoef and sigma2 (Li, Grigorieff & Cheng 2010, Table 1; FREALIGN 9) in double precision.
#include "frealign.h"
#include <math.h>
#include <stdlib.h>

// ---- in Fourier space ----------------------------------------------------------------------------------------------------

typedef struct ref_rings {
    double *C, *B, *Q, *n; // of ring k
} ref_rings;

static ref_rings compare_rings(const ref_problem *p, int64_t particle, int64_t t) {
    const int64_t side = p->side;
    double *sums = calloc((size_t)(4 * (side / 2)), sizeof *sums);
    if (!sums) abort();
    ref_rings r = {sums, sums + side / 2, sums + side, sums + side + side / 2};
    ref_number *A = ref_section_image(p, particle, t, p->inner, p->squared ? 2 : 1);
    for (int64_t e = 0; e < side * side; e++) A[e] /= (double)(side * side);
    ref_mask(A, side, p->setting[0], 0);
    ref_transform(A, side, -1);
    for (int64_t j = -side / 2 + 1; j <= side / 2; j++)
        for (int64_t i = 0; i <= side / 2; i++) {
            if (!ref_in_band(p, i, j, p->inner)) continue;
            const int64_t k = ref_ring(i, j);
            const ref_number Y = ref_particle(p, particle, t, i, j), a = *ref_at(A, side, i, j);
            r.C[k] += creal(Y * conj(a));
            r.B[k] += creal(Y * conj(Y));
            r.Q[k] += creal(a * conj(a));
            r.n[k] += 1;
        }
    fftw_free(A);
    return r;
}

static double ratio(double sum, double square) { return square > 0 ? sum / sqrt(square) : 0; }

static double linear_score(const ref_problem *p, const ref_rings *r) {
    double C = 0, B = 0, Q = 0;
    for (int64_t k = 0; k < p->side / 2; k++) {
        C += r->C[k];
        B += r->B[k];
        Q += r->Q[k];
    }
    return ratio(C, B * Q);
}

static double ring_score(const ref_problem *p, const ref_rings *r) {
    double sum = 0, square = 0, rings = 0;
    for (int64_t k = 1; k < p->side / 2; k++) {
        if (r->n[k] == 0) continue;
        const double g = exp(-(double)p->setting[1] * (double)(k * k)), R = ratio(r->C[k], r->Q[k]);
        sum += g * ((double)(k + 1) < (double)p->setting[2] ? R : fabs(R));
        square += g * g * r->B[k];
        rings++;
    }
    return ratio(sum, rings * square);
}

static double score(const ref_problem *p, int64_t particle, int64_t t) {
    ref_rings r = compare_rings(p, particle, t);
    const double value = p->rings ? ring_score(p, &r) : linear_score(p, &r);
    free(r.C);
    return value;
}

// ---- in real space -------------------------------------------------------------------------------------------------------

static ref_number *particle_image(const ref_problem *p, int64_t particle, int64_t t, int flip) {
    ref_number *plane = ref_plane(p->side);
    for (int64_t j = -p->side / 2 + 1; j <= p->side / 2; j++)
        for (int64_t i = 0; i <= p->side / 2; i++)
            if (ref_in_band(p, i, j, p->inner))
                *ref_at(plane, p->side, i, j) =
                    ref_particle(p, particle, t, i, j) * (flip && ref_ctf(p, particle, i, j) < 0 ? -1 : 1);
    ref_make_real(plane, p->side);
    ref_transform(plane, p->side, 1);
    return plane;
}

static double correlation(const ref_problem *p, int64_t particle, int64_t t) {
    ref_number *a = ref_section_image(p, particle, t, p->inner, p->squared ? 2 : 1), *x = particle_image(p, particle, t, 0);
    double ax = 0, aa = 0, xx = 0;
    for (int64_t e = 0; e < p->side * p->side; e++) {
        ax += creal(a[e]) * creal(x[e]);
        aa += creal(a[e]) * creal(a[e]);
        xx += creal(x[e]) * creal(x[e]);
    }
    fftw_free(a);
    fftw_free(x);
    return ratio(ax, aa * xx);
}

static void moments(const ref_problem *p, int64_t particle, int64_t t, double moment[4]) {
    const int64_t side = p->side;
    const double R = p->setting[0], scale = 1 / (double)(side * side);
    ref_number *a = ref_section_image(p, particle, t, p->inner, 0), *x = particle_image(p, particle, t, 1);
    double mean_a = 0, mean_x = 0, n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t v = -side / 2; v < side / 2; v++)
            for (int64_t u = -side / 2; u < side / 2; u++) {
                const double A = scale * creal(*ref_at(a, side, u, v)), X = scale * creal(*ref_at(x, side, u, v));
                const int inside = (double)(u * u + v * v) <= R * R;
                if (pass == 0) {
                    mean_a += inside ? A : 0;
                    mean_x += inside ? X : 0;
                    n += inside;
                    moment[3] += X * X * scale;
                } else if (inside) {
                    moment[0] += (A - mean_a / n) * (X - mean_x / n) / n;
                    moment[1] += (A - mean_a / n) * (A - mean_a / n) / n;
                    moment[2] += (X - mean_x / n) * (X - mean_x / n) / n;
                }
            }
    fftw_free(a);
    fftw_free(x);
}

// ---- selected elements, and all of them ----------------------------------------------------------------------------------

// All results of one comparison.
typedef void values_fn(const ref_problem *, int64_t comparison, float *value);

static void score_of(const ref_problem *p, int64_t at, float *value) {
    value[0] = (float)score(p, at / p->trials, at % p->trials);
}
static void correlation_of(const ref_problem *p, int64_t at, float *value) {
    value[0] = (float)correlation(p, at / p->trials, at % p->trials);
}
static void rings_of(const ref_problem *p, int64_t at, float *value) {
    ref_rings r = compare_rings(p, at / p->trials, at % p->trials);
    for (int64_t k = 0; k < p->side / 2; k++) value[k] = (float)ratio(r.C[k], r.B[k] * r.Q[k]);
    free(r.C);
}
static void moments_of(const ref_problem *p, int64_t at, float *value) {
    double moment[4] = {0};
    moments(p, at / p->trials, at % p->trials, moment);
    for (int e = 0; e < 4; e++) value[e] = (float)moment[e];
}

static void all(const rg_shape *s, void *const *arg, int64_t each, values_fn *of) {
    const ref_problem p = ref_problem_of(s, arg);
    float *out = arg[5];
    ref_transform_ready(p.side);
#pragma omp parallel for schedule(dynamic)
    for (int64_t at = 0; at < p.particles * p.trials; at++) of(&p, at, out + each * at);
}

static void chosen(
    const rg_shape *s, void *const *arg, int64_t each, values_fn *of, const int64_t *element, int64_t n, float *out) {
    const ref_problem p = ref_problem_of(s, arg);
    ref_transform_ready(p.side);
#pragma omp parallel for schedule(dynamic)
    for (int64_t at = 0; at < p.particles * p.trials; at++) {
        float *value = NULL;
        for (int64_t i = 0; i < n; i++)
            if (element[i] / each == at) {
                if (!value) {
                    value = malloc((size_t)each * sizeof *value);
                    if (!value) abort();
                    of(&p, at, value);
                }
                out[i] = value[element[i] % each];
            }
        free(value);
    }
}

#define REFERENCE(id, each, of)                                                                                                \
    void rg_ref_##id(const rg_shape *s, void *const *arg) { all(s, arg, each, of); }                                           \
    void rg_ref_##id##_at(const rg_shape *s, void *const *arg, int which, const int64_t *element, int64_t n, void *out) {      \
        (void)which;                                                                                                           \
        chosen(s, arg, each, of, element, n, out);                                                                             \
    }
REFERENCE(cc3m, 1, score_of)
REFERENCE(ccoef, 1, correlation_of)
REFERENCE(presb, s->n[0] / 2, rings_of)
REFERENCE(sigma2, 4, moments_of)
#undef REFERENCE
