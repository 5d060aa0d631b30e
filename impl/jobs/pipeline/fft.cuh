// SPDX-License-Identifier: MIT
// fft.cuh: cuFFT between real arrays and the half of their transforms, in place: rows of n/2 + 1 complex numbers, which hold n
// reals and padding.
#ifndef RG_PIPELINE_FFT_CUH
#define RG_PIPELINE_FFT_CUH

#include "../../gpu/cuda.h"
#include "../../suite.h"

#include <cufft.h>

// `images` transforms of side^dimensions points, one after another in memory. RG_OK or RG_E_LIBRARY; the caller destroys the
// plan, which is 0 where there is none.
static inline int pl_fft_plan(cufftHandle *plan, int dimensions, int64_t side, int64_t images, cufftType type,
                              cudaStream_t stream)
{
    long long n[3] = {side, side, side}, half[3] = {side, side, side}, real[3] = {side, side, side}, stored = 1;
    half[dimensions - 1] = side / 2 + 1;
    real[dimensions - 1] = 2 * half[dimensions - 1];
    for (int d = 0; d < dimensions; d++)
        stored *= half[d];
    const bool to_real = type == CUFFT_C2R;
    size_t work = 0;
    *plan = 0;
    const bool bad = cufftCreate(plan) ||
                     cufftMakePlanMany64(*plan, dimensions, n, to_real ? half : real, 1, to_real ? stored : 2 * stored,
                                         to_real ? real : half, 1, to_real ? 2 * stored : stored, type, images, &work) ||
                     cufftSetStream(*plan, stream);
    return bad ? RG_E_LIBRARY : RG_OK;
}

static inline int pl_fft_queue(cufftHandle plan, cufftType type, float *grid)
{
    const bool bad = type == CUFFT_C2R ? cufftExecC2R(plan, (cufftComplex *)grid, (cufftReal *)grid)
                                       : cufftExecR2C(plan, (cufftReal *)grid, (cufftComplex *)grid);
    return bad ? RG_E_LIBRARY : RG_OK;
}

// One transform of side^3 points, done on return.
static inline int pl_fft_3d(int64_t side, float *grid, cufftType type, cudaStream_t stream)
{
    cufftHandle plan;
    int error = pl_fft_plan(&plan, 3, side, 1, type, stream);
    error = error ? error : pl_fft_queue(plan, type, grid);
    error = error ? error : (int)cudaStreamSynchronize(stream);
    if (plan)
        cufftDestroy(plan);
    return error;
}

#endif
