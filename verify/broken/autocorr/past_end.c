// SPDX-License-Identifier: MIT
// past_end.c: right, and one element written behind the output.
// Allocators round up: on most machines nothing happens.
// Shows as a guard overwritten past the end.
#include "../broken.h"

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int64_t e = 0; e < elements_of(p); e++)
        sums[e] = right_element(p, e);
    sums[elements_of(p)] = 0;
    return RG_OK;
}

BROKEN("past_end", RG_HOST, .run = run);
