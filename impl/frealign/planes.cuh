// SPDX-License-Identifier: MIT
// planes.cuh: kernels shared by the GPU variants: sections as half planes, sums over the pixels of images, the mask.
//
// Arrays of a step, in scratch: for every call (a particle and a trial) N rows of N + 2 floats, which hold a half plane or, in
// its place, an image. Sums over pixels are in double precision; their rounding is negligible beside that of the transforms.
#ifndef RG_FREALIGN_PLANES_CUH
#define RG_FREALIGN_PLANES_CUH

#include "section.cuh"

// ATOMIC: one thread per pixel, which adds to the result. TREE: sums of blocks, then a tree over the blocks. LIST: one warp per
// ring, from a list sorted by ring.
enum { FR_ATOMIC, FR_TREE, FR_LIST };

// ---- half planes ---------------------------------------------------------------------------------------------------------

static __device__ __forceinline__ bool fr_here(const fr_input &in, int *i, int *row) {
    *i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    *row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    return *i < in.width && *row < in.side;
}

static __device__ __forceinline__ float fr_factor(const fr_input &in, int64_t coefficient, bool flipped) {
    const float c = in.c[coefficient];
    return flipped ? 2 * fabsf(c) : in.squared ? c * c : 2 * c;
}

// A0 of calls first + z: f S(M q) in the band, 0 elsewhere; flipped: f = 2|c|.
template <int how, class volume>
static __global__ void __launch_bounds__(512) fr_extract(fr_input in, volume f3, int64_t first, bool flipped, float2 *out) {
    int i, row;
    if (!fr_here(in, &i, &row)) return;
    const int64_t call = first + blockIdx.z, e = (int64_t)row * in.width + i, stored = (int64_t)in.side * in.width;
    const int j = row <= in.side / 2 ? row : row - in.side;
    float2 v = make_float2(0, 0);
    if (fr_in_band(in.side, i, j, in.inner, in.outer)) {
        const float f = fr_factor(in, call / in.trials * stored + e, flipped);
        v = fr_section<how>(in, f3, in.pose + call * FR_POSE_FLOATS, i, j);
        v = make_float2(f * v.x, f * v.y);
    }
    out[blockIdx.z * stored + e] = v;
}

// ---- sums over pixels ----------------------------------------------------------------------------------------------------

// add() of the structs below adds pixel `at` of a call, at (x, y) from the corner, to the sums v.
static __device__ __forceinline__ int64_t fr_distance2(int x, int y) { return (int64_t)x * x + (int64_t)y * y; }

struct fr_edge_sums { // the ring whose mean the mask uses
    enum { n = 2 };
    const float *image, *setting;
    __device__ __forceinline__ void add(int64_t at, int x, int y, double *v) const {
        if (fr_on_edge(setting[0], fr_distance2(x, y))) {
            v[0] += image[at];
            v[1] += 1;
        }
    }
};

// sums: one set per call (ATOMIC, cleared before), or one per block.
template <int way, class pixels> static __global__ void fr_pixel_sums(pixels p, int side, double *sums) {
    __shared__ double tree[way == FR_ATOMIC ? 1 : 32 * pixels::n];
    const int t = (int)(threadIdx.x + blockDim.x * threadIdx.y), threads = (int)(blockDim.x * blockDim.y);
    double v[pixels::n] = {};
    for (int at = (int)blockIdx.x * threads + t; at < side * side; at += (int)gridDim.x * threads) {
        const int y = at / side, x = at - y * side;
        p.add(((int64_t)blockIdx.y * side + y) * (side + 2) + x, (int)fr_offset(side, x), (int)fr_offset(side, y), v);
    }
    if (way == FR_ATOMIC) {
        for (int k = 0; k < pixels::n; k++)
            if (v[k] != 0) atomicAdd(&sums[blockIdx.y * pixels::n + k], v[k]);
    } else {
        fr_block_sum<pixels::n>(v, tree);
        for (int k = 0; k < pixels::n && t == 0; k++)
            sums[((int64_t)blockIdx.y * gridDim.x + blockIdx.x) * pixels::n + k] = v[k];
    }
}

// Adds up the blocks' sums of each call.
template <int n> static __global__ void fr_combine(const double *part, int parts, double *sums) {
    __shared__ double tree[32 * n];
    double v[n] = {};
    for (int i = (int)threadIdx.x; i < parts; i += (int)blockDim.x)
        for (int k = 0; k < n; k++) v[k] += part[((int64_t)blockIdx.x * parts + i) * n + k];
    fr_block_sum<n>(v, tree);
    for (int k = 0; k < n && threadIdx.x == 0; k++) sums[(int64_t)blockIdx.x * n + k] = v[k];
}

// ---- the mask ------------------------------------------------------------------------------------------------------------

// Also divides by N^2, so that the transform back gives A.
static __global__ void fr_mask_image(const float *setting, int side, const double *edge, float *image) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= side || y >= side) return;
    const int64_t dx = fr_offset(side, x), dy = fr_offset(side, y), at = ((int64_t)blockIdx.z * side + y) * (side + 2) + x;
    const double *sum = edge + 2 * blockIdx.z;
    const float scale = 1 / ((float)side * (float)side), e = fr_mask(setting[0], dx * dx + dy * dy);
    const float mean = sum[1] > 0 ? (float)(sum[0] / sum[1]) : 0.0f;
    image[at] = scale * (e == 1 ? image[at] : e == 0 ? mean : e * image[at] + (1 - e) * mean);
}

// ---- rings ---------------------------------------------------------------------------------------------------------------

// The first column of row j, |j| <= k, in ring k: (2k - 1)^2 <= 4 (i^2 + j^2).
static __device__ __forceinline__ int fr_ring_begins(int k, int j) {
    const int64_t need = k ? (int64_t)(2 * k - 1) * (2 * k - 1) - 4 * (int64_t)j * j : 0;
    return need > 0 ? (int)((fr_root(need - 1) + 2) / 2) : 0; // the smallest i with (2i)^2 >= need
}

#endif
