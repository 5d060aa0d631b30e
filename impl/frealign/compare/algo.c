// SPDX-License-Identifier: MIT
// algo.c: describes the algorithms that compare a particle with a section of the reference: cc3m, presb, sigma2, ccoef.
// Expected values come from reference/. Invariants: by Cauchy and Schwarz a correlation is at most 1, also with weighted rings,
// and sigma2's covariance at most the root of the product of its variances.
#include "../../../reference/reference.h"
#include "../algo.h"
#include "index.h"
#include <inttypes.h>
#include <stdio.h>

static int64_t trials(const rg_shape *s) { return s->n[FR_PARTICLES] * s->n[FR_TRIALS]; }
static int64_t count_rings(const rg_shape *s) { return trials(s) * fr_rings(s->n[FR_SIDE]); }
static int64_t count_moments(const rg_shape *s) { return trials(s) * FR_MOMENTS; }

#define INPUTS(image)                                                                                                          \
    {image, RG_IN, fr_real, fr_count_images}, {"c", RG_IN, fr_real, fr_count_ctf}, {"F3", RG_IN, fr_real, fr_count_reference}, \
        {"pose", RG_IN, fr_real, fr_count_pose}, {                                                                             \
        "setting", RG_IN, fr_real, fr_count_setting                                                                            \
    }

static const rg_arg args_cc3m[] = {INPUTS("X"), {"score", RG_OUT, fr_real, trials}};
static const rg_arg args_presb[] = {INPUTS("X"), {"cc", RG_OUT, fr_real, count_rings}};
static const rg_arg args_sigma2[] = {INPUTS("D"), {"moment", RG_OUT, fr_real, count_moments}};
static const rg_arg args_ccoef[] = {INPUTS("D"), {"cc", RG_OUT, fr_real, trials}};

// ---- shapes --------------------------------------------------------------------------------------------------------------

#define SHAPE(side, particles, kind, trials, outer, inner)                                                                     \
    { {side, particles, kind, trials, outer, inner}, 1 }
enum { V9 = FR_V9, PAPER = FR_BOX3 | FR_SQUARED };

// Every interpolation with every padding, power of c and weight of rings.
#define FLAGS(interpolation)                                                                                                   \
    SHAPE(8, 2, interpolation, 1, 4, 1), SHAPE(8, 2, (interpolation) | FR_SQUARED, 1, 4, 1),                                   \
        SHAPE(8, 2, (interpolation) | FR_RINGS, 1, 4, 1), SHAPE(8, 2, (interpolation) | FR_SQUARED | FR_RINGS, 1, 4, 1)
#define KINDS(interpolation) FLAGS(interpolation), FLAGS((interpolation) | FR_PAD_2), FLAGS((interpolation) | FR_PAD_4)

static const rg_shape check_shapes[] = {
    // The smallest sides; a band of one ring; bands that are empty; all of the plane.
    SHAPE(4, 1, V9, 1, 2, 1),
    SHAPE(6, 1, PAPER, 1, 3, 1),
    SHAPE(8, 1, V9, 1, 2, 1),
    SHAPE(8, 1, PAPER, 2, 3, 3),
    SHAPE(10, 2, V9, 1, 5, 1),
    SHAPE(14, 1, FR_TRILINEAR, 1, 7, 2),
    SHAPE(16, 1, V9, 1, 8, 1),
    SHAPE(16, 1, PAPER, 1, 8, 1),
    KINDS(FR_TRILINEAR),
    KINDS(FR_NEAREST),
    KINDS(FR_BOX1),
    KINDS(FR_BOX3),
    KINDS(FR_BOX5),
    // Larger bands of these kinds.
    SHAPE(16, 1, FR_NEAREST, 1, 6, 1),
    SHAPE(16, 1, FR_BOX1 | FR_SQUARED, 1, 7, 1),
    SHAPE(16, 2, FR_BOX5 | FR_SQUARED, 2, 8, 1),
    SHAPE(16, 1, FR_NEAREST | FR_PAD_4 | FR_RINGS, 1, 8, 1),
    SHAPE(12, 1, FR_BOX1 | FR_PAD_4 | FR_SQUARED, 1, 6, 1),
    SHAPE(12, 2, FR_BOX3 | FR_PAD_2 | FR_SQUARED, 1, 6, 1),
    SHAPE(10, 1, FR_BOX5 | FR_PAD_4 | FR_RINGS, 1, 5, 1),
    SHAPE(18, 1, FR_TRILINEAR | FR_PAD_2 | FR_SQUARED | FR_RINGS, 1, 9, 1),
    SHAPE(20, 1, FR_BOX5, 1, 10, 3),
    // Several particles and trials; sides that do not suit vectors and radices; bands with few and many rings.
    SHAPE(20, 3, V9, 5, 7, 2),
    SHAPE(22, 1, PAPER, 3, 11, 1),
    SHAPE(26, 5, V9, 2, 13, 1),
    SHAPE(30, 17, V9, 1, 10, 1),
    SHAPE(32, 1, V9, 33, 12, 2),
    SHAPE(34, 1, PAPER, 2, 17, 4),
    SHAPE(48, 2, V9, 2, 16, 1),
    SHAPE(56, 1, V9, 1, 28, 1),
    SHAPE(64, 2, PAPER, 2, 32, 1),
    SHAPE(66, 1, V9, 1, 22, 3),
};

// The paper's sizes: one call of one particle, as it timed them, in both forms; and batches. Bands as in FREALIGN: a third of
// the side for the objective of refinement, all rings for the others.
#define SIZES(kind, third, label)                                                                                              \
    {SHAPE(56, 1, kind, 1, (third) ? 18 : 28, 1), RG_QUICK, label},                                                            \
        {SHAPE(112, 1, kind, 1, (third) ? 37 : 56, 1), RG_QUICK, label},                                                       \
        {SHAPE(224, 1, kind, 1, (third) ? 74 : 112, 1), RG_QUICK, label}, {                                                    \
        SHAPE(500, 1, kind, 1, (third) ? 166 : 250, 1), RG_PAPER, label                                                        \
    }
#define BATCHES(third)                                                                                                         \
    {SHAPE(56, 64, V9, 4, (third) ? 18 : 28, 1), RG_PAPER, "batch"},                                                           \
        {SHAPE(112, 64, V9, 4, (third) ? 37 : 56, 1), RG_PAPER, "batch"},                                                      \
        {SHAPE(224, 32, V9, 4, (third) ? 74 : 112, 1), RG_PAPER, "batch"}, {                                                   \
        SHAPE(500, 16, V9, 4, (third) ? 166 : 250, 1), RG_PAPER, "batch"                                                       \
    }
static const rg_bench_shape bench_third[] = {SIZES(V9, 1, "Supp. Table 1, v9"), SIZES(PAPER, 1, "Supp. Table 1"),
    {SHAPE(112, 8, V9, 4, 37, 1), RG_QUICK, "batch"}, BATCHES(1)};
static const rg_bench_shape bench_all[] = {SIZES(V9, 0, "Supp. Table 1, v9"), SIZES(PAPER, 0, "Supp. Table 1"),
    {SHAPE(112, 8, V9, 4, 56, 1), RG_QUICK, "batch"}, BATCHES(0)};

static const char *invalid(const rg_shape *s) {
    const unsigned interpolations = 1u << FR_TRILINEAR | 1u << FR_NEAREST | 1u << FR_BOX1 | 1u << FR_BOX3 | 1u << FR_BOX5;
    const char *why = fr_invalid(s, interpolations, FR_SQUARED | FR_RINGS);
    if (why) return why;
    if (s->n[FR_OUTER] < 1 || s->n[FR_OUTER] > s->n[FR_SIDE] / 2) return "the band must end within 1 and half the side";
    return s->n[FR_INNER] < 1 ? "the band must begin at 1 or above: the mean of an image takes no part" : NULL;
}

static void fill(const rg_shape *s, rg_pattern pattern, void *const *arg) {
    fr_fill_images(s, pattern, FR_DRAW_X, arg[FR_X]);
    fr_fill_ctf(s, pattern, arg[FR_C]);
    fr_fill_reference(s, pattern, arg[FR_F3]);
    fr_fill_pose(s, pattern, arg[FR_POSE]);
    fr_fill_setting(s, pattern, arg[FR_SETTING]);
}

// ---- tolerances and invariants -------------------------------------------------------------------------------------------

// The approximate number of coefficients of a half plane in the band.
static double in_band(const rg_shape *s) {
    const double a = (double)s->n[FR_INNER], b = (double)s->n[FR_OUTER];
    return 1.5708 * (b * b - a * a);
}

// The errors of the transforms are those of the whole plane, relative to the power of a ring that may be weak. If all rings
// have the same weight, half of FR_RING_SPREAD is left.
static rg_tolerance tolerance_cc3m(const rg_shape *s) {
    const double spread = s->n[FR_KIND] & FR_RINGS ? FR_RING_SPREAD / 2 : 1;
    return (rg_tolerance){RG_BOUND, fr_correlation_error(s, 2 * spread * spread, in_band(s)), fr_sum_error(0),
        "float rounding of the section, two transforms, shift and sums (fr_correlation_error)"};
}

// The first ring has the fewest coefficients, about 3.14 of its radius.
static rg_tolerance tolerance_presb(const rg_shape *s) {
    const double transforms = 2 * FR_RING_SPREAD * FR_RING_SPREAD;
    return (rg_tolerance){RG_BOUND, fr_correlation_error(s, transforms, 3.14 * (double)s->n[FR_INNER]), fr_sum_error(0),
        "float rounding of the section, two transforms, shift, sums, in a weak ring (fr_correlation_error)"};
}

// Moments are at most those of coefficients of magnitude 2 sqrt 2, at half of the whole plane's band each. A factor common to
// all coefficients is rounded, too, unlike in a correlation: fr_sum_error.
static rg_tolerance tolerance_sigma2(const rg_shape *s) {
    const double side = (double)s->n[FR_SIDE], outer = (double)s->n[FR_OUTER], e = 2 * fr_correlation_error(s, 2, in_band(s));
    const double largest = 8 * 3.15 * outer * outer / (side * side * side * side);
    return (rg_tolerance){RG_BOUND, e * largest, e + fr_sum_error(0),
        "float rounding of the section, a transform of either image, shift and sums (fr_correlation_error)"};
}

static rg_tolerance tolerance_ccoef(const rg_shape *s) {
    return (rg_tolerance){RG_BOUND, fr_correlation_error(s, 2, in_band(s)), fr_sum_error(0),
        "float rounding of the section, a transform of either image, shift and sums (fr_correlation_error)"};
}

static const char *at_most_one(const float *cc, int64_t n) {
    static _Thread_local char text[80];
    for (int64_t e = 0; e < n; e++)
        if (!(fabsf(cc[e]) <= 1 + 1e-4f)) {
            snprintf(text, sizeof text, "correlation %" PRId64 " is %.9g, beyond 1", e, (double)cc[e]);
            return text;
        }
    return NULL;
}

static const char *invariant_score(const rg_shape *s, void *const *arg) { return at_most_one(arg[FR_SCORE], trials(s)); }

static const char *invariant_rings(const rg_shape *s, void *const *arg) {
    const int64_t rings = fr_rings(s->n[FR_SIDE]), a = s->n[FR_INNER], b = s->n[FR_OUTER];
    const float *cc = arg[FR_SCORE];
    for (int64_t e = 0; e < count_rings(s); e++) // ring k has radii from k - 1/2 to k + 1/2
        if ((e % rings < a || e % rings > b) && cc[e] != 0) return "a ring outside of the band has a correlation";
    return at_most_one(cc, count_rings(s));
}

static const char *invariant_moments(const rg_shape *s, void *const *arg) {
    const float *m = arg[FR_SCORE];
    const rg_tolerance t = tolerance_sigma2(s);
    for (int64_t e = 0; e < count_moments(s); e += FR_MOMENTS) {
        if (!(m[e + 1] >= 0 && m[e + 2] >= 0 && m[e + 3] >= 0)) return "a variance is negative";
        const double most = sqrt((double)m[e + 1] * m[e + 2]) + 2 * t.absolute;
        if (!(fabs(m[e]) <= most)) return "a covariance is beyond what the two variances allow";
    }
    return NULL;
}

static void where(const rg_shape *s, int which, int64_t element, int each, const char *const *part, char text[64]) {
    static const char *const pose[FR_POSE_FLOATS] = {"M00", "M10", "M20", "M01", "M11", "M21", "s_x", "s_y"};
    if (which == FR_X || which == FR_C)
        fr_where_image(s, element, which == FR_X ? 2 : 1, text);
    else if (which == FR_F3)
        fr_where_node(fr_pad(s->n[FR_KIND]) * s->n[FR_SIDE], element, 2, text);
    else if (which == FR_POSE)
        fr_where_pose(s, element, FR_POSE_FLOATS, pose, text);
    else if (which == FR_SETTING)
        snprintf(text, 64, "(%" PRId64 ")", element);
    else
        fr_where_pose(s, element, each, part, text);
}

static void where_score(const rg_shape *s, int which, int64_t element, char text[64]) {
    where(s, which, element, 1, NULL, text);
}

static void where_moment(const rg_shape *s, int which, int64_t element, char text[64]) {
    static const char *const moment[FR_MOMENTS] = {"a x", "a a", "x x", "x x all"};
    where(s, which, element, FR_MOMENTS, moment, text);
}

static void where_ring(const rg_shape *s, int which, int64_t element, char text[64]) {
    const int64_t rings = fr_rings(s->n[FR_SIDE]), at = element / rings;
    if (which != FR_SCORE)
        where(s, which, element, 1, NULL, text);
    else
        snprintf(text, 64, "(p=%" PRId64 ",t=%" PRId64 ",ring=%" PRId64 ")", at / s->n[FR_TRIALS], at % s->n[FR_TRIALS],
            element % rings);
}

// ---- amounts -------------------------------------------------------------------------------------------------------------

// Images and CTF in the band, and one section of the reference for each trial, without what is read twice.
static double traffic_bytes(const rg_shape *s) {
    const double band = (double)fr_band_stored(s), nodes = 4.0 / 3 * band * (double)s->n[FR_OUTER]; // half of the ball
    const double section = 8 * band * (double)trials(s), reference = 8 * nodes;
    return 12 * band * (double)s->n[FR_PARTICLES] + (section < reference ? section : reference);
}

static double work(const rg_shape *s) { return (double)fr_band_stored(s) * (double)trials(s) + 1; }

static const rg_shape smoke_shapes[] = {{{20, 3, 64, 5, 7, 2}, 1}};

#define SECTION(NAME, FORMULA, BENCH, INVARIANT, WHERE)                                                                        \
    {                                                                                                                          \
        .name = #NAME, .paper = "Li 2010", .formula = FORMULA, .dim = {"s", "p", "k", "t", "b", "a"},                          \
        .dim_name = {"side", "particles", "kind", "trials", "outer", "inner"}, .dim_text = fr_dim_text,                        \
        RG_ALGO_ARRAYS(args_##NAME, check_shapes, BENCH, smoke_shapes), .steady = 1u << FR_F3, .invalid = invalid,             \
        .fill = fill, .reference = rg_ref_##NAME, .reference_at = rg_ref_##NAME##_at, .tolerance = tolerance_##NAME,           \
        .invariant = INVARIANT, .where = WHERE, .index_fault = fr_index_fault, .traffic_bytes = traffic_bytes, .work = work,   \
        .rate_unit = "coefficients/s", .order = "batch scatter simd naive",                                                    \
    }

RG_ALGO(cc3m) = SECTION(cc3m, "score = sum C / sqrt(sum B sum Q), or with rings weighted: particle against a masked section",
    bench_third, invariant_score, where_score);
RG_ALGO(presb) = SECTION(presb, "cc[k] = C_k / sqrt(B_k Q_k): particle against a masked section, ring by ring", bench_all,
    invariant_rings, where_ring);
RG_ALGO(sigma2) = SECTION(sigma2, "covariance and variances of section and particle over a disc in real space, phases flipped",
    bench_all, invariant_moments, where_moment);
RG_ALGO(ccoef) = SECTION(
    ccoef, "cc = sum a x / sqrt(sum a^2 sum x^2): section and particle in real space", bench_all, invariant_score, where_score);
