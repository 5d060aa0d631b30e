// SPDX-License-Identifier: MIT
// frealign_ccp.c: ccp in double precision: the section's image is padded four times, transformed, sampled at every rotation,
// and correlated with the particle at every lag.
#include "frealign.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REACH = 7, LAGS = 2 * REACH + 1, PADDED = 4 };

// The transform of the section's image in a frame four times as wide, filled with the mean of the image's border.
static ref_number *padded_section(const ref_problem *p, int64_t particle, int64_t t) {
    const int64_t side = p->side, wide = PADDED * side;
    ref_number *a = ref_section_image(p, particle, t, 1, p->squared ? 2 : 1), *big = ref_plane(wide);
    double sum = 0;
    for (int64_t e = 0; e < side * side; e++) a[e] /= (double)(side * side);
    if (p->masked) ref_mask(a, side, p->setting[0], 0);
    for (int64_t e = 0; e < side * side; e++) {
        const int64_t x = e % side, y = e / side;
        if (x == side / 2 || x == side / 2 - 1 || y == side / 2 || y == side / 2 - 1) sum += creal(a[e]);
    }
    for (int64_t e = 0; e < wide * wide; e++) big[e] = sum / (double)(4 * side - 4);
    for (int64_t y = -side / 2; y < side / 2; y++)
        for (int64_t x = -side / 2; x < side / 2; x++) *ref_at(big, wide, x, y) = creal(*ref_at(a, side, x, y));
    ref_transform(big, wide, -1);
    fftw_free(a);
    return big;
}

// P_u at any (i, j).
static ref_number turned(const ref_problem *p, ref_number *big, const float *turn, int64_t i, int64_t j) {
    const int64_t wide = PADDED * p->side;
    const int mate = i < 0;
    const float fi = (float)(mate ? -i : i), fj = (float)(mate ? -j : j);
    const float ci = turn[0] * fi, sj = turn[1] * fj, si = turn[1] * fi, cj = turn[0] * fj; // single precision, as in impl/
    const float x = ci - sj, y = si + cj;
    const ref_number P = *ref_at(big, wide, (int64_t)rint(PADDED * (double)x), (int64_t)rint(PADDED * (double)y));
    return mate ? conj(P) : P;
}

static ref_number quarter(const ref_problem *p, ref_number *big, const float *turn, int v, int64_t i, int64_t j) {
    switch (v) {
    case 0: return turned(p, big, turn, i, j);
    case 1: return turned(p, big, turn, -j, i);
    case 2: return turned(p, big, turn, -i, -j);
    default: return turned(p, big, turn, j, -i);
    }
}

// Adds the terms of column i; w[y][x]. phase[l]: e^{4 pi i l / N} for l = 0..N-1.
static void add_column(int64_t side, int64_t b, int64_t i, const ref_number *W, const ref_number *phase, double w[LAGS][LAGS]) {
    for (int64_t y = -REACH; y <= REACH; y++) {
        ref_number sum = 0;
        for (int64_t j = -b; j <= b; j++) sum += W[j + b] * phase[((j * y) % side + side) % side];
        for (int64_t x = -REACH; x <= REACH; x++)
            w[y + REACH][x + REACH] += (i == 0 ? 1 : 2) * creal(sum * phase[((i * x) % side + side) % side]);
    }
}

static void correlate(const ref_problem *p, int64_t particle, ref_number *big, const float *turn, int v, float *cc) {
    const int64_t b = p->outer, side = p->side;
    ref_number *W = ref_plane(side), *phase = W + 2 * b + 1; // side^2 numbers hold both: at most side + side/2 + 1
    double w[LAGS][LAGS] = {{0}}, PP = 0, XX = 0;
    for (int64_t l = 0; l < side; l++) phase[l] = cexp(I * 4 * M_PI * (double)l / (double)side);
    for (int64_t i = 0; i < b; i++) {
        for (int64_t j = -b; j <= b; j++) {
            const int inside = i * i + j * j >= 1 && i * i + j * j < b * b;
            const float *at = p->X + 2 * (particle * side * (side / 2 + 1) + ref_stored(side, i, j));
            const ref_number X = at[0] + I * (double)at[1], P = inside ? quarter(p, big, turn, v, i, j) : 0;
            W[j + b] = inside ? X * conj(P) : 0;
            PP += inside ? creal(P * conj(P)) : 0;
            XX += inside ? creal(X * conj(X)) : 0;
        }
        add_column(side, b, i, W, phase, w);
    }
    for (int e = 0; e < LAGS * LAGS; e++) cc[e] = PP * XX > 0 ? (float)(w[e / LAGS][e % LAGS] / sqrt(PP * XX)) : 0;
    fftw_free(W);
}

// All lags of the requested rotations of comparison `at`.
static void direction(const ref_problem *p, const float *turn, int64_t at, const char *asked, float *cc) {
    const int64_t turns = p->inner;
    ref_transform_ready(p->side);
    ref_number *big = padded_section(p, at / p->trials, at % p->trials);
#pragma omp parallel for schedule(dynamic)
    for (int64_t r = 0; r < 4 * turns; r++)
        if (asked[r]) correlate(p, at / p->trials, big, turn + 2 * (r % turns), (int)(r / turns), cc + r * LAGS * LAGS);
    fftw_free(big);
}

static char *rotations(const ref_problem *p, int which) {
    char *asked = malloc((size_t)(4 * p->inner));
    if (!asked) abort();
    memset(asked, which, (size_t)(4 * p->inner));
    return asked;
}

void rg_ref_ccp(const rg_shape *s, void *const *arg) {
    const ref_problem p = ref_problem_of(s, arg);
    char *all = rotations(&p, 1);
    for (int64_t at = 0; at < p.particles * p.trials; at++)
        direction(&p, arg[5], at, all, (float *)arg[6] + at * 4 * p.inner * LAGS * LAGS);
    free(all);
}

void rg_ref_ccp_at(const rg_shape *s, void *const *arg, int which, const int64_t *element, int64_t n, void *out) {
    const ref_problem p = ref_problem_of(s, arg);
    const int64_t each = 4 * p.inner * LAGS * LAGS;
    float *cc = malloc((size_t)each * sizeof *cc), *value = out;
    (void)which;
    if (!cc) abort();
    for (int64_t at = 0; at < p.particles * p.trials; at++) {
        char *asked = rotations(&p, 0);
        int any = 0;
        for (int64_t i = 0; i < n; i++)
            if (element[i] / each == at) any = asked[element[i] % each / (LAGS * LAGS)] = 1;
        if (any) direction(&p, arg[5], at, asked, cc);
        for (int64_t i = 0; i < n; i++)
            if (element[i] / each == at) value[i] = cc[element[i] % each];
        free(asked);
    }
    free(cc);
}
