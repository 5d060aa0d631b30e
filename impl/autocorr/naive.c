// SPDX-License-Identifier: MIT
// naive.c: the paper's "simple C code" (Sect. 4.1, digest L2), the baseline of every speed-up.
//
// Four nested loops: the offsets Y0, X0 outermost, then y, x over the pixels of the overlap. One pixel pair is multiplied at a
// time, and every offset of the plane is summed, including those that symmetry would give. The paper multiplies floats or ints
// and does not say which; here products of at most 32 bits go into a 64-bit sum, which cannot overflow (algo.c).
#include "scalar.h"

RG_HD int four_loops(const rg_call *call, int wide) {
    const int64_t *n = call->shape->n, width = n[AC_WIDTH], height = n[AC_HEIGHT], r = n[AC_R];
    const void *a = call->arg[AC_A], *b = n[AC_KIND] & AC_CROSS ? call->arg[AC_B] : a;
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    for (int64_t y0 = -r; y0 <= r; y0++) {
        for (int64_t x0 = -r; x0 <= r; x0++) {
            int64_t sum = 0;
            for (int64_t y = ac_first(y0); y < ac_past(height, y0); y++) {
                for (int64_t x = ac_first(x0), end = ac_past(width, x0); x < end; x++) {
                    sum += ac_pixel(a, wide, y * width + x) * ac_pixel(b, wide, (y - y0) * width + (x - x0));
                    AC_ONE_PAIR_AT_A_TIME(sum);
                }
            }
            sums[ac_element(r, x0, y0)] = sum;
        }
    }
    return RG_OK;
}

static int naive_run(rg_call *call) { return call->shape->n[AC_KIND] & AC_16BIT ? four_loops(call, 1) : four_loops(call, 0); }

// The whole plane: every pair of opposite offsets twice, the centre once.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    c->amount[RG_I32_MAD] = (double)ac_overlaps(s->n[AC_WIDTH], s->n[AC_R]) * (double)ac_overlaps(s->n[AC_HEIGHT], s->n[AC_R]);
}

RG_VARIANT(autocorr_naive) = {
    RG_VARIANT_OF("autocorr", "naive", RG_NAIVE, RG_HOST, "four loops in plain C, offsets outermost, one pixel pair at a time"),
    .cost = cost,
    .run = naive_run,
};
