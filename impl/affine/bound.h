// SPDX-License-Identifier: MIT
// bound.h: error bounds of correct single-precision results relative to index.h, for fill()'s inputs, where |I|, |R| <= 1.
//
// u = 2^-24. A row of M and t, with |M| <= 2 and p - c at most half a side: two (three) products and as many sums misplace s by
// at most af_misplaced = 3u (w + h + d + 1) along an axis. Interpolation is continuous, has slope at most 2 along each axis,
// and has 3 roundings an axis itself. For a pixel of I'
//     |error| <= 2 dims (af_misplaced + fraction) + 4u dims,   fraction: the rounding of shares in the variant.
// Texture units have shares of 9 bits, 8 after the point (CUDA programming guide, "Linear filtering"). The guide does not say
// how they are rounded, and an H200 exceeds the bound of rounding to nearest, 1/512 (0.0104 instead of 0.0078 for a pixel): so
// fraction is 1/256. The correlation of n pixels moves by at most 2 |e| / (sigma sqrt n), e the vector of their errors
// (Cauchy). The inputs have slopes of 1.5 sigma a pixel in the mean square, and interpolation divides the sigma of I' by at
// most sqrt(2^dims). The roundings of bright inputs (a spread of 1/64 about 1, sigma > 1/400) have mean zero: 400 of 4u dims
// each, exceeding 6 / sqrt n of that with a probability of 1e-8.
#ifndef RG_AFFINE_BOUND_H
#define RG_AFFINE_BOUND_H

#include "index.h"

#define AF_BRIGHT 64.0 // bright inputs lie in 1 - 2/AF_BRIGHT .. 1
#define AF_TEXTURE_FRACTION (1.0 / 256)

RG_HD double af_misplaced(const af_size *z) { return 3 * 0x1p-24 * (double)(z->w + z->h + z->d + 1); }

RG_HD rg_tolerance af_pixel_bound(const af_size *z, double fraction) {
    const double u = 0x1p-24, dims = z->dims;
    const rg_tolerance t = {RG_BOUND, 2 * dims * (af_misplaced(z) + fraction) + 4 * u * dims, 0,
        fraction > 0 ? "shares in 1/256 and float rounding of s, times the slope (bound.h)"
                     : "float rounding of s times the slope, and of the interpolation (bound.h)"};
    return t;
}

// rounding: further relative error of the sums, times the largest (mean / sigma)^2 if they are raw. The relative part is only
// for the number of pixels: rounding moves some pixels of a large image's rim across its border.
RG_HD rg_tolerance af_rho_bound(const af_size *z, double fraction, double rounding) {
    const double u = 0x1p-24, dims = z->dims, misplaced = af_misplaced(z) + fraction;
    const double pixels = (double)z->w * z->h * z->d,
                 rim = 2 * pixels * (1.0 / z->w + 1.0 / z->h + (z->dims == 3 ? 1.0 / z->d : 0));
    const double slope = 1.5 * sqrt(dims) * (z->dims == 3 ? 2.83 : 2);
    const double bright = 400 * 4 * u * dims * (pixels > 36 ? 6 / sqrt(pixels) : 1);
    const rg_tolerance t = {RG_BOUND, 2 * slope * misplaced + 2 * bright + rounding,
        pixels > 1e6 ? 4 * rim * misplaced / pixels : 0,
        fraction > 0 ? "errors of I' by shares in 1/256 over its spread (bound.h)"
                     : "errors of I' by float rounding of s over its spread (bound.h)"};
    return t;
}

#endif
