// SPDX-License-Identifier: MIT
// before_start.c: right, and one element written in front of the output.
// What stood there belongs to somebody else, who fails much later.
// Shows as a guard overwritten before the start.
#include "../broken.h"

COMPUTE(p, sums)
{
    right_sums(p, sums);
    sums[-1] = 0;
}

BROKEN("before_start", .run = run);
