// SPDX-License-Identifier: MIT
// gpu_null.cu: the launch is there, the store is not.
// An unchecked launch failure looks the same.
// Shows as an output that was never written.
#include "../broken.cuh"

static __global__ void kernel(photos p, int64_t *sums)
{
    const int64_t e = thread_index();
    if (e < elements_of(p) && right_element(p, e) < 0)
        sums[e] = 0;
}

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    RG_LAUNCH(kernel, blocks_of(elements_of(p)), BLOCK, 0, call->stream, p, sums);
    return (int)cudaGetLastError();
}

BROKEN_GPU("gpu_null", NULL, NULL, NULL);
