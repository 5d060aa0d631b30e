// SPDX-License-Identifier: MIT
// insert.cuh: the scatter of pinsert_s, one thread per stored coefficient of one particle under one operator. It adds to the
// nodes around the coefficient's position p in the volume, and as its mate to those around -p. The sink defines how a node is
// added to.
#ifndef RG_FREALIGN_INSERT_CUH
#define RG_FREALIGN_INSERT_CUH

#include "../section.cuh"
#include "insert.h"

typedef struct fr_terms {
    float re, im, den;
} fr_terms;

// The term of a node with interpolation weight 1: w 2c E and w c^2, or w^2 c E and (w c)^2, to be multiplied by b once or
// twice.
template <bool squared>
static __device__ __forceinline__ fr_terms fr_terms_of(const fr_insertion &in, int64_t sample, int i, int j) {
    const int64_t particle = sample / in.trials;
    const int side = (int)in.side;
    const int64_t e = particle * in.stored + (int64_t)(j < 0 ? j + side : j) * (side / 2 + 1) + i;
    const float c = in.c[e], w = in.weight[2 * particle] * expf(in.weight[2 * particle + 1] * (float)(i * i + j * j));
    const float2 shifted = fr_times(fr_complex(in.D, e), fr_turn(in.pose + sample * FR_POSE_FLOATS, i, j));
    const float f = squared ? w * w * c : w * 2 * c, den = squared ? w * c * (w * c) : w * c * c;
    fr_terms t = {f * shifted.x, f * shifted.y, den};
    return t;
}

// The nodes around p with x >= 0, none beyond N/2.
template <int how, bool squared, class sink>
static __device__ __forceinline__ void fr_spread(int side, const float p[3], fr_terms t, sink out) {
    enum { nodes = how == FR_NEAREST ? 1 : 2 };
    int low[3];
    float weight[3][nodes];
#pragma unroll
    for (int a = 0; a < 3; a++) {
        const float first = nodes == 1 ? fr_nearest(p[a]) : floorf(p[a]), f = p[a] - first;
        low[a] = (int)first;
        weight[a][0] = nodes == 1 ? 1 : how == FR_TRILINEAR ? 1 - f : fr_sinc(f);
        if (nodes == 2) weight[a][nodes - 1] = how == FR_TRILINEAR ? f : fr_sinc(f - 1);
    }
#pragma unroll
    for (int k = 0; k < nodes * nodes * nodes; k++) {
        const int kx = k % nodes, ky = k / nodes % nodes, kz = k / nodes / nodes;
        const int x = low[0] + kx, y = low[1] + ky, z = low[2] + kz, half = side / 2;
        if (x < 0 || x > half || y < -half || y > half || z < -half || z > half) continue;
        const float b = weight[0][kx] * weight[1][ky] * weight[2][kz], bb = squared ? b * b : b;
        const int64_t node = ((int64_t)(z < 0 ? z + side : z) * side + (y < 0 ? y + side : y)) * (half + 1) + x;
        const fr_terms part = {bb * t.re, bb * t.im, bb * t.den};
        out.add(node, part);
    }
}

template <int how, bool squared, class sink> static __global__ void fr_insert(fr_insertion in, int64_t samples, sink out) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    const int side = (int)in.side, outer = (int)in.outer, j = row - outer;
    if (i > outer || j > outer || 2 * j == -side || i * i + j * j > outer * outer) return;
    for (int64_t sample = blockIdx.z; sample < samples; sample += gridDim.z) {
        const fr_terms t = fr_terms_of<squared>(in, sample, i, j), mate = {t.re, -t.im, t.den};
        float p[3];
        fr_place(in.pose + sample * FR_POSE_FLOATS, (float)i, (float)j, p);
        if (p[0] > -1) fr_spread<how, squared>(side, p, t, out);
        if (p[0] < 1 && fr_mates(side, i, j) == 2) {
            const float other[3] = {-p[0], -p[1], -p[2]};
            fr_spread<how, squared>(side, other, mate, out);
        }
    }
}

// Blocks of `columns` x 8; `at_once` particles or operators per launch.
template <class sink> static int fr_insert_all(const rg_call *call, int64_t columns, int64_t at_once, sink out) {
    const fr_insertion in = fr_insertion_of(call);
    const int64_t samples = in.samples, kind = call->shape->n[FR_KIND];
    const dim3 block((unsigned)columns, 8),
        grid((unsigned)((in.outer + columns) / columns), (unsigned)((2 * in.outer + 8) / 8),
            (unsigned)(samples < at_once ? samples : at_once));
    const bool squared = (kind & FR_SQUARED) != 0;
#define FR_INSERT(how, power) RG_LAUNCH((fr_insert<how, power, sink>), grid, block, 0, call->stream, in, samples, out)
    if (fr_interpolation(kind) == FR_TRILINEAR && squared)
        FR_INSERT(FR_TRILINEAR, true);
    else if (fr_interpolation(kind) == FR_TRILINEAR)
        FR_INSERT(FR_TRILINEAR, false);
    else if (fr_interpolation(kind) == FR_NEAREST && squared)
        FR_INSERT(FR_NEAREST, true);
    else if (fr_interpolation(kind) == FR_NEAREST)
        FR_INSERT(FR_NEAREST, false);
    else if (squared)
        FR_INSERT(FR_BOX2, true);
    else
        FR_INSERT(FR_BOX2, false);
#undef FR_INSERT
    return (int)cudaGetLastError();
}

#endif
