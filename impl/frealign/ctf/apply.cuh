// SPDX-License-Identifier: MIT
// apply.cuh: ctfapply on the GPU, once per particle: transform, shift, mask, CTF, and whitening by rings. The mask is applied
// about the corner, after the change of signs that moves the origin there; this equals the mask about the centre before it.
#ifndef RG_FREALIGN_APPLY_CUH
#define RG_FREALIGN_APPLY_CUH

#include "../steps.cuh"
#include "apply.h"

enum { FR_POWER_SUMS = 2 }; // for each ring: |Xm|^2, coefficients

static inline int64_t fr_ring_of_plane(const rg_shape *s, int64_t i, int64_t j) {
    const int64_t k = fr_ring(i * i + j * j);
    return k <= s->n[FR_SIDE] / 2 ? k : -1;
}

static __global__ void fr_load_images(fr_application in, int64_t first, float *image) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < in.side && y < in.side)
        image[((int64_t)blockIdx.z * in.side + y) * (in.side + 2) + x] =
            in.image[((first + blockIdx.z) * in.side + y) * in.side + x];
}

static __device__ __forceinline__ float2 fr_shifted_at(
    const fr_application &in, const float2 *plane, int64_t particle, int i, int row) {
    const int j = row <= in.side / 2 ? row : row - in.side;
    const float pose[FR_POSE_FLOATS] = {0, 0, 0, 0, 0, 0, in.shift[2 * particle], in.shift[2 * particle + 1]};
    const float2 v = fr_times(plane[(int64_t)row * in.width + i], fr_turn(pose, i, j));
    const float sign = fr_sign(i, j);
    return make_float2(sign * v.x, sign * v.y);
}

// Writes D to its argument and to a second plane, which will be masked.
static __global__ void fr_shift_planes(fr_application in, const float2 *plane, int64_t first, float2 *second) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (i >= in.width || row >= in.side) return;
    const int64_t stored = (int64_t)in.side * in.width, e = blockIdx.z * stored + (int64_t)row * in.width + i;
    const int64_t at = first * stored + e;
    float2 v = fr_shifted_at(in, plane + blockIdx.z * stored, first + blockIdx.z, i, row);
    if (i == 0 || 2 * i == in.side) {
        const float2 mate = fr_shifted_at(in, plane + blockIdx.z * stored, first + blockIdx.z, i, row ? in.side - row : 0);
        v = make_float2(0.5f * (v.x + mate.x), 0.5f * (v.y - mate.y));
    }
    in.D[2 * at] = v.x;
    in.D[2 * at + 1] = v.y;
    second[e] = v;
}

static __global__ void fr_power_atomics(fr_application in, const float2 *plane, double *ring) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    const int64_t j = row <= in.side / 2 ? row : row - in.side;
    if (i >= in.width || row >= in.side || fr_ring(i * (int64_t)i + j * j) > in.side / 2) return;
    double *to = ring + (blockIdx.z * (in.side / 2 + 1) + fr_ring(i * (int64_t)i + j * j)) * FR_POWER_SUMS;
    atomicAdd(&to[0], (double)fr_square(plane[((int64_t)blockIdx.z * in.side + row) * in.width + i]));
    atomicAdd(&to[1], 1.0);
}

// One block per ring, as in fr_ring_tree.
static __global__ void fr_power_tree(fr_application in, const float2 *plane, double *ring) {
    __shared__ double tree[32 * FR_POWER_SUMS];
    const int k = (int)blockIdx.x, t = (int)(threadIdx.x + blockDim.x * threadIdx.y), half = in.side / 2;
    double v[FR_POWER_SUMS] = {};
    for (int j = t - k; j <= k; j += (int)(blockDim.x * blockDim.y)) {
        if (2 * j == -in.side) continue;
        for (int i = fr_ring_begins(k, j); i <= half && fr_ring((int64_t)i * i + (int64_t)j * j) == k; i++) {
            v[0] += fr_square(plane[((int64_t)blockIdx.y * in.side + (j < 0 ? j + in.side : j)) * in.width + i]);
            v[1] += 1;
        }
    }
    fr_block_sum<FR_POWER_SUMS>(v, tree);
    for (int n = 0; n < FR_POWER_SUMS && t == 0; n++) ring[((int64_t)blockIdx.y * gridDim.x + k) * FR_POWER_SUMS + n] = v[n];
}

static __global__ void fr_power_list(fr_application in, const float2 *plane, const int *list, const int *begin, double *ring) {
    const int rings = in.side / 2 + 1, lane = (int)threadIdx.x % 32,
              k = (int)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
    if (k >= rings) return;
    double v = 0;
    for (int at = begin[k] + lane; at < begin[k + 1]; at += 32) {
        const int i = list[at] & 0xFFFF, j = (list[at] >> 16) - in.side / 2;
        v += fr_square(plane[((int64_t)blockIdx.y * in.side + (j < 0 ? j + in.side : j)) * in.width + i]);
    }
    for (int step = 16; step; step /= 2) v += __shfl_down_sync(~0u, v, step);
    if (lane == 0) {
        double *to = ring + ((int64_t)blockIdx.y * rings + k) * FR_POWER_SUMS;
        to[0] = v;
        to[1] = begin[k + 1] - begin[k];
    }
}

static __device__ __forceinline__ float fr_contrast(const float *o, int i, int j) {
    const double rr = (double)i * i + (double)j * j;
    const double h = (double)o[0] * i * i + (double)o[1] * i * j + (double)o[2] * j * j + (double)o[3] * rr * rr;
    float s, c;
    sincospif((float)(h - 2 * rint(h / 2)), &s, &c);
    return o[4] * s - o[5] * c;
}

// Computes X and c from the masked planes.
static __global__ void fr_weigh_planes(fr_application in, const float2 *plane, const double *ring, int64_t first) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (i >= in.width || row >= in.side) return;
    const int64_t stored = (int64_t)in.side * in.width, e = blockIdx.z * stored + (int64_t)row * in.width + i;
    const int64_t at = first * stored + e, j = row <= in.side / 2 ? row : row - in.side, k = fr_ring(i * (int64_t)i + j * j);
    const float c = fr_contrast(in.optics + (first + blockIdx.z) * FR_OPTICS, i, (int)j);
    float f = in.squared ? c : 1;
    if (in.rings && k <= in.side / 2) {
        const double *s = ring + (blockIdx.z * (in.side / 2 + 1) + k) * FR_POWER_SUMS;
        const float signal = in.ssnr[k] * (4 * c * c);
        f *= s[0] > 0 ? signal / (signal + 1) / (float)sqrt(s[0] / s[1]) : 0;
    } else if (in.rings) {
        f = 0;
    }
    in.c[at] = c;
    in.X[2 * at] = f * plane[e].x;
    in.X[2 * at + 1] = f * plane[e].y;
}

// ---- on the host ---------------------------------------------------------------------------------------------------------

static inline fr_layout fr_apply_layout(const rg_shape *s, const int64_t *param, int way) {
    return fr_layout_of(s, param, way, 2, s->n[FR_SIDE] / 2 + 1);
}

template <int way> static int fr_sum_powers(const fr_steps &s, const fr_application &in, const float2 *plane) {
    void *stream = s.call->stream;
    const char *scratch = (const char *)s.call->scratch;
    const dim3 block = fr_block(s, FR_P_BLOCK);
    if (way == FR_ATOMIC) {
        const size_t bytes = s.count * (size_t)s.l.rings * FR_POWER_SUMS * sizeof(double);
        const int error = (int)cudaMemsetAsync(s.ring, 0, bytes, (cudaStream_t)stream);
        if (error) return error;
        RG_LAUNCH((fr_power_atomics), fr_plane_grid(s, block), block, 0, stream, in, plane, s.ring);
    } else if (way == FR_TREE) {
        RG_LAUNCH((fr_power_tree), dim3((unsigned)s.l.rings, s.count), block, 0, stream, in, plane, s.ring);
    } else {
        RG_LAUNCH((fr_power_list), dim3(fr_blocks(s.l.rings, 8), s.count), 256, 0, stream, in, plane,
            (const int *)(scratch + s.l.list), (const int *)(scratch + s.l.begin), s.ring);
    }
    return (int)cudaGetLastError();
}

template <int way> static int fr_apply(const rg_call *call) {
    const fr_application in = fr_application_of(call);
    fr_steps s = fr_steps_of(call, fr_apply_layout(call->shape, call->param, way));
    s.in.side = in.side;
    s.in.width = in.width;
    float2 *second = s.image + s.l.calls * s.l.stored;
    int error = RG_OK;
    while (!error && fr_next(&s)) {
        const dim3 block = fr_block(s, FR_P_BLOCK), grid = fr_plane_grid(s, block);
        const dim3 image_grid(fr_blocks(in.side, block.x), grid.y, grid.z);
        RG_LAUNCH((fr_load_images), image_grid, block, 0, call->stream, in, s.first, (float *)s.image);
        if ((error = rg_fft_run(&s.plan->to_plane, s.image))) return error;
        RG_LAUNCH((fr_shift_planes), grid, block, 0, call->stream, in, s.image, s.first, second);
        error = (int)cudaGetLastError();
        error = error ? error : fr_mask_planes<way>(s, second, in.setting);
        error = error || !in.rings ? error : fr_sum_powers<way>(s, in, second);
        if (error) return error;
        RG_LAUNCH((fr_weigh_planes), grid, block, 0, call->stream, in, second, s.ring, s.first);
        error = (int)cudaGetLastError();
    }
    return error;
}

static inline void fr_apply_cost(const rg_shape *s, rg_cost *c) {
    const double images = (double)s->n[FR_PARTICLES], stored = (double)fr_stored(s->n[FR_SIDE]);
    c->amount[RG_MEM_BYTES] = images * (8 * stored + 20 * stored);
    c->amount[RG_F32_MAD] = 1.5 * images * fr_transforms_mad(s);
}

#define FR_APPLY(IDEA)                                                                                                         \
    static size_t scratch(const rg_shape *s, const int64_t *param) { return fr_apply_layout(s, param, WAY).total; }            \
    static void cost(const rg_shape *s, const int64_t *, rg_cost *c) { fr_apply_cost(s, c); }                                  \
    static int prepare(rg_call *call) {                                                                                        \
        return fr_prepare(call, fr_apply_layout(call->shape, call->param, WAY), true, false, fr_ring_of_plane);                \
    }                                                                                                                          \
    static int run(rg_call *call) { return fr_apply<WAY>(call); }                                                              \
    FR_DESCRIPTOR(ctfapply, IDEA, .param = params, .n_params = 2, .scratch = scratch, .cost = cost, .prepare = prepare,        \
        .run = run, .finish = fr_finish)

#endif
