// SPDX-License-Identifier: MIT
// scalar.h: shared by the two plain C variants, naive and ordered: a pixel of either depth, and a block on vectorisation.
#ifndef RG_AUTOCORR_SCALAR_H
#define RG_AUTOCORR_SCALAR_H

#include "index.h"

// Passes the running sum through an empty assembly statement, and so through one scalar register, for every pixel pair. GCC and
// Clang do not vectorise a loop that contains one, at any -O and without per-file flags. (GCC's optimize attribute is for
// debugging only; Clang has no pragma against its straight-line vectoriser.) It adds no instruction; test_naive_scalar.c
// checks that.
#define AC_ONE_PAIR_AT_A_TIME(sum) __asm__ volatile("" : "+r"(sum))

RG_HD uint32_t ac_pixel(const void *image, int wide, int64_t i) {
    return wide ? ((const uint16_t *)image)[i] : ((const uint8_t *)image)[i];
}

#endif
