// SPDX-License-Identifier: MIT
// tail.c: blocks of 16 pixels, and the pixels after the last whole block forgotten.
// Right for every width that is a multiple of 16, as test pictures like to be.
// Shows at the first width that is not.
#include "../broken.h"

COMPUTE(p, sums)
{
    for (int64_t e = 0; e < elements_of(p); e++) {
        sums[e] = 0;
        for (int64_t y = 0; y < p.height; y++) sums[e] += row_sum(p, ac_x0(p.r, e), ac_y0(p.r, e), y, 0, p.width / 16 * 16);
    }
}

BROKEN("tail", .run = run);
