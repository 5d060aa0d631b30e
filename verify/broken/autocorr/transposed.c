// SPDX-License-Identifier: MIT
// transposed.c: columns and rows of the output exchanged.
// The centre, the mirror symmetry and the sum of everything stay right.
// Shows as the right value of another offset.
#include "../broken.h"

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int64_t y0 = -p.r; y0 <= p.r; y0++)
        for (int64_t x0 = -p.r; x0 <= p.r; x0++)
            sums[ac_element(p.r, y0, x0)] = right_sum(p, x0, y0);
    return RG_OK;
}

BROKEN("transposed", RG_HOST, .run = run);
