// SPDX-License-Identifier: MIT
// bound.h: error bound of a correct single-precision result relative to the sum of index.h.
//
// u = 2^-24. From one image (and operator) a voxel gets at most P pixels, for which
//     P <= pi (b + 0.7072)^2 (pixels in a disc), sum of w <= S = 1 + 0.405 b^2 (pi b^2 0.1289 is the integral of w over the
//     plane), sum of |dw/dd| <= V = 2.02 b + 4.74/b, since 2 pi b 0.3209 is its integral, and 2.38/b the steepest slope.
// test_gridding_kernel.c measures all three. The errors that add up for W, with m c^2 <= 1:
//     V 8u(k + b + 1)      rotating p or v: 2.5u k or 3.8u k, and up to 3.5u k as a rounded M is not quite orthogonal
//     4u (7.25 S + 0.2 P)  d^2 and q = 1 - d^2/b^2 in float; |dw/dq| <= 7.25 w + 0.2 everywhere
//     P GR_KERNEL_ERROR    the polynomial (or GR_SQUARES_ERROR, GR_RATIONAL_ERROR)
//     8/I0(15)             pairs at the edge, in or out by a rounding error (a lattice has at most 8 symmetric ones)
// for each image and operator, and for their sum of n terms (6 sqrt(n) + 4) u of it: rounding errors of mean zero exceed that
// with a probability of 1e-7 (Higham & Mary 2019; the worst case, n u, would be useless at the origin of a large set).
// The table of 10,000 adds half a step, 0.51e-4, times |dw/dq|: 3.7e-4 of w, and what exceeds 7.25 w, at most 0.21 b^2 + 0.4.
// G has the same errors times |F|, but its terms cancel, so all of them are absolute. fill() keeps |Re F|, |Im F| <=
// GR_LARGEST, which is small, so that one absolute bound serves both.
#ifndef RG_GRIDDING_BOUND_H
#define RG_GRIDDING_BOUND_H

#include "index.h"
#include "kernel.h"

#define GR_LARGEST (1.0 / 32)  // of |Re F| and |Im F| in the inputs that fill() makes
#define GR_TABLE_ERROR 0.51e-4 // of q, half a step of the table and the rounding of its index

RG_HD double gr_pairs_most(double b) { return floor(3.14159265358979 * (b + 0.7072) * (b + 0.7072)) + 1; }
RG_HD double gr_weight_most(double b) { return 1 + 0.405 * b * b; }
RG_HD double gr_slope_most(double b) { return 2.02 * b + 4.74 / b; }
RG_HD double gr_misplaced(double k, double b) { return 8 * 0x1p-24 * (k + b + 1); } // of |v - r|, voxels

// table: 1 if the weights come from the table.
// kernel: the largest error of the weights.
RG_HD rg_tolerance gr_bound_for(const rg_shape *s, double kernel, int table) {
    const double u = 0x1p-24, k = (double)gr_k(s->n[GR_SIDE]), b = (double)s->n[GR_RADIUS] / 10;
    const double samples = (double)s->n[GR_IMAGES] * (double)s->n[GR_OPERATORS];
    const double pairs = gr_pairs_most(b), weight = gr_weight_most(b);
    double each =
        gr_slope_most(b) * gr_misplaced(k, b) + 4 * u * (7.25 * weight + 0.2 * pairs) + pairs * kernel + 8 / GR_I0_ALPHA;
    double relative = (6 * sqrt(samples * pairs) + 4) * u;
    if (table) {
        each += GR_TABLE_ERROR * (0.21 * b * b + 0.4);
        relative += GR_TABLE_ERROR * 7.25;
    }
    const double of_W = samples * each, of_G = GR_LARGEST * samples * (each + weight * relative);
    rg_tolerance t = {RG_BOUND, of_W > of_G ? of_W : of_G, relative,
        table ? "float rounding of r, d^2 and the sum, half a step of the table of 10,000 values (bound.h)"
              : "float rounding of r, d^2, w and the sum (bound.h)"};
    return t;
}

RG_HD rg_tolerance gr_bound(const rg_shape *s, int table) { return gr_bound_for(s, GR_KERNEL_ERROR, table); }

#endif
