// SPDX-License-Identifier: MIT
// batch.cuh: many transforms of one image or volume in one launch: `batch` and `batch_mixed` by exact interpolation,
// `batch_texture` by the texture unit.
//
// A block keeps its stacks (patch.cuh) of the reference in registers and applies a group of transforms, so that the reference
// is read once a group. Each thread sums its pixels of a transform in float. A warp adds four sums in six shuffles, halving the
// number that each lane carries. After the group the block adds the sums of its warps in double and stores them for af_finish
// (sums.cuh). There are no atomics: the sums are the same in every run.
//
// `batch` reads a copy in bricks of pairs (bricks.cuh), made once a call; `batch_mixed` reads some pixels from it, others from
// a texture.
#ifndef RG_AFFINE_BATCH_CUH
#define RG_AFFINE_BATCH_CUH

#include "bound.h"
#include "bricks.cuh"
#include "sums.cuh"

enum { AF_GROUP_MOST = 32, AF_PARTIALS_MOST = 64 << 20 }; // transforms of a group; bytes of partial sums at a time

// ---- the sources ---------------------------------------------------------------------------------------------------------
// A source reads I' less its typical value at s, in coordinates from the centre plus an offset, for pixel k of a thread's
// stack. CLAMPS: s must lie in the border. BLOCKS: a multiprocessor, which limits registers; 0: the compiler's choice.

template <int DIMS> struct af_fetched {
    cudaTextureObject_t texture;
    static constexpr int DIMENSIONS = DIMS, CLAMPS = 0, BLOCKS = DIMS == 2 ? 4 : 0;
    __device__ __forceinline__ float at(const float s[3], float typical, int) const {
        return (DIMS == 2 ? tex2D<float>(texture, s[0], s[1]) : tex3D<float>(texture, s[0], s[1], s[2])) - typical;
    }
};

template <int DIMS> struct af_bricked {
    af_bricks bricks;
    static constexpr int DIMENSIONS = DIMS, CLAMPS = 1, BLOCKS = DIMS == 2 ? 4 : 0;
    __device__ __forceinline__ float at(const float s[3], float, int) const {
        return DIMS == 2 ? af_bricks_at_2d(bricks, s) : af_bricks_at_3d(bricks, s);
    }
};

// Alternates between the bricks and a texture that returns four neighbours unfiltered: one unit of the L1 delivers lines for
// the first, another texels for the second. The point between four texels selects them, whatever the rounding of shares. The
// texture of a volume has its planes one below the other, with a row of zeros between two.
template <int DIMS> struct af_mixed {
    af_bricked<DIMS> bricked;
    cudaTextureObject_t texture;
    float plane; // rows
    static constexpr int DIMENSIONS = DIMS, CLAMPS = 1, BLOCKS = DIMS == 2 ? 4 : 5;
    static constexpr unsigned FETCHED = DIMS == 2 ? 0xb5b5 : 0xaaaa; // bit k: pixel k comes from the texture

    static __device__ __forceinline__ float between_four(const float4 t, const float share[3]) {
        return af_between(af_between(t.w, t.z, share[0]), af_between(t.x, t.y, share[0]), share[1]);
    }
    __device__ __forceinline__ float at(const float s[3], float typical, int k) const {
        if (!(FETCHED >> k & 1)) return bricked.at(s, typical, k);
        float first[3] = {0, 0, 0}, share[3];
        for (int a = 0; a < DIMS; a++) {
            first[a] = floorf(s[a]);
            share[a] = s[a] - first[a];
        }
        const float row = DIMS == 2 ? first[1] : first[2] * plane + first[1];
        const float value = between_four(tex2Dgather<float4>(texture, first[0], row), share);
        if (DIMS == 2) return value - typical;
        return af_between(value, between_four(tex2Dgather<float4>(texture, first[0], row + plane), share), share[2]) - typical;
    }
};

typedef struct af_batch {
    const float *reference, *matrix, *typical;
    af_sums *partial;
    int w, h, d, transforms, group;
    float low[3], high[3];             // the first and last pixel, from the centre
    float clamp_low[3], clamp_high[3]; // by rule 0 one farther
    float none_low[3], none_high[3];   // from here on I' is 0 (rule 0) or takes no part (rule 2)
    float offset[3];                   // from those coordinates to the source's
} af_batch;

// ---- the kernel ----------------------------------------------------------------------------------------------------------

// Sums four values over the warp: lanes 0-7 get the first sum, 8-15 the second, and so on.
static __device__ __forceinline__ float af_four_sums(float v0, float v1, float v2, float v3, unsigned lane) {
    const bool upper = lane & 16, odd = lane & 8;
    const float p = (upper ? v2 : v0) + __shfl_xor_sync(~0u, upper ? v0 : v2, 16);
    const float q = (upper ? v3 : v1) + __shfl_xor_sync(~0u, upper ? v1 : v3, 16);
    float sum = (odd ? q : p) + __shfl_xor_sync(~0u, odd ? p : q, 8);
    for (int step = 4; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    return sum;
}

// Coordinate of a thread's first pixel along an axis, and the step to the next one.
template <int DIMS>
static __device__ __forceinline__ void af_place(const float4 row, const float p[3], float *base, float *step) {
    *base = DIMS == 2 ? row.x * p[0] + (row.y * p[1] + row.z) : row.x * p[0] + (row.y * p[1] + (row.z * p[2] + row.w));
    *step = DIMS == 2 ? AF_PATCH_H * row.y : AF_CUBE_D * row.z;
}

typedef struct af_six {
    float a, aa, ab;
    float n, b, bb; // of the pixels that take part, under rule 2
} af_six;

// One transform of one thread's stack. EVERY: all STACK pixels take part and s needs no clamp; base is in the source's
// coordinates.
template <int DIMS, int IGNORE, int STACK, int EVERY, class Source>
static __device__ __forceinline__ af_six af_stack_sums(const af_batch &p, const Source &source, const float base[3],
    const float step[3], const float r[STACK], int n, float typical) {
    af_six sums = {0, 0, 0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < STACK; k++) {
        float s[3];
        bool takes_part = EVERY || k < n;
        for (int a = 0; a < DIMS; a++) {
            s[a] = base[a] + (float)k * step[a];
            if (IGNORE && !EVERY) takes_part = takes_part && af_inside(s[a], p.low[a], p.high[a]);
            if (Source::CLAMPS && !EVERY) s[a] = fminf(fmaxf(s[a], p.clamp_low[a]), p.clamp_high[a]);
            if (!EVERY) s[a] += p.offset[a];
        }
        const float value = takes_part ? source.at(s, typical, k) : 0;
        sums.a += value;
        sums.aa += value * value;
        sums.ab += value * r[k];
        if (IGNORE && !EVERY && takes_part) {
            sums.n += 1;
            sums.b += r[k];
            sums.bb += r[k] * r[k];
        }
    }
    return sums;
}

// The same for the warp; lanes 0, 8 and 16 write a, aa, ab and n, b, bb. whole: n, b, bb over all pixels; empty: a, aa, ab if
// I' is 0 in all of them.
template <int DIMS, int IGNORE, int STACK, class Source>
static __device__ __forceinline__ void af_warp_sums(const af_batch &p, const Source &source, const float4 *map,
    const float place[3], const float r[STACK], int n, float typical, float whole, float empty, float *part) {
    const unsigned lane = threadIdx.x % 32;
    float base[3], step[3], from[3];
    bool inside = n == STACK, none = n == 0;
    for (int a = 0; a < DIMS; a++) {
        af_place<DIMS>(map[a], place, &base[a], &step[a]);
        from[a] = base[a] + p.offset[a];
        const float end = base[a] + (float)(STACK - 1) * step[a], least = fminf(base[a], end), most = fmaxf(base[a], end);
        if (IGNORE || Source::CLAMPS) inside = inside && least >= p.low[a] && most <= p.high[a];
        none = none || most <= p.none_low[a] || least >= p.none_high[a];
    }
    if (__all_sync(~0u, none)) {
        if (lane % 8 == 0 && lane < 24) {
            part[lane / 8] = empty;
            part[3 + lane / 8] = IGNORE ? 0 : whole;
        }
        return;
    }
    const bool every = __all_sync(~0u, inside);
    const af_six sums = every ? af_stack_sums<DIMS, IGNORE, STACK, 1>(p, source, from, step, r, n, typical)
                              : af_stack_sums<DIMS, IGNORE, STACK, 0>(p, source, base, step, r, n, typical);
    const float of_image = af_four_sums(sums.a, sums.aa, sums.ab, 0, lane);
    const float of_reference = IGNORE && !every ? af_four_sums(sums.n, sums.b, sums.bb, 0, lane) : whole;
    if (lane % 8 == 0 && lane < 24) {
        part[lane / 8] = of_image;
        part[3 + lane / 8] = of_reference;
    }
}

template <int DIMS, int IGNORE, int STACK, class Source>
static __global__ void __launch_bounds__(AF_BLOCK, Source::BLOCKS) batch(af_batch p, Source source) {
    __shared__ float4 map[AF_GROUP_MOST][DIMS];
    __shared__ float part[AF_GROUP_MOST][AF_WARPS][6];
    const int first = (int)blockIdx.y * p.group, count = min(p.group, p.transforms - first);
    for (int i = (int)threadIdx.x; i < count * DIMS; i += AF_BLOCK) {
        const float *row = p.matrix + ((int64_t)first * DIMS + i) * (DIMS + 1);
        map[i / DIMS][i % DIMS] = make_float4(row[0], row[1], row[2], DIMS == 3 ? row[DIMS] : 0);
    }
    const af_stack s = af_stack_of<DIMS, STACK>(p.w, p.h, p.d);
    const float place[3] = {(float)s.x + af_low(p.w), (float)s.y + af_low(p.h), (float)s.z + af_low(p.d)};
    const int64_t from = ((int64_t)s.z * p.h + s.y) * p.w + s.x,
                  next = DIMS == 2 ? AF_PATCH_H * (int64_t)p.w : AF_CUBE_D * (int64_t)p.h * p.w;
    const float typical = p.typical[0], typical_of_reference = p.typical[1];
    float r[STACK], b = 0, bb = 0;
#pragma unroll
    for (int k = 0; k < STACK; k++) {
        r[k] = k < s.n ? p.reference[from + k * next] - typical_of_reference : 0;
        b += r[k];
        bb += r[k] * r[k];
    }
    const float whole = af_four_sums((float)s.n, b, bb, 0, threadIdx.x % 32), zero = -typical;
    const float empty = IGNORE ? 0 : af_four_sums(zero * (float)s.n, zero * zero * (float)s.n, zero * b, 0, threadIdx.x % 32);
    __syncthreads();
    for (int j = 0; j < count; j++)
        af_warp_sums<DIMS, IGNORE, STACK>(p, source, map[j], place, r, s.n, typical, whole, empty, part[j][threadIdx.x / 32]);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < count * 6; i += AF_BLOCK) {
        const int field[6] = {3, 0, 4, 1, 5, 2}; // n, a, b, aa, bb, ab of af_sums
        double sum = 0;
        for (int w = 0; w < AF_WARPS; w++) sum += part[i / 6][w][field[i % 6]];
        double *to = (double *)&p.partial[(int64_t)(first + i / 6) * gridDim.x + blockIdx.x];
        to[i % 6] = sum;
    }
}

#endif
