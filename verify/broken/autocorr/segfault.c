// SPDX-License-Identifier: MIT
// segfault.c: right, then a store through a wild pointer.
// It must not take the checker, or the variants after it, along.
// Shows as CRASH by SIGSEGV.
#include "../broken.h"

COMPUTE(p, sums)
{
    right_sums(p, sums);
    int64_t *volatile wild = (int64_t *)(uintptr_t)64;
    *wild = 0;
}

BROKEN("segfault", .run = run);
