// SPDX-License-Identifier: MIT
// gpu_long.cu: a loop of about a minute: an endless one would hold a GPU that others share.
// The multiplications wait for each other, and no compiler takes them together.
// Shows as TIMEOUT.
#include "../broken.cuh"

static __global__ void kernel(photos p, int64_t *sums)
{
    const int64_t e = thread_index();
    uint32_t x = (uint32_t)e;
    for (int64_t i = 0; i < (int64_t)30e9; i++) // 4 cycles each: 60 s at 2 GHz
        x = x * 1664525u + 1013904223u;
    if (e < elements_of(p)) sums[e] = x;
}

RUN_KERNEL(blocks_of(elements_of(p)), 0)

BROKEN("gpu_long", .run = run);
