// SPDX-License-Identifier: MIT
// sums.h: the sums for Pearson's correlation, about a typical value of each image, and the correlation from them.
//
// Eq. 2 as printed subtracts two large numbers if the image is bright: its relative error is that of the sums times (mean /
// sigma)^2. About a value within a fraction of sigma of the mean the differences lose nothing. That value is the mean of
// AF_SAMPLE pixels spread over the image; any value would be right, only less accurate.
#ifndef RG_AFFINE_SUMS_H
#define RG_AFFINE_SUMS_H

#include "index.h"

enum { AF_SAMPLE = 64 };

typedef struct af_sums { // a = I' - typical of I, b = R - typical of R
    double n, a, b, aa, bb, ab;
} af_sums;

// Element i of the sample, i = 0 .. AF_SAMPLE - 1.
RG_HD int64_t af_sample_at(int64_t pixels, int i) { return (2 * i + 1) * pixels / (2 * AF_SAMPLE); }

RG_HD float af_typical(const float *image, int64_t pixels) {
    double sum = 0;
    for (int i = 0; i < AF_SAMPLE; i++) sum += image[af_sample_at(pixels, i)];
    return (float)(sum / AF_SAMPLE);
}

RG_HD void af_add(af_sums *to, double a, double b) {
    to->n += 1;
    to->a += a;
    to->b += b;
    to->aa += a * a;
    to->bb += b * b;
    to->ab += a * b;
}

RG_HD void af_join(af_sums *to, const af_sums *from) {
    to->n += from->n;
    to->a += from->a;
    to->b += from->b;
    to->aa += from->aa;
    to->bb += from->bb;
    to->ab += from->ab;
}

// Whether n values of sum s and sum of squares ss about `typical` vary at all. Below 1e-5 of their mean square, a variance may
// be the rounding of a constant in single-precision sums; below 1e-12 of the raw mean square, that of its interpolation.
RG_HD int af_varies(double n, double s, double ss, double typical) {
    const double variance = ss - s * s / n;
    return variance > 1e-5 * ss && variance > 1e-12 * (ss + 2 * typical * s + n * typical * typical);
}

RG_HD double af_rho(const af_sums *s, float typical_a, float typical_b) {
    if (!(s->n >= 2) || !af_varies(s->n, s->a, s->aa, typical_a) || !af_varies(s->n, s->b, s->bb, typical_b)) return 0;
    const double rho = (s->ab - s->a * s->b / s->n) / sqrt((s->aa - s->a * s->a / s->n) * (s->bb - s->b * s->b / s->n));
    return rho > 1 ? 1 : rho < -1 ? -1 : rho;
}

#endif
