// SPDX-License-Identifier: MIT
// gridding_gpu.cu: scatter whose threads add to the voxels with a plain +=, as the CUDA of some programs does. Neighbouring
// pixels add to the same voxels, and of two concurrent additions one is lost; G / W hides most of it.
#include "../../impl/gridding/scatter.cuh"
#include "plugin.h"

struct plain_additions {
    float *g, *w;
    __device__ void add(int64_t voxel, gr_terms t) const {
        g[2 * voxel] += t.re;
        g[2 * voxel + 1] += t.im;
        w[voxel] += t.w;
    }
};

enum { BLOCK = 16 };

static int run(rg_call *call) {
    const gr_input in = gr_input_of(call);
    const size_t voxels = (size_t)gr_voxels(in.k);
    const plain_additions out = {(float *)call->arg[GR_G], (float *)call->arg[GR_W]};
    const dim3 grid(gr_blocks(in.k + 1, BLOCK), gr_blocks(2 * in.k + 1, BLOCK));
    int error = (int)cudaMemsetAsync(out.g, 0, 8 * voxels, (cudaStream_t)call->stream);
    error = error ? error : (int)cudaMemsetAsync(out.w, 0, 4 * voxels, (cudaStream_t)call->stream);
    if (error) return error;
    RG_LAUNCH(
        (gr_scatter<GR_SQUARES, plain_additions>), grid, dim3(BLOCK, BLOCK), 0, call->stream, in, (const float *)NULL, 1, out);
    return (int)cudaGetLastError();
}

BROKEN("gridding", gridding_no_atomics, "threads add to the voxels with a plain +=", .run = run);
RG_PLUGIN = {&gridding_no_atomics, NULL};
