// SPDX-License-Identifier: MIT
// past_end.c: right, and one element written behind the output.
// Allocators round up: on most machines nothing happens.
// Shows as a guard overwritten past the end.
#include "../broken.h"

COMPUTE(p, sums)
{
    right_sums(p, sums);
    sums[elements_of(p)] = 0;
}

BROKEN("past_end", .run = run);
