// SPDX-License-Identifier: MIT
// unordered.c: sums in fp32 in an order that changes from run to run, as atomics do, and does not say so.
// Every run is within the tolerance that it states. The order is drawn: threads that race are too lucky on one core.
// Shows as a run that differs from the first in its bits.
#include "../broken.h"

static rg_tolerance tolerance(const rg_shape *s, const int64_t *param)
{
    (void)param;
    return (rg_tolerance){RG_BOUND, 0, (double)(s->n[AC_WIDTH] * s->n[AC_HEIGHT]) * 0x1p-23, "n roundings of fp32"};
}

static float sum_from(const photos p, int64_t x0, int64_t y0, int64_t from)
{
    float sum = 0;
    for (int64_t i = 0; i < p.width * p.height; i++) {
        const int64_t k = (i + from) % (p.width * p.height), x = k % p.width, y = k / p.width;
        sum += (float)row_sum(p, x0, y0, y, x, x + 1);
    }
    return sum;
}

static const char *refuse(const rg_shape *s, const int64_t *param)
{
    (void)param;
    return s->n[AC_KIND] & AC_CROSS ? "autocorrelation only" : NULL;
}

COMPUTE(p, sums)
{
    static uint64_t runs;
    const int64_t from = (int64_t)(rg_bits(runs++, 0) >> 1) % (p.width * p.height);
    for (int64_t e = 0; 2 * e < elements_of(p); e++)
        sums[e] = sums[ac_mirror(p.r, e)] = (int64_t)sum_from(p, ac_x0(p.r, e), ac_y0(p.r, e), from);
    sums[ac_element(p.r, 0, 0)] = right_sum(p, 0, 0);
}

BROKEN("unordered", .refuse = refuse, .tolerance = tolerance, .run = run);
