// SPDX-License-Identifier: MIT
// hopper.h: wraps each sm_90a instruction that variants use in a small function; the emulated build
// implements them in plain CUDA.
//
// rg_wgmma_u8<N>: D += A B for one warpgroup, 64 x N x 32, unsigned 8-bit in, 32-bit integers out, which wrap (PTX
// wgmma.mma_async.m64nNk32.s32.u8.u8 with A in registers); all 128 threads call it together. With w the warp and l the lane:
//   a[0..3]: four bytes each of A, columns 4(l%4).. of rows 16w + l/4 and + 8, then columns 16 + 4(l%4).. of the same two rows;
//   b: 8 columns of B, 16 deep, are 128 bytes in shared memory, 16 a column; the next 8 columns follow 128 bytes on, the
//      next 16 of the depth `depth` bytes on (a multiple of 16). rg_wgmma_matrix(start, depth) names such a matrix, and adding
//      to it moves the start by columns: any number is valid without swizzle;
//   d[4j + 2i + e]: row 16w + l/4 + 8i, column 8j + 2(l%4) + e; d may be longer than N / 2.
// It is asynchronous: call rg_wgmma_begin with the a of the products that follow, and rg_wgmma_wait before using d or a.
// rg_fence_shared makes this thread's writes to shared memory visible to rg_wgmma_u8 after the next barrier.
//
// rg_copy16 starts to copy 16 bytes (both sides aligned) from global to shared memory, zeros if not `inside`. rg_copies_end
// ends a group of copies; rg_copies_wait<n> waits for all groups of this thread except the last n (PTX cp.async).
#ifndef RG_CUDA_HOPPER_H
#define RG_CUDA_HOPPER_H

#include "cuda.h"

#ifdef RG_EMULATED

typedef struct rg_wgmma_b {
    const unsigned char *at;
    unsigned depth;
} rg_wgmma_b;

static inline rg_wgmma_b rg_wgmma_matrix(const unsigned char *at, unsigned depth) { return {at, depth}; }
static inline rg_wgmma_b operator+(rg_wgmma_b b, int columns) { return {b.at + 16 * columns, b.depth}; }

template <int N> static inline void rg_wgmma_begin(unsigned (&)[N][4]) {}
template <int N> static inline void rg_wgmma_wait(int (&)[N]) {}
static inline void rg_fence_shared(void) {}
static inline void rg_copies_end(void) {}
template <int N> static inline void rg_copies_wait(void) {}
static inline void rg_copy16(void *shared, const void *global, bool inside) {
    *(uint4 *)shared = inside ? *(const uint4 *)global : make_uint4(0, 0, 0, 0);
}

template <int N, int D> static inline void rg_wgmma_u8(int (&d)[D], const unsigned (&a)[4], rg_wgmma_b b) {
    int quad = (int)threadIdx.x % 32 / 4 * 4, pair = (int)threadIdx.x % 4 * 2;
    unsigned row[2][8]; // the rows that this thread's part of d needs, gathered from the four lanes that hold them
    for (int word = 0; word < 8; word++)
        for (int i = 0; i < 2; i++) row[i][word] = __shfl_sync(0xffffffffu, a[word / 4 * 2 + i], quad + word % 4);
    for (int j = 0; j < N / 8; j++)
        for (int e = 0; e < 2; e++) {
            const unsigned char *column = b.at + 128 * j + 16 * (pair + e);
            const uint4 half[2] = {*(const uint4 *)column, *(const uint4 *)(column + b.depth)}; // 32 deep, 16 bytes a read
            for (int i = 0; i < 2; i++) {
                unsigned sum = (unsigned)d[4 * j + 2 * i + e];
                for (int k = 0; k < 2; k++) {
                    sum = __dp4a(row[i][4 * k], half[k].x, sum);
                    sum = __dp4a(row[i][4 * k + 1], half[k].y, sum);
                    sum = __dp4a(row[i][4 * k + 2], half[k].z, sum);
                    sum = __dp4a(row[i][4 * k + 3], half[k].w, sum);
                }
                d[4 * j + 2 * i + e] = (int)sum;
            }
        }
}

#else

// This file is also compiled for other GPUs, where needs = "sm_90a" prevents the variant from running.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define RG_HOPPER(...) asm volatile(__VA_ARGS__)
#else
#define RG_HOPPER(...) __trap()
#endif

// Matrix descriptor: address, distance along the depth, distance of 8 columns, in units of 16 bytes (14 bits each).
typedef struct rg_wgmma_b {
    uint64_t word;
} rg_wgmma_b;

static __device__ __forceinline__ rg_wgmma_b rg_wgmma_matrix(const unsigned char *at, unsigned depth) {
    unsigned address = (unsigned)__cvta_generic_to_shared(at);
    return {(uint64_t)(address >> 4 & 0x3fffu) | (uint64_t)(depth >> 4) << 16 | 8ull << 32};
}

static __device__ __forceinline__ rg_wgmma_b operator+(rg_wgmma_b b, int columns) {
    return {(b.word & ~(uint64_t)0xffffffffu) | (uint32_t)((uint32_t)b.word + (uint32_t)columns)};
}

// The words pass through the asm statements, so that none is computed between two products, which would serialise them.
template <int N> static __device__ __forceinline__ void rg_wgmma_begin(unsigned (&a)[N][4]) {
#pragma unroll
    for (int i = 0; i < N; i++) asm volatile("" : "+r"(a[i][0]), "+r"(a[i][1]), "+r"(a[i][2]), "+r"(a[i][3])::"memory");
    RG_HOPPER("wgmma.fence.sync.aligned;" ::: "memory");
}

// Ends the group of issued products and waits for it. The sums pass through the asm statements, so that no use of them moves
// before.
template <int N> static __device__ __forceinline__ void rg_wgmma_wait(int (&d)[N]) {
    RG_HOPPER("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < N; i++) asm volatile("" : "+r"(d[i])::"memory");
}

static __device__ __forceinline__ void rg_fence_shared(void) { RG_HOPPER("fence.proxy.async.shared::cta;" ::: "memory"); }

static __device__ __forceinline__ void rg_copies_end(void) { RG_HOPPER("cp.async.commit_group;" ::: "memory"); }
template <int N> static __device__ __forceinline__ void rg_copies_wait(void) {
    RG_HOPPER("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
static __device__ __forceinline__ void rg_copy16(void *shared, const void *global, bool inside) {
    [[maybe_unused]] unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    RG_HOPPER("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(inside ? 16 : 0) : "memory");
}

#define RG_REGISTERS_0 "%0, %1, %2, %3, %4, %5, %6, %7"
#define RG_REGISTERS_1 "%8, %9, %10, %11, %12, %13, %14, %15"
#define RG_REGISTERS_2 "%16, %17, %18, %19, %20, %21, %22, %23"
#define RG_REGISTERS_3 "%24, %25, %26, %27, %28, %29, %30, %31"
#define RG_REGISTERS_4 "%32, %33, %34, %35, %36, %37, %38, %39"
#define RG_REGISTERS_5 "%40, %41, %42, %43, %44, %45, %46, %47"
#define RG_REGISTERS_6 "%48, %49, %50, %51, %52, %53, %54, %55"
#define RG_REGISTERS_7 "%56, %57, %58, %59, %60, %61, %62, %63"
#define RG_REGISTERS_8 "%64, %65, %66, %67, %68, %69, %70, %71"
#define RG_REGISTERS_9 "%72, %73, %74, %75, %76, %77, %78, %79"
#define RG_REGISTERS_10 "%80, %81, %82, %83, %84, %85, %86, %87"
#define RG_REGISTERS_11 "%88, %89, %90, %91, %92, %93, %94, %95"
#define RG_REGISTERS_12 "%96, %97, %98, %99, %100, %101, %102, %103"
#define RG_REGISTERS_13 "%104, %105, %106, %107, %108, %109, %110, %111"
#define RG_REGISTERS_14 "%112, %113, %114, %115, %116, %117, %118, %119"
#define RG_REGISTERS_15 "%120, %121, %122, %123, %124, %125, %126, %127"
#define RG_SUMS(i)                                                                                                             \
    "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), "+r"(d[i + 6]), "+r"(d[i + 7])
#define RG_TEXT_16 RG_REGISTERS_0 ", " RG_REGISTERS_1
#define RG_OPERANDS_16 RG_SUMS(0), RG_SUMS(8)
#define RG_TEXT_32 RG_TEXT_16 ", " RG_REGISTERS_2 ", " RG_REGISTERS_3
#define RG_OPERANDS_32 RG_OPERANDS_16, RG_SUMS(16), RG_SUMS(24)
#define RG_TEXT_48 RG_TEXT_32 ", " RG_REGISTERS_4 ", " RG_REGISTERS_5
#define RG_OPERANDS_48 RG_OPERANDS_32, RG_SUMS(32), RG_SUMS(40)
#define RG_TEXT_64 RG_TEXT_48 ", " RG_REGISTERS_6 ", " RG_REGISTERS_7
#define RG_OPERANDS_64 RG_OPERANDS_48, RG_SUMS(48), RG_SUMS(56)
#define RG_TEXT_80 RG_TEXT_64 ", " RG_REGISTERS_8 ", " RG_REGISTERS_9
#define RG_OPERANDS_80 RG_OPERANDS_64, RG_SUMS(64), RG_SUMS(72)
#define RG_TEXT_96 RG_TEXT_80 ", " RG_REGISTERS_10 ", " RG_REGISTERS_11
#define RG_OPERANDS_96 RG_OPERANDS_80, RG_SUMS(80), RG_SUMS(88)
#define RG_TEXT_112 RG_TEXT_96 ", " RG_REGISTERS_12 ", " RG_REGISTERS_13
#define RG_OPERANDS_112 RG_OPERANDS_96, RG_SUMS(96), RG_SUMS(104)
#define RG_TEXT_128 RG_TEXT_112 ", " RG_REGISTERS_14 ", " RG_REGISTERS_15
#define RG_OPERANDS_128 RG_OPERANDS_112, RG_SUMS(112), RG_SUMS(120)
// n columns; the registers of the sums as text and as operands; the numbers of the operands after them.
#define RG_WGMMA(n, registers, a0, a1, a2, a3, matrix, ...)                                                                    \
    if constexpr (N == n)                                                                                                      \
    RG_HOPPER("{\n\t.reg .pred add;\n\tsetp.eq.u32 add, 0, 0;\n\t"                                                             \
              "wgmma.mma_async.sync.aligned.m64n" #n "k32.s32.u8.u8 {" registers "}, {%" #a0 ", %" #a1 ", %" #a2 ", %" #a3     \
              "}, %" #matrix ", add;\n\t}"                                                                                     \
              : __VA_ARGS__                                                                                                    \
              : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.word))

template <int N, int D> static __device__ __forceinline__ void rg_wgmma_u8(int (&d)[D], const unsigned (&a)[4], rg_wgmma_b b) {
    static_assert(N % 32 == 0 && N >= 32 && N <= 256 && D >= N / 2, "columns");
    RG_WGMMA(32, RG_TEXT_16, 16, 17, 18, 19, 20, RG_OPERANDS_16);
    RG_WGMMA(64, RG_TEXT_32, 32, 33, 34, 35, 36, RG_OPERANDS_32);
    RG_WGMMA(96, RG_TEXT_48, 48, 49, 50, 51, 52, RG_OPERANDS_48);
    RG_WGMMA(128, RG_TEXT_64, 64, 65, 66, 67, 68, RG_OPERANDS_64);
    RG_WGMMA(160, RG_TEXT_80, 80, 81, 82, 83, 84, RG_OPERANDS_80);
    RG_WGMMA(192, RG_TEXT_96, 96, 97, 98, 99, 100, RG_OPERANDS_96);
    RG_WGMMA(224, RG_TEXT_112, 112, 113, 114, 115, 116, RG_OPERANDS_112);
    RG_WGMMA(256, RG_TEXT_128, 128, 129, 130, 131, 132, RG_OPERANDS_128);
}

#endif
#endif
