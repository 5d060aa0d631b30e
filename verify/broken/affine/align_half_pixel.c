// SPDX-License-Identifier: MIT
// align_half_pixel.c: affine_half_pixel.c in the correlation, where no pixel is seen: the sums alone have to tell.
#define CENTRE(side) (((side)-1) / 2.0f)
#define MAP(m, x, y, sx, sy)                                                                                                   \
    (*(sx) = af_row_2d(m, x, y) + CENTRE(z->w) + af_low(z->w), *(sy) = af_row_2d((m) + 3, x, y) + CENTRE(z->h) + af_low(z->h))
#include "affine.h"

BROKEN_PLUGIN("align2d", "align_half_pixel", .run = correlate);
