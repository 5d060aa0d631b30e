// SPDX-License-Identifier: MIT
// affine2d:gather, a tile of 64 x 32 result pixels a block, from a window of the image in shared memory: nearly as fast at any
// angle.
//
// A load of a warp costs the L1 a cycle for every line of 128 bytes that it touches, so that four loads a pixel directly from
// the image are slow where its rows are turned. Instead the window is read row by row, four pixels a load, and the corners come
// from shared memory, where only banks count; a store still costs a cycle a line. So a warp has a line of 32 pixels, which is
// one line of the result, unless the map turns lines onto columns: then a patch of 8 x 4. With a pitch of 4 modulo 32 words,
// lines have one or two lanes on a bank up to 45 degrees, and patches beyond.
//
// Every thread computes the window itself: a quarter of the instructions, but waiting for one thread takes longer.
//
// On sm_90 consecutive calls overlap: blocks of the next call are set up where this one's have ended, and wait, before they
// read or write anything, until all earlier work of the stream is complete. So results are those of sequential calls. A call
// alone, or after another kernel, gains nothing: times of mode `hot` include the overlap, `cold` ones do not.
//
// Bound: the image and the result once, both in the L2; besides them two units of the L1's time, four corners and a store a
// pixel, and a launch. Tiles at the border also use a window, filled by the rule: a block that read its pixels one by one would
// delay the whole launch. Measured: data/machines/h100-16xeon.tsv.
#include "../gpu/early.cuh"
#include "source.cuh"
#include "window.h"

enum { WARPS = 4, BLOCK = 32 * WARPS, TILE_W = 64, TILE_H = 32 };
enum { PITCH = 100, ROWS = 80 }; // of a window: the tile at any angle, stretched by 1/0.9
enum { BLOCKS = 6 };             // a multiprocessor, limited by its shared memory

typedef struct problem {
    const float *image, *matrix;
    float *to;
    int w, h, outside, fours; // fours: rows begin at multiples of four floats
    unsigned unbias;          // subtracts WHOLE_BITS from an address in the window
} problem;

// A window, in pixels of the image, and how its pixels are copied: by fours from inside the image, by fours, one by one.
enum { INSIDE, BY_FOURS, BY_ONES, EMPTY, NO_WINDOW };
typedef struct view {
    int x, y, width, height, way;
} view;

// Begins to copy four pixels, past the registers if the GPU can, or to write four zeros; copied waits for all that this thread
// began.
static __device__ __forceinline__ void copy_four(const float *from, float *to, bool empty) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const unsigned there = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(there), "l"(from), "r"(empty ? 0 : 16) : "memory");
#else
    *(float4 *)to = empty ? make_float4(0, 0, 0, 0) : *(const float4 *)from;
#endif
}
static __device__ __forceinline__ void copied(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Copies a window that lies in the image: a warp a row, four pixels a lane. Rows of image and window begin at multiples of four
// pixels.
static __device__ __forceinline__ void copy_inside(const problem &p, const view &v, float *to) {
    const int column = 4 * ((int)threadIdx.x % 32), warp = (int)threadIdx.x / 32;
    if (column >= v.width) return;
    const float *from = p.image + (int64_t)(v.y + warp) * p.w + v.x + column;
    to += warp * PITCH + column;
#pragma unroll 4
    for (int r = warp; r < v.height; r += WARPS, from += (int64_t)WARPS * p.w, to += WARPS * PITCH) copy_four(from, to, false);
}

// The same for any window, with the values that the rule gives outside the image: for rules 1 and 2 the nearest pixel, so that
// s needs no clamp. Four pixels are all inside or all outside.
static __device__ __forceinline__ void copy_by_fours(const problem &p, const view &v, float *to) {
    const int column = 4 * ((int)threadIdx.x % 32), x = v.x + column;
    if (column >= v.width) return;
#pragma unroll 1
    for (int r = (int)threadIdx.x / 32; r < v.height; r += WARPS) {
        const int y = v.y + r, row = min(max(y, 0), p.h - 1);
        const float *from = p.image + (int64_t)row * p.w;
        if (x >= 0 && x < p.w)
            copy_four(from + x, to + r * PITCH + column, p.outside == AF_ZERO && y != row);
        else {
            const float value = p.outside == AF_ZERO ? 0 : __ldg(from + (x < 0 ? 0 : p.w - 1));
            *(float4 *)(to + r * PITCH + column) = make_float4(value, value, value, value);
        }
    }
}

// The same for any image.
static __device__ __forceinline__ void copy_by_ones(const problem &p, const view &v, float *to) {
    for (int r = (int)threadIdx.x / 32; r < v.height; r += WARPS) {
        const int y = v.y + r, row = min(max(y, 0), p.h - 1);
#pragma unroll
        for (int c = 0; c < PITCH; c += 32) {
            const int at = c + (int)threadIdx.x % 32, x = v.x + at, column = min(max(x, 0), p.w - 1);
            const bool empty = p.outside == AF_ZERO && (x != column || y != row);
            if (at < v.width) to[r * PITCH + at] = empty ? 0 : __ldg(p.image + (int64_t)row * p.w + column);
        }
    }
}

// The window of the tile at (x0, y0).
static __device__ __forceinline__ view view_of(const problem &p, const float *matrix, int x0, int y0) {
    const int nx = min((int)TILE_W, p.w - x0), ny = min((int)TILE_H, p.h - y0);
    const af_window from = af_window_of(matrix, matrix + 3, p.w, p.h, x0, y0, nx, ny);
    view v = {from.x + af_centre(p.w), from.y + af_centre(p.h), from.width, from.height, BY_ONES};
    if (p.fours) {
        v.way = from.inside ? INSIDE : BY_FOURS;
        v.width += v.x & 3;
        v.x -= v.x & 3;
    }
    if (!from.found || v.width > PITCH || v.height > ROWS || (p.outside == AF_IGNORE && !from.inside))
        v.way = NO_WINDOW;
    else if (p.outside == AF_ZERO && (v.x >= p.w || v.y >= p.h || v.x + v.width <= 0 || v.y + v.height <= 0))
        v.way = EMPTY;
    return v;
}

// Added and rounded down, it leaves the whole part of a number below 2^22 in the lowest bits: conversions to an integer and
// back have a quarter of the rate.
#define WHOLE 0x1.8p23f
enum { WHOLE_BITS = 0x4b400000 };

// The window's first pixel, and the pixel at `at`, in which WHOLE_BITS of both coordinates are included. On a GPU origin is a
// 32-bit address from which they are subtracted, as a kernel argument, because the compiler would add a constant to each
// address.
enum : unsigned { BIAS = (unsigned)WHOLE_BITS * (PITCH + 1) };
#ifdef RG_EMULATED
typedef const float *origin;
static origin origin_of(const problem &, const float *window) { return window; }
static float pixel_at(origin from, unsigned at) { return from[(int)(at - BIAS)]; }
#else
typedef unsigned origin;
static __device__ __forceinline__ origin origin_of(const problem &p, const float *window) {
    unsigned from = (unsigned)__cvta_generic_to_shared(window) + p.unbias;
    asm volatile("" : "+r"(from)::"memory"); // the window is written; no pixel has been read
    return from;
}
static __device__ __forceinline__ float pixel_at(origin from, unsigned at) {
    float value;
    asm("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(from + 4 * at));
    return value;
}
#endif

// Value at (x, y), relative to the window's first pixel.
static __device__ __forceinline__ float value_at(origin window, float x, float y) {
    const float to_x = __fadd_rd(x, WHOLE), to_y = __fadd_rd(y, WHOLE), share = x - (to_x - WHOLE);
    const unsigned at = (unsigned)__float_as_int(to_y) * PITCH + (unsigned)__float_as_int(to_x), below = at + PITCH;
    return af_between(af_between(pixel_at(window, at), pixel_at(window, at + 1), share),
        af_between(pixel_at(window, below), pixel_at(window, below + 1), share), y - (to_y - WHOLE));
}

// n steps further; no product for n = 0.
static __device__ __forceinline__ float on(float at, int n, float step) { return n ? at + (float)n * step : at; }

// The value by the rule, from the image.
static __device__ __attribute__((noinline)) float value_alone(const problem &p, int x, int y) {
    const float *row = p.matrix + 6 * (int64_t)blockIdx.z;
    const float px = (float)x + af_low(p.w), py = (float)y + af_low(p.h);
    int takes_part;
    return af_sample_2d(p.image, p.w, p.h, p.outside, af_row_2d(row, px, py), af_row_2d(row + 3, px, py), &takes_part);
}

// A thread's first pixel, in the result and relative to the window: of a line of 32 pixels, or of a patch of 8 x 4.
typedef struct spot {
    int x, y;
    float at_x, at_y;
    int64_t to;
} spot;
static __device__ __forceinline__ spot spot_of(
    const problem &p, const float row[6], const view &v, int x0, int y0, bool lines) {
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    spot s;
    s.x = x0 + (lines ? lane : lane % 8);
    s.y = y0 + (lines ? warp : 4 * warp + lane / 8);
    const float px = (float)s.x + af_low(p.w), py = (float)s.y + af_low(p.h);
    s.at_x = af_row_2d(row, px, py) - (float)(v.x - af_centre(p.w));
    s.at_y = af_row_2d(row + 3, px, py) - (float)(v.y - af_centre(p.h));
    s.to = ((int64_t)blockIdx.z * p.h + s.y) * p.w + s.x;
#ifdef __CUDA_ARCH__
    asm volatile("" : "+f"(s.at_x), "+f"(s.at_y), "+l"(s.to)); // now, while the window is being copied
#endif
    return s;
}

// Computes the tile in patches of PATCH_W pixels side by side, with the patches of a warp DOWN times below each other.
template <int PATCH_W>
static __device__ __forceinline__ void compute(
    const problem &p, const float row[6], const view &v, const spot &s, origin window, int x0, int y0) {
    constexpr int PATCH_H = 32 / PATCH_W, ACROSS = TILE_W / PATCH_W, STEP = PATCH_H * WARPS, DOWN = TILE_H / STEP;
    const float right_x = PATCH_W * row[0], down_x = STEP * row[1], right_y = PATCH_W * row[3], down_y = STEP * row[4];
    float *to = p.to + s.to;
    if (v.way < EMPTY && x0 + TILE_W <= p.w && y0 + TILE_H <= p.h) { // no branch a pixel, so that their loads overlap
#pragma unroll
        for (int d = 0; d < DOWN; d++, to += (int64_t)STEP * p.w)
#pragma unroll
            for (int k = 0; k < ACROSS; k++)
                to[k * PATCH_W] =
                    value_at(window, on(on(s.at_x, d, down_x), k, right_x), on(on(s.at_y, d, down_y), k, right_y));
        return;
    }
#pragma unroll 1
    for (int d = 0; d < DOWN && s.y + d * STEP < p.h; d++, to += (int64_t)STEP * p.w)
#pragma unroll 1
        for (int k = 0; k < ACROSS && s.x + k * PATCH_W < p.w; k++)
            to[k * PATCH_W] = v.way == EMPTY ? 0
                : v.way == NO_WINDOW
                ? value_alone(p, s.x + k * PATCH_W, s.y + d * STEP)
                : value_at(window, on(on(s.at_x, d, down_x), k, right_x), on(on(s.at_y, d, down_y), k, right_y));
}

static __global__ void __launch_bounds__(BLOCK, BLOCKS) gather(const __grid_constant__ problem p) {
    __shared__ __align__(16) float window[ROWS * PITCH];
    rg_take_turn(); // the next call's blocks may be set up
    const int x0 = (int)blockIdx.x * TILE_W, y0 = (int)blockIdx.y * TILE_H;
    const float *matrix = p.matrix + 6 * (int64_t)blockIdx.z;
    const float row[6] = {matrix[0], matrix[1], matrix[2], matrix[3], matrix[4], matrix[5]};
    const view v = view_of(p, row, x0, y0); // the same for the whole block, as are the branches below
    if (v.way == INSIDE)
        copy_inside(p, v, window);
    else if (v.way == BY_FOURS)
        copy_by_fours(p, v, window);
    else if (v.way == BY_ONES)
        copy_by_ones(p, v, window);
    const bool lines = fabsf(row[3]) <= fabsf(row[0]);
    const spot s = spot_of(p, row, v, x0, y0, lines);
    copied();
    __syncthreads();
    if (lines)
        compute<32>(p, row, v, s, origin_of(p, window), x0, y0);
    else
        compute<8>(p, row, v, s, origin_of(p, window), x0, y0);
}

static const char *refuse(const rg_shape *s, const int64_t *) { return af_refuse_many(s->n[AF2_TRANSFORMS]); }

static void cost(const rg_shape *s, const int64_t *, rg_cost *c) {
    const double image = (double)s->n[AF2_WIDTH] * (double)s->n[AF2_HEIGHT], pixels = image * (double)s->n[AF2_TRANSFORMS];
    c->amount[RG_F32_MAD] = 8 * pixels;
    c->amount[RG_SHARED_BYTES] = 4 * (4 + 1.5) * pixels; // four corners; the window is 1.5 times the tile
    c->amount[RG_MEM_BYTES] = 4 * (image + pixels);
}

static int prepare(rg_call *call) { return rg_find_early(call, gather); }

static int run(rg_call *call) {
    const af_size z = af_size_2d(call->shape);
    const problem p = {(const float *)call->arg[AF_IMAGE], (const float *)call->arg[AF_MATRIX],
        (float *)call->arg[AF_TRANSFORMED], z.w, z.h, z.outside,
        z.w % 4 == 0 && (uintptr_t)call->arg[AF_IMAGE] % sizeof(float4) == 0, 0u - 4u * BIAS};
    const dim3 grid(af_blocks(z.w, TILE_W), af_blocks(z.h, TILE_H), (unsigned)z.transforms);
    RG_LAUNCH_EARLY(call->state, gather, grid, BLOCK, 0, call->stream, p);
    return (int)cudaGetLastError();
}

RG_VARIANT(affine2d_gather) = {
    RG_VARIANT_OF(
        "affine2d", "gather", RG_GATHER, RG_DEVICE, "tiles of 64 x 32 pixels from a window of the image in shared memory"),
    .needs = "sm_50",
    .refuse = refuse,
    .cost = cost,
    .prepare = prepare,
    .run = run,
};
