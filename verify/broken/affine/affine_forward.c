// SPDX-License-Identifier: MIT
// affine_forward.c: takes the matrix for the map of the image into the result, the paper's A, and inverts it.
// Turns the wrong way, and stretches where it should shrink; an image turned by 0 or 180 degrees looks right.
#define MAP(m, x, y, sx, sy)                                                                                                   \
    do {                                                                                                                       \
        double n[6] = {1, 0, 0, 0, 1, 0};                                                                                      \
        af_inverse_2d(m, n);                                                                                                   \
        *(sx) = (float)(n[0] * (x) + n[1] * (y) + n[2]);                                                                       \
        *(sy) = (float)(n[3] * (x) + n[4] * (y) + n[5]);                                                                       \
    } while (0)
#include "affine.h"

BROKEN_PLUGIN("affine2d", "affine_forward", .run = transform);
