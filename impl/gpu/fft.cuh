// SPDX-License-Identifier: MIT
// fft.cuh: in-place transforms of real arrays by cuFFT, for kernels and jobs: the functions to plan, run and destroy them.
//
// In an array of n[0] x .. x n[rank-1] numbers (the last fastest) a row takes 2 (n[rank-1] / 2 + 1) reals, or the complex
// numbers that fit there. Types: CUFFT_R2C, C2R in single, D2Z, Z2D in double precision; none scales.
#ifndef RG_FFT_CUH
#define RG_FFT_CUH

#include "cuda.h"

#include <cufft.h>

typedef struct rg_fft {
    cufftHandle plan;
    cufftType type;
    bool made;
} rg_fft;

static inline void rg_fft_free(rg_fft *f) {
    if (f->made) cufftDestroy(f->plan);
    f->made = false;
}

// `batch` arrays, one after the other, on `stream`. work: `most` bytes for cuFFT, which gives the size that it needs only here;
// NULL: it allocates its own. RG_OK or RG_E_LIBRARY; free the plan in both cases.
static inline int rg_fft_make(
    rg_fft *f, cufftType type, int rank, const int64_t *n, int64_t batch, void *work, size_t most, void *stream) {
    long long side[3], real[3], half[3], numbers = 1;
    size_t bytes = 0;
    for (int a = 0; a < rank; a++) {
        side[a] = real[a] = half[a] = n[a];
        if (a == rank - 1) {
            half[a] = n[a] / 2 + 1;
            real[a] = 2 * half[a];
        }
        numbers *= half[a];
    }
    const bool to_real = type == CUFFT_C2R || type == CUFFT_Z2D;
    f->type = type;
    f->made = cufftCreate(&f->plan) == CUFFT_SUCCESS;
    const bool good = f->made && (!work || !cufftSetAutoAllocation(f->plan, 0)) &&
        !cufftMakePlanMany64(f->plan, rank, side, to_real ? half : real, 1, to_real ? numbers : 2 * numbers,
            to_real ? real : half, 1, to_real ? 2 * numbers : numbers, type, batch, &bytes) &&
        (!work || (bytes <= most && !cufftSetWorkArea(f->plan, work))) && !cufftSetStream(f->plan, (cudaStream_t)stream);
    return good ? RG_OK : RG_E_LIBRARY;
}

static inline int rg_fft_run(const rg_fft *f, void *data) {
    cufftResult result = CUFFT_INVALID_VALUE;
    if (f->type == CUFFT_R2C)
        result = cufftExecR2C(f->plan, (cufftReal *)data, (cufftComplex *)data);
    else if (f->type == CUFFT_C2R)
        result = cufftExecC2R(f->plan, (cufftComplex *)data, (cufftReal *)data);
    else if (f->type == CUFFT_D2Z)
        result = cufftExecD2Z(f->plan, (cufftDoubleReal *)data, (cufftDoubleComplex *)data);
    else if (f->type == CUFFT_Z2D)
        result = cufftExecZ2D(f->plan, (cufftDoubleComplex *)data, (cufftDoubleReal *)data);
    return result == CUFFT_SUCCESS ? RG_OK : RG_E_LIBRARY;
}

// Transforms one cube; done on return.
static inline int rg_fft_cube(cufftType type, int64_t side, void *data, void *stream) {
    const int64_t n[3] = {side, side, side};
    rg_fft f = {};
    int error = rg_fft_make(&f, type, 3, n, 1, NULL, 0, stream);
    error = error ? error : rg_fft_run(&f, data);
    error = error ? error : (int)cudaStreamSynchronize((cudaStream_t)stream);
    rg_fft_free(&f);
    return error;
}

#endif
