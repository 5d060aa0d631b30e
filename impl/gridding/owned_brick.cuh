// SPDX-License-Identifier: MIT
// owned_brick.cuh: the inner part of owned.cu: how a warp adds one sample to its 8 x 8 columns of a brick.
//
// The pixels that the columns can need are first copied into shared memory, a rectangle of at most gr_tile_pixels, 596 at
// b = 1.9. Then the voxels within b of the image are listed, and the lanes take them 32 at a time, whatever their columns:
// each adds the N x N pixels about the voxel's foot, those outside of the disc of radius sqrt(b^2 - height^2) with no effect.
// Voxels so far from the image that N - 1 pixels hold the disc, two in five at b = 1.9, stand in a list of their own.
#ifndef RG_GRIDDING_OWNED_BRICK_CUH
#define RG_GRIDDING_OWNED_BRICK_CUH

#include "owned_samples.cuh"

enum { BRICK = 16, WARP_U = 8, WARP_V = 8, WARPS = BRICK * BRICK / (WARP_U * WARP_V), BRICK_VOXELS = BRICK * BRICK * BRICK };
enum { TILE_ROWS = 4 };             // copied together; the height of a tile is a multiple
enum { INSIDE, AT_EDGE, WITH_CTF }; // pixels of a tile: all in the circle; some not; each with its m c^2, 0 beyond the circle

// Pixels a tile may have. Its sides are 7|u| + 7|v| + 2 reach plus rounding to pixels, where the steps u and v lie on the
// image and are at most sqrt(2) long: together at most 28 + 4 sqrt(2) b, and the product at most the square of half the sum.
// No side is longer than 7 sqrt(6) + 2 sqrt(3) b + 1, 28.6 at most.
static inline int gr_tile_pixels(double b)
{
    const double half = (28.0 + 5.66 * b + 2 * 1.05 + 5 + (TILE_ROWS - 1)) / 2; // 5: what gr_pitch adds at most
    return (int)(half * half) + 1;
}

// Voxels a list may have: the columns are within b of the image over 2 sqrt(3) b at most.
static inline int gr_list_voxels(double b)
{
    const int most = (int)(2 * 1.7321 * b + 0.01) + 1;
    return WARP_U * WARP_V * (most < BRICK ? most : BRICK);
}

// Lines of at least w pixels whose length modulo 16 is 3..7 or 9..13: with others the lanes of a half warp meet in the same
// banks.
static __device__ __forceinline__ int gr_pitch(int w) { return w + (int)(0x4500000100000123ull >> w % 16 * 4 & 15u); }

typedef struct gr_tile {
    float2 *pixel; // m c F
    float *c;      // m c^2, WITH_CTF only
    int x0, y0, width, height, pitch;
} gr_tile;

// w of kernel.h as the square of a polynomial of degree 7: the minimax of w for that form, wrong by 1.2e-7, after rounding by
// 4e-7.
static __device__ __forceinline__ float gr_square_kernel(float q)
{
    float root = 0.0650053322f;
    root = fmaf(root, q, -0.0656300783f);
    root = fmaf(root, q, 0.341523737f);
    root = fmaf(root, q, 0.11307358f);
    root = fmaf(root, q, 0.357440054f);
    root = fmaf(root, q, 0.142441884f);
    root = fmaf(root, q, 0.0443956107f);
    root = fmaf(root, q, 0.00174994685f);
    return root * root;
}

// sum += weight (f, c) where q >= 0. As predicated instructions: a branch for each pixel would cost more than what it saves.
static __device__ __forceinline__ void gr_add_if(float q, float weight, float2 f, float c, gr_terms &sum)
{
#ifdef RG_EMULATED
    if (q >= 0) {
        sum.re += weight * f.x;
        sum.im += weight * f.y;
        sum.w += weight * c;
    }
#else
    asm("{\n\t.reg .pred in;\n\tsetp.ge.f32 in, %3, 0f00000000;\n\t@in fma.rn.f32 %0, %4, %5, %0;\n\t"
        "@in fma.rn.f32 %1, %4, %6, %1;\n\t@in fma.rn.f32 %2, %4, %7, %2;\n\t}"
        : "+f"(sum.re), "+f"(sum.im), "+f"(sum.w)
        : "f"(q), "f"(weight), "f"(f.x), "f"(f.y), "f"(c));
#endif
}

// A voxel's foot on the image, and the first pixel of its window; rest = 1 - height^2 / b^2.
typedef struct gr_foot {
    float x, y, first_x, first_y, rest;
} gr_foot;

template <int N, int mode>
static __device__ __forceinline__ gr_terms gr_window(const gr_tile &tile, const gr_foot &p, float per_b, float kk)
{
    float across[N], column[N];
    const float left = (p.first_x - p.x) * per_b, top = (p.first_y - p.y) * per_b;
#pragma unroll
    for (int i = 0; i < N; i++) {
        const float d = left + (float)i * per_b, gx = p.first_x + (float)i;
        across[i] = d * d;
        column[i] = gx * gx;
    }
    const int at = ((int)p.first_y - tile.y0) * tile.pitch + (int)p.first_x - tile.x0;
    gr_terms sum = {0, 0, 0};
#pragma unroll
    for (int j = 0; j < N; j++) {
        const float d = top + (float)j * per_b, gy = p.first_y + (float)j, rest = p.rest - d * d, room = kk - gy * gy;
        const float2 *line = tile.pixel + at + j * tile.pitch;
#pragma unroll
        for (int i = 0; i < N; i++) {
            float q = rest - across[i];
            const float weight = gr_square_kernel(q), c = mode == WITH_CTF ? tile.c[at + j * tile.pitch + i] : 1.0f;
            if (mode == AT_EDGE)
                q = fminf(q, room - column[i]);
            gr_add_if(q, weight, line[i], c, sum);
        }
    }
    return sum;
}

// The rectangle of pixels that a warp's columns from (u0, v0) can need, at least least x least.
static __device__ __forceinline__ void gr_frame_tile(gr_tile &tile, const gr_view &view, int u0, int v0, int least)
{
    int last_x, last_y;
    gr_span(view, view.x, u0, v0, WARP_U, WARP_V, &tile.x0, &last_x);
    gr_span(view, view.y, u0, v0, WARP_U, WARP_V, &tile.y0, &last_y);
    tile.width = max(last_x - tile.x0 + 1, least);
    tile.height = (max(last_y - tile.y0 + 1, least) + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS;
    tile.pitch = gr_pitch(tile.width);
}

static __device__ __forceinline__ bool gr_tile_in_circle(const gr_tile &tile, int k)
{
    const int x = max(abs(tile.x0), abs(tile.x0 + tile.width - 1)), y = max(abs(tile.y0), abs(tile.y0 + tile.height - 1));
    return x * x + y * y <= k * k;
}

// Copies the tile of an image of weight m, a lane a column of at most 32, TILE_ROWS loads under way together. The element of
// pixel (x, y), counted from that of (0, 0), is y (k + 1) + x; its mate's is the opposite.
template <bool has_ctf, bool in_circle>
static __device__ __forceinline__ void gr_fill_tile(const gr_tile &tile, const gr_input &in, int image, float m)
{
    const int64_t origin = image * gr_pixels(in.k) + gr_pixel(in.k, 0, 0);
    const float *pixels = in.image + 2 * origin, *ctf = in.ctf + (has_ctf ? origin : 0);
    const bool aligned = (uintptr_t)in.image % sizeof(float2) == 0;
    const int lane = (int)threadIdx.x % 32, x = tile.x0 + lane, sign = x < 0 ? -1 : 1, down = sign * (in.k + 1);
    const int room = in.k * in.k - x * x;
    if (lane >= tile.width)
        return;
    int element = tile.y0 * down + sign * x, to = lane;
    for (int y = tile.y0; y < tile.y0 + tile.height; y += TILE_ROWS) {
        float2 f[TILE_ROWS];
        float c[TILE_ROWS];
#pragma unroll
        for (int i = 0; i < TILE_ROWS; i++, element += down) {
            const bool there = in_circle || (y + i) * (y + i) <= room;
            f[i] = there ? gr_pixel_at(pixels, element, aligned) : make_float2(0, 0);
            c[i] = has_ctf && there ? ctf[element] : 0;
        }
#pragma unroll
        for (int i = 0; i < TILE_ROWS; i++, to += tile.pitch) {
            const float factor = has_ctf ? m * c[i] : m;
            tile.pixel[to] = make_float2(factor * f[i].x, (float)sign * factor * f[i].y);
            if (has_ctf)
                tile.c[to] = factor * c[i];
        }
    }
}

// ---- the sums of a brick -------------------------------------------------------------------------------------------------

// Element of voxel (x, y, z) of a brick in shared memory, as the sum of what its coordinates give: lines of 32 are turned by
// 4 for every z, so that lanes whose columns run along any axis meet twice or so in a bank, and seldom more often.
typedef struct gr_place_in_brick {
    int line, turn;
} gr_place_in_brick;

RG_HD int gr_element(gr_place_in_brick p) { return (p.line & ~31) + ((p.line + p.turn) & 31); }
RG_HD gr_place_in_brick gr_along(int axis, int n)
{
    gr_place_in_brick p = {axis == X_AXIS ? n : axis == Y_AXIS ? BRICK * n : BRICK * BRICK * n, axis == Z_AXIS ? 4 * n : 0};
    return p;
}

#endif
