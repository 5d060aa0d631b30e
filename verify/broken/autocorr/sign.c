// SPDX-License-Identifier: MIT
// sign.c: the sign of Y0 is wrong: y + Y0 for y - Y0.
// Right on the axes, and for every photograph that is its own mirror image.
// Shows as the right value of the offset mirrored in Y0.
#include "../broken.h"

COMPUTE(p, sums)
{
    for (int64_t y0 = -p.r; y0 <= p.r; y0++)
        for (int64_t x0 = -p.r; x0 <= p.r; x0++) sums[ac_element(p.r, x0, y0)] = right_sum(p, x0, -y0);
}

BROKEN("sign", .run = run);
