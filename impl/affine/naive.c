// SPDX-License-Identifier: MIT
// naive.c: the paper's baseline (Sect. 4.1): single-threaded C, pixel by pixel in memory order, each from its neighbours in the
// input; sums in double.
#include "index.h"
#include "sums.h"

static int run_affine(rg_call *call) {
    const af_size z = af_size_2d(call->shape);
    const float *image = (const float *)call->arg[AF_IMAGE], *m = (const float *)call->arg[AF_MATRIX];
    float *to = (float *)call->arg[AF_TRANSFORMED];
    int takes_part;
    for (int64_t i = 0; i < z.transforms; i++, m += 6)
        for (int y = 0; y < z.h; y++)
            for (int x = 0; x < z.w; x++) {
                const float px = (float)x + af_low(z.w), py = (float)y + af_low(z.h);
                *to++ = af_sample_2d(image, z.w, z.h, z.outside, af_row_2d(m, px, py), af_row_2d(m + 3, px, py), &takes_part);
            }
    return RG_OK;
}

typedef float sample_fn(const float *image, const af_size *, const float *m, int x, int y, int zz, int *takes_part);

RG_HD float sample_2d(const float *image, const af_size *z, const float *m, int x, int y, int zz, int *takes_part) {
    const float px = (float)x + af_low(z->w), py = (float)y + af_low(z->h);
    (void)zz;
    return af_sample_2d(image, z->w, z->h, z->outside, af_row_2d(m, px, py), af_row_2d(m + 3, px, py), takes_part);
}

RG_HD float sample_3d(const float *image, const af_size *z, const float *m, int x, int y, int zz, int *takes_part) {
    const float px = (float)x + af_low(z->w), py = (float)y + af_low(z->h), pz = (float)zz + af_low(z->d);
    return af_sample_3d(image, z->w, z->h, z->d, z->outside, af_row_3d(m, px, py, pz), af_row_3d(m + 4, px, py, pz),
        af_row_3d(m + 8, px, py, pz), takes_part);
}

RG_HD int align(const rg_call *call, const af_size z, sample_fn *sample) {
    const float *image = (const float *)call->arg[AL_IMAGE], *reference = (const float *)call->arg[AL_REFERENCE];
    const float typical_a = af_typical(image, af_pixels(&z)), typical_b = af_typical(reference, af_pixels(&z));
    for (int64_t i = 0; i < z.transforms; i++) {
        const float *m = (const float *)call->arg[AL_MATRIX] + i * af_numbers(z.dims), *r = reference;
        af_sums s = {0, 0, 0, 0, 0, 0};
        for (int zz = 0; zz < z.d; zz++)
            for (int y = 0; y < z.h; y++)
                for (int x = 0; x < z.w; x++, r++) {
                    int takes_part;
                    const float value = sample(image, &z, m, x, y, zz, &takes_part);
                    if (takes_part) af_add(&s, (double)value - typical_a, (double)*r - typical_b);
                }
        ((double *)call->arg[AL_RHO])[i] = af_rho(&s, typical_a, typical_b);
        ((int32_t *)call->arg[AL_PIXELS])[i] = (int32_t)s.n;
    }
    return RG_OK;
}

static int run_2d(rg_call *call) { return align(call, af_size_2d(call->shape), sample_2d); }
static int run_3d(rg_call *call) { return align(call, af_size_3d(call->shape), sample_3d); }

RG_VARIANT(affine2d_naive) = {
    RG_VARIANT_OF("affine2d", "naive", RG_NAIVE, RG_HOST, "pixel after pixel in plain C, each from its four neighbours"),
    .run = run_affine,
};

RG_VARIANT(align2d_naive) = {
    RG_VARIANT_OF(
        "align2d", "naive", RG_NAIVE, RG_HOST, "pixel after pixel in plain C, transformed and added to sums in double"),
    .run = run_2d,
};

RG_VARIANT(align3d_naive) = {
    RG_VARIANT_OF(
        "align3d", "naive", RG_NAIVE, RG_HOST, "voxel after voxel in plain C, transformed and added to sums in double"),
    .run = run_3d,
};
