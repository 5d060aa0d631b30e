// SPDX-License-Identifier: MIT
// gpu_shared_past_end.cu: uses one element of dynamic shared memory more than the launch asked for.
// GPUs hand it out in larger pieces, so it passes there; compute-sanitizer (memcheck) reports it.
// Shows on the emulated GPU as an index out of range.
#include "../broken.cuh"

static __global__ void kernel(photos p, int64_t *sums)
{
    RG_SHARED_DYNAMIC(int64_t, line);
    const int64_t e = thread_index();
    line[threadIdx.x + 1] = e < elements_of(p) ? right_element(p, e) : 0;
    __syncthreads();
    if (e < elements_of(p))
        sums[e] = line[threadIdx.x + 1];
}

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    RG_LAUNCH(kernel, blocks_of(elements_of(p)), BLOCK, BLOCK * sizeof(int64_t), call->stream, p, sums);
    return (int)cudaGetLastError();
}

BROKEN_GPU("gpu_shared_past_end", NULL, NULL, NULL);
