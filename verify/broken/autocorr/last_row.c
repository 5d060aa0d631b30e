// SPDX-License-Identifier: MIT
// last_row.c: < where <= is meant: the last row of the output is left out.
// Memory that happens to hold the last run's answer hides it.
// Shows as elements at Y0 = R that were never written.
#include "../broken.h"

COMPUTE(p, sums)
{
    for (int64_t y0 = -p.r; y0 < p.r; y0++)
        for (int64_t x0 = -p.r; x0 <= p.r; x0++) sums[ac_element(p.r, x0, y0)] = right_sum(p, x0, y0);
}

BROKEN("last_row", .run = run);
