// SPDX-License-Identifier: MIT
// frealign.h: shared by the references of FREALIGN's routines, in double precision: whole planes instead of half planes, the
// discrete Fourier transform, the section of a volume, the mask. FREALIGN's conventions are in impl/frealign/index.h.
#ifndef RG_REFERENCE_FREALIGN_H
#define RG_REFERENCE_FREALIGN_H

#include "reference.h"
#include <complex.h>
#include <fftw3.h>

typedef struct ref_problem {
    int64_t side, particles, kind, trials, outer, inner;
    int64_t pad, interpolation; // 0 trilinear, 1 nearest, 2, 4, 5 box of 1, 3, 5
    int squared, rings, masked;
    const float *X, *c, *F3, *pose, *setting;
} ref_problem;

// For algorithms whose first arguments are X, c, F3, pose, setting.
ref_problem ref_problem_of(const rg_shape *, void *const *arg);

// A whole plane of complex numbers, row j modulo side, column i modulo side; or an image, as real parts.
typedef double complex ref_number;
ref_number *ref_plane(int64_t side); // zeroed; freed with fftw_free
static inline ref_number *ref_at(ref_number *plane, int64_t side, int64_t i, int64_t j) {
    return &plane[(j + side) % side * side + (i + side) % side];
}
// In-place transforms, unnormalised; -1 forward, +1 inverse. Call ref_transform_ready before a parallel region that transforms.
void ref_transform_ready(int64_t side);
void ref_transform(ref_number *plane, int64_t side, int direction);
// Makes the image real: coefficients of columns i < 0 become mates of the columns 1..side/2-1, and the columns 0 and side/2
// become Hermitian.
void ref_make_real(ref_number *plane, int64_t side);
void ref_mask(ref_number *image, int64_t side, double R, int64_t centre); // centre: 0 (corner) or side/2

int64_t ref_stored(int64_t side, int64_t i, int64_t j); // index of (i, j), 0 <= i <= side/2, in a half plane
ref_number ref_particle(const ref_problem *, int64_t p, int64_t t, int64_t i, int64_t j); // X e^{i s.q}
double ref_ctf(const ref_problem *, int64_t p, int64_t i, int64_t j);
int64_t ref_ring(int64_t i, int64_t j);
int ref_in_band(const ref_problem *, int64_t i, int64_t j, int64_t inner);
// The image of f S over the band, unnormalised; power: 0 f = 2|c|, 1 f = 2c, 2 f = c^2.
ref_number *ref_section_image(const ref_problem *, int64_t p, int64_t t, int64_t inner, int power);

#endif
