// SPDX-License-Identifier: MIT
// simd.c: ctfapply with AVX2, on one core or all.
//
// D has its origin in the corner, so the image to be masked is its transform: no coefficient changes its sign twice. Sines and
// cosines of the shift are products of those of a column and of a row; those of the CTF are polynomials, vectorised by the
// compiler, eight at a time. Rings come from a table made in prepare; rows beyond the mask are not transformed (simd_plane.h).
// Particles are distributed over threads.
//
// Bound: RG_F32_MAD of three transforms of 2.5 n log2 n operations. Measured: data/machines/h100-16xeon.tsv.
#include "apply.h"
#include "../simd_plane.h"
#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct plan {
    fr_space space;
    uint16_t *ring; // of (i, j >= 0): ring[j * width + i]
    double *count;  // stored coefficients of each ring
    float *plane;   // one per thread
    size_t plane_floats;
    int threads;
} plan;

static void finish(rg_call *call) {
    plan *p = call->state;
    if (!p) return;
    fr_space_free(&p->space);
    free(p->ring);
    free(p->count);
    fftwf_free(p->plane);
    free(p);
    call->state = NULL;
}

static int prepare(rg_call *call) {
    const int64_t side = call->shape->n[FR_SIDE], width = fr_width(side);
    plan *p = call->state = calloc(1, sizeof *p);
    if (!p) return RG_E_STATE;
    p->threads = call->threads;
    p->plane_floats = fr_plane_floats(side);
    p->plane = fr_planes(side, p->threads);
    p->ring = malloc((size_t)(width * width) * sizeof *p->ring);
    p->count = calloc((size_t)side, sizeof *p->count);
    const int made = p->plane && p->ring && p->count ? fr_space_make(&p->space, side, width) : RG_E_STATE;
    if (made != RG_OK) {
        finish(call);
        return made;
    }
    for (int64_t j = 0; j < width; j++)
        for (int64_t i = 0; i < width; i++) {
            const int64_t k = fr_ring(i * i + j * j);
            p->ring[j * width + i] = (uint16_t)k;
            p->count[k] += j == 0 || 2 * j == side ? 1 : 2; // rows j and -j
        }
    return RG_OK;
}

// ---- one particle --------------------------------------------------------------------------------------------------------

static void transform_image(const fr_space *s, const float *image, float *plane) {
    float *row[FR_SIDE_MAX];
    for (int64_t y = 0; y < s->side; y++) {
        row[y] = plane + 2 * y * s->pitch;
        memcpy(row[y], image + y * s->side, (size_t)s->side * sizeof *plane);
    }
    fr_rows_run(&s->column, row, (int)s->side, (int)s->columns, 1);
    fr_columns_run(&s->column, plane, s->pitch, s->columns, 1);
}

// Writes X0 (-1)^(i+j) to the plane and to D.
FR_AVX2 static void shift_plane(const fr_space *s, const float *shift, float *plane, float *D) {
    const int64_t side = s->side, width = fr_width(side);
    float column[2 * (FR_SIDE_MAX / 2 + 1)];
    for (int64_t i = 0; i < width; i++) {
        column[2 * i] = fr_sign(i, 0) * (float)cos((double)shift[0] * (double)i);
        column[2 * i + 1] = fr_sign(i, 0) * (float)sin((double)shift[0] * (double)i);
    }
    for (int64_t row = 0; row < side; row++) {
        const double phase = (double)shift[1] * (double)fr_frequency(side, row);
        const float co = fr_sign(0, row) * (float)cos(phase), si = fr_sign(0, row) * (float)sin(phase);
        float *at = plane + 2 * row * s->pitch;
        for (int64_t i = 0; i < width; i++) {
            const float tr = column[2 * i] * co - column[2 * i + 1] * si, ti = column[2 * i] * si + column[2 * i + 1] * co;
            const float re = at[2 * i], im = at[2 * i + 1];
            at[2 * i] = re * tr - im * ti;
            at[2 * i + 1] = re * ti + im * tr;
        }
    }
    fr_hermitian(side, s->pitch, plane);
    for (int64_t row = 0; row < side; row++)
        memcpy(D + 2 * row * width, plane + 2 * row * s->pitch, (size_t)width * 2 * sizeof *D);
}

// sin and cos of pi f, |f| <= 1/2: Taylor's series to f^11 and f^12. The next terms are below 6e-8.
#define SINE(f, ff)                                                                                                            \
    ((f) *                                                                                                                     \
        (3.14159265f +                                                                                                         \
            (ff) *                                                                                                             \
                (-5.16771278f +                                                                                                \
                    (ff) * (2.55016404f + (ff) * (-0.599264529f + (ff) * (0.0821458866f + (ff) * -0.00737043095f))))))
#define COSINE(ff)                                                                                                             \
    (1 +                                                                                                                       \
        (ff) *                                                                                                                 \
            (-4.9348022f +                                                                                                     \
                (ff) *                                                                                                         \
                    (4.05871213f +                                                                                             \
                        (ff) * (-1.33526277f + (ff) * (0.235330630f + (ff) * (-0.0258068914f + (ff)*0.00192957431f))))))

FR_AVX2 static void ctf_row(const float o[FR_OPTICS], int64_t j, int64_t width, float *c) {
    const float y = (float)j, jj = o[2] * y * y, ij = o[1] * y;
    for (int64_t k = 0; k < width; k++) {
        const float x = (float)(int32_t)k, rr = x * x + y * y, half = o[0] * x * x + ij * x + jj + o[3] * rr * rr;
        const float n = rintf(half), f = half - n, ff = f * f, value = o[4] * SINE(f, ff) - o[5] * COSINE(ff);
        c[k] = (int32_t)n & 1 ? -value : value;
    }
}

FR_AVX2 static void weigh_plane(
    const plan *state, const fr_application *p, const float *optics, const float *plane, float *X, float *c) {
    const int64_t side = p->side, width = fr_width(side), pitch = state->space.pitch;
    double power[FR_SIDE_MAX] = {0};
    float A[FR_SIDE_MAX];
    for (int64_t row = 0; row < side && p->rings; row++) {
        const uint16_t *ring = state->ring + llabs(fr_frequency(side, row)) * width;
        const float *at = plane + 2 * row * pitch;
        for (int64_t i = 0; i < width; i++) power[ring[i]] += at[2 * i] * at[2 * i] + at[2 * i + 1] * at[2 * i + 1];
    }
    for (int64_t k = 0; k < side; k++) A[k] = state->count[k] > 0 ? (float)sqrt(power[k] / state->count[k]) : 0;
    for (int64_t row = 0; row < side; row++) {
        const uint16_t *ring = state->ring + llabs(fr_frequency(side, row)) * width;
        const float *at = plane + 2 * row * pitch;
        ctf_row(optics, fr_frequency(side, row), width, c + row * width);
        for (int64_t i = 0; i < width; i++) {
            const float factor = fr_apply_factor(p, c[row * width + i], ring[i], A[ring[i]]);
            X[2 * (row * width + i)] = factor * at[2 * i];
            X[2 * (row * width + i) + 1] = factor * at[2 * i + 1];
        }
    }
}

static int run(rg_call *call) {
    plan *state = call->state;
    const fr_application p = fr_application_of(call);
    if (!state) return RG_E_STATE;
    fr_space_mask(&state->space, p.setting[0]);
#pragma omp parallel num_threads(state->threads)
    {
#ifdef _OPENMP
        float *plane = state->plane + (size_t)omp_get_thread_num() * state->plane_floats;
#else
        float *plane = state->plane;
#endif
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < p.particles; i++) {
            transform_image(&state->space, p.image + i * p.side * p.side, plane);
            shift_plane(&state->space, p.shift + 2 * i, plane, p.D + 2 * i * p.stored);
            fr_back(&state->space, plane);
            const float mean = fr_mask_rows(&state->space, plane);
            fr_forth(&state->space, plane);
            plane[0] += mean;
            weigh_plane(state, &p, p.optics + FR_OPTICS * i, plane, p.X + 2 * i * p.stored, p.c + i * p.stored);
        }
    }
    return RG_OK;
}

// Three transforms, and the CTF and weight of every coefficient.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    const double pixels = (double)(s->n[FR_SIDE] * s->n[FR_SIDE]);
    c->amount[RG_F32_MAD] = (double)s->n[FR_PARTICLES] * pixels * (3 * 1.25 * fr_log(pixels) + 20);
}

RG_VARIANT(ctfapply_simd) = {
    RG_VARIANT_OF("ctfapply", "simd", RG_SIMD, RG_HOST,
        "AVX2; shifts and rings from tables, the CTF by polynomials, rows beyond the mask left out"),
    .needs = "avx2",
    .flags = RG_THREADED,
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .finish = finish,
};
