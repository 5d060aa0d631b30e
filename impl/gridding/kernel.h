// SPDX-License-Identifier: MIT
// kernel.h: the Kaiser-Bessel kernel of order 0 with alpha = 15 (Lewitt 1990; Strelak et al. 2019, Sect. 3.2), and its
// transform.
//
//     w(d) = I0(alpha sqrt(1 - d^2/b^2)) / I0(alpha) for d <= b, else 0.
// It depends on u = d^2/b^2 alone, so the table and the polynomial are independent of b, and no square root is needed. At u = 1
// it jumps to 0 from 1/I0(15) = 2.9e-6, the largest effect of a rounding error that moves a pair across the edge.
//
// Three forms, and a fourth in squares.h. gr_kernel: the square of a polynomial of degree 7 in q = 1 - d^2/b^2, the minimax of
// w for that form (Remez exchange at 40 digits), with an error of 1.3e-7, after rounding less than GR_KERNEL_ERROR; without the
// square, the same error needs degree 10. gr_rational: the paper's form, a rational minimax of I0 with a numerator of degree 4
// (Blair & Edwards 1974, after Strelak et al. 2019, Sect. 3.2). Numerator in q, denominator in u: all coefficients are positive
// and nothing cancels; nine multiply-adds and a division, with an error of 1.6e-6. gr_table: the nearest of the paper's and
// Xmipp's 10,000 values, uniform in d^2: the error is at most half a step, 3.6e-4 at u = 0, where the kernel is steepest.
#ifndef RG_GRIDDING_KERNEL_H
#define RG_GRIDDING_KERNEL_H

#include "../suite.h"
#include <math.h>

#define GR_ALPHA 15.0
#define GR_I0_ALPHA 339649.373297913880 // I0(15)
#define GR_KERNEL_ERROR 4e-7            // largest error of gr_kernel; test_gridding_kernel.c measures 3e-7
enum { GR_DEGREE = 7, GR_KERNEL_MADS = GR_DEGREE + 1, GR_TABLE = 10000 };

// Coefficients of the root of gr_kernel from q^0 to q^7.
#define GR_KERNEL_TERMS                                                                                                        \
    {                                                                                                                          \
        1.749946272e-03f, 4.439561485e-02f, 1.424418769e-01f, 3.574400602e-01f, 1.130735763e-01f, 3.415237388e-01f,            \
            -6.563007846e-02f, 6.500533222e-02f                                                                                \
    }

// w at q = 1 - d^2/b^2 for 0 <= q <= 1. The caller excludes q < 0, where the value is finite but meaningless.
RG_HD float gr_kernel(float q) {
    const float c[GR_DEGREE + 1] = GR_KERNEL_TERMS;
    float root = c[GR_DEGREE];
    for (int i = GR_DEGREE - 1; i >= 0; i--) root = root * q + c[i];
    return root * root;
}

// The same as P(q) / Q(1 - q), the minimax over 0 <= q <= 1 of the absolute error (Remez exchange at 40 digits).
#define GR_RATIONAL_ERROR 1.8e-6 // largest error of gr_rational; test_gridding_kernel.c measures 1.7e-6
enum { GR_RATIONAL_MADS = 10 };  // the division counted as one
RG_HD float gr_rational(float q) {
    const float u = 1 - q;
    const float p = (((0.9188676822f * q + 3.268013856e-4f) * q + 0.07988571702f) * q + 8.189411891e-4f) * q + 9.931860931e-5f;
    return p / ((((5.819094115f * u + 6.118048033f) * u + 5.805216422f) * u + 3.408035668f) * u + 1);
}

// Modified Bessel function of the first kind, order 0. All terms of its series are positive, so the sum is accurate to
// rounding.
RG_HD double gr_i0(double x) {
    double term = 1, sum = 1;
    for (int n = 1; term > 1e-17 * sum; n++) {
        term *= x * x / 4 / ((double)n * n);
        sum += term;
    }
    return sum;
}

// w in double precision at u = d^2/b^2.
RG_HD double gr_kernel_exact(double u) { return u > 1 ? 0 : gr_i0(GR_ALPHA * sqrt(1 - u)) / GR_I0_ALPHA; }

// The value of table element i, and the element nearest to u = d^2/b^2, 0 <= u <= 1.
RG_HD float gr_table_value(int i) { return (float)gr_kernel_exact(i / (GR_TABLE - 1.0)); }
RG_HD int gr_table_index(float u) { return (int)(u * (GR_TABLE - 1.0f) + 0.5f); }
RG_HD void gr_table_fill(float *table) {
    for (int i = 0; i < GR_TABLE; i++) table[i] = gr_table_value(i);
}

// The 3-D Fourier transform of w(|v|) at R: integral of w(|v|) cos(2 pi R.v) d3v = 4 pi b^3/I0(alpha) (cosh z - sinh z/z)/z^2
// with z^2 = alpha^2 - (2 pi b R)^2 (Lewitt 1990, eq. A3 for three dimensions; trigonometric where z^2 < 0). b in voxels, R in
// cycles a voxel: a map of N voxels a side whose transform was gridded is divided by gr_transform(b, x/N)/gr_transform(b, 0).
RG_HD double gr_transform(double b, double R) {
    const double pi = 3.14159265358979323846, t = 2 * pi * b * R, zz = GR_ALPHA * GR_ALPHA - t * t, z = sqrt(fabs(zz));
    double shape = 1.0 / 3 + zz / 30; // its series about z = 0, to zz^2/840
    if (zz > 1e-4) shape = (cosh(z) - sinh(z) / z) / zz;
    if (zz < -1e-4) shape = (sin(z) / z - cos(z)) / -zz;
    return 4 * pi * b * b * b / GR_I0_ALPHA * shape;
}

#endif
