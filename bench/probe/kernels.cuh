// SPDX-License-Identifier: MIT
// kernels.cuh: the loops of gpu.cu. `reps` is the length of a loop; *out is written when a sum takes a value that
// it practically never has, so that the compiler can drop nothing (the SASS was looked at: each loop holds its UNROLL x CHAINS
// instructions). *ran is set by kernels whose body may be compiled away on an older GPU.
#pragma once

#include "../../impl/gpu/cuda.h"

namespace {

enum { BLOCK = 256, BLOCKS_PER_SM = 8, CHAINS = 16, UNROLL = 16 };

struct fma_f32 {
    typedef float type;
    static __device__ float step(float a, float x, float y) { return fmaf(a, x, y); }
};
struct fma_f64 {
    typedef double type;
    static __device__ double step(double a, double x, double y) { return fma(a, x, y); }
};
struct mad_i32 {
    typedef unsigned type;
    static __device__ unsigned step(unsigned a, unsigned x, unsigned y) { return a * x + y; }
};
struct dot_i8 {
    typedef unsigned type;
    static __device__ unsigned step(unsigned a, unsigned x, unsigned y) { return __dp4a(x, y, a); }
};

template <class OP>
__global__ void __launch_bounds__(BLOCK) arithmetic(int reps, typename OP::type x, typename OP::type y, unsigned *out) {
    typename OP::type a[CHAINS], sum = 0;
#pragma unroll
    for (int k = 0; k < CHAINS; k++) a[k] = (typename OP::type)(threadIdx.x + k);
    for (int r = 0; r < reps; r++) {
#pragma unroll
        for (int i = 0; i < UNROLL * CHAINS; i++) a[i % CHAINS] = OP::step(a[i % CHAINS], x, y);
    }
#pragma unroll
    for (int k = 0; k < CHAINS; k++) sum += a[k];
    if (sum == (typename OP::type)123456789) *out = 1;
}

__global__ void __launch_bounds__(BLOCK) matrix_mma(int reps, unsigned *out) {
    enum { TILES = 8 };
    int d[TILES][4] = {};
    unsigned a[4], b[2];
    for (int i = 0; i < 4; i++) {
        a[i] = (unsigned)rg_bits(1, threadIdx.x * 4u + i);
        b[i & 1] = (unsigned)rg_bits(2, threadIdx.x * 4u + i);
    }
    for (int r = 0; r < reps; r++) {
#pragma unroll
        for (int i = 0; i < UNROLL; i++) rg_mma_u8(d[i % TILES], a, b);
    }
    int sum = 0;
    for (int i = 0; i < TILES * 4; i++) sum ^= d[i / 4][i % 4];
    if (sum == 123456789) *out = 1;
}

// The 128 accumulators of wgmma m64n256k32 as text "%0,%1,...,%127" and as operands.
#define NAMES(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define HOLD4(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define HOLD16(i) HOLD4(i), HOLD4(i + 4), HOLD4(i + 8), HOLD4(i + 12)
#define HOLD32(i) HOLD16(i), HOLD16(i + 16)

// One warpgroup a block; A (64 x 32 bytes) and B (256 x 32 bytes) both in shared memory, without swizzle: core matrices of 8
// rows x 16 bytes, the two of one row group 128 bytes apart, row groups 256 bytes apart. Values do not matter, but random ones
// draw the power, and hold the clock, of real work. *ran tells whether this body was compiled for the GPU at hand.
__global__ void __launch_bounds__(128) matrix_wgmma(int reps, unsigned *out, unsigned *ran) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    __shared__ __align__(128) unsigned tile[(64 + 256) * 32 / 4];
    for (int i = threadIdx.x; i < (64 + 256) * 32 / 4; i += 128) tile[i] = (unsigned)rg_bits(3, i);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    uint64_t where = (uint64_t)__cvta_generic_to_shared(tile);
    uint64_t strides = (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
    uint64_t a = strides | where >> 4, b = strides | (where + 64 * 32) >> 4;
    int d[128];
#pragma unroll
    for (int i = 0; i < 128; i++) d[i] = 0;
    for (int r = 0; r < reps; r++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < UNROLL; i++)
            asm volatile("{.reg .pred p; setp.eq.u32 p, 1, 1; wgmma.mma_async.sync.aligned.m64n256k32.s32.u8.u8 {"
                         "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9," NAMES(1) NAMES(2) NAMES(3) NAMES(4) NAMES(5) NAMES(6) NAMES(7)
                             NAMES(8) NAMES(9) NAMES(10) NAMES(11) "%120,%121,%122,%123,%124,%125,%126,%127}, %128, %129, p;}"
                         : HOLD32(0), HOLD32(32), HOLD32(64), HOLD32(96)
                         : "l"(a), "l"(b));
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    int sum = 0;
#pragma unroll
    for (int i = 0; i < 128; i++) sum ^= d[i];
    *ran = 1;
    if (sum == 123456789) *out = 1;
#else
    (void)reps, (void)out, (void)ran;
#endif
}

// Past L1 both ways, so that an array smaller than L2 measures L2 and a larger one the memory. n is a multiple of the grid x 4.
__global__ void __launch_bounds__(BLOCK) copy(int reps, uint4 *to, const uint4 *from, size_t n) {
    size_t threads = (size_t)gridDim.x * BLOCK, first = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    for (int r = 0; r < reps; r++) {
        for (size_t i = first; i < n; i += 4 * threads) {
            uint4 v[4];
#pragma unroll
            for (int k = 0; k < 4; k++) v[k] = __ldcg(from + i + k * threads);
#pragma unroll
            for (int k = 0; k < 4; k++) __stcg(to + i + k * threads, v[k]);
        }
    }
}

// 16 bytes a lane, without bank conflicts; the start moves each time so that no earlier load can be reused.
__global__ void __launch_bounds__(BLOCK) shared_read(int reps, unsigned *out) {
    __shared__ uint4 line[1024];
    for (int i = threadIdx.x; i < 1024; i += BLOCK) line[i] = make_uint4(i, i + 1, i + 2, i + 3);
    __syncthreads();
    unsigned sum = 0, at = threadIdx.x;
    for (int r = 0; r < reps; r++) {
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            uint4 v = line[at + i * 32];
            sum ^= v.x ^ v.y ^ v.z ^ v.w;
        }
        at = (at + 32) & 511;
    }
    if (sum == 123456789) *out = 1;
}

__device__ void add_one(unsigned *p) { atomicAdd(p, 1u); }
__device__ void add_one(float *p) { atomicAdd(p, 1.0f); }
__device__ void add_one(float4 *p) {
#if __CUDA_ARCH__ >= 900
    atomicAdd(p, make_float4(1, 1, 1, 1));
#else
    (void)p;
#endif
}

// Neighbouring lanes add to neighbouring elements: the most that L2 can take. n is a power of two.
template <class T> __global__ void __launch_bounds__(BLOCK) atomics(int reps, T *p, unsigned n, unsigned *ran) {
#if __CUDA_ARCH__ >= 900
    const bool can = true;
#else
    const bool can = sizeof(T) < 16;
#endif
    unsigned threads = gridDim.x * BLOCK, at = blockIdx.x * BLOCK + threadIdx.x;
    for (int r = 0; r < reps && can; r++) {
#pragma unroll
        for (int i = 0; i < UNROLL; i++) add_one(p + ((at + i * threads) & (n - 1)));
        at += UNROLL * threads;
    }
    if (can) *ran = 1;
}

// Each add goes to a different element of an array much larger than L2. n is a power of two.
__global__ void __launch_bounds__(BLOCK) atomics_spread(int reps, float *p, unsigned n) {
    unsigned x = (unsigned)rg_bits(4, (uint64_t)blockIdx.x * BLOCK + threadIdx.x);
    for (int r = 0; r < reps; r++) {
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            x = x * 1664525u + 1013904223u;
            add_one(p + ((x ^ x >> 15) & (n - 1)));
        }
    }
}

enum { TEXTURE_SIDE = 64 };

// Warps read 8 x 4 pixels, from a picture that stays in the texture cache.
__global__ void __launch_bounds__(BLOCK) fetch(int reps, cudaTextureObject_t picture, unsigned *out) {
    float x = threadIdx.x % 8 + 0.5f, y = threadIdx.x / 8 % 4 + 0.5f;
    unsigned sum = 0;
    for (int r = 0; r < reps; r++) {
        float left = x + r % 32;
#pragma unroll
        for (int i = 0; i < UNROLL; i++) sum ^= tex2D<unsigned>(picture, left, y + i);
    }
    if (sum == 123456789) *out = 1;
}

} // namespace
