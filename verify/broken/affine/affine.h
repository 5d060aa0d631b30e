// SPDX-License-Identifier: MIT
// affine.h: what the affine and align kernels that are wrong on purpose share: right ones, each step of which can be replaced.
// A file defines the steps that it spoils, and includes this.
#ifndef RG_BROKEN_AFFINE_H
#define RG_BROKEN_AFFINE_H

#include "../../../impl/affine/bound.h"
#include "../../../impl/affine/index.h"
#include "../../../impl/affine/sums.h"
#include "../plugin.h"

#ifndef CENTRE
#define CENTRE(side) (-af_low(side))
#endif
#ifndef MAP // of the result into the image
#define MAP(m, x, y, sx, sy) (*(sx) = af_row_2d(m, x, y), *(sy) = af_row_2d((m) + 3, x, y))
#endif
#ifndef SAMPLE
#define SAMPLE af_sample_2d
#endif
#ifndef PAST // the pixels of a side that are computed
#define PAST(side) (side)
#endif

RG_HD float value_at(const af_size *z, const float *image, const float *m, int x, int y, int *takes_part)
{
    float sx, sy;
    MAP(m, (float)x - (float)(CENTRE(z->w)), (float)y - (float)(CENTRE(z->h)), &sx, &sy);
    return SAMPLE(image, z->w, z->h, z->outside, sx, sy, takes_part);
}

RG_HD int transform(rg_call *call)
{
    const af_size z = af_size_2d(call->shape);
    const float *m = (const float *)call->arg[AF_MATRIX];
    float *to = (float *)call->arg[AF_TRANSFORMED];
    int takes_part;
    for (int64_t i = 0; i < z.transforms; i++, to += af_pixels(&z))
        for (int y = 0; y < PAST(z.h); y++)
            for (int x = 0; x < PAST(z.w); x++)
                to[y * z.w + x] = value_at(&z, (const float *)call->arg[AF_IMAGE], m + 6 * i, x, y, &takes_part);
    return RG_OK;
}

#ifndef FINISH // rho from the values that take part: sums about their typical values
#define FINISH(s, a, b) af_rho(&(s), a, b)
#define ADD(s, a, b) af_add(&(s), a, b)
#define SUMS af_sums
#define TYPICAL af_typical
#endif

static inline int correlate(rg_call *call)
{
    const af_size z = af_size_2d(call->shape);
    const float *image = (const float *)call->arg[AL_IMAGE], *reference = (const float *)call->arg[AL_REFERENCE];
    const float typical_a = TYPICAL(image, af_pixels(&z)), typical_b = TYPICAL(reference, af_pixels(&z));
    for (int64_t i = 0; i < z.transforms; i++) {
        SUMS s = {0, 0, 0, 0, 0, 0};
        for (int y = 0; y < PAST(z.h); y++)
            for (int x = 0; x < PAST(z.w); x++) {
                int takes_part;
                const float value = value_at(&z, image, (const float *)call->arg[AL_MATRIX] + 6 * i, x, y, &takes_part);
                if (takes_part) ADD(s, value - typical_a, reference[y * z.w + x] - typical_b);
            }
        ((double *)call->arg[AL_RHO])[i] = FINISH(s, typical_a, typical_b);
        ((int32_t *)call->arg[AL_PIXELS])[i] = (int32_t)s.n;
    }
    return RG_OK;
}

#endif
