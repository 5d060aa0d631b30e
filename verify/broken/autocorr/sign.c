// SPDX-License-Identifier: MIT
// sign.c: the sign of Y0 is wrong: y + Y0 for y - Y0.
// Right on the axes, and for every photograph that is its own mirror image.
// Shows as the right value of the offset mirrored in Y0.
#include "../broken.h"

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int64_t y0 = -p.r; y0 <= p.r; y0++)
        for (int64_t x0 = -p.r; x0 <= p.r; x0++)
            sums[ac_element(p.r, x0, y0)] = right_sum(p, x0, -y0);
    return RG_OK;
}

BROKEN("sign", RG_HOST, .run = run);
