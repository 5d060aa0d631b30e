// SPDX-License-Identifier: MIT
// gpu_wild.cu: right, then one thread stores through a wild pointer.
// The fault ends the context, and everything after it in the same process fails.
// Shows as an error of the device.
#include "../broken.cuh"

static __global__ void kernel(photos p, int64_t *sums)
{
    const int64_t e = thread_index();
    int64_t *volatile wild = (int64_t *)(uintptr_t)64;
    if (e < elements_of(p))
        sums[e] = right_element(p, e);
    if (e == 0)
        *wild = 0;
}

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    RG_LAUNCH(kernel, blocks_of(elements_of(p)), BLOCK, 0, call->stream, p, sums);
    return (int)cudaGetLastError();
}

BROKEN_GPU("gpu_wild", NULL, NULL, NULL);
