// SPDX-License-Identifier: MIT
// cheat_tolerance.c: a symmetric pair of sums is wrong, and by its own word an error of 1e300 is none.
// Passes wherever a variant's word on its own bound is taken. A plug-in's is at most the algorithm's.
#include "../broken.h"

COMPUTE(p, sums)
{
    right_sums(p, sums);
    if (p.r) sums[0]++, sums[elements_of(p) - 1]++;
}

static rg_tolerance anything(const rg_shape *s, const int64_t *param)
{
    (void)s, (void)param;
    return (rg_tolerance){RG_BOUND, 1e300, 1e300, "by its own word"};
}

BROKEN("cheat_tolerance", .tolerance = anything, .run = run);
