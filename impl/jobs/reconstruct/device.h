// SPDX-License-Identifier: MIT
// device.h: what reconstruct does on a GPU beside the insertion: images to transforms, their CTF, the operators of the grid,
// the map. The same steps as prepare.c, map.c and the gridding's own map.c take on the host, compiled for the GPU and emulated.
// All pointers are the device's; everything is queued on a stream; 0 or an error code of the device.
#pragma once

#include "../../../data/geometry/ctf.h"
#include "../../gpu/device.h"
#include "../../gridding/quotient.h"
#include "../../suite.h"

// What has been done to images with their CTF before: nothing, multiplied by it, multiplied by its sign.
enum { GR_APPLIED_NOT, GR_APPLIED_WHOLE, GR_APPLIED_SIGN };
// What makes a frequency of such an image c times the projection's again, as the insertion takes it, so that c F and c^2 are
// summed of it too. Where c is 0 an image says nothing.
RG_HD float rc_plain(int applied, float c)
{
    if (applied == GR_APPLIED_SIGN) return c < 0 ? -1.0f : 1.0f;
    return c > 1e-30f || c < -1e-30f ? 1 / c : 0.0f;
}

// How images of one size are transformed on a stream.
typedef struct rc_lane rc_lane;

// One map: sums, room for the P^3 grid, the factor of a voxel by its squared distance from the
// centre, the result of N^3 voxels.
typedef struct rc_map_call {
    gr_sums sums;
    int64_t padded, side;
    float *grid; // 2 P^2 (P / 2 + 1); cuFFT takes work_bytes beside it
    const double *factor;
    float *map;
} rc_map_call;

typedef struct rc_device_steps {
    size_t (*lane_room)(int64_t side, int64_t padded, int64_t images); // bytes at `room`
    int (*lane_make)(rc_lane **, int64_t side, int64_t padded, int64_t k, void *room, void *stream);
    void (*lane_free)(rc_lane *);
    // Pictures of side^2 and origins (x, y in pixels) to the stored pixels of index.h; negative with invert.
    int (*transforms)(rc_lane *, const float *picture, const double *origin, int64_t images, int invert, float *out);
    // The CTF at the stored pixels, and the sum of its squares over the disc, mates included, of each image. The terms are for
    // frequencies in steps of the padded transform.
    // Also makes the images plain again to which their CTF has been applied (rc_plain).
    int (*ctfs)(void *stream, int64_t k, const rg_ctf *, int64_t images, int applied, float *image, float *out, double *square);
    // to(v) = the sum over the operators S (n of them, 9 entries 0, 1 or -1 each) of from(S^-1 v).
    int (*lattice)(
        void *stream, int64_t k, const int *operators, int n, const float *g, const float *w, float *to_g, float *to_w);
    size_t (*work_bytes)(int64_t padded);          // that its transform takes for itself
    int (*map)(void *stream, const rc_map_call *); // done on return
} rc_device_steps;

RG_C const rc_device_steps rc_steps_emulated;
RG_C const rc_device_steps rc_steps_gpu;                 // in a build with CUDA
RG_C const rc_device_steps *rc_steps(const rg_device *); // of this GPU
