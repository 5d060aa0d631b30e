// SPDX-License-Identifier: MIT
// autovec.c: affine2d:autovec, align2d:autovec, align3d:autovec: naive's loops as a compiler vectorises them, on one core or
// all. What lies outside is told by weights of 0 and indices held inside, so that the loops over x have no branch.
//
// Bound: loads of four corners (eight in a volume) a pixel, which become gathers.
#include "../runtime/cpu.h"
#include "../simd/autovec.h"
#include "index.h"
#include "sums.h"
#include <string.h>

enum { LINES = 64 }; // of a bundle, whose sums are kept apart: any number of cores adds them in one order

// The two neighbours of s along one axis as indices that exist, and their weights.
typedef struct pair {
    int first, second;
    float w0, w1;
} pair;

RG_HD pair pair_at(float s, int side, int outside)
{
    const float reach = outside == AF_ZERO ? 1 : 0, low = af_low(side) - reach, high = af_high(side) + reach;
    const float above = s >= low ? s : low, held = above > high ? high : above, whole = floorf(held);
    const float share = held - whole, rest = 1 - share;
    const int first = (int)whole + af_centre(side), last = side - 1;
    const int here = first < 0 ? 0 : first, first_in = here > last ? last : here, second_in = first < last ? first + 1 : last;
    const pair p = {first_in, second_in, first_in == first ? rest : 0, first < last ? share : 0};
    return p;
}

RG_HD int takes_part(float s, int side, int outside)
{
    return outside != AF_IGNORE ? 1 : (s >= af_low(side) - AF_MARGIN) & (s <= af_high(side) + AF_MARGIN);
}

RG_HD float blend(const float *restrict image, int row0, int row1, pair i, pair j)
{
    return j.w0 * (i.w0 * image[row0 + i.first] + i.w1 * image[row0 + i.second]) +
        j.w1 * (i.w0 * image[row1 + i.first] + i.w1 * image[row1 + i.second]);
}

// Pixel (x, y, zz) of the result; *part says whether it takes part.
RG_HD float pixel(
    const float *restrict image, int w, int h, int d, const float *m, int dims, int outside, int x, int y, int zz, int *part)
{
    const float px = (float)x + af_low(w), py = (float)y + af_low(h), pz = (float)zz + af_low(d);
    const float sx = dims == 2 ? af_row_2d(m, px, py) : af_row_3d(m, px, py, pz);
    const float sy = dims == 2 ? af_row_2d(m + 3, px, py) : af_row_3d(m + 4, px, py, pz);
    const pair i = pair_at(sx, w, outside), j = pair_at(sy, h, outside);
    *part = takes_part(sx, w, outside) & takes_part(sy, h, outside);
    if (dims == 2) return blend(image, j.first * w, j.second * w, i, j);
    const float sz = af_row_3d(m + 8, px, py, pz);
    const pair k = pair_at(sz, d, outside);
    *part &= takes_part(sz, d, outside);
    return k.w0 * blend(image, (k.first * h + j.first) * w, (k.first * h + j.second) * w, i, j) +
        k.w1 * blend(image, (k.second * h + j.first) * w, (k.second * h + j.second) * w, i, j);
}

RG_HD void affine_row(
    const af_size *z, int outside, const float *restrict image, const float *restrict matrix, int y, float *restrict to)
{
    const int w = z->w, h = z->h;
    float m[6];
    memcpy(m, matrix, sizeof m);
#pragma omp simd
    for (int x = 0; x < w; x++) {
        int part;
        const float value = pixel(image, w, h, 1, m, 2, outside, x, y, 0, &part);
        to[x] = part ? value : 0;
    }
}

RG_HD void align_row(const af_size *z, int dims, int outside, const float *restrict image, const float *restrict reference,
    const float *restrict matrix, int y, int zz, const float *typical, af_sums *to)
{
    const int w = z->w, h = z->h, d = z->d;
    const double of_a = typical[0], of_b = typical[1];
    double n = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;
    float m[12];
    memcpy(m, matrix, (size_t)(dims == 2 ? 6 : 12) * sizeof *m);
#pragma omp simd reduction(+ : n, a, b, aa, bb, ab)
    for (int x = 0; x < w; x++) {
        int part;
        const float value = pixel(image, w, h, d, m, dims, outside, x, y, zz, &part), other = reference[x];
        const double differ_a = value - of_a, differ_b = other - of_b, p = part ? differ_a : 0, q = part ? differ_b : 0;
        n += part;
        a += p;
        b += q;
        aa += p * p;
        bb += q * q;
        ab += p * q;
    }
    const af_sums s = {n, a, b, aa, bb, ab};
    af_join(to, &s);
}

// The rule outside as a constant.
RG_HD void affine_line(const af_size *z, const float *image, const float *m, int y, float *to)
{
    if (z->outside == AF_ZERO)
        affine_row(z, AF_ZERO, image, m, y, to);
    else if (z->outside == AF_EDGE)
        affine_row(z, AF_EDGE, image, m, y, to);
    else
        affine_row(z, AF_IGNORE, image, m, y, to);
}
RG_AUTOVEC(affine_line, (const af_size *z, const float *image, const float *m, int y, float *to), (z, image, m, y, to))

RG_HD void align_part(const af_size *z, int dims, int outside, const float *image, const float *reference, const float *m,
    int first, int past, const float *typical, af_sums *to)
{
    for (int line = first; line < past; line++)
        align_row(z, dims, outside, image, reference + (int64_t)line * z->w, m, line % z->h, line / z->h, typical, to);
}

// Lines first .. past - 1 of the result, for one transform.
#define ALIGN_LINES(name, dims)                                                                                                \
    RG_HD void name(const af_size *z, const float *image, const float *reference, const float *m, int first, int past,         \
        const float *typical, af_sums *to)                                                                                     \
    {                                                                                                                          \
        if (z->outside == AF_ZERO)                                                                                             \
            align_part(z, dims, AF_ZERO, image, reference, m, first, past, typical, to);                                       \
        else if (z->outside == AF_EDGE)                                                                                        \
            align_part(z, dims, AF_EDGE, image, reference, m, first, past, typical, to);                                       \
        else                                                                                                                   \
            align_part(z, dims, AF_IGNORE, image, reference, m, first, past, typical, to);                                     \
    }                                                                                                                          \
    RG_AUTOVEC(name,                                                                                                           \
        (const af_size *z, const float *image, const float *reference, const float *m, int first, int past,                    \
            const float *typical, af_sums *to),                                                                                \
        (z, image, reference, m, first, past, typical, to))
ALIGN_LINES(align2d_lines, 2)
ALIGN_LINES(align3d_lines, 3)

static int run_affine(rg_call *call)
{
    const af_size z = af_size_2d(call->shape);
    const float *image = (const float *)call->arg[AF_IMAGE], *m = (const float *)call->arg[AF_MATRIX];
    float *to = (float *)call->arg[AF_TRANSFORMED];
    affine_line_fn *line = affine_line_for(rg_cpu_has(RG_AUTOVEC_WIDE));
#pragma omp parallel for num_threads(call->threads)
    for (int64_t i = 0; i < z.transforms * z.h; i++) line(&z, image, m + 6 * (i / z.h), (int)(i % z.h), to + i * z.w);
    return RG_OK;
}

static int64_t bundles(const af_size *z) { return ((int64_t)z->h * z->d + LINES - 1) / LINES; }

static int align(rg_call *call, const af_size z)
{
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

static const char *refuse_3d(const rg_shape *s, const int64_t *param)
{
    const af_size z = af_size_3d(s);
    (void)param;
    return af_pixels(&z) > INT32_MAX ? "indices of 32 bits, for gathers: at most 2^31 - 1 voxels" : NULL;
}

// Per pixel dims for s, 2 to 14 for the interpolations, 5 sums.
static void cost(const af_size z, double mads, rg_cost *c)
{
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
