// SPDX-License-Identifier: MIT
// insert.cuh: shared by the CUDA variants: a call as kernels see it, and the ways to compute a weight.
//
// A weight is computed, or read from the table in global memory, or from a copy of it in shared memory (Strelak et al. 2019,
// sec. 3.2): PRECOMP_INT 0, or 1 with SHARED_INT 0 or 1. gr_rational is the paper's formula; gr_squares, an addition, takes a
// quarter of the operations and is PRECOMP_INT 2. prepare makes the table, at the start of scratch.
#ifndef RG_GRIDDING_INSERT_CUH
#define RG_GRIDDING_INSERT_CUH

#include "../gpu/cuda.h"
#include "bound.h"
#include "index.h"
#include "kernel.h"
#include "squares.h"

typedef struct gr_input {
    const float *image, *ctf, *weight, *rotation; // ctf and weight NULL where absent
    int k, operators, samples;                    // a sample is an image under one operator
    float b, per_b;                               // radius, 1 / radius
    float per_bb, top, edge;                      // the weight is a function of top - d^2 per_bb, and 0 below edge
} gr_input;

static inline gr_input gr_input_of(const rg_call *call) {
    const rg_shape *s = call->shape;
    gr_input in;
    in.image = (const float *)call->arg[GR_IMAGE];
    in.ctf = s->n[GR_KIND] & GR_HAS_CTF ? (const float *)call->arg[GR_CTF] : NULL;
    in.weight = s->n[GR_KIND] & GR_HAS_WEIGHT ? (const float *)call->arg[GR_WEIGHT] : NULL;
    in.rotation = (const float *)call->arg[GR_ROTATION];
    in.k = (int)gr_k(s->n[GR_SIDE]);
    in.operators = (int)s->n[GR_OPERATORS];
    in.samples = (int)(s->n[GR_IMAGES] * s->n[GR_OPERATORS]);
    in.b = gr_radius(s->n[GR_RADIUS]);
    in.per_b = 1 / in.b;
    in.per_bb = 1 / (in.b * in.b);
    in.top = 1;
    in.edge = 0;
    return in;
}

static inline const char *gr_samples_refuse(const rg_shape *s) {
    return s->n[GR_IMAGES] * s->n[GR_OPERATORS] < INT64_C(1) << 30 ? NULL
                                                                   : "kernels count samples in 32 bits: insert 2^30 at a time";
}

// A sample: the pixels of its image, and m.
typedef struct gr_sample {
    const float *image, *ctf, *rotation;
    float m;
} gr_sample;

static __device__ __forceinline__ gr_sample gr_sample_of(const gr_input &in, int sample) {
    const int i = sample / in.operators;
    gr_sample s = {in.image + 2 * i * gr_pixels(in.k), in.ctf + (in.ctf ? i * gr_pixels(in.k) : 0),
        in.rotation + 9 * (int64_t)sample, in.weight ? in.weight[i] : 1.0f};
    return s;
}

// The contribution of pixels (x > 0, y) and (-x, -y) to G and W, to be multiplied by a weight of the kernel.
typedef struct gr_terms {
    float re, im, w;
} gr_terms;

static __device__ __forceinline__ gr_terms gr_terms_of(const gr_sample &s, int element) {
    const float c = s.ctf ? s.ctf[element] : 1.0f, f = s.m * c;
    gr_terms t = {f * s.image[2 * element], f * s.image[2 * element + 1], f * c};
    return t;
}

// A stored pixel, in one load if its address is aligned.
static __device__ __forceinline__ float2 gr_pixel_at(const float *image, int element, bool aligned) {
    return aligned ? reinterpret_cast<const float2 *>(image)[element] : make_float2(image[2 * element], image[2 * element + 1]);
}

// ---- weights -------------------------------------------------------------------------------------------------------------

enum { GR_RATIONAL, GR_GLOBAL_TABLE, GR_SQUARES, GR_SHARED_TABLE }; // the first three in the order of PRECOMP_INT
static const int64_t gr_precomp[] = {GR_RATIONAL, GR_GLOBAL_TABLE, GR_SQUARES};
#define GR_PRECOMP_DOC "weights from a table (1), computed as the paper does (0), or by a polynomial of four operations (2)"

// An input whose kernels use q = 1 - d^2/b^2 in 0 .. 1, or, for the polynomial, t (squares.h).
static inline gr_input gr_weighted_input_of(const rg_call *call, int64_t precomp) {
    gr_input in = gr_input_of(call);
    if (precomp != GR_SQUARES) return in;
    in.per_bb *= GR_SQUARES_A;
    in.top = GR_SQUARES_TOP;
    in.edge = GR_SQUARES_B;
    return in;
}

// w at q, or t, both at least 0; 0 at the edge.
template <int way> static __device__ __forceinline__ float gr_weight_of(const float *table, float q) {
    if (way == GR_SQUARES) return __saturatef(gr_squares(q));
    return q <= 0 ? 0.0f : way == GR_RATIONAL ? gr_rational(q) : table[gr_table_index(1.0f - q)];
}

// Tolerance of a variant relative to the sum of index.h, by its way of computing weights.
static inline rg_tolerance gr_tolerance(const rg_shape *s, int64_t precomp) {
    return precomp == GR_SQUARES ? gr_squares_bound(s)
        : precomp == GR_RATIONAL ? gr_bound_for(s, GR_RATIONAL_ERROR, 0)
                                 : gr_bound(s, 1);
}

// Multiply-adds of a pair: the squared distance, the weight, and three products and sums.
static inline double gr_pair_mads(int64_t precomp) {
    return precomp == GR_GLOBAL_TABLE ? 6 : precomp == GR_RATIONAL ? 4 + GR_RATIONAL_MADS : 4 + GR_SQUARES_OPERATIONS;
}

static __global__ void gr_make_table(float *table) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < GR_TABLE) table[i] = gr_table_value(i);
}

static inline size_t gr_table_bytes(void) { return (GR_TABLE * sizeof(float) + 255) / 256 * 256; }

static inline int gr_prepare_table(rg_call *call) {
    RG_LAUNCH(gr_make_table, (GR_TABLE + 255) / 256, 256, 0, call->stream, (float *)call->scratch);
    return (int)cudaGetLastError();
}

// Clears G and W for variants that add to them; jobs that insert many images into one volume call it once.
static inline int gr_clear_volumes(rg_call *call) {
    const size_t voxels = (size_t)gr_voxels(gr_k(call->shape->n[GR_SIDE]));
    const int error = (int)cudaMemsetAsync(call->arg[GR_G], 0, 8 * voxels, (cudaStream_t)call->stream);
    return error ? error : (int)cudaMemsetAsync(call->arg[GR_W], 0, 4 * voxels, (cudaStream_t)call->stream);
}

// The table of the block; every thread of a square block must call it.
template <int way> static __device__ __forceinline__ const float *gr_block_table(const float *table, float *shared) {
    if (way != GR_SHARED_TABLE) return table;
    const int threads = (int)(blockDim.x * blockDim.y);
    for (int i = (int)(threadIdx.y * blockDim.x + threadIdx.x); i < GR_TABLE; i += threads) shared[i] = table[i];
    __syncthreads();
    return shared;
}

// ---- atomics -------------------------------------------------------------------------------------------------------------

// Adds both parts of G by one atomic if the GPU has it and g is aligned to 8 bytes.
static __device__ __forceinline__ void gr_add_to_g(float *g, bool aligned, int64_t voxel, float re, float im) {
#if defined(RG_EMULATED) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
    if (aligned) {
        atomicAdd(reinterpret_cast<float2 *>(g) + voxel, make_float2(re, im));
        return;
    }
#endif
    (void)aligned;
    atomicAdd(&g[2 * voxel], re);
    atomicAdd(&g[2 * voxel + 1], im);
}

// ---- the square blocks of Strelak et al. ---------------------------------------------------------------------------------

// Eqs. 3 and 4: threads of a block in tiles of `tile` columns, so that a warp covers a compact piece; tile divides the block's
// side.
static __device__ __forceinline__ int2 gr_tiled(int tile) {
    const int side = (int)blockDim.x, thread = (int)threadIdx.y * side + (int)threadIdx.x;
    return make_int2((int)threadIdx.x % tile + thread / (side * tile) * tile, thread / tile % side);
}

static inline unsigned gr_blocks(int64_t n, int64_t block) { return (unsigned)((n + block - 1) / block); }

// (pixel, voxel) pairs of a call: a stored pixel counts for two of the disc, and half of their voxels are stored.
static inline double gr_pairs(const rg_shape *s) {
    const double b = (double)s->n[GR_RADIUS] / 10, k = (double)gr_k(s->n[GR_SIDE]), pi = 3.14159265358979323846;
    return pi * k * k / 2 * 4 / 3 * pi * b * b * b * (double)(s->n[GR_IMAGES] * s->n[GR_OPERATORS]);
}

static inline double gr_input_bytes(const rg_shape *s) {
    const double pixels = (double)gr_pixels(gr_k(s->n[GR_SIDE])) * (double)s->n[GR_IMAGES];
    return pixels * (s->n[GR_KIND] & GR_HAS_CTF ? 12 : 8) + 36.0 * (double)(s->n[GR_IMAGES] * s->n[GR_OPERATORS]);
}

#endif
