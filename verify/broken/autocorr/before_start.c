// SPDX-License-Identifier: MIT
// before_start.c: right, and one element written in front of the output.
// What stood there belongs to somebody else, who fails much later.
// Shows as a guard overwritten before the start.
#include "../broken.h"

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int64_t e = 0; e < elements_of(p); e++)
        sums[e] = right_element(p, e);
    sums[-1] = 0;
    return RG_OK;
}

BROKEN("before_start", RG_HOST, .run = run);
