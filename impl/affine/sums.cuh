// SPDX-License-Identifier: MIT
// sums.cuh: the sums of sums.h on a GPU: a thread's in float, a block's in double in a fixed order. Kernels before and after
// them compute the typical values and the correlations.
//
// Scratch: typical values of image and reference (two floats), then from AF_PARTIAL on the sums of every block, ordered by
// transform.
#ifndef RG_AFFINE_SUMS_CUH
#define RG_AFFINE_SUMS_CUH

#include "source.cuh"
#include "sums.h"

enum { AF_PARTIAL = 256, AF_FINISH = 128 }; // bytes; threads that finish one transform

typedef struct af_run { // sums over few enough pixels for float
    float n, a, b, aa, bb, ab;
} af_run;

static __device__ __forceinline__ void af_run_add(af_run &to, float a, float b) {
    to.n += 1;
    to.a += a;
    to.b += b;
    to.aa += a * a;
    to.bb += b * b;
    to.ab += a * b;
}

static inline float *af_typicals(const rg_call *call) { return (float *)call->scratch; }
static inline af_sums *af_partials(const rg_call *call) { return (af_sums *)((char *)call->scratch + AF_PARTIAL); }
static inline size_t af_scratch(int64_t blocks, int64_t transforms) {
    return AF_PARTIAL + (size_t)(blocks * transforms) * sizeof(af_sums);
}

// Adds the block's sums by a tree in shared memory; thread 0 gets them. THREADS: upper bound; all threads of the block must
// call.
template <int THREADS> static __device__ af_sums af_block_sum(const af_sums &mine) {
    __shared__ af_sums all[THREADS];
    const unsigned t = threadIdx.y * blockDim.x + threadIdx.x, n = blockDim.x * blockDim.y;
    all[t] = mine;
    for (unsigned step = THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        if (t < step && t + step < n) af_join(&all[t], &all[t + step]);
    }
    return all[t];
}

static __device__ __forceinline__ af_sums af_sums_of(const af_run &r) {
    const af_sums s = {r.n, r.a, r.b, r.aa, r.bb, r.ab};
    return s;
}

// One block a transform adds its partial sums in double, in a fixed order.
static __global__ void af_finish(const af_sums *partial, int blocks, const float *typical, double *rho, int32_t *pixels) {
    af_sums s = {0, 0, 0, 0, 0, 0};
    partial += (int64_t)blockIdx.x * blocks;
    for (int i = (int)threadIdx.x; i < blocks; i += AF_FINISH) af_join(&s, &partial[i]);
    s = af_block_sum<AF_FINISH>(s);
    if (threadIdx.x > 0) return;
    rho[blockIdx.x] = af_rho(&s, typical[0], typical[1]);
    pixels[blockIdx.x] = (int32_t)s.n;
}

// Block 0 for the image, 1 for the reference: the mean of a sample, one pixel a thread.
static __global__ void af_find_typical(const float *image, const float *reference, int64_t pixels, float *typical) {
    __shared__ double all[AF_SAMPLE];
    const int i = (int)threadIdx.x;
    all[i] = (blockIdx.x == 0 ? image : reference)[af_sample_at(pixels, i)];
    for (int step = AF_SAMPLE / 2; step > 0; step /= 2) {
        __syncthreads();
        if (i < step) all[i] += all[i + step];
    }
    if (i == 0) typical[blockIdx.x] = (float)(all[0] / AF_SAMPLE);
}

static inline int af_launch_typical(const rg_call *call, const af_size &z) {
    RG_LAUNCH(af_find_typical, 2, AF_SAMPLE, 0, call->stream, (const float *)call->arg[AL_IMAGE],
        (const float *)call->arg[AL_REFERENCE], af_pixels(&z), af_typicals(call));
    return (int)cudaGetLastError();
}

// Finishes transforms first .. first + count - 1, whose partial sums are at the beginning of scratch.
static inline int af_launch_finish(const rg_call *call, int64_t first, int64_t count, int blocks) {
    RG_LAUNCH(af_finish, (unsigned)count, AF_FINISH, 0, call->stream, af_partials(call), blocks, af_typicals(call),
        (double *)call->arg[AL_RHO] + first, (int32_t *)call->arg[AL_PIXELS] + first);
    return (int)cudaGetLastError();
}

#endif
