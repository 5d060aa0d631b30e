// SPDX-License-Identifier: MIT
// affine_gpu.cu: kernels of `affine2d` and `align2d` for GPUs that are wrong on purpose, one for each rule outside the image.
#include "../../impl/affine/bound.h"
#include "../../impl/affine/source.cuh"
#include "../../impl/affine/sums.cuh"
#include "plugin.h"

enum { SIDE = 16 };

static const char *edge_only(const rg_shape *s, const int64_t *) {
    return s->n[AF2_OUTSIDE] == AF_EDGE ? NULL : "shows what it is to show by the rule `edge`";
}

static const char *ignore_only(const rg_shape *s, const int64_t *) {
    return s->n[AF2_OUTSIDE] == AF_IGNORE ? NULL : "shows what it is to show by the rule `ignore`";
}

// ---- textures --------------------------------------------------------------------------------------------------------------

// The texture unit rounds s to 1/256: just below a pixel it reads the next four, whose exact weights are wrong.
static __global__ void gathered(cudaTextureObject_t image, int w, int h, const float *matrix, float *to) {
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

static __global__ void interpolated(af_texture_2d<AF_IGNORE> source, const float *matrix, float *to) {
    const int x = (int)(blockIdx.x * SIDE + threadIdx.x), y = (int)(blockIdx.y * SIDE + threadIdx.y);
    const float *m = matrix + 6 * (int64_t)blockIdx.z;
    const float px = (float)x + af_low(source.w), py = (float)y + af_low(source.h);
    int takes_part;
    if (x < source.w && y < source.h)
        to[((int64_t)blockIdx.z * source.h + y) * source.w + x] =
            source.at(af_row_2d(m, px, py), af_row_2d(m + 3, px, py), &takes_part);
}

static int prepare_gather(rg_call *call) {
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

template <bool GATHER> static int run(rg_call *call) {
    const af_size z = af_size_2d(call->shape);
    const dim3 grid(af_blocks(z.w, SIDE), af_blocks(z.h, SIDE), (unsigned)z.transforms), block(SIDE, SIDE);
    const float *matrix = (const float *)call->arg[AF_MATRIX];
    float *to = (float *)call->arg[AF_TRANSFORMED];
    const int error = af_texture_copy(call);
    if (error) return error;
    if constexpr (GATHER)
        RG_LAUNCH(gathered, grid, block, 0, call->stream, af_texture_of(call), z.w, z.h, matrix, to);
    else
        RG_LAUNCH(
            interpolated, grid, block, 0, call->stream, (af_texture_2d<AF_IGNORE>{af_texture_of(call), z.w, z.h}), matrix, to);
    return (int)cudaGetLastError();
}

BROKEN("affine2d", affine_texels_rounded, "the four neighbours of s fetched at s itself", .refuse = edge_only,
    .prepare = prepare_gather, .run = run<true>, .finish = af_texture_finish);
BROKEN("affine2d", affine_texture_exact, "interpolation by the texture unit, with its 9-bit shares, passed off as exact",
    .refuse = ignore_only, .prepare = af_texture_prepare_2d, .run = run<false>, .finish = af_texture_finish);

// ---- sums ------------------------------------------------------------------------------------------------------------------

static __global__ void sum_rows(af_memory_2d<AF_EDGE> source, const float *reference, const float *matrix, af_sums *partial) {
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

static size_t partial_sums(const rg_shape *s, const int64_t *) { return af_scratch(s->n[AF2_HEIGHT], s->n[AF2_TRANSFORMS]); }

// Returns the correlations of the last call. Two streams without an event between them do the same now and then.
static int finish_first(rg_call *call) {
    const af_size z = af_size_2d(call->shape);
    int error = (int)cudaMemsetAsync(af_typicals(call), 0, AF_PARTIAL, (cudaStream_t)call->stream);
    error = error ? error : af_launch_finish(call, 0, z.transforms, z.h);
    if (error) return error;
    RG_LAUNCH(sum_rows, dim3((unsigned)z.h, (unsigned)z.transforms), AF_FINISH, 0, call->stream,
        (af_memory_2d<AF_EDGE>{(const float *)call->arg[AL_IMAGE], z.w, z.h}), (const float *)call->arg[AL_REFERENCE],
        (const float *)call->arg[AL_MATRIX], af_partials(call));
    return (int)cudaGetLastError();
}

BROKEN("align2d", align_stale_sums, "finishes before the sums of this call are there", .refuse = edge_only,
    .scratch = partial_sums, .run = finish_first);

RG_PLUGIN = {&affine_texels_rounded, &affine_texture_exact, &align_stale_sums, NULL};
