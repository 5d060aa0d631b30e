// SPDX-License-Identifier: MIT
// section.cuh: shared by the GPU variants: arguments by name, the shift of a particle, the reference's value between its nodes,
// and sums of blocks.
#ifndef RG_FREALIGN_SECTION_CUH
#define RG_FREALIGN_SECTION_CUH

#include "../gpu/cuda.h"
#include "index.h"

// Inputs of cc3m, presb, sigma2, ccoef and ccp. Arguments are only aligned to elements: complex numbers are read in halves,
// unless `pairs` says that F3 is aligned to 8 bytes.
typedef struct fr_input {
    const float *x, *c, *f3, *pose, *setting;
    int side, width, inner, outer, trials, nodes_side; // nodes_side: L
    float pad;
    bool pairs, squared;
} fr_input;

static inline fr_input fr_input_of(const rg_call *call) {
    const int64_t *n = call->shape->n;
    fr_input in = {(const float *)call->arg[FR_X], (const float *)call->arg[FR_C], (const float *)call->arg[FR_F3],
        (const float *)call->arg[FR_POSE], (const float *)call->arg[FR_SETTING], (int)n[FR_SIDE], (int)fr_width(n[FR_SIDE]),
        (int)n[FR_INNER], (int)n[FR_OUTER], (int)n[FR_TRIALS], (int)(n[FR_SIDE] * fr_pad(n[FR_KIND])),
        (float)fr_pad(n[FR_KIND]), (uintptr_t)call->arg[FR_F3] % sizeof(float2) == 0, (n[FR_KIND] & FR_SQUARED) != 0};
    return in;
}

static inline int64_t fr_calls(const rg_shape *s) { return s->n[FR_PARTICLES] * s->n[FR_TRIALS]; }

static __device__ __forceinline__ float2 fr_complex(const float *p, int64_t e) { return make_float2(p[2 * e], p[2 * e + 1]); }
static __device__ __forceinline__ float2 fr_times(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
static __device__ __forceinline__ float fr_real_product(float2 a, float2 b) { return a.x * b.x + a.y * b.y; } // Re a conj b
static __device__ __forceinline__ float fr_square(float2 a) { return a.x * a.x + a.y * a.y; }

// exp(i (s_x i + s_y j)). The angle can be a thousand radians at i = 250, too large for single precision.
static __device__ __forceinline__ float2 fr_turn(const float *pose, int i, int j) {
    const double turns = ((double)pose[6] * i + (double)pose[7] * j) * 0.15915494309189535;
    float2 e;
    sincospif(2.0f * (float)(turns - rint(turns)), &e.y, &e.x);
    return e;
}

// ---- the reference -------------------------------------------------------------------------------------------------------

struct fr_memory {
    const float *f3;
    bool pairs;
    __device__ __forceinline__ float2 at(int side, int x, int y, int z) const {
        const int64_t e = ((int64_t)z * side + y) * (side / 2 + 1) + x;
        return pairs ? reinterpret_cast<const float2 *>(f3)[e] : fr_complex(f3, e);
    }
};

struct fr_texture {
    cudaTextureObject_t f3;
    __device__ __forceinline__ float2 at(int, int x, int y, int z) const {
        return tex3D<float2>(f3, (float)x + 0.5f, (float)y + 0.5f, (float)z + 0.5f);
    }
};

// Any node next to the half space; read at its mate where it is not stored.
template <class volume> static __device__ __forceinline__ float2 fr_node(volume f3, int side, int x, int y, int z) {
    if (x > side / 2) x -= side;
    const bool mate = x < 0;
    x = mate ? -x : x;
    y = mate ? -y : y;
    z = mate ? -z : z;
    y = y < 0 ? y + side : y >= side ? y - side : y;
    z = z < 0 ? z + side : z >= side ? z - side : z;
    float2 v = f3.at(side, x, y, z);
    v.y = mate ? -v.y : v.y;
    return v;
}

template <class volume> static __device__ __forceinline__ float2 fr_trilinear(volume f3, int side, const float p[3]) {
    const float lx = floorf(p[0]), ly = floorf(p[1]), lz = floorf(p[2]);
    const float fx = p[0] - lx, fy = p[1] - ly, fz = p[2] - lz;
    const int x = (int)lx, y = (int)ly, z = (int)lz;
    float2 sum = make_float2(0, 0);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        const float2 v = fr_node(f3, side, x + (k & 1), y + (k >> 1 & 1), z + (k >> 2));
        const float w = (k & 1 ? fx : 1 - fx) * (k >> 1 & 1 ? fy : 1 - fy) * (k >> 2 ? fz : 1 - fz);
        sum.x += w * v.x;
        sum.y += w * v.y;
    }
    return sum;
}

// n^3 nodes about the nearest, with the weights of the box transform.
template <int n, class volume>
static __device__ __forceinline__ float2 fr_box(volume f3, int side, float pad, const float p[3]) {
    float w[3][n];
    int low[3];
    for (int a = 0; a < 3; a++) {
        low[a] = (int)fr_nearest(p[a]) - n / 2;
        for (int l = 0; l < n; l++) w[a][l] = fr_sinc((p[a] - (float)(low[a] + l)) / pad);
    }
    float2 sum = make_float2(0, 0);
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                const float2 v = fr_node(f3, side, low[0] + x, low[1] + y, low[2] + z);
                const float weight = w[0][x] * w[1][y] * w[2][z];
                sum.x += weight * v.x;
                sum.y += weight * v.y;
            }
    return sum;
}

// S(M q), q = (i, j).
template <int how, class volume>
static __device__ __forceinline__ float2 fr_section(const fr_input &in, volume f3, const float *pose, int i, int j) {
    float p[3];
    fr_place(pose, (float)i, (float)j, p);
    const bool mate = p[0] < 0;
    for (int a = 0; a < 3; a++) p[a] = (mate ? -p[a] : p[a]) * in.pad;
    float2 v;
    if (how == FR_TRILINEAR)
        v = fr_trilinear(f3, in.nodes_side, p);
    else if (how == FR_NEAREST)
        v = fr_node(f3, in.nodes_side, (int)fr_nearest(p[0]), (int)fr_nearest(p[1]), (int)fr_nearest(p[2]));
    else
        v = fr_box < how == FR_BOX1 ? 1 : how == FR_BOX3 ? 3 : 5 > (f3, in.nodes_side, in.pad, p);
    v.y = mate ? -v.y : v.y;
    return v;
}

// Calls `launch` with the interpolation of the kind as a constant.
#define FR_FOR_INTERPOLATION(kind, launch)                                                                                     \
    switch (fr_interpolation(kind)) {                                                                                          \
    case FR_TRILINEAR: launch(FR_TRILINEAR); break;                                                                            \
    case FR_NEAREST: launch(FR_NEAREST); break;                                                                                \
    case FR_BOX1: launch(FR_BOX1); break;                                                                                      \
    case FR_BOX3: launch(FR_BOX3); break;                                                                                      \
    default: launch(FR_BOX5);                                                                                                  \
    }

// ---- sums ----------------------------------------------------------------------------------------------------------------

enum { FR_THREADS = 256 }; // per block that sums

// The sums of v[0..n) over the block, at thread 0, always in the same order: within a warp by shuffles, over the warps in
// shared memory. Every thread of the block must call it; the number of threads is a multiple of 32 up to 1024.
template <int n, class T> static __device__ __forceinline__ void fr_block_sum(T v[n], T *shared /* 32 n */) {
    const int t = (int)(threadIdx.x + blockDim.x * threadIdx.y), lane = t % 32, warps = (int)(blockDim.x * blockDim.y) / 32;
    __syncthreads();
    for (int k = 0; k < n; k++) {
        for (int step = 16; step; step /= 2) v[k] += __shfl_down_sync(~0u, v[k], step);
        if (lane == 0) shared[k * 32 + t / 32] = v[k];
    }
    __syncthreads();
    if (t == 0)
        for (int k = 0; k < n; k++) {
            T sum = shared[k * 32];
            for (int w = 1; w < warps; w++) sum += shared[k * 32 + w];
            v[k] = sum;
        }
}

#endif
