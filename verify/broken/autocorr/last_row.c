// SPDX-License-Identifier: MIT
// last_row.c: < where <= is meant: the last row of the output is left out.
// Memory that happens to hold the last run's answer hides it.
// Shows as elements at Y0 = R that were never written.
#include "../broken.h"

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int64_t y0 = -p.r; y0 < p.r; y0++)
        for (int64_t x0 = -p.r; x0 <= p.r; x0++)
            sums[ac_element(p.r, x0, y0)] = right_sum(p, x0, y0);
    return RG_OK;
}

BROKEN("last_row", RG_HOST, .run = run);
