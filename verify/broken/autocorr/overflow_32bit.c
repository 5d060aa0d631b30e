// SPDX-License-Identifier: MIT
// overflow_32bit.c: sums in 32 bits, which hold no more than 33,025 pixels of 255 x 255.
// Right for every photograph of usual brightness and size; 16-bit pixels are refused.
// Shows at S(0, 0) of a large picture that is white all over.
#include "../broken.h"

static const char *refuse(const rg_shape *s, const int64_t *param)
{
    (void)param;
    return s->n[AC_KIND] & AC_16BIT ? "8-bit pixels only" : NULL;
}

COMPUTE(p, sums)
{
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = (int32_t)(uint32_t)right_element(p, e); // what a 32-bit sum wraps to
}

BROKEN("overflow_32bit", .refuse = refuse, .run = run);
