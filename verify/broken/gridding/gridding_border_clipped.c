// SPDX-License-Identifier: MIT
// gridding_border_clipped.c: pixels whose window reaches over the border of the volume are left out altogether.
// Only the highest frequencies suffer.
#define TAKES_PART(r, b, k)                                                                                                    \
    (fabsf((r)[0]) + (b) <= (float)(k) && fabsf((r)[1]) + (b) <= (float)(k) && fabsf((r)[2]) + (b) <= (float)(k))
#include "gridding.h"

BROKEN_GRIDDING("gridding_border_clipped", "pixels whose window reaches over the border are left out altogether");
