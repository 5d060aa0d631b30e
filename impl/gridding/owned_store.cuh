// SPDX-License-Identifier: MIT
// owned_store.cuh: how owned.cu writes the volume: the sums of a brick, and zeros where no pixel reaches.
//
// Rows of the volume have k + 1 voxels, so rows of a brick begin and end within a sector of 32 bytes. When the first part of a
// sector that two bricks share is written, L2 reads the sector from memory. That, not bytes, is the cost of storing.
// Prefetching all of a brick's shared sectors before it is stored, so that L2 reads them together, saves a part of it where few
// samples are inserted, and costs time where many are.
#ifndef RG_GRIDDING_OWNED_STORE_CUH
#define RG_GRIDDING_OWNED_STORE_CUH

#include "owned_brick.cuh"

typedef struct gr_volume {
    float *g, *w;
} gr_volume;

static __device__ __forceinline__ void gr_prefetch(const float *p) {
#ifdef RG_EMULATED
    (void)p;
#else
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#endif
}

// The ends of a brick's rows, one thread each.
static __device__ void gr_prefetch_ends(const gr_volume &to, int k, const int low[AXES]) {
    const int y = low[Y_AXIS] + (int)threadIdx.x % BRICK, z = low[Z_AXIS] + (int)threadIdx.x / BRICK;
    if (y > k || z > k) return;
    const int64_t first = gr_voxel(k, low[X_AXIS], y, z), last = first + min(BRICK - 1, k - low[X_AXIS]);
    gr_prefetch(to.g + 2 * first);
    gr_prefetch(to.w + first);
    gr_prefetch(to.g + 2 * last + 1);
    gr_prefetch(to.w + last);
}

static __device__ __forceinline__ void gr_put(const gr_volume &to, bool aligned, int64_t e, float re, float im, float w) {
    if (aligned) {
        __stcs(reinterpret_cast<float2 *>(to.g) + e, make_float2(re, im));
    } else {
        to.g[2 * e] = re;
        to.g[2 * e + 1] = im;
    }
    __stcs(to.w + e, w);
}

// Stores the sums of a brick in the volume and clears them. A thread walks along z, one plane of the volume a step.
static __device__ void gr_store(const gr_volume &to, int k, const int low[AXES], float *sums) {
    const int x = low[X_AXIS] + (int)threadIdx.x % BRICK, y = low[Y_AXIS] + (int)threadIdx.x / BRICK;
    const int64_t plane = (int64_t)(2 * k + 1) * (k + 1);
    const int past = x > k || y > k ? 0 : min(BRICK, k + 1 - low[Z_AXIS]);
    const bool aligned = (uintptr_t)to.g % sizeof(float2) == 0;
    int64_t e = gr_voxel(k, x, y, low[Z_AXIS]);
    for (int z = 0; z < BRICK; z++, e += plane) {
        float *from = sums + gr_element((int)threadIdx.x + z * BRICK * BRICK);
        const float re = from[0], im = from[BRICK_VOXELS], w = from[2 * BRICK_VOXELS];
        from[0] = from[BRICK_VOXELS] = from[2 * BRICK_VOXELS] = 0;
        if (z < past) gr_put(to, aligned, e, re, im, w);
    }
}

// Stores the sums of a brick in a slot, and clears them.
static __device__ void gr_store_slot(float *slot, float *sums) {
    float4 *to = (float4 *)slot, *from = (float4 *)sums;
    for (int i = (int)threadIdx.x; i < SLOT_FLOATS / 4; i += THREADS) {
        to[i] = from[i];
        from[i] = make_float4(0, 0, 0, 0);
    }
}

// No unit owns voxels of bricks beyond reach: every unit clears its share of the volume's rows along x there, so that writing
// to memory and inserting overlap. A lane finds the start of these voxels in a row, and a warp clears them.
static __device__ void gr_clear_beyond(const gr_volume &to, gr_bricks n, int unit, int units) {
    const int k = n.k, side = 2 * k + 1, lane = (int)threadIdx.x % 32;
    const int64_t rows = (int64_t)side * side;
    const int past = (int)(rows * (unit + 1) / units);
    const bool aligned = (uintptr_t)to.g % sizeof(float2) == 0;
    for (int row = (int)(rows * unit / units) + (int)threadIdx.x / 32; row < past; row += 32 * WARPS) {
        const int own = row + lane * WARPS, first = own < past ? gr_first_beyond(n, own % side, own / side) * BRICK : k + 1;
        for (int i = 0; i < 32 && row + i * WARPS < past; i++) {
            const int64_t e = (int64_t)(row + i * WARPS) * (k + 1);
            for (int x = __shfl_sync(~0u, first, i) + lane; x <= k; x += 32) gr_put(to, aligned, e + x, 0, 0, 0);
        }
    }
}

// The volume's element of voxel i = x + 16 y + 256 z of a brick; -1 outside the volume.
RG_HD int64_t gr_voxel_of_brick(int k, const int low[AXES], int i) {
    const int x = low[X_AXIS] + i % BRICK, y = low[Y_AXIS] + i / BRICK % BRICK, z = low[Z_AXIS] + i / (BRICK * BRICK);
    return x > k || y > k || z > k ? -1 : gr_voxel(k, x, y, z);
}

// The first of the units that share a brick represents them all: blocks of THREADS process its voxels, each a plane of the
// brick, and add up the slots in order.
static __global__ void gr_add_parts(gr_bricks n, const gr_unit *units, const gr_counters *count, gr_volume to) {
    rg_take_turn();
    const float *slots = gr_slots_of(units, count->units);
    for (int piece = (int)blockIdx.x; piece < BRICK * count->units; piece += (int)gridDim.x) {
        const gr_unit unit = units[piece / BRICK];
        if (unit.part > 0 || unit.parts == 1) continue;
        int low[AXES];
        gr_brick_low(n, unit.brick, low);
        const int i = piece % BRICK * THREADS + (int)threadIdx.x;
        const int64_t e = gr_voxel_of_brick(n.k, low, i);
        if (e < 0) continue;
        const float *from = slots + (int64_t)unit.slot * SLOT_FLOATS + gr_element(i);
        float re = 0, im = 0, w = 0;
#pragma unroll 4
        for (int part = 0; part < unit.parts; part++, from += SLOT_FLOATS) {
            re += from[0];
            im += from[BRICK_VOXELS];
            w += from[2 * BRICK_VOXELS];
        }
        gr_put(to, (uintptr_t)to.g % sizeof(float2) == 0, e, re, im, w);
    }
}

#endif
