// SPDX-License-Identifier: MIT
// autovec.c: ctfapply: naive's passes as loops that a compiler vectorises. Sines and cosines remain calls, half as many as
// there are coefficients. Particles are distributed over threads.
//
// Bound: fp32, as for naive; the transforms are FFTW's.
#include "../autovec_section.h"
#include "apply.h"
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct plan {
    fftwf_plan forward, inverse;
    int *ring;     // of each coefficient
    float *counts; // of each ring
    fr_masking mask;
    float *memory; // for all threads
    size_t floats; // per thread: plane, image, table of columns
} plan;

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
    const fr_application p = fr_application_of(call);
    const int64_t pixels = (int64_t)p.side * p.side;
    plan *s = (plan *)(call->state = calloc(1, sizeof *s));
    if (!s) return RG_E_STATE;
    s->floats = fr_rounded(2 * p.stored) + fr_rounded(pixels) + fr_rounded(2 * p.width);
    s->memory = fftwf_alloc_real(s->floats * (size_t)call->threads);
    s->mask.share = fftwf_alloc_real(2 * (size_t)pixels + FR_SIDE_MAX);
    s->ring = (int *)fftwf_malloc((size_t)p.stored * sizeof *s->ring);
    if (!s->memory || !s->mask.share || !s->ring) return RG_E_STATE;
    s->mask.edge = s->mask.share + pixels;
    s->counts = s->mask.edge + pixels;
    memset(s->counts, 0, FR_SIDE_MAX * sizeof *s->counts);
    for (int64_t e = 0; e < p.stored; e++) {
        const int64_t i = fr_i(p.side, e), j = fr_j(p.side, e);
        s->ring[e] = (int)fr_ring(i * i + j * j);
        s->counts[s->ring[e]]++;
    }
    float *image = s->memory + fr_rounded(2 * p.stored);
    s->forward = fftwf_plan_dft_r2c_2d(p.side, p.side, image, (fftwf_complex *)s->memory, FFTW_ESTIMATE);
    s->inverse = fftwf_plan_dft_c2r_2d(p.side, p.side, (fftwf_complex *)s->memory, image, FFTW_ESTIMATE);
    return s->forward && s->inverse ? RG_OK : RG_E_LIBRARY;
}

// Writes X0 to the plane and D to its argument.
RG_HD void shift_and_sign(const fr_application *p, int64_t particle, float *restrict plane, float *table, float *restrict D) {
    const float *shift = p->shift + 2 * particle;
    fr_shift_columns(shift[0], p->width, table);
    for (int64_t row = 0; row < p->side; row++) {
        float *line = plane + 2 * row * p->width;
        fr_shift_piece(line, table, shift[1] * (float)fr_frequency(p->side, row), p->width, line);
    }
    fr_hermitian(p->side, p->width, plane);
    for (int64_t row = 0; row < p->side; row++) {
        const float *restrict from = plane + 2 * row * p->width;
        float *restrict to = D + 2 * row * p->width;
        for (int i = 0; i < p->width; i++) {
            const float sign = (float)(1 - 2 * ((i + (int)row) & 1)); // side is even: j and its row have the same parity
            to[2 * i] = sign * from[2 * i];
            to[2 * i + 1] = sign * from[2 * i + 1];
        }
    }
}

// fr_ctf for n coefficients of row j.
RG_HD void ctf_piece(const float *o, int64_t first, int n, float j, float *restrict c) {
    float angle[FR_PIECE], sine[FR_PIECE], odd[FR_PIECE];
    const int column = (int)first;
    for (int e = 0; e < n; e++) {
        const float i = (float)(column + e), rr = i * i + j * j;
        const float half = o[0] * i * i + o[1] * i * j + o[2] * j * j + o[3] * rr * rr, turns = rintf(half);
        angle[e] = 3.14159265f * (half - turns);
        odd[e] = (float)(1 - 2 * ((int)turns & 1));
    }
    for (int e = 0; e < n; e++) {
        sine[e] = sinf(angle[e]);
        angle[e] = cosf(angle[e]);
    }
    for (int e = 0; e < n; e++) c[e] = odd[e] * (o[4] * sine[e] - o[5] * angle[e]);
}

// Computes c and X from Xm in the plane.
RG_HD void weigh(const plan *s, const fr_application *p, const float *optics, const float *restrict plane, float *restrict X,
    float *restrict c) {
    double power[FR_SIDE_MAX] = {0};
    float per_amplitude[FR_SIDE_MAX], ssnr[FR_SIDE_MAX];
    for (int64_t e = 0; e < p->stored; e++)
        power[s->ring[e]] += plane[2 * e] * plane[2 * e] + plane[2 * e + 1] * plane[2 * e + 1];
    for (int k = 0; k < p->side; k++) { // X is 0 in empty rings and those beyond N/2
        const float amplitude = s->counts[k] > 0 ? (float)sqrt(power[k] / s->counts[k]) : 0;
        const int some = p->rings && k <= p->side / 2 && amplitude > 0;
        per_amplitude[k] = some ? 1 / amplitude : 0;
        ssnr[k] = some ? p->ssnr[k] : 0;
    }
    for (int64_t row = 0; row < p->side; row++) {
        const float j = (float)fr_frequency(p->side, row);
        for (int64_t i = 0; i < p->width; i += FR_PIECE) {
            const int n = p->width - i < FR_PIECE ? (int)(p->width - i) : FR_PIECE, parity = (int)(i + row);
            const int64_t from = row * p->width + i;
            const float *restrict F = plane + 2 * from;
            const int *restrict ring = s->ring + from;
            float *restrict to = X + 2 * from, *restrict own = c + from;
            ctf_piece(optics, i, n, j, own);
#pragma omp simd
            for (int e = 0; e < n; e++) {
                const float signal = 4 * own[e] * own[e] * ssnr[ring[e]],
                            whitened = signal / (signal + 1) * per_amplitude[ring[e]];
                const float sign = (float)(1 - 2 * ((parity + e) & 1)), factor = sign * (p->squared ? own[e] : 1);
                const float f = p->rings ? factor * whitened : factor;
                to[2 * e] = f * F[2 * e];
                to[2 * e + 1] = f * F[2 * e + 1];
            }
        }
    }
}

RG_HD void ctfapply_particle(const plan *s, const fr_application *p, int64_t particle, float *plane) {
    const int64_t first = particle * p->stored, pixels = (int64_t)p->side * p->side;
    float *image = plane + fr_rounded(2 * p->stored), *table = image + fr_rounded(pixels);
    memcpy(image, p->image + particle * pixels, (size_t)pixels * sizeof *image);
    fftwf_execute_dft_r2c(s->forward, image, (fftwf_complex *)plane);
    shift_and_sign(p, particle, plane, table, p->D + 2 * first);
    fftwf_execute_dft_c2r(s->inverse, (fftwf_complex *)plane, image);
    fr_masking_apply(&s->mask, p->side, image);
    fftwf_execute_dft_r2c(s->forward, image, (fftwf_complex *)plane);
    weigh(s, p, p->optics + FR_OPTICS * particle, plane, p->X + 2 * first, p->c + first);
}
RG_AUTOVEC(ctfapply_particle, (const plan *s, const fr_application *p, int64_t particle, float *plane), (s, p, particle, plane))

static int run(rg_call *call) {
    plan *s = (plan *)call->state;
    const fr_application p = fr_application_of(call);
    if (!s) return RG_E_STATE;
    fr_masking_fill(&s->mask, p.side, p.setting[0], p.side / 2);
    ctfapply_particle_fn *particle = ctfapply_particle_for(rg_cpu_has(RG_AUTOVEC_WIDE));
#pragma omp parallel for num_threads(call->threads) schedule(dynamic)
    for (int64_t i = 0; i < p.particles; i++) {
#ifdef _OPENMP
        float *own = s->memory + (size_t)omp_get_thread_num() * s->floats;
#else
        float *own = s->memory;
#endif
        particle(s, &p, i, own);
    }
    return RG_OK;
}

// Three transforms of 5/2 n log2 n operations, two of which count as one multiply-add.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    const double pixels = (double)(s->n[FR_SIDE] * s->n[FR_SIDE]);
    c->amount[RG_F32_MAD] = (double)s->n[FR_PARTICLES] * pixels * (3 * 1.25 * fr_log(pixels) + 20);
}

RG_VARIANT(ctfapply_autovec) = {
    RG_VARIANT_OF("ctfapply", "autovec", RG_SIMD, RG_HOST,
        "naive's passes as a compiler vectorises them, no intrinsics; any number of cores"),
    .needs = RG_AUTOVEC_NEEDS,
    .flags = RG_THREADED,
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .finish = finish,
};
