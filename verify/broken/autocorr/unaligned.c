// SPDX-License-Identifier: MIT
// unaligned.c: takes its inputs to begin at a multiple of 16 bytes.
// True of every fresh allocation, and of no row of a picture inside another.
// Shows at the base that is deliberately off by one element.
#include "../broken.h"

COMPUTE(p, sums)
{
    const uintptr_t down = ~(uintptr_t)15;
    photos aligned = p;
    aligned.a = (const void *)((uintptr_t)p.a & down);
    aligned.b = (const void *)((uintptr_t)p.b & down);
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = right_element(aligned, e);
}

BROKEN("unaligned", .run = run);
