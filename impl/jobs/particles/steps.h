// SPDX-License-Identifier: MIT
// steps.h: the steps of FREALIGN's jobs between the seven routines: the transform of a reference, a map from a volume, sums
// over rings. They run on the CPU (host.c) and on the GPU, real or emulated (device.cu). Pointers are device memory. Functions
// finish before they return, and return 0 or an error code of the device.
#pragma once

#include "../../frealign/compare/index.h"
#include "../../frealign/ctf/index.h"
#include "../../frealign/insert/index.h"
#include "../../frealign/turn/index.h"
#include "../../gpu/device.h"

typedef struct fr_map_call {
    int64_t side, outer;      // rings beyond outer are left out
    const float *volume;      // records of pinsert_s
    double f, scale;          // R = scale num / (f + den)
    const double *correction; // factors along an axis, `side` of them from -side/2 on: a voxel is divided by three
    float mask_px;            // radius of the mask, 0: none
    float *grid;              // work area, see fr_grid_floats
    double *edge;             // work area for two
    float *map;               // side^3
    int threads;              // on the CPU
} fr_map_call;

typedef struct fr_job_steps {
    size_t (*work_bytes)(int64_t side); // work area of a map's transform on the device
    // Computes the coefficients of a map of own^3 voxels on the grid of side^3, origin in the corner; 0 where it has none.
    // grid: work area.
    int (*reference)(int64_t own, const float *map, float *grid, int64_t side, float *f3, int threads);
    int (*map)(const fr_map_call *);
    // Sums the records' third numbers over the stored nodes of each ring, and counts the nodes: sums[2][fr_all_rings].
    int (*weights)(int64_t side, const float *volume, double *sums, int threads);
    // Sums over rings 0 .. side/2: Re sum A conj B, sum |A|^2, sum |B|^2, mates included. grid: work area for both transforms.
    int (*shells)(int64_t side, const float *a, const float *b, float *const grid[2], double *sums, int threads);
} fr_job_steps;

// Floats of half a transform of side^3 reals, in place.
RG_HD int64_t fr_grid_floats(int64_t side) { return 2 * fr_voxels(side); }
// The rings of the whole cube, corners included.
RG_HD int64_t fr_all_rings(int64_t side) { return fr_ring(3 * (side / 2) * (side / 2)) + 1; }

// The coefficient at node e of the map's transform; zero beyond the sphere.
RG_HD void fr_divide(const fr_map_call *c, int64_t e, float out[2]) {
    const int64_t side = c->side, width = fr_width(side), row = e / width, x = e % width;
    const int64_t y = fr_frequency(side, row % side), z = fr_frequency(side, row / side), rr = x * x + y * y + z * z;
    const float *v = c->volume + FR_RECORD * e;
    const double den = v[2] + c->f, sign = (x + y + z) & 1 ? -1 : 1;
    const int inside = rr <= c->outer * c->outer && 4 * rr < side * side && den > 0;
    out[0] = inside ? (float)(sign * c->scale * v[0] / den) : 0;
    out[1] = inside ? (float)(sign * c->scale * v[1] / den) : 0;
}

// Squared distance of voxel e from the centre.
RG_HD int64_t fr_from_centre(int64_t side, int64_t e) {
    const int64_t x = e % side - side / 2, y = e / side % side - side / 2, z = e / side / side - side / 2;
    return x * x + y * y + z * z;
}

// Voxel e of the map from the transform of what fr_divide gave.
RG_HD float fr_correct(const fr_map_call *c, int64_t e) {
    const int64_t side = c->side, row = e / side, x = e % side;
    const double *by = c->correction;
    return (float)(c->grid[row * 2 * fr_width(side) + x] / (by[x] * by[row % side] * by[row / side]));
}

// The place of node e of the transform of `own` points a side in that of `side`; -1: none.
RG_HD int64_t fr_resampled(int64_t own, int64_t side, int64_t e, float *sign) {
    const int64_t width = fr_width(own), row = e / width, x = e % width, half = (own < side ? own : side) / 2;
    const int64_t y = fr_frequency(own, row % own), z = fr_frequency(own, row / own);
    *sign = (x + y + z) & 1 ? -1.0f : 1.0f;
    return x < half && y < half && -y < half && z < half && -z < half ? fr_voxel(side, x, y, z) : -1;
}

// The ring of stored node e.
RG_HD int64_t fr_ring_of_node(int64_t side, int64_t e) {
    const int64_t width = fr_width(side), row = e / width, x = e % width;
    const int64_t y = fr_frequency(side, row % side), z = fr_frequency(side, row / side);
    return fr_ring(x * x + y * y + z * z);
}
// The number of coefficients that it represents.
RG_HD int fr_stands_for(int64_t side, int64_t e) {
    const int64_t x = e % fr_width(side);
    return x == 0 || 2 * x == side ? 1 : 2;
}

RG_C const fr_job_steps fr_steps_cpu, fr_steps_emulated;
RG_C const fr_job_steps fr_steps_gpu; // in a build with CUDA
RG_C const fr_job_steps *fr_steps(const rg_device *);
