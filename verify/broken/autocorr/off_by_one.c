// SPDX-License-Identifier: MIT
// off_by_one.c: offsets rounded towards zero: every negative X0 is one too large.
// Smooth photographs hide it: neighbouring sums differ by little.
// Shows as the right value of the offset beside it.
#include "../broken.h"

COMPUTE(p, sums)
{
    for (int64_t y0 = -p.r; y0 <= p.r; y0++)
        for (int64_t x0 = -p.r; x0 <= p.r; x0++) sums[ac_element(p.r, x0, y0)] = right_sum(p, x0 < 0 ? x0 + 1 : x0, y0);
}

BROKEN("off_by_one", .run = run);
