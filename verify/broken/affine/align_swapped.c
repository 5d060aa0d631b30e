// SPDX-License-Identifier: MIT
// align_swapped.c: affine_swapped.c in the correlation.
#define MAP(m, x, y, sx, sy) (*(sx) = af_row_2d((m) + 3, y, x), *(sy) = af_row_2d(m, y, x))
#include "affine.h"

BROKEN_PLUGIN("align2d", "align_swapped", .run = correlate);
