// SPDX-License-Identifier: MIT
// index.h: the definition of the algorithms `affine2d`, `align2d` and `align3d`, and all of their index arithmetic (Garcia et
// al. 2014).
//
// An image (or volume) I is transformed by inverse mapping: the pixel p of the result I' lies in I at
//     s(p) = c + M (p - c) + t,    c = (floor(w/2), floor(h/2)[, floor(d/2)]),
// and I'(p) is I at s by linear interpolation of its 4 (8) neighbours. Pixels have integer coordinates x = 0 .. w-1 and so on.
// M and t are the paper's A^-1: the map of the result into the input. In DESIGN's `align`, a feature at p of image i is at
// c + scale Rot(a)(p - c) + shift in image i-1; M = Rot(-a) / scale, t = -M shift (af_matrix_2d) brings image i onto image i-1.
//
// Outside. The paper does not define the pixels outside the image; textures addressed in pixels, which it used, have two rules,
// here 0 and 1. 0 `zero`: they are 0, so the border blends into 0 over one pixel. 1 `edge`: s is clamped to the image. 2
// `ignore`: a pixel takes no part if s lies more than AF_MARGIN outside; I'(p) is 0 there and the correlation omits it;
// elsewhere s is clamped as in 1. The margin ensures that rounding cuts nothing off at the border for a map of lattice points
// onto lattice points (no turn, quarter turns, whole shifts).
//
// align2d, align3d: Pearson's correlation of I' with a reference R of the same size, over all pixels (rules 0 and 1) or those
// that take part (2): eq. 2 without its factors N/(N-1), which would make the correlation of an image with itself 1 - 1/N. It
// is 0 where it is undefined: fewer than two pixels, or an image that is constant over them within single precision (sums.h).
//
// Shape, 2-D: n[0] w, n[1] h, n[2] m transforms, n[3] o, the rule outside (0, 1, 2), n[4] t, the kind of transforms: 0 random,
// from the seed; 1 .. 361 all the rotation by t - 181 degrees. 3-D: n[0] w, n[1] h, n[2] d, n[3] m, n[4] o, n[5] t: 0 as
// before, 1 + 361 axis + 180 + degrees about z (axis 0), y (1) or x (2).
// Arguments (float32 unless said): image (IN, z slowest, x fastest); align: reference (IN, the same); matrix (IN, m times the
// rows of [M | t], so 6 or 12 numbers); affine2d: transformed (OUT, m images); align: rho (OUT, float64, m), pixels (OUT,
// int32, m: how many took part).
#ifndef RG_AFFINE_INDEX_H
#define RG_AFFINE_INDEX_H

#include "../suite.h"
#include <math.h>

enum { AF2_WIDTH, AF2_HEIGHT, AF2_TRANSFORMS, AF2_OUTSIDE, AF2_TURN };
enum { AF3_WIDTH, AF3_HEIGHT, AF3_DEPTH, AF3_TRANSFORMS, AF3_OUTSIDE, AF3_TURN };
enum { AF_IMAGE, AF_MATRIX, AF_TRANSFORMED };                  // arguments of affine2d
enum { AL_IMAGE, AL_REFERENCE, AL_MATRIX, AL_RHO, AL_PIXELS }; // of align2d and align3d
enum { AF_ZERO, AF_EDGE, AF_IGNORE };
enum { AF_SIDE_MAX = 16384 }; // a float still resolves s to 1e-3 of a pixel
#define AF_MARGIN 0.015625f   // 1/64 pixel

// Both shapes in one: an image is a volume of depth 1.
typedef struct af_size {
    int w, h, d, dims, outside;
    int64_t transforms, turn;
} af_size;

RG_HD af_size af_size_2d(const rg_shape *s) {
    const int64_t *n = s->n;
    const af_size z = {(int)n[AF2_WIDTH], (int)n[AF2_HEIGHT], 1, 2, (int)n[AF2_OUTSIDE], n[AF2_TRANSFORMS], n[AF2_TURN]};
    return z;
}
RG_HD af_size af_size_3d(const rg_shape *s) {
    const int64_t *n = s->n;
    const af_size z = {
        (int)n[AF3_WIDTH], (int)n[AF3_HEIGHT], (int)n[AF3_DEPTH], 3, (int)n[AF3_OUTSIDE], n[AF3_TRANSFORMS], n[AF3_TURN]};
    return z;
}

RG_HD int64_t af_pixels(const af_size *z) { return (int64_t)z->w * z->h * z->d; }
RG_HD int64_t af_pixel(const af_size *z, int64_t x, int64_t y, int64_t zz) { return (zz * z->h + y) * z->w + x; }
RG_HD int64_t af_pixel_x(const af_size *z, int64_t element) { return element % z->w; }
RG_HD int64_t af_pixel_y(const af_size *z, int64_t element) { return element / z->w % z->h; }
RG_HD int64_t af_pixel_z(const af_size *z, int64_t element) { return element / z->w / z->h; }
RG_HD int af_centre(int side) { return side / 2; }
RG_HD int af_numbers(int dims) { return dims * (dims + 1); } // of one transform

// ---- one axis, in coordinates from the centre ----------------------------------------------------------------------------
// Variants compute s - c: it is smaller than s, so it has a smaller rounding error, and it has the same fraction.

RG_HD float af_low(int side) { return (float)-af_centre(side); }
RG_HD float af_high(int side) { return (float)(side - 1 - af_centre(side)); }

// M (p - c) + t of one row of the matrix; x, y, z from the centre.
RG_HD float af_row_2d(const float *row, float x, float y) { return row[0] * x + (row[1] * y + row[2]); }
RG_HD float af_row_3d(const float *row, float x, float y, float z) { return row[0] * x + (row[1] * y + (row[2] * z + row[3])); }

// Whether s takes part under rule 2; false for NaN.
RG_HD int af_inside(float s, float low, float high) { return s >= low - AF_MARGIN && s <= high + AF_MARGIN; }

// ---- matrices ------------------------------------------------------------------------------------------------------------

// The transform that brings image i onto image i-1: [M | t] with M = Rot(-a) / scale, t = -M shift (above).
RG_HD void af_matrix_2d(double angle_rad, const double shift_px[2], double scale, float m[6]) {
    const double c = cos(angle_rad) / scale, s = sin(angle_rad) / scale;
    m[0] = (float)c;
    m[1] = (float)s;
    m[2] = (float)-(c * shift_px[0] + s * shift_px[1]);
    m[3] = (float)-s;
    m[4] = (float)c;
    m[5] = (float)(s * shift_px[0] - c * shift_px[1]);
}

// The inverse map q = M^-1 (s - c - t) + c as [N | u]; false if M has none.
RG_HD int af_inverse_2d(const float m[6], double inverse[6]) {
    const double det = (double)m[0] * m[4] - (double)m[1] * m[3];
    if (!(fabs(det) > 0)) return 0;
    inverse[0] = m[4] / det;
    inverse[1] = -m[1] / det;
    inverse[3] = -m[3] / det;
    inverse[4] = m[0] / det;
    inverse[2] = -(inverse[0] * m[2] + inverse[1] * m[5]);
    inverse[5] = -(inverse[3] * m[2] + inverse[4] * m[5]);
    return 1;
}

// ---- one pixel of I', in plain C for host and device: by the rule outside, from memory ---------------------------------

RG_HD float af_between(float a, float b, float share) { return share * (b - a) + a; }

RG_HD int af_floor(float s) {
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

// s from the centre, within low - 1 .. high + 1: the neighbours may be one outside.
RG_HD af_pair af_pair_at(float s, int side) {
    const int whole = af_floor(s), first = whole + af_centre(side);
    const af_pair p = {first, first + 1, s - (float)whole};
    return p;
}

// The same for s anywhere, clamped (NaN: to the low end).
RG_HD af_pair af_pair_clamped(float s, int side) {
    const float low = af_low(side), high = af_high(side);
    af_pair p = af_pair_at(!(s >= low) ? low : s > high ? high : s, side);
    if (p.second > side - 1) p.second = side - 1;
    return p;
}

RG_HD int af_reaches(float s, int side) { return s > af_low(side) - 1 && s < af_high(side) + 1; } // rule 0: else it is 0

RG_HD float af_at_2d(const float *image, int w, int h, int x, int y) {
    return x >= 0 && x < w && y >= 0 && y < h ? image[(int64_t)y * w + x] : 0;
}
RG_HD float af_at_3d(const float *image, int w, int h, int d, int x, int y, int z) {
    return z >= 0 && z < d ? af_at_2d(image + (int64_t)z * w * h, w, h, x, y) : 0;
}

// Value at (x, y) from the centre; only rule 2 changes *takes_part.
RG_HD float af_sample_2d(const float *image, int w, int h, int outside, float x, float y, int *takes_part) {
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
    return af_between(
        af_between(above[i.first], above[i.second], i.share), af_between(below[i.first], below[i.second], i.share), j.share);
}

RG_HD float af_sample_3d(const float *image, int w, int h, int d, int outside, float x, float y, float z, int *takes_part) {
    *takes_part = outside != AF_IGNORE ||
        (af_inside(x, af_low(w), af_high(w)) && af_inside(y, af_low(h), af_high(h)) && af_inside(z, af_low(d), af_high(d)));
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
