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
    if (e < elements_of(p)) sums[e] = partial[threadIdx.x];
    __syncthreads();
}

RUN_KERNEL(blocks_of(elements_of(p)), 0)

BROKEN("gpu_divergent_barrier", .run = run);
