// SPDX-License-Identifier: MIT
// blobs.h: a map that is a sum of Gaussians, whose projections are sums of Gaussians too: truth for reconstructions, computed
// in real space without transform or interpolation.
//
//     map(v)   = sum a exp(-|v - c|^2 / (2 sigma^2))
//     image(p) = sum a sigma sqrt(2 pi) exp(-|p - (A c)_xy + origin|^2 / (2 sigma^2))
// in pixels from the centre floor(side / 2), A as in particles.h. Pixels are samples, so transforms alias: at 0.45 cycles a pixel
// the alias is exp(-2 pi^2 sigma^2 (0.55^2 - 0.45^2)) of the value, 1 % for sigma = 1.5.
#ifndef RG_BLOBS_H
#define RG_BLOBS_H

#include <stdint.h>

typedef struct rg_blob {
    double at[3]; // x, y, z in pixels from the centre
    double sigma, amplitude;
} rg_blob;

enum { RG_ICOSAHEDRAL_BLOBS = 60, RG_ASYMMETRIC_BLOBS = 24 };

// 60 equal parts that the rotations of the icosahedron permute, in RELION's setting I1 (2-fold axes along x, y and z, a 5-fold
// axis in the x-z plane nearer to x), at 0.34 side from the centre.
void rg_blobs_icosahedral(int64_t side, double sigma, rg_blob blob[RG_ICOSAHEDRAL_BLOBS]);
// 24 unequal parts at random within 0.32 side of the centre, widths sigma to 2 sigma.
void rg_blobs_asymmetric(int64_t side, double sigma, uint64_t seed, rg_blob blob[RG_ASYMMETRIC_BLOBS]);

// side * side values; the centre pixel is `centre` in both directions. Terms below 1e-10 of a part's height are left out.
void rg_blobs_image(int n, const rg_blob *, const double a[9], const double origin_px[2], int64_t side, int64_t centre,
                    double *image);
// Section z of the map of side^3.
void rg_blobs_section(int n, const rg_blob *, int64_t side, int64_t z, double *section);

#endif
