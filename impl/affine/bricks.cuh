// SPDX-License-Identifier: MIT
// bricks.cuh: a copy of an image or volume for gathering at any angle: pairs of neighbours along x, in bricks of 16 pairs.
//
// A load of a warp costs a cycle for every line of 128 bytes that it touches. A brick is one line, so 8 x 4 pixels come from 5
// to 6 lines at any angle (from rows: 5 at 0 degrees, 9 at 90) and 4 x 4 x 2 voxels from 7 to 8 (from rows: 10 on average, 30
// if x is turned onto z); and pairs need half as many loads as single pixels. They take twice the memory: 34 MB for 2048 x
// 2048, 6 MB for 90 x 90 x 90, which fits in the L2 of an H200. A border of one pixel below and two above has the values that
// the rule gives outside; the typical value is subtracted.
#ifndef RG_AFFINE_BRICKS_CUH
#define RG_AFFINE_BRICKS_CUH

#include "patch.cuh"

enum { AF_BRICK = 16, AF_BORDER = 3 }; // pairs; one pixel before and two after

typedef struct af_bricks {
    float2 *pair;
    int row, layer; // pairs from a brick to the one below, and to the one in the next plane, less those of one brick
} af_bricks;

// Offset of pair (x, y, z), relative to the border's first pixel: x + 4 y + 8 z plus the pairs between bricks. A brick is 4 x 4
// pairs of an image, 4 x 2 x 2 of a volume.
RG_HD int af_brick_x(int x) { return x + (x >> 2) * (AF_BRICK - 4); }
RG_HD int af_brick_y_2d(int y, int row) { return 4 * y + (y >> 2) * row; }
RG_HD int af_brick_y_3d(int y, int row) { return 4 * y + (y >> 1) * (row + 8); }
RG_HD int af_brick_z(int z, int layer) { return 8 * z + (z >> 1) * layer; }

static inline af_bricks af_bricks_of(const af_size &z, void *memory) {
    const int row = (int)af_blocks(z.w + AF_BORDER, 4) * AF_BRICK;
    const af_bricks b = {
        (float2 *)memory, row - AF_BRICK, (int)af_blocks(z.h + AF_BORDER, z.dims == 2 ? 4 : 2) * row - AF_BRICK};
    return b;
}

static inline size_t af_bricks_pairs(const af_size &z) {
    const af_bricks b = af_bricks_of(z, NULL);
    return (size_t)(b.layer + AF_BRICK) * (z.dims == 2 ? 1 : af_blocks(z.d + AF_BORDER, 2));
}

static __device__ __forceinline__ float af_voxel_or_rule(const float *volume, const af_size &z, int x, int y, int d) {
    const int cx = min(max(x, 0), z.w - 1), cy = min(max(y, 0), z.h - 1), cd = min(max(d, 0), z.d - 1);
    const bool empty = z.outside == AF_ZERO && (x != cx || y != cy || d != cd);
    return empty ? 0 : volume[((int64_t)cd * z.h + cy) * z.w + cx];
}

// Grid: x in blocks of AF_BLOCK pairs, y, z.
static __global__ void af_bricks_fill(const float *volume, af_size z, const float *typical, af_bricks to) {
    const int x = (int)(blockIdx.x * AF_BLOCK + threadIdx.x), y = (int)blockIdx.y, d = (int)blockIdx.z;
    if (x >= z.w + AF_BORDER) return;
    const int plane = z.dims == 2 ? 0 : d - 1;
    const float first = af_voxel_or_rule(volume, z, x - 1, y - 1, plane), second = af_voxel_or_rule(volume, z, x, y - 1, plane);
    const int below = z.dims == 2 ? af_brick_y_2d(y, to.row) : af_brick_y_3d(y, to.row) + af_brick_z(d, to.layer);
    to.pair[af_brick_x(x) + below] = make_float2(first - typical[0], second - typical[0]);
}

static __device__ __forceinline__ float af_pair_between(float2 pair, float share) { return af_between(pair.x, pair.y, share); }

// s relative to the border's first pixel, clamped into it.
static __device__ __forceinline__ float af_bricks_at_2d(const af_bricks &b, const float s[3]) {
    const int i = __float2int_rz(s[0]), j = __float2int_rz(s[1]); // not negative
    const float fx = s[0] - (float)i, fy = s[1] - (float)j;
    const float2 *at = b.pair + af_brick_x(i);
    return af_between(af_pair_between(__ldg(at + af_brick_y_2d(j, b.row)), fx),
        af_pair_between(__ldg(at + af_brick_y_2d(j + 1, b.row)), fx), fy);
}

static __device__ __forceinline__ float af_bricks_at_3d(const af_bricks &b, const float s[3]) {
    const int i = __float2int_rz(s[0]), j = __float2int_rz(s[1]), k = __float2int_rz(s[2]); // not negative
    const float fx = s[0] - (float)i, fy = s[1] - (float)j, fz = s[2] - (float)k;
    const float2 *at = b.pair + af_brick_x(i);
    const int above = af_brick_y_3d(j, b.row), below = af_brick_y_3d(j + 1, b.row);
    const int front = af_brick_z(k, b.layer), back = af_brick_z(k + 1, b.layer);
    const float near_plane =
        af_between(af_pair_between(__ldg(at + above + front), fx), af_pair_between(__ldg(at + below + front), fx), fy);
    const float far_plane =
        af_between(af_pair_between(__ldg(at + above + back), fx), af_pair_between(__ldg(at + below + back), fx), fy);
    return af_between(near_plane, far_plane, fz);
}

#endif
