// SPDX-License-Identifier: MIT
// affine2d:gather, a tile of 64 x 64 result pixels a block, from a window of the image in shared memory: nearly as fast at any
// angle.
//
// A load of a warp costs the L1 a cycle for every line of 128 bytes that it touches, which makes four loads a pixel straight
// from the rows of the image slow where they are turned. The window is read row by row instead, four pixels a load, and the
// corners come from shared memory, where only banks count: with a pitch of 8 modulo 16 words a patch of 8 x 4 has 1 to 2.3
// lanes on a bank, whatever the angle.
//
// Bound: the image and the result once, both in the L2. Tiles at the border have the same window, filled by the rule: a block
// that took its pixels one by one would make the whole launch wait. Measured: data/machines/h200-16xeon.affine.tsv.
#include "source.cuh"
#include "window.h"

// A tile is 8 stacks of 16 patches; a warp has a stack.
enum { PATCH_W = 8, PATCH_H = 4, STACK = 16, WARPS = 8, TILE_W = PATCH_W * WARPS, TILE_H = PATCH_H * STACK };
enum { BLOCK = 32 * WARPS, BLOCKS = 5 };    // of a multiprocessor, as many as it has shared memory for
enum { WINDOW = 11264, WINDOW_WIDE = 128 }; // floats: 64 x 64 pixels at any angle, stretched by 1/0.9; pixels of a row

typedef struct problem {
    const float *image, *matrix;
    float *to;
    int w, h, outside, fours; // fours: rows begin at multiples of four floats
} problem;

// A window, in pixels of the image, and how its pixels come.
enum { BY_FOURS, BY_ONES, EMPTY, NO_WINDOW };
typedef struct view {
    int x, y, width, height, pitch, way;
} view;

// Begins to copy four pixels past the registers, where there is a way, or to write four zeros; copied waits for all that this
// thread began.
static __device__ __forceinline__ void copy_four(const float *from, float *to, bool empty)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const unsigned there = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(there), "l"(from), "r"(empty ? 0 : 16) : "memory");
#else
    *(float4 *)to = empty ? make_float4(0, 0, 0, 0) : *(const float4 *)from;
#endif
}
static __device__ __forceinline__ void copied(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// A warp a row; outside the image what the rule puts there: by rules 1 and 2 the nearest pixel, so that s needs no clamp. Rows
// of image and window begin at multiples of four pixels, so that four are all inside or all outside.
static __device__ __forceinline__ void copy_by_fours(const problem &p, const view &v, float *to)
{
    const int column = 4 * ((int)threadIdx.x % 32), x = v.x + column;
    if (column >= v.width) return;
#pragma unroll 1
    for (int r = (int)threadIdx.x / 32; r < v.height; r += WARPS) {
        const int y = v.y + r, row = min(max(y, 0), p.h - 1);
        const float *from = p.image + (int64_t)row * p.w;
        if (x >= 0 && x < p.w) copy_four(from + x, to + r * v.pitch + column, p.outside == AF_ZERO && y != row);
        else {
            const float value = p.outside == AF_ZERO ? 0 : __ldg(from + (x < 0 ? 0 : p.w - 1));
            *(float4 *)(to + r * v.pitch + column) = make_float4(value, value, value, value);
        }
    }
}

// The same of any image.
static __device__ __forceinline__ void copy_by_ones(const problem &p, const view &v, float *to)
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

// The window of the tile at (x0, y0).
static __device__ view view_of(const problem &p, const float *matrix, int x0, int y0)
{
    const af_window from = af_window_of(matrix, matrix + 3, p.w, p.h, x0, y0, min(TILE_W, p.w - x0), min(TILE_H, p.h - y0));
    view v = {from.x + af_centre(p.w), from.y + af_centre(p.h), from.width, from.height, 0, BY_ONES};
    if (p.fours) {
        v.way = BY_FOURS;
        v.width += v.x & 3;
        v.x -= v.x & 3;
    }
    v.pitch = (v.width + 7) / 16 * 16 + 8;
    if (!from.found || v.width > WINDOW_WIDE || v.pitch * v.height > WINDOW || (p.outside == AF_IGNORE && !from.inside))
        v.way = NO_WINDOW;
    else if (p.outside == AF_ZERO && (v.x >= p.w || v.y >= p.h || v.x + v.width <= 0 || v.y + v.height <= 0)) v.way = EMPTY;
    return v;
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
    __shared__ view found;
    const int x0 = (int)blockIdx.x * TILE_W, y0 = (int)blockIdx.y * TILE_H, next = PATCH_H * p.w, lane = (int)threadIdx.x % 32;
    const int x = x0 + (int)threadIdx.x / 32 * PATCH_W + lane % PATCH_W, y = y0 + lane / PATCH_W;
    const float *row = p.matrix + 6 * (int64_t)blockIdx.z;
    float *to = p.to + ((int64_t)blockIdx.z * p.h + y) * p.w + x;
    if (threadIdx.x == 0) found = view_of(p, row, x0, y0); // by every thread it would be a quarter of the instructions
    __syncthreads();
    const view v = found; // what follows is decided alike by the whole block
    if (v.way == NO_WINDOW) {
        if (x < p.w) one_by_one(p, x, y, to);
        return;
    }
    if (v.way == EMPTY) {
        for (int k = 0; k < STACK && x < p.w; k++, to += next)
            if (y + k * PATCH_H < p.h) *to = 0;
        return;
    }
    if (v.way == BY_FOURS) copy_by_fours(p, v, window);
    else copy_by_ones(p, v, window);
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
    RG_VARIANT_OF("affine2d", "gather", RG_GATHER, RG_DEVICE,
                  "tiles of 64 x 64 pixels from a window of the image in shared memory"),
    .needs = "sm_50",
    .refuse = refuse,
    .cost = cost,
    .run = run,
};
