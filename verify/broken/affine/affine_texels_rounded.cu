// SPDX-License-Identifier: MIT
// affine_texels_rounded.cu: the four neighbours of s fetched at s itself, which the texture unit rounds to 1/256 first: just
// below a pixel it takes the next four, for which the exact shares are wrong.
#include "../../../impl/affine/source.cuh"
#include "../plugin.h"

enum { SIDE = 16 };

static __global__ void rotate(cudaTextureObject_t image, int w, int h, const float *matrix, float *to)
{
    const int x = (int)(blockIdx.x * SIDE + threadIdx.x), y = (int)(blockIdx.y * SIDE + threadIdx.y);
    const float *m = matrix + 6 * (int64_t)blockIdx.z, px = (float)x + af_low(w), py = (float)y + af_low(h);
    if (x >= w || y >= h) return;
    const float sx = fminf(fmaxf(af_row_2d(m, px, py), af_low(w)), af_high(w)) - af_low(w);
    const float sy = fminf(fmaxf(af_row_2d(m + 3, px, py), af_low(h)), af_high(h)) - af_low(h);
    const float4 four = tex2Dgather<float4>(image, sx + 0.5f, sy + 0.5f);
    const float share = sx - floorf(sx);
    to[((int64_t)blockIdx.z * h + y) * w + x] =
        af_between(af_between(four.w, four.z, share), af_between(four.x, four.y, share), sy - floorf(sy));
}

static const char *refuse(const rg_shape *s, const int64_t *)
{
    return s->n[AF2_OUTSIDE] == AF_EDGE ? NULL : "shows what it is to show by the rule `edge`";
}

static int prepare(rg_call *call)
{
    const af_size z = af_size_2d(call->shape);
    const cudaChannelFormatDesc kind = cudaCreateChannelDesc<float>();
    rg_texture *t = (rg_texture *)calloc(1, sizeof *t);
    if (!t) return RG_E_STATE;
    call->state = t;
    t->n[0] = (size_t)z.w, t->n[1] = (size_t)z.h, t->texel = sizeof(float);
    const int error = (int)cudaMallocArray(&t->array, &kind, t->n[0], t->n[1], cudaArrayTextureGather);
    cudaResourceDesc from = {};
    from.resType = cudaResourceTypeArray;
    from.res.array.array = t->array;
    return error ? error : rg_texture_of(t, &from, cudaAddressModeClamp, cudaFilterModeLinear);
}

static int run(rg_call *call)
{
    const af_size z = af_size_2d(call->shape);
    const int error = af_texture_copy(call);
    if (error) return error;
    RG_LAUNCH(rotate, dim3(af_blocks(z.w, SIDE), af_blocks(z.h, SIDE), (unsigned)z.transforms), dim3(SIDE, SIDE), 0,
        call->stream, af_texture_of(call), z.w, z.h, (const float *)call->arg[AF_MATRIX], (float *)call->arg[AF_TRANSFORMED]);
    return (int)cudaGetLastError();
}

BROKEN_PLUGIN(
    "affine2d", "affine_texels_rounded", .refuse = refuse, .prepare = prepare, .run = run, .finish = af_texture_finish);
