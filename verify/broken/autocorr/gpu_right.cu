// SPDX-License-Identifier: MIT
// gpu_right.cu: nothing is wrong with this one: one thread an offset.
// The control of the kernels beside it.
// Shows as PASS.
#include "../broken.cuh"

static __global__ void kernel(photos p, int64_t *sums)
{
    const int64_t e = thread_index();
    if (e < elements_of(p))
        sums[e] = right_element(p, e);
}

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    RG_LAUNCH(kernel, blocks_of(elements_of(p)), BLOCK, 0, call->stream, p, sums);
    return (int)cudaGetLastError();
}

BROKEN_GPU("gpu_right", NULL, NULL, NULL);
