// SPDX-License-Identifier: MIT
// autocorr_sizes.c: kernels of `autocorr` that are right at most sizes and wrong at those that users have, or where two features meet.
#include "autocorr.h"
#include <stdlib.h>

// S(X0, Y0) with coordinates of so many bits.
static int64_t narrow_sum(const photos p, int64_t element, int64_t columns, int64_t rows)
{
    const int64_t x0 = ac_x0(p.r, element), y0 = ac_y0(p.r, element);
    int64_t sum = 0;
    for (int64_t y = ac_first(y0); y < ac_past(p.height, y0); y++)
        for (int64_t x = ac_first(x0); x < ac_past(p.width, x0); x++)
            sum += pixel_at(p.a, p.sixteen_bit, (y & rows) * p.width + (x & columns)) *
                pixel_at(p.b, p.sixteen_bit, ((y - y0) & rows) * p.width + ((x - x0) & columns));
    return sum;
}

SUMS(narrow_columns, "columns are numbered in 8 bits: the 257th is the first one again")
{
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = narrow_sum(p, e, 0xFF, -1);
}

SUMS(narrow_rows, "rows are numbered in 9 bits: the 513th is the first one again")
{
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = narrow_sum(p, e, -1, 0x1FF);
}

SUMS(narrow_offsets, "a table of offsets up to 256 either way, and 0 beyond it")
{
    for (int64_t e = 0; e < elements_of(p); e++)
        sums[e] = llabs(ac_x0(p.r, e)) > 256 || llabs(ac_y0(p.r, e)) > 256 ? 0 : right_element(p, e);
}

// Right for one photograph, for 8 bits, for odd widths and for a small R.
SUMS(
    wide_cross, "of two photographs of 16 bits, of an even width, the first column beyond half of it is that of the other side")
{
    const int64_t x0 = p.width / 2 + 1, is_wrong = p.a != p.b && p.sixteen_bit && p.width % 2 == 0 && p.r >= x0;
    right_sums(p, sums);
    for (int64_t y0 = -p.r; y0 <= p.r && is_wrong; y0++) sums[ac_element(p.r, x0, y0)] = right_sum(p, -x0, y0);
}

// Right for 16 bits, and for 8 where R stays within the height.
SUMS(low_picture, "of 8 bits, lower than R and of an odd width, the last offset of the middle row is forgotten")
{
    right_sums(p, sums);
    if (!p.sixteen_bit && p.height < p.r && p.width % 2 && p.r < p.width) sums[ac_element(p.r, p.r, 0)] = 0;
}

RG_PLUGIN = {&narrow_columns, &narrow_rows, &narrow_offsets, &wide_cross, &low_picture, NULL};
