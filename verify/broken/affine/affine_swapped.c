// SPDX-License-Identifier: MIT
// affine_swapped.c: hands (y, x) to the matrix where it wants (x, y), as code for row-major arrays easily does.
// Right for maps that treat both axes alike.
#define MAP(m, x, y, sx, sy) (*(sx) = af_row_2d((m) + 3, y, x), *(sy) = af_row_2d(m, y, x))
#include "affine.h"

BROKEN_PLUGIN("affine2d", "affine_swapped", .run = transform);
