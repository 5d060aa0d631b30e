// SPDX-License-Identifier: MIT
// poison.c: one element in the middle is what no sum can be, -1; of floating-point outputs it would be NaN.
// Comparisons of the form |a - b| > tol let NaN pass; here its bits are those of the poison.
// Shows as an element that was never written.
#include "../broken.h"

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int64_t e = 0; e < elements_of(p); e++)
        sums[e] = right_element(p, e);
    sums[elements_of(p) / 2] = -1;
    return RG_OK;
}

BROKEN("poison", RG_HOST, .run = run);
