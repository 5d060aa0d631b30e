// SPDX-License-Identifier: MIT
// poison.c: one element in the middle is what no sum can be, -1; of floating-point outputs it would be NaN.
// Comparisons of the form |a - b| > tol let NaN pass; here its bits are those of the poison.
// Shows as an element that was never written.
#include "../broken.h"

COMPUTE(p, sums)
{
    right_sums(p, sums);
    sums[elements_of(p) / 2] = -1;
}

BROKEN("poison", .run = run);
