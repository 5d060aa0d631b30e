// SPDX-License-Identifier: MIT
// view.cuh: a sample seen along the axis nearest to its normal, as gather and owned walk over the volume.
//
// That axis is a, the other two are u and v. A column of voxels (u, v, all a) meets the image at a = su u + sv v, and is within
// b of it up to `half` on both sides. As a is the largest component of the normal, |su|, |sv| <= 1, su^2 + sv^2 <= 2
// and half <= sqrt(3) b.
#ifndef RG_GRIDDING_VIEW_CUH
#define RG_GRIDDING_VIEW_CUH

#include "insert.cuh"

enum { X_AXIS, Y_AXIS, Z_AXIS, AXES };
static constexpr float TILE_MARGIN = 0.02f, RANGE_MARGIN = 1e-3f; // well above the rounding errors of a coordinate

// A coordinate of the image's frame (index.h) at the voxel (u, v, a): t = u_step u + v_step v + a_step a.
typedef struct gr_steps {
    float u, v, a,
        reach; // reach: of the discs of radius sqrt(b^2 - height^2) about a column's voxels, from the column's foot
} gr_steps;

typedef struct gr_view {
    float su, sv, half;
    gr_steps x, y, height;
} gr_view;

RG_HD int gr_u_axis(int axis) { return axis == X_AXIS ? Y_AXIS : X_AXIS; }
RG_HD int gr_v_axis(int axis) { return axis == Z_AXIS ? Y_AXIS : Z_AXIS; }
RG_HD int gr_lowest(int axis, int k) { return axis == X_AXIS ? 0 : -k; } // coordinate along an axis of the volume

static __device__ __forceinline__ int gr_nearest_axis(const float *m) {
    const float x = fabsf(m[2]), y = fabsf(m[5]), z = fabsf(m[8]);
    return z >= x && z >= y ? Z_AXIS : y >= x ? Y_AXIS : X_AXIS;
}

static __device__ __forceinline__ gr_view gr_view_of(const float *m, int axis, float b) {
    const float *u = m + 3 * gr_u_axis(axis), *v = m + 3 * gr_v_axis(axis), *a = m + 3 * axis;
    const float tilt_x = a[0] / a[2], tilt_y = a[1] / a[2];
    gr_view view = {-u[2] / a[2], -v[2] / a[2], b / fabsf(a[2]), {u[0], v[0], a[0], b * sqrtf(1.0f + tilt_x * tilt_x)},
        {u[1], v[1], a[1], b * sqrtf(1.0f + tilt_y * tilt_y)}, {u[2], v[2], a[2], 0}};
    return view;
}

// The pixels along one coordinate that n_u x n_v columns from (u0, v0) can need: those between the outermost feet, and `reach`
// beyond.
static __device__ __forceinline__ void gr_span(
    const gr_view &view, const gr_steps &t, int u0, int v0, int n_u, int n_v, int *first, int *last) {
    const float u = t.u + t.a * view.su, v = t.v + t.a * view.sv, corner = u * (float)u0 + v * (float)v0;
    const float across_u = (float)(n_u - 1) * u, across_v = (float)(n_v - 1) * v, beside = t.reach + TILE_MARGIN;
    *first = (int)ceilf(corner + fminf(across_u, 0) + fminf(across_v, 0) - beside);
    *last = (int)floorf(corner + fmaxf(across_u, 0) + fmaxf(across_v, 0) + beside);
}

#endif
