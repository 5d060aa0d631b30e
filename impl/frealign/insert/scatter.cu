// SPDX-License-Identifier: MIT
// scatter.cu: pinsert_s:scatter and scatter_v4: the insertion of Li et al. (2010) made safe by atomics, three of 4 bytes per
// node or one of 16.
//
// Bound: 8 nodes a coefficient, three atomics of 4 bytes or one of 16 each in the L2; beyond the L2 the lines of the volume,
// 1.3 nodes of 16 bytes a coefficient in sectors of 32, read and written. Measured: data/machines/h100-16xeon.tsv.
#include "insert.cuh"

struct scalar_atomics {
    float *volume;
    __device__ __forceinline__ void add(int64_t node, fr_terms t) const {
        atomicAdd(&volume[4 * node], t.re);
        atomicAdd(&volume[4 * node + 1], t.im);
        atomicAdd(&volume[4 * node + 2], t.den);
    }
};

struct vector_atomics {
    float4 *volume;
    __device__ __forceinline__ void add(int64_t node, fr_terms t) const {
#if defined(RG_EMULATED) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
        atomicAdd(&volume[node], make_float4(t.re, t.im, t.den, 0.0f));
#else
        (void)node, (void)t;
        __trap(); // needs = "sm_90" prevents the variant from running here
#endif
    }
};

static const int64_t columns_values[] = {8, 16, 32}, samples_values[] = {1, 16, 64, 256, 4096};
enum { COLUMNS, SAMPLES };
static const rg_param params[] = {
    {"columns", columns_values, RG_COUNT(columns_values), 32, "columns of the blocks of 8 rows"},
    {"samples", samples_values, RG_COUNT(samples_values), 256, "particles and operators inserted at the same time"},
};

// Position, phase, weights and products: about 60 operations per coefficient and 8 per node.
static double nodes_of(const rg_shape *s) { return fr_interpolation(s->n[FR_KIND]) == FR_NEAREST ? 1 : 8; }

static void any_cost(const rg_shape *s, rg_cost *c) {
    const double radius = (double)s->n[FR_OUTER], plane = 1.5708 * radius * radius, samples = (double)fr_calls(s);
    const double touched = samples * plane * 4 / 3, all = (double)fr_voxels(s->n[FR_SIDE]);
    c->amount[RG_F32_MAD] = samples * plane * (60 + 8 * nodes_of(s));
    c->amount[RG_MEM_BYTES] = 12 * plane * (double)s->n[FR_PARTICLES] + 32 * (touched < all ? touched : all);
}

static void cost(const rg_shape *s, const int64_t *, rg_cost *c) {
    any_cost(s, c);
    c->amount[RG_ATOMIC] = 3 * nodes_of(s) * 1.5708 * (double)(s->n[FR_OUTER] * s->n[FR_OUTER]) * (double)fr_calls(s);
}

static void cost_v4(const rg_shape *s, const int64_t *, rg_cost *c) {
    any_cost(s, c);
    c->amount[RG_ATOMIC_16B] = nodes_of(s) * 1.5708 * (double)(s->n[FR_OUTER] * s->n[FR_OUTER]) * (double)fr_calls(s);
}

static int run(rg_call *call) {
    const scalar_atomics out = {(float *)call->arg[FR_INSERT_VOLUME]};
    return fr_insert_all(call, call->param[COLUMNS], call->param[SAMPLES], out);
}

// A volume that is not aligned to 16 bytes has no 16-byte words: the same kernel then adds scalars.
static int run_v4(rg_call *call) {
    const vector_atomics out = {(float4 *)call->arg[FR_INSERT_VOLUME]};
    if ((uintptr_t)out.volume % sizeof(float4)) return run(call);
    return fr_insert_all(call, call->param[COLUMNS], call->param[SAMPLES], out);
}

RG_VARIANT(pinsert_s_scatter) = {
    RG_VARIANT_OF("pinsert_s", "scatter", RG_SCATTER, RG_DEVICE, "thread a coefficient, three scalar atomics a node"),
    .needs = "sm_50",
    .flags = RG_UNORDERED,
    RG_PARAMS(params),
    .cost = cost,
    .run = run,
};

RG_VARIANT(pinsert_s_scatter_v4) = {
    RG_VARIANT_OF("pinsert_s", "scatter_v4", RG_SCATTER, RG_DEVICE, "thread a coefficient, one 16-byte atomic a node"),
    .needs = "sm_90",
    .flags = RG_UNORDERED,
    RG_PARAMS(params),
    .cost = cost_v4,
    .run = run_v4,
};
