// SPDX-License-Identifier: MIT
// device.h: the steps of reconstruct on a GPU besides the insertion: transforms of images, their CTF, the operators of the
// grid, the map. They are those of prepare.c, map.c and the gridding's own map.c on the host, compiled for the GPU and
// emulated. All pointers are device memory; all work is queued on a stream. Functions return 0 or an error code of the device.
#pragma once

#include "../../../data/geometry/ctf.h"
#include "../../gpu/device.h"
#include "../../gridding/quotient.h"
#include "../../suite.h"

// How their CTF has been applied to images already: not at all, as a whole, its sign only.
enum { GR_APPLIED_NOT, GR_APPLIED_WHOLE, GR_APPLIED_SIGN };
// The factor that turns a frequency of such an image into c times the projection's again, which the insertion expects, so that
// c F and c^2 are summed for it too. Where c is 0 an image has no information.
RG_HD float rc_plain(int applied, float c) {
    if (applied == GR_APPLIED_SIGN) return c < 0 ? -1.0f : 1.0f;
    return c > 1e-30f || c < -1e-30f ? 1 / c : 0.0f;
}

// Transforms images of one size on a stream.
typedef struct rc_lane rc_lane;

// One map: sums, a work area for the P^3 grid, the factor of a voxel by its squared distance from the centre, the result of N^3
// voxels.
typedef struct rc_map_call {
    gr_sums sums;
    int64_t padded, side;
    float *grid; // 2 P^2 (P / 2 + 1) floats; cuFFT needs work_bytes besides
    const double *factor;
    float *map;
} rc_map_call;

typedef struct rc_device_steps {
    size_t (*lane_room)(int64_t side, int64_t padded, int64_t images); // bytes of the work area `room`
    int (*lane_make)(rc_lane **, int64_t side, int64_t padded, int64_t k, void *room, void *stream);
    void (*lane_free)(rc_lane *);
    // Transforms pictures of side^2, with origins (x, y in pixels), to the stored pixels of index.h; negated with invert.
    int (*transforms)(rc_lane *, const float *picture, const double *origin, int64_t images, int invert, float *out);
    // Computes the CTF at the stored pixels and, for each image, the sum of its squares over the disc, mates included. The
    // rg_ctf are for frequencies in steps of the padded transform. Also makes images plain whose CTF has been applied
    // (rc_plain).
    int (*ctfs)(void *stream, int64_t k, const rg_ctf *, int64_t images, int applied, float *image, float *out, double *square);
    // Computes to(v) = the sum over the operators S (n of them, 9 entries 0, 1 or -1 each) of from(S^-1 v).
    int (*lattice)(
        void *stream, int64_t k, const int *operators, int n, const float *g, const float *w, float *to_g, float *to_w);
    size_t (*work_bytes)(int64_t padded);          // work area of its transform
    int (*map)(void *stream, const rc_map_call *); // finished on return
} rc_device_steps;

RG_C const rc_device_steps rc_steps_emulated;
RG_C const rc_device_steps rc_steps_gpu;                 // in a build with CUDA
RG_C const rc_device_steps *rc_steps(const rg_device *); // for this GPU
