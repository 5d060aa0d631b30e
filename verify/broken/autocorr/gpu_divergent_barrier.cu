// SPDX-License-Identifier: MIT
// gpu_divergent_barrier.cu: a __syncthreads that half of the threads do not reach.
// On a GPU the outcome is undefined: it may pass, or hang. compute-sanitizer (synccheck) reports it.
// Shows on the emulated GPU as a barrier that not all threads reach.
#include "../broken.cuh"

static __global__ void kernel(photos p, int64_t *sums)
{
    __shared__ int64_t partial[BLOCK];
    const int64_t e = thread_index();
    partial[threadIdx.x] = e < elements_of(p) ? right_element(p, e) : 0;
    if (threadIdx.x < BLOCK / 2)
        __syncthreads();
    else if (e < 0) // keeps the other threads alive in a branch of their own
        __syncthreads();
    if (e < elements_of(p))
        sums[e] = partial[threadIdx.x];
    __syncthreads();
}

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    RG_LAUNCH(kernel, blocks_of(elements_of(p)), BLOCK, 0, call->stream, p, sums);
    return (int)cudaGetLastError();
}

BROKEN_GPU("gpu_divergent_barrier", NULL, NULL, NULL);
