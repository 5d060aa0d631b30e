// SPDX-License-Identifier: MIT
// average.h: shared by the files of `regather average`: average.c, grid.c, pose.c, map.c, write.c.
#pragma once

#include "../../../data/geometry/volume.h"
#include "../../../data/formats/transforms.h"
#include "../matching/matching.h"

#include <fftw3.h>

enum { AJ_KEPT = 12 }; // rotations of the grid that are refined

// Transforms of the smallest level, m^3 voxels as m m (m / 2 + 1) complex numbers, without their means.
typedef struct aj_spectra {
    int64_t m, pitch, count; // count = m m pitch
    fftwf_plan there, back;
    fftwf_complex *particle; // n of them, multiplied by the wedge
    bool *has_particle;      // whether its transform is there
    float *times;            // coefficients that each stored one represents, itself and its mate: 1 or 2
    float *reference_power;  // |F|^2 times `times`
} aj_spectra;

typedef struct aj_average {
    rg_given given;
    rg_computing computing;
    double band_px[2];
    bool no_fine;
    int64_t n, side;
    double voxel_A;
    const char **path; // of the particles, the command line's
    const char *out, *reference_path, *truth_path, *command, *device, *asked;
    double low_px, high_px, mask_radius_px, shift_px, wedge_deg, step_deg; // wedge 90: none
    double wedge[2];                                                       // sin, cos
    int64_t iterations, everywhere;                                        // limit; how many of them try all rotations
    bool half_maps, fine;
    int threads;
    bool from_particle; // the reference is particle 1, with its wedge
    aj_scorer scorer[AJ_LEVELS];
    aj_pyramid reference, particle;
    aj_spectra spectra;
    rg_volume map, half[2];
    rg_pose *pose, *truth; // truth NULL: not known
    double *correlation;
    int64_t done;        // iterations
    double (*change)[3]; // for each iteration: median turn in degrees, median shift in pixels, mean correlation
    bool converged;
    double read_s, grid_s, refine_s, map_s;
} aj_average;

// grid.c
int64_t aj_grid_size(double step_deg);
void aj_spectra_make(aj_spectra *, int64_t m, int64_t n);
void aj_spectra_free(aj_spectra *);
// Transforms the smallest level of particle i, or of the reference.
void aj_spectra_particle(aj_average *, int64_t i);
void aj_spectra_reference(aj_average *);
// Finds the best AJ_KEPT distinct rotations of particles first .. past - 1 against the reference, with their shifts in pixels
// of the smallest level; kept[i - first] of them are at pose[(i - first) * AJ_KEPT] and after it.
void aj_grid(aj_average *, int64_t first, int64_t past, rg_pose *pose, int64_t *kept);

// pose.c: refines the particle in job->particle from n given poses (shifts in pixels of the volume) to the best one. all: every
// pose is refined on the smallest level; else refinement starts on the second.
int aj_pose_refine(aj_average *, int64_t i, int64_t n, const rg_pose *start, bool all, rg_pose *found, double *correlation);
int aj_pose_make(aj_average *);       // makes the scorers
int aj_pose_plan(const aj_average *); // rows of --dry-run for them

// map.c: averages all particles at their poses, and the odd and the even ones.
int aj_map(aj_average *);
// Multiplies by a sphere of this radius about the centre, with a cosine edge a twelfth of the side wide.
void aj_sphere(int64_t side, double radius_px, float *v);

// average.c: the turn in degrees and the shift in pixels of each pose, without the motion that all poses share.
void aj_change(int64_t n, const rg_pose *before, const rg_pose *now, double *turned_deg, double *moved_px);

// The rotation Q that makes A found Q nearest to A true over all poses: the truth's frame in the average's.
void aj_common_rotation(int64_t n, const rg_pose *found, const rg_pose *truth, double q[9]);
int aj_average_write(const aj_average *);
// Reads a particle or a map and scales it to mean 0 and standard deviation 1. RG_GOOD, or one line and RG_USAGE.
int aj_volume_read(const char *path, int64_t side, rg_volume *);
