// SPDX-License-Identifier: MIT
// affine_texture_exact.cu: interpolation by the texture unit, with its 9-bit shares, passed off as exact: it claims no
// tolerance.
#include "../../../impl/affine/source.cuh"
#include "../plugin.h"

enum { SIDE = 16 };

static __global__ void rotate(af_texture_2d<AF_IGNORE> source, const float *matrix, float *to)
{
    const int x = (int)(blockIdx.x * SIDE + threadIdx.x), y = (int)(blockIdx.y * SIDE + threadIdx.y);
    const float *m = matrix + 6 * (int64_t)blockIdx.z;
    const float px = (float)x + af_low(source.w), py = (float)y + af_low(source.h);
    int takes_part;
    if (x < source.w && y < source.h)
        to[((int64_t)blockIdx.z * source.h + y) * source.w + x] =
            source.at(af_row_2d(m, px, py), af_row_2d(m + 3, px, py), &takes_part);
}

static const char *refuse(const rg_shape *s, const int64_t *)
{
    return s->n[AF2_OUTSIDE] == AF_IGNORE ? NULL : "shows what it is to show by the rule `ignore`";
}

static int run(rg_call *call)
{
    const af_size z = af_size_2d(call->shape);
    const int error = af_texture_copy(call);
    if (error) return error;
    RG_LAUNCH(rotate, dim3(af_blocks(z.w, SIDE), af_blocks(z.h, SIDE), (unsigned)z.transforms), dim3(SIDE, SIDE), 0,
        call->stream, (af_texture_2d<AF_IGNORE>{af_texture_of(call), z.w, z.h}), (const float *)call->arg[AF_MATRIX],
        (float *)call->arg[AF_TRANSFORMED]);
    return (int)cudaGetLastError();
}

BROKEN_PLUGIN("affine2d", "affine_texture_exact", .refuse = refuse, .prepare = af_texture_prepare_2d, .run = run,
    .finish = af_texture_finish);
