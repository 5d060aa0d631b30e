// SPDX-License-Identifier: MIT
// blobs.h: a map that is a sum of Gaussians below the Nyquist frequency. Its projections have a closed form: the truth for
// reconstructions, independent of transforms and interpolation in the code under test.
//
// Without a frequency limit
//     map(v)   = sum a exp(-|v - c|^2 / (2 sigma^2)),
//     image(p) = sum a sigma sqrt(2 pi) exp(-|p - (A c)_xy + origin|^2 / (2 sigma^2)),
// in pixels from the centre floor(side / 2), A as in particles.h; both are products over the axes, and both transforms are
// Gaussians times a phase. Each factor exp(-x^2 / (2 sigma^2)) is replaced by the part of it below the Nyquist frequency, of
// period `side`:
//     (sigma sqrt(2 pi) / side) sum over |f| <= side / 2 of exp(-2 pi^2 sigma^2 f^2 / side^2) cos(2 pi f x / side)
// Samples are thus free of aliasing, narrow parts (sigma 0.8) have power up to Nyquist, and inside the sphere of the Nyquist
// frequency the transform of an image is exactly a section of the map's transform.
#pragma once

#include <stdint.h>

typedef struct rg_blob {
    double at[3]; // x, y, z in pixels from the centre
    double sigma, amplitude;
} rg_blob;

enum { RG_ICOSAHEDRAL_BLOBS = 60, RG_ASYMMETRIC_BLOBS = 24, RG_D7_BLOBS = 168 };

// Makes 60 equal parts that the rotations of the icosahedron permute, in RELION's setting I1 (2-fold axes along x, y and z, a
// 5-fold axis in the x-z plane nearer to x), at 0.34 side from the centre.
void rg_blobs_icosahedral(int64_t side, double sigma, rg_blob blob[RG_ICOSAHEDRAL_BLOBS]);
// Makes 24 unequal parts at random within 0.32 side of the centre, widths sigma to 2 sigma.
void rg_blobs_asymmetric(int64_t side, double sigma, uint64_t seed, rg_blob blob[RG_ASYMMETRIC_BLOBS]);

// Makes 12 unequal parts and their images under D7 (7-fold axis z, 2-fold x) in a barrel as long as 150/258 of the side and
// 115/258 wide: the size of the 20S proteasome in a box of 258 A (Li et al. 2010), but no other likeness. Part 14 p + 2 r + f
// is part p turned by r sevenths about z, after a half turn about x if f is 1.
void rg_blobs_d7(int64_t side, double sigma, uint64_t seed, rg_blob blob[RG_D7_BLOBS]);

// Computes side * side values; the centre pixel is `centre` in both directions.
void rg_blobs_image(
    int n, const rg_blob *, const double a[9], const double origin_px[2], int64_t side, int64_t centre, double *image);
// The factors of a map of side^3: `side` values for every part and axis, 3 n side in all; malloc'ed.
double *rg_blobs_factors(int n, const rg_blob *, int64_t side);
// Computes section z of that map.
void rg_blobs_section(int n, const rg_blob *, const double *factors, int64_t side, int64_t z, double *section);
