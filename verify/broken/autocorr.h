// SPDX-License-Identifier: MIT
// autocorr.h: shared by the wrong kernels of `autocorr`: right sums to spoil, and their descriptors.
#pragma once

#include "../../impl/autocorr/index.h"
#include "plugin.h"

typedef struct photos {
    int64_t width, height, r;
    const void *a, *b;
    int sixteen_bit;
} photos;

RG_HD photos photos_of(const rg_shape *s, void *const *arg) {
    photos p = {s->n[AC_WIDTH], s->n[AC_HEIGHT], s->n[AC_R], arg[AC_A], s->n[AC_KIND] & AC_CROSS ? arg[AC_B] : arg[AC_A],
        (s->n[AC_KIND] & AC_16BIT) != 0};
    return p;
}

RG_HD int64_t pixel_at(const void *photo, int sixteen_bit, int64_t i) {
    return sixteen_bit ? ((const uint16_t *)photo)[i] : ((const uint8_t *)photo)[i];
}

// Adds the products of row y of a, columns [first, past), at one offset; rows and columns without a partner add nothing.
RG_HD int64_t row_sum(const photos p, int64_t x0, int64_t y0, int64_t y, int64_t first, int64_t past) {
    int64_t sum = 0;
    if (y - y0 < 0 || y - y0 >= p.height) return 0;
    for (int64_t x = first > ac_first(x0) ? first : ac_first(x0); x < past && x < ac_past(p.width, x0); x++)
        sum += pixel_at(p.a, p.sixteen_bit, y * p.width + x) * pixel_at(p.b, p.sixteen_bit, (y - y0) * p.width + x - x0);
    return sum;
}

// S(X0, Y0), right.
RG_HD int64_t right_sum(const photos p, int64_t x0, int64_t y0) {
    int64_t sum = 0;
    for (int64_t y = 0; y < p.height; y++) sum += row_sum(p, x0, y0, y, 0, p.width);
    return sum;
}

RG_HD int64_t right_element(const photos p, int64_t element) { return right_sum(p, ac_x0(p.r, element), ac_y0(p.r, element)); }

RG_HD int64_t elements_of(const photos p) { return ac_side(p.r) * ac_side(p.r); }

RG_HD void right_sums(const photos p, int64_t *sums) {
    for (int64_t e = 0; e < elements_of(p); e++) sums[e] = right_element(p, e);
}

// RUN(name, idea, fields...) { ... } defines the variant and its run().
#define RUN(NAME, IDEA, ...)                                                                                                   \
    static int NAME##_run(rg_call *call);                                                                                      \
    BROKEN("autocorr", NAME, IDEA, .run = NAME##_run, __VA_ARGS__);                                                            \
    static int NAME##_run(rg_call *call)

// SUMS(name, idea, fields...) { ... } defines a run() that computes the sums of the photographs p.
#define SUMS(NAME, IDEA, ...)                                                                                                  \
    static void compute_##NAME(const photos p, int64_t *sums);                                                                 \
    RUN(NAME, IDEA, __VA_ARGS__) {                                                                                             \
        compute_##NAME(photos_of(call->shape, call->arg), (int64_t *)call->arg[AC_SUMS]);                                      \
        return RG_OK;                                                                                                          \
    }                                                                                                                          \
    static void compute_##NAME(const photos p, int64_t *sums)
