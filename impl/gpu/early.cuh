// SPDX-License-Identifier: MIT
// early.cuh: kernels that are set up before the previous one has ended (programmatic dependent launch of sm_90).
//
// A kernel launched early may be set up once every block of the previous kernel in the stream has called rg_take_turn or ended;
// in rg_take_turn it waits for all earlier work of the stream. Every thread of every block calls it before it accesses data
// that other kernels write; otherwise a kernel could end before the one that it follows.
#pragma once

#include "cuda.h"

static __device__ __forceinline__ void rg_take_turn(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;" ::: "memory");
#endif
}

#ifdef RG_EMULATED
#define RG_LAUNCH_EARLY(early, ...) RG_LAUNCH(__VA_ARGS__)
template <class K> static inline int rg_find_early(rg_call *, K) { return RG_OK; }
#else
// RG_LAUNCH, as an early launch if `early`, the state set by rg_find_early, is not NULL.
#define RG_LAUNCH_EARLY(early, kernel, grid, block, shared_bytes, stream, ...)                                                 \
    do {                                                                                                                       \
        if (early)                                                                                                             \
            rg_launch_early(kernel, grid, block, shared_bytes, stream, __VA_ARGS__);                                           \
        else                                                                                                                   \
            RG_LAUNCH(kernel, grid, block, shared_bytes, stream, __VA_ARGS__);                                                 \
    } while (0)

// For `prepare`: sets call->state if the code for this GPU waits. GPUs later than sm_90 run the PTX of sm_80, which does not.
template <class K> static inline int rg_find_early(rg_call *call, K kernel) {
    static char waits;
    cudaFuncAttributes compiled;
    const int error = (int)cudaFuncGetAttributes(&compiled, kernel);
    if (!error && compiled.ptxVersion >= 90) call->state = &waits;
    return error;
}

template <class... P, class... A>
static inline void rg_launch_early(
    void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes, void *stream, A... argument) {
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t how = {};
    how.gridDim = grid, how.blockDim = block, how.dynamicSmemBytes = shared_bytes, how.stream = (cudaStream_t)stream;
    how.attrs = &early, how.numAttrs = 1;
    cudaLaunchKernelEx(&how, kernel, argument...); // cudaGetLastError returns its error
}
#endif
