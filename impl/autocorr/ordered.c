// SPDX-License-Identifier: MIT
// ordered.c: the paper's code with its loops in memory order, and half of the plane (Sect. 4.1, digest L3).
//
// The loops run Y0, y, X0, x: two lines, y of a and y - Y0 of b, stay in the nearest cache while every X0 is summed over them,
// and the sum of each line is added to its element. S(X0, Y0) = S(-X0, -Y0) in an autocorrelation, so Y0 >= 0 is enough and the
// other half is copied. Still one pixel pair at a time: the paper's factor of two comes from order and symmetry alone.
#include "scalar.h"

// Adds the products of the line that begins at pixel row_a of a and the one at row_b of b to the 2 r + 1 sums of one Y0.
RG_HD void add_line(
    const void *a, const void *b, int64_t row_a, int64_t row_b, int64_t width, int64_t r, int64_t *line, int wide) {
    for (int64_t x0 = -r; x0 <= r; x0++) {
        int64_t sum = 0;
        for (int64_t x = ac_first(x0), end = ac_past(width, x0); x < end; x++) {
            sum += ac_pixel(a, wide, row_a + x) * ac_pixel(b, wide, row_b + x - x0);
            AC_ONE_PAIR_AT_A_TIME(sum);
        }
        line[x0 + r] += sum;
    }
}

RG_HD int ordered(const rg_call *call, int wide) {
    const int64_t *n = call->shape->n, width = n[AC_WIDTH], height = n[AC_HEIGHT], r = n[AC_R];
    const int cross = (n[AC_KIND] & AC_CROSS) != 0;
    const void *a = call->arg[AC_A], *b = cross ? call->arg[AC_B] : a;
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int64_t y0 = cross ? -r : 0; y0 <= r; y0++) {
        int64_t *line = sums + ac_element(r, -r, y0);
        for (int64_t i = 0; i < ac_side(r); i++) line[i] = 0;
        for (int64_t y = ac_first(y0); y < ac_past(height, y0); y++)
            add_line(a, b, y * width, (y - y0) * width, width, r, line, wide);
        for (int64_t x0 = -r; !cross && y0 > 0 && x0 <= r; x0++) sums[ac_element(r, -x0, -y0)] = line[x0 + r];
    }
    return RG_OK;
}

static int ordered_run(rg_call *call) { return call->shape->n[AC_KIND] & AC_16BIT ? ordered(call, 1) : ordered(call, 0); }

// Half the plane and all of row Y0 = 0.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    double across = (double)ac_overlaps(s->n[AC_WIDTH], s->n[AC_R]), down = (double)ac_overlaps(s->n[AC_HEIGHT], s->n[AC_R]);
    c->amount[RG_I32_MAD] = across * (s->n[AC_KIND] & AC_CROSS ? down : (down + (double)s->n[AC_HEIGHT]) / 2);
}

RG_VARIANT(autocorr_ordered) = {
    RG_VARIANT_OF("autocorr", "ordered", RG_NAIVE, RG_HOST,
        "loops in the order of memory (Y0, y, X0, x) and half of the plane by symmetry"),
    .cost = cost,
    .run = ordered_run,
};
