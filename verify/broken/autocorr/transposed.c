// SPDX-License-Identifier: MIT
// transposed.c: columns and rows of the output exchanged.
// The centre, the mirror symmetry and the sum of everything stay right.
// Shows as the right value of another offset.
#include "../broken.h"

COMPUTE(p, sums)
{
    for (int64_t y0 = -p.r; y0 <= p.r; y0++)
        for (int64_t x0 = -p.r; x0 <= p.r; x0++) sums[ac_element(p.r, y0, x0)] = right_sum(p, x0, y0);
}

BROKEN("transposed", .run = run);
