// SPDX-License-Identifier: MIT
// symmetry.h: the rotation of a particle, and those of the point groups of particles, in the settings of RELION and Xmipp.
//
// Cn, Dn: the n-fold axis along z, a two-fold of Dn along x. T: a three-fold axis along z, a two-fold along (0, sqrt 2, 1). O:
// the four-fold axes along x, y and z. I1, I2: two-fold axes along x, y and z; of the five-fold ones those nearest to z lie in
// the plane y-z at (0, +-1, phi) for I1, in x-z at (+-1, 0, phi) for I2, phi = (1 + sqrt 5)/2. They differ by 90 degrees about
// z. A sample with matrix M (index.h) stands at S M for every operator S.
#pragma once

#include <stdbool.h>

enum { GR_OPERATORS_MAX = 256 };

typedef struct gr_symmetry {
    char name[8];
    int n;
    double matrix[GR_OPERATORS_MAX][9]; // row-major; the identity first, each to 1e-15 or so
} gr_symmetry;

// NULL, or why the name is none: "C1", "Cn", "Dn" (at most 256 operators), "T", "O", "I1", "I2", in either case.
const char *gr_symmetry_make(gr_symmetry *, const char *name);

// A = Rz(psi) Ry(tilt) Rz(rot), row by row; passive, as data/formats/particles.h says.
void rg_particle_matrix(double rot_deg, double tilt_deg, double psi_deg, double a[9]);

void gr_multiply(const double a[9], const double b[9], double product[9]); // product = a b

// Rotation number 0 .. 23 of the cube onto itself; entries are exactly 0, 1, -1; 0 is the identity.
void gr_cube_rotation(int number, double m[9]);

// The rotations of a group that map the cubic grid onto itself, so that they can be applied to finished sums exactly, and a
// set of operators left to insert samples with: the group is every lattice[i] times every coset[j], each once.
typedef struct gr_lattice {
    int n_lattice, n_coset;
    int lattice[24]; // indices into the group's matrices; the identity first
    int coset[GR_OPERATORS_MAX];
} gr_lattice;
void gr_lattice_make(gr_lattice *, const gr_symmetry *);
