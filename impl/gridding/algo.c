// SPDX-License-Identifier: MIT
// algo.c: the algorithm `gridding` as data: shapes, inputs, invariants and amounts of work. index.h defines the computation,
// n[] and the arguments. The expected values come from reference/.
#include "../../reference/reference.h"
#include "bound.h"
#include "invariant.h"
#include "../base/symmetry.h"
#include "trace.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static int64_t k_of(const rg_shape *s) { return gr_k(s->n[GR_SIDE]); }
static rg_type real(const rg_shape *s) { return (void)s, RG_F32; }
static int64_t count_pixels(const rg_shape *s) { return s->n[GR_IMAGES] * gr_pixels(k_of(s)); }
static int64_t count_image(const rg_shape *s) { return 2 * count_pixels(s); }
static int64_t count_ctf(const rg_shape *s) { return s->n[GR_KIND] & GR_HAS_CTF ? count_pixels(s) : 0; }
static int64_t count_weight(const rg_shape *s) { return s->n[GR_KIND] & GR_HAS_WEIGHT ? s->n[GR_IMAGES] : 0; }
static int64_t count_rotation(const rg_shape *s) { return 9 * s->n[GR_IMAGES] * s->n[GR_OPERATORS]; }
static int64_t count_G(const rg_shape *s) { return 2 * gr_voxels(k_of(s)); }
static int64_t count_W(const rg_shape *s) { return gr_voxels(k_of(s)); }

static const rg_arg args[] = {
    {"image", RG_IN, real, count_image},
    {"ctf", RG_IN, real, count_ctf},
    {"weight", RG_IN, real, count_weight},
    {"rotation", RG_IN, real, count_rotation},
    {"G", RG_OUT, real, count_G},
    {"W", RG_OUT, real, count_W},
};

// ---- shapes --------------------------------------------------------------------------------------------------------------

#define CHECK(s, i, o, b, k)                                                                                                   \
    { {s, i, o, b, k}, 1 }
enum { PLAIN = 0, CTF = GR_HAS_CTF, WEIGHT = GR_HAS_WEIGHT, BOTH = GR_HAS_CTF | GR_HAS_WEIGHT };

static const rg_shape check_shapes[] = {
    // One voxel; windows at least as large as the volume; the side around 4.
    CHECK(1, 1, 1, 19, PLAIN),
    CHECK(1, 2, 2, 30, BOTH),
    CHECK(3, 1, 1, 19, PLAIN),
    CHECK(3, 2, 1, 30, CTF),
    CHECK(5, 1, 1, 18, PLAIN),
    CHECK(5, 3, 1, 30, WEIGHT),
    CHECK(7, 1, 2, 19, BOTH),
    CHECK(9, 1, 1, 19, PLAIN),
    // Radii: nearest voxel, edges on lattice points (1, 2, 3), the paper's and the program's, the largest.
    CHECK(11, 1, 1, 1, PLAIN),
    CHECK(11, 2, 1, 5, PLAIN),
    CHECK(11, 1, 1, 10, PLAIN),
    CHECK(11, 1, 1, 15, CTF),
    CHECK(13, 1, 1, 18, PLAIN),
    CHECK(13, 1, 1, 20, PLAIN),
    CHECK(13, 2, 1, 25, BOTH),
    CHECK(13, 1, 1, 30, PLAIN),
    // Every kind; several images and operators; k + 1 and 2k + 1 around 8, 16 and 32, the sides of the variants' bricks.
    CHECK(15, 2, 1, 19, PLAIN),
    CHECK(15, 2, 1, 19, CTF),
    CHECK(15, 3, 1, 19, WEIGHT),
    CHECK(15, 2, 2, 19, BOTH),
    CHECK(17, 1, 3, 19, PLAIN),
    CHECK(17, 5, 1, 18, BOTH),
    CHECK(19, 2, 4, 19, CTF),
    CHECK(21, 1, 1, 19, PLAIN),
    CHECK(31, 1, 1, 19, PLAIN),
    CHECK(33, 2, 1, 19, BOTH),
    CHECK(35, 1, 1, 30, PLAIN),
    CHECK(37, 1, 1, 20, CTF),
    CHECK(65, 1, 1, 19, PLAIN),
    // More samples than a vector, a warp or a list holds; a whole icosahedral group.
    CHECK(9, 17, 1, 19, PLAIN),
    CHECK(9, 33, 1, 15, WEIGHT),
    CHECK(11, 1, 60, 19, BOTH),
    CHECK(7, 65, 2, 19, PLAIN),
};

// k is the side of the images before padding by 2. `quick` takes the slowest variant seconds at most. `paper`: 52 images of
// 128 x 128 are the paper's tuning set, 420 is the side of its job (S9). The others have enough images that clearing and
// writing the volume, 12 bytes a voxel, are a small part of the time on a large GPU.
static const rg_bench_shape bench_shapes[] = {
    {{{65, 32, 1, 19, PLAIN}, 1}, RG_QUICK, "32 x 32"},
    {{{129, 16, 1, 19, PLAIN}, 1}, RG_QUICK, "64 x 64"},
    {{{129, 16, 1, 18, PLAIN}, 1}, RG_QUICK, "64 x 64, radius 1.8"},
    {{{129, 16, 1, 19, BOTH}, 1}, RG_QUICK, "64 x 64, CTF and weights"},
    {{{129, 1, 60, 19, PLAIN}, 1}, RG_QUICK, "64 x 64, I1"},
    {{{257, 8, 1, 19, PLAIN}, 1}, RG_QUICK, "128 x 128"},
    {{{257, 52, 1, 19, PLAIN}, 1}, RG_PAPER, "Sect. 4.4, 52 of 128 x 128"},
    {{{129, 52, 1, 19, PLAIN}, 1}, RG_PAPER, "S6, 52 of 64 x 64"},
    {{{193, 52, 1, 19, PLAIN}, 1}, RG_PAPER, "S6, 52 of 96 x 96"},
    {{{385, 52, 1, 19, PLAIN}, 1}, RG_PAPER, "S6, 52 of 192 x 192"},
    {{{513, 52, 1, 19, PLAIN}, 1}, RG_PAPER, "S6, 52 of 256 x 256"},
    {{{841, 52, 1, 19, PLAIN}, 1}, RG_PAPER, "S6, 52 of 420 x 420"},
    {{{1025, 52, 1, 19, PLAIN}, 1}, RG_PAPER, "S6, 52 of 512 x 512"},
    {{{129, 2000, 1, 19, PLAIN}, 1}, RG_PAPER, "64 x 64"},
    {{{257, 1000, 1, 19, PLAIN}, 1}, RG_PAPER, "128 x 128"},
    {{{257, 1000, 1, 18, PLAIN}, 1}, RG_PAPER, "128 x 128, radius 1.8"},
    {{{257, 1000, 1, 19, BOTH}, 1}, RG_PAPER, "128 x 128, CTF and weights"},
    {{{257, 17, 60, 19, PLAIN}, 1}, RG_PAPER, "128 x 128, I1"},
    {{{385, 600, 1, 19, PLAIN}, 1}, RG_PAPER, "192 x 192"},
    {{{513, 500, 1, 19, PLAIN}, 1}, RG_PAPER, "256 x 256"},
    {{{641, 400, 1, 19, PLAIN}, 1}, RG_PAPER, "320 x 320"},
    {{{841, 300, 1, 19, PLAIN}, 1}, RG_PAPER, "S9, 420 x 420"},
    {{{1025, 200, 1, 19, PLAIN}, 1}, RG_PAPER, "512 x 512"},
    {{{513, 2000, 1, 19, PLAIN}, 1}, RG_LARGE, "256 x 256, 2000 images"},
    {{{841, 1000, 1, 19, PLAIN}, 1}, RG_LARGE, "S9, 420 x 420, 1000 images"},
    {{{841, 16, 60, 19, PLAIN}, 1}, RG_LARGE, "S9, 420 x 420, I1"},
    {{{841, 16, 5, 19, PLAIN}, 1}, RG_LARGE, "S9, 420 x 420, I1 but for the 12 operators of the grid"},
};

static const char *invalid(const rg_shape *s) {
    const int64_t *n = s->n;
    if (n[GR_SIDE] < 1 || n[GR_SIDE] % 2 == 0) return "the side must be odd and positive (2k + 1)";
    if (n[GR_SIDE] > GR_SIDE_MAX) return "the side must be at most 8191: single precision places pixels to 1e-3 of a voxel";
    if (n[GR_IMAGES] < 1 || n[GR_OPERATORS] < 1) return "there must be at least one image and one operator";
    if (n[GR_RADIUS] < 1 || n[GR_RADIUS] > GR_RADIUS_MAX) return "the radius must be 1 to 30 tenths of a voxel";
    if (n[GR_KIND] & ~(int64_t)(GR_HAS_CTF | GR_HAS_WEIGHT)) return "unknown bits in kind (1 = CTF, 2 = image weights)";
    if (n[GR_IMAGES] > INT64_MAX / 64 / gr_pixels(k_of(s)) || n[GR_OPERATORS] > INT64_MAX / 64 / n[GR_IMAGES])
        return "so many images and operators that their bytes overflow 63 bits";
    return NULL;
}

// ---- inputs --------------------------------------------------------------------------------------------------------------

// The j-th random number of an image's pixel (or of an image) in -1 .. 1; all are multiples of 2^-23, so exact in a float.
static double draw(const rg_shape *s, int64_t i, int j) {
    return ldexp((double)(rg_bits(s->seed, (uint64_t)i * 8 + (uint64_t)j) >> 40), -23) - 1;
}

static double extreme(const rg_shape *s, int64_t i, int j) {
    const double value[8] = {0, 1, -1, 0x1p-23, 1 - 0x1p-23, 0, 0x1p-120, -0x1p-130}; // the last, times GR_LARGEST: denormal
    return value[rg_bits(s->seed, (uint64_t)i * 8 + (uint64_t)j) >> 61];
}

// Component j of stored pixel (x, y) of image i, in -1 .. 1; the caller makes the column x = 0 Hermitian.
static double value_at(const rg_shape *s, rg_pattern pattern, int64_t i, int64_t element, int j) {
    const int64_t at = i * gr_pixels(k_of(s)) + element;
    switch (pattern) {
    case RG_POSITION: return ldexp((double)(1 + (at * 3 + j) * 40503 % 65521), -16); // neighbours far apart
    case RG_MAXIMUM: return 1;
    case RG_EXTREME: return extreme(s, at, j);
    default: return draw(s, at, j);
    }
}

// Images are transforms of real ones: F(0, -y) = conj F(0, y), F(0, 0) is real. A CTF is the same at p and -p.
static void fill_pixels(const rg_shape *s, rg_pattern pattern, float *image, float *ctf) {
    const int64_t k = k_of(s);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->n[GR_IMAGES]; i++)
        for (int64_t e = 0; e < gr_pixels(k); e++) {
            const int64_t x = gr_pixel_x(k, e), y = gr_pixel_y(k, e), at = i * gr_pixels(k) + e;
            const int64_t from = x == 0 && y < 0 ? gr_pixel(k, 0, -y) : e;
            const double sign = x > 0 || y > 0 ? 1 : y < 0 ? -1 : 0;
            image[2 * at] = (float)(GR_LARGEST * value_at(s, pattern, i, from, 0));
            image[2 * at + 1] = (float)(GR_LARGEST * sign * value_at(s, pattern, i, from, 1));
            if (ctf) ctf[at] = (float)value_at(s, pattern, i, from, 2);
        }
}

// The rotation matrix of unit quaternion q / |q|.
static void quaternion(const double q[4], double m[9]) {
    const double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], a = 2 / n;
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double r[9] = {1 - a * (y * y + z * z), a * (x * y - w * z), a * (x * z + w * y), a * (x * y + w * z),
        1 - a * (x * x + z * z), a * (y * z - w * x), a * (x * z - w * y), a * (y * z + w * x), 1 - a * (x * x + y * y)};
    for (int e = 0; e < 9; e++) m[e] = r[e];
}

// position: the 24 rotations of the cube, whose pixels fall on voxels; the seed chooses the first. maximum: turns by 45 degrees
// about an axis, where many pairs are equally far. random: uniform. extreme: close to the first, and for some images and sides
// within 3 degrees of a normal along a diagonal of the cube, where a walk along any axis is longest.
static void orientation(const rg_shape *s, rg_pattern pattern, int64_t i, double m[9]) {
    const int64_t turn = (int64_t)((s->seed + (uint64_t)i) % 24);
    double q[4] = {1, 0, 0, 0};
    if (pattern == RG_MAXIMUM) {
        q[0] = cos(atan(1) / 2 * (double)(1 + turn / 3));
        q[1 + turn % 3] = sin(atan(1) / 2 * (double)(1 + turn / 3));
    } else if (pattern == RG_RANDOM) {
        double n = 0;
        for (int j = 0; n < 0.01 || n > 1; j++) { // a point in the unit ball of four dimensions
            n = 0;
            for (int c = 0; c < 4; c++) {
                q[c] = ldexp((double)(rg_bits(~s->seed, (uint64_t)((i << 20 | j) * 4 + c)) >> 11), -52) - 1;
                n += q[c] * q[c];
            }
        }
    }
    if (pattern == RG_POSITION || pattern == RG_EXTREME) {
        gr_cube_rotation((int)turn, m);
        if (pattern == RG_POSITION) return;
        const bool diagonal = (s->seed + (uint64_t)(i + k_of(s))) % 2;
        double near[9], product[9];
        if (diagonal) { // z to (1, 1, 1)
            quaternion((const double[4]){1 + sqrt(3), -1, 1, 0}, near);
            gr_multiply(m, near, product);
            for (int e = 0; e < 9; e++) m[e] = product[e];
        }
        for (int c = 1; c < 4; c++) q[c] = ldexp(draw(s, i, 3 + c), diagonal ? -6 : -12);
        quaternion(q, near);
        gr_multiply(near, m, product);
        for (int e = 0; e < 9; e++) m[e] = product[e];
    } else {
        quaternion(q, m);
    }
}

// Operators: the group I1, O or T of that order, else Cn.
static void fill_rotation(const rg_shape *s, rg_pattern pattern, float *rotation) {
    const int64_t o = s->n[GR_OPERATORS];
    gr_symmetry group;
    const char *name = o == 60 ? "I1" : o == 24 ? "O" : o == 12 ? "T" : NULL;
    if (name) gr_symmetry_make(&group, name);
    for (int64_t i = 0; i < s->n[GR_IMAGES]; i++) {
        double m[9], placed[9];
        orientation(s, pattern, i, m);
        for (int64_t j = 0; j < o; j++) {
            const double a = 8 * atan(1) * (double)j / (double)o;
            const double turn[9] = {cos(a), -sin(a), 0, sin(a), cos(a), 0, 0, 0, 1};
            gr_multiply(name ? group.matrix[j] : turn, m, placed);
            for (int e = 0; e < 9; e++) rotation[9 * (i * o + j) + e] = (float)placed[e];
        }
    }
}

static void fill(const rg_shape *s, rg_pattern pattern, void *const *arg) {
    fill_pixels(s, pattern, arg[GR_IMAGE], s->n[GR_KIND] & GR_HAS_CTF ? arg[GR_CTF] : NULL);
    for (int64_t i = 0; i < count_weight(s); i++) {
        const double m = pattern == RG_POSITION ? 1 / (double)(i % 8 + 1) : fabs(value_at(s, pattern, i, 0, 3));
        ((float *)arg[GR_WEIGHT])[i] = (float)m;
    }
    fill_rotation(s, pattern, arg[GR_ROTATION]);
}

// ---- what must hold ------------------------------------------------------------------------------------------------------

static rg_tolerance tolerance(const rg_shape *s) { return gr_bound(s, 0); }

static void where(const rg_shape *s, int which, int64_t element, char text[64]) {
    const int64_t k = k_of(s), pixels = gr_pixels(k), e = which == GR_IMAGE || which == GR_G ? element / 2 : element;
    const char *part = which == GR_IMAGE || which == GR_G ? element % 2 ? ",im" : ",re" : "";
    if (which == GR_G || which == GR_W)
        snprintf(text, 64, "(x=%" PRId64 ",y=%" PRId64 ",z=%" PRId64 "%s)", gr_voxel_x(k, e), gr_voxel_y(k, e),
            gr_voxel_z(k, e), part);
    else if (which == GR_IMAGE || which == GR_CTF)
        snprintf(text, 64, "(i=%" PRId64 ",x=%" PRId64 ",y=%" PRId64 "%s)", e / pixels, gr_pixel_x(k, e % pixels),
            gr_pixel_y(k, e % pixels), part);
    else if (which == GR_ROTATION)
        snprintf(text, 64, "(i=%" PRId64 ",o=%" PRId64 ",row=%d,col=%d)", e / 9 / s->n[GR_OPERATORS],
            e / 9 % s->n[GR_OPERATORS], (int)(e % 9 / 3), (int)(e % 3));
    else
        snprintf(text, 64, "(i=%" PRId64 ")", e);
}

static const char *pixel_fault(int64_t k) {
    int64_t expected = 0, disc = 0, all = 0;
    for (int64_t y = -k; y <= k; y++)
        for (int64_t x = 0; x <= k; x++, expected++) {
            const int64_t e = gr_pixel(k, x, y);
            if (e != expected) return "gr_pixel leaves out or repeats an element";
            if (gr_pixel_x(k, e) != x || gr_pixel_y(k, e) != y) return "gr_pixel_x, gr_pixel_y are not the inverse of gr_pixel";
            if (gr_in_circle(k, x, y) != (x < gr_row(k, y))) return "gr_row does not end the row at the circle";
            disc += gr_in_circle(k, x, y) ? gr_mates(x) : 0;
        }
    for (int64_t y = -k; y <= k; y++)
        for (int64_t x = -k; x <= k; x++) all += x * x + y * y <= k * k;
    if (expected != gr_pixels(k)) return "the pixels do not fill an image";
    return disc == all ? NULL : "the stored pixels and their mates are not the disc";
}

static const char *voxel_fault(int64_t k) {
    int64_t expected = 0;
    for (int64_t z = -k; z <= k; z++)
        for (int64_t y = -k; y <= k; y++)
            for (int64_t x = 0; x <= k; x++, expected++) {
                const int64_t e = gr_voxel(k, x, y, z);
                if (e != expected) return "gr_voxel leaves out or repeats an element";
                if (gr_voxel_x(k, e) != x || gr_voxel_y(k, e) != y || gr_voxel_z(k, e) != z)
                    return "gr_voxel_x, _y, _z are not the inverse of gr_voxel";
                if (x == 0 && gr_mate(k, y, z) != gr_voxel(k, 0, -y, -z)) return "gr_mate is not the voxel at -v";
            }
    return expected == gr_voxels(k) ? NULL : "the voxels do not fill the volume";
}

static const char *index_fault(const rg_shape *s) {
    const int64_t k = k_of(s);
    const float b = gr_radius(s->n[GR_RADIUS]);
    for (int step = -8 * (int)k - 8; step <= 8 * (int)k + 8; step++) { // positions in eighths of a voxel
        const float c = (float)step / 8;
        for (int v = -(int)k - 4; v <= (int)k + 4; v++) {
            const int inside = v >= -k && v <= k && (float)v >= c - b && (float)v <= c + b;
            if (inside != (v >= gr_first(c, b, -(int)k) && v <= gr_last(c, b, (int)k)))
                return "gr_first and gr_last do not bound the window";
        }
    }
    const char *fault = pixel_fault(k);
    return fault ? fault : voxel_fault(k);
}

// ---- amounts -------------------------------------------------------------------------------------------------------------

static double traffic_bytes(const rg_shape *s) {
    const int64_t in = count_image(s) + count_ctf(s) + count_weight(s) + count_rotation(s);
    return 4 * ((double)in + (double)count_G(s) + (double)count_W(s));
}

// Stored pixels inside the circle, counted once for every operator.
static double work(const rg_shape *s) { return gr_inserted(s); }

static const rg_shape smoke_shapes[] = {{{21, 3, 2, 19, BOTH}, 1}};
static const char *const broken[] = {"gridding_mates_missing", "gridding_transposed", "gridding_no_atomics", NULL};

static int dim_text(int dim, int64_t value, char text[32]) {
    static const char *const kind[] = {"plain", "ctf", "weight", "ctf+weight"};
    if (dim == GR_KIND && value >= 0 && value < RG_COUNT(kind)) return snprintf(text, 32, "%s", kind[value]) > 0;
    return 0;
}

RG_ALGO(gridding) = {
    .name = "gridding",
    .paper = "Strelak 2019",
    .formula = "G(v) = sum of m c w(|v-r|) F(p), W(v) = sum of m c^2 w(|v-r|) over images, operators and pixels p, r = M p",
    .dim = {"s", "i", "o", "b", "k"},
    .dim_name = {"side", "images", "operators", "radius-tenths", "kind"},
    .dim_text = dim_text,
    RG_ALGO_ARRAYS(args, check_shapes, bench_shapes, smoke_shapes),
    .broken = broken,
    .presets = "impl/gridding/presets.tsv",
    .invalid = invalid,
    .fill = fill,
    .reference = rg_ref_gridding,
    .reference_at = rg_ref_gridding_at,
    .tolerance = tolerance,
    .invariant = gr_invariant,
    .where = where,
    .index_fault = index_fault,
    .traffic_bytes = traffic_bytes,
    .work = work,
    .rate_unit = "pixels/s",
    .order = "owned scatter_v4 gather scatter simd_gather naive_scatter naive_gather",
    .trace = &gr_trace,
};
