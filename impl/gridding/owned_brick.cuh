// SPDX-License-Identifier: MIT
// owned_brick.cuh: the inner part of owned.cu: the pixels of a sample that a brick can need, in shared memory, and how the
// voxels of a list add theirs.
#ifndef RG_GRIDDING_OWNED_BRICK_CUH
#define RG_GRIDDING_OWNED_BRICK_CUH

#include "owned_list.cuh"
#include <climits>

// ---- tiles ---------------------------------------------------------------------------------------------------------------

typedef struct gr_tile {
    float2 *pixel; // c F
    float *c;      // c^2, where there is a CTF
} gr_tile;

// Pixels on their way to shared memory: a lane has one column of a tile, and of its rows every WARPS-th.
enum { WARPS = THREADS / 32, BATCH = 4, BATCH_ROWS = BATCH * WARPS };
typedef struct gr_load {
    float2 f[BATCH];
    float c[BATCH];
} gr_load;

// Of BATCH_ROWS rows and 32 columns from (row, column) on. The element of pixel (x, y), counted from that of (0, 0), is
// y (k + 1) + x; its mate's is the opposite.
template <bool has_ctf, bool aligned>
static __device__ __forceinline__ void gr_fetch_as(const gr_hit &hit, const gr_input &in, int row, int column, gr_load &load)
{
    const float *pixels = in.image + 2 * hit.origin, *ctf = in.ctf + (has_ctf ? hit.origin : 0);
    const int4 tile = hit.tile;
    column += (int)threadIdx.x % 32;
    row += (int)threadIdx.x / 32;
    const int x = tile.x + column, sign = x < 0 ? -1 : 1, down = sign * (in.k + 1);
    const int room = column >= tile.z ? -1 : hit.in_circle ? INT_MAX : in.k * in.k - x * x;
    int y = tile.y + row, element = y * down + sign * x;
#pragma unroll
    for (int i = 0; i < BATCH; i++, y += WARPS, element += WARPS * down) {
        const bool there = y * y <= room && y < tile.y + tile.w;
        load.f[i] = make_float2(0, 0);
        if (there)
            load.f[i] = gr_pixel_at(pixels, element, aligned);
        load.c[i] = has_ctf && there ? ctf[element] : 0;
    }
}

template <bool has_ctf>
static __device__ __forceinline__ void gr_fetch(const gr_hit &hit, const gr_input &in, int row, int column, gr_load &load)
{
    if ((uintptr_t)in.image % sizeof(float2) == 0)
        gr_fetch_as<has_ctf, true>(hit, in, row, column, load);
    else
        gr_fetch_as<has_ctf, false>(hit, in, row, column, load);
}

template <bool has_ctf>
static __device__ __forceinline__ void gr_keep(const gr_hit &hit, int row, int column, const gr_load &load, const gr_tile &to)
{
    const int4 tile = hit.tile;
    const int pitch = hit.pitch;
    column += (int)threadIdx.x % 32;
    row += (int)threadIdx.x / 32;
    const float sign = tile.x + column < 0 ? -1.0f : 1.0f;
    int at = row * pitch + column;
    row += column >= tile.z ? tile.w : 0; // none
#pragma unroll
    for (int i = 0; i < BATCH; i++, row += WARPS, at += WARPS * pitch) {
        if (row >= tile.w)
            continue;
        const float2 f = load.f[i];
        const float c = has_ctf ? load.c[i] : 1.0f;
        to.pixel[at] = make_float2(c * f.x, sign * c * f.y);
        if (has_ctf)
            to.c[at] = c * c;
    }
}

// The tile of a hit, of which the first batch has been fetched.
template <bool has_ctf>
static __device__ __forceinline__ void gr_keep_tile(const gr_hit &hit, const gr_input &in, gr_load &load, const gr_tile &to)
{
    gr_keep<has_ctf>(hit, 0, 0, load, to);
    for (int column = 0; column < hit.tile.z; column += 32)
        for (int row = column ? 0 : BATCH_ROWS; row < hit.tile.w; row += BATCH_ROWS) {
            gr_fetch<has_ctf>(hit, in, row, column, load);
            gr_keep<has_ctf>(hit, row, column, load, to);
        }
}

// ---- windows -------------------------------------------------------------------------------------------------------------

enum { INSIDE, AT_EDGE, WITH_CTF }; // pixels of a tile: all in the circle; some not; each with its c^2, 0 beyond the circle

// The nearest integer of x as a float's low bits: adding 1.5 x 2^23 rounds.
static constexpr float ROUND = 12582912.0f;
static constexpr int ROUND_BITS = 0x4B400000;

// What windows need of a hit.
typedef struct gr_frame {
    float x, y, height, m; // steps of the foot and the height (in b) from a to a + 1; the weight of the image
    int pitch, at, stride;
} gr_frame;

// The n x n pixels about foot (x, y), of which those within sqrt(rest) b of it count, and within kk, squared, of the origin.
template <int n, int mode>
static __device__ __forceinline__ gr_terms gr_window(const gr_frame &f, gr_tile tile, float per_b, float x, float y, float rest,
                                                     float kk)
{
    const float half = n % 2 ? 0.0f : 0.5f, up_x = (x - half) + ROUND, up_y = (y - half) + ROUND;
    const float px = up_x - ROUND - (float)((n - 1) / 2), py = up_y - ROUND - (float)((n - 1) / 2);
    const int pitch = f.pitch, skipped = ROUND_BITS + (n - 1) / 2;
    const int at = (__float_as_int(up_y) - skipped) * pitch + __float_as_int(up_x) - skipped - f.at;
    const float first_x = (px - x) * per_b, first_y = (py - y) * per_b;
    float across[n], column[n];
#pragma unroll
    for (int i = 0; i < n; i++) {
        const float dx = fmaf((float)i, per_b, first_x), gx = px + (float)i;
        across[i] = dx * dx;
        column[i] = gx * gx;
    }
    gr_terms sum = {0, 0, 0};
#pragma unroll
    for (int j = 0; j < n; j++) {
        const float dy = fmaf((float)j, per_b, first_y), row = rest - dy * dy, gy = py + (float)j, room = kk - gy * gy;
        const float2 *line = tile.pixel + at + j * pitch;
        const float *line_c = tile.c + at + j * pitch;
#pragma unroll
        for (int i = 0; i < n; i++) {
            const float weight = gr_nested(__saturatef(row - across[i]));
            const float2 pixel = line[i];
            sum.re += weight * pixel.x;
            sum.im += weight * pixel.y;
            if (mode == WITH_CTF)
                sum.w += weight * line_c[i];
            else if (mode == INSIDE || room >= column[i])
                sum.w += weight;
        }
    }
    return sum;
}

// What a block has in shared memory.
typedef struct gr_memory {
    float *sums;
    gr_tile tile;
    gr_column *column;
    gr_lists lists;
} gr_memory;

// A warp adds the n x n pixels of each of 32 voxels of a list, of `most` from `list` on in steps.
template <int n, int mode>
static __device__ __forceinline__ void gr_add_voxels(const gr_frame &f, const gr_memory &own, const gr_input &in,
                                                     const unsigned short *list, int at, int most)
{
    if (at >= most)
        return;
    const int entry = *list;
    const gr_column c = own.column[entry & ((1 << COLUMN_BITS) - 1)];
    const int ia = entry >> COLUMN_BITS;
    const float a = (float)ia, height = c.height + f.height * a;
    const gr_terms t = gr_window<n, mode>(f, own.tile, in.per_b, c.x + f.x * a, c.y + f.y * a, 1.0f - height * height,
                                          (float)(in.k * in.k));
    float *to = own.sums + gr_element(c.element + ia * f.stride);
    to[0] += f.m * t.re;
    to[BRICK_VOXELS] += f.m * t.im;
    to[2 * BRICK_VOXELS] += f.m * t.w;
}

// All voxels of the lists, 32 at a time, the largest windows first; warps take them to and fro, which levels their shares.
template <int N, int mode>
static __device__ __forceinline__ void gr_add_lists(const gr_hit &hit, const gr_memory &own, const gr_input &in,
                                                    const int number[3])
{
    const gr_frame f = {hit.x.z, hit.y.z, hit.h.z, hit.m, hit.pitch, hit.at, gr_stride(hit.axis)};
    const int lane = (int)threadIdx.x % 32, first = (number[0] + 31) / 32, second = first + (number[1] + 31) / 32,
              third = second + (number[2] + 31) / 32;
    int step = 2 * WARPS - 1 - 2 * ((int)threadIdx.x / 32);
    for (int i = (int)threadIdx.x / 32; i < third; i += step, step = 2 * WARPS - step)
        if (i < first) {
            const int at = i * 32 + lane;
            gr_add_voxels<N, mode>(f, own, in, own.lists.voxel + at, at, number[0]);
        } else if (i < second) {
            const int at = (i - first) * 32 + lane;
            gr_add_voxels<N - 1, mode>(f, own, in, own.lists.voxel + (own.lists.most - 1 - at), at, number[1]);
        } else {
            const int at = (i - second) * 32 + lane;
            gr_add_voxels<(N > 2 ? N - 2 : 1), mode>(f, own, in, own.lists.small + at, at, number[2]);
        }
}

#endif
