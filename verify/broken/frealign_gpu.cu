// SPDX-License-Identifier: MIT
// frealign_gpu.cu: kernels of `pinsert_s` for GPUs whose threads add to the nodes with a plain +=. Neighbouring coefficients
// add to the same nodes, and of two concurrent additions one is lost.
#include "../../impl/frealign/insert/insert.cuh"
#include "plugin.h"

struct plain_additions {
    float *volume;
    __device__ void add(int64_t node, fr_terms t) const {
        volume[4 * node] += t.re;
        volume[4 * node + 1] += t.im;
        volume[4 * node + 2] += t.den;
    }
};

static int add_plainly(rg_call *call) {
    const plain_additions out = {(float *)call->arg[FR_INSERT_VOLUME]};
    return fr_insert_all(call, 32, 256, out);
}

BROKEN("pinsert_s", frealign_no_atomics, "threads add to the nodes with a plain +=", .run = add_plainly);

// Li et al. (2010): "we avoid data hazard by setting a barrier to prevent the addition operation to be interrupted". A barrier
// before and after every read-add-write only keeps the threads of a block in step: two that add to the same node in the same
// step still lose one addition, and other blocks are not affected by it.
static __global__ void insert_between_barriers(fr_insertion in, int64_t samples, float *volume) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    const int j = row - (int)in.outer, half = (int)in.side / 2;
    const bool here = i <= in.outer && j <= in.outer && 2 * j != -in.side && i * i + j * j <= in.outer * in.outer;
    for (int64_t sample = blockIdx.z; sample < samples; sample += gridDim.z)
        for (int step = 0; step < 16; step++) { // the eight nodes around p, then those around -p
            float p[3] = {0, 0, 0};
            fr_terms t = {0, 0, 0};
            if (here) {
                t = fr_terms_of<false>(in, sample, i, j);
                fr_place(in.pose + sample * FR_POSE_FLOATS, (float)i, (float)j, p);
            }
            const float sign = step < 8 ? 1.0f : -1.0f;
            int at[3];
            float b = 1;
            bool inside = here && (step < 8 || fr_mates(in.side, i, j) == 2);
            for (int a = 0; a < 3; a++) {
                const float q = sign * p[a], low = floorf(q), f = q - low;
                at[a] = (int)low + (step >> a & 1);
                b *= step >> a & 1 ? f : 1 - f;
                inside = inside && at[a] >= (a ? -half : 0) && at[a] <= half;
            }
            float *node = volume + 4 * fr_voxel(in.side, inside ? at[0] : 0, inside ? at[1] : 0, inside ? at[2] : 0);
            __syncthreads();
            if (inside) {
                node[0] += b * t.re;
                node[1] += sign * b * t.im;
                node[2] += b * t.den;
            }
            __syncthreads();
        }
}

static const char *trilinear_only(const rg_shape *s, const int64_t *) {
    return s->n[FR_KIND] == FR_TRILINEAR ? NULL : "trilinear insertion with single weights only";
}

static int add_between_barriers(rg_call *call) {
    const fr_insertion in = fr_insertion_of(call);
    const int64_t samples = call->shape->n[FR_PARTICLES] * call->shape->n[FR_TRIALS];
    const dim3 block(16, 16),
        grid((unsigned)(in.outer / 16 + 1), (unsigned)(2 * in.outer / 16 + 1), (unsigned)(samples < 64 ? samples : 64));
    RG_LAUNCH(insert_between_barriers, grid, block, 0, call->stream, in, samples, (float *)call->arg[FR_INSERT_VOLUME]);
    return (int)cudaGetLastError();
}

BROKEN("pinsert_s", frealign_barrier_only, "no atomics, but a barrier before and after every addition",
    .refuse = trilinear_only, .run = add_between_barriers);
RG_PLUGIN = {&frealign_no_atomics, &frealign_barrier_only, NULL};
