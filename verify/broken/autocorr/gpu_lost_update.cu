// SPDX-License-Identifier: MIT
// gpu_lost_update.cu: a thread for every row of every offset adds to the sum with a plain +=, no atomics.
// The threads of a warp read before any of them writes.
// Shows as a sum that is too small; on the emulated GPU as a race.
#include "../broken.cuh"

static __global__ void clear(photos p, int64_t *sums)
{
    const int64_t e = thread_index();
    if (e < elements_of(p)) sums[e] = 0;
}

static __global__ void kernel(photos p, int64_t *sums)
{
    const int64_t i = thread_index(), e = i / p.height, y = i % p.height;
    if (e < elements_of(p)) sums[e] += row_sum(p, ac_x0(p.r, e), ac_y0(p.r, e), y, 0, p.width);
}

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    RG_LAUNCH(clear, blocks_of(elements_of(p)), BLOCK, 0, call->stream, p, sums);
    RG_LAUNCH(kernel, blocks_of(elements_of(p) * p.height), BLOCK, 0, call->stream, p, sums);
    return (int)cudaGetLastError();
}

BROKEN("gpu_lost_update", .run = run);
