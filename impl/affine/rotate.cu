// SPDX-License-Identifier: MIT
// affine2d:at_16x16, att_16x16, at_128x1, att_128x1, the four kernels of Garcia et al. 2014, sec. 4.2 (digest G1): only the
// affine transformation. In the first scheme a thread computes one pixel, in blocks of 16 x 16; in the second 128 threads
// compute a column of 128 pixels each. "t" reads through a texture, which interpolates, with shares in 1/256.
//
// Bound: the image and the result once through memory; for the texture unit, a fetch a pixel.
//
// Memory is read in lines of 128 bytes, a cycle each for a warp that touches them: without the texture an angle near 90
// degrees is slow. Measured: data/machines/h100-16xeon.tsv.
#include "bound.h"
#include "source.cuh"

enum { UPLOAD = 2 }; // of the parameters

// A thread's pixels: column x, rows y0 .. y0 + column - 1.
template <class Source> static __global__ void rotate(Source source, const float *matrix, int column, float *to) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y0 = (int)(blockIdx.y * blockDim.y + threadIdx.y) * column;
    const float *m = matrix + 6 * (int64_t)blockIdx.z;
    const float px = (float)x + af_low(source.w);
    if (x >= source.w) return;
    to += (int64_t)blockIdx.z * source.w * source.h + x;
    for (int y = y0; y < y0 + column && y < source.h; y++) {
        const float py = (float)y + af_low(source.h);
        int takes_part;
        to[(int64_t)y * source.w] = source.at(af_row_2d(m, px, py), af_row_2d(m + 3, px, py), &takes_part);
    }
}

template <class Source> static int launch(const rg_call *call, const Source &source, dim3 block, int column) {
    const af_size z = af_size_2d(call->shape);
    const dim3 grid(af_blocks(z.w, block.x), af_blocks(z.h, (int64_t)block.y * column), (unsigned)z.transforms);
    RG_LAUNCH((rotate<Source>), grid, block, 0, call->stream, source, (const float *)call->arg[AF_MATRIX], column,
        (float *)call->arg[AF_TRANSFORMED]);
    return (int)cudaGetLastError();
}

static int from_memory(const rg_call *call, dim3 block, int column) {
    const af_size z = af_size_2d(call->shape);
    const float *image = (const float *)call->arg[AF_IMAGE];
    if (z.outside == AF_ZERO) return launch(call, af_memory_2d<AF_ZERO>{image, z.w, z.h}, block, column);
    if (z.outside == AF_EDGE) return launch(call, af_memory_2d<AF_EDGE>{image, z.w, z.h}, block, column);
    return launch(call, af_memory_2d<AF_IGNORE>{image, z.w, z.h}, block, column);
}

static int from_texture(const rg_call *call, dim3 block, int column) {
    const af_size z = af_size_2d(call->shape);
    const int error = af_texture_renew<UPLOAD>(call);
    if (error) return error;
    if (z.outside == AF_IGNORE) return launch(call, af_texture_2d<AF_IGNORE>{af_texture_of(call), z.w, z.h}, block, column);
    return launch(call, af_texture_2d<AF_EDGE>{af_texture_of(call), z.w, z.h}, block, column); // the texture applies the rule
}

static dim3 square(const rg_call *call) { return dim3((unsigned)call->param[0], (unsigned)call->param[1]); }
static dim3 line(const rg_call *call) { return dim3((unsigned)call->param[0]); }
static int column(const rg_call *call) { return (int)call->param[1]; }

static int run_at_16x16(rg_call *call) { return from_memory(call, square(call), 1); }
static int run_att_16x16(rg_call *call) { return from_texture(call, square(call), 1); }
static int run_at_128x1(rg_call *call) { return from_memory(call, line(call), column(call)); }
static int run_att_128x1(rg_call *call) { return from_texture(call, line(call), column(call)); }

static const char *refuse(const rg_shape *s, const int64_t *) { return af_refuse_many(s->n[AF2_TRANSFORMS]); }

static rg_tolerance tolerance_texture(const rg_shape *s, const int64_t *) {
    const af_size z = af_size_2d(s);
    return af_pixel_bound(&z, AF_TEXTURE_FRACTION);
}

// Two rows of the matrix; three interpolations, or one fetch.
static void cost(const rg_shape *s, const int64_t *, rg_cost *c) {
    const double image = (double)s->n[AF2_WIDTH] * (double)s->n[AF2_HEIGHT], pixels = image * (double)s->n[AF2_TRANSFORMS];
    c->amount[RG_F32_MAD] = 10 * pixels;
    c->amount[RG_MEM_BYTES] = 4 * (image + pixels);
}
static void cost_texture(const rg_shape *s, const int64_t *param, rg_cost *c) {
    const double image = (double)s->n[AF2_WIDTH] * (double)s->n[AF2_HEIGHT], pixels = image * (double)s->n[AF2_TRANSFORMS];
    cost(s, param, c);
    c->amount[RG_F32_MAD] = 4 * pixels;
    c->amount[RG_TEXTURE] = pixels;
    c->amount[RG_MEM_BYTES] += param[UPLOAD] ? 8 * image : 0;
}

static const int64_t widths[] = {8, 16, 32, 64}, heights[] = {4, 8, 16};
#define SQUARE                                                                                                                 \
    {"block_w", widths, RG_COUNT(widths), 16, "threads of a block along x"}, {                                                 \
        "block_h", heights, RG_COUNT(heights), 16, "threads of a block along y"                                                \
    }
static const rg_param square_params[] = {SQUARE}, square_texture_params[] = {SQUARE, AF_UPLOAD};
static const int64_t threads[] = {32, 64, 128, 256}, columns[] = {4, 16, 32, 64, 128};
#define LINE                                                                                                                   \
    {"threads", threads, RG_COUNT(threads), 128, "threads of a block, side by side along x"}, {                                \
        "column", columns, RG_COUNT(columns), 128, "pixels along y that a thread computes"                                     \
    }
static const rg_param line_params[] = {LINE}, line_texture_params[] = {LINE, AF_UPLOAD};

#define AF_ROTATE(NAME, IDEA, ...)                                                                                             \
    { RG_VARIANT_OF("affine2d", #NAME, RG_OTHER, RG_DEVICE, IDEA), .needs = "sm_50", __VA_ARGS__ }
#define AF_FROM_MEMORY(NAME, IDEA, PARAMS)                                                                                     \
    AF_ROTATE(NAME, IDEA, RG_PARAMS(PARAMS), .refuse = refuse, .cost = cost, .run = run_##NAME)
#define AF_FROM_TEXTURE(NAME, IDEA, PARAMS)                                                                                    \
    AF_ROTATE(NAME, IDEA, .flags = RG_COPIES_FIRST, RG_PARAMS(PARAMS), .refuse = refuse, .tolerance = tolerance_texture,       \
        .cost = cost_texture, .prepare = af_texture_prepare_2d, .load = af_texture_load<UPLOAD>, .run = run_##NAME,            \
        .finish = af_texture_finish)

RG_VARIANT(affine2d_at_16x16) = AF_FROM_MEMORY(
    at_16x16, "thread per pixel in blocks of 16 x 16, from global memory", square_params);
RG_VARIANT(affine2d_att_16x16) = AF_FROM_TEXTURE(
    att_16x16, "thread per pixel in blocks of 16 x 16, interpolated by texture hardware", square_texture_params);
RG_VARIANT(affine2d_at_128x1) = AF_FROM_MEMORY(
    at_128x1, "128 threads compute a column of 128 pixels each, from global memory", line_params);
RG_VARIANT(affine2d_att_128x1) = AF_FROM_TEXTURE(
    att_128x1, "128 threads compute a column of 128 pixels each, interpolated by texture hardware", line_texture_params);
