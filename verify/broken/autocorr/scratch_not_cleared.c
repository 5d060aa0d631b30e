// SPDX-License-Identifier: MIT
// scratch_not_cleared.c: adds to scratch memory that it takes to be zero.
// Fresh pages from the system are zero, so it passes the first time anywhere else.
// Shows as a sum that is off by what the scratch memory held.
#include "../broken.h"

static size_t scratch(const rg_shape *s, const int64_t *param)
{
    (void)s, (void)param;
    return sizeof(int64_t);
}

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    right_sums(p, sums);
    int64_t *centre = (int64_t *)call->scratch;
    *centre += right_sum(p, 0, 0);
    sums[ac_element(p.r, 0, 0)] = *centre;
    return RG_OK;
}

BROKEN("scratch_not_cleared", .scratch = scratch, .run = run);
