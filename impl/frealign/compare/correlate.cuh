// SPDX-License-Identifier: MIT
// correlate.cuh: cc3m, presb, sigma2 and ccoef on the GPU, step by step over `calls` (particle, trial) pairs at a time. The
// variants (../batch.cuh, ../gather.cuh, ../scatter.cuh) differ in where they read F3 (memory or texture), in how they sum, and
// in how many calls share a launch.
#ifndef RG_FREALIGN_CORRELATE_CUH
#define RG_FREALIGN_CORRELATE_CUH

#include "../steps.cuh"
#include "index.h"

// D e^{i s.q} in the band, 0 elsewhere; flipped: also times the sign of c.
static __global__ void fr_shifted(fr_input in, int64_t first, bool flipped, float2 *out) {
    int i, row;
    if (!fr_here(in, &i, &row)) return;
    const int64_t call = first + blockIdx.z, e = (int64_t)row * in.width + i, stored = (int64_t)in.side * in.width;
    const int64_t at = call / in.trials * stored + e;
    const int j = row <= in.side / 2 ? row : row - in.side;
    float2 v = make_float2(0, 0);
    if (fr_in_band(in.side, i, j, in.inner, in.outer)) {
        v = fr_times(fr_complex(in.x, at), fr_turn(in.pose + call * FR_POSE_FLOATS, i, j));
        if (flipped && in.c[at] < 0) v = make_float2(-v.x, -v.y);
    }
    out[blockIdx.z * stored + e] = v;
}

struct fr_disc_sums { // sigma2: n, a, x, a^2, x^2, ax over the disc; x^2 over all pixels
    enum { n = 7 };
    const float *a, *x, *setting;
    __device__ __forceinline__ void add(int64_t at, int dx, int dy, double *v) const {
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
    __device__ __forceinline__ void add(int64_t at, int, int, double *v) const {
        const double aa = a[at], xx = x[at];
        v[0] += aa * aa;
        v[1] += xx * xx;
        v[2] += aa * xx;
    }
};

// ---- sums over rings -----------------------------------------------------------------------------------------------------

// FR_RING_SUMS of ring k: C_k, B_k, Q_k and its number of coefficients in the band.

static __device__ __forceinline__ void fr_add_to_ring(
    const fr_input &in, const float2 *a, int64_t first, int i, int j, double *v) {
    const int64_t call = first + blockIdx.y, stored = (int64_t)in.side * in.width;
    const int64_t e = (int64_t)(j < 0 ? j + in.side : j) * in.width + i;
    const float2 x = fr_complex(in.x, call / in.trials * stored + e), s = a[blockIdx.y * stored + e];
    v[0] += fr_real_product(fr_times(x, fr_turn(in.pose + call * FR_POSE_FLOATS, i, j)), s);
    v[1] += fr_square(x);
    v[2] += fr_square(s);
    v[3] += 1;
}

static __global__ void fr_ring_atomics(fr_input in, const float2 *a, int64_t first, double *ring) {
    const int e = (int)(blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x);
    const int row = e / in.width, i = e - row * in.width, j = row <= in.side / 2 ? row : row - in.side;
    if (row >= in.side || !fr_in_band(in.side, i, j, in.inner, in.outer)) return;
    double v[FR_RING_SUMS] = {};
    fr_add_to_ring(in, a, first, i, j, v);
    double *to = ring + ((int64_t)blockIdx.y * fr_rings(in.side) + fr_ring((int64_t)i * i + (int64_t)j * j)) * FR_RING_SUMS;
    for (int k = 0; k < FR_RING_SUMS; k++) atomicAdd(&to[k], v[k]);
}

// One block per ring. Each thread takes a row and walks over the ring's columns in it.
static __global__ void fr_ring_tree(fr_input in, const float2 *a, int64_t first, double *ring) {
    __shared__ double tree[32 * FR_RING_SUMS];
    const int k = (int)blockIdx.x, t = (int)(threadIdx.x + blockDim.x * threadIdx.y);
    double v[FR_RING_SUMS] = {};
    for (int j = t - k; j <= k; j += (int)(blockDim.x * blockDim.y))
        for (int i = fr_ring_begins(k, j); fr_ring((int64_t)i * i + (int64_t)j * j) == k; i++)
            if (fr_in_band(in.side, i, j, in.inner, in.outer)) fr_add_to_ring(in, a, first, i, j, v);
    fr_block_sum<FR_RING_SUMS>(v, tree);
    for (int n = 0; n < FR_RING_SUMS && t == 0; n++) ring[((int64_t)blockIdx.y * gridDim.x + k) * FR_RING_SUMS + n] = v[n];
}

// list: coefficients (j + N/2) 2^16 + i of the band, ring by ring; ring k has begin[k] .. begin[k + 1] - 1.
static __global__ void fr_ring_list(
    fr_input in, const float2 *a, int64_t first, const int *list, const int *begin, double *ring) {
    const int rings = (int)fr_rings(in.side), lane = (int)threadIdx.x % 32;
    const int k = (int)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
    if (k >= rings) return;
    double v[FR_RING_SUMS] = {};
    for (int at = begin[k] + lane; at < begin[k + 1]; at += 32)
        fr_add_to_ring(in, a, first, list[at] & 0xFFFF, (list[at] >> 16) - in.side / 2, v);
    for (int n = 0; n < FR_RING_SUMS; n++) {
        for (int step = 16; step; step /= 2) v[n] += __shfl_down_sync(~0u, v[n], step);
        if (lane == 0) ring[((int64_t)blockIdx.y * rings + k) * FR_RING_SUMS + n] = v[n];
    }
}

// ---- results -------------------------------------------------------------------------------------------------------------

// cc3m: one warp per call.
static __global__ void fr_score(
    const double *ring, int rings, const float *setting, bool by_ring, int64_t first, float *score) {
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
            for (int n = 0; n < 3; n++) v[n] += s[n];
        }
    }
    for (int n = 0; n < 3; n++)
        for (int step = 16; step; step /= 2) v[n] += __shfl_down_sync(~0u, v[n], step);
    const double root = sqrt(v[1] * v[2]);
    if (threadIdx.x == 0) score[first + blockIdx.x] = root > 0 ? (float)(v[0] / root) : 0.0f;
}

static __global__ void fr_ring_correlations(const double *ring, int64_t n, float *cc) {
    const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n) return;
    const double *s = ring + e * FR_RING_SUMS, root = sqrt(s[1] * s[2]);
    cc[e] = root > 0 ? (float)(s[0] / root) : 0.0f;
}

static __global__ void fr_coefficients(const double *sums, int n, float *cc) {
    const int e = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (e >= n) return;
    const double root = sqrt(sums[3 * e] * sums[3 * e + 1]);
    cc[e] = root > 0 ? (float)(sums[3 * e + 2] / root) : 0.0f;
}

// sums: of images that still lack the factor 1/N^2.
static __global__ void fr_moments(const double *sums, int n, double pixels, float *moment) {
    const int e = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (e >= n) return;
    const double *s = sums + 7 * e, scale = 1 / (pixels * pixels), in_disc = s[0] > 0 ? s[0] : 1;
    moment[4 * e] = (float)(scale * (s[5] - s[1] * s[2] / in_disc) / in_disc);
    moment[4 * e + 1] = (float)(scale * (s[3] - s[1] * s[1] / in_disc) / in_disc);
    moment[4 * e + 2] = (float)(scale * (s[4] - s[2] * s[2] / in_disc) / in_disc);
    moment[4 * e + 3] = (float)(scale * s[6] / pixels);
}

// ---- on the host ---------------------------------------------------------------------------------------------------------

static inline int fr_shifts(const fr_steps &s, bool flipped) {
    const dim3 block = fr_block(s, FR_P_INTERPOLATE);
    float2 *second = s.image + s.l.calls * s.l.stored;
    RG_LAUNCH((fr_shifted), fr_plane_grid(s, block), block, 0, s.call->stream, s.in, s.first, flipped, second);
    return (int)cudaGetLastError();
}

template <int way> static int fr_sum_rings(const fr_steps &s) {
    const dim3 block = fr_block(s, FR_P_BLOCK);
    const unsigned rings = (unsigned)fr_rings(s.in.side);
    void *stream = s.call->stream;
    const char *scratch = (const char *)s.call->scratch;
    if (way == FR_ATOMIC) {
        int error = (int)cudaMemsetAsync(s.ring, 0, s.count * rings * FR_RING_SUMS * sizeof(double), (cudaStream_t)stream);
        if (error) return error;
        const dim3 grid(fr_blocks(s.l.stored, 16 * s.call->param[FR_P_BLOCK]), s.count);
        RG_LAUNCH((fr_ring_atomics), grid, block, 0, stream, s.in, s.image, s.first, s.ring);
    } else if (way == FR_TREE) {
        RG_LAUNCH((fr_ring_tree), dim3(rings, s.count), block, 0, stream, s.in, s.image, s.first, s.ring);
    } else {
        const dim3 grid(fr_blocks(rings, 8), s.count);
        RG_LAUNCH((fr_ring_list), grid, 256, 0, stream, s.in, s.image, s.first, (const int *)(scratch + s.l.list),
            (const int *)(scratch + s.l.begin), s.ring);
    }
    return (int)cudaGetLastError();
}

// ---- the four algorithms -------------------------------------------------------------------------------------------------

typedef enum { FR_CC3M, FR_PRESB, FR_SIGMA2, FR_CCOEF } fr_routine;

template <int way> static int fr_pass(const fr_steps &s, fr_routine routine, bool texture) {
    float *out = (float *)s.call->arg[FR_SCORE];
    void *stream = s.call->stream;
    const int rings = (int)fr_rings(s.in.side);
    int error = fr_sections(s, texture, routine == FR_SIGMA2);
    if (routine == FR_CC3M || routine == FR_PRESB) {
        error = error ? error : fr_mask_planes<way>(s, s.image, s.in.setting);
        error = error ? error : fr_sum_rings<way>(s);
        if (error) return error;
        const int64_t n = (int64_t)s.count * rings;
        const bool by_ring = (s.call->shape->n[FR_KIND] & FR_RINGS) != 0;
        if (routine == FR_CC3M)
            RG_LAUNCH((fr_score), s.count, 32, 0, stream, s.ring, rings, s.in.setting, by_ring, s.first, out);
        else
            RG_LAUNCH((fr_ring_correlations), fr_blocks(n, 256), 256, 0, stream, s.ring, n, out + s.first * rings);
        return (int)cudaGetLastError();
    }
    error = error ? error : fr_shifts(s, routine == FR_SIGMA2);
    error = error ? error : rg_fft_run(&s.plan->to_image, s.image);
    if (error) return error;
    const float *a = (const float *)s.image, *x = a + 2 * s.l.calls * s.l.stored;
    const fr_disc_sums disc = {a, x, s.in.setting};
    const fr_whole_sums whole = {a, x};
    error = routine == FR_SIGMA2 ? fr_sum_pixels<way>(s, disc) : fr_sum_pixels<way>(s, whole);
    if (error) return error;
    const double pixels = (double)s.in.side * s.in.side;
    if (routine == FR_SIGMA2)
        RG_LAUNCH(
            (fr_moments), fr_blocks(s.count, 64), 64, 0, stream, s.sums, (int)s.count, pixels, out + s.first * FR_MOMENTS);
    else
        RG_LAUNCH((fr_coefficients), fr_blocks(s.count, 64), 64, 0, stream, s.sums, (int)s.count, out + s.first);
    return (int)cudaGetLastError();
}

static inline bool fr_in_real_space(fr_routine routine) { return routine == FR_SIGMA2 || routine == FR_CCOEF; }

static inline fr_layout fr_correlate_layout(const rg_shape *s, const int64_t *param, int way, fr_routine routine) {
    return fr_in_real_space(routine) ? fr_layout_of(s, param, way, 2, 0)
                                     : fr_layout_of(s, param, way, 1, fr_rings(s->n[FR_SIDE]));
}

template <int way> static int fr_correlate(const rg_call *call, fr_routine routine, bool texture) {
    fr_steps s = fr_steps_of(call, fr_correlate_layout(call->shape, call->param, way, routine));
    int error = fr_uploads(texture, call->param) ? fr_upload(call) : RG_OK;
    while (!error && fr_next(&s)) error = fr_pass<way>(s, routine, texture);
    return error;
}

// The steps and the descriptor of one variant.
#define FR_COMPARE_STEPS(ALGO, ROUTINE)                                                                                        \
    static size_t scratch_##ALGO(const rg_shape *s, const int64_t *param) {                                                    \
        return fr_correlate_layout(s, param, WAY, ROUTINE).total;                                                              \
    }                                                                                                                          \
    static void cost_##ALGO(const rg_shape *s, const int64_t *param, rg_cost *c) { fr_section_cost(s, param, TEXTURE, c); }    \
    static int prepare_##ALGO(rg_call *call) {                                                                                 \
        const fr_layout l = fr_correlate_layout(call->shape, call->param, WAY, ROUTINE);                                       \
        return fr_prepare(call, l, !fr_in_real_space(ROUTINE), TEXTURE, fr_ring_of_band);                                      \
    }                                                                                                                          \
    static int run_##ALGO(rg_call *call) { return fr_correlate<WAY>(call, ROUTINE, TEXTURE); }
#define FR_COMPARE(ALGO, ROUTINE)                                                                                              \
    FR_COMPARE_STEPS(ALGO, ROUTINE)                                                                                            \
    FR_DESCRIPTOR(ALGO, IDEA, .param = params, .n_params = RG_COUNT(params), .scratch = scratch_##ALGO, .cost = cost_##ALGO,   \
        .prepare = prepare_##ALGO, .load = TEXTURE ? fr_load : NULL, .run = run_##ALGO, .finish = fr_finish)

#endif
