// SPDX-License-Identifier: MIT
// transforms.h: where things stand: similarity transforms of images, poses of volumes, and their files.
#ifndef RG_TRANSFORMS_H
#define RG_TRANSFORMS_H

#include "../../impl/base/core.h"
#include <stdint.h>

// p -> c + scale Rot(rotation) (p - c) + shift, Rot(t) = [[cos t, -sin t], [sin t, cos t]], c = (floor(w / 2), floor(h / 2)):
// a feature at p of image i stands there in image i - 1 (or in image 0, where transforms are cumulative).
typedef struct rg_similarity {
    double rotation_deg, shift_x_px, shift_y_px, scale;
} rg_similarity;

// Of p - c to p' - c.
void rg_similarity_apply(const rg_similarity *, const double p[2], double moved[2]);
// `first`, then `second`; rotations in [-180, 180).
rg_similarity rg_similarity_then(const rg_similarity *first, const rg_similarity *second);
rg_similarity rg_similarity_inverse(const rg_similarity *);

// A volume's pose: a feature at v of the map stands at c + A (v - c) + shift in the volume, A = rg_particle_matrix of
// particles.h, c = floor(side / 2) on every axis. The shift is minus RELION's origin.
typedef struct rg_pose {
    double rot_deg, tilt_deg, psi_deg;
    double shift_px[3]; // x, y, z
} rg_pose;

// rot, tilt in [0, 180], psi of a rotation matrix; rot 0 where tilt is 0 or 180.
void rg_pose_angles(const double a[9], rg_pose *);
// The angle in degrees between two rotation matrices.
double rg_rotation_apart_deg(const double a[9], const double b[9]);

// Tables: "# ..." lines, a row of names, rows. correlation may be NULL, extra may be NULL (a last column, called extra_name).
// Columns image rotation_deg shift_x_px shift_y_px scale correlation; images count from 1.
int rg_similarities_write(const char *path, const char *head, int64_t n, const rg_similarity *, const double *correlation,
                          const char *extra_name, const double *extra, const char *const *edge);
// Columns particle rot_deg tilt_deg psi_deg shift_x_px shift_y_px shift_z_px correlation; names are those of the files.
int rg_poses_write(const char *path, const char *head, int64_t n, const char *const *name, const rg_pose *,
                   const double *correlation);

// The rows of such tables, which have to be n; names and columns beyond the transform's are passed over. RG_GOOD, or one line
// and RG_USAGE.
int rg_similarities_read(const char *path, int64_t n, rg_similarity *);
int rg_poses_read(const char *path, int64_t n, rg_pose *);

// One angle in degrees a line (.rawtlt, .tlt of IMOD); blank lines are passed over. malloc'ed. RG_GOOD, or one line and
// RG_USAGE.
int rg_tilts_read(const char *path, int64_t *n, double **tilt_deg);

#endif
