// SPDX-License-Identifier: MIT
// autocorr:scatter, the simple CUDA of Lu et al. 2009, sec. 4.3: one thread an offset, the photograph in texture memory, two
// loops over its pixels; no symmetry, no shared memory. Each product costs two texture fetches, which are the bound. The only
// change from the paper is the 64-bit sum.
//
// A texture needs an aligned base and pitch, which arguments may lack: run copies them to scratch first.
// Measured: data/machines/h100-16xeon.tsv.
#include "index.h"
#include "../gpu/texture.cuh"

#include <stdlib.h>

template <class pixel>
static __global__ void scatter(cudaTextureObject_t a, cudaTextureObject_t b, int width, int height, int64_t r, int64_t *sums) {
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= ac_side(r) * ac_side(r)) return;
    int x0 = (int)ac_x0(r, e), y0 = (int)ac_y0(r, e);
    int first = (int)ac_first(x0), past = (int)ac_past(width, x0), last_y = (int)ac_past(height, y0);
    unsigned long long sum = 0;
    for (int y = (int)ac_first(y0); y < last_y; y++)
        for (int x = first; x < past; x++)
            sum += (unsigned)tex2D<pixel>(a, (float)x, (float)y) * (unsigned)tex2D<pixel>(b, (float)(x - x0), (float)(y - y0));
    sums[e] = (int64_t)sum;
}

// Limits of a texture over linear memory on all GPUs since compute capability 5.0.
enum { BASE_STEP = 512, PITCH_STEP = 32, WIDTH_MAX = 131072, HEIGHT_MAX = 65000, PITCH_MAX = 2097120 };

typedef struct textures {
    rg_texture of[2]; // the second is b, or a again
    unsigned char *copy[2];
} textures;

static size_t pixel_bytes(const rg_shape *s) { return s->n[AC_KIND] & AC_16BIT ? 2 : 1; }
static size_t pitch(const rg_shape *s) {
    return ((size_t)s->n[AC_WIDTH] * pixel_bytes(s) + PITCH_STEP - 1) / PITCH_STEP * PITCH_STEP;
}
static size_t copy_bytes(const rg_shape *s) {
    return (pitch(s) * (size_t)s->n[AC_HEIGHT] + BASE_STEP - 1) / BASE_STEP * BASE_STEP;
}
static int photos(const rg_shape *s) { return s->n[AC_KIND] & AC_CROSS ? 2 : 1; }

static const char *refuse(const rg_shape *s, const int64_t *) {
    if (s->n[AC_WIDTH] > WIDTH_MAX || s->n[AC_HEIGHT] > HEIGHT_MAX)
        return "a texture over linear memory has at most 131,072 x 65,000 pixels";
    return NULL;
}

static size_t scratch(const rg_shape *s, const int64_t *) { return BASE_STEP + copy_bytes(s) * (size_t)photos(s); }

static void cost(const rg_shape *s, const int64_t *, rg_cost *c) {
    double pairs = (double)ac_overlaps(s->n[AC_WIDTH], s->n[AC_R]) * (double)ac_overlaps(s->n[AC_HEIGHT], s->n[AC_R]);
    c->amount[RG_TEXTURE] = 2 * pairs;
    c->amount[RG_I32_MAD] = pairs;
    double sums = (double)ac_side(s->n[AC_R]) * (double)ac_side(s->n[AC_R]);
    c->amount[RG_MEM_BYTES] = 3.0 * (double)copy_bytes(s) * photos(s) + 8.0 * sums;
}

static int prepare(rg_call *call) {
    textures *t = (textures *)calloc(1, sizeof *t);
    if (!t) return RG_E_STATE;
    call->state = t;
    unsigned char *base = (unsigned char *)(((uintptr_t)call->scratch + BASE_STEP - 1) / BASE_STEP * BASE_STEP);
    for (int i = 0; i < photos(call->shape); i++) {
        t->copy[i] = base + (size_t)i * copy_bytes(call->shape);
        const int bits = 8 * (int)pixel_bytes(call->shape);
        const cudaChannelFormatDesc texel = cudaCreateChannelDesc(bits, 0, 0, 0, cudaChannelFormatKindUnsigned);
        const int error = rg_texture_rows(
            &t->of[i], t->copy[i], texel, call->shape->n[AC_WIDTH], call->shape->n[AC_HEIGHT], pitch(call->shape));
        if (error) return error;
    }
    if (photos(call->shape) == 1) t->of[1] = t->of[0];
    return RG_OK;
}

static int run(rg_call *call) {
    const rg_shape *s = call->shape;
    const textures *t = (const textures *)call->state;
    size_t line = (size_t)s->n[AC_WIDTH] * pixel_bytes(s);
    for (int i = 0; i < photos(s); i++) {
        int error = (int)cudaMemcpy2DAsync(t->copy[i], pitch(s), call->arg[i], line, line, (size_t)s->n[AC_HEIGHT],
            cudaMemcpyDeviceToDevice, (cudaStream_t)call->stream);
        if (error) return error;
    }
    int64_t r = s->n[AC_R], offsets = ac_side(r) * ac_side(r);
    unsigned block = (unsigned)call->param[0];
    int width = (int)s->n[AC_WIDTH], height = (int)s->n[AC_HEIGHT];
    unsigned grid = (unsigned)((offsets + block - 1) / block);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    const cudaTextureObject_t a = t->of[0].object, b = t->of[1].object;
    if (pixel_bytes(s) == 2)
        RG_LAUNCH((scatter<unsigned short>), grid, block, 0, call->stream, a, b, width, height, r, sums);
    else
        RG_LAUNCH((scatter<unsigned char>), grid, block, 0, call->stream, a, b, width, height, r, sums);
    return (int)cudaGetLastError();
}

static void finish(rg_call *call) {
    textures *t = (textures *)call->state;
    for (int i = 0; t && i < photos(call->shape); i++) rg_texture_free(&t->of[i]);
    free(t);
    call->state = NULL;
}

static const int64_t blocks[] = {64, 128, 256, 512};
static const rg_param params[] = {{"block", blocks, RG_COUNT(blocks), 128, "threads a block, one offset each"}};

RG_VARIANT(autocorr_scatter) = {
    RG_VARIANT_OF(
        "autocorr", "scatter", RG_SCATTER, RG_DEVICE, "thread per offset, photograph in texture memory, two loops over pixels"),
    .needs = "sm_50",
    RG_PARAMS(params),
    .refuse = refuse,
    .scratch = scratch,
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .finish = finish,
};
