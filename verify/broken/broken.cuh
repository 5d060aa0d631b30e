// SPDX-License-Identifier: MIT
// broken.cuh: broken.h for kernels of the GPU, and what they share: one thread an offset, in blocks of 64.
#ifndef RG_BROKEN_CUH
#define RG_BROKEN_CUH

#include "broken.h"
#include "../../impl/gpu/cuda.h"

enum { BLOCK = 64 };

static inline unsigned blocks_of(int64_t n) { return (unsigned)((n + BLOCK - 1) / BLOCK); }

static __device__ __forceinline__ int64_t thread_index() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }

// The descriptor, whose function is run, and the plug-in's one symbol.
#define BROKEN_GPU(NAME, REFUSE, SCRATCH, PREPARE)                                                                          \
    static const rg_variant broken = {                                                            \
        .abi = RG_ABI, .bytes = sizeof(rg_variant), .algo = "autocorr", .name = NAME,                                 \
        .idea = "wrong on purpose", .role = RG_OTHER, .space = RG_DEVICE, .needs = "sm_50", .refuse = REFUSE,         \
        .scratch = SCRATCH, .prepare = PREPARE, .run = run,                                                           \
    };                \
    RG_PLUGIN = {&broken, NULL}

#endif
