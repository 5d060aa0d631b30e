// SPDX-License-Identifier: MIT
// index.h: the definition of the algorithm `autocorr`, and all of its index arithmetic.
//
// Two photographs a and b of width x height pixels (for an autocorrelation b is a) and a largest offset R give, after eq. 1 of
// Lu et al. 2009 without its normalisation,
//     S(X0, Y0) = sum over x, y of a(x, y) b(x - X0, y - Y0)      for -R <= X0, Y0 <= R,
// summed over the pixels where both factors exist: 0 <= x, x - X0 < width and 0 <= y, y - Y0 < height. Every product is an
// integer, so every sum is an exact 64-bit integer. S(X0, Y0) = S(-X0, -Y0) when b is a. C2D = S / S(0, 0).
//
// Shape: n[0] width, n[1] height, n[2] R (0 <= R < max(width, height)), n[3] kind: bit 0 set if b is another photograph, bit 1
// set for 16-bit pixels. Arguments: a (IN, width*height, row by row), b (IN, the same count; 0 elements if kind bit 0 is clear:
// the kernel then reads a twice), sums (OUT, int64, (2R+1)^2: row Y0 + R, column X0 + R).
#ifndef RG_AUTOCORR_INDEX_H
#define RG_AUTOCORR_INDEX_H

#include "../suite.h"

enum { AC_WIDTH, AC_HEIGHT, AC_R, AC_KIND };
enum { AC_A, AC_B, AC_SUMS };
enum { AC_CROSS = 1, AC_16BIT = 2 };

RG_HD int64_t ac_side(int64_t r) { return 2 * r + 1; }

// Offset -> element of sums, and back.
RG_HD int64_t ac_element(int64_t r, int64_t x0, int64_t y0) { return (y0 + r) * ac_side(r) + (x0 + r); }
RG_HD int64_t ac_x0(int64_t r, int64_t element) { return element % ac_side(r) - r; }
RG_HD int64_t ac_y0(int64_t r, int64_t element) { return element / ac_side(r) - r; }

// The element of the opposite offset, whose sum is equal in an autocorrelation.
RG_HD int64_t ac_mirror(int64_t r, int64_t element) { return ac_side(r) * ac_side(r) - 1 - element; }

// First and past-the-last x (or y) of a for which both factors exist at offset d along a side of n pixels.
RG_HD int64_t ac_first(int64_t d) { return d > 0 ? d : 0; }
RG_HD int64_t ac_past(int64_t n, int64_t d) {
    int64_t past = d < 0 ? n + d : n;
    return past > ac_first(d) ? past : ac_first(d);
}

// Sum over all offsets |d| <= r of the overlap max(0, n - |d|) of a side of n pixels.
RG_HD int64_t ac_overlaps(int64_t n, int64_t r) {
    int64_t far = r < n - 1 ? r : n - 1;
    return n + 2 * far * n - far * (far + 1);
}

#endif
