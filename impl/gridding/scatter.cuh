// SPDX-License-Identifier: MIT
// scatter.cuh: the kernel of scatter, scatter_v2 and scatter_v4: Algorithm 1 of Strelak et al. 2019 with the tuning parameters
// of their sec. 4.4.
//
// One thread for each stored pixel, for every GRID_DIM_Z-th sample: it places the pixel in the volume and walks over the voxels
// within b. The mate of the pixel reaches the mates of these voxels with the same weights, so one walk is enough: voxels with
// x >= 0 get the pixel, the mates of those with x <= 0 its conjugate. The sink defines how to add to a voxel.
#ifndef RG_GRIDDING_SCATTER_CUH
#define RG_GRIDDING_SCATTER_CUH

#include "insert.cuh"

static __device__ __forceinline__ gr_terms gr_times(gr_terms t, float weight, float sign) {
    gr_terms product = {weight * t.re, sign * weight * t.im, weight * t.w};
    return product;
}

template <int way, class sink>
static __device__ __forceinline__ void gr_spread(
    const gr_input &in, const float *table, gr_terms t, const float r[3], bool mate, sink out) {
    const int first_x = gr_first(r[0], in.b, mate ? -in.k : 0), last_x = gr_last(r[0], in.b, in.k);
    const int last_y = gr_last(r[1], in.b, in.k), last_z = gr_last(r[2], in.b, in.k);
    for (int z = gr_first(r[2], in.b, -in.k); z <= last_z; z++)
        for (int y = gr_first(r[1], in.b, -in.k); y <= last_y; y++) {
            const float dz = (float)z - r[2], dy = (float)y - r[1], dd = dz * dz + dy * dy;
            for (int x = first_x; x <= last_x; x++) {
                const float dx = (float)x - r[0], q = in.top - (dd + dx * dx) * in.per_bb;
                if (q < in.edge) continue;
                const float w = gr_weight_of<way>(table, q);
                if (x >= 0) out.add(gr_voxel(in.k, x, y, z), gr_times(t, w, 1.0f));
                if (x <= 0 && mate) out.add(gr_voxel(in.k, -x, -y, -z), gr_times(t, w, -1.0f));
            }
        }
}

template <int way, class sink> static __global__ void gr_scatter(gr_input in, const float *global_table, int tile, sink out) {
    __shared__ float copy[way == GR_SHARED_TABLE ? GR_TABLE : 1];
    const float *table = gr_block_table<way>(global_table, copy);
    const int2 at = gr_tiled(tile);
    const int x = (int)(blockIdx.x * blockDim.x) + at.x, y = (int)(blockIdx.y * blockDim.y) + at.y - in.k;
    if (x > in.k || y > in.k || !gr_in_circle(in.k, x, y)) return;
    for (int s = (int)blockIdx.z; s < in.samples; s += (int)gridDim.z) {
        const gr_sample sample = gr_sample_of(in, s);
        float r[3];
        gr_place(sample.rotation, (float)x, (float)y, r);
        gr_spread<way>(in, table, gr_terms_of(sample, (int)gr_pixel(in.k, x, y)), r, x > 0, out);
    }
}

// ---- parameters ----------------------------------------------------------------------------------------------------------

enum { GR_S_BLOCK, GR_S_GRID_Z, GR_S_PRECOMP, GR_S_SHARED, GR_S_TILE, GR_S_PARAMS };
static const int64_t gr_s_block[] = {8, 12, 16, 20, 24, 28, 32}, gr_s_grid_z[] = {1, 4, 8, 16, 32}, gr_s_flag[] = {0, 1},
                     gr_s_tile[] = {1, 2, 4, 8};
static const rg_param gr_s_params[GR_S_PARAMS] = {
    {"BLOCK_DIM", gr_s_block, RG_COUNT(gr_s_block), 32, "side of the square blocks, in pixels"},
    {"GRID_DIM_Z", gr_s_grid_z, RG_COUNT(gr_s_grid_z), 16, "samples inserted at the same time"},
    {"PRECOMP_INT", gr_precomp, RG_COUNT(gr_precomp), GR_SQUARES, GR_PRECOMP_DOC},
    {"SHARED_INT", gr_s_flag, RG_COUNT(gr_s_flag), 0, "the table in shared memory (1); only if PRECOMP_INT is 1"},
    {"TILE_SIZE", gr_s_tile, RG_COUNT(gr_s_tile), 4, "columns of the tiles that threads form; divides BLOCK_DIM"},
};

static inline const char *gr_scatter_refuse(const rg_shape *s, const int64_t *param) {
    if (param[GR_S_SHARED] && param[GR_S_PRECOMP] != GR_GLOBAL_TABLE) return "SHARED_INT=1 needs PRECOMP_INT=1";
    if (param[GR_S_BLOCK] % param[GR_S_TILE]) return "TILE_SIZE must divide BLOCK_DIM";
    return gr_samples_refuse(s);
}

static inline rg_tolerance gr_scatter_tolerance(const rg_shape *s, const int64_t *param) {
    return gr_tolerance(s, param[GR_S_PRECOMP]);
}

static inline void gr_scatter_cost(const rg_shape *s, const int64_t *param, double voxel_bytes, rg_cost *c) {
    c->amount[RG_F32_MAD] = gr_pairs(s) * gr_pair_mads(param[GR_S_PRECOMP]);
    c->amount[RG_SHARED_BYTES] = param[GR_S_SHARED] ? 4 * gr_pairs(s) : 0;
    c->amount[RG_MEM_BYTES] = gr_input_bytes(s) + voxel_bytes * (double)gr_voxels(gr_k(s->n[GR_SIDE]));
}

template <class sink> static int gr_scatter_launch(const rg_call *call, sink out) {
    const int64_t *p = call->param;
    const gr_input in = gr_weighted_input_of(call, p[GR_S_PRECOMP]);
    const dim3 block((unsigned)p[GR_S_BLOCK], (unsigned)p[GR_S_BLOCK]);
    const dim3 grid(gr_blocks(in.k + 1, p[GR_S_BLOCK]), gr_blocks(2 * in.k + 1, p[GR_S_BLOCK]), (unsigned)p[GR_S_GRID_Z]);
    const float *table = (const float *)call->scratch;
    const int tile = (int)p[GR_S_TILE];
    if (p[GR_S_SHARED])
        RG_LAUNCH((gr_scatter<GR_SHARED_TABLE, sink>), grid, block, 0, call->stream, in, table, tile, out);
    else if (p[GR_S_PRECOMP] == GR_GLOBAL_TABLE)
        RG_LAUNCH((gr_scatter<GR_GLOBAL_TABLE, sink>), grid, block, 0, call->stream, in, table, tile, out);
    else if (p[GR_S_PRECOMP] == GR_RATIONAL)
        RG_LAUNCH((gr_scatter<GR_RATIONAL, sink>), grid, block, 0, call->stream, in, table, tile, out);
    else
        RG_LAUNCH((gr_scatter<GR_SQUARES, sink>), grid, block, 0, call->stream, in, table, tile, out);
    return (int)cudaGetLastError();
}

#endif
