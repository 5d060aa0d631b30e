// SPDX-License-Identifier: MIT
// gpu_wild.cu: right, then one thread stores through a wild pointer.
// The fault ends the context, and everything after it in the same process fails.
// Shows as an error of the device.
#include "../broken.cuh"

static __global__ void kernel(photos p, int64_t *sums)
{
    const int64_t e = thread_index();
    int64_t *volatile wild = (int64_t *)(uintptr_t)64;
    if (e < elements_of(p)) sums[e] = right_element(p, e);
    if (e == 0) *wild = 0;
}

RUN_KERNEL(blocks_of(elements_of(p)), 0)

BROKEN("gpu_wild", .run = run);
