// SPDX-License-Identifier: MIT
// gpu_refused.cu: blocks of more threads than a GPU has, and run() does not ask whether they were launched.
// Nothing runs, so that the outputs are those of a kernel that writes nothing.
// Shows as a launch that failed.
#include "../broken.cuh"

static __global__ void kernel(photos p, int64_t *sums)
{
    const int64_t e = thread_index();
    if (e < elements_of(p)) sums[e] = right_element(p, e);
}

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    RG_LAUNCH(kernel, blocks_of(elements_of(p)), 2048, 0, call->stream, p, (int64_t *)call->arg[AC_SUMS]);
    return RG_OK;
}

BROKEN("gpu_refused", .run = run);
