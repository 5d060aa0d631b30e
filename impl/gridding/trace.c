// SPDX-License-Identifier: MIT
// trace.c: the inputs that `regather trace` sends through the kernels of `gridding`.
//
// One pixel: 1 + 0i or 0 + 1i, 0 elsewhere. In the column x = 0 the pixel at -y is its conjugate, as in every transform of a
// real image, and the pixel (0, 0) has no imaginary part. A CTF is -1 at the pixel and 0 elsewhere (so that W, too, shows this
// pixel alone, and c differs from c^2), and the image's sign is negated to match; a weight is 1/2. So G shows m w(|v - r|),
// with the sign of the imaginary part changed where the mate is added, and W shows m w. Image 0 has a tilted direction, images
// 1, 2, 3 look along z, y and x; further ones have random directions.
//
// The object: a ball with a smaller one beside it, which has no mirror symmetry and differs along every axis. Its transform has
// a closed form, (sin t - t cos t) 4 pi R^3 / t^3 with t = 2 pi R |q| (Bracewell), and so has that of every image.
#include "trace.h"
#include "../base/symmetry.h"
#include "index.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static int64_t k_of(const rg_shape *s) { return gr_k(s->n[GR_SIDE]); }

// Image -> volume, the inverse of A in symmetry.h. Angles from counter-based random bits: uniform over all directions.
static void view(int64_t i, double m[9]) {
    static const double axis[3][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 0, -1, 0, 1, 0}, {0, 0, 1, 1, 0, 0, 0, 1, 0}};
    double a[9], u[3];
    if (i >= 1 && i <= 3) {
        memcpy(m, axis[i - 1], sizeof axis[0]);
        return;
    }
    for (int j = 0; j < 3; j++) u[j] = ldexp((double)(rg_bits(1, (uint64_t)(3 * i + j)) >> 11), -53);
    if (i == 0)
        rg_particle_matrix(40, 35, 25, a);
    else
        rg_particle_matrix(360 * u[0], acos(1 - 2 * u[1]) * 180 / PI, 360 * u[2], a);
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) m[3 * row + column] = a[3 * column + row];
}

// Operators are turns about z.
static void fill_views(const rg_shape *s, float *rotation) {
    const int64_t o = s->n[GR_OPERATORS];
    for (int64_t i = 0; i < s->n[GR_IMAGES]; i++)
        for (int64_t j = 0; j < o; j++) {
            const double a = 2 * PI * (double)j / (double)o;
            const double turn[9] = {cos(a), -sin(a), 0, sin(a), cos(a), 0, 0, 0, 1};
            double m[9], placed[9];
            view(i, m);
            gr_multiply(turn, m, placed);
            for (int e = 0; e < 9; e++) rotation[9 * (i * o + j) + e] = (float)placed[e];
        }
}

// ---- one pixel -----------------------------------------------------------------------------------------------------------

static void fill_one(const rg_shape *s, int64_t input, void *const *arg) {
    const int64_t k = k_of(s), pixels = gr_pixels(k);
    float *image = arg[GR_IMAGE], *ctf = s->n[GR_KIND] & GR_HAS_CTF ? arg[GR_CTF] : NULL;
    const float c = ctf ? -1 : 1;
    memset(image, 0, (size_t)(2 * s->n[GR_IMAGES] * pixels) * sizeof *image);
    if (ctf) memset(ctf, 0, (size_t)(s->n[GR_IMAGES] * pixels) * sizeof *ctf);
    for (int64_t i = 0; s->n[GR_KIND] & GR_HAS_WEIGHT && i < s->n[GR_IMAGES]; i++) ((float *)arg[GR_WEIGHT])[i] = 0.5f;
    fill_views(s, arg[GR_ROTATION]);
    if (input < 0) return;
    const int64_t part = input % 2, at = input / 2, first = at / pixels * pixels;
    const int64_t x = gr_pixel_x(k, at - first), y = gr_pixel_y(k, at - first);
    const int64_t mate = x == 0 ? first + gr_pixel(k, 0, -y) : at;
    if (part == 1 && mate == at && x == 0) return;
    image[2 * mate + part] = part ? -c : c;
    image[2 * at + part] = c;
    if (ctf) ctf[at] = ctf[mate] = c;
}

// ---- cases ---------------------------------------------------------------------------------------------------------------

typedef struct pair {
    int64_t k, image, x, y; // the pixel; image -1: none
    int64_t vx, vy, vz;     // the voxel
} pair;

static pair pair_of(const rg_shape *s, int64_t input, int which, int64_t output) {
    const int64_t k = k_of(s), e = which == GR_G ? output / 2 : output, pixel = input / 2 % gr_pixels(k);
    return (pair){k, input < 0 ? -1 : input / 2 / gr_pixels(k), gr_pixel_x(k, pixel), gr_pixel_y(k, pixel), gr_voxel_x(k, e),
        gr_voxel_y(k, e), gr_voxel_z(k, e)};
}

#define CASE(NAME, HOLDS)                                                                                                      \
    static int NAME(const rg_shape *s, int64_t input, int which, int64_t output) {                                             \
        const pair p = pair_of(s, input, which, output);                                                                       \
        return p.image >= 0 && (HOLDS);                                                                                        \
    }
CASE(tilted, p.image == 0)
CASE(along_z, p.image == 1)
CASE(along_y, p.image == 2)
CASE(along_x, p.image == 3)
CASE(plane_x0, p.vx == 0)
CASE(column_x0, p.x == 0)
CASE(nyquist, gr_in_circle(p.k, p.x, p.y) && !(gr_in_circle(p.k, p.x + 1, p.y) && gr_in_circle(p.k, p.x, llabs(p.y) + 1)))
CASE(outside, !gr_in_circle(p.k, p.x, p.y))
CASE(border, p.vx == p.k || llabs(p.vy) == p.k || llabs(p.vz) == p.k)
CASE(centre, p.x == 0 && p.y == 0)

static const rg_trace_case kinds[] = {{"tilted plane", tilted}, {"plane along z", along_z}, {"plane along y", along_y},
    {"plane along x", along_x}, {"voxels of the plane x = 0", plane_x0}, {"pixels of the column x = 0", column_x0},
    {"pixels at Nyquist", nyquist}, {"pixels beyond the circle", outside}, {"voxels at the border", border},
    {"pixel at the centre", centre}};

#define SHAPE(s, i)                                                                                                            \
    { {s, i, 1, 19, GR_HAS_CTF}, 1 }
static const rg_shape shapes[] = {SHAPE(4, 4), SHAPE(5, 4), SHAPE(6, 4), SHAPE(7, 4), SHAPE(8, 4), SHAPE(9, 4)};

// ---- the object ----------------------------------------------------------------------------------------------------------

enum { MAP_SIDE = 24, VIEWS = 80 }; // V planes of thickness 2b pass a voxel at k 2b V / 2k = 6 times

static const struct ball {
    double radius, at[3], density; // in map sides, from the centre
} balls[] = {{0.22, {-0.06, -0.04, 0}, 1}, {0.09, {0.28, 0.12, 0}, 1}, {0.06, {-0.06, 0.1, 0.3}, 1}};

// The transform at q cycles a pixel of the balls, smoothed by a Gaussian of 0.6 pixels so that the cut at Nyquist rings little.
static void transform(const double q[3], double side, double *re, double *im) {
    const double qq = q[0] * q[0] + q[1] * q[1] + q[2] * q[2], smooth = exp(-2 * PI * PI * 0.36 * qq);
    *re = *im = 0;
    for (int i = 0; i < RG_COUNT(balls); i++) {
        const struct ball *b = &balls[i];
        const double radius = b->radius * side, t = 2 * PI * radius * sqrt(qq);
        const double shape = t < 1e-2 ? 1.0 / 3 - t * t / 30 : (sin(t) - t * cos(t)) / (t * t * t);
        const double size = smooth * b->density * 4 * PI * radius * radius * radius * shape;
        const double phase = -2 * PI * side * (q[0] * b->at[0] + q[1] * b->at[1] + q[2] * b->at[2]);
        *re += size * cos(phase);
        *im += size * sin(phase);
    }
}

// Defocus differs between images, so that some image has every frequency: c = cos of a phase that grows with |p|^2.
static double contrast(int64_t i, int64_t k, int64_t x, int64_t y) {
    return cos((4 + (double)(i % 7)) * (double)(x * x + y * y) / (double)(k * k));
}

static void fill_object(const rg_shape *s, void *const *arg) {
    const int64_t k = k_of(s), pixels = gr_pixels(k), o = s->n[GR_OPERATORS];
    float *image = arg[GR_IMAGE], *ctf = s->n[GR_KIND] & GR_HAS_CTF ? arg[GR_CTF] : NULL;
    fill_views(s, arg[GR_ROTATION]);
    for (int64_t i = 0; i < s->n[GR_IMAGES]; i++)
        for (int64_t e = 0; e < pixels; e++) {
            const int64_t x = gr_pixel_x(k, e), y = gr_pixel_y(k, e), at = i * pixels + e;
            const double c = ctf ? contrast(i, k, x, y) : 1;
            float r[3];
            double q[3], re, im;
            gr_place(gr_rotation(arg[GR_ROTATION], o, i, 0), (float)x, (float)y, r);
            for (int j = 0; j < 3; j++) q[j] = r[j] / (2.0 * (double)k);
            transform(q, (double)k, &re, &im);
            image[2 * at] = (float)(c * re);
            image[2 * at + 1] = (float)(c * im);
            if (ctf) ctf[at] = (float)c;
        }
    for (int64_t i = 0; s->n[GR_KIND] & GR_HAS_WEIGHT && i < s->n[GR_IMAGES]; i++) ((float *)arg[GR_WEIGHT])[i] = 1;
}

// Padded twice, so P = 2k points and a map of k voxels a side.
static int64_t map_side(const rg_shape *s) { return k_of(s); }

static void map(const rg_shape *s, void *const *arg, float *voxels) {
    const int64_t k = k_of(s);
    const gr_map_of of = {
        .k = k, .padded = 2 * k, .side = k, .radius_tenths = s->n[GR_RADIUS], .g = arg[GR_G], .w = arg[GR_W], .threads = 1};
    if (gr_map(&of, voxels) != RG_OK) memset(voxels, 0xFF, (size_t)(k * k * k) * sizeof *voxels); // no memory: NaN
}

const rg_trace gr_trace = {.argument = GR_IMAGE,
    .fill = fill_one,
    .shape = SHAPE(11, 1),
    .case_shape = shapes,
    .n_case_shapes = RG_COUNT(shapes),
    .kind = kinds,
    .n_kinds = RG_COUNT(kinds),
    .object = SHAPE(2 * MAP_SIDE + 1, VIEWS),
    .fill_object = fill_object,
    .map_side = map_side,
    .map = map};
