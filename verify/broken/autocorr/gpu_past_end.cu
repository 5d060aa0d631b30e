// SPDX-License-Identifier: MIT
// gpu_past_end.cu: <= for <: one thread too many writes, one element behind the output.
// GPU memory is mapped in large pages, so nothing faults.
// Shows as a guard written past the end; the emulated GPU names the thread.
#include "../broken.cuh"

static __global__ void kernel(photos p, int64_t *sums)
{
    const int64_t e = thread_index();
    if (e <= elements_of(p)) sums[e] = e < elements_of(p) ? right_element(p, e) : 0;
}

RUN_KERNEL(blocks_of(elements_of(p) + 1), 0)

BROKEN("gpu_past_end", .run = run);
