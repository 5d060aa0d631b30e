// SPDX-License-Identifier: MIT
// gpu_right.cu: nothing is wrong with this one: one thread an offset.
// The control of the kernels beside it.
// Shows as PASS.
#include "../broken.cuh"

static __global__ void kernel(photos p, int64_t *sums)
{
    const int64_t e = thread_index();
    if (e < elements_of(p)) sums[e] = right_element(p, e);
}

RUN_KERNEL(blocks_of(elements_of(p)), 0)

BROKEN("gpu_right", .run = run);
