// SPDX-License-Identifier: MIT
// index.h: the definition of the algorithm `gridding`, and all of its index arithmetic.
//
// Transforms F of particle images, of known orientation, are added into the 3-D transform G and its weights W of the particle
// (Strelak et al. 2019, eq. 2 before the division). Origins are in the middle: pixels p = (x, y) and voxels v = (x, y, z) have
// integer coordinates -k .. k. An image is real, so F(-p) = conj F(p), and only x >= 0 is stored, of images and of the volume.
//
// The sum. The whole disc |p| <= k of image i takes part, including x < 0, where F(p) = conj F(-p), c(p) = c(-p) of the stored
// pixel. Pixels beyond the circle are ignored. Operator j puts pixel p at r = M (x, y, 0)^T, M = rotation[i][j]
// (row-major; it maps the image into the volume: S_j R^T, with R the ZYZ matrix of RELION's angles, S_j the symmetry operator).
// Over all i, j, p, for every voxel v of the half x >= 0 (v = r and |v - r| = b included, voxels beyond k dropped),
//     G(v) = sum of m c w(|v - r|) F(p),   W(v) = sum of m c^2 w(|v - r|)   where |v - r| <= b,
// with w of kernel.h, c the CTF of the pixel, m the weight of the image (FREALIGN's formula; both 1 where absent).
//
// So a stored pixel with x > 0 is twice in the sum, at r with F and at -r with conj F; one of the column x = 0 is once, because
// its mate (0, -y) is stored in the same column. Voxels of the plane x = 0 get the contributions of both mates; nothing is
// halved, doubled or completed afterwards. There G(-v) = conj G(v) and W(-v) = W(v), since F(0, -y) = conj F(0, y) in the
// input. Scattering and gathering add exactly the same (pixel, voxel) pairs.
//
// Shape: n[0] s = 2k+1, odd side of volume and images; n[1] images; n[2] operators; n[3] radius b in tenths of a voxel, 1..30;
// n[4] kind: bit 0 set when there is a CTF, bit 1 when images have weights. Arguments (float32, complex numbers as pairs):
// image (IN, images x rows y = -k..k x columns x = 0..k, complex), ctf (IN, the same pixels, real; 0 elements when absent),
// weight (IN, one an image; 0 elements when absent), rotation (IN, 9 an image and operator, image x operators + operator),
// G (OUT, z = -k..k slowest, y = -k..k, x = 0..k, complex), W (OUT, the same voxels, real).
#ifndef RG_GRIDDING_INDEX_H
#define RG_GRIDDING_INDEX_H

#include "../suite.h"

enum { GR_SIDE, GR_IMAGES, GR_OPERATORS, GR_RADIUS, GR_KIND };
enum { GR_IMAGE, GR_CTF, GR_WEIGHT, GR_ROTATION, GR_G, GR_W };
enum { GR_HAS_CTF = 1, GR_HAS_WEIGHT = 2 };
enum { GR_RADIUS_MAX = 30 }; // tenths of a voxel
enum { GR_SIDE_MAX = 8191 }; // a float still resolves r to 1e-3 of a voxel

RG_HD int64_t gr_k(int64_t side) { return side / 2; }

// ---- pixels --------------------------------------------------------------------------------------------------------------

RG_HD int64_t gr_width(int64_t k) { return k + 1; } // stored columns, of images and of the volume
RG_HD int64_t gr_pixels(int64_t k) { return (2 * k + 1) * (k + 1); }
RG_HD int64_t gr_pixel(int64_t k, int64_t x, int64_t y) { return (y + k) * (k + 1) + x; } // x >= 0
RG_HD int64_t gr_pixel_x(int64_t k, int64_t element) { return element % (k + 1); }
RG_HD int64_t gr_pixel_y(int64_t k, int64_t element) { return element / (k + 1) - k; }

RG_HD int gr_in_circle(int64_t k, int64_t x, int64_t y) { return x * x + y * y <= k * k; }

// Number of stored columns of row y in the circle: x = 0 .. gr_row(k, y) - 1.
RG_HD int64_t gr_row(int64_t k, int64_t y) {
    int64_t rest = k * k - y * y, low = 0, high = k + 1; // low^2 <= rest < high^2
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (middle * middle <= rest)
            low = middle;
        else
            high = middle;
    }
    return low + 1;
}

// Number of the disc's pixels that a stored pixel represents: itself, and its mate unless that is stored.
RG_HD int gr_mates(int64_t x) { return x > 0 ? 2 : 1; }

// ---- voxels --------------------------------------------------------------------------------------------------------------

RG_HD int64_t gr_voxels(int64_t k) { return (2 * k + 1) * (2 * k + 1) * (k + 1); }
RG_HD int64_t gr_voxel(int64_t k, int64_t x, int64_t y, int64_t z) { return ((z + k) * (2 * k + 1) + (y + k)) * (k + 1) + x; }
RG_HD int64_t gr_voxel_x(int64_t k, int64_t element) { return element % (k + 1); }
RG_HD int64_t gr_voxel_y(int64_t k, int64_t element) { return element / (k + 1) % (2 * k + 1) - k; }
RG_HD int64_t gr_voxel_z(int64_t k, int64_t element) { return element / (k + 1) / (2 * k + 1) - k; }

// The element of -v for v in the plane x = 0, where alone the mate is stored.
RG_HD int64_t gr_mate(int64_t k, int64_t y, int64_t z) { return gr_voxel(k, 0, -y, -z); }

// ---- between the two -----------------------------------------------------------------------------------------------------

RG_HD float gr_radius(int64_t tenths) { return (float)tenths / 10.0f; }

// Rotation matrix of image i and operator j.
RG_HD const float *gr_rotation(const float *rotation, int64_t operators, int64_t i, int64_t j) {
    return rotation + 9 * (i * operators + j);
}

// Place of pixel (x, y) in the volume: r = M (x, y, 0)^T.
RG_HD void gr_place(const float *m, float x, float y, float r[3]) {
    r[0] = m[0] * x + m[1] * y;
    r[1] = m[3] * x + m[4] * y;
    r[2] = m[6] * x + m[7] * y;
}

// The inverse: t = M^T v is voxel v in the frame of the image; t[2] is its height above the image. |v - r| = |t - (p, 0)|
// because M preserves distances (to a few rounding errors of |v|).
RG_HD void gr_project(const float *m, float x, float y, float z, float t[3]) {
    t[0] = m[0] * x + m[3] * y + m[6] * z;
    t[1] = m[1] * x + m[4] * y + m[7] * z;
    t[2] = m[2] * x + m[5] * y + m[8] * z;
}

// First and last integer within b of c, clipped to low .. high; last < first if there is none.
RG_HD int gr_first(float c, float b, int low) {
    float first = c - b;
    int up = (int)first;
    up += (float)up < first;
    return up > low ? up : low;
}
RG_HD int gr_last(float c, float b, int high) {
    float last = c + b;
    int down = (int)last;
    down -= (float)down > last;
    return down < high ? down : high;
}

// ---- the map -------------------------------------------------------------------------------------------------------------

// Input of a map of side^3 voxels: the sums on 2k + 1 voxels a side, which are the transform on `padded` points. `wiener` is
// added to the weights; a mask of radius 0 means none.
typedef struct gr_map_of {
    int64_t k, padded, side, radius_tenths;
    const float *g, *w;
    double wiener, mask_radius_px;
    int threads;
} gr_map_of;
RG_C int gr_map(const gr_map_of *, float *map);                                 // on the host; RG_OK or RG_E_STATE
RG_C size_t gr_map_bytes(int64_t k, int64_t padded, int64_t side, int threads); // needed besides the map
// Factors of the voxels by squared distance from the centre: gridding correction, mask, scale of the transform. malloc'ed; NULL
// without memory.
RG_C double *gr_map_factors(const gr_map_of *, int64_t *n);
RG_C double gr_kernel_mean(int64_t radius_tenths);     // of the kernel, over the ball where it is not 0
RG_C double gr_kernel_variance(int64_t radius_tenths); // along an axis, in voxels squared: s^2 of quotient.h

#endif
