// SPDX-License-Identifier: MIT
// autovec.c: ordered's loops as a compiler vectorises them, on one core or all. Pixels of 8 bits are first copied to 16 bits,
// because compilers know an instruction that adds such products in pairs; a line's sum has 32 bits where it fits.
//
// Bound: the rate of products of 16 bits.
#include "../runtime/cpu.h"
#include "../simd/autovec.h"
#include "index.h"

enum { PART = 1 << 15 }; // this many products of 8 bits fit in 31

RG_HD int64_t dot_8(const int16_t *restrict a, const int16_t *restrict b, int64_t n) {
    int64_t sum = 0;
    for (int64_t from = 0; from < n; from += PART) {
        const int64_t past = from + PART < n ? from + PART : n;
        int32_t part = 0;
        for (int64_t i = from; i < past; i++) part += a[i] * b[i];
        sum += part;
    }
    return sum;
}

RG_HD int64_t dot_16(const uint16_t *restrict a, const uint16_t *restrict b, int64_t n) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (uint32_t)a[i] * b[i];
    return (int64_t)sum;
}

// Row Y0 of the sums of two images of 16 bits and, in an autocorrelation, the opposite row.
RG_HD void autocorr_row(const rg_shape *shape, const uint16_t *a, const uint16_t *b, int64_t y0, int64_t *sums) {
    const int64_t *n = shape->n, width = n[AC_WIDTH], r = n[AC_R];
    int64_t *line = sums + ac_element(r, -r, y0);
    for (int64_t i = 0; i < ac_side(r); i++) line[i] = 0;
    for (int64_t y = ac_first(y0); y < ac_past(n[AC_HEIGHT], y0); y++)
        for (int64_t x0 = -r; x0 <= r; x0++) {
            const int64_t first = ac_first(x0), m = ac_past(width, x0) - first;
            const uint16_t *of_a = a + y * width + first, *of_b = b + (y - y0) * width + first - x0;
            line[x0 + r] +=
                n[AC_KIND] & AC_16BIT ? dot_16(of_a, of_b, m) : dot_8((const int16_t *)of_a, (const int16_t *)of_b, m);
        }
    for (int64_t x0 = -r; !(n[AC_KIND] & AC_CROSS) && y0 > 0 && x0 <= r; x0++) sums[ac_element(r, -x0, -y0)] = line[x0 + r];
}
RG_AUTOVEC(autocorr_row, (const rg_shape *shape, const uint16_t *a, const uint16_t *b, int64_t y0, int64_t *sums),
    (shape, a, b, y0, sums))

static int64_t copied(const rg_shape *s) // pixels
{
    const int64_t *n = s->n;
    return n[AC_KIND] & AC_16BIT ? 0 : n[AC_WIDTH] * n[AC_HEIGHT] * (n[AC_KIND] & AC_CROSS ? 2 : 1);
}

static size_t scratch(const rg_shape *s, const int64_t *param) { return (void)param, (size_t)copied(s) * sizeof(int16_t); }

static int run(rg_call *call) {
    const rg_shape *s = call->shape;
    const int64_t pixels = s->n[AC_WIDTH] * s->n[AC_HEIGHT], r = s->n[AC_R], cross = s->n[AC_KIND] & AC_CROSS;
    const uint16_t *image[2] = {(const uint16_t *)call->arg[AC_A], (const uint16_t *)call->arg[cross ? AC_B : AC_A]};
    uint16_t *copy = (uint16_t *)call->scratch;
    if (!(s->n[AC_KIND] & AC_16BIT)) {
        for (int64_t i = 0; i < pixels; i++) copy[i] = ((const uint8_t *)image[0])[i];
        for (int64_t i = 0; cross && i < pixels; i++) copy[pixels + i] = ((const uint8_t *)image[1])[i];
        image[0] = copy;
        image[1] = cross ? copy + pixels : copy;
    }
    autocorr_row_fn *row = autocorr_row_for(rg_cpu_has(RG_AUTOVEC_WIDE));
#pragma omp parallel for num_threads(call->threads) schedule(dynamic)
    for (int64_t y0 = cross ? -r : 0; y0 <= r; y0++) row(s, image[0], image[1], y0, (int64_t *)call->arg[AC_SUMS]);
    return RG_OK;
}

// Half the plane and all of row Y0 = 0.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    double across = (double)ac_overlaps(s->n[AC_WIDTH], s->n[AC_R]), down = (double)ac_overlaps(s->n[AC_HEIGHT], s->n[AC_R]);
    c->amount[RG_I16_MAD] = across * (s->n[AC_KIND] & AC_CROSS ? down : (down + (double)s->n[AC_HEIGHT]) / 2);
}

RG_VARIANT(autocorr_autovec) = {
    RG_VARIANT_OF(
        "autocorr", "autovec", RG_SIMD, RG_HOST, "ordered as a compiler vectorises it, no intrinsics; any number of cores"),
    .needs = RG_AUTOVEC_NEEDS,
    .flags = RG_THREADED,
    .scratch = scratch,
    .cost = cost,
    .run = run,
};
