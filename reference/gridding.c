// SPDX-License-Identifier: MIT
// gridding.c: direct Fourier reconstruction before its division, eq. 2 of Strelak et al. 2019 with FREALIGN's weights, in
// double:
//     G(v) = sum of m c K(v - r) F(p),   W(v) = sum of m c^2 K(v - r),   r = M (px, py, 0)
// over all images, operators and pixels p of the whole disc |p| <= k; pixels with px < 0 are the conjugates of those at -p.
// K(d) = I0(15 sqrt(1 - d^2/b^2)) / I0(15) within the distance b, edge included.
//
// For each voxel it visits the pixels near its foot on the image, with a margin that no rounding of M (single precision, so
// orthogonal to 1e-6) can cross. Arrays: image i, row y + k, column x, complex; volume z + k, y + k, x.
#include "reference.h"
#include <math.h>

// I0(x) is the mean of cosh(x cos t) over a half turn; the midpoint rule of n points is off by 2 I_2n(x), 1e-19 at n = 24.
static double bessel(double x) {
    const double half_turn = M_PI;
    double sum = 0;
    for (int j = 0; j < 12; j++) // points j and 23 - j are equal
        sum += cosh(x * cos(half_turn * (j + 0.5) / 24));
    return sum / 12;
}

typedef struct problem {
    int64_t k, images, operators;
    double b;
    const float *image, *ctf, *weight, *rotation;
} problem;

typedef struct sums {
    double re, im, w;
} sums;

static problem problem_of(const rg_shape *s, void *const *arg) {
    const problem p = {.k = (s->n[0] - 1) / 2,
        .images = s->n[1],
        .operators = s->n[2],
        .b = (double)s->n[3] / 10,
        .image = arg[0],
        .ctf = (s->n[4] & 1) ? arg[1] : 0,
        .weight = (s->n[4] & 2) ? arg[2] : 0,
        .rotation = arg[3]};
    return p;
}

static void add_pixel(const problem *p, int64_t i, int64_t x, int64_t y, double K, sums *to) {
    const int mate = x < 0;
    const int64_t row = (mate ? -y : y) + p->k, column = mate ? -x : x;
    const int64_t at = (i * (2 * p->k + 1) + row) * (p->k + 1) + column;
    const double c = p->ctf ? p->ctf[at] : 1, m = p->weight ? p->weight[i] : 1, im = p->image[2 * at + 1];
    to->re += m * c * K * p->image[2 * at];
    to->im += m * c * K * (mate ? -im : im);
    to->w += m * c * c * K;
}

static void add_sample(const problem *p, int64_t i, const float *M, const double v[3], sums *to) {
    const double b = p->b, foot_x = M[0] * v[0] + M[3] * v[1] + M[6] * v[2], foot_y = M[1] * v[0] + M[4] * v[1] + M[7] * v[2];
    const double far = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - foot_x * foot_x - foot_y * foot_y;
    if (far > (b + 1) * (b + 1)) // the image passes the voxel too far away
        return;
    const int64_t x0 = (int64_t)floor(foot_x - b) - 1, y0 = (int64_t)floor(foot_y - b) - 1;
    for (int64_t y = y0; y <= (int64_t)ceil(foot_y + b) + 1; y++)
        for (int64_t x = x0; x <= (int64_t)ceil(foot_x + b) + 1; x++) {
            if (x * x + y * y > p->k * p->k) continue;
            double dd = 0;
            for (int axis = 0; axis < 3; axis++) {
                const double r = (double)M[3 * axis] * (double)x + (double)M[3 * axis + 1] * (double)y;
                dd += (v[axis] - r) * (v[axis] - r);
            }
            if (dd <= b * b) add_pixel(p, i, x, y, bessel(15 * sqrt(1 - dd / (b * b))) / bessel(15), to);
        }
}

static sums voxel(const problem *p, int64_t element) {
    const int64_t column = p->k + 1, side = 2 * p->k + 1;
    const double v[3] = {
        (double)(element % column), (double)(element / column % side - p->k), (double)(element / column / side - p->k)};
    sums total = {0, 0, 0};
    for (int64_t i = 0; i < p->images; i++)
        for (int64_t j = 0; j < p->operators; j++) add_sample(p, i, p->rotation + 9 * (i * p->operators + j), v, &total);
    return total;
}

void rg_ref_gridding(const rg_shape *s, void *const *arg) {
    const problem p = problem_of(s, arg);
    float *G = arg[4], *W = arg[5];
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t e = 0; e < s->n[0] * s->n[0] * (p.k + 1); e++) {
        const sums t = voxel(&p, e);
        G[2 * e] = (float)t.re;
        G[2 * e + 1] = (float)t.im;
        W[e] = (float)t.w;
    }
}

void rg_ref_gridding_at(const rg_shape *s, void *const *arg, int which, const int64_t *element, int64_t n, void *out) {
    const problem p = problem_of(s, arg);
    float *value = out;
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < n; i++) {
        const sums t = voxel(&p, which == 4 ? element[i] / 2 : element[i]);
        value[i] = (float)(which == 5 ? t.w : element[i] % 2 ? t.im : t.re);
    }
}
