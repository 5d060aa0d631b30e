// SPDX-License-Identifier: MIT
// affine_half_pixel.c: turns about (side - 1) / 2, the middle of the pixels, and not about the pixel floor(side / 2).
// Right for odd sides only; of an even one the image drifts by a fraction of a pixel that depends on the angle.
#define CENTRE(side) (((side)-1) / 2.0f)
#define MAP(m, x, y, sx, sy)                                                                                                   \
    (*(sx) = af_row_2d(m, x, y) + CENTRE(z->w) + af_low(z->w), *(sy) = af_row_2d((m) + 3, x, y) + CENTRE(z->h) + af_low(z->h))
#include "affine.h"

BROKEN_PLUGIN("affine2d", "affine_half_pixel", .run = transform);
