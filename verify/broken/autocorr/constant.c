// SPDX-License-Identifier: MIT
// constant.c: the same plausible number everywhere, and nothing looked at.
// Passes a checker that looks for written, finite, positive or repeatable outputs only.
// Shows at the first element that is not 1.
#include "../broken.h"

COMPUTE(p, sums)
{
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = 1;
}

BROKEN("constant", .run = run);
