// SPDX-License-Identifier: MIT
// half_plane.c: computes Y0 <= 0 and forgets to copy the half that symmetry gives.
// The picture looks right when the other half is drawn by symmetry too.
// Shows as elements that were never written.
#include "../broken.h"

COMPUTE(p, sums)
{
    for (int64_t y0 = -p.r; y0 <= 0; y0++)
        for (int64_t x0 = -p.r; x0 <= p.r; x0++) sums[ac_element(p.r, x0, y0)] = right_sum(p, x0, y0);
}

BROKEN("half_plane", .run = run);
