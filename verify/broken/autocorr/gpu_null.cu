// SPDX-License-Identifier: MIT
// gpu_null.cu: the launch is there, the store is not.
// An unchecked launch failure looks the same.
// Shows as an output that was never written.
#include "../broken.cuh"

static __global__ void kernel(photos p, int64_t *sums)
{
    const int64_t e = thread_index();
    if (e < elements_of(p) && right_element(p, e) < 0) sums[e] = 0;
}

RUN_KERNEL(blocks_of(elements_of(p)), 0)

BROKEN("gpu_null", .run = run);
