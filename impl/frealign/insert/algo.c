// SPDX-License-Identifier: MIT
// algo.c: describes `pinsert_s`: particles are added to the transform of the volume under construction.
#include "../../../reference/reference.h"
#include "../algo.h"
#include "index.h"
#include <inttypes.h>
#include <stdio.h>

static int64_t count_weight(const rg_shape *s) { return 2 * s->n[FR_PARTICLES]; }
static int64_t count_volume(const rg_shape *s) { return FR_RECORD * fr_voxels(s->n[FR_SIDE]); }

static const rg_arg args[] = {
    {"D", RG_IN, fr_real, fr_count_images},
    {"c", RG_IN, fr_real, fr_count_ctf},
    {"pose", RG_IN, fr_real, fr_count_pose},
    {"weight", RG_IN, fr_real, count_weight},
    {"volume", RG_INOUT, fr_real, count_volume},
};

#define SHAPE(side, particles, kind, trials, outer)                                                                            \
    { {side, particles, kind, trials, outer}, 1 }
enum { V9 = FR_INSERT_V9, PAPER = FR_INSERT_PAPER };

static const rg_shape check_shapes[] = {
    SHAPE(4, 1, V9, 1, 2),
    SHAPE(6, 1, PAPER, 1, 3),
    SHAPE(8, 1, FR_NEAREST, 1, 4),
    SHAPE(8, 2, V9, 2, 3),
    SHAPE(10, 1, V9, 7, 5),
    SHAPE(12, 1, PAPER, 14, 6),
    SHAPE(14, 3, FR_NEAREST | FR_SQUARED, 1, 7),
    SHAPE(16, 1, V9, 1, 8),
    SHAPE(16, 2, PAPER, 1, 5),
    SHAPE(16, 1, FR_BOX2, 1, 8),
    SHAPE(18, 5, V9, 4, 9),
    SHAPE(20, 17, V9, 1, 10),
    SHAPE(12, 2, FR_TRILINEAR | FR_SQUARED, 3, 6),
    SHAPE(22, 1, FR_TRILINEAR | FR_SQUARED, 2, 0),
    SHAPE(26, 33, PAPER, 1, 13),
    SHAPE(30, 2, V9, 14, 15),
    SHAPE(32, 1, V9, 60, 16),
    SHAPE(34, 3, V9, 1, 11),
    SHAPE(48, 2, V9, 2, 24),
    SHAPE(56, 1, V9, 1, 28),
    SHAPE(66, 2, V9, 1, 33),
};

static const rg_bench_shape bench_shapes[] = {
    {SHAPE(56, 1, V9, 1, 28), RG_QUICK, "Supp. Table 1, v9"},
    {SHAPE(112, 1, V9, 1, 56), RG_QUICK, "Supp. Table 1, v9"},
    {SHAPE(224, 1, V9, 1, 112), RG_QUICK, "Supp. Table 1, v9"},
    {SHAPE(500, 1, V9, 1, 250), RG_PAPER, "Supp. Table 1, v9"},
    {SHAPE(56, 1, PAPER, 1, 28), RG_QUICK, "Supp. Table 1"},
    {SHAPE(112, 1, PAPER, 1, 56), RG_QUICK, "Supp. Table 1"},
    {SHAPE(224, 1, PAPER, 1, 112), RG_QUICK, "Supp. Table 1"},
    {SHAPE(500, 1, PAPER, 1, 250), RG_PAPER, "Supp. Table 1"},
    {SHAPE(112, 4, V9, 14, 56), RG_QUICK, "batch, D7"},
    {SHAPE(56, 256, V9, 1, 28), RG_PAPER, "batch"},
    {SHAPE(112, 256, V9, 1, 56), RG_PAPER, "batch"},
    {SHAPE(256, 256, V9, 1, 128), RG_PAPER, "batch"},
    {SHAPE(224, 32, V9, 14, 112), RG_PAPER, "batch, D7"},
    {SHAPE(500, 8, V9, 14, 250), RG_PAPER, "batch, D7"},
};

static const char *invalid(const rg_shape *s) {
    const char *why = fr_invalid(s, 1u << FR_TRILINEAR | 1u << FR_NEAREST | 1u << FR_BOX2, FR_SQUARED);
    if (why) return why;
    if (fr_pad(s->n[FR_KIND]) != 1) return "the volume that is made is not padded";
    return s->n[FR_OUTER] < 0 || s->n[FR_OUTER] > s->n[FR_SIDE] / 2 ? "the radius must be 0 to half the side" : NULL;
}

static void fill(const rg_shape *s, rg_pattern pattern, void *const *arg) {
    const double corner = (double)(s->n[FR_SIDE] * s->n[FR_SIDE]) / 4;
    float *weight = arg[FR_INSERT_WEIGHT], *volume = arg[FR_INSERT_VOLUME];
    fr_fill_images(s, pattern, FR_DRAW_X, arg[FR_INSERT_D]);
    fr_fill_ctf(s, pattern, arg[FR_INSERT_C]);
    fr_fill_operators(s, pattern, arg[FR_INSERT_POSE]);
    for (int64_t p = 0; p < s->n[FR_PARTICLES]; p++) {
        weight[2 * p] = pattern == RG_MAXIMUM ? 1 : (float)(0.625 + 0.375 * fr_draw(s, FR_DRAW_OTHER, 2 * p));
        weight[2 * p + 1] = (float)(fr_draw(s, FR_DRAW_OTHER, 2 * p + 1) / corner);
    }
    fr_fill_noise(s, FR_DRAW_F3, count_volume(s), volume);
}

// At a node the weights of one plane add up to at most 2. A term is at most e |2c| |E| b <= 2 sqrt(2) e (weight[0] <= 1,
// weight[1] r^2 <= 1); its error is that of the phase, the exponential and six products: uniform, independent between particles
// but not between their operators; the sum exceeds six times its root mean square with probability 1e-8. in_order: terms per
// node, 8 for each plane.
static rg_tolerance tolerance(const rg_shape *s) {
    const double particles = (double)s->n[FR_PARTICLES], trials = (double)s->n[FR_TRIALS], term = 2 * 2.8284 * 2.7183;
    const double each = fr_phase_error() + 12 * FR_U, sums = fr_sum_error(8 * particles * trials);
    const double terms = trials * term * fmin(particles, 6 * sqrt(particles / 6));
    return (rg_tolerance){RG_BOUND, terms * each + (1 + term * sqrt(particles * trials)) * sums, sums,
        "float rounding of the largest phase and weights, and sums in any order (bound.h)"};
}

static void where(const rg_shape *s, int which, int64_t element, char text[64]) {
    static const char *const pose[FR_POSE_FLOATS] = {"M00", "M10", "M20", "M01", "M11", "M21", "s_x", "s_y"};
    if (which == FR_INSERT_D || which == FR_INSERT_C)
        fr_where_image(s, element, which == FR_INSERT_D ? 2 : 1, text);
    else if (which == FR_INSERT_POSE)
        fr_where_pose(s, element, FR_POSE_FLOATS, pose, text);
    else if (which == FR_INSERT_WEIGHT)
        snprintf(text, 64, "(p=%" PRId64 ",%s)", element / 2, element % 2 ? "exponent" : "factor");
    else
        fr_where_node(s->n[FR_SIDE], element, FR_RECORD, text);
}

// The number of stored coefficients within the radius, each once per operator.
static double work(const rg_shape *s) {
    const int64_t b = s->n[FR_OUTER];
    double n = 0;
    for (int64_t j = -b; j <= b; j++) n += (double)(fr_root(b * b - j * j) + 1) - (2 * j == -s->n[FR_SIDE]);
    return n * (double)(s->n[FR_PARTICLES] * s->n[FR_TRIALS]);
}

// The planes' nodes are read and written once, at most all nodes of the volume.
static double traffic_bytes(const rg_shape *s) {
    const double nodes = 4.0 / 3 * work(s), all = (double)fr_voxels(s->n[FR_SIDE]);
    return 12 * work(s) / (double)s->n[FR_TRIALS] + 32 * (nodes < all ? nodes : all);
}

static const rg_shape smoke_shapes[] = {{{16, 2, 35, 1, 5}, 1}};
static const char *const broken[] = {"frealign_barrier_only", NULL};

RG_ALGO(pinsert_s) = {
    FR_ALGO(
        pinsert_s, "num += b w 2c D e^{i s.q}, den += b w c^2 at the nodes around p = M q; squared: w^2 b^2 c D, (w b c)^2"),
    .dim = {"s", "p", "k", "t", "b"},
    .dim_name = {"side", "particles", "kind", "trials", "outer"},
    .broken = broken,
    .rate_unit = "pixels/s",
    .order = "scatter_v4 scatter simd naive",
};
