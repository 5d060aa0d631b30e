// SPDX-License-Identifier: MIT
// correlate.cuh: cc3m, presb, sigma2 and ccoef on the GPU, step by step over `calls` (particle, trial) pairs at a time. What
// differs between the variants: where F3 is read (memory or texture), how sums are made, and how many calls share a launch.
//
// Arrays of a step, in scratch: for every call N rows of N + 2 floats, which hold a half plane or, in its place, an image.
// Sums over pixels and rings are in double precision, whose rounding does not show beside that of the transforms.
#ifndef RG_FREALIGN_CORRELATE_CUH
#define RG_FREALIGN_CORRELATE_CUH

#include "../section.cuh"
#include <cufft.h>
#include <stdlib.h>

// ATOMIC: a thread a pixel, which adds to the result. TREE: blocks' sums, and a tree over the blocks. LIST: rings from a list
// sorted by ring, a warp each.
enum { FR_ATOMIC, FR_TREE, FR_LIST };

// ---- half planes ---------------------------------------------------------------------------------------------------------

static __device__ __forceinline__ bool fr_here(const fr_input &in, int *i, int *row)
{
    *i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    *row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    return *i < in.width && *row < in.side;
}

static __device__ __forceinline__ float fr_factor(const fr_input &in, int64_t coefficient, bool flipped)
{
    const float c = in.c[coefficient];
    return flipped ? 2 * fabsf(c) : in.squared ? c * c : 2 * c;
}

// A0 of calls first + z: f S(M q) in the band, 0 elsewhere; flipped: f = 2|c|.
template <int how, class volume>
static __global__ void __launch_bounds__(512) fr_extract(fr_input in, volume f3, int64_t first, bool flipped, float2 *out)
{
    int i, row;
    if (!fr_here(in, &i, &row))
        return;
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

// D e^{i s.q} in the band, 0 elsewhere; flipped: times the sign of c.
static __global__ void fr_shifted(fr_input in, int64_t first, bool flipped, float2 *out)
{
    int i, row;
    if (!fr_here(in, &i, &row))
        return;
    const int64_t call = first + blockIdx.z, e = (int64_t)row * in.width + i, stored = (int64_t)in.side * in.width;
    const int64_t at = call / in.trials * stored + e;
    const int j = row <= in.side / 2 ? row : row - in.side;
    float2 v = make_float2(0, 0);
    if (fr_in_band(in.side, i, j, in.inner, in.outer)) {
        v = fr_times(fr_complex(in.x, at), fr_turn(in.pose + call * FR_POSE_FLOATS, i, j));
        if (flipped && in.c[at] < 0)
            v = make_float2(-v.x, -v.y);
    }
    out[blockIdx.z * stored + e] = v;
}

// ---- sums over pixels ----------------------------------------------------------------------------------------------------

// Pixel `at` of a call, (x, y) from the corner: what it adds to the sums v.
static __device__ __forceinline__ int64_t fr_distance2(int x, int y) { return (int64_t)x * x + (int64_t)y * y; }

struct fr_edge_sums { // the ring that the mask takes its mean of
    enum { n = 2 };
    const float *image, *setting;
    __device__ __forceinline__ void add(int64_t at, int x, int y, double *v) const
    {
        if (fr_on_edge(setting[0], fr_distance2(x, y))) {
            v[0] += image[at];
            v[1] += 1;
        }
    }
};

struct fr_disc_sums { // sigma2: over the disc n, a, x, a^2, x^2, ax; over all x^2
    enum { n = 7 };
    const float *a, *x, *setting;
    __device__ __forceinline__ void add(int64_t at, int dx, int dy, double *v) const
    {
        const double aa = a[at], xx = x[at];
        v[6] += xx * xx;
        if (fr_in_disc(setting[0], fr_distance2(dx, dy))) {
            v[0] += 1;
            v[1] += aa;
            v[2] += xx;
            v[3] += aa * aa;
            v[4] += xx * xx;
            v[5] += aa * xx;
        }
    }
};

struct fr_whole_sums { // ccoef: a^2, x^2, ax
    enum { n = 3 };
    const float *a, *x;
    __device__ __forceinline__ void add(int64_t at, int, int, double *v) const
    {
        const double aa = a[at], xx = x[at];
        v[0] += aa * aa;
        v[1] += xx * xx;
        v[2] += aa * xx;
    }
};

// sums: of each call one set (ATOMIC, cleared before), or one a block.
template <int way, class pixels> static __global__ void fr_pixel_sums(pixels p, int side, double *sums)
{
    __shared__ double tree[way == FR_ATOMIC ? 1 : 32 * pixels::n];
    const int t = (int)(threadIdx.x + blockDim.x * threadIdx.y), threads = (int)(blockDim.x * blockDim.y);
    double v[pixels::n] = {};
    for (int at = (int)blockIdx.x * threads + t; at < side * side; at += (int)gridDim.x * threads) {
        const int y = at / side, x = at - y * side;
        p.add(((int64_t)blockIdx.y * side + y) * (side + 2) + x, (int)fr_offset(side, x), (int)fr_offset(side, y), v);
    }
    if (way == FR_ATOMIC) {
        for (int k = 0; k < pixels::n; k++)
            if (v[k] != 0)
                atomicAdd(&sums[blockIdx.y * pixels::n + k], v[k]);
    } else {
        fr_block_sum<pixels::n>(v, tree);
        for (int k = 0; k < pixels::n && t == 0; k++)
            sums[((int64_t)blockIdx.y * gridDim.x + blockIdx.x) * pixels::n + k] = v[k];
    }
}

// The blocks' sums of each call added up.
template <int n> static __global__ void fr_combine(const double *part, int parts, double *sums)
{
    __shared__ double tree[32 * n];
    double v[n] = {};
    for (int i = (int)threadIdx.x; i < parts; i += (int)blockDim.x)
        for (int k = 0; k < n; k++)
            v[k] += part[((int64_t)blockIdx.x * parts + i) * n + k];
    fr_block_sum<n>(v, tree);
    for (int k = 0; k < n && threadIdx.x == 0; k++)
        sums[(int64_t)blockIdx.x * n + k] = v[k];
}

// ---- the mask ------------------------------------------------------------------------------------------------------------

// Also divides by N^2, so that the transform back gives A.
static __global__ void fr_mask_image(const float *setting, int side, const double *edge, float *image)
{
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= side || y >= side)
        return;
    const int64_t dx = fr_offset(side, x), dy = fr_offset(side, y), at = ((int64_t)blockIdx.z * side + y) * (side + 2) + x;
    const double *sum = edge + 2 * blockIdx.z;
    const float scale = 1 / ((float)side * (float)side), e = fr_mask(setting[0], dx * dx + dy * dy);
    const float mean = sum[1] > 0 ? (float)(sum[0] / sum[1]) : 0.0f;
    image[at] = scale * (e == 1 ? image[at] : e == 0 ? mean : e * image[at] + (1 - e) * mean);
}

// ---- sums over rings -----------------------------------------------------------------------------------------------------

// Of ring k: C_k, B_k, Q_k and how many coefficients of the band it has.
enum { FR_RING_SUMS = 4 };

static __device__ __forceinline__ void fr_add_to_ring(const fr_input &in, const float2 *a, int64_t first, int i, int j,
                                                      double *v)
{
    const int64_t call = first + blockIdx.y, stored = (int64_t)in.side * in.width;
    const int64_t e = (int64_t)(j < 0 ? j + in.side : j) * in.width + i;
    const float2 x = fr_complex(in.x, call / in.trials * stored + e), s = a[blockIdx.y * stored + e];
    v[0] += fr_real_product(fr_times(x, fr_turn(in.pose + call * FR_POSE_FLOATS, i, j)), s);
    v[1] += fr_square(x);
    v[2] += fr_square(s);
    v[3] += 1;
}

static __global__ void fr_ring_atomics(fr_input in, const float2 *a, int64_t first, double *ring)
{
    const int e = (int)(blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x);
    const int row = e / in.width, i = e - row * in.width, j = row <= in.side / 2 ? row : row - in.side;
    if (row >= in.side || !fr_in_band(in.side, i, j, in.inner, in.outer))
        return;
    double v[FR_RING_SUMS] = {};
    fr_add_to_ring(in, a, first, i, j, v);
    double *to = ring + ((int64_t)blockIdx.y * fr_rings(in.side) + fr_ring((int64_t)i * i + (int64_t)j * j)) * FR_RING_SUMS;
    for (int k = 0; k < FR_RING_SUMS; k++)
        atomicAdd(&to[k], v[k]);
}

// The first column of row j, |j| <= k, in ring k: (2k - 1)^2 <= 4 (i^2 + j^2).
static __device__ __forceinline__ int fr_ring_begins(int k, int j)
{
    const int64_t need = k ? (int64_t)(2 * k - 1) * (2 * k - 1) - 4 * (int64_t)j * j : 0;
    return need > 0 ? (int)((fr_root(need - 1) + 2) / 2) : 0; // the least i with (2i)^2 >= need
}

// A block a ring; its threads take a row each and walk over the ring's columns in it.
static __global__ void fr_ring_tree(fr_input in, const float2 *a, int64_t first, double *ring)
{
    __shared__ double tree[32 * FR_RING_SUMS];
    const int k = (int)blockIdx.x, t = (int)(threadIdx.x + blockDim.x * threadIdx.y);
    double v[FR_RING_SUMS] = {};
    for (int j = t - k; j <= k; j += (int)(blockDim.x * blockDim.y))
        for (int i = fr_ring_begins(k, j); fr_ring((int64_t)i * i + (int64_t)j * j) == k; i++)
            if (fr_in_band(in.side, i, j, in.inner, in.outer))
                fr_add_to_ring(in, a, first, i, j, v);
    fr_block_sum<FR_RING_SUMS>(v, tree);
    for (int n = 0; n < FR_RING_SUMS && t == 0; n++)
        ring[((int64_t)blockIdx.y * gridDim.x + k) * FR_RING_SUMS + n] = v[n];
}

// list: coefficients (j + N/2) 2^16 + i of the band, ring by ring; begin[k] .. begin[k + 1] - 1 are ring k's.
static __global__ void fr_ring_list(fr_input in, const float2 *a, int64_t first, const int *list, const int *begin,
                                    double *ring)
{
    const int rings = (int)fr_rings(in.side), lane = (int)threadIdx.x % 32;
    const int k = (int)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
    if (k >= rings)
        return;
    double v[FR_RING_SUMS] = {};
    for (int at = begin[k] + lane; at < begin[k + 1]; at += 32)
        fr_add_to_ring(in, a, first, list[at] & 0xFFFF, (list[at] >> 16) - in.side / 2, v);
    for (int n = 0; n < FR_RING_SUMS; n++) {
        for (int step = 16; step; step /= 2)
            v[n] += __shfl_down_sync(~0u, v[n], step);
        if (lane == 0)
            ring[((int64_t)blockIdx.y * rings + k) * FR_RING_SUMS + n] = v[n];
    }
}

// ---- results -------------------------------------------------------------------------------------------------------------

// cc3m: a warp a call.
static __global__ void fr_score(const double *ring, int rings, const float *setting, bool by_ring, int64_t first, float *score)
{
    double v[4] = {}; // sum C, sum B, sum Q; or sum g R, sum g^2 B, rings with coefficients
    for (int k = (int)threadIdx.x; k < rings; k += 32) {
        const double *s = ring + ((int64_t)blockIdx.x * rings + k) * FR_RING_SUMS;
        const double g = by_ring ? exp(-(double)setting[1] * k * k) : 1;
        if (by_ring) {
            const double r = s[2] > 0 ? s[0] / sqrt(s[2]) : 0;
            v[0] += g * (k + 1 < setting[2] ? r : fabs(r));
            v[1] += g * g * s[1];
            v[2] += s[3] > 0;
        } else {
            for (int n = 0; n < 3; n++)
                v[n] += s[n];
        }
    }
    for (int n = 0; n < 3; n++)
        for (int step = 16; step; step /= 2)
            v[n] += __shfl_down_sync(~0u, v[n], step);
    const double root = sqrt(v[1] * v[2]);
    if (threadIdx.x == 0)
        score[first + blockIdx.x] = root > 0 ? (float)(v[0] / root) : 0.0f;
}

static __global__ void fr_ring_correlations(const double *ring, int64_t n, float *cc)
{
    const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    const double *s = ring + e * FR_RING_SUMS, root = sqrt(s[1] * s[2]);
    cc[e] = root > 0 ? (float)(s[0] / root) : 0.0f;
}

static __global__ void fr_coefficients(const double *sums, int n, float *cc)
{
    const int e = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (e >= n)
        return;
    const double root = sqrt(sums[3 * e] * sums[3 * e + 1]);
    cc[e] = root > 0 ? (float)(sums[3 * e + 2] / root) : 0.0f;
}

// sums are of images that still lack the factor 1/N^2.
static __global__ void fr_moments(const double *sums, int n, double pixels, float *moment)
{
    const int e = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (e >= n)
        return;
    const double *s = sums + 7 * e, scale = 1 / (pixels * pixels), in_disc = s[0] > 0 ? s[0] : 1;
    moment[4 * e] = (float)(scale * (s[5] - s[1] * s[2] / in_disc) / in_disc);
    moment[4 * e + 1] = (float)(scale * (s[3] - s[1] * s[1] / in_disc) / in_disc);
    moment[4 * e + 2] = (float)(scale * (s[4] - s[2] * s[2] / in_disc) / in_disc);
    moment[4 * e + 3] = (float)(scale * s[6] / pixels);
}

#endif
