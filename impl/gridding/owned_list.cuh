// SPDX-License-Identifier: MIT
// owned_list.cuh: the columns of a brick that a warp takes, and the list of their voxels that a sample reaches.
#ifndef RG_GRIDDING_OWNED_LIST_CUH
#define RG_GRIDDING_OWNED_LIST_CUH

#include "owned_brick.cuh"

// The columns of a warp while a list of samples passes. Coordinates are those of the volume, -k .. k.
typedef struct gr_prism {
    int axis, u0, v0, a0, last_a;  // first voxel of the columns, along axis, and where they end
    int columns_u, columns_v;      // that lie in the volume
    gr_place_in_brick at, u, v, a; // where the first voxel is, and a step in each direction
} gr_prism;

static __device__ gr_prism gr_prism_of(int axis, const int low[3], int k)
{
    const int warp = (int)threadIdx.x / 32, u_axis = gr_u_axis(axis), v_axis = gr_v_axis(axis);
    const int u = warp % 2 * WARP_U, v = warp / 2 * WARP_V;
    gr_prism p;
    p.axis = axis;
    p.u0 = low[u_axis] + u;
    p.v0 = low[v_axis] + v;
    p.a0 = low[axis];
    p.last_a = min(p.a0 + BRICK - 1, k);
    p.columns_u = min(WARP_U, k + 1 - p.u0);
    p.columns_v = min(WARP_V, k + 1 - p.v0);
    p.u = gr_along(u_axis, 1);
    p.v = gr_along(v_axis, 1);
    p.a = gr_along(axis, 1);
    p.at.line = u * p.u.line + v * p.v.line;
    p.at.turn = u * p.u.turn + v * p.v.turn;
    return p;
}

static __device__ __forceinline__ bool gr_misses(const gr_prism &p, float4 foot)
{
    const float middle = foot.x * ((float)p.u0 + (WARP_U - 1) / 2.0f) + foot.y * ((float)p.v0 + (WARP_V - 1) / 2.0f);
    const float reach = fabsf(foot.x) * ((WARP_U - 1) / 2.0f) + fabsf(foot.y) * ((WARP_V - 1) / 2.0f) + foot.z + TILE_MARGIN;
    return middle + reach < (float)p.a0 || middle - reach > (float)p.last_a;
}

// Voxels of one column within b of a sample, and those of them whose disc needs the whole window; `last` may be below `first`.
typedef struct gr_column {
    int first, last, first_full, last_full;
} gr_column;

static __device__ __forceinline__ gr_column gr_column_of(const gr_prism &p, const gr_view &view, int u, int v, float full)
{
    const float middle = view.su * (float)(p.u0 + u) + view.sv * (float)(p.v0 + v), half = view.half + RANGE_MARGIN;
    const bool exists = u < p.columns_u && v < p.columns_v;
    gr_column c;
    c.first = max((int)ceilf(middle - half), p.a0);
    c.last = exists ? min((int)floorf(middle + half), p.last_a) : c.first - 1;
    c.first_full = max((int)ceilf(middle - full * view.half), c.first);
    c.last_full = min((int)floorf(middle + full * view.half), c.last);
    return c;
}

// A voxel of a list: u, v and a of the prism in 3, 3 and 4 bits.
RG_HD unsigned short gr_list_entry(int u, int v, int a) { return (unsigned short)(u | v << 3 | a << 6); }

// Numbers of voxels: with the whole window, and with the small one.
typedef struct gr_numbers {
    int full, small;
} gr_numbers;

// The sum of n over the lanes before this one, and over all.
static __device__ __forceinline__ int gr_sum_before(int n, int *total)
{
    const int lane = (int)threadIdx.x % 32;
    int sum = n;
    for (int step = 1; step < 32; step *= 2) {
        const int below = __shfl_up_sync(~0u, sum, (unsigned)step);
        sum += lane >= step ? below : 0;
    }
    *total = __shfl_sync(~0u, sum, 31);
    return sum - n;
}

// Lists the voxels within b of a sample, those with the whole window first. Half warps list squares of columns, one below the
// other and then the same in the other half of the prism: of what was tried, pixels meet least often in a bank so.
static __device__ __forceinline__ gr_numbers gr_list_voxels_of(const gr_prism &p, const gr_view &view, float full,
                                                               unsigned short *list)
{
    const int lane = (int)threadIdx.x % 32, u = lane / 16 * 4 + lane % 4, v = lane / 4 % 4;
    gr_column c[2];
    int before[2], total[2]; // numbers of both kinds, in 16 bits each
    for (int i = 0; i < 2; i++) {
        c[i] = gr_column_of(p, view, u, v + i * (WARP_V / 2), full);
        const int all = max(c[i].last - c[i].first + 1, 0), whole = max(c[i].last_full - c[i].first_full + 1, 0);
        before[i] = gr_sum_before(whole + ((all - whole) << 16), &total[i]);
    }
    const gr_numbers n = {(total[0] + total[1]) & 0xffff, (total[0] + total[1]) >> 16};
    before[1] += total[0];
    for (int i = 0; i < 2; i++) {
        int at_full = before[i] & 0xffff, at_small = n.full + (before[i] >> 16);
        for (int a = c[i].first; a <= c[i].last; a++) {
            const bool whole = a >= c[i].first_full && a <= c[i].last_full;
            list[whole ? at_full : at_small] = gr_list_entry(u, v + i * (WARP_V / 2), a - p.a0);
            at_full += whole;
            at_small += !whole;
        }
    }
    return n;
}

#endif
