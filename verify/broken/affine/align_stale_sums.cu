// SPDX-License-Identifier: MIT
// align_stale_sums.cu: finishes before the sums of this call are there: the correlations of the last call, shape or memory.
// Two streams without an event between them do the same, now and then.
#include "../../../impl/affine/bound.h"
#include "../../../impl/affine/sums.cuh"
#include "../plugin.h"

static __global__ void sum_rows(af_memory_2d<AF_EDGE> source, const float *reference, const float *matrix, af_sums *partial)
{
    const int y = (int)blockIdx.x;
    const float *m = matrix + 6 * (int64_t)blockIdx.y;
    const float py = (float)y + af_low(source.h);
    af_sums s = {0, 0, 0, 0, 0, 0};
    for (int x = (int)threadIdx.x; x < source.w; x += AF_FINISH) {
        const float px = (float)x + af_low(source.w);
        int takes_part;
        af_add(&s, source.at(af_row_2d(m, px, py), af_row_2d(m + 3, px, py), &takes_part), reference[y * source.w + x]);
    }
    s = af_block_sum<AF_FINISH>(s);
    if (threadIdx.x == 0) partial[(int64_t)blockIdx.y * gridDim.x + y] = s;
}

static size_t scratch(const rg_shape *s, const int64_t *) { return af_scratch(s->n[AF2_HEIGHT], s->n[AF2_TRANSFORMS]); }
static const char *refuse(const rg_shape *s, const int64_t *)
{
    return s->n[AF2_OUTSIDE] == AF_EDGE ? NULL : "shows what it is to show by the rule `edge`";
}

static int run(rg_call *call)
{
    const af_size z = af_size_2d(call->shape);
    int error = (int)cudaMemsetAsync(af_typicals(call), 0, AF_PARTIAL, (cudaStream_t)call->stream);
    error = error ? error : af_launch_finish(call, 0, z.transforms, z.h);
    if (error) return error;
    RG_LAUNCH(sum_rows, dim3((unsigned)z.h, (unsigned)z.transforms), AF_FINISH, 0, call->stream,
        (af_memory_2d<AF_EDGE>{(const float *)call->arg[AL_IMAGE], z.w, z.h}), (const float *)call->arg[AL_REFERENCE],
        (const float *)call->arg[AL_MATRIX], af_partials(call));
    return (int)cudaGetLastError();
}

BROKEN_PLUGIN("align2d", "align_stale_sums", .refuse = refuse, .scratch = scratch, .run = run);
