// SPDX-License-Identifier: MIT
// gridding:scatter_v4: scatter with one atomic a voxel instead of three. G and W are interleaved in scratch, 16 bytes a voxel,
// so that a vector atomic of sm_90 adds both; a second kernel splits them into the outputs.
//
// Bound: 16-byte atomics in L2, one a pair, 28.7 pairs a stored pixel at b = 1.9. The last pass moves 28 bytes a voxel, which
// matters with few images. Measured: data/machines/h100-16xeon.tsv.
#include "scatter.cuh"

struct vector_atomics {
    float4 *voxels;
    __device__ __forceinline__ void add(int64_t voxel, gr_terms t) const {
#if defined(RG_EMULATED) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
        atomicAdd(&voxels[voxel], make_float4(t.re, t.im, t.w, 0.0f));
#else
        (void)voxel, (void)t;
        __trap(); // not reached: needs = "sm_90"
#endif
    }
};

static __global__ void divide(const float4 *voxels, int64_t n, float *g, float *w) {
    const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n) return;
    const float4 v = voxels[e];
    g[2 * e] = v.x;
    g[2 * e + 1] = v.y;
    w[e] = v.z;
}

static size_t scratch(const rg_shape *s, const int64_t *) {
    return gr_table_bytes() + sizeof(float4) * (size_t)gr_voxels(gr_k(s->n[GR_SIDE]));
}

static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    gr_scatter_cost(s, param, 16 + 16 + 16 + 28, c); // cleared, read and written once; split
    c->amount[RG_ATOMIC_16B] = gr_pairs(s);
}

static int run(rg_call *call) {
    const int64_t voxels = gr_voxels(gr_k(call->shape->n[GR_SIDE]));
    const vector_atomics out = {(float4 *)((unsigned char *)call->scratch + gr_table_bytes())};
    int error = (int)cudaMemsetAsync(out.voxels, 0, sizeof(float4) * (size_t)voxels, (cudaStream_t)call->stream);
    error = error ? error : gr_scatter_launch(call, out);
    if (error) return error;
    RG_LAUNCH(divide, gr_blocks(voxels, 256), 256, 0, call->stream, (const float4 *)out.voxels, voxels,
        (float *)call->arg[GR_G], (float *)call->arg[GR_W]);
    return (int)cudaGetLastError();
}

RG_VARIANT(gridding_scatter_v4) = {
    RG_VARIANT_OF(
        "gridding", "scatter_v4", RG_SCATTER, RG_DEVICE, "scatter with one 16-byte vector atomic a voxel, then G and W apart"),
    .needs = "sm_90",
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
