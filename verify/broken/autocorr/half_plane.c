// SPDX-License-Identifier: MIT
// half_plane.c: computes Y0 <= 0 and forgets to copy the half that symmetry gives.
// The picture looks right when the other half is drawn by symmetry too.
// Shows as elements that were never written.
#include "../broken.h"

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int64_t y0 = -p.r; y0 <= 0; y0++)
        for (int64_t x0 = -p.r; x0 <= p.r; x0++)
            sums[ac_element(p.r, x0, y0)] = right_sum(p, x0, y0);
    return RG_OK;
}

BROKEN("half_plane", RG_HOST, .run = run);
