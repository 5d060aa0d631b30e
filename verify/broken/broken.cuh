// SPDX-License-Identifier: MIT
// broken.cuh: broken.h for kernels of the GPU, and what they share: one thread an offset, in blocks of 64.
#ifndef RG_BROKEN_CUH
#define RG_BROKEN_CUH

#include "broken.h"
#include "../../impl/gpu/cuda.h"

enum { BLOCK = 64 };

static inline unsigned blocks_of(int64_t n) { return (unsigned)((n + BLOCK - 1) / BLOCK); }

static __device__ __forceinline__ int64_t thread_index() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }

// run() of kernel(p, sums) by so many blocks, each with so many bytes of dynamic shared memory.
#define RUN_KERNEL(blocks, shared_bytes)                                                                                       \
    static int run(rg_call *call)                                                                                              \
    {                                                                                                                          \
        const photos p = photos_of(call->shape, call->arg);                                                                    \
        RG_LAUNCH(kernel, (unsigned)(blocks), BLOCK, shared_bytes, call->stream, p, (int64_t *)call->arg[AC_SUMS]);            \
        return (int)cudaGetLastError();                                                                                        \
    }

#endif
