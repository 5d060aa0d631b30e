// SPDX-License-Identifier: MIT
// autovec.c: affine2d:autovec, align2d:autovec, align3d:autovec: plain loops as a compiler vectorises them, on one core or all.
//
// A result is computed in stretches of 64 pixels of a line. For an image, tiles of 64 x 64 come from a copied window (room.h),
// whose corners all exist, so that the loop over x has no branch and no clamp. For a volume, and if the window does not fit,
// pixels outside get weights of 0 and clamped indices.
//
// Bound: loads of four corners (eight in a volume) a pixel, which become gathers.
#include "../runtime/cpu.h"
#include "../simd/autovec.h"
#include "index.h"
#include "room.h"
#include "sums.h"

enum { LINES = AF_TILE }; // of a bundle; bundles have separate sums, so that the order of additions is fixed

// The two neighbours of s along one axis as valid indices, and their weights.
typedef struct pair {
    int first, second;
    float w0, w1;
} pair;

RG_HD pair pair_at(float s, int side, int outside) {
    const float reach = outside == AF_ZERO ? 1 : 0, low = af_low(side) - reach, high = af_high(side) + reach;
    const float above = s >= low ? s : low, held = above > high ? high : above, whole = floorf(held);
    const float share = held - whole, rest = 1 - share;
    const int first = (int)whole + af_centre(side), last = side - 1;
    const int here = first < 0 ? 0 : first, first_in = here > last ? last : here, second_in = first < last ? first + 1 : last;
    const pair p = {first_in, second_in, first_in == first ? rest : 0, first < last ? share : 0};
    return p;
}

RG_HD int takes_part(float s, int side, int outside) {
    return outside != AF_IGNORE ? 1 : (s >= af_low(side) - AF_MARGIN) & (s <= af_high(side) + AF_MARGIN);
}

RG_HD float blend(const float *restrict image, int row0, int row1, pair i, pair j) {
    return j.w0 * (i.w0 * image[row0 + i.first] + i.w1 * image[row0 + i.second]) +
        j.w1 * (i.w0 * image[row1 + i.first] + i.w1 * image[row1 + i.second]);
}

// Pixels x0 .. x0 + n - 1 of line (y, zz) of the result, from the image: 0 if they take no part.
RG_HD void from_image(const af_size *z, int dims, int outside, const float *restrict image, const float *matrix, int y, int zz,
    int x0, int n, float *restrict to, int *restrict part) {
    const int w = z->w, h = z->h, d = z->d;
    const float low = af_low(w), py = (float)y + af_low(h), pz = (float)zz + af_low(d);
    float m[12];
    memcpy(m, matrix, (size_t)(dims == 2 ? 6 : 12) * sizeof *m);
#pragma omp simd
    for (int i = 0; i < n; i++) {
        const float px = (float)(x0 + i) + low;
        const float sx = dims == 2 ? af_row_2d(m, px, py) : af_row_3d(m, px, py, pz);
        const float sy = dims == 2 ? af_row_2d(m + 3, px, py) : af_row_3d(m + 4, px, py, pz);
        const float sz = dims == 2 ? 0 : af_row_3d(m + 8, px, py, pz);
        const pair u = pair_at(sx, w, outside), v = pair_at(sy, h, outside), k = pair_at(sz, d, outside);
        const int takes = takes_part(sx, w, outside) & takes_part(sy, h, outside) & takes_part(sz, d, outside);
        const float front = blend(image, (k.first * h + v.first) * w, (k.first * h + v.second) * w, u, v);
        const float value = dims == 2
            ? front
            : k.w0 * front + k.w1 * blend(image, (k.second * h + v.first) * w, (k.second * h + v.second) * w, u, v);
        to[i] = takes ? value : 0;
        part[i] = takes;
    }
}

// The same from the window of the tile, where s is not negative and all pixels take part.
RG_HD void from_room(const af_size *z, const af_room *room, const float *m, int y, int x0, int n, float *restrict to) {
    const float *restrict pixel = room->pixel;
    const float low = af_low(z->w) + (float)x0, py = (float)y + af_low(z->h);
    const float step_x = m[0], step_y = m[3], at_x = m[1] * py + m[2] - (float)room->view.x,
                at_y = m[4] * py + m[5] - (float)room->view.y;
    const int pitch = room->pitch;
#pragma omp simd
    for (int i = 0; i < n; i++) {
        const float px = (float)i + low, sx = step_x * px + at_x, sy = step_y * px + at_y;
        const int x = (int)sx, y_of = (int)sy, first = y_of * pitch + x;
        const float fx = sx - (float)x, fy = sy - (float)y_of;
        const float above = af_between(pixel[first], pixel[first + 1], fx);
        const float below = af_between(pixel[first + pitch], pixel[first + pitch + 1], fx);
        to[i] = af_between(above, below, fy);
    }
}

// Lines y0 .. y1 - 1 of one transform.
RG_HD void affine_band(const af_size *z, const float *image, const float *m, int y0, int y1, float *to) {
    af_room room;
    int part[AF_TILE];
    for (int x0 = 0; x0 < z->w; x0 += AF_TILE) {
        const int n = z->w - x0 < AF_TILE ? z->w - x0 : AF_TILE;
        af_move_in(z, image, m, x0, x0 + n, y0, y1, &room);
        for (int y = y0; y < y1; y++) {
            float *line = to + (int64_t)y * z->w + x0;
            if (room.fits)
                from_room(z, &room, m, y, x0, n, line);
            else
                from_image(z, 2, z->outside, image, m, y, 0, x0, n, line, part);
        }
    }
}
RG_AUTOVEC(
    affine_band, (const af_size *z, const float *image, const float *m, int y0, int y1, float *to), (z, image, m, y0, y1, to))

RG_HD void add_stretch(const float *restrict value, const int *restrict part, const float *restrict reference, int n_pixels,
    const float *typical, af_sums *to) {
    const double of_a = typical[0], of_b = typical[1];
    double n = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;
#pragma omp simd reduction(+ : n, a, b, aa, bb, ab)
    for (int i = 0; i < n_pixels; i++) {
        const double differ_a = value[i] - of_a, differ_b = reference[i] - of_b;
        const double p = part[i] ? differ_a : 0, q = part[i] ? differ_b : 0;
        n += part[i];
        a += p;
        b += q;
        aa += p * p;
        bb += q * q;
        ab += p * q;
    }
    const af_sums s = {n, a, b, aa, bb, ab};
    af_join(to, &s);
}

// Lines first .. past - 1 of the result, for one transform; an image is its lines in order.
RG_HD void align_part(const af_size *z, int dims, const float *image, const float *reference, const float *m, int first,
    int past, const float *typical, af_sums *to) {
    af_room room;
    room.fits = 0;
    float value[AF_TILE];
    int part[AF_TILE];
    for (int x0 = 0; x0 < z->w; x0 += AF_TILE) {
        const int n = z->w - x0 < AF_TILE ? z->w - x0 : AF_TILE;
        if (dims == 2) af_move_in(z, image, m, x0, x0 + n, first, past, &room);
        for (int i = 0; i < n; i++) part[i] = 1;
        for (int line = first; line < past; line++) {
            if (room.fits)
                from_room(z, &room, m, line, x0, n, value);
            else if (z->outside == AF_ZERO) // each rule as a compile-time constant
                from_image(z, dims, AF_ZERO, image, m, line % z->h, line / z->h, x0, n, value, part);
            else if (z->outside == AF_EDGE)
                from_image(z, dims, AF_EDGE, image, m, line % z->h, line / z->h, x0, n, value, part);
            else
                from_image(z, dims, AF_IGNORE, image, m, line % z->h, line / z->h, x0, n, value, part);
            add_stretch(value, part, reference + (int64_t)line * z->w + x0, n, typical, to);
        }
    }
}

#define ALIGN_LINES(name, dims)                                                                                                \
    RG_HD void name(const af_size *z, const float *image, const float *reference, const float *m, int first, int past,         \
        const float *typical, af_sums *to) {                                                                                   \
        align_part(z, dims, image, reference, m, first, past, typical, to);                                                    \
    }                                                                                                                          \
    RG_AUTOVEC(name,                                                                                                           \
        (const af_size *z, const float *image, const float *reference, const float *m, int first, int past,                    \
            const float *typical, af_sums *to),                                                                                \
        (z, image, reference, m, first, past, typical, to))
ALIGN_LINES(align2d_lines, 2)
ALIGN_LINES(align3d_lines, 3)

static int run_affine(rg_call *call) {
    const af_size z = af_size_2d(call->shape);
    const float *image = (const float *)call->arg[AF_IMAGE], *m = (const float *)call->arg[AF_MATRIX];
    float *to = (float *)call->arg[AF_TRANSFORMED];
    affine_band_fn *band = affine_band_for(rg_cpu_has(RG_AUTOVEC_WIDE));
    const int64_t n = af_parts(z.h, AF_TILE);
#pragma omp parallel for num_threads(call->threads) schedule(dynamic)
    for (int64_t i = 0; i < n * z.transforms; i++) {
        const int y0 = (int)(i % n) * AF_TILE;
        band(&z, image, m + 6 * (i / n), y0, af_held(y0 + AF_TILE, 0, z.h), to + i / n * af_pixels(&z));
    }
    return RG_OK;
}

static int64_t bundles(const af_size *z) { return ((int64_t)z->h * z->d + LINES - 1) / LINES; }

static int align(rg_call *call, const af_size z) {
    const int64_t n = bundles(&z), all = (int64_t)z.h * z.d;
    const float *image = (const float *)call->arg[AL_IMAGE], *reference = (const float *)call->arg[AL_REFERENCE];
    const float *m = (const float *)call->arg[AL_MATRIX];
    const float typical[2] = {af_typical(image, af_pixels(&z)), af_typical(reference, af_pixels(&z))};
    af_sums *sums = (af_sums *)call->scratch;
    const int avx512 = rg_cpu_has(RG_AUTOVEC_WIDE);
    align2d_lines_fn *lines = z.dims == 2 ? align2d_lines_for(avx512) : align3d_lines_for(avx512);
#pragma omp parallel for num_threads(call->threads) schedule(dynamic)
    for (int64_t i = 0; i < n * z.transforms; i++) {
        const int64_t first = i % n * LINES, past = first + LINES < all ? first + LINES : all;
        sums[i] = (af_sums){0, 0, 0, 0, 0, 0};
        lines(&z, image, reference, m + af_numbers(z.dims) * (i / n), (int)first, (int)past, typical, &sums[i]);
    }
    for (int64_t t = 0; t < z.transforms; t++) {
        af_sums total = {0, 0, 0, 0, 0, 0};
        for (int64_t i = 0; i < n; i++) af_join(&total, &sums[t * n + i]);
        ((double *)call->arg[AL_RHO])[t] = af_rho(&total, typical[0], typical[1]);
        ((int32_t *)call->arg[AL_PIXELS])[t] = (int32_t)total.n;
    }
    return RG_OK;
}

static int run_2d(rg_call *call) { return align(call, af_size_2d(call->shape)); }
static int run_3d(rg_call *call) { return align(call, af_size_3d(call->shape)); }

static size_t scratch(const af_size z) { return (size_t)(bundles(&z) * z.transforms) * sizeof(af_sums); }
static size_t scratch_2d(const rg_shape *s, const int64_t *param) { return (void)param, scratch(af_size_2d(s)); }
static size_t scratch_3d(const rg_shape *s, const int64_t *param) { return (void)param, scratch(af_size_3d(s)); }

static const char *refuse_3d(const rg_shape *s, const int64_t *param) {
    const af_size z = af_size_3d(s);
    (void)param;
    return af_pixels(&z) > INT32_MAX ? "indices of 32 bits, for gathers: at most 2^31 - 1 voxels" : NULL;
}

// Per pixel dims for s, 2 to 14 for the interpolations, 5 sums.
static void cost(const af_size z, double mads, rg_cost *c) {
    c->amount[RG_F32_MAD] = (double)af_pixels(&z) * (double)z.transforms * mads;
}
static void cost_affine(const rg_shape *s, const int64_t *param, rg_cost *c) { (void)param, cost(af_size_2d(s), 2 + 6, c); }
static void cost_2d(const rg_shape *s, const int64_t *param, rg_cost *c) { (void)param, cost(af_size_2d(s), 2 + 6 + 5, c); }
static void cost_3d(const rg_shape *s, const int64_t *param, rg_cost *c) { (void)param, cost(af_size_3d(s), 3 + 14 + 5, c); }

#define AF_AUTOVEC(ALGO, REFUSE, SCRATCH, COST, RUN)                                                                           \
    {                                                                                                                          \
        .abi = RG_ABI, .bytes = sizeof(rg_variant), .algo = ALGO, .name = "autovec",                                           \
        .idea = "plain loops as a compiler vectorises them, no intrinsics; any number of cores", .role = RG_SIMD,              \
        .space = RG_HOST, .needs = RG_AUTOVEC_NEEDS, .flags = RG_THREADED, .refuse = REFUSE, .scratch = SCRATCH, .cost = COST, \
        .run = RUN,                                                                                                            \
    }

RG_VARIANT(affine2d_autovec) = AF_AUTOVEC("affine2d", NULL, NULL, cost_affine, run_affine);
RG_VARIANT(align2d_autovec) = AF_AUTOVEC("align2d", NULL, scratch_2d, cost_2d, run_2d);
RG_VARIANT(align3d_autovec) = AF_AUTOVEC("align3d", refuse_3d, scratch_3d, cost_3d, run_3d);
