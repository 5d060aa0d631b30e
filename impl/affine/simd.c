// SPDX-License-Identifier: MIT
// simd.c: affine2d:simd, align2d:simd, align3d:simd with AVX2 or AVX-512, on one core or all.
//
// The result is computed in bundles of 64 lines: 64 of an image, in tiles of 64 x 64, or 8 x 8 of a volume. For an image, the
// window that the tile comes from (room.h) is copied first, with the values that the rule gives outside: it stays in the L1 at
// any angle (rows of 2048 floats all fall into the same few sets of it), and no pixel tests the border. For a volume, instead,
// the stretch of every line is found whose corners all lie inside. The voxels beside it, some 3 % of them, are set aside until
// they fill vectors, and beyond the reach of rules 0 and 2 nothing is read. Corners are gathered as pairs of neighbours, 64
// bits a load, which halves the loads.
//
// Lanes sum up to LINES x 128 voxels in float, 64 a lane of AVX2 plus 32 set aside before, then up to 16 such sums, then
// double. A sum of n equal numbers in float is off by n / 2 half units in its last place at most, and s^2 / (n ss) by three
// times that: by 3 (96 + 16) / 2 x 2^-24 = 1e-5, the tolerance of sums.h for a constant.
//
// Bound: 32 loads of pairs a vector of 16 pixels (64 in a volume) at two or three a cycle.
// Measured: data/machines/h100-16xeon.tsv.
#include "../runtime/cpu.h"
#include "index.h"
#include "room.h"
#include "sums.h"

enum { LONG = 128, SIDE = 8, ODD = 256 }; // LONG: voxels of a line at a time
enum { LINES = 4 };                       // between two sums of sums

typedef struct af_line {
    const af_size *z;
    const float *image, *centre; // centre: the origin of s: c, or the first pixel of a window
    int pitch;
    float at[3], step[3];    // s = at + step (x - c)
    int reach[2], inside[2]; // range of pixels that are not simply 0 or omitted; range whose corners all lie in the image
} af_line;

// 64 lines of the result: consecutive ones of an image, 8 x 8 of a volume.
typedef struct af_bundle {
    int y0, y1, d0, d1;
} af_bundle;

static inline int af_rows(const af_size *z) { return z->dims == 2 ? AF_TILE : SIDE; }
static int64_t bundles(const af_size *z) { return af_parts(z->h, af_rows(z)) * af_parts(z->d, SIDE); }

static af_bundle af_bundle_of(const af_size *z, int64_t i) {
    const int rows = af_rows(z), y0 = (int)(i % af_parts(z->h, rows)) * rows, d0 = (int)(i / af_parts(z->h, rows)) * SIDE;
    return (af_bundle){y0, y0 + rows < z->h ? y0 + rows : z->h, d0, d0 + SIDE < z->d ? d0 + SIDE : z->d};
}

// The two ranges, clipped to x0 .. x1 - 1.
typedef struct af_cuts {
    int reach0, inside0, inside1, reach1;
} af_cuts;

// Pixels some of whose corners lie outside, set aside until they fill vectors.
typedef struct af_odd {
    int n;
    float s[3][ODD], reference[ODD];
} af_odd;

static inline af_cuts af_cut(const af_line *line, int x0, int x1) {
    af_cuts c = {af_held(line->reach[0], x0, x1), af_held(line->inside[0], x0, x1), af_held(line->inside[1], x0, x1),
        af_held(line->reach[1], x0, x1)};
    c.inside0 = af_held(c.inside0, c.reach0, c.reach1);
    c.inside1 = af_held(c.inside1, c.inside0, c.reach1);
    return c;
}

static inline af_line af_in_room(const af_line *line, const af_room *room) {
    af_line there = *line;
    if (!room->fits) return there;
    there.centre = room->pixel;
    there.pitch = room->pitch;
    there.at[0] -= (float)room->view.x;
    there.at[1] -= (float)room->view.y;
    there.reach[0] = there.inside[0] = 0;
    there.reach[1] = there.inside[1] = line->z->w;
    return there;
}

// The whole pixels of first .. last as [first, past).
static inline void whole(double first, double last, int range[2]) {
    range[0] = range[1] = 0;
    if (!(first <= last)) return;
    range[0] = (int)first + ((double)(int)first < first);
    range[1] = (int)last + 1;
}

// Both stretches of a line in the image, narrowed by a thousandth of a pixel against the rounding of s. per_step: 1 / step, 0
// where s hardly moves along the axis.
static void af_stretches(af_line *line, const double per_step[3]) {
    const af_size *z = line->z;
    const int side[3] = {z->w, z->h, z->d};
    const double margin = (z->outside == AF_ZERO ? 1 : AF_MARGIN) + 1e-3, inward = 1e-3;
    double reach[2] = {0, z->w - 1}, inside[2] = {0, z->w - 1};
    for (int a = 0; a < z->dims; a++) {
        const double zero = line->at[a] + (double)line->step[a] * af_low(z->w), low = af_low(side[a]), high = af_high(side[a]);
        const double p = (low - zero) * per_step[a], q = (high - zero) * per_step[a], size = fabs(per_step[a]);
        const double first = p < q ? p : q, last = p < q ? q : p;
        if (!(fabs(zero) < 1e9))
            reach[1] = inside[1] = -1; // also NaN
        else if (size > 0) {
            reach[0] = first - margin * size > reach[0] ? first - margin * size : reach[0];
            reach[1] = last + margin * size < reach[1] ? last + margin * size : reach[1];
            inside[0] = first + inward * size > inside[0] ? first + inward * size : inside[0];
            inside[1] = last - inward * size < inside[1] ? last - inward * size : inside[1];
        } else {
            if (zero < low - margin || zero > high + margin) reach[1] = -1;
            if (zero < low + inward || zero > high - inward) inside[1] = -1;
        }
    }
    whole(reach[0], reach[1], line->reach);
    whole(inside[0], inside[1], line->inside);
    if (z->outside == AF_EDGE) line->reach[0] = 0, line->reach[1] = z->w;
    if (line->inside[0] >= line->inside[1]) line->inside[0] = line->inside[1] = line->reach[1];
}

static void af_per_step(const af_size *z, const float *matrix, double per_step[3]) {
    for (int a = 0; a < z->dims; a++, matrix += z->dims + 1)
        per_step[a] = fabsf(matrix[0]) > 1e-9f && fabsf(matrix[0]) < 1e9f ? 1 / (double)matrix[0] : 0;
}

#define SIMD_LANES 16
#include "../simd/simd.h"

#include "simd_isa.h"
#undef SIMD_LANES
#define SIMD_LANES 8
#include "../simd/simd.h"

#include "simd_isa.h"

static int wide(const int64_t *param) { return param[0] == 512 || (param[0] == 0 && rg_cpu_has("avx512")); }

static int run_affine(rg_call *call) {
    const af_size z = af_size_2d(call->shape);
    const int64_t n = af_parts(z.h, AF_TILE);
    const int avx512 = wide(call->param);
    const float *image = (const float *)call->arg[AF_IMAGE], *matrix = (const float *)call->arg[AF_MATRIX];
#pragma omp parallel for num_threads(call->threads) schedule(dynamic)
    for (int64_t i = 0; i < n * z.transforms; i++) {
        const int y0 = (int)(i % n) * AF_TILE, y1 = af_held(y0 + AF_TILE, 0, z.h);
        float *to = (float *)call->arg[AF_TRANSFORMED] + i / n * af_pixels(&z);
        (avx512 ? avx512_store_band : avx2_store_band)(&z, image, matrix + 6 * (i / n), y0, y1, to);
    }
    return RG_OK;
}

// Scratch: the sums of every bundle of every transform, added in the same order on any number of cores.
static int align(rg_call *call, const af_size z) {
    const int64_t n = bundles(&z);
    const int avx512 = wide(call->param);
    const float *image = (const float *)call->arg[AL_IMAGE], *reference = (const float *)call->arg[AL_REFERENCE];
    const float *matrix = (const float *)call->arg[AL_MATRIX];
    const float typical[2] = {af_typical(image, af_pixels(&z)), af_typical(reference, af_pixels(&z))};
    af_sums *sums = (af_sums *)call->scratch;
#pragma omp parallel for num_threads(call->threads) schedule(dynamic)
    for (int64_t i = 0; i < n * z.transforms; i++) {
        const af_bundle b = af_bundle_of(&z, i % n);
        const float *m = matrix + af_numbers(z.dims) * (i / n);
        sums[i] = (af_sums){0, 0, 0, 0, 0, 0};
        (avx512 ? avx512_sum_bundle : avx2_sum_bundle)(&z, image, reference, m, &b, typical, &sums[i]);
    }
    for (int64_t t = 0; t < z.transforms; t++) {
        af_sums all = {0, 0, 0, 0, 0, 0};
        for (int64_t i = 0; i < n; i++) af_join(&all, &sums[t * n + i]);
        ((double *)call->arg[AL_RHO])[t] = af_rho(&all, typical[0], typical[1]);
        ((int32_t *)call->arg[AL_PIXELS])[t] = (int32_t)all.n;
    }
    return RG_OK;
}

static int run_2d(rg_call *call) { return align(call, af_size_2d(call->shape)); }
static int run_3d(rg_call *call) { return align(call, af_size_3d(call->shape)); }

static size_t scratch(const af_size z) { return (size_t)(bundles(&z) * z.transforms) * sizeof(af_sums); }
static size_t scratch_2d(const rg_shape *s, const int64_t *param) { return (void)param, scratch(af_size_2d(s)); }
static size_t scratch_3d(const rg_shape *s, const int64_t *param) { return (void)param, scratch(af_size_3d(s)); }

static const char *refuse(const rg_shape *s, const int64_t *param) {
    (void)s;
    return param[0] == 512 && !rg_cpu_has("avx512") ? "isa=512 needs avx512" : NULL;
}

// Per pixel dims for s, 2 to 14 for the interpolations, 5 sums.
static void cost_affine(const rg_shape *s, const int64_t *param, rg_cost *c) {
    const af_size z = af_size_2d(s);
    (void)param;
    c->amount[RG_F32_MAD] = (double)af_pixels(&z) * (double)z.transforms * (2 + 6);
}
static void cost_2d(const rg_shape *s, const int64_t *param, rg_cost *c) {
    cost_affine(s, param, c);
    c->amount[RG_F32_MAD] *= 13.0 / 8;
}
static void cost_3d(const rg_shape *s, const int64_t *param, rg_cost *c) {
    const af_size z = af_size_3d(s);
    (void)param;
    c->amount[RG_F32_MAD] = (double)af_pixels(&z) * (double)z.transforms * (3 + 14 + 5);
}

static const int64_t isa_values[] = {0, 2, 512};
static const rg_param params[] = {{"isa", isa_values, RG_COUNT(isa_values), 0, "0 best here, 2 AVX2, 512 AVX-512"}};

#define AF_SIMD(ALGO, IDEA, SCRATCH, COST, RUN)                                                                                \
    {                                                                                                                          \
        RG_VARIANT_OF(ALGO, "simd", RG_SIMD, RG_HOST, IDEA), .needs = "avx2", .flags = RG_THREADED, RG_PARAMS(params),         \
                                                             .refuse = refuse, .scratch = SCRATCH, .cost = COST, .run = RUN    \
    }

RG_VARIANT(affine2d_simd) = AF_SIMD(
    "affine2d", "tiles of 64 x 64, vectors of pixels from gathered pairs; any number of cores", NULL, cost_affine, run_affine);
RG_VARIANT(align2d_simd) = AF_SIMD(
    "align2d", "tiles of 64 x 64, vectors of pixels from gathered pairs; any number of cores", scratch_2d, cost_2d, run_2d);
RG_VARIANT(align3d_simd) = AF_SIMD(
    "align3d", "bundles of 8 x 8 lines, vectors of voxels from gathered pairs; any cores", scratch_3d, cost_3d, run_3d);
