// SPDX-License-Identifier: MIT
// filter.c: Gaussian filters, pyramids, normalisation, for images (depth 1) and volumes.
#include "matching.h"

static int64_t reflected(int64_t i, int64_t n) {
    while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return i;
}

// Filters one axis: replaces every line of stride `step` by its sum with the weights -reach .. reach.
static void filter_axis(const int64_t side[3], int axis, const float *weight, int64_t reach, float *v, int threads) {
    int64_t n = side[axis], lines = side[0] * side[1] * side[2] / n;
    int64_t step = axis == 0 ? 1 : axis == 1 ? side[0] : side[0] * side[1];
    enum { LINES = 16 }; // lines side by side, which share each visit of a row of memory
    int64_t per_row = (side[0] + LINES - 1) / LINES, groups = axis == 0 ? lines : per_row * (lines / side[0]);
#pragma omp parallel num_threads(threads)
    {
        RG_FREED float *line = rg_alloc((size_t)((n + 2 * reach) * LINES) * sizeof *line);
#pragma omp for
        for (int64_t g = 0; g < groups; g++) {
            int64_t first = g * n, count = 1;
            if (axis > 0) {
                int64_t column = g % per_row * LINES;
                first = column + g / per_row * side[0] * (axis == 1 ? side[1] : 1);
                count = side[0] - column < LINES ? side[0] - column : LINES;
            }
            for (int64_t i = -reach; i < n + reach; i++)
                memcpy(line + (i + reach) * count, v + first + reflected(i, n) * step, (size_t)count * sizeof *line);
            for (int64_t i = 0; i < n; i++) {
                float sum[LINES] = {0};
                for (int64_t k = 0; k <= 2 * reach; k++)
                    for (int64_t c = 0; c < count; c++) sum[c] += weight[k] * line[(i + k) * count + c];
                memcpy(v + first + i * step, sum, (size_t)count * sizeof *sum);
            }
        }
    }
}

static void blur(const int64_t side[3], double sigma, float *v, int threads) {
    int64_t reach = (int64_t)ceil(4 * sigma);
    RG_FREED float *weight = rg_alloc((size_t)(2 * reach + 1) * sizeof *weight);
    double sum = 0;
    for (int64_t k = -reach; k <= reach; k++) sum += exp(-(double)(k * k) / (2 * sigma * sigma));
    for (int64_t k = -reach; k <= reach; k++) weight[k + reach] = (float)(exp(-(double)(k * k) / (2 * sigma * sigma)) / sum);
    for (int axis = 0; axis < 3; axis++)
        if (side[axis] > 1) filter_axis(side, axis, weight, reach, v, threads);
}

void aj_band_pass(const int64_t side[3], double low, double high, float *v, int threads) {
    int64_t n = side[0] * side[1] * side[2];
    if (high > 0) {
        RG_FREED float *wide = rg_alloc((size_t)n * sizeof *wide);
        memcpy(wide, v, (size_t)n * sizeof *wide);
        blur(side, high, wide, threads);
        if (low > 0) blur(side, low, v, threads);
        for (int64_t i = 0; i < n; i++) v[i] -= wide[i];
    } else if (low > 0) {
        blur(side, low, v, threads);
    }
}

// Sum of (v - from)^power, power 1 or 2, in pieces of fixed length, so that it does not depend on the number of threads.
static double sum_of(int64_t n, const float *v, double from, int power, int threads) {
    enum { PIECE = 1 << 15 };
    int64_t pieces = (n + PIECE - 1) / PIECE;
    double *part = rg_alloc((size_t)pieces * sizeof *part), sum = 0;
#pragma omp parallel for num_threads(threads)
    for (int64_t p = 0; p < pieces; p++) {
        double lane[8] = {0};
        for (int64_t i = p * PIECE; i < n && i < (p + 1) * PIECE; i++)
            lane[i % 8] += power == 1 ? v[i] - from : (v[i] - from) * (v[i] - from);
        for (int k = 0; k < 8; k++) part[p] += lane[k];
    }
    for (int64_t p = 0; p < pieces; p++) sum += part[p];
    free(part);
    return sum;
}

double aj_mean(int64_t n, const float *v, int threads) { return sum_of(n, v, 0, 1, threads) / (double)n; }

bool aj_normalise(int64_t n, float *v, int threads) {
    double mean = aj_mean(n, v, threads), sd = sqrt(sum_of(n, v, mean, 2, threads) / (double)n);
    if (!(sd > 0)) return false;
#pragma omp parallel for num_threads(threads)
    for (int64_t i = 0; i < n; i++) v[i] = (float)((v[i] - mean) / sd);
    return true;
}

// ---- pyramids ------------------------------------------------------------------------------------------------------------

static int64_t half_of(int64_t side) { return side > 1 ? side / 2 : 1; }

void aj_half(const int64_t side[3], const float *v, int64_t half[3], float *out, int threads) {
    static const float binomial[5] = {1 / 16.f, 4 / 16.f, 6 / 16.f, 4 / 16.f, 1 / 16.f};
    int64_t n = side[0] * side[1] * side[2];
    RG_FREED float *smooth = rg_alloc((size_t)n * sizeof *smooth);
    memcpy(smooth, v, (size_t)n * sizeof *smooth);
    for (int axis = 0; axis < 3; axis++) {
        if (side[axis] > 1) filter_axis(side, axis, binomial, 2, smooth, threads);
        half[axis] = half_of(side[axis]);
    }
    for (int64_t i = 0; i < half[0] * half[1] * half[2]; i++) {
        const int64_t at[3] = {i % half[0], i / half[0] % half[1], i / half[0] / half[1]};
        int64_t from[3];
        for (int axis = 0; axis < 3; axis++)
            from[axis] = side[axis] == 1 ? 0 : side[axis] / 2 + 2 * (at[axis] - half[axis] / 2);
        out[i] = smooth[(from[2] * side[1] + from[1]) * side[0] + from[0]];
    }
}

static int64_t longest(const int64_t side[3]) {
    int64_t most = side[0] > side[1] ? side[0] : side[1];
    return most > side[2] ? most : side[2];
}

void aj_pyramid_size(aj_pyramid *p, const int64_t side[3], int64_t coarsest) {
    *p = (aj_pyramid){0};
    memcpy(p->side[0], side, sizeof p->side[0]);
    while (longest(p->side[p->levels]) > coarsest) {
        for (int axis = 0; axis < 3; axis++) p->side[p->levels + 1][axis] = half_of(p->side[p->levels][axis]);
        p->levels++;
    }
    p->levels++;
}

void aj_pyramid_make(aj_pyramid *p, const int64_t side[3], int64_t coarsest) {
    aj_pyramid_size(p, side, coarsest);
    for (int l = 0; l < p->levels; l++)
        p->v[l] = rg_alloc((size_t)(p->side[l][0] * p->side[l][1] * p->side[l][2]) * sizeof(float));
}

void aj_pyramid_fill(aj_pyramid *p, int threads) {
    int64_t half[3];
    for (int l = 1; l < p->levels; l++) aj_half(p->side[l - 1], p->v[l - 1], half, p->v[l], threads);
}

void aj_pyramid_free(aj_pyramid *p) {
    for (int l = 0; l < p->levels; l++) free(p->v[l]);
    *p = (aj_pyramid){0};
}

int aj_band_pass_check(double band_px[2], double most) {
    for (int i = 0; i < 2; i++)
        if (rg_option_within("band-pass", &band_px[i], 0, 0, most) != RG_GOOD) return RG_USAGE;
    return band_px[1] <= 0 || band_px[1] > band_px[0]
        ? RG_GOOD
        : rg_fail(RG_USAGE, "--band-pass: expected LOW,HIGH with LOW < HIGH or HIGH 0, found %g,%g", band_px[0], band_px[1]);
}
