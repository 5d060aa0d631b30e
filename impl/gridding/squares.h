// SPDX-License-Identifier: MIT
// squares.h: the kernel of kernel.h in four multiply-adds, as all variants but the naive ones compute it.
//
//     w = (((t^2 + c)^2 + d)^2 + e)^2 + f, t = A q + B, q = 1 - d^2/b^2.
// A and B replace the factors of such a chain of squares, and t costs no more operations than q: with distances in units of b /
// sqrt(A) it is A + B - d^2. Pairs beyond b have t < B, where w is not above 0, down to t = 0. With t and w clamped to 0, for
// which GPUs have saturating instructions, they add nothing and need no branch.
// The constants minimise the largest error over 0 <= q <= 1, subject to w <= 0 over 0 <= t <= B (sequential quadratic
// programming). Half of it is the jump at q = 0, which this form omits.
#ifndef RG_GRIDDING_SQUARES_H
#define RG_GRIDDING_SQUARES_H

#include "bound.h"

#define GR_SQUARES_A 0.5083404838594788f
#define GR_SQUARES_B 0.2536669162687001f
#define GR_SQUARES_TOP (GR_SQUARES_A + GR_SQUARES_B) // t at d = 0
#define GR_SQUARES_ROOT 0.712980002f                 // sqrt(A)
#define GR_SQUARES_ERROR                                                                                                       \
    6.2e-6 // largest error of gr_squares, clamped; verify/tests/gridding/test_gridding_kernel.c measures 5.8e-6
enum { GR_SQUARES_OPERATIONS = 4 };
#define GR_SQUARES_TERMS                                                                                                       \
    { 0.5872051939651164f, -0.3629510782707576f, -0.0018954385595904885f, -3.594201589741429e-6f } // c to f

// For 0 <= t <= TOP; the caller clamps negative t.
RG_HD float gr_squares(float t) {
    const float c[GR_SQUARES_OPERATIONS] = GR_SQUARES_TERMS;
    for (int i = 0; i < GR_SQUARES_OPERATIONS; i++) t = t * t + c[i];
    return t;
}

// The rounding of q in bound.h, 4u (7.25 S + 0.2 P), applies to t here, and an error of t is 1/A < 2 times as large in q: so
// that term is added once more.
RG_HD rg_tolerance gr_squares_bound(const rg_shape *s) {
    const double b = (double)s->n[GR_RADIUS] / 10, weight = gr_weight_most(b) / gr_pairs_most(b);
    return gr_bound_for(s, GR_SQUARES_ERROR + 4 * 0x1p-24 * (7.25 * weight + 0.2), 0);
}

#endif
