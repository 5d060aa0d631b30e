// SPDX-License-Identifier: MIT
// gpu_default_stream.cu: queued on the default stream and not on the stream of the call. Where nothing else is queued the
// results are right; in a job of several streams it waits for all of them, or reads what is not there yet. The emulated GPU
// knows streams.
#include "../broken.cuh"

static __global__ void kernel(const photos p, int64_t *sums)
{
    const int64_t e = thread_index();
    if (e < elements_of(p)) sums[e] = right_element(p, e);
}

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    RG_LAUNCH(kernel, blocks_of(elements_of(p)), BLOCK, 0, nullptr, p, (int64_t *)call->arg[AC_SUMS]);
    return (int)cudaGetLastError();
}

BROKEN("gpu_default_stream", .run = run);
