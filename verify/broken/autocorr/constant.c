// SPDX-License-Identifier: MIT
// constant.c: the same plausible number everywhere, and nothing looked at.
// Passes a checker that looks for written, finite, positive or repeatable outputs only.
// Shows at the first element that is not 1.
#include "../broken.h"

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int64_t e = 0; e < elements_of(p); e++)
        sums[e] = 1;
    return RG_OK;
}

BROKEN("constant", RG_HOST, .run = run);
