// SPDX-License-Identifier: MIT
// right.c: nothing is wrong with this one.
// It is the control: a checker that blames everything would catch all its neighbours.
// Shows as PASS.
#include "../broken.h"

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int64_t e = 0; e < elements_of(p); e++)
        sums[e] = right_element(p, e);
    return RG_OK;
}

BROKEN("right", RG_HOST, .run = run);
