// SPDX-License-Identifier: MIT
// add.cu: one sum into another on a GPU.
#include "../../gpu/cuda.h"
#include "add.h"

static __global__ void add_to(int64_t n, const float *from, float *to) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}

#ifdef RG_EMULATED
#define ADD pl_add_emulated
#else
#define ADD pl_add_gpu
#endif
int ADD(void *stream, int64_t n, const float *from, float *to) {
    enum { BLOCK = 256 };
    RG_LAUNCH(add_to, (unsigned)((n + BLOCK - 1) / BLOCK), BLOCK, 0, stream, n, from, to);
    return (int)cudaGetLastError();
}
