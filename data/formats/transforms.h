// SPDX-License-Identifier: MIT
// transforms.h: similarity transforms of images, poses of volumes, and their files.
#pragma once

#include "../../impl/base/core.h"

// p -> c + scale Rot(rotation) (p - c) + shift, Rot(t) = [[cos t, -sin t], [sin t, cos t]], c = (floor(w / 2), floor(h / 2)),
// maps a feature at p of image i to its place in image i - 1 (cumulative transforms: in image 0).
typedef struct rg_similarity {
    double rotation_deg, shift_x_px, shift_y_px, scale;
} rg_similarity;

// The same with any linear map: p -> c + A (p - c) + shift; a is A, row-major.
typedef struct rg_affine {
    double a[4], shift_px[2];
} rg_affine;
static const rg_affine rg_affine_identity = {{1, 0, 0, 1}, {0, 0}};

rg_affine rg_affine_of(const rg_similarity *);
// The polar decomposition A = scale Rot(rotation) U, U symmetric and of determinant 1; rotations in [-180, 180). Needs det A >
// 0.
rg_similarity rg_affine_similarity(const rg_affine *);
void rg_affine_apply(const rg_affine *, const double p[2], double moved[2]); // maps p - c to p' - c
rg_affine rg_affine_then(const rg_affine *first, const rg_affine *second);
rg_affine rg_affine_inverse(const rg_affine *);
// The same transform with the `height` rows counted from the other end.
rg_affine rg_affine_flip_rows(const rg_affine *, int64_t height);
// The stretch of a flat specimen's image when the tilt changes: cos(to) / cos(from), across the tilt axis, which is axis_deg
// from +y towards -x (IMOD's convention; y grows with the row). No shift.
rg_affine rg_tilt_stretch(double axis_deg, double from_deg, double to_deg);

// A volume's pose: a feature at v of the map is at c + A (v - c) + shift in the volume, A = rg_particle_matrix of particles.h,
// c = floor(side / 2) on every axis. The shift is minus RELION's origin.
typedef struct rg_pose {
    double rot_deg, tilt_deg, psi_deg;
    double shift_px[3]; // x, y, z
} rg_pose;

// Computes rot, tilt in [0, 180] and psi of a rotation matrix; rot is 0 if tilt is 0 or 180.
void rg_pose_angles(const double a[9], rg_pose *);
// The angle in degrees between two rotation matrices.
double rg_rotation_apart_deg(const double a[9], const double b[9]);

// Tables: "# ..." lines, a row of names, rows. Columns image (from 1) rotation_deg shift_x_px shift_y_px scale of the
// rg_affine_similarity, then those given: correlation, tilt_deg, the linear map a11 a12 a21 a22, edge.
typedef struct rg_transform_columns {
    const double *correlation, *tilt_deg;
    bool linear;
    const char *const *edge;
} rg_transform_columns;
int rg_transforms_write(const char *path, const char *head, int64_t n, const rg_affine *, rg_transform_columns);
// Columns particle rot_deg tilt_deg psi_deg shift_x_px shift_y_px shift_z_px correlation; `name` holds the file names.
int rg_poses_write(
    const char *path, const char *head, int64_t n, const char *const *name, const rg_pose *, const double *correlation);

// Read such tables, which must have n rows. Names and columns beyond the transform's are ignored. RG_GOOD, or one line and
// RG_USAGE.
int rg_transforms_read(const char *path, int64_t n, rg_affine *);
int rg_poses_read(const char *path, int64_t n, rg_pose *);

// IMOD's .xf: a line per image, A11 A12 A21 A22 DX DY, about the centre of the image's area, (width - 1) / 2 and (height - 1) /
// 2 with pixels counted from 0; it maps the image's points to those of the aligned image.
int rg_xf_write(const char *path, int64_t n, const rg_affine *, int64_t width, int64_t height);
int rg_tilts_write(const char *path, int64_t n, const double *tilt_deg); // IMOD's .tlt

// Reads one angle in degrees per line (.rawtlt, .tlt of IMOD), skipping blank lines. malloc'ed. RG_GOOD, or one line and
// RG_USAGE.
int rg_tilts_read(const char *path, int64_t *n, double **tilt_deg);
