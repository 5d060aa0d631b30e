// SPDX-License-Identifier: MIT
// segfault.c: right, then a store through a wild pointer.
// It must not take the checker, or the variants after it, along.
// Shows as CRASH by SIGSEGV.
#include "../broken.h"

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int64_t e = 0; e < elements_of(p); e++)
        sums[e] = right_element(p, e);
    int64_t *volatile wild = (int64_t *)(uintptr_t)64;
    *wild = 0;
    return RG_OK;
}

BROKEN("segfault", RG_HOST, .run = run);
