// SPDX-License-Identifier: MIT
// gpu_other_stream.cu: works on a stream of its own, which no event of the call's is recorded on: it is timed as an empty
// launch. Passes a checker that waits for the whole device. Shows on the emulated GPU, which knows streams, and in bench, where
// the device goes on after the last event.
#include "../broken.cuh"

static __global__ void kernel(const photos p, int64_t *sums)
{
    const int64_t e = thread_index();
    if (e < elements_of(p)) sums[e] = right_element(p, e);
}

static int prepare(rg_call *call)
{
#ifdef RG_EMULATED
    static int any;
    call->state = &any;
    return RG_OK;
#else
    return (int)cudaStreamCreateWithFlags((cudaStream_t *)&call->state, cudaStreamNonBlocking);
#endif
}

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    RG_LAUNCH(kernel, blocks_of(elements_of(p)), BLOCK, 0, call->state, p, (int64_t *)call->arg[AC_SUMS]);
    return (int)cudaGetLastError();
}

static void finish(rg_call *call)
{
#ifndef RG_EMULATED
    cudaStreamDestroy((cudaStream_t)call->state);
#else
    (void)call;
#endif
}

BROKEN("gpu_other_stream", .prepare = prepare, .run = run, .finish = finish);
