// SPDX-License-Identifier: MIT
// bound.h: how far a right result in single precision may lie from the reference, from error analysis. u = 2^-24.
//
// Places p and the nodes beside them are exact (index.h). What is left, relative to the root mean square of a coefficient:
//     section        FR_SECTION u: products of three weights, 8 to 125 terms, the weights' own errors (fr_sinc: 2u)
//     transform      of N x N: at most 6.7 u log2(N^2) in the 2-norm (Higham 2002, Sect. 24.1), rounding errors of mean zero
//                    about u sqrt(log2 N^2); FR_TRANSFORM u log2(N^2) each is asked
//     shift          phases up to FR_PHASE radians in the inputs that fill.c makes, each off by 2u of that
//     CTF            up to FR_HALF_TURNS half turns, each off by 4u of that
// A correlation C / sqrt(B Q) is off by at most the relative 2-norm of the errors of both its parts (Cauchy and Schwarz). In a
// single ring the errors of the transforms are those of the whole plane, against its own power: the inputs keep every ring
// within FR_RING_SPREAD of the mean.
// Sums: in trees, in double precision or in rings they add less than 8u; one after another in single precision n terms add
// 6 sqrt(n) u but for a chance of 1e-7 (Higham & Mary 2019). `in_order` is that n, 0 for the first kind.
#ifndef RG_FREALIGN_BOUND_H
#define RG_FREALIGN_BOUND_H

#include "index.h"

#define FR_U 0x1p-24
enum { FR_SECTION = 24, FR_TRANSFORM = 2, FR_PHASE = 26, FR_HALF_TURNS = 32, FR_RING_SPREAD = 4 };

RG_HD double fr_log(double points) { return log(points) / 0.69314718055994531; }
RG_HD double fr_transform_error(int64_t side) { return FR_TRANSFORM * FR_U * fr_log((double)side * (double)side); }
RG_HD double fr_sum_error(double in_order) { return (8 + 6 * sqrt(in_order)) * FR_U; }
RG_HD double fr_phase_error(void) { return 2 * FR_U * FR_PHASE; }

RG_HD double fr_score_error(const rg_shape *s, double transforms, double in_order)
{
    return FR_SECTION * FR_U + transforms * fr_transform_error(s->n[FR_SIDE]) + fr_phase_error() + fr_sum_error(in_order);
}

RG_HD rg_tolerance fr_bound_cc3m(const rg_shape *s, double in_order)
{
    const double spread = s->n[FR_KIND] & FR_RINGS ? 2 : 1;
    const rg_tolerance t = {RG_BOUND, spread * fr_score_error(s, 2, in_order), 0,
                            "float rounding of the section, two transforms, shift and sums (bound.h)"};
    return t;
}

RG_HD rg_tolerance fr_bound_presb(const rg_shape *s, double in_order)
{
    const rg_tolerance t = {RG_BOUND, FR_RING_SPREAD * fr_score_error(s, 2, in_order), 0,
                            "float rounding of the section, two transforms, shift and sums, in a weak ring (bound.h)"};
    return t;
}

RG_HD rg_tolerance fr_bound_ccoef(const rg_shape *s, double in_order)
{
    const rg_tolerance t = {RG_BOUND, fr_score_error(s, 2, in_order), 0,
                            "float rounding of the section, a transform of either image, shift and sums (bound.h)"};
    return t;
}

// Moments are at most those of coefficients of magnitude 2 sqrt 2, at half of the whole plane's band each.
RG_HD rg_tolerance fr_bound_sigma2(const rg_shape *s, double in_order)
{
    const double side = (double)s->n[FR_SIDE], outer = (double)s->n[FR_OUTER], e = 2 * fr_score_error(s, 2, in_order);
    const double largest = 8 * 3.15 * outer * outer / (side * side * side * side);
    const rg_tolerance t = {RG_BOUND, e * largest, e,
                            "float rounding of the section, a transform of either image, shift and sums (bound.h)"};
    return t;
}

// cc is at most 2: coefficients with i > 0 count twice in w and once in the norms.
RG_HD rg_tolerance fr_bound_ccp(const rg_shape *s, double in_order)
{
    const double wide = fr_transform_error(FR_PAD_TURN * s->n[FR_SIDE]);
    const rg_tolerance t = {RG_BOUND, 2 * (fr_score_error(s, s->n[FR_KIND] & FR_MASKED ? 3 : 1, in_order) + wide), 0,
                            "float rounding of the section, the padded transform, phases and sums (bound.h)"};
    return t;
}

// At a node the weights of one plane add up to at most 2; a term is at most e |2c| |E| b <= 2 sqrt(2) e (weight[0] <= 1,
// weight[1] r^2 <= 1), and errs by that of the phase, the exponential and six products. in_order: terms a node, 8 of each
// plane.
RG_HD rg_tolerance fr_bound_pinsert(const rg_shape *s)
{
    const double planes = (double)s->n[FR_PARTICLES] * (double)s->n[FR_TRIALS], term = 2 * 2.8284 * 2.7183;
    const double each = fr_phase_error() + 12 * FR_U, sums = fr_sum_error(8 * planes);
    const rg_tolerance t = {RG_BOUND, planes * term * each + (1 + term * sqrt(planes)) * sums, sums,
                            "float rounding of the phase, the weights, and sums in any order (bound.h)"};
    return t;
}

// The images that fill.c makes have coefficients of root mean square below 1.
RG_HD rg_tolerance fr_bound_ctfapply(const rg_shape *s)
{
    const double ctf = 3.1416 * 4 * FR_U * FR_HALF_TURNS,
                 e = 3 * fr_transform_error(s->n[FR_SIDE]) + fr_phase_error() + 2 * ctf;
    const rg_tolerance t = {RG_BOUND, FR_RING_SPREAD * e, e, "float rounding of three transforms, shift and CTF (bound.h)"};
    return t;
}

#endif
