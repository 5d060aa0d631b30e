// SPDX-License-Identifier: MIT
// index.h: what the seven algorithms of FREALIGN (Li, Grigorieff & Cheng 2010) have in common, and its index arithmetic. The
// index.h of each folder defines its algorithms: compare/ (cc3m, presb, ccoef, sigma2), turn/ (ccp), insert/ (pinsert_s), ctf/
// (ctfapply).
//
// One parametrised form covers the paper's program (v8.06, preset FR_PAPER) and FREALIGN 9 (FR_V9). Where the paper is silent
// the published source of v9.12 decides; [P] marks the paper, [S] that source, [D] a decision made here.
//
// Half planes. An image of N x N pixels, N even (odd sides are refused: FREALIGN has none), is transformed unnormalised, and
// i = 0..N/2 (along x, fastest) by j (along y, modulo N) is stored: m x (m/2 + 1), as in the paper. j runs -N/2+1..N/2 here,
// so that every stored coefficient is visited once; FREALIGN's loops visit the row N/2 twice [S], which matters at the Nyquist
// radius only. Coefficients of the column i = 0 are stored with their mates (0,-j), those with i > 0 without: all sums over
// half planes below count stored coefficients, once [S]. Images and references are kept with their origin in the corner: D and
// F3 contain the factors (-1)^(i+j) and (-1)^(i+j+k) that move it there.
//
// Volumes. F3 is the transform of the reference, padded to L = pad N a side, (L/2+1) x L x L, indices modulo L, F3(-l) = conj
// F3(l) also within the plane x = 0. Pose of a trial (8 floats): columns 1 and 2 of M, then the shift s_x, s_y in radians an
// index. M = Rz(phi) Ry(theta) Rz(psi) / magnification, active rotations, with a symmetry operator g: g M; coefficient q =
// (i,j) lies at p = M (i,j,0). s = 2 pi shift_px / N; exp(i(s_x i + s_y j)) brings a particle displaced by +shift home.
//   fr_place computes p in single precision, two products and one sum, each rounded: a variant must not fuse them. So
//   all variants and the reference agree on the nodes next to p, and p itself has no error.
//
// Section S(p): p = M q times pad; where p_x < 0, it is conj S(-p) [S].
//   FR_TRILINEAR  sum over the 2^3 nodes around p of prod(1 - |p-l|) F3(l) [S]       FR_NEAREST  F3 of the nearest node [S]
//   FR_BOX1, 3, 5 sum over the n^3 nodes about the nearest, of prod sinc((p-l)/pad) F3(l) [P: n = 1, 3, 5]; not renormalised
//   Nearest: ties to the even node. Nodes with l_x < 0 or beyond L/2 are read at their mates, all modulo L.
// Mask (fr_mask): in real space about the corner, R = setting[0] pixels, edge of 6 pixels: r <= R-3 is kept, r > R+3 becomes
//   the mean m of the ring R-3 < r <= R+3, in between e in + (1-e) m with e = (1 + cos(pi (r-R+3)/6))/2.
// Rings: k = floor(r + 1/2), computed exactly from the integer r^2. A coefficient is in the band when a <= r < b; b is at most
//   N/2, and ring N/2 is excluded, so rings are 1..N/2-1 [D: FREALIGN lets a few coefficients of ring N/2 in].
//
// Shape: n[0] N; n[1] particles; n[2] kind; n[3] trials a particle; n[4] b; n[5] a, in ccp U. Arguments are float32, complex
// numbers pairs: image [p][y][x]; X, D [p][j][i] complex; c [p][j][i]; F3 complex; pose [p][t][8]; weight [p][2]; setting [3].
#ifndef RG_FREALIGN_INDEX_H
#define RG_FREALIGN_INDEX_H

#include "../suite.h"
#include <math.h>

enum { FR_SIDE, FR_PARTICLES, FR_KIND, FR_TRIALS, FR_OUTER, FR_INNER };

enum { FR_TRILINEAR, FR_NEAREST, FR_BOX1, FR_BOX2, FR_BOX3, FR_BOX5, FR_INTERPOLATIONS, FR_INTERPOLATION = 7 }; // bits 0-2
enum { FR_PAD_1 = 0, FR_PAD_2 = 8, FR_PAD_4 = 16 };                                                             // bits 3-4
enum { FR_SQUARED = 32, FR_RINGS = 64, FR_MASKED = 128 };
enum { FR_V9 = FR_TRILINEAR | FR_RINGS, FR_PAPER = FR_BOX3 | FR_SQUARED | FR_MASKED };

// The first arguments of the algorithms that read a reference; sigma2 and ccoef have D for X, ccoef reads no setting.
enum { FR_X, FR_C, FR_F3, FR_POSE, FR_SETTING, FR_OWN_ARGS };

enum { FR_POSE_FLOATS = 8, FR_SETTINGS = 3, FR_EDGE = 6, FR_SIDE_MAX = 4096 };

RG_HD int fr_interpolation(int64_t kind) { return (int)(kind & FR_INTERPOLATION); }
RG_HD int64_t fr_pad(int64_t kind) { return (int64_t)1 << (kind >> 3 & 3); }
// Nodes along an axis: 2, 1, 1, 2, 3, 5.
RG_HD int fr_nodes(int interpolation) {
    if (interpolation == FR_BOX3 || interpolation == FR_BOX5) return interpolation == FR_BOX3 ? 3 : 5;
    return interpolation == FR_TRILINEAR || interpolation == FR_BOX2 ? 2 : 1;
}

// ---- half planes ---------------------------------------------------------------------------------------------------------

RG_HD int64_t fr_width(int64_t side) { return side / 2 + 1; }
RG_HD int64_t fr_stored(int64_t side) { return side * fr_width(side); }
RG_HD int64_t fr_element(int64_t side, int64_t i, int64_t j) { return (j < 0 ? j + side : j) * fr_width(side) + i; }
RG_HD int64_t fr_i(int64_t side, int64_t element) { return element % fr_width(side); }
// Row number to frequency: -N/2+1 .. N/2. Its inverse is in fr_element.
RG_HD int64_t fr_frequency(int64_t side, int64_t row) { return row <= side / 2 ? row : row - side; }
RG_HD int64_t fr_j(int64_t side, int64_t element) { return fr_frequency(side, element / fr_width(side)); }
// Pixel number to distance from the corner: -N/2 .. N/2-1.
RG_HD int64_t fr_offset(int64_t side, int64_t pixel) { return pixel < side / 2 ? pixel : pixel - side; }

// The largest r with r^2 <= rr.
RG_HD int64_t fr_root(int64_t rr) {
    int64_t r = (int64_t)sqrt((double)rr);
    while (r * r > rr) r--;
    while ((r + 1) * (r + 1) <= rr) r++;
    return r;
}
// floor(r + 1/2) of r = sqrt(rr): k - 1/2 <= r is (2k-1)^2 <= 4 rr.
RG_HD int64_t fr_ring(int64_t rr) { return (fr_root(4 * rr) + 1) / 2; }
// The number of coefficients of the plane that a stored one represents: itself, and its mate where that is not stored.
RG_HD int fr_mates(int64_t side, int64_t i, int64_t j) { return i > 0 || 2 * j == side ? 2 : 1; }
RG_HD int64_t fr_rings(int64_t side) { return side / 2; } // 0 .. N/2-1
// Whether (i, j) is in the band a <= r < b, rings from N/2 on excluded.
RG_HD int fr_in_band(int64_t side, int64_t i, int64_t j, int64_t a, int64_t b) {
    const int64_t rr = i * i + j * j;
    return rr >= a * a && rr < b * b && 4 * rr < (side - 1) * (side - 1);
}
// 1, or -1 where i + j is odd: moves the origin between centre and corner.
RG_HD float fr_sign(int64_t i, int64_t j) { return (i + j) & 1 ? -1.0f : 1.0f; }

// ---- volumes -------------------------------------------------------------------------------------------------------------

RG_HD int64_t fr_voxels(int64_t side) { return fr_width(side) * side * side; }
// Node (x, y, z), 0 <= x <= L/2, |y|, |z| <= L.
RG_HD int64_t fr_voxel(int64_t side, int64_t x, int64_t y, int64_t z) {
    const int64_t row = y < 0 ? y + side : y >= side ? y - side : y, plane = z < 0 ? z + side : z >= side ? z - side : z;
    return (plane * side + row) * fr_width(side) + x;
}
// Maps a node near the half space into it; returns 1 if the value there must be conjugated.
RG_HD int fr_fold(int64_t side, int64_t *x, int64_t *y, int64_t *z) {
    if (*x > side / 2) *x -= side;
    if (*x >= 0) return 0;
    *x = -*x;
    *y = -*y;
    *z = -*z;
    return 1;
}

// p = M (i, j, 0): products and sum rounded one by one.
RG_HD float fr_product_sum(float a, float b, float c, float d) {
#ifdef __CUDA_ARCH__
    return __fadd_rn(__fmul_rn(a, b), __fmul_rn(c, d));
#else
    const float ab = a * b, cd = c * d;
    return ab + cd;
#endif
}
RG_HD void fr_place(const float *pose, float i, float j, float p[3]) {
    for (int axis = 0; axis < 3; axis++) p[axis] = fr_product_sum(pose[axis], i, pose[3 + axis], j);
}
RG_HD float fr_nearest(float x) { return rintf(x); }

// sin(pi t) / (pi t), |t| <= 3: of the distance f to the nearest integer n, sin(pi t) = (-1)^n sin(pi f), and sin(pi f)/(pi f)
// is a polynomial in f^2, interpolated at Chebyshev points: off by 4e-9, in single precision 6e-8, on |f| <= 1/2.
RG_HD float fr_sinc(float t) {
    const float n = rintf(t), f = t - n, ff = f * f;
    float s = 0.0247186446f;
    s = s * ff - 0.1904417527f;
    s = s * ff + 0.8117148427f;
    s = s * ff - 1.644933206f;
    s = s * ff + 1.0f;
    return n == 0 ? s : ((int)n & 1 ? -s : s) * (f / t);
}

// ---- real space ----------------------------------------------------------------------------------------------------------

// The weight e of the image under the mask at distance sqrt(rr); the mean of the ring has 1 - e. R: setting[0].
RG_HD float fr_mask(float R, int64_t rr) {
    const float inner = R - FR_EDGE / 2, outer = R + FR_EDGE / 2, r = sqrtf((float)rr);
    if (inner > 0 && (float)rr <= inner * inner) return 1;
    if (outer < 0 || (float)rr > outer * outer) return 0;
    return 0.5f + 0.5f * cosf(3.14159265f * (r - inner) / FR_EDGE);
}
// Whether the pixel belongs to the ring whose mean the mask uses.
RG_HD int fr_on_edge(float R, int64_t rr) {
    const float inner = R - FR_EDGE / 2, outer = R + FR_EDGE / 2;
    return !(inner > 0 && (float)rr <= inner * inner) && outer >= 0 && (float)rr <= outer * outer;
}
RG_HD int fr_in_disc(float R, int64_t rr) { return R >= 0 && (float)rr <= R * R; }

// ---- poses ---------------------------------------------------------------------------------------------------------------
// Converts Euler angles and shift to the eight floats of a pose, in double precision until the end.

// Rz(phi) Ry(theta) Rz(psi), active rotations by angles in radians, row by row: FREALIGN's PHI, THETA, PSI and RELION's rot,
// tilt, psi, whose matrix is the transpose. Column 3 is the direction of view.
static inline void fr_rotation(double phi, double theta, double psi, double m[9]) {
    const double cf = cos(phi), sf = sin(phi), ct = cos(theta), st = sin(theta), cp = cos(psi), sp = sin(psi);
    const double r[9] = {cf * ct * cp - sf * sp, -cf * ct * sp - sf * cp, st * cf, sf * ct * cp + cf * sp,
        -sf * ct * sp + cf * cp, st * sf, -st * cp, st * sp, ct};
    for (int e = 0; e < 9; e++) m[e] = r[e];
}

// m: the rotation, or g M with a symmetry operator; divided by the relative magnification. The shift, in pixels, is that of a
// particle displaced by +shift from the centre.
static inline void fr_pose(
    const double m[9], double magnification, const double shift_px[2], int64_t side, float pose[FR_POSE_FLOATS]) {
    for (int axis = 0; axis < 3; axis++) {
        pose[axis] = (float)(m[3 * axis] / magnification);
        pose[3 + axis] = (float)(m[3 * axis + 1] / magnification);
    }
    for (int axis = 0; axis < 2; axis++) pose[6 + axis] = (float)(2 * 3.14159265358979323846 / (double)side * shift_px[axis]);
}

#endif
