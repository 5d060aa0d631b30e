// SPDX-License-Identifier: MIT
// gridding:scatter, the scatter that Strelak et al. 2019 compare with (sec. 4.4): every pixel is added to the voxels within b
// by three scalar atomics: real and imaginary part of G, and W. The kernel is in scatter.cuh. gridding:scatter_v2 has gather's
// atomics: one of 8 bytes for G, one for W.
//
// Bound: atomics in L2, three or two a pair, 28.7 pairs a stored pixel at b = 1.9. Measured:
// data/machines/h100-16xeon.tsv.
#include "scatter.cuh"

template <bool pairs> struct atomics {
    float *g, *w;
    bool aligned; // g is aligned to 8 bytes
    __device__ __forceinline__ void add(int64_t voxel, gr_terms t) const {
        gr_add_to_g(g, pairs && aligned, voxel, t.re, t.im);
        atomicAdd(&w[voxel], t.w);
    }
};

static size_t scratch(const rg_shape *, const int64_t *) { return gr_table_bytes(); }

template <bool pairs> static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    gr_scatter_cost(s, param, 24, c); // cleared, and read and written once
    c->amount[RG_ATOMIC] = (pairs ? 2 : 3) * gr_pairs(s);
}

template <bool pairs> static int run(rg_call *call) {
    const atomics<pairs> out = {
        (float *)call->arg[GR_G], (float *)call->arg[GR_W], (uintptr_t)call->arg[GR_G] % sizeof(float2) == 0};
    return gr_scatter_launch(call, out);
}

#define GR_SCATTER(NAME, IDEA, NEEDS, PAIRS)                                                                                   \
    {                                                                                                                          \
        RG_VARIANT_OF("gridding", NAME, RG_SCATTER, RG_DEVICE, IDEA),                                                          \
            .needs = NEEDS, .flags = RG_UNORDERED, .param = gr_s_params, .n_params = GR_S_PARAMS, .refuse = gr_scatter_refuse, \
            .scratch = scratch, .tolerance = gr_scatter_tolerance, .cost = cost<PAIRS>, .prepare = gr_prepare_table,           \
            .clear = gr_clear_volumes, .run = run<PAIRS>,                                                                      \
    }

RG_VARIANT(gridding_scatter) = GR_SCATTER(
    "scatter", "thread per pixel, three scalar atomics for every voxel within b", "sm_50", false);
RG_VARIANT(gridding_scatter_v2) = GR_SCATTER("scatter_v2", "scatter with an 8-byte atomic for G and one for W", "sm_90", true);
