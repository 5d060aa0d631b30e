// SPDX-License-Identifier: MIT
// gpu_off_by_one.cu: negative offsets rounded towards zero.
// As off_by_one.c.
// Shows as the right value of the offset beside it.
#include "../broken.cuh"

static __global__ void kernel(photos p, int64_t *sums)
{
    const int64_t e = thread_index();
    if (e >= elements_of(p)) return;
    const int64_t x0 = ac_x0(p.r, e);
    sums[e] = right_sum(p, x0 < 0 ? x0 + 1 : x0, ac_y0(p.r, e));
}

RUN_KERNEL(blocks_of(elements_of(p)), 0)

BROKEN("gpu_off_by_one", .run = run);
