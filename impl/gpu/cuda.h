// SPDX-License-Identifier: MIT
// cuda.h: the only include of a .cu variant. The file is then plain CUDA C, except for RG_LAUNCH and RG_SHARED_DYNAMIC, and is
// compiled twice: by nvcc for the GPU, and as C++ by the host compiler (RG_EMULATED) on top of emulator/.
#ifndef RG_CUDA_H
#define RG_CUDA_H

#include "../suite.h"

#ifdef RG_EMULATED
#include "emulator/host_cuda.h"
#else
#include <cuda_runtime.h>
// RG_LAUNCH(kernel, grid, block, shared_bytes, stream, arguments...); templates in parentheses: RG_LAUNCH((k<4>), ...).
#define RG_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                                              \
    (kernel)<<<(grid), (block), (shared_bytes), (cudaStream_t)(stream)>>>(__VA_ARGS__)
// Dynamic shared memory of a kernel: RG_SHARED_DYNAMIC(unsigned char, line) declares `unsigned char *line`, 16-byte aligned.
#define RG_SHARED_DYNAMIC(type, id)                                                                                            \
    extern __shared__ __align__(16) unsigned char rg_shared_[];                                                                \
    type *id = reinterpret_cast<type *>(rg_shared_)
#endif

// D += A B for one warp, 16 x 8 x 32, unsigned 8-bit in, 32-bit integers out (PTX mma.sync.m16n8k32.row.col.s32.u8.u8.s32).
// Lane l holds rows l/4 and l/4+8 of A, column l/4 of B, and rows l/4, l/4+8 and columns 2(l%4)+{0,1} of D. Needs sm_80.
#ifndef RG_EMULATED
static __device__ __forceinline__ void rg_mma_u8(int d[4], const unsigned a[4], const unsigned b[2]) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

#endif
