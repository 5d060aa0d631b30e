// SPDX-License-Identifier: MIT
// cuda.h: the one include of every .cu variant, after which the file is plain CUDA C but for one word: RG_LAUNCH. The same file
// is compiled twice, by nvcc for the GPU and as C++ by the host compiler (RG_EMULATED) on top of emulator/.
#ifndef RG_CUDA_H
#define RG_CUDA_H

#include "../suite.h"

#ifdef RG_EMULATED
#include "emulator/host_cuda.h"
#else
#include <cuda_runtime.h>
// RG_LAUNCH(kernel, grid, block, shared_bytes, stream, arguments...); templates in parentheses: RG_LAUNCH((k<4>), ...).
#define RG_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                                              \
    (kernel)<<<(grid), (block), (shared_bytes), (cudaStream_t)(stream)>>>(__VA_ARGS__)
// Dynamic shared memory of a kernel: RG_SHARED_DYNAMIC(unsigned char, line) declares `unsigned char *line`, 16-byte aligned.
#define RG_SHARED_DYNAMIC(type, id)                                                                                            \
    extern __shared__ __align__(16) unsigned char rg_shared_[];                                                                \
    type *id = reinterpret_cast<type *>(rg_shared_)
#endif

// D += A B of one warp, 16 x 8 x 32, unsigned 8-bit in, 32-bit integers out (PTX mma.sync.m16n8k32.row.col.s32.u8.u8.s32):
// lane l holds of A rows l/4 and l/4+8, of B column l/4, of D rows l/4, l/4+8 and columns 2(l%4)+{0,1}; sm_80 or later.
#ifndef RG_EMULATED
static __device__ __forceinline__ void rg_mma_u8(int d[4], const unsigned a[4], const unsigned b[2])
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

// ---- kernels that are set up before the one before them has ended --------------------------------------------------------
//
// A kernel launched early may be set up as soon as every block of the kernel before it in the stream has called rg_take_turn or
// ended; in rg_take_turn it waits for what the stream had before. Every thread of every block calls it, before it touches what
// others write, or a kernel could end before the one that it follows (programmatic dependent launch of sm_90).
static __device__ __forceinline__ void rg_take_turn(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;" ::: "memory");
#endif
}

#ifdef RG_EMULATED
#define RG_LAUNCH_EARLY(early, ...) RG_LAUNCH(__VA_ARGS__)
template <class K> static inline int rg_find_early(rg_call *, K) { return RG_OK; }
#else
// RG_LAUNCH, early where `early`, the state that rg_find_early sets, is there.
#define RG_LAUNCH_EARLY(early, kernel, grid, block, shared_bytes, stream, ...)                                                 \
    do {                                                                                                                       \
        if (early)                                                                                                             \
            rg_launch_early(kernel, grid, block, shared_bytes, stream, __VA_ARGS__);                                           \
        else                                                                                                                   \
            RG_LAUNCH(kernel, grid, block, shared_bytes, stream, __VA_ARGS__);                                                 \
    } while (0)

// For `prepare`: sets call->state where the code for this GPU waits. A GPU later than sm_90 has it from the PTX of sm_80, which
// does not.
template <class K> static inline int rg_find_early(rg_call *call, K kernel)
{
    static char waits;
    cudaFuncAttributes compiled;
    const int error = (int)cudaFuncGetAttributes(&compiled, kernel);
    if (!error && compiled.ptxVersion >= 90) call->state = &waits;
    return error;
}

template <class... P, class... A>
static inline void rg_launch_early(
    void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes, void *stream, A... argument)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t how = {};
    how.gridDim = grid, how.blockDim = block, how.dynamicSmemBytes = shared_bytes, how.stream = (cudaStream_t)stream;
    how.attrs = &early, how.numAttrs = 1;
    cudaLaunchKernelEx(&how, kernel, argument...); // cudaGetLastError has its error
}
#endif

#endif
