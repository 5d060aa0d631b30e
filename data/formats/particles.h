// SPDX-License-Identifier: MIT
// particles.h: particle images with orientations: a STAR file (RELION 3.0 or 3.1) and the MRC stacks that it names, checked
// when opened and read image by image.
//
// An image is the projection of the map, rotated by A = Rz(psi) Ry(tilt) Rz(rot) (passive: image axes = A map axes, each R as
// [[c, s], [-s, c]]), along the image's z, shifted by -origin; centres are at floor(side / 2). A pixel p of an image's
// transform is therefore the point A^T (p, 0) of the map's transform.
// Pixel size: rlnImagePixelSize of the optics group (3.1), else rlnPixelSize, else rlnDetectorPixelSize / rlnMagnification
// (magnification 10000 if absent, as in RELION), else the stack's header; 0: none of these.
//
// Rows are in data_particles, data_images or data_, else in the one block that has rlnImageName, with a message. Files whose
// images need a correction that this suite does not have are refused by the column's name: rlnTomoVisibleFrames and other
// columns of two-dimensional stacks of tomography, CTF volumes, a magnification without the detector's pixels.
#pragma once

#include "../../impl/base/symmetry.h"
#include "../geometry/ctf.h"
#include "mrc.h"
#include "star.h"

// The largest value of images and of the reference that they are compared with: sums of squares of larger ones overflow single
// precision.
static const float RG_VALUE_MOST = 1e15f;

typedef struct rg_particle {
    double rot_deg, tilt_deg, psi_deg;
    double origin_x_px, origin_y_px;
    rg_ctf_of ctf;
    int stack;     // index into rg_particles.stack
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
    bool premultiplied, phase_flipped; // rlnCtfDataAreCtfPremultiplied and rlnCtfDataArePhaseFlipped, the same for all images
    bool subsets;                      // rlnRandomSubset has both values
    const char *lacks_ctf;             // the first missing CTF column; NULL: none is missing
    int open;                          // index of the open stack, -1: none
    rg_mrc file;
} rg_particles;

// Reads the STAR file and checks every stack: it exists and is whole, its images are square and of one size, and no row names
// an image beyond its end. Warns of images that no row or several rows name. RG_GOOD, or one line and RG_USAGE.
int rg_particles_open(rg_particles *, const char *star_path);
// The same, but rows may lack orientations, which become 0: the input of a search.
int rg_particles_open_without_poses(rg_particles *, const char *star_path);
void rg_particles_close(rg_particles *);
// For jobs that cannot use them: refuses images to which their CTF has been applied, with a line that names the column. RG_GOOD
// or RG_USAGE.
int rg_particles_plain(const rg_particles *);
// The half map of row i, 0 or 1: by rlnRandomSubset, whose subsets were refined independently, else alternating.
int rg_particles_half(const rg_particles *, int64_t i);
// Checks that every row has a half and every half a row. RG_GOOD, or one line and RG_USAGE.
int rg_particles_halves(const rg_particles *);
// Finds the block of particles in a STAR file; if several qualify, the one of that name. RG_GOOD, or one line and RG_USAGE.
int rg_particles_table(const rg_star *, const rg_star_table **);
// Reads the image of row i into side * side floats. Refuses values that are not numbers within +-RG_VALUE_MOST. RG_GOOD, or one
// line and RG_USAGE.
int rg_particles_image(rg_particles *, int64_t i, float *image);
// The same rows with their own file, for another thread. Close it with rg_particles_reader_close only.
rg_particles *rg_particles_reader(const rg_particles *);
void rg_particles_reader_close(void *reader);
