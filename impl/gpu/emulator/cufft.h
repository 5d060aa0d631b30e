// SPDX-License-Identifier: MIT
// cufft.h: the part of cuFFT's interface that variants use, implemented by FFTW, so that the kernels, strides and scaling of a
// cuFFT variant are checked without a GPU. The emulated build finds it before the toolkit's header.
#pragma once

#include "runtime.h"

typedef int cufftHandle; // 0: none
typedef double cufftDoubleReal;
typedef double2 cufftDoubleComplex;
typedef float cufftReal;
typedef float2 cufftComplex;

enum cufftResult {
    CUFFT_SUCCESS = 0,
    CUFFT_INVALID_PLAN = 1,
    CUFFT_ALLOC_FAILED = 2,
    CUFFT_INVALID_VALUE = 4,
    CUFFT_INTERNAL_ERROR = 5,
    CUFFT_EXEC_FAILED = 6,
    CUFFT_NO_WORKSPACE = 14
};
enum cufftType { CUFFT_C2C = 0x29, CUFFT_R2C = 0x2a, CUFFT_C2R = 0x2c, CUFFT_D2Z = 0x6a, CUFFT_Z2D = 0x6c };
enum { CUFFT_FORWARD = -1, CUFFT_INVERSE = 1 };

cufftResult cufftCreate(cufftHandle *);
cufftResult cufftDestroy(cufftHandle);
cufftResult cufftSetAutoAllocation(cufftHandle, int automatic);
cufftResult cufftSetWorkArea(cufftHandle, void *);
cufftResult cufftSetStream(cufftHandle, cudaStream_t);
cufftResult cufftMakePlanMany64(cufftHandle, int rank, long long *n, long long *in_embed, long long in_stride,
    long long in_distance, long long *out_embed, long long out_stride, long long out_distance, cufftType, long long batch,
    size_t *work_bytes);
cufftResult cufftExecD2Z(cufftHandle, cufftDoubleReal *, cufftDoubleComplex *);
cufftResult cufftExecZ2D(cufftHandle, cufftDoubleComplex *, cufftDoubleReal *);
cufftResult cufftExecR2C(cufftHandle, cufftReal *, cufftComplex *);
cufftResult cufftExecC2R(cufftHandle, cufftComplex *, cufftReal *);
cufftResult cufftExecC2C(cufftHandle, cufftComplex *, cufftComplex *, int direction);
