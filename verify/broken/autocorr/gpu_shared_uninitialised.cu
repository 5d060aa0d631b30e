// SPDX-License-Identifier: MIT
// gpu_shared_uninitialised.cu: adds an element of shared memory that no thread wrote.
// On a GPU it often holds 0, and it passes; compute-sanitizer (initcheck) looks at global memory only.
// Shows on the emulated GPU as a read before a write.
#include "../broken.cuh"

static __global__ void kernel(photos p, int64_t *sums)
{
    __shared__ int64_t partial[BLOCK + 1];
    const int64_t e = thread_index();
    partial[threadIdx.x] = e < elements_of(p) ? right_element(p, e) : 0;
    __syncthreads();
    if (e < elements_of(p)) sums[e] = partial[threadIdx.x] + *(volatile int64_t *)&partial[BLOCK];
}

RUN_KERNEL(blocks_of(elements_of(p)), 0)

BROKEN("gpu_shared_uninitialised", .run = run);
