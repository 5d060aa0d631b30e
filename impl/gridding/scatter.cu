// SPDX-License-Identifier: MIT
// gridding:scatter, the scatter that Strelak et al. 2019 compare with (sec. 4.4): every pixel adds itself to the voxels
// within b by three scalar atomics, real and imaginary part of G and W. The kernel is in scatter.cuh.
//
// Bound: atomics in L2, three a pair, 28.7 pairs a stored pixel at b = 1.9. Measured: data/machines/h200-16xeon.gridding.tsv.
#include "scatter.cuh"

struct scalar_atomics {
    float *g, *w;
    __device__ __forceinline__ void add(int64_t voxel, gr_terms t) const
    {
        atomicAdd(&g[2 * voxel], t.re);
        atomicAdd(&g[2 * voxel + 1], t.im);
        atomicAdd(&w[voxel], t.w);
    }
};

static size_t scratch(const rg_shape *, const int64_t *) { return gr_table_bytes(); }

static void cost(const rg_shape *s, const int64_t *param, rg_cost *c)
{
    gr_scatter_cost(s, param, 24, c); // cleared, and read and written once
    c->amount[RG_ATOMIC] = 3 * gr_pairs(s);
}

static int run(rg_call *call)
{
    const size_t voxels = (size_t)gr_voxels(gr_k(call->shape->n[GR_SIDE]));
    const scalar_atomics out = {(float *)call->arg[GR_G], (float *)call->arg[GR_W]};
    int error = (int)cudaMemsetAsync(out.g, 0, 8 * voxels, (cudaStream_t)call->stream);
    error = error ? error : (int)cudaMemsetAsync(out.w, 0, 4 * voxels, (cudaStream_t)call->stream);
    return error ? error : gr_scatter_launch(call, out);
}

RG_VARIANT(gridding_scatter) = {
    .abi = RG_ABI,
    .bytes = sizeof(rg_variant),
    .algo = "gridding",
    .name = "scatter",
    .idea = "thread per pixel, three scalar atomics for every voxel within b",
    .role = RG_SCATTER,
    .space = RG_DEVICE,
    .needs = "sm_50",
    .flags = RG_UNORDERED,
    .param = gr_s_params,
    .n_params = GR_S_PARAMS,
    .refuse = gr_scatter_refuse,
    .scratch = scratch,
    .tolerance = gr_scatter_tolerance,
    .cost = cost,
    .prepare = gr_prepare_table,
    .run = run,
};
