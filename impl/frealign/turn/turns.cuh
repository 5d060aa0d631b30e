// SPDX-License-Identifier: MIT
// turns.cuh: ccp on the GPU. The section of a direction goes to real space, is padded to four times its side and transformed;
// the in-plane rotations sample that transform. Two values give all four quarters of a rotation: P_u(-i,-j) = conj P_u(i,j), so
// that X conj P_u2 = X P_u0 and X conj P_u3 = X P_u1.
//
// Padding with the border's mean changes only coefficient 0 of the padded transform, which no rotation reads. So the mean is
// subtracted here and the padding is 0.
//
// Bound when only the required lags are computed: fp32, 60 multiply-adds for each coefficient, rotation and pair of quarters;
// the padded transform also moves 16 times the section's bytes. Measured: data/machines/h100-16xeon.tsv.
#ifndef RG_FREALIGN_TURNS_CUH
#define RG_FREALIGN_TURNS_CUH

#include "../steps.cuh"
#include "index.h"

struct fr_border_sums {
    enum { n = 1 };
    const float *image;
    int half;
    __device__ __forceinline__ void add(int64_t at, int x, int y, double *v) const {
        if (x == half - 1 || x == -half || y == half - 1 || y == -half) v[0] += image[at];
    }
};

typedef struct fr_turned {
    const float *x, *turn;
    const float2 *big;
    float *cc;
    int side, width, outer, trials, turns;
} fr_turned;

static __global__ void fr_pad_images(const float *image, int side, float scale, const double *border, float *big) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    const int wide = FR_PAD_TURN * side, half = side / 2;
    if (x >= wide + 2 || y >= wide) return;
    const int from_x = x < half ? x : x >= wide - half ? x - wide + side : -1;
    const int from_y = y < half ? y : y >= wide - half ? y - wide + side : -1;
    const float mean = (float)(border[blockIdx.z] / (4 * side - 4));
    const bool inside = from_x >= 0 && from_y >= 0 && x < wide;
    big[((int64_t)blockIdx.z * wide + y) * (wide + 2) + x] =
        inside ? scale * (image[((int64_t)blockIdx.z * side + from_y) * (side + 2) + from_x] - mean) : 0;
}

// P_u(i, j), (c, s) = turn[u]; i may be negative.
static __device__ __forceinline__ float2 fr_rotated(const float2 *big, int side, float c, float s, int i, int j) {
    const int wide = FR_PAD_TURN * side;
    int x = (int)fr_nearest(FR_PAD_TURN * fr_product_sum(c, (float)i, -s, (float)j));
    int y = (int)fr_nearest(FR_PAD_TURN * fr_product_sum(s, (float)i, c, (float)j));
    const bool mate = x < 0;
    x = mate ? -x : x;
    y = mate ? -y : y;
    float2 v = big[(int64_t)(y < 0 ? y + wide : y) * (wide / 2 + 1) + x];
    v.y = mate ? -v.y : v.y;
    return v;
}

static __device__ __forceinline__ bool fr_kept(const fr_turned &in, int i, int j) {
    const int rr = i * i + j * j;
    return rr >= 1 && rr < in.outer * in.outer;
}

static __device__ __forceinline__ float2 fr_particle_at(const fr_turned &in, int64_t call, int i, int j) {
    return fr_complex(in.x, (call / in.trials * in.side + (j < 0 ? j + in.side : j)) * in.width + i);
}

static __device__ __forceinline__ float2 fr_conjugate_product(float2 x, float2 p) // x conj p
{
    return make_float2(x.x * p.x + x.y * p.y, x.y * p.x - x.x * p.y);
}

static __device__ __forceinline__ float fr_normalised(float w, double pp, double xx) {
    const double root = sqrt(pp * xx);
    return root > 0 ? (float)(w / root) : 0.0f;
}

// ---- all lags, by transforms ---------------------------------------------------------------------------------------------

enum { FR_NORMS = 3 }; // for each rotation: sum |P_u0|^2, sum |P_u1|^2, sum |X|^2

// W of the four quarters of rotations first .. first + gridDim.z - 1 of one call: M x (M/2 + 1) coefficients, M = N/2.
template <int way>
static __global__ void fr_turn_products(fr_turned in, int64_t call, int first, float2 *product, double *norm) {
    const int m = in.side / 2, width = m / 2 + 1;
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (i >= width || row >= m) return;
    const int j = 2 * row <= m ? row : row - m, u = first + (int)blockIdx.z;
    float2 *to = product + ((int64_t)blockIdx.z * FR_QUARTERS * m + row) * width + i;
    const int64_t quarter = (int64_t)m * width;
    float2 w[FR_QUARTERS] = {};
    if (fr_kept(in, i, j)) {
        const float c = in.turn[2 * u], s = in.turn[2 * u + 1];
        const float2 x = fr_particle_at(in, call, i, j), p = fr_rotated(in.big, in.side, c, s, i, j);
        const float2 q = fr_rotated(in.big, in.side, c, s, -j, i);
        w[0] = fr_conjugate_product(x, p);
        w[1] = fr_conjugate_product(x, q);
        w[2] = fr_times(x, p);
        w[3] = fr_times(x, q);
        if (way == FR_ATOMIC) {
            atomicAdd(&norm[blockIdx.z * FR_NORMS], (double)fr_square(p));
            atomicAdd(&norm[blockIdx.z * FR_NORMS + 1], (double)fr_square(q));
            atomicAdd(&norm[blockIdx.z * FR_NORMS + 2], (double)fr_square(x));
        }
    }
    for (int v = 0; v < FR_QUARTERS; v++) to[v * quarter] = w[v];
}

// One block per rotation.
static __global__ void fr_turn_norms(fr_turned in, int64_t call, int first, double *norm) {
    __shared__ double tree[32 * FR_NORMS];
    const int u = first + (int)blockIdx.x, t = (int)threadIdx.x;
    const float c = in.turn[2 * u], s = in.turn[2 * u + 1];
    double v[FR_NORMS] = {};
    for (int at = t; at < in.outer * (2 * in.outer - 1); at += (int)blockDim.x) {
        const int i = at % in.outer, j = at / in.outer - in.outer + 1;
        if (!fr_kept(in, i, j)) continue;
        v[0] += fr_square(fr_rotated(in.big, in.side, c, s, i, j));
        v[1] += fr_square(fr_rotated(in.big, in.side, c, s, -j, i));
        v[2] += fr_square(fr_particle_at(in, call, i, j));
    }
    fr_block_sum<FR_NORMS>(v, tree);
    for (int k = 0; k < FR_NORMS && t == 0; k++) norm[blockIdx.x * FR_NORMS + k] = v[k];
}

// Copies the 15 x 15 lags of each transform; one block per rotation and quarter.
static __global__ void fr_pick_lags(fr_turned in, int64_t call, int first, const float *correlation, const double *norm) {
    const int m = in.side / 2, u = (int)blockIdx.x, v = (int)blockIdx.y, pitch = 2 * (m / 2 + 1);
    const float *from = correlation + ((int64_t)u * FR_QUARTERS + v) * m * pitch;
    float *to = in.cc + ((call * FR_QUARTERS + v) * in.turns + first + u) * FR_LAGS * FR_LAGS;
    for (int e = (int)threadIdx.x; e < FR_LAGS * FR_LAGS; e += (int)blockDim.x) {
        const int x = e % FR_LAGS - FR_LAG, y = e / FR_LAGS - FR_LAG;
        const int column = (x % m + m) % m, line = (y % m + m) % m;
        to[e] = fr_normalised(from[line * pitch + column], norm[u * FR_NORMS + v % 2], norm[u * FR_NORMS + 2]);
    }
}

// ---- only the required lags ----------------------------------------------------------------------------------------------

enum { FR_COLUMNS = 128, FR_PHASES = FR_LAG + 1 }; // columns summed at a time by a block; e^{4 pi i m k / N}, k = 0..7

// phase[m + outer][k], |m| < outer.
static __global__ void fr_phases(int side, int outer, float2 *phase) {
    const int at = (int)(blockIdx.x * blockDim.x + threadIdx.x), m = at / FR_PHASES - outer, k = at % FR_PHASES;
    if (m >= outer) return;
    const double turns = 2.0 * m * k / side;
    float2 e;
    sincospif(2 * (float)(turns - rint(turns)), &e.y, &e.x);
    phase[at] = e;
}

// One product's part of the sums over j at all lags y. The four products of W with cosines and sines are kept apart: they give
// the sums of W e^{i k t} and of W e^{-i k t}.
struct fr_line_sums {
    float re, im, ac[FR_LAG], bs[FR_LAG], as[FR_LAG], bc[FR_LAG];
    __device__ __forceinline__ void add(float2 w, const float2 *e) {
        re += w.x;
        im += w.y;
#pragma unroll
        for (int k = 0; k < FR_LAG; k++) {
            const float2 phase = e[k + 1];
            ac[k] += w.x * phase.x;
            bs[k] += w.y * phase.y;
            as[k] += w.x * phase.y;
            bc[k] += w.y * phase.x;
        }
    }
    __device__ __forceinline__ void store(float2 (*to)[FR_COLUMNS], int column) const {
        to[FR_LAG][column] = make_float2(re, im);
        for (int k = 0; k < FR_LAG; k++) {
            to[FR_LAG + 1 + k][column] = make_float2(ac[k] - bs[k], as[k] + bc[k]);
            to[FR_LAG - 1 - k][column] = make_float2(ac[k] + bs[k], bc[k] - as[k]);
        }
    }
};

// A block computes rotation u = x / 2 and quarters x % 2 and x % 2 + 2 of a call. First each thread sums one column i over all
// rows j, for the lags y; then each thread sums lags (x, y) over the columns.
static __global__ void fr_lags(fr_turned in, int64_t first, const float2 *phase) {
    __shared__ float2 line[2][FR_LAGS][FR_COLUMNS];
    __shared__ double tree[32 * 2], norm[2];
    const int u = (int)blockIdx.x / 2, odd = (int)blockIdx.x % 2, t = (int)threadIdx.x;
    const int64_t call = first + blockIdx.y, wide = FR_PAD_TURN * in.side;
    const float2 *big = in.big + blockIdx.y * wide * (wide / 2 + 1);
    const float c = in.turn[2 * u], s = in.turn[2 * u + 1];
    enum { LAGS = FR_LAGS * FR_LAGS, EACH = (2 * LAGS + FR_COLUMNS - 1) / FR_COLUMNS };
    float w[EACH] = {};
    double v[2] = {};
    for (int i0 = 0; i0 < in.outer; i0 += FR_COLUMNS) {
        const int i = i0 + t;
        fr_line_sums sums[2] = {};
        for (int j = 1 - in.outer; j < in.outer; j++) {
            if (!fr_kept(in, i, j)) continue;
            const float2 x = fr_particle_at(in, call, i, j);
            const float2 p = odd ? fr_rotated(big, in.side, c, s, -j, i) : fr_rotated(big, in.side, c, s, i, j);
            const float2 *e = phase + (j + in.outer) * FR_PHASES;
            sums[0].add(fr_conjugate_product(x, p), e);
            sums[1].add(fr_times(x, p), e);
            v[0] += fr_square(p);
            v[1] += fr_square(x);
        }
        __syncthreads();
        sums[0].store(line[0], t);
        sums[1].store(line[1], t);
        __syncthreads();
        const int columns = in.outer - i0 < FR_COLUMNS ? in.outer - i0 : FR_COLUMNS;
        for (int k = 0; k < EACH; k++) {
            const int at = k * FR_COLUMNS + t, lag = at % LAGS, x = lag % FR_LAGS - FR_LAG, y = lag / FR_LAGS;
            if (at >= 2 * LAGS) break;
            for (int column = 0; column < columns; column++) {
                const float2 e = phase[(i0 + column + in.outer) * FR_PHASES + (x < 0 ? -x : x)],
                             sum = line[at / LAGS][y][column];
                const float part = sum.x * e.x - (x < 0 ? -e.y : e.y) * sum.y;
                w[k] += i0 + column ? 2 * part : part;
            }
        }
    }
    fr_block_sum<2>(v, tree);
    if (t == 0) {
        norm[0] = v[0];
        norm[1] = v[1];
    }
    __syncthreads();
    for (int k = 0; k < EACH; k++) {
        const int at = k * FR_COLUMNS + t;
        if (at < 2 * LAGS)
            in.cc[((call * FR_QUARTERS + odd + 2 * (at / LAGS)) * in.turns + u) * LAGS + at % LAGS] =
                fr_normalised(w[k], norm[0], norm[1]);
    }
}

// ---- on the host ---------------------------------------------------------------------------------------------------------

enum { FR_TURNS_AT_ONCE = 16 }; // rotations whose products share a transform call

typedef struct fr_turn_layout {
    fr_layout section;
    int64_t wide, turns; // elements of a padded transform; rotations at a time
    size_t big, product, norm, phase, work, work_bytes, total;
} fr_turn_layout;

static inline fr_turn_layout fr_turn_layout_of(const rg_shape *s, const int64_t *param, int way) {
    const int64_t side = s->n[FR_SIDE], m = side / 2;
    fr_turn_layout l = {};
    l.section = fr_layout_of(s, param, FR_TREE, 1, 0);
    l.total = l.section.total;
    l.wide = fr_stored(FR_PAD_TURN * side);
    l.turns = s->n[FR_TURNS] < FR_TURNS_AT_ONCE ? s->n[FR_TURNS] : (int64_t)FR_TURNS_AT_ONCE;
    const size_t product = (size_t)(FR_QUARTERS * l.turns * m * (m / 2 + 1)) * sizeof(float2);
    const size_t big = (size_t)(l.section.calls * l.wide) * sizeof(float2);
    l.work_bytes = 2 * (way != FR_LIST && product > big ? product : big) + ((size_t)4 << 20);
    l.big = fr_reserve(&l.total, big);
    l.work = fr_reserve(&l.total, l.work_bytes);
    l.norm = fr_reserve(&l.total, (size_t)l.turns * FR_NORMS * sizeof(double));
    if (way == FR_LIST)
        l.phase = fr_reserve(&l.total, (size_t)(2 * s->n[FR_OUTER] * FR_PHASES) * sizeof(float2));
    else
        l.product = fr_reserve(&l.total, product);
    return l;
}

typedef struct fr_turn_plan {
    fr_plan section;
    rg_fft widen, lags;
} fr_turn_plan;

static inline int fr_prepare_turns(rg_call *call, int way, bool texture) {
    const fr_turn_layout l = fr_turn_layout_of(call->shape, call->param, way);
    const int64_t side = call->shape->n[FR_SIDE];
    char *scratch = (char *)call->scratch;
    fr_turn_plan *plan = (fr_turn_plan *)calloc(1, sizeof *plan);
    if (!plan) return RG_E_STATE;
    call->state = plan;
    int error = fr_make_fft(&plan->section.to_image, CUFFT_C2R, side, l.section.calls, scratch + l.section.work,
        l.section.work_bytes, call->stream);
    error = error ? error
                  : fr_make_fft(&plan->widen, CUFFT_R2C, FR_PAD_TURN * side, l.section.calls, scratch + l.work, l.work_bytes,
                        call->stream);
    if (!error && way != FR_LIST)
        error =
            fr_make_fft(&plan->lags, CUFFT_C2R, side / 2, FR_QUARTERS * l.turns, scratch + l.work, l.work_bytes, call->stream);
    if (!error && texture) error = fr_make_texture(&plan->section, side * fr_pad(call->shape->n[FR_KIND]));
    if (error || way != FR_LIST) return error;
    const int64_t outer = call->shape->n[FR_OUTER];
    RG_LAUNCH((fr_phases), fr_blocks(2 * outer * FR_PHASES, 256), 256, 0, call->stream, (int)side, (int)outer,
        (float2 *)(scratch + l.phase));
    return (int)cudaGetLastError();
}

static inline void fr_finish_turns(rg_call *call) {
    fr_turn_plan *plan = (fr_turn_plan *)call->state;
    if (plan) {
        rg_fft_free(&plan->widen);
        rg_fft_free(&plan->lags);
    }
    fr_finish(call); // `section` is the first member
}

// Computes the padded transforms of a pass.
template <int way> static int fr_widen(const fr_steps &s, const fr_turn_plan *plan, bool texture, bool masked, float *big) {
    float *image = (float *)s.image;
    const fr_border_sums border = {image, s.in.side / 2};
    const fr_edge_sums edge = {image, s.in.setting};
    const dim3 block(32, 8), grid(fr_blocks(s.in.side, 32), fr_blocks(s.in.side, 8), s.count);
    const dim3 wide(fr_blocks(FR_PAD_TURN * s.in.side + 2, 32), fr_blocks(FR_PAD_TURN * s.in.side, 8), s.count);
    const float scale = masked ? 1.0f : 1 / ((float)s.in.side * (float)s.in.side);
    int error = fr_sections(s, texture, false);
    error = error ? error : rg_fft_run(&s.plan->to_image, image);
    if (masked) {
        error = error ? error : fr_sum_pixels<way>(s, edge);
        if (error) return error;
        RG_LAUNCH((fr_mask_image), grid, block, 0, s.call->stream, s.in.setting, s.in.side, s.sums, image);
    }
    error = error ? error : fr_sum_pixels<way>(s, border);
    if (error) return error;
    RG_LAUNCH((fr_pad_images), wide, block, 0, s.call->stream, image, s.in.side, scale, s.sums, big);
    error = (int)cudaGetLastError();
    return error ? error : rg_fft_run(&plan->widen, big);
}

// All rotations of one call, l.turns at a time.
template <int way> static int fr_transform_lags(const rg_call *call, const fr_turn_layout &l, fr_turned in, int64_t at) {
    const fr_turn_plan *plan = (const fr_turn_plan *)call->state;
    const int m = in.side / 2;
    const dim3 block(32, 8);
    float2 *product = (float2 *)((char *)call->scratch + l.product);
    double *norm = (double *)((char *)call->scratch + l.norm);
    for (int first = 0; first < in.turns; first += (int)l.turns) {
        const unsigned count = (unsigned)(in.turns - first < l.turns ? in.turns - first : l.turns);
        const dim3 grid(fr_blocks(m / 2 + 1, 32), fr_blocks(m, 8), count);
        int error = RG_OK;
        if (way == FR_ATOMIC)
            error = (int)cudaMemsetAsync(norm, 0, count * FR_NORMS * sizeof(double), (cudaStream_t)call->stream);
        else
            RG_LAUNCH((fr_turn_norms), count, FR_THREADS, 0, call->stream, in, at, first, norm);
        RG_LAUNCH((fr_turn_products<way>), grid, block, 0, call->stream, in, at, first, product, norm);
        error = error ? error : (int)cudaGetLastError();
        error = error ? error : rg_fft_run(&plan->lags, product);
        if (error) return error;
        RG_LAUNCH((fr_pick_lags), dim3(count, FR_QUARTERS), 256, 0, call->stream, in, at, first, (const float *)product, norm);
        error = (int)cudaGetLastError();
        if (error) return error;
    }
    return RG_OK;
}

template <int way> static int fr_turn(const rg_call *call, bool texture) {
    const fr_turn_layout l = fr_turn_layout_of(call->shape, call->param, way);
    const fr_turn_plan *plan = (const fr_turn_plan *)call->state;
    const bool masked = (call->shape->n[FR_KIND] & FR_MASKED) != 0;
    float2 *big = (float2 *)((char *)call->scratch + l.big);
    const float2 *phase = (const float2 *)((char *)call->scratch + l.phase);
    constexpr int sums = way == (int)FR_LIST ? (int)FR_TREE : (int)way;
    fr_steps s = fr_steps_of(call, l.section);
    s.in.inner = 1;
    fr_turned in = {s.in.x, (const float *)call->arg[FR_CCP_TURN], big, (float *)call->arg[FR_CCP_CC], s.in.side, s.in.width,
        s.in.outer, s.in.trials, (int)call->shape->n[FR_TURNS]};
    int error = fr_uploads(texture, call->param) ? fr_upload(call) : RG_OK; // `section` is the first member of the state
    while (!error && fr_next(&s)) {
        error = fr_widen<sums>(s, plan, texture, masked, (float *)big);
        if (!error && way == FR_LIST) {
            RG_LAUNCH((fr_lags), dim3((unsigned)(2 * in.turns), s.count), FR_COLUMNS, 0, call->stream, in, s.first, phase);
            error = (int)cudaGetLastError();
        }
        for (unsigned n = 0; n < s.count && way != FR_LIST && !error; n++) {
            in.big = big + n * l.wide;
            error = fr_transform_lags<way>(call, l, in, s.first + n);
        }
    }
    return error;
}

// Two transforms of a section, one of them padded, and its rotations. Required lags: 60 multiply-adds for each coefficient,
// rotation and pair of quarters. All lags: 2.5 levels of a transform of (N/2)^2 points for each rotation and quarter.
static inline void fr_turn_cost(const rg_shape *s, const int64_t *param, int way, bool texture, rg_cost *c) {
    const double calls = (double)fr_calls(s), wide = (double)(FR_PAD_TURN * s->n[FR_SIDE] * FR_PAD_TURN * s->n[FR_SIDE]);
    const double m2 = (double)(s->n[FR_SIDE] * s->n[FR_SIDE]) / 4, kept = 1.5708 * (double)(s->n[FR_OUTER] * s->n[FR_OUTER]);
    const double lags = way == FR_LIST ? 2 * 60 * kept : FR_QUARTERS * 1.25 * m2 * log2(m2);
    fr_section_cost(s, param, texture, c);
    c->amount[RG_F32_MAD] += calls * (1.25 * wide * log2(wide) + (double)s->n[FR_TURNS] * lags);
    c->amount[RG_MEM_BYTES] += 4.0 * FR_LAGS * FR_LAGS * FR_QUARTERS * (double)s->n[FR_TURNS] * calls;
}

#define FR_TURN(IDEA)                                                                                                          \
    static size_t scratch(const rg_shape *s, const int64_t *param) { return fr_turn_layout_of(s, param, WAY).total; }          \
    static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) { fr_turn_cost(s, param, WAY, TEXTURE, c); }         \
    static int prepare(rg_call *call) { return fr_prepare_turns(call, WAY, TEXTURE); }                                         \
    static int run(rg_call *call) { return fr_turn<WAY>(call, TEXTURE); }                                                      \
    FR_DESCRIPTOR(ccp, IDEA, .param = params, .n_params = RG_COUNT(params), .scratch = scratch, .cost = cost,                  \
        .prepare = prepare, .load = TEXTURE ? fr_load : NULL, .run = run, .finish = fr_finish_turns)

#endif
