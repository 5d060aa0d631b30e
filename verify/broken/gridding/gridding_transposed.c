// SPDX-License-Identifier: MIT
// gridding_transposed.c: pixels are placed with the inverse of the rotation.
// One image about z alone, or none turned, looks right; a set of many gives a sphere of mush.
#define PLACE(m, x, y, r)                                                                                                      \
    ((r)[0] = (m)[0] * (x) + (m)[3] * (y), (r)[1] = (m)[1] * (x) + (m)[4] * (y), (r)[2] = (m)[2] * (x) + (m)[5] * (y))
#include "gridding.h"

BROKEN_GRIDDING("gridding_transposed", "pixels are placed with the inverse of the rotation");
