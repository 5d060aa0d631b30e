// SPDX-License-Identifier: MIT
// particles.h: particle images with orientations: a STAR file (RELION 3.0 or 3.1) and the MRC stacks that it names, checked
// when opened and read image by image.
//
// An image is the projection of the map, rotated by A = Rz(psi) Ry(tilt) Rz(rot) (passive: image axes = A map axes, each R as
// [[c, s], [-s, c]]), along the image's z, shifted by -origin; centres are at floor(side / 2). A pixel p of an image's
// transform therefore stands at A^T (p, 0) in the map's transform.
// Pixel size: rlnImagePixelSize of the optics group (3.1), else rlnPixelSize, else rlnDetectorPixelSize / rlnMagnification
// (magnification 10000 where absent, as RELION has it), else the stack's header; 0 when nothing says it.
//
// Rows stand in data_particles, data_images or data_, else in the one block that has rlnImageName, which is said. What a file
// says of its images and this suite does not do is refused by the column's name: rlnTomoVisibleFrames and other columns of
// two-dimensional stacks of tomography, CTF volumes, a magnification without the detector's pixels.
#pragma once

#include "../../impl/base/symmetry.h"
#include "../geometry/ctf.h"
#include "mrc.h"
#include "star.h"

// Of images and of the reference that they are compared with: the squares of larger values, summed, leave single precision.
static const float RG_VALUE_MOST = 1e15f;

typedef struct rg_particle {
    double rot_deg, tilt_deg, psi_deg;
    double origin_x_px, origin_y_px;
    rg_ctf_of ctf;
    int stack;     // into rg_particles.stack
    int64_t image; // of the stack, from 0
    int64_t line;  // in the STAR file
    int subset;    // rlnRandomSubset, 1 or 2; 0: neither
} rg_particle;

typedef struct rg_particle_stack {
    char *path;
    int64_t images;
} rg_particle_stack;

typedef struct rg_particles {
    char *path; // of the STAR file
    int64_t n;
    rg_particle *row;
    int n_stacks;
    rg_particle_stack *stack;
    int64_t side;                      // of every image
    double pixel_A;                    // 0: unknown
    bool premultiplied, phase_flipped; // what rlnCtfDataAreCtfPremultiplied and rlnCtfDataArePhaseFlipped say of all images
    bool subsets;                      // rlnRandomSubset has both its values
    const char *lacks_ctf;             // the first CTF column that is missing, NULL when all are there
    int open;                          // the stack that is open, -1: none
    rg_mrc file;
} rg_particles;

// Reads the STAR file and checks every stack: it exists, is whole, its images are square and of one size, no row names an image
// beyond its end. Images that no row or more than one names are said in a warning. RG_GOOD, or one line and RG_USAGE.
int rg_particles_open(rg_particles *, const char *star_path);
// The same for rows that may lack orientations, which then are 0: what a search begins with.
int rg_particles_open_without_poses(rg_particles *, const char *star_path);
void rg_particles_close(rg_particles *);
// For jobs that cannot take it: refuses images to which their CTF has been applied already, with a line that names the column.
// RG_GOOD or RG_USAGE.
int rg_particles_plain(const rg_particles *);
// Which half map row i belongs to: 0 or 1 by rlnRandomSubset, whose two were refined apart, else by turns.
int rg_particles_half(const rg_particles *, int64_t i);
// Whether every row has a half and every half a row. RG_GOOD, or one line and RG_USAGE.
int rg_particles_halves(const rg_particles *);
// The block of a STAR file that has the particles, of several the one that is called so. RG_GOOD, or one line and RG_USAGE.
int rg_particles_table(const rg_star *, const rg_star_table **);
// Image of row i into side * side floats. A value that is no number within +-RG_VALUE_MOST is refused. RG_GOOD, or one line and RG_USAGE.
int rg_particles_image(rg_particles *, int64_t i, float *image);
// The same rows with a file of its own, for another thread; only rg_particles_reader_close may be called on it at the end.
rg_particles *rg_particles_reader(const rg_particles *);
void rg_particles_reader_close(void *reader);
