// SPDX-License-Identifier: MIT
// broken.h: what the kernels that are wrong on purpose share: a right autocorrelation to spoil, and the descriptor.
//
// Each file is a plug-in with one variant of `autocorr` named like the file. expected.tsv says with which status, and with
// which word in the reason, `regather verify` has to catch it.
#ifndef RG_BROKEN_H
#define RG_BROKEN_H

#include "../../impl/autocorr/index.h"

typedef struct photos {
    int64_t width, height, r;
    const void *a, *b;
    int sixteen_bit;
} photos;

RG_HD photos photos_of(const rg_shape *s, void *const *arg)
{
    photos p = {s->n[AC_WIDTH], s->n[AC_HEIGHT], s->n[AC_R], arg[AC_A], s->n[AC_KIND] & AC_CROSS ? arg[AC_B] : arg[AC_A],
                (s->n[AC_KIND] & AC_16BIT) != 0};
    return p;
}

RG_HD int64_t pixel_at(const void *photo, int sixteen_bit, int64_t i)
{
    return sixteen_bit ? ((const uint16_t *)photo)[i] : ((const uint8_t *)photo)[i];
}

// The products of row y of a, columns [first, past), at one offset; rows and columns without a partner give nothing.
RG_HD int64_t row_sum(const photos p, int64_t x0, int64_t y0, int64_t y, int64_t first, int64_t past)
{
    int64_t sum = 0;
    if (y - y0 < 0 || y - y0 >= p.height)
        return 0;
    for (int64_t x = first > ac_first(x0) ? first : ac_first(x0); x < past && x < ac_past(p.width, x0); x++)
        sum += pixel_at(p.a, p.sixteen_bit, y * p.width + x) * pixel_at(p.b, p.sixteen_bit, (y - y0) * p.width + x - x0);
    return sum;
}

// S(X0, Y0), right.
RG_HD int64_t right_sum(const photos p, int64_t x0, int64_t y0)
{
    int64_t sum = 0;
    for (int64_t y = 0; y < p.height; y++)
        sum += row_sum(p, x0, y0, y, 0, p.width);
    return sum;
}

RG_HD int64_t right_element(const photos p, int64_t element)
{
    return right_sum(p, ac_x0(p.r, element), ac_y0(p.r, element));
}

RG_HD int64_t elements_of(const photos p) { return ac_side(p.r) * ac_side(p.r); }

// The descriptor and the plug-in's one symbol; further fields, ending in .run (and .finish), follow in their order.
#define BROKEN(NAME, SPACE, ...)                                                                                        \
    static const rg_variant broken = {.abi = RG_ABI, .bytes = sizeof(rg_variant), .algo = "autocorr", .name = NAME,     \
                                      .idea = "wrong on purpose", .role = RG_OTHER, .space = SPACE, .needs = "", __VA_ARGS__}; \
    RG_PLUGIN = {&broken, NULL}

#endif
