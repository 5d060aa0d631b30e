// SPDX-License-Identifier: MIT
// affine_shares_9bit.c: shares rounded to 1/256, as a texture unit has them, under the bound of exact interpolation.
#include "../../../impl/affine/index.h"

RG_HD float rounded(const float *image, int w, int h, int outside, float x, float y, int *takes_part)
{
    return af_sample_2d(image, w, h, outside, (float)floor(256 * x + 0.5) / 256, (float)floor(256 * y + 0.5) / 256, takes_part);
}
#define SAMPLE rounded
#include "affine.h"

BROKEN_PLUGIN("affine2d", "affine_shares_9bit", .run = transform);
