// SPDX-License-Identifier: MIT
// affine_last_row.c: takes what lies between the last two rows, or columns, for outside: s < side - 1 in place of s < side.
// The last row of the image has no part in the result, which is off only along its rim.
#define SAMPLE(image, w, h, outside, x, y, takes_part)                                                                         \
    ((x) < af_high(w) && (y) < af_high(h) ? af_sample_2d(image, w, h, outside, x, y, takes_part) : (*(takes_part) = 1, 0.0f))
#include "affine.h"

BROKEN_PLUGIN("affine2d", "affine_last_row", .run = transform);
