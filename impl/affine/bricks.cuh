// SPDX-License-Identifier: MIT
// bricks.cuh: a copy of a volume made for gathering at any angle: pairs of neighbours along x, in bricks of 4 x 2 x 2 pairs.
//
// A load of a warp costs a cycle for every line of 128 bytes that it touches. A brick is one line, so 4 x 4 x 2 voxels come from
// 7 to 8 of them however they lie (from rows: 10 on average, 30 where x is turned onto z), and pairs need four loads a voxel
// where single voxels need eight. Twice the memory: 90 x 90 x 90 take 6 MB, which the L2 holds.
// A border of one voxel below and two above holds what the rule puts outside; the typical value is taken away.
#ifndef RG_AFFINE_BRICKS_CUH
#define RG_AFFINE_BRICKS_CUH

#include "patch.cuh"

enum { AF_BRICK_W = 4, AF_BRICK_H = 2, AF_BRICK_D = 2, AF_BRICK = AF_BRICK_W * AF_BRICK_H * AF_BRICK_D, AF_BORDER = 3 };

typedef struct af_bricks {
    float2 *pair;
    int row, layer; // pairs from a brick to the one below, and to the one behind
} af_bricks;

// Offset of pair (x, y, z), counted from the border's first voxel: the sum of three.
RG_HD int af_brick_x(int x) { return (x >> 2) * AF_BRICK + (x & 3); }
RG_HD int af_brick_y(int y, int row) { return (y >> 1) * row + (y & 1) * AF_BRICK_W; }
RG_HD int af_brick_z(int z, int layer) { return (z >> 1) * layer + (z & 1) * AF_BRICK_W * AF_BRICK_H; }

static inline af_bricks af_bricks_of(const af_size &z, void *memory)
{
    const int row = (int)af_blocks(z.w + AF_BORDER, AF_BRICK_W) * AF_BRICK;
    const af_bricks b = {(float2 *)memory, row, (int)af_blocks(z.h + AF_BORDER, AF_BRICK_H) * row};
    return b;
}

static inline size_t af_bricks_pairs(const af_size &z)
{
    return (size_t)af_blocks(z.w + AF_BORDER, AF_BRICK_W) * af_blocks(z.h + AF_BORDER, AF_BRICK_H) *
           af_blocks(z.d + AF_BORDER, AF_BRICK_D) * AF_BRICK;
}

static __device__ __forceinline__ float af_voxel_or_rule(const float *volume, const af_size &z, int x, int y, int d)
{
    const int cx = min(max(x, 0), z.w - 1), cy = min(max(y, 0), z.h - 1), cd = min(max(d, 0), z.d - 1);
    const bool empty = z.outside == AF_ZERO && (x != cx || y != cy || d != cd);
    return empty ? 0 : volume[((int64_t)cd * z.h + cy) * z.w + cx];
}

// Grid: x in blocks of AF_BLOCK pairs, y, z.
static __global__ void af_bricks_fill(const float *volume, af_size z, const float *typical, af_bricks to)
{
    const int x = (int)(blockIdx.x * AF_BLOCK + threadIdx.x), y = (int)blockIdx.y, d = (int)blockIdx.z;
    if (x >= z.w + AF_BORDER) return;
    const float first = af_voxel_or_rule(volume, z, x - 1, y - 1, d - 1), second = af_voxel_or_rule(volume, z, x, y - 1, d - 1);
    to.pair[af_brick_x(x) + af_brick_y(y, to.row) + af_brick_z(d, to.layer)] = make_float2(first - typical[0], second - typical[0]);
}

static __device__ __forceinline__ float af_pair_between(float2 pair, float share) { return af_between(pair.x, pair.y, share); }

// s from the border's first voxel, clamped into it.
static __device__ __forceinline__ float af_bricks_at(const af_bricks &b, const float s[3])
{
    const int i = __float2int_rz(s[0]), j = __float2int_rz(s[1]), k = __float2int_rz(s[2]); // not negative
    const float fx = s[0] - (float)i, fy = s[1] - (float)j, fz = s[2] - (float)k;
    const float2 *at = b.pair + af_brick_x(i);
    const int above = af_brick_y(j, b.row), below = af_brick_y(j + 1, b.row);
    const int front = af_brick_z(k, b.layer), back = af_brick_z(k + 1, b.layer);
    const float near_plane = af_between(af_pair_between(__ldg(at + above + front), fx), af_pair_between(__ldg(at + below + front), fx), fy);
    const float far_plane = af_between(af_pair_between(__ldg(at + above + back), fx), af_pair_between(__ldg(at + below + back), fx), fy);
    return af_between(near_plane, far_plane, fz);
}

#endif
