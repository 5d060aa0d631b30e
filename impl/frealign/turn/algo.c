// SPDX-License-Identifier: MIT
// algo.c: describes `ccp`: a particle against one direction of view, under all in-plane rotations and all near shifts.
#include "../../../reference/reference.h"
#include "../algo.h"
#include "index.h"
#include <inttypes.h>
#include <stdio.h>

static int64_t count_turn(const rg_shape *s) { return 2 * s->n[FR_TURNS]; }
static int64_t rotations(const rg_shape *s) { return s->n[FR_PARTICLES] * s->n[FR_TRIALS] * fr_turns(s); }
static int64_t count_cc(const rg_shape *s) { return rotations(s) * FR_LAGS * FR_LAGS; }

static const rg_arg args[] = {
    {"X", RG_IN, fr_real, fr_count_images},
    {"c", RG_IN, fr_real, fr_count_ctf},
    {"F3", RG_IN, fr_real, fr_count_reference},
    {"pose", RG_IN, fr_real, fr_count_pose},
    {"setting", RG_IN, fr_real, fr_count_setting},
    {"turn", RG_IN, fr_real, count_turn},
    {"cc", RG_OUT, fr_real, count_cc},
};

#define SHAPE(side, particles, kind, trials, outer, turns)                                                                     \
    { {side, particles, kind, trials, outer, turns}, 1 }
enum { V9 = FR_TRILINEAR, PAPER = FR_PAPER };

// Every interpolation with every padding, power of c, with and without the mask.
#define FLAGS(interpolation)                                                                                                   \
    SHAPE(12, 2, interpolation, 1, 3, 2), SHAPE(12, 2, (interpolation) | FR_SQUARED, 1, 3, 2),                                 \
        SHAPE(12, 2, (interpolation) | FR_MASKED, 1, 3, 2), SHAPE(12, 2, (interpolation) | FR_SQUARED | FR_MASKED, 1, 3, 2)
#define KINDS(interpolation) FLAGS(interpolation), FLAGS((interpolation) | FR_PAD_2), FLAGS((interpolation) | FR_PAD_4)

static const rg_shape check_shapes[] = {
    KINDS(FR_TRILINEAR),
    KINDS(FR_NEAREST),
    KINDS(FR_BOX1),
    KINDS(FR_BOX3),
    KINDS(FR_BOX5),
    // No coefficient at all, one ring; sides whose half is odd; the largest band.
    SHAPE(4, 1, V9, 1, 1, 1),
    SHAPE(8, 1, PAPER, 1, 2, 1),
    SHAPE(10, 1, V9, 1, 2, 2),
    SHAPE(14, 1, V9, 2, 3, 1),
    SHAPE(16, 1, V9, 1, 4, 3),
    SHAPE(16, 2, PAPER, 1, 4, 3),
    SHAPE(18, 1, PAPER, 1, 4, 5),
    SHAPE(20, 1, V9, 1, 5, 4),
    // The other interpolations and paddings; particles and directions; rotations of a search.
    SHAPE(16, 1, FR_NEAREST | FR_PAD_4, 1, 4, 2),
    SHAPE(16, 1, FR_BOX1 | FR_SQUARED, 1, 4, 1),
    SHAPE(16, 2, FR_BOX5 | FR_MASKED, 2, 3, 2),
    SHAPE(22, 3, V9, 2, 5, 3),
    SHAPE(24, 1, V9 | FR_PAD_2, 5, 6, 2),
    SHAPE(32, 1, V9, 1, 8, 15),
    SHAPE(32, 2, PAPER, 1, 7, 9),
    SHAPE(48, 1, V9, 1, 12, 18),
    SHAPE(66, 1, V9, 1, 16, 7),
};

static const rg_bench_shape bench_shapes[] = {
    {SHAPE(56, 1, V9, 1, 14, 90), RG_QUICK, "Supp. Table 1, v9"},
    {SHAPE(112, 1, V9, 1, 28, 90), RG_QUICK, "Supp. Table 1, v9"},
    {SHAPE(224, 1, V9, 1, 56, 90), RG_QUICK, "Supp. Table 1, v9"},
    {SHAPE(500, 1, V9, 1, 125, 90), RG_PAPER, "Supp. Table 1, v9"},
    {SHAPE(56, 1, PAPER, 1, 14, 90), RG_QUICK, "Supp. Table 1"},
    {SHAPE(112, 1, PAPER, 1, 28, 90), RG_QUICK, "Supp. Table 1"},
    {SHAPE(224, 1, PAPER, 1, 56, 90), RG_QUICK, "Supp. Table 1"},
    {SHAPE(500, 1, PAPER, 1, 125, 90), RG_PAPER, "Supp. Table 1"},
    {SHAPE(112, 2, V9, 4, 28, 75), RG_QUICK, "batch"},
    {SHAPE(56, 16, V9, 4, 14, 90), RG_PAPER, "batch"},
    {SHAPE(112, 8, V9, 8, 28, 90), RG_PAPER, "batch"},
    {SHAPE(224, 4, V9, 8, 56, 90), RG_PAPER, "batch"},
    {SHAPE(500, 2, V9, 8, 125, 90), RG_PAPER, "batch"},
};

static const char *invalid(const rg_shape *s) {
    const unsigned interpolations = 1u << FR_TRILINEAR | 1u << FR_NEAREST | 1u << FR_BOX1 | 1u << FR_BOX3 | 1u << FR_BOX5;
    const char *why = fr_invalid(s, interpolations, FR_SQUARED | FR_MASKED);
    if (why) return why;
    if (s->n[FR_OUTER] < 1 || s->n[FR_OUTER] > s->n[FR_SIDE] / 4) return "the band must end within 1 and a quarter of the side";
    return s->n[FR_TURNS] < 1 || s->n[FR_TURNS] > 10000 ? "there must be 1 to 10,000 rotations in a quarter turn" : NULL;
}

static void fill(const rg_shape *s, rg_pattern pattern, void *const *arg) {
    float *turn = arg[FR_CCP_TURN];
    fr_fill_images(s, pattern, FR_DRAW_X, arg[FR_X]);
    fr_fill_ctf(s, pattern, arg[FR_C]);
    fr_fill_reference(s, pattern, arg[FR_F3]);
    fr_fill_pose(s, pattern, arg[FR_POSE]);
    fr_fill_setting(s, pattern, arg[FR_SETTING]);
    for (int64_t u = 0; u < s->n[FR_TURNS]; u++) {
        turn[2 * u] = (float)cos(2 * atan(1) * (double)u / (double)s->n[FR_TURNS]);
        turn[2 * u + 1] = (float)sin(2 * atan(1) * (double)u / (double)s->n[FR_TURNS]);
    }
}

// The number of coefficients in the half disc, without the mean.
static double kept(const rg_shape *s) { return 1.5708 * (double)s->n[FR_OUTER] * (double)s->n[FR_OUTER]; }

// cc is at most 2: coefficients with i > 0 count twice in w and once in the norms. The padded transform counts as two.
static rg_tolerance tolerance(const rg_shape *s) {
    return (rg_tolerance){RG_BOUND, 2 * fr_correlation_error(s, s->n[FR_KIND] & FR_MASKED ? 4 : 2, kept(s)), fr_sum_error(0),
        "float rounding of the section, the padded transform, phases and sums (fr_correlation_error)"};
}

static const char *invariant(const rg_shape *s, void *const *arg) {
    const float *cc = arg[FR_CCP_CC];
    for (int64_t e = 0; e < count_cc(s); e++)
        if (!(fabsf(cc[e]) <= 2 + 2e-4f)) return "a correlation is beyond 2, the most that half planes can give";
    return NULL;
}

static void where(const rg_shape *s, int which, int64_t element, char text[64]) {
    static const char *const pose[FR_POSE_FLOATS] = {"M00", "M10", "M20", "M01", "M11", "M21", "s_x", "s_y"};
    const int64_t lag = element % (FR_LAGS * FR_LAGS), rotation = element / (FR_LAGS * FR_LAGS) % fr_turns(s);
    const int64_t at = element / (FR_LAGS * FR_LAGS) / fr_turns(s), turns = s->n[FR_TURNS];
    if (which == FR_X || which == FR_C)
        fr_where_image(s, element, which == FR_X ? 2 : 1, text);
    else if (which == FR_F3)
        fr_where_node(fr_pad(s->n[FR_KIND]) * s->n[FR_SIDE], element, 2, text);
    else if (which == FR_POSE)
        fr_where_pose(s, element, FR_POSE_FLOATS, pose, text);
    else if (which != FR_CCP_CC)
        snprintf(text, 64, "(%" PRId64 ")", element);
    else
        snprintf(text, 64, "(p=%d,t=%d,v=%d,u=%d,x=%d,y=%d)", (int)(at / s->n[FR_TRIALS]), (int)(at % s->n[FR_TRIALS]),
            (int)(rotation / turns), (int)(rotation % turns), (int)(lag % FR_LAGS) - FR_LAG, (int)(lag / FR_LAGS) - FR_LAG);
}

static double traffic_bytes(const rg_shape *s) {
    return 12 * kept(s) * (double)s->n[FR_PARTICLES] + 8 * kept(s) * (double)(s->n[FR_PARTICLES] * s->n[FR_TRIALS]) +
        4 * (double)count_cc(s);
}

static double work(const rg_shape *s) { return kept(s) * (double)rotations(s); }

static const rg_shape smoke_shapes[] = {{{16, 2, 133, 2, 3, 2}, 1}};

RG_ALGO(ccp) = {
    FR_ALGO(ccp,
        "cc[v,u][y][x] = w / sqrt(sum |P|^2 sum |X|^2), w the correlation with the section turned by (v + u/U) quarter "
        "turns"),
    .dim = {"s", "p", "k", "t", "b", "u"},
    .dim_name = {"side", "particles", "kind", "trials", "outer", "turns"},
    .steady = 1u << FR_F3,
    .reference_at = rg_ref_ccp_at,
    .invariant = invariant,
    .rate_unit = "coefficients/s",
    .order = "batch scatter simd naive",
};
