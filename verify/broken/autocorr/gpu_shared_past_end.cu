// SPDX-License-Identifier: MIT
// gpu_shared_past_end.cu: uses one element of dynamic shared memory more than the launch asked for.
// GPUs hand it out in larger pieces, so it passes there; compute-sanitizer (memcheck) reports it.
// Shows on the emulated GPU as an index out of range.
#include "../broken.cuh"

static __global__ void kernel(photos p, int64_t *sums)
{
    RG_SHARED_DYNAMIC(int64_t, line);
    const int64_t e = thread_index();
    line[threadIdx.x + 1] = e < elements_of(p) ? right_element(p, e) : 0;
    __syncthreads();
    if (e < elements_of(p)) sums[e] = line[threadIdx.x + 1];
}

RUN_KERNEL(blocks_of(elements_of(p)), BLOCK * sizeof(int64_t))

BROKEN("gpu_shared_past_end", .run = run);
