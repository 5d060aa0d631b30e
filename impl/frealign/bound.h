// SPDX-License-Identifier: MIT
// bound.h: how far a correct single-precision result may be from the reference, by error analysis. u = 2^-24.
//
// Positions p and the nodes next to them are exact (index.h). The other errors, relative to the root mean square of a
// coefficient:
//     section        FR_SECTION u: products of three weights, 8 to 125 terms, the weights' own errors (fr_sinc: 2u)
//     transform      of N x N: at most 6.7 u log2(N^2) in the 2-norm (Higham 2002, Sect. 24.1), rounding errors of mean zero
//                    about u sqrt(log2 N^2); FR_TRANSFORM u log2(N^2) each is required
//     shift          phases up to FR_PHASE radians in the inputs that fill.c makes, each off by 2u of that
//     CTF            up to FR_HALF_TURNS half turns, each off by 4u of that
// A correlation C / sqrt(B Q) is off by at most the relative 2-norm of the errors of both its parts (Cauchy and Schwarz). In a
// single ring the errors of the transforms are those of the whole plane, relative to the ring's own power: the inputs keep
// every ring within FR_RING_SPREAD of the mean.
// Sums: in trees, in double precision or in rings they add less than 8u; one after another in single precision, n terms add at
// most 6 sqrt(n) u, except with probability 1e-7 (Higham & Mary 2019). `in_order` is that n, 0 for the first kind.
#ifndef RG_FREALIGN_BOUND_H
#define RG_FREALIGN_BOUND_H

#include "index.h"

#define FR_U 0x1p-24
enum { FR_SECTION = 24, FR_TRANSFORM = 2, FR_PHASE = 26, FR_HALF_TURNS = 32, FR_RING_SPREAD = 4 };

RG_HD double fr_log(double points) { return log(points) / 0.69314718055994531; }
RG_HD double fr_transform_error(int64_t side) { return FR_TRANSFORM * FR_U * fr_log((double)side * (double)side); }
RG_HD double fr_sum_error(double in_order) { return (8 + 6 * sqrt(in_order)) * FR_U; }
RG_HD double fr_phase_error(void) { return 2 * FR_U * FR_PHASE; }

RG_HD double fr_score_error(const rg_shape *s, double transforms, double in_order) {
    return FR_SECTION * FR_U + transforms * fr_transform_error(s->n[FR_SIDE]) + fr_phase_error() + fr_sum_error(in_order);
}

#endif
