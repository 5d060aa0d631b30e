// SPDX-License-Identifier: MIT
// gpu_no_barrier.cu: no __syncthreads between the threads that fill shared memory and the one that adds it up.
// The second warp computes while the first, which has nothing else to do, already adds.
// Shows as a wrong sum; on the emulated GPU as a race or as shared memory read before it was written.
#include "../broken.cuh"

static __global__ void kernel(photos p, int64_t *sums)
{
    __shared__ int64_t partial[BLOCK];
    const int64_t e = blockIdx.x;
    const int t = (int)threadIdx.x;
    int64_t sum = 0;
    for (int64_t y = t - BLOCK / 2; t >= BLOCK / 2 && y < p.height; y += BLOCK / 2)
        sum += row_sum(p, ac_x0(p.r, e), ac_y0(p.r, e), y, 0, p.width);
    partial[t] = sum;
    if (t > 0) return;
    for (int i = 1; i < BLOCK; i++) sum += *(volatile int64_t *)&partial[i];
    sums[e] = sum;
}

RUN_KERNEL(elements_of(p), 0)

BROKEN("gpu_no_barrier", .run = run);
