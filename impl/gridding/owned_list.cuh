// SPDX-License-Identifier: MIT
// owned_list.cuh: lists the voxels of a brick that a sample reaches, by the size of the window that they need.
//
// One thread a column. The voxels of a column within b of the image are a range, and those that need the larger window
// (gr_classes) are a range about the same middle, which is cut out of the first. The order of the warps in the lists varies
// from run to run; no sum depends on it.
#ifndef RG_GRIDDING_OWNED_LIST_CUH
#define RG_GRIDDING_OWNED_LIST_CUH

#include "owned_samples.cuh"

enum { THREADS = BRICK * BRICK, COLUMN_BITS = 8 };

// The lists of both classes grow towards each other in one array.
typedef struct gr_lists {
    unsigned short *voxel; // column | a << COLUMN_BITS
    int most;              // voxels in both
} gr_lists;

// Voxels of a column within b: 2 sqrt(3) b at most.
static inline int gr_list_most(double b) {
    const int most = (int)(2 * 1.7321 * b + 0.01) + 1;
    return THREADS * (most < BRICK ? most : BRICK);
}

// Foot of a column on the image, its height, and its first element of the brick.
typedef struct __align__(16) gr_column {
    float x, y, height;
    int element;
}
gr_column;

// A warp covers 8 x 4 columns, half a warp 4 x 4.
RG_HD int gr_column_u(int thread) { return (thread >> 5 & 1) * 8 + (thread >> 4 & 1) * 4 + (thread & 3); }
RG_HD int gr_column_v(int thread) { return (thread >> 6) * 4 + (thread >> 2 & 3); }

typedef struct gr_range {
    int first, last;
} gr_range;

static __device__ __forceinline__ gr_range gr_range_of(float middle, float half, gr_range limits) {
    const gr_range r = {max((int)ceilf(middle - half), limits.first), min((int)floorf(middle + half), limits.last)};
    return r;
}

// The voxels of column (u, v) that are in the volume, and no farther from the origin than pixels of the circle reach. If the
// tile is in the circle, all are: it extends farther beyond their feet than they are farther from the origin.
static __device__ __forceinline__ gr_range gr_limits(const gr_hit &hit, int u, int v, float reach) {
    gr_range r = {0, BRICK - 1};
    if (hit.in_circle) return r;
    r.last = u < hit.columns_u && v < hit.columns_v ? hit.last : -1;
    const float x = hit.u0 + (float)u, y = hit.v0 + (float)v, room = reach * reach - x * x - y * y;
    return room < 0 ? gr_range{0, -1} : gr_range_of(-hit.a0, sqrtf(room), r);
}

static __device__ __forceinline__ int gr_length(gr_range r) { return max(r.last - r.first + 1, 0); }

// Inclusive prefix sum of n over the lanes.
static __device__ __forceinline__ int gr_sum_through(int n) {
    int sum = n;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
#ifdef RG_EMULATED
        const int below = __shfl_up_sync(~0u, sum, (unsigned)step);
        sum += (int)threadIdx.x % 32 >= step ? below : 0;
#else // the instruction returns whether such a lane exists
        asm volatile("{ .reg .pred there; .reg .b32 below;\n"
                     "shfl.sync.up.b32 below|there, %0, %1, 0, -1;\n"
                     "@there add.s32 %0, %0, below; }"
                     : "+r"(sum)
                     : "r"(step));
#endif
    }
    return sum;
}

// Writes the voxels of `outer` that are not in `inner`, a range in it.
static __device__ __forceinline__ void gr_write(unsigned short *to, int step, int column, gr_range outer, gr_range inner) {
    const int past = column + (outer.last + 1) * (1 << COLUMN_BITS), gap = column + inner.first * (1 << COLUMN_BITS),
              beyond = column + (inner.last + 1) * (1 << COLUMN_BITS);
    int entry = column + outer.first * (1 << COLUMN_BITS);
    entry = entry == gap ? beyond : entry;
#pragma unroll 1
    for (; entry < past; to += step) {
        *to = (unsigned short)entry;
        entry += 1 << COLUMN_BITS;
        entry = entry == gap ? beyond : entry;
    }
}

// Lists the voxels of the hit in `column` and `lists`. number: how many of each class; the caller sets it to 0. Omits voxels
// beyond `reach` of the origin where there can be any.
static __device__ __forceinline__ void gr_list_voxels(
    const gr_hit &hit, const gr_classes &classes, float reach, gr_lists lists, gr_column *column, int *number) {
    const int lane = (int)threadIdx.x % 32, iu = gr_column_u((int)threadIdx.x), iv = gr_column_v((int)threadIdx.x);
    const float u = (float)iu, v = (float)iv;
    const float4 x = hit.x, y = hit.y, h = hit.h, at = hit.columns;
    const float middle = at.x * u + (at.y * v + at.z);
    const gr_range limits = gr_limits(hit, iu, iv, reach);
    gr_range r[2];
    r[1] = gr_range_of(middle, classes.height[1] * at.w + RANGE_MARGIN, limits);
    if (!__any_sync(~0u, r[1].first <= r[1].last)) return;
    const gr_column own = {
        x.x * u + (x.y * v + x.w), y.x * u + (y.y * v + y.w), h.x * u + (h.y * v + h.w), iu * hit.stride_u + iv * hit.stride_v};
    column[threadIdx.x] = own;
    r[0] = gr_range_of(middle, classes.height[0] * at.w + RANGE_MARGIN, limits);
    if (classes.height[0] < 0 || r[0].last < r[0].first) // then all of the other class lies before it
        r[0].first = (r[0].last = r[1].last) + 1;
    const int n0 = gr_length(r[0]), n1 = gr_length(r[1]) - n0;
    // Totals of a warp are below 2^10: 32 columns of at most 16 voxels.
    const int through = gr_sum_through(n0 | n1 << 16), total = __shfl_sync(~0u, through, 31);
    int base = 0;
    if (lane < 2) base = atomicAdd(&number[lane], total >> 16 * lane & 65535);
    const int at0 = __shfl_sync(~0u, base, 0) + (through & 65535) - n0;
    const int at1 = __shfl_sync(~0u, base, 1) + (through >> 16) - n1;
    const int entry = (int)threadIdx.x;
    const gr_range none = {BRICK, BRICK - 1};
    gr_write(lists.voxel + at0, 1, entry, r[0], none);
    gr_write(lists.voxel + (lists.most - 1 - at1), -1, entry, r[1], r[0]);
}

#endif
