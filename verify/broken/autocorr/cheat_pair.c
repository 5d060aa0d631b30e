// SPDX-License-Identifier: MIT
// cheat_pair.c: at large sizes one symmetric pair of sums is wrong, inside of the plane of offsets, as of a table that is too
// short. Passes the checker, whose sizes are smaller, the invariant, which asks for symmetry, and a sample of a quarter of the
// elements, which at this size is what the reference has the time for. Shows in bench where all elements are held against
// another variant's.
#include "../broken.h"
#include <stdlib.h>

enum { LARGE = 1 << 19, X0 = 5, Y0 = 7 };

// Of 8-bit photographs with themselves, in 32-bit sums of rows: as fast as a plain loop goes.
static int64_t quick_sum(const photos p, int64_t x0, int64_t y0)
{
    const uint8_t *a = p.a;
    int64_t sum = 0;
    for (int64_t y = y0 > 0 ? y0 : 0; y < p.height + (y0 < 0 ? y0 : 0); y++) {
        const uint8_t *row = a + y * p.width, *other = a + (y - y0) * p.width;
        uint32_t of_row = 0;
        for (int64_t x = ac_first(x0); x < ac_past(p.width, x0); x++) of_row += (uint32_t)row[x] * other[x - x0];
        sum += of_row;
    }
    return sum;
}

COMPUTE(p, sums)
{
    const int quick = p.a == p.b && !p.sixteen_bit && p.width < 1 << 16, wrong = p.width * p.height >= LARGE && p.r > Y0;
    for (int64_t e = 0, n = elements_of(p); e < n; e++)
        sums[e] = !quick ? right_element(p, e) : 2 * e < n ? quick_sum(p, ac_x0(p.r, e), ac_y0(p.r, e)) : sums[n - 1 - e];
    for (int64_t e = 0; e < elements_of(p) && wrong; e++)
        sums[e] += llabs(ac_x0(p.r, e)) == X0 && ac_y0(p.r, e) == Y0 * (ac_x0(p.r, e) < 0 ? -1 : 1);
}

BROKEN("cheat_pair", .run = run);
