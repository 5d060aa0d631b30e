// SPDX-License-Identifier: MIT
// patch.cuh: how `gather` and `batch` share out the result among threads, and the window of an image in shared memory.
//
// A warp computes a patch of 8 x 4 pixels or 4 x 4 x 2 voxels, and STACK such patches, below or behind each other.
// A load of a warp costs the L1 a cycle for every line of 128 bytes that it touches (measured on an H200: 4.9 cycles at 0
// degrees, 9.1 at 90 for patches of 8 x 4 read straight from the rows of an image), so four loads a pixel are what a gather from
// global memory is bound by. In two dimensions a block therefore copies the window of the image that its tile of 64 x 4 STACK
// pixels comes from to shared memory first, row by row. There only the banks count: with a pitch of 8 modulo 16 words
// a patch has 1 to 2.3 lanes on a bank, whatever the angle.
#ifndef RG_AFFINE_PATCH_CUH
#define RG_AFFINE_PATCH_CUH

#include "source.cuh"

enum { AF_WARPS = 8, AF_BLOCK = 32 * AF_WARPS };
enum { AF_PATCH_W = 8, AF_PATCH_H = 4, AF_TILE_W = AF_PATCH_W * AF_WARPS }; // of an image
enum { AF_CUBE_W = 4, AF_CUBE_H = 4, AF_CUBE_D = 2 };                       // of a volume

// A thread's pixels: (x, y, z) and those AF_PATCH_H rows or AF_CUBE_D planes further each; n of STACK lie in the image.
typedef struct af_stack {
    int x, y, z, n;
} af_stack;

static inline int64_t af_stack_blocks(const af_size &z, int stack)
{
    if (z.dims == 2) return (int64_t)af_blocks(z.w, AF_TILE_W) * af_blocks(z.h, AF_PATCH_H * stack);
    return af_blocks((int64_t)af_blocks(z.w, AF_CUBE_W) * af_blocks(z.h, AF_CUBE_H) * af_blocks(z.d, AF_CUBE_D * stack), AF_WARPS);
}

static __device__ __forceinline__ unsigned af_parts(int side, int part) { return (unsigned)(side + part - 1) / (unsigned)part; }

template <int DIMS, int STACK> static __device__ __forceinline__ af_stack af_stack_of(int w, int h, int d)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    af_stack s;
    int left;
    if (DIMS == 2) {
        const unsigned across = af_parts(w, AF_TILE_W);
        s.x = (int)(blockIdx.x % across * AF_TILE_W + AF_PATCH_W * warp + lane % AF_PATCH_W);
        s.y = (int)(blockIdx.x / across * AF_PATCH_H * STACK + lane / AF_PATCH_W);
        s.z = 0;
        left = (h - s.y + AF_PATCH_H - 1) / AF_PATCH_H;
    } else {
        const unsigned index = blockIdx.x * AF_WARPS + warp, across = af_parts(w, AF_CUBE_W), down = af_parts(h, AF_CUBE_H);
        s.x = (int)(index % across * AF_CUBE_W + lane % AF_CUBE_W);
        s.y = (int)(index / across % down * AF_CUBE_H + lane / AF_CUBE_W % AF_CUBE_H);
        s.z = (int)(index / across / down * AF_CUBE_D * STACK + lane / (AF_CUBE_W * AF_CUBE_H));
        left = (d - s.z + AF_CUBE_D - 1) / AF_CUBE_D;
    }
    s.n = s.x < w && s.y < h && left > 0 ? left < STACK ? left : STACK : 0;
    return s;
}

// ---- the window of a tile ------------------------------------------------------------------------------------------------

enum { AF_WINDOW = 7168 }; // floats: what 64 x 32 pixels at 45 degrees need when the map stretches them by 1/0.9

typedef struct af_window {
    int x, y, width, height, pitch; // first pixel, from the centre
    int fits;                       // else pixels are read from global memory, one by one
} af_window;

static __device__ __forceinline__ int af_window_axis(const float *row, float x, float y, float nx, float ny, int *first)
{
    const float at = af_row_2d(row, x, y), along = row[0] * nx, down = row[1] * ny;
    const float least = at + fminf(along, 0) + fminf(down, 0), most = at + fmaxf(along, 0) + fmaxf(down, 0);
    if (!(least > -1e6f && most < 1e6f && most - least < AF_WINDOW)) return AF_WINDOW; // also NaN
    *first = __float2int_rd(least - 0.01f); // a hundredth of a pixel for rounding
    return __float2int_rd(most + 0.01f) + 2 - *first;
}

// Of the block's tile, cut to the image; rows: 4 STACK; row_x, row_y of the matrix. The same for all threads.
static __device__ __forceinline__ af_window af_window_of(const float *row_x, const float *row_y, int w, int h, int rows)
{
    const int across = (int)af_parts(w, AF_TILE_W), x = (int)blockIdx.x % across * AF_TILE_W, y = (int)blockIdx.x / across * rows;
    const float nx = (float)(min(AF_TILE_W, w - x) - 1), ny = (float)(min(rows, h - y) - 1);
    const float px = (float)x + af_low(w), py = (float)y + af_low(h);
    af_window v = {0, 0, 0, 0, 0, 0};
    v.width = af_window_axis(row_x, px, py, nx, ny, &v.x);
    v.height = af_window_axis(row_y, px, py, nx, ny, &v.y);
    v.pitch = (v.width + 7) / 16 * 16 + 8;
    v.fits = v.pitch * v.height <= AF_WINDOW && v.width < AF_WINDOW && v.height < AF_WINDOW;
    return v;
}

// Copies the window, less `typical`; outside the image what the rule puts there: by rules 1 and 2 the nearest pixel, so that s
// needs no clamp. A warp a row; barriers are the caller's.
static __device__ __forceinline__ void af_window_fill(const af_window &v, const float *image, int w, int h, int outside,
                                                      float typical, float *window)
{
    const int x0 = v.x + af_centre(w), y0 = v.y + af_centre(h), lane = (int)threadIdx.x % 32;
#pragma unroll 4
    for (int r = (int)threadIdx.x / 32; r < v.height; r += AF_WARPS) {
        const int y = min(max(y0 + r, 0), h - 1);
        for (int c = lane; c < v.width; c += 32) {
            const int x = min(max(x0 + c, 0), w - 1);
            const bool empty = outside == AF_ZERO && (x != x0 + c || y != y0 + r);
            window[r * v.pitch + c] = (empty ? 0 : __ldg(&image[y * w + x])) - typical;
        }
    }
}

static __device__ __forceinline__ float af_window_at(const af_window &v, const float *window, float x, float y)
{
    const int i = __float2int_rd(x), j = __float2int_rd(y);
    const float *at = window + (j - v.y) * v.pitch + (i - v.x), *below = at + v.pitch;
    const float share = x - (float)i;
    return af_between(af_between(at[0], at[1], share), af_between(below[0], below[1], share), y - (float)j);
}

#endif
