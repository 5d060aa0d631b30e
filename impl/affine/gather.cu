// SPDX-License-Identifier: MIT
// affine2d:gather, a tile of 64 x 32 result pixels a block, from a window of the image in shared memory: nearly as fast at any
// angle.
//
// A load of a warp costs the L1 a cycle for every line of 128 bytes that it touches: four loads a pixel straight from the rows
// of the image, in patches of 8 x 4 pixels a warp, took 16.4 us at 0 degrees and 24 at 90 for 2048 x 2048 on an H200. The
// window is read row by row instead, and the corners come from shared memory, where only banks count: with a pitch of 8 modulo
// 16 words a patch of 8 x 4 has 1 to 2.3 lanes on a bank, whatever the angle.
//
// Bound: 16.8 MB read and written; 7 us from memory, less from an L2 that holds both. Measured before the tile's place came
// from a grid of three dimensions and 8 blocks were held to a multiprocessor: 17 us at 180 degrees, 18.7 at 0, 21.9 at 45, by
// 82 instructions a pixel, a quarter of them divisions and the window's corners; predicted since: 50, so 12 to 15 us.
#include "source.cuh"
#include "window.h"

enum { PATCH_W = 8, PATCH_H = 4, WARPS = 8, BLOCK = 32 * WARPS, STACK = 8, TILE_W = PATCH_W * WARPS, TILE_H = PATCH_H * STACK };
enum { BLOCKS = 8 };    // of a multiprocessor: 2048 x 2048 are 2048 tiles, two for each of them on an H200
enum { WINDOW = 7040 }; // floats: 64 x 32 pixels at any angle, stretched by 1/0.9; 8 times that is what a multiprocessor has

typedef struct problem {
    const float *image, *matrix;
    float *to;
    int w, h, outside;
} problem;

typedef struct view { // a window in shared memory
    af_window at;
    int pitch, fits; // else pixels are read from global memory, one by one
} view;

static __device__ __forceinline__ view view_of(const problem &p, const float *m)
{
    const int x = (int)blockIdx.x * TILE_W, y = (int)blockIdx.y * TILE_H;
    view v;
    v.at = af_window_of(m, m + 3, p.w, p.h, x, y, min(TILE_W, p.w - x), min(TILE_H, p.h - y));
    v.pitch = (v.at.width + 7) / 16 * 16 + 8;
    v.fits = v.at.found && v.pitch * v.at.height <= WINDOW;
    return v;
}

// A warp a row. Of a window inside the image, at most 128 wide: four loads a row, and two rows under way at a time.
static __device__ __forceinline__ void copy_inside(const view &v, const float *from, int w, float *to)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    from += (int64_t)warp * w + lane;
    to += warp * v.pitch + lane;
#pragma unroll 2
    for (int r = warp; r < v.at.height; r += WARPS, from += WARPS * w, to += WARPS * v.pitch)
#pragma unroll
        for (int c = 0; c < 4; c++)
            if (lane + 32 * c < v.at.width) to[32 * c] = __ldg(from + 32 * c);
}

// Copies the window; outside the image what the rule puts there: by rules 1 and 2 the nearest pixel, so that s needs no clamp.
static __device__ __forceinline__ void fill_window(const problem &p, const view &v, float *window)
{
    const int x0 = v.at.x + af_centre(p.w), y0 = v.at.y + af_centre(p.h);
    if (v.at.inside && v.at.width <= 128) {
        copy_inside(v, p.image + (int64_t)y0 * p.w + x0, p.w, window);
        return;
    }
    for (int r = (int)threadIdx.x / 32; r < v.at.height; r += WARPS) {
        const int y = min(max(y0 + r, 0), p.h - 1);
        for (int c = (int)threadIdx.x % 32; c < v.at.width; c += 32) {
            const int x = min(max(x0 + c, 0), p.w - 1);
            const bool empty = p.outside == AF_ZERO && (x != x0 + c || y != y0 + r);
            window[r * v.pitch + c] = empty ? 0 : __ldg(&p.image[y * p.w + x]);
        }
    }
}

// (x, y) from the window's first pixel, so not negative.
static __device__ __forceinline__ float value_at(const float *window, int pitch, float x, float y)
{
    const int i = __float2int_rz(x), j = __float2int_rz(y);
    const float *at = window + (j * pitch + i), *below = at + pitch;
    const float share = x - (float)i;
    return af_between(af_between(at[0], at[1], share), af_between(below[0], below[1], share), y - (float)j);
}

// One by one, as the rule has it: rows y, y + 4 and so on.
static __device__ void one_by_one(const problem &p, const float *m, int x, int y, float *to)
{
    const float px = (float)x + af_low(p.w);
    int takes_part;
    for (int end = min(y + TILE_H, p.h); y < end; y += PATCH_H, to += (int64_t)PATCH_H * p.w) {
        const float py = (float)y + af_low(p.h);
        *to = af_sample_2d(p.image, p.w, p.h, p.outside, af_row_2d(m, px, py), af_row_2d(m + 3, px, py), &takes_part);
    }
}

static __global__ void __launch_bounds__(BLOCK, BLOCKS) gather(problem p)
{
    __shared__ float window[WINDOW];
    const float *m = p.matrix + 6 * (int64_t)blockIdx.z;
    const view v = view_of(p, m);
    const int x = (int)(blockIdx.x * TILE_W + threadIdx.x / 32 * PATCH_W + threadIdx.x % PATCH_W);
    const int y = (int)(blockIdx.y * TILE_H + threadIdx.x % 32 / PATCH_W), next = PATCH_H * p.w;
    float *to = p.to + ((int64_t)blockIdx.z * p.h + y) * p.w + x;
    if (!v.fits || (p.outside == AF_IGNORE && !v.at.inside)) { // the same for the whole block
        if (x < p.w) one_by_one(p, m, x, y, to);
        return;
    }
    fill_window(p, v, window);
    __syncthreads();
    if (x >= p.w) return;
    const float px = (float)x + af_low(p.w), py = (float)y + af_low(p.h);
    const float x0 = af_row_2d(m, px, py) - (float)v.at.x, y0 = af_row_2d(m + 3, px, py) - (float)v.at.y;
    const float step_x = PATCH_H * m[1], step_y = PATCH_H * m[4];
#pragma unroll
    for (int k = 0; k < STACK; k++, to += next)
        if (y + k * PATCH_H < p.h) *to = value_at(window, v.pitch, x0 + (float)k * step_x, y0 + (float)k * step_y);
}

static const char *refuse(const rg_shape *s, const int64_t *) { return af_refuse_many(s->n[AF2_TRANSFORMS]); }

static void cost(const rg_shape *s, const int64_t *, rg_cost *c)
{
    const double image = (double)s->n[AF2_WIDTH] * (double)s->n[AF2_HEIGHT], pixels = image * (double)s->n[AF2_TRANSFORMS];
    c->amount[RG_F32_MAD] = 8 * pixels;
    c->amount[RG_SHARED_BYTES] = 4 * (4 + 1.5) * pixels; // four corners, and the window is half as large again as the tile
    c->amount[RG_MEM_BYTES] = 4 * (image + pixels);
}

static int run(rg_call *call)
{
    const af_size z = af_size_2d(call->shape);
    const problem p = {(const float *)call->arg[AF_IMAGE],
                       (const float *)call->arg[AF_MATRIX],
                       (float *)call->arg[AF_TRANSFORMED],
                       z.w,
                       z.h,
                       z.outside};
    RG_LAUNCH(gather, dim3(af_blocks(z.w, TILE_W), af_blocks(z.h, TILE_H), (unsigned)z.transforms), BLOCK, 0, call->stream, p);
    return (int)cudaGetLastError();
}

RG_VARIANT(affine2d_gather) = {
    RG_ABI,
    sizeof(rg_variant),
    "affine2d",
    "gather",
    "tiles of 64 x 32 pixels from a window of the image in shared memory",
    RG_GATHER,
    RG_DEVICE,
    "sm_50",
    0,
    NULL,
    0,
    refuse,
    NULL,
    NULL,
    cost,
    NULL,
    run,
    NULL,
};
