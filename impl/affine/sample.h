// SPDX-License-Identifier: MIT
// sample.h: one pixel of I', in plain C for host and device: where index.h puts it, by the rule outside, from memory.
#ifndef RG_AFFINE_SAMPLE_H
#define RG_AFFINE_SAMPLE_H

#include "index.h"

RG_HD float af_between(float a, float b, float share) { return share * (b - a) + a; }

RG_HD int af_floor(float s)
{
#ifdef __CUDA_ARCH__
    return __float2int_rd(s);
#else
    const int whole = (int)s; // floorf is a call on a plain x86-64
    return whole - (s < (float)whole);
#endif
}

// The two neighbours of s along one axis, as indices, and the share of the second.
typedef struct af_pair {
    int first, second;
    float share;
} af_pair;

// s from the centre, within low - 1 .. high + 1: the neighbours may lie one outside.
RG_HD af_pair af_pair_at(float s, int side)
{
    const int whole = af_floor(s), first = whole + af_centre(side);
    const af_pair p = {first, first + 1, s - (float)whole};
    return p;
}

// The same for s anywhere, clamped (NaN: to the low end).
RG_HD af_pair af_pair_clamped(float s, int side)
{
    const float low = af_low(side), high = af_high(side);
    af_pair p = af_pair_at(!(s >= low) ? low : s > high ? high : s, side);
    if (p.second > side - 1) p.second = side - 1;
    return p;
}

RG_HD int af_reaches(float s, int side) { return s > af_low(side) - 1 && s < af_high(side) + 1; } // rule 0: else it is 0

RG_HD float af_at_2d(const float *image, int w, int h, int x, int y)
{
    return x >= 0 && x < w && y >= 0 && y < h ? image[(int64_t)y * w + x] : 0;
}
RG_HD float af_at_3d(const float *image, int w, int h, int d, int x, int y, int z)
{
    return z >= 0 && z < d ? af_at_2d(image + (int64_t)z * w * h, w, h, x, y) : 0;
}

// Value at (x, y) from the centre; *takes_part only changes under rule 2.
RG_HD float af_sample_2d(const float *image, int w, int h, int outside, float x, float y, int *takes_part)
{
    *takes_part = outside != AF_IGNORE || (af_inside(x, af_low(w), af_high(w)) && af_inside(y, af_low(h), af_high(h)));
    if (!*takes_part || (outside == AF_ZERO && !(af_reaches(x, w) && af_reaches(y, h)))) return 0;
    if (outside == AF_ZERO) {
        const af_pair i = af_pair_at(x, w), j = af_pair_at(y, h);
        return af_between(
            af_between(af_at_2d(image, w, h, i.first, j.first), af_at_2d(image, w, h, i.second, j.first), i.share),
            af_between(af_at_2d(image, w, h, i.first, j.second), af_at_2d(image, w, h, i.second, j.second), i.share), j.share);
    }
    const af_pair i = af_pair_clamped(x, w), j = af_pair_clamped(y, h);
    const float *above = image + (int64_t)j.first * w, *below = image + (int64_t)j.second * w;
    return af_between(af_between(above[i.first], above[i.second], i.share),
                      af_between(below[i.first], below[i.second], i.share), j.share);
}

RG_HD float af_sample_3d(const float *image, int w, int h, int d, int outside, float x, float y, float z, int *takes_part)
{
    *takes_part = outside != AF_IGNORE || (af_inside(x, af_low(w), af_high(w)) && af_inside(y, af_low(h), af_high(h)) &&
                                           af_inside(z, af_low(d), af_high(d)));
    if (!*takes_part || (outside == AF_ZERO && !(af_reaches(x, w) && af_reaches(y, h) && af_reaches(z, d)))) return 0;
    const int zero = outside == AF_ZERO;
    const af_pair i = zero ? af_pair_at(x, w) : af_pair_clamped(x, w), j = zero ? af_pair_at(y, h) : af_pair_clamped(y, h);
    const af_pair k = zero ? af_pair_at(z, d) : af_pair_clamped(z, d);
    float plane[2];
    for (int b = 0; b < 2; b++) {
        const int zz = b ? k.second : k.first;
        const float *at = image;
        plane[b] = af_between(
            af_between(af_at_3d(at, w, h, d, i.first, j.first, zz), af_at_3d(at, w, h, d, i.second, j.first, zz), i.share),
            af_between(af_at_3d(at, w, h, d, i.first, j.second, zz), af_at_3d(at, w, h, d, i.second, j.second, zz), i.share),
            j.share);
    }
    return af_between(plane[0], plane[1], k.share);
}

#endif
