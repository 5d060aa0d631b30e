// SPDX-License-Identifier: MIT
// owned_brick.cuh: the inner part of owned.cu: copies the pixels of a sample that a brick can need to shared memory, and adds
// them to the voxels of a list.
#ifndef RG_GRIDDING_OWNED_BRICK_CUH
#define RG_GRIDDING_OWNED_BRICK_CUH

#include "owned_list.cuh"
#include <algorithm>
#include <climits>

// ---- tiles ---------------------------------------------------------------------------------------------------------------

typedef struct gr_tile {
    float2 *pixel; // c F
    float *c;      // c^2, where there is a CTF
} gr_tile;

// Pixels on their way to shared memory: a lane has one column of a tile, and every WARPS-th of its rows.
enum { WARPS = THREADS / 32, BATCH = 4, BATCH_ROWS = BATCH * WARPS };
typedef struct gr_load {
    float2 f[BATCH];
    float c[BATCH];
} gr_load;

static inline int gr_tile_pixels(int N) { return std::max(gr_tile_side(N), (int)BATCH_ROWS) * gr_pitch(N); }

// Keeps a pointer that is stepped in a register: nvcc would recompute it from an index, in 5 instructions instead of 2.
template <class T> static __device__ __forceinline__ void gr_keep_pointer(const T *&p) {
#ifdef RG_EMULATED
    (void)p;
#else
    asm("" : "+l"(p));
#endif
}

// Loads BATCH_ROWS rows and 32 columns from (row, column) on. The element of pixel (x, y) relative to (0, 0) is y (k + 1) + x;
// that of its mate is the negative.
template <bool has_ctf>
static __device__ __forceinline__ void gr_fetch(const gr_hit &hit, const gr_input &in, int row, int column, gr_load &load) {
    const int4 tile = hit.tile;
    column += (int)threadIdx.x % 32;
    row += (int)threadIdx.x / 32;
    const int rows = column < tile.z ? tile.w - row : 0;
    if (hit.plain) {
        const int64_t at = hit.first + row * (in.k + 1) + column;
        const float2 *from = reinterpret_cast<const float2 *>(in.image) + at;
        const float *from_c = in.ctf + (has_ctf ? at : 0);
        const int step = WARPS * (in.k + 1);
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            if (i * WARPS < rows) {
                load.f[i] = __ldg(from);
                load.c[i] = has_ctf ? __ldg(from_c) : 1;
            }
            from += step;
            gr_keep_pointer(from);
            if (has_ctf) {
                from_c += step;
                gr_keep_pointer(from_c);
            }
        }
        return;
    }
    const bool aligned = (uintptr_t)in.image % sizeof(float2) == 0;
    const int x = tile.x + column, sign = x < 0 ? -1 : 1, down = sign * (in.k + 1);
    const int room = hit.in_circle ? INT_MAX : in.k * in.k - x * x;
    int y = tile.y + row, element = y * down + sign * x;
    const float *pixels = in.image + 2 * hit.origin, *ctf = in.ctf + (has_ctf ? hit.origin : 0);
#pragma unroll
    for (int i = 0; i < BATCH; i++, y += WARPS, element += WARPS * down) {
        const bool there = i * WARPS < rows && y * y <= room;
        load.f[i] = make_float2(0, 0);
        if (there) load.f[i] = gr_pixel_at(pixels, element, aligned);
        load.c[i] = has_ctf && there ? ctf[element] : 0;
    }
}

// Stores what gr_fetch loaded. all: every element of the first batch; no window uses those for which a lane fetched nothing.
template <int N, bool has_ctf, bool all>
static __device__ __forceinline__ void gr_keep(const gr_hit &hit, int row, int column, gr_load &load, const gr_tile &to) {
    const int4 tile = hit.tile;
    column += (int)threadIdx.x % 32;
    row += (int)threadIdx.x / 32;
    const int rows = column < tile.z ? tile.w - row : 0;
    int at = row * gr_pitch(N) + column;
    if (!hit.plain && tile.x + column < 0) // mates
#pragma unroll
        for (int i = 0; i < BATCH; i++) load.f[i].y = -load.f[i].y;
#pragma unroll
    for (int i = 0; i < BATCH; i++, at += WARPS * gr_pitch(N)) {
        if (!all && i * WARPS >= rows) continue;
        const float2 f = load.f[i];
        const float c = has_ctf ? load.c[i] : 1.0f;
        to.pixel[at] = make_float2(c * f.x, c * f.y);
        if (has_ctf) to.c[at] = c * c;
    }
}

// Stores the tile of a hit, whose first batch has been fetched. Windows of 6 pixels may need more batches.
template <int N, bool has_ctf>
static __device__ __forceinline__ void gr_keep_tile(const gr_hit &hit, const gr_input &in, gr_load &load, const gr_tile &to) {
    static_assert(gr_pitch(N) >= 32, "a lane has a column");
    gr_keep<N, has_ctf, true>(hit, 0, 0, load, to);
    if constexpr (gr_tile_side(N) > BATCH_ROWS || gr_tile_side(N) > 32)
        for (int column = 0; column < hit.tile.z; column += 32)
            for (int row = column ? 0 : BATCH_ROWS; row < hit.tile.w; row += BATCH_ROWS) {
                gr_fetch<has_ctf>(hit, in, row, column, load);
                gr_keep<N, has_ctf, false>(hit, row, column, load, to);
            }
}

// ---- windows -------------------------------------------------------------------------------------------------------------

enum { INSIDE, AT_EDGE, WITH_CTF }; // pixels of a tile: all in the circle; some outside; with c^2, 0 outside

// The nearest integer of x as a float's low bits: adding 1.5 x 2^23 rounds.
static constexpr float ROUND = 12582912.0f;
static constexpr int ROUND_BITS = 0x4B400000;

// x + ROUND: the nearest integer for windows of odd size, the one below for even ones.
template <int n> static __device__ __forceinline__ float gr_up(float x) { return n % 2 ? x + ROUND : __fadd_rd(x, ROUND); }

// The sum over the n x n pixels about foot (x, y), of which those within kk, squared, of the origin count; pitch: of the tile's
// lines; rest: t of the weight (squares.h) at the foot.
template <int n, int mode, int pitch>
static __device__ __forceinline__ gr_terms gr_window(
    const gr_frame &f, gr_tile tile, float per_b, float x, float y, float rest, float kk) {
    const float up_x = gr_up<n>(x), up_y = gr_up<n>(y), px = up_x - (ROUND + (n - 1) / 2), py = up_y - (ROUND + (n - 1) / 2);
    const int skipped = ROUND_BITS + (n - 1) / 2;
    const int at = (__float_as_int(up_y) - skipped) * pitch + __float_as_int(up_x) - skipped - f.at;
    const float first_x = (px - x) * per_b, first_y = (py - y) * per_b;
    float across[n], column[n];
#pragma unroll
    for (int i = 0; i < n; i++) {
        const float dx = i ? fmaf((float)i, per_b, first_x) : first_x, gx = px + (float)i;
        across[i] = dx * dx;
        column[i] = gx * gx;
    }
    gr_terms sum = {0, 0, 0};
#pragma unroll
    for (int j = 0; j < n; j++) {
        const float dy = j ? fmaf((float)j, per_b, first_y) : first_y, row = rest - dy * dy;
        const float gy = py + (float)j, room = kk - gy * gy;
        const float2 *line = tile.pixel + at + j * pitch;
        const float *line_c = tile.c + at + j * pitch;
#pragma unroll
        for (int i = 0; i < n; i++) {
            const float weight = __saturatef(gr_squares(__saturatef(row - across[i])));
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

// A block's shared memory.
typedef struct gr_memory {
    float *sums;
    gr_tile tile;
    gr_column *column;
    gr_lists lists;
} gr_memory;

// A lane adds the n x n pixels of the voxel at *list, if at < most.
template <int n, int mode, int pitch>
static __device__ __forceinline__ void gr_add_voxels(
    const gr_frame &f, const gr_memory &own, const gr_input &in, const unsigned short *list, int at, int most) {
    if (at >= most) return;
    const int entry = *list;
    const gr_column c = own.column[entry & ((1 << COLUMN_BITS) - 1)];
    const int ia = entry >> COLUMN_BITS;
    const float a = (float)ia, height = c.height + f.height * a;
    const gr_terms t = gr_window<n, mode, pitch>(
        f, own.tile, in.per_b, c.x + f.x * a, c.y + f.y * a, GR_SQUARES_TOP - height * height, (float)(in.k * in.k));
    float *to = own.sums + gr_element(c.element + ia * f.stride);
    to[0] += f.m * t.re;
    to[BRICK_VOXELS] += f.m_im * t.im;
    to[2 * BRICK_VOXELS] += f.m * t.w;
}

// Adds all voxels of the lists, 32 at a time, the largest windows first. The warps' order alternates, which balances their
// work.
template <int N, int mode>
static __device__ __forceinline__ void gr_add_lists(
    const gr_hit &hit, const gr_memory &own, const gr_input &in, const int number[2]) {
    const gr_frame f = hit.frame;
    const unsigned n0 = (unsigned)number[0], n1 = (unsigned)number[1];
    const int lane = (int)threadIdx.x % 32, first = (int)((n0 + 31) / 32), second = first + (int)((n1 + 31) / 32);
    int step = 2 * WARPS - 1 - 2 * ((int)threadIdx.x / 32);
    for (int i = (int)threadIdx.x / 32; i < second; i += step, step = 2 * WARPS - step)
        if (i < first) {
            const int at = i * 32 + lane;
            gr_add_voxels<N, mode, gr_pitch(N)>(f, own, in, own.lists.voxel + at, at, (int)n0);
        } else {
            const int at = (i - first) * 32 + lane;
            gr_add_voxels<N - 1, mode, gr_pitch(N)>(f, own, in, own.lists.voxel + (own.lists.most - 1 - at), at, (int)n1);
        }
}

#endif
