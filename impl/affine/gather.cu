// SPDX-License-Identifier: MIT
// affine2d:gather, a tile of 64 x 64 result pixels a block, from a window of the image in shared memory: nearly as fast at any
// angle.
//
// A load of a warp costs the L1 a cycle for every line of 128 bytes that it touches: four loads a pixel straight from the rows
// of the image, in patches of 8 x 4 pixels a warp, took 16.4 us at 0 degrees and 24 at 90 for 2048 x 2048 on an H200. The
// window is read row by row instead, four pixels a load, and the corners come from shared memory, where only banks count: with
// a pitch of 8 modulo 16 words a patch of 8 x 4 has 1 to 2.3 lanes on a bank, whatever the angle.
//
// Bound: 16.8 MB read and written; 7 us from memory, less from an L2 that holds both. On an H200, one call after the other,
// 2048 x 2048: 16.7 us at 0 degrees, 15.2 at 10, 16.6 at 45 and 90, of which an empty kernel takes 2.8; as built here, where 8
// bytes of registers go to memory, 15.7 to 18.2 (data/machines/h200-16xeon.affine.tsv). Predicted 12 to 15 from
// 50 instructions a pixel; there were 98 (17.3 to 21.4 us) and, since pixels are copied by fours and none of a whole tile is
// asked whether it is in the image, 59. What remains is waiting for the window: other tiles were slower at some angle
// (64 x 32 15.3 to 17.4, 32 x 32 15.9 to 17.3, more pixels a thread 18 to 21).
#include "source.cuh"
#include "window.h"

// A tile is 8 x 2 stacks of 8 patches; a warp has a stack.
enum { PATCH_W = 8, PATCH_H = 4, STACK = 8, ACROSS = 8, WARPS = 16, TILE_W = PATCH_W * ACROSS, TILE_H = 2 * STACK * PATCH_H };
enum { BLOCK = 32 * WARPS, BLOCKS = 4 };    // of a multiprocessor, as many as it has threads for
enum { WINDOW = 11264, WINDOW_WIDE = 128 }; // floats: 64 x 64 pixels at any angle, stretched by 1/0.9; pixels of a row

typedef struct problem {
    const float *image, *matrix;
    float *to;
    int w, h, outside, fours; // fours: rows begin at multiples of four floats
} problem;

typedef struct view { // a window, in pixels of the image
    int x, y, width, height, pitch;
} view;

// Begins to copy four pixels past the registers, where there is a way; copied waits for all that this thread began.
static __device__ __forceinline__ void copy_four(const float *from, float *to)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const unsigned there = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(there), "l"(from) : "memory");
#else
    *(float4 *)to = *(const float4 *)from;
#endif
}
static __device__ __forceinline__ void copied(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// A warp a row of a window inside the image; from: the window's first pixel.
static __device__ __forceinline__ void copy_fours(const view &v, const float *from, int w, float *to)
{
    const int column = 4 * ((int)threadIdx.x % 32), warp = (int)threadIdx.x / 32;
    if (column >= v.width) return;
    from += (int64_t)warp * w + column;
    to += warp * v.pitch + column;
    const int jump = WARPS * w, hop = WARPS * v.pitch;
    for (int r = warp; r < v.height; r += WARPS, from += jump, to += hop) copy_four(from, to);
}

// Any window; outside the image what the rule puts there: by rules 1 and 2 the nearest pixel, so that s needs no clamp.
static __device__ __forceinline__ void copy_by_rule(const problem &p, const view &v, float *to)
{
    for (int r = (int)threadIdx.x / 32; r < v.height; r += WARPS) {
        const int y = v.y + r, row = min(max(y, 0), p.h - 1);
#pragma unroll
        for (int c = 0; c < WINDOW_WIDE; c += 32) {
            const int at = c + (int)threadIdx.x % 32, x = v.x + at, column = min(max(x, 0), p.w - 1);
            const bool empty = p.outside == AF_ZERO && (x != column || y != row);
            if (at < v.width) to[r * v.pitch + at] = empty ? 0 : __ldg(p.image + (int64_t)row * p.w + column);
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
static __device__ __attribute__((noinline)) void one_by_one(const problem &p, int x, int y, float *to)
{
    const float *row = p.matrix + 6 * (int64_t)blockIdx.z;
    const float px = (float)x + af_low(p.w);
    int takes_part;
    for (int end = min(y + STACK * PATCH_H, p.h); y < end; y += PATCH_H, to += (int64_t)PATCH_H * p.w) {
        const float py = (float)y + af_low(p.h);
        *to = af_sample_2d(p.image, p.w, p.h, p.outside, af_row_2d(row, px, py), af_row_2d(row + 3, px, py), &takes_part);
    }
}

static __global__ void __launch_bounds__(BLOCK, BLOCKS) gather(const __grid_constant__ problem p)
{
    __shared__ __align__(16) float window[WINDOW];
    const int x0 = (int)blockIdx.x * TILE_W, y0 = (int)blockIdx.y * TILE_H, next = PATCH_H * p.w;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int x = x0 + warp % ACROSS * PATCH_W + lane % PATCH_W, y = y0 + warp / ACROSS * PATCH_H * STACK + lane / PATCH_W;
    float *to = p.to + ((int64_t)blockIdx.z * p.h + y) * p.w + x, row[6];
    for (int i = 0; i < 6; i++) row[i] = p.matrix[6 * (int64_t)blockIdx.z + i];
    const af_window from = af_window_of(row, row + 3, p.w, p.h, x0, y0, min(TILE_W, p.w - x0), min(TILE_H, p.h - y0));
    view v = {from.x + af_centre(p.w), from.y + af_centre(p.h), from.width, from.height, 0};
    const bool fours = p.fours && from.inside;
    if (fours) {
        v.width += v.x % 4;
        v.x -= v.x % 4;
    }
    v.pitch = (v.width + 7) / 16 * 16 + 8;
    // What follows is decided alike by the whole block.
    if (!from.found || v.width > WINDOW_WIDE || v.pitch * v.height > WINDOW || (p.outside == AF_IGNORE && !from.inside)) {
        if (x < p.w) one_by_one(p, x, y, to);
        return;
    }
    if (p.outside == AF_ZERO && (v.x >= p.w || v.y >= p.h || v.x + v.width <= 0 || v.y + v.height <= 0)) {
        for (int k = 0; k < STACK && x < p.w; k++, to += next)
            if (y + k * PATCH_H < p.h) *to = 0;
        return;
    }
    if (fours) copy_fours(v, p.image + (int64_t)v.y * p.w + v.x, p.w, window);
    else copy_by_rule(p, v, window);
    const float px = (float)x + af_low(p.w), py = (float)y + af_low(p.h);
    const float at_x = af_row_2d(row, px, py) - (float)(v.x - af_centre(p.w)), step_x = PATCH_H * row[1];
    const float at_y = af_row_2d(row + 3, px, py) - (float)(v.y - af_centre(p.h)), step_y = PATCH_H * row[4];
    copied();
    __syncthreads();
    if (x0 + TILE_W <= p.w && y0 + TILE_H <= p.h) { // no question for each pixel, so that their loads overlap
#pragma unroll
        for (int k = 0; k < STACK; k++, to += next)
            *to = value_at(window, v.pitch, at_x + (float)k * step_x, at_y + (float)k * step_y);
        return;
    }
    if (x < p.w)
        for (int k = 0; k < STACK && y + k * PATCH_H < p.h; k++, to += next)
            *to = value_at(window, v.pitch, at_x + (float)k * step_x, at_y + (float)k * step_y);
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
                       z.outside,
                       z.w % 4 == 0 && (uintptr_t)call->arg[AF_IMAGE] % sizeof(float4) == 0};
    RG_LAUNCH(gather, dim3(af_blocks(z.w, TILE_W), af_blocks(z.h, TILE_H), (unsigned)z.transforms), BLOCK, 0, call->stream, p);
    return (int)cudaGetLastError();
}

RG_VARIANT(affine2d_gather) = {
    RG_ABI,
    sizeof(rg_variant),
    "affine2d",
    "gather",
    "tiles of 64 x 64 pixels from a window of the image in shared memory",
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
