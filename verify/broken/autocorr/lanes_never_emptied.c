// SPDX-License-Identifier: MIT
// lanes_never_emptied.c: a column's products are summed in 32 bits over all rows, as a SIMD lane does that is never emptied.
// Right for every photograph of fewer than 33,026 rows; 16-bit pixels are refused.
// Shows in a slender picture that is white all over: a size at which kernels turn (verify/thresholds.tsv).
#include "../broken.h"

static const char *refuse(const rg_shape *s, const int64_t *param)
{
    (void)param;
    return s->n[AC_KIND] & AC_16BIT ? "8-bit pixels only" : NULL;
}

RG_HD int64_t lanes(const photos p, int64_t x0, int64_t y0)
{
    int64_t sum = 0;
    for (int64_t x = 0; x < p.width; x++) {
        uint32_t lane = 0;
        for (int64_t y = 0; y < p.height; y++) lane += (uint32_t)row_sum(p, x0, y0, y, x, x + 1);
        sum += (int32_t)lane;
    }
    return sum;
}

COMPUTE(p, sums)
{
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = lanes(p, ac_x0(p.r, e), ac_y0(p.r, e));
}

BROKEN("lanes_never_emptied", .refuse = refuse, .run = run);
