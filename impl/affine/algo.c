// SPDX-License-Identifier: MIT
// algo.c: the algorithms `affine2d`, `align2d` and `align3d` as data: shapes, invariants and amounts of work. index.h defines
// the computation, n[] and the arguments. The expected values come from reference/.
#include "../../reference/reference.h"
#include "bound.h"
#include "fill.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static rg_type real(const rg_shape *s) { return (void)s, RG_F32; }
static rg_type fine(const rg_shape *s) { return (void)s, RG_F64; }
static rg_type whole(const rg_shape *s) { return (void)s, RG_I32; }

// ---- two and three dimensions --------------------------------------------------------------------------------------------
// Defines the functions of the table for either; dims, 2 or 3, is the suffix of their names.

#define BOTH(dims)                                                                                                             \
    static int64_t pixels_##dims(const rg_shape *s) {                                                                          \
        return af_pixels(&(af_size){.w = (int)s->n[0], .h = (int)s->n[1], .d = (dims) == 3 ? (int)s->n[2] : 1});               \
    }                                                                                                                          \
    static int64_t maps_##dims(const rg_shape *s) { return s->n[dims]; }                                                       \
    static int64_t numbers_##dims(const rg_shape *s) { return s->n[dims] * af_numbers(dims); }                                 \
    static const char *invalid_##dims(const rg_shape *s) { return invalid(s, dims); }                                          \
    static double work_##dims(const rg_shape *s) { return (double)pixels_##dims(s) * (double)s->n[dims]; }                     \
    static double traffic_align_##dims(const rg_shape *s) {                                                                    \
        return 8 * (double)pixels_##dims(s) + (4 * af_numbers(dims) + 12) * (double)s->n[dims];                                \
    }                                                                                                                          \
    static void fill_align_##dims(const rg_shape *s, rg_pattern pattern, void *const *arg) {                                   \
        const af_size z = af_size_##dims##d(s);                                                                                \
        af_fill(&z, s->seed, pattern, arg[AL_IMAGE], arg[AL_REFERENCE], arg[AL_MATRIX]);                                       \
    }                                                                                                                          \
    static rg_tolerance tolerance_align_##dims(const rg_shape *s) {                                                            \
        const af_size z = af_size_##dims##d(s);                                                                                \
        return af_rho_bound(&z, 0, 0);                                                                                         \
    }                                                                                                                          \
    static const char *invariant_align_##dims(const rg_shape *s, void *const *arg) {                                           \
        const af_size z = af_size_##dims##d(s);                                                                                \
        return invariant_align(&z, arg[AL_RHO], arg[AL_PIXELS]);                                                               \
    }                                                                                                                          \
    static const char *index_fault_##dims(const rg_shape *s) {                                                                 \
        const af_size z = af_size_##dims##d(s);                                                                                \
        return index_fault(&z);                                                                                                \
    }                                                                                                                          \
    static void where_align_##dims(const rg_shape *s, int which, int64_t element, char text[64]) {                             \
        const af_size z = af_size_##dims##d(s);                                                                                \
        if (which == AL_IMAGE || which == AL_REFERENCE)                                                                        \
            where_pixel(&z, element, "", text);                                                                                \
        else                                                                                                                   \
            where_map(&z, which == AL_MATRIX, element, text);                                                                  \
    }                                                                                                                          \
    static const rg_arg align_args_##dims[] = {{"image", RG_IN, real, pixels_##dims},                                          \
        {"reference", RG_IN, real, pixels_##dims}, {"matrix", RG_IN, real, numbers_##dims},                                    \
        {"rho", RG_OUT, fine, maps_##dims}, {"pixels", RG_OUT, whole, maps_##dims}};

static const char *invalid(const rg_shape *s, int dims) {
    const int64_t *n = s->n, turns_most = dims == 3 ? 3 * 361 : 361;
    double pixels = 1;
    for (int a = 0; a < dims; a++) {
        if (n[a] < 1) return "every side must be at least 1";
        if (n[a] > AF_SIDE_MAX) return "a side must be at most 16384: single precision places pixels to 1e-3 of a pixel";
        pixels *= (double)n[a];
    }
    if (pixels > 2147483647.0) return "an image must have fewer than 2^31 pixels";
    if (n[dims] < 1) return "there must be at least one transform";
    if ((double)n[dims] * (pixels + 100) > 1e15) return "so many transforms that their bytes overflow";
    if (n[dims + 1] < AF_ZERO || n[dims + 1] > AF_IGNORE) return "the rule outside must be 0 (zero), 1 (edge) or 2 (ignore)";
    if (n[dims + 2] < 0 || n[dims + 2] > turns_most)
        return dims == 3 ? "t must be 0 (drawn) or 1 .. 1083 (361 for each axis, degrees + 180)"
                         : "t must be 0 (drawn) or 1 .. 361 (degrees + 181)";
    return NULL;
}

static void where_pixel(const af_size *z, int64_t element, const char *map, char text[64]) {
    if (z->dims == 2)
        snprintf(text, 64, "(%sx=%" PRId64 ",y=%" PRId64 ")", map, af_pixel_x(z, element), af_pixel_y(z, element));
    else
        snprintf(text, 64, "(%sx=%" PRId64 ",y=%" PRId64 ",z=%" PRId64 ")", map, af_pixel_x(z, element), af_pixel_y(z, element),
            af_pixel_z(z, element));
}

static void where_map(const af_size *z, int matrix, int64_t element, char text[64]) {
    const int n = af_numbers(z->dims), columns = z->dims + 1;
    if (matrix)
        snprintf(text, 64, "(transform=%" PRId64 ",row=%d,col=%d)", element / n, (int)(element % n / columns),
            (int)(element % columns));
    else
        snprintf(text, 64, "(transform=%" PRId64 ")", element);
}

// A correlation lies in -1 .. 1, and with rules 0 and 1 every pixel takes part.
static const char *invariant_align(const af_size *z, const double *rho, const int32_t *pixels) {
    static _Thread_local char text[160];
    for (int64_t i = 0; i < z->transforms; i++) {
        if (!(rho[i] >= -1 && rho[i] <= 1)) {
            snprintf(text, sizeof text, "transform %" PRId64 ": the correlation is %.17g, outside -1 .. 1", i, rho[i]);
            return text;
        }
        if (pixels[i] < 0 || pixels[i] > af_pixels(z) || (z->outside != AF_IGNORE && pixels[i] != af_pixels(z))) {
            snprintf(text, sizeof text, "transform %" PRId64 ": %" PRId32 " of %" PRId64 " pixels took part", i, pixels[i],
                af_pixels(z));
            return text;
        }
    }
    return NULL;
}

static const char *index_fault(const af_size *z) {
    int64_t expected = 0;
    for (int64_t d = 0; d < z->d; d++)
        for (int64_t y = 0; y < z->h; y++)
            for (int64_t x = 0; x < z->w; x++, expected++) {
                const int64_t e = af_pixel(z, x, y, d);
                if (e != expected) return "af_pixel leaves out or repeats an element";
                if (af_pixel_x(z, e) != x || af_pixel_y(z, e) != y || af_pixel_z(z, e) != d)
                    return "af_pixel_x, _y, _z are not the inverse of af_pixel";
            }
    if (expected != af_pixels(z)) return "the pixels do not fill the image";
    if (af_high(z->w) - af_low(z->w) != (float)(z->w - 1) || af_low(z->h) + (float)af_centre(z->h) != 0)
        return "af_low and af_high are not the first and last pixel seen from the centre";
    const double shift[2] = {0.375 * z->w, -0.25 * z->h};
    float m[6];
    double back[6];
    af_matrix_2d(0.7, shift, 1.25, m);
    if (!af_inverse_2d(m, back)) return "af_inverse_2d finds no inverse of a rotation";
    const double x = z->w / 3.0, y = z->h / 5.0, to_x = back[0] * x + back[1] * y + back[2],
                 to_y = back[3] * x + back[4] * y + back[5];
    const double size = 1e-5 * (z->w + z->h); // a feature goes to scale Rot(a) p + shift
    if (!(fabs(to_x - 1.25 * (cos(0.7) * x - sin(0.7) * y) - shift[0]) < size) ||
        !(fabs(to_y - 1.25 * (sin(0.7) * x + cos(0.7) * y) - shift[1]) < size))
        return "af_matrix_2d is not the inverse of c + scale Rot(a)(p - c) + shift";
    return NULL;
}

BOTH(2)
BOTH(3)

// ---- affine2d ------------------------------------------------------------------------------------------------------------

static int64_t transformed(const rg_shape *s) { return pixels_2(s) * s->n[AF2_TRANSFORMS]; }

static const rg_arg affine_args[] = {
    {"image", RG_IN, real, pixels_2}, {"matrix", RG_IN, real, numbers_2}, {"transformed", RG_OUT, real, transformed}};

static const rg_shape affine_checks[] = {
    // One pixel, one line, odd and even, the rules, several transforms; sides around a block, a warp, a column of 128.
    {{1, 1, 1, 0, 0}, 1},
    {{1, 1, 3, 1, 0}, 1},
    {{2, 1, 2, 2, 0}, 1},
    {{1, 2, 2, 0, 0}, 1},
    {{2, 2, 4, 1, 0}, 1},
    {{3, 3, 4, 0, 0}, 1},
    {{1, 9, 4, 2, 0}, 1},
    {{9, 1, 4, 0, 0}, 1},
    {{5, 4, 8, 2, 0}, 1},
    {{15, 15, 4, 0, 0}, 1},
    {{16, 16, 4, 1, 0}, 1},
    {{17, 17, 4, 2, 0}, 1},
    {{31, 33, 3, 0, 0}, 1},
    {{33, 31, 3, 1, 0}, 1},
    {{64, 64, 2, 0, 1}, 1},
    {{64, 64, 1, 0, 91}, 1},
    {{65, 63, 2, 2, 136}, 1},
    {{64, 65, 1, 1, 181}, 1},
    {{65, 64, 1, 2, 271}, 1},
    {{64, 64, 1, 0, 361}, 1},
    {{127, 3, 5, 0, 0}, 1},
    {{3, 129, 5, 1, 0}, 1},
    {{128, 128, 1, 0, 0}, 1},
    {{129, 127, 2, 2, 0}, 1},
    {{200, 150, 2, 0, 0}, 1},
    {{257, 131, 1, 1, 0}, 1},
    {{20, 20, 33, 0, 0}, 1},
};

// t = degrees + 181. G1: a rotation of 2048 x 2048; sixteen of one image show the cost of a transform once the image is loaded.
#define TURN(t, preset, label)                                                                                                 \
    { {{2048, 2048, 1, 0, t}, 1}, preset, label }
#define G1(t) TURN(t, RG_PAPER, "G1")
#define G1_FIVE(t, step) G1(t), G1((t) + (step)), G1((t) + 2 * (step)), G1((t) + 3 * (step)), G1((t) + 4 * (step))
#define TURN16(t)                                                                                                              \
    { {{2048, 2048, 16, 0, t}, 1}, RG_PAPER, "G1, 16 at once" }
// Eq. 2 as printed has no rule `ignore`.
static const rg_shape smoke_2[] = {{{65, 63, 2, 2, 136}, 1}, {{65, 63, 2, 0, 136}, 1}};
static const rg_shape smoke_3[] = {{{15, 16, 17, 3, 0, 0}, 1}};

static const rg_bench_shape affine_bench[] = {
    {{{512, 512, 1, 0, 181}, 1}, RG_QUICK, "0 degrees"},
    {{{512, 512, 1, 0, 191}, 1}, RG_QUICK, "10 degrees"},
    {{{512, 512, 1, 0, 226}, 1}, RG_QUICK, "45 degrees"},
    {{{512, 512, 1, 0, 271}, 1}, RG_QUICK, "90 degrees"},
    {{{512, 512, 1, 2, 0}, 1}, RG_QUICK, "any, ignore"},
    TURN(191, RG_QUICK, "G1, 10 degrees"),
    TURN(226, RG_PAPER, "G1, 45 degrees"),
    // The means of Table 1: every 10 degrees of the circle, every degree to 10 either way.
    G1_FIVE(1, 10),
    G1_FIVE(51, 10),
    G1_FIVE(101, 10),
    G1(151),
    G1(161),
    G1_FIVE(171, 1),
    G1_FIVE(176, 1),
    G1_FIVE(181, 1),
    G1_FIVE(186, 1),
    G1_FIVE(201, 10),
    G1_FIVE(251, 10),
    G1_FIVE(301, 10),
    G1(351),
    G1(361),
    TURN16(181),
    TURN16(191),
    TURN16(226),
    TURN16(271),
    {{{2048, 2048, 1, 0, 0}, 1}, RG_PAPER, "drawn"},
    {{{4096, 4096, 16, 0, 0}, 1}, RG_LARGE, "4096 x 4096"},
};

static void fill_affine(const rg_shape *s, rg_pattern pattern, void *const *arg) {
    const af_size z = af_size_2d(s);
    af_fill(&z, s->seed, pattern, arg[AF_IMAGE], NULL, arg[AF_MATRIX]);
}

static rg_tolerance tolerance_affine(const rg_shape *s) {
    const af_size z = af_size_2d(s);
    return af_pixel_bound(&z, 0);
}

// Interpolation stays between the smallest and the largest pixel, and is 0 where the rule gives 0.
static const char *invariant_affine(const rg_shape *s, void *const *arg) {
    static _Thread_local char text[160];
    const af_size z = af_size_2d(s);
    const float *image = arg[AF_IMAGE], *to = arg[AF_TRANSFORMED];
    float least = z.outside == AF_EDGE ? image[0] : 0, most = least;
    for (int64_t e = 0; e < pixels_2(s); e++) {
        least = image[e] < least ? image[e] : least;
        most = image[e] > most ? image[e] : most;
    }
    for (int64_t e = 0; e < transformed(s); e++)
        if (!(to[e] >= least - 1e-6 && to[e] <= most + 1e-6)) {
            snprintf(text, sizeof text, "element %" PRId64 " = %.9g is outside the range of the image, %.9g .. %.9g", e,
                (double)to[e], (double)least, (double)most);
            return text;
        }
    return NULL;
}

static void where_affine(const rg_shape *s, int which, int64_t element, char text[64]) {
    const af_size z = af_size_2d(s);
    char map[32] = "";
    if (which == AF_MATRIX) {
        where_map(&z, 1, element, text);
        return;
    }
    if (which == AF_TRANSFORMED) snprintf(map, sizeof map, "transform=%" PRId64 ",", element / pixels_2(s));
    where_pixel(&z, element % pixels_2(s), map, text);
}

static double traffic_affine(const rg_shape *s) {
    return 4 * ((double)pixels_2(s) + (double)numbers_2(s) + (double)transformed(s));
}

// The rule outside, and "y+90" for rotations by whole degrees about an axis; 2-D ones are about z.
static int dim_word(int outside, int turn, int64_t value, char text[32]) {
    static const char *const rule[] = {"zero", "edge", "ignore"};
    if (outside && value >= 0 && value < RG_COUNT(rule)) return snprintf(text, 32, "%s", rule[value]) > 0;
    if (turn && value == 0) return snprintf(text, 32, "drawn") > 0;
    if (turn && value > 0 && value <= 3 * 361)
        return snprintf(text, 32, "%c%+d", "zyx"[(value - 1) / 361], (int)((value - 1) % 361 - 180)) > 0;
    return 0;
}
static int dim_text_2(int dim, int64_t value, char text[32]) {
    return dim_word(dim == AF2_OUTSIDE, dim == AF2_TURN, value, text);
}
static int dim_text_3(int dim, int64_t value, char text[32]) {
    return dim_word(dim == AF3_OUTSIDE, dim == AF3_TURN, value, text);
}

RG_ALGO(affine2d) = {
    .name = "affine2d",
    .paper = "Garcia 2014",
    .formula = "I'(p) = I(c + M (p - c) + t), bilinear",
    .dim = {"w", "h", "m", "o", "t"},
    .dim_name = {"width", "height", "transforms", "outside", "turn"},
    .dim_text = dim_text_2,
    RG_ALGO_ARRAYS(affine_args, affine_checks, affine_bench, smoke_2),
    .steady = 1u << AF_IMAGE,
    .invalid = invalid_2,
    .fill = fill_affine,
    .reference = rg_ref_affine2d,
    .reference_at = rg_ref_affine2d_at,
    .tolerance = tolerance_affine,
    .invariant = invariant_affine,
    .where = where_affine,
    .index_fault = index_fault_2,
    .traffic_bytes = traffic_affine,
    .work = work_2,
    .rate_unit = "pixels/s",
    .order = "gather at_16x16 at_128x1 simd naive",
};

// ---- align2d -------------------------------------------------------------------------------------------------------------

static const rg_shape align2d_checks[] = {
    {{1, 1, 2, 0, 0}, 1},
    {{2, 1, 2, 2, 0}, 1},
    {{3, 3, 4, 0, 0}, 1},
    {{9, 1, 4, 1, 0}, 1},
    {{7, 8, 8, 2, 0}, 1},
    {{15, 15, 4, 0, 0}, 1},
    {{16, 16, 5, 1, 0}, 1},
    {{17, 17, 4, 2, 0}, 1},
    {{31, 33, 7, 0, 0}, 1},
    {{33, 31, 8, 1, 0}, 1},
    {{64, 64, 9, 2, 0}, 1},
    {{64, 64, 1, 0, 91}, 1},
    {{65, 63, 2, 2, 136}, 1},
    {{64, 64, 1, 1, 181}, 1},
    {{64, 65, 1, 2, 271}, 1},
    {{127, 9, 5, 0, 0}, 1},
    {{9, 129, 5, 1, 0}, 1},
    {{128, 128, 2, 2, 0}, 1},
    {{129, 127, 3, 0, 0}, 1},
    {{257, 131, 2, 2, 0}, 1},
    {{300, 200, 1, 0, 0}, 1},
    {{40, 40, 33, 2, 0}, 1},
    {{24, 24, 130, 0, 0}, 1},
};

static const rg_bench_shape align2d_bench[] = {
    {{{512, 512, 8, 0, 0}, 1}, RG_QUICK, "8 transforms"},
    {{{512, 512, 8, 2, 0}, 1}, RG_QUICK, "8 transforms, ignore"},
    {{{2048, 2048, 1, 0, 0}, 1}, RG_PAPER, "one transform"},
    {{{2048, 2048, 125, 0, 0}, 1}, RG_PAPER, "G3"},
    {{{2048, 2048, 125, 2, 0}, 1}, RG_PAPER, "G3, ignore"},
    {{{2048, 2048, 125, 0, 226}, 1}, RG_PAPER, "45 degrees"},
    {{{2048, 2048, 125, 0, 271}, 1}, RG_PAPER, "90 degrees"},
    {{{4096, 4096, 125, 2, 0}, 1}, RG_LARGE, "4096 x 4096"},
};

// ---- align3d -------------------------------------------------------------------------------------------------------------

static const rg_shape align3d_checks[] = {
    {{1, 1, 1, 2, 0, 0}, 1},
    {{2, 1, 1, 2, 2, 0}, 1},
    {{3, 3, 3, 4, 0, 0}, 1},
    {{1, 9, 5, 4, 1, 0}, 1},
    {{7, 8, 9, 8, 2, 0}, 1},
    {{15, 16, 17, 3, 0, 0}, 1},
    {{16, 16, 16, 4, 1, 0}, 1},
    {{17, 15, 16, 3, 2, 0}, 1},
    {{33, 5, 7, 5, 0, 0}, 1},
    {{5, 33, 7, 5, 1, 0}, 1},
    {{7, 5, 33, 5, 2, 0}, 1},
    {{24, 24, 24, 2, 0, 91}, 1},
    {{24, 24, 24, 1, 2, 632}, 1},
    {{25, 24, 23, 1, 0, 452}, 1},
    {{24, 25, 24, 2, 1, 993}, 1},
    {{20, 20, 20, 9, 2, 0}, 1},
    {{33, 34, 35, 2, 0, 0}, 1},
    {{91, 17, 9, 2, 2, 0}, 1},
    {{8, 8, 8, 70, 0, 0}, 1},
};

// t = 361 axis + 181 + degrees: 632 is +90 about y, the slow spot of G5, 271 the same about z, 993 about x.
static const rg_bench_shape align3d_bench[] = {
    {{{48, 48, 48, 8, 0, 0}, 1}, RG_QUICK, "8 transforms"},
    {{{48, 48, 48, 8, 2, 0}, 1}, RG_QUICK, "8 transforms, ignore"},
    {{{90, 90, 90, 4, 0, 0}, 1}, RG_QUICK, "G4, 4 transforms"},
    {{{90, 90, 90, 729, 0, 0}, 1}, RG_PAPER, "G4, 729 transforms"},
    {{{90, 90, 90, 729, 2, 0}, 1}, RG_PAPER, "G4, ignore"},
    {{{90, 90, 90, 729, 0, 181}, 1}, RG_PAPER, "G5, 0 degrees"},
    {{{90, 90, 90, 729, 0, 271}, 1}, RG_PAPER, "G5, 90 about z"},
    {{{90, 90, 90, 729, 0, 587}, 1}, RG_PAPER, "G5, 45 about y"},
    {{{90, 90, 90, 729, 0, 617}, 1}, RG_PAPER, "G5, 75 about y"},
    {{{90, 90, 90, 729, 0, 632}, 1}, RG_PAPER, "G5, 90 about y"},
    {{{90, 90, 90, 729, 0, 452}, 1}, RG_PAPER, "G5, -90 about y"},
    {{{90, 90, 90, 729, 0, 993}, 1}, RG_PAPER, "G5, 90 about x"},
    {{{90, 90, 90, 46656, 0, 0}, 1}, RG_LARGE, "G4"},
    {{{128, 128, 128, 729, 2, 0}, 1}, RG_LARGE, "128 x 128 x 128"},
};

#define ALIGN(dims, PATTERN, UNIT, SMOKE, ORDER, ...)                                                                          \
    {                                                                                                                          \
        .name = "align" #dims "d", .paper = "Garcia 2014",                                                                     \
        .formula = "rho = Pearson correlation of R(p) and I(c + M (p - c) + t), " PATTERN, __VA_ARGS__,                        \
        .dim_text = dim_text_##dims, RG_ALGO_ARRAYS(align_args_##dims, align##dims##d_checks, align##dims##d_bench, SMOKE),    \
        .steady = 1u << AL_IMAGE | 1u << AL_REFERENCE, .invalid = invalid_##dims, .fill = fill_align_##dims,                   \
        .reference = rg_ref_align##dims##d, .reference_at = rg_ref_align##dims##d_at, .tolerance = tolerance_align_##dims,     \
        .invariant = invariant_align_##dims, .where = where_align_##dims, .index_fault = index_fault_##dims,                   \
        .traffic_bytes = traffic_align_##dims, .work = work_##dims, .rate_unit = UNIT, .order = ORDER,                         \
    }

// The bricks and texture of a larger image together exceed an L2.
RG_ALGO(align2d) = ALIGN(2, "bilinear", "pixels/s", smoke_2, "batch_mixed?w<=2048,h<=2048 batch atct_2d simd naive",
    .dim = {"w", "h", "m", "o", "t"}, .dim_name = {"width", "height", "transforms", "outside", "turn"});
RG_ALGO(align3d) = ALIGN(3, "trilinear", "voxels/s", smoke_3, "batch_mixed batch atct_3d atc_3d simd naive",
    .dim = {"w", "h", "d", "m", "o", "t"}, .dim_name = {"width", "height", "depth", "transforms", "outside", "turn"});
