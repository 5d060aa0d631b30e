// SPDX-License-Identifier: MIT
// autocorr_printed:as_printed, listing 1 of Lu et al. 2009, line by line (numbers at the right). Changes: blockIdx where
// blockDim is printed in lines 9, 10 and 18; a texture object instead of the texture reference, which CUDA no longer has; the
// output is cleared and the image copied to an aligned pitch first, as their host code must have done.
//
// Shapes that the arrays of fixed size cannot hold are refused. These include the paper's own case, 750 pixels and R = 250: two
// rows of 501 threads write 1002 pixels into ImageDataLine1[800]. Bound: shared memory, a load and a quarter for each
// multiply-add.
#include "printed_index.h"
#include "../gpu/texture.cuh"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define IMAGE_WIDTH ACP_IMAGE_WIDTH
#define OFFSET_SIZE ACP_OFFSET_SIZE

static __global__ void AutoCorr_OneLine(int *output_2DCorr, int image_width, int max_offset,
    cudaTextureObject_t inputTexture) // 1
{
    __shared__ float ImageDataLine1[IMAGE_WIDTH];                                                           // 2
    __shared__ float ImageDataLine2[IMAGE_WIDTH + OFFSET_SIZE];                                             // 3
    ImageDataLine2[threadIdx.x] = 0;                                                                        // 4
    ImageDataLine2[image_width + 2 + threadIdx.x] = 0;                                                      // 5
    __syncthreads();                                                                                        // 6
    int num_horiz_blocks = __float2int_ru(__int2float_rd(image_width) / __int2float_rd(blockDim.x)), n = 0; // 7
    for (n = 0; n < num_horiz_blocks; n++) {                                                                // 8
        ImageDataLine1[__umul24(n, blockDim.x) + threadIdx.x] =                                             // 9
            tex2D<unsigned char>(inputTexture, __umul24(n, blockDim.x) + threadIdx.x, blockIdx.x + 1);
        ImageDataLine2[max_offset + __umul24(n, blockDim.x) + threadIdx.x] = // 10
            tex2D<unsigned char>(inputTexture, __umul24(n, blockDim.x) + threadIdx.x, blockIdx.x + blockIdx.y + 1);
    }                                                                                                                   // 11
    __syncthreads();                                                                                                    // 12
    float linesum = 0;                                                                                                  // 13
    for (int x_coord = 0; x_coord < image_width; x_coord++) {                                                           // 14
        linesum += ImageDataLine1[x_coord] * ImageDataLine2[x_coord + threadIdx.x];                                     // 15
    }                                                                                                                   // 16
    int coeff_out = __float2int_rn(100.0 * linesum / __int2float_rd(image_width - abs((int)threadIdx.x - max_offset))); // 17
    atomicAdd(&output_2DCorr[threadIdx.x + __umul24(2 * max_offset + 1, blockIdx.y)], coeff_out);                       // 18
} // 19

static __global__ void clear(int *corr, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) corr[i] = 0;
}

enum { BASE_STEP = 512, PITCH_STEP = 32 }; // alignments of a texture over linear memory

static size_t pitch(const rg_shape *s) { return ((size_t)s->n[ACP_WIDTH] + PITCH_STEP - 1) / PITCH_STEP * PITCH_STEP; }
static size_t scratch(const rg_shape *s, const int64_t *) { return BASE_STEP + pitch(s) * (size_t)s->n[ACP_HEIGHT]; }
static unsigned char *copy_of(const rg_call *call) {
    return (unsigned char *)(((uintptr_t)call->scratch + BASE_STEP - 1) / BASE_STEP * BASE_STEP);
}

// A line adds at most 100 g^2 w / (w - R): the overlap, and the repeated last column. Below, g is the grey level from which a
// photograph of this grey (or of this mean square) can reach 2^31 - 1.
static const char *overflow(const rg_shape *s) {
    static thread_local char why[200];
    double w = (double)s->n[ACP_WIDTH], r = (double)s->n[ACP_R], g = (double)s->n[ACP_GREY];
    double lines = (double)acp_lines(s->n[ACP_HEIGHT], s->n[ACP_R]);
    double smeared = acp_padded(s->n[ACP_WIDTH], s->n[ACP_R]) > s->n[ACP_WIDTH] ? w / (w - r) : 1;
    double most = 100 * lines * smeared;
    if (most * g * g <= INT32_MAX) return NULL;
    snprintf(why, sizeof why, "a 32-bit sum of %.0f lines overflows from an rms grey level of %.1f on, and pixels may be %.0f",
        lines, sqrt(INT32_MAX / most), g);
    return why;
}

static const char *refuse(const rg_shape *s, const int64_t *) {
    int64_t w = s->n[ACP_WIDTH], h = s->n[ACP_HEIGHT], r = s->n[ACP_R], threads = acp_threads(r), padded = acp_padded(w, r);
    if (threads > 1024) return "2R + 1 threads are more than a block may have (1024; 512 on the paper's GPU)";
    if (w > IMAGE_WIDTH) return "a line is longer than the listing's IMAGE_WIDTH of 800 pixels";
    if (padded > IMAGE_WIDTH)
        return "the width rounded up to whole rows of 2R + 1 threads overruns ImageDataLine1[800] (lines 2 and 9)";
    if (w + 2 + threads > IMAGE_WIDTH + OFFSET_SIZE || r + padded > IMAGE_WIDTH + OFFSET_SIZE)
        return "width + 2R + 3 overruns ImageDataLine2[1314] (lines 3, 5 and 10)";
    if (r == 1 && padded == w)
        return "for R = 1 and a width that 3 divides, line 15 reads one element of ImageDataLine2 that nothing has written";
    if (h > 65000) return "a texture over linear memory has at most 65,000 lines";
    return overflow(s);
}

static void cost(const rg_shape *s, const int64_t *, rg_cost *c) {
    double blocks = (double)acp_lines(s->n[ACP_HEIGHT], s->n[ACP_R]) * (double)s->n[ACP_R];
    double threads = (double)acp_threads(s->n[ACP_R]);
    double warps = (double)((acp_threads(s->n[ACP_R]) + 31) / 32);
    c->amount[RG_F32_MAD] = blocks * warps * 32 * (double)s->n[ACP_WIDTH];
    // A warp reads two words: 32 neighbours, 128 bytes, and one that is the same for all threads. The compiler may read four of
    // the latter at once, which takes at least a quarter of the time of 128 bytes.
    c->amount[RG_SHARED_BYTES] = blocks * warps * 1.25 * 128 * (double)s->n[ACP_WIDTH];
    c->amount[RG_TEXTURE] = blocks * 2 * (double)acp_padded(s->n[ACP_WIDTH], s->n[ACP_R]);
    c->amount[RG_ATOMIC] = blocks * threads;
}

static int prepare(rg_call *call) {
    const rg_shape *s = call->shape;
    rg_texture *texture = (rg_texture *)calloc(1, sizeof *texture);
    if (!texture) return RG_E_STATE;
    call->state = texture; // clamps, the default of the paper's texture reference
    return rg_texture_rows(texture, copy_of(call), cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned),
        s->n[ACP_WIDTH], s->n[ACP_HEIGHT], pitch(s));
}

static int run(rg_call *call) {
    const rg_shape *s = call->shape;
    size_t w = (size_t)s->n[ACP_WIDTH], h = (size_t)s->n[ACP_HEIGHT];
    int64_t r = s->n[ACP_R], n = acp_threads(r) * r;
    int *corr = (int *)call->arg[ACP_CORR];
    int error = (int)cudaMemcpy2DAsync(
        copy_of(call), pitch(s), call->arg[ACP_IMAGE], w, w, h, cudaMemcpyDeviceToDevice, (cudaStream_t)call->stream);
    if (error) return error;
    RG_LAUNCH((clear), (unsigned)((n + 255) / 256), 256, 0, call->stream, corr, n);
    error = (int)cudaGetLastError();
    if (error) return error;
    dim3 threads2((unsigned)acp_threads(r), 1), grid2((unsigned)acp_lines(s->n[ACP_HEIGHT], r), (unsigned)r);
    RG_LAUNCH(
        (AutoCorr_OneLine), grid2, threads2, 0, call->stream, corr, (int)w, (int)r, ((const rg_texture *)call->state)->object);
    return (int)cudaGetLastError();
}

static void finish(rg_call *call) {
    rg_texture *texture = (rg_texture *)call->state;
    if (texture) rg_texture_free(texture);
    free(texture);
    call->state = NULL;
}

RG_VARIANT(autocorr_printed_as_printed) = {
    RG_VARIANT_OF("autocorr_printed", "as_printed", RG_GATHER, RG_DEVICE,
        "listing 1 line by line: two lines in shared memory, int atomics"),
    .needs = "sm_50",
    .refuse = refuse,
    .scratch = scratch,
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .finish = finish,
};
