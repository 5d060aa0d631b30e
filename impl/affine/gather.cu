// SPDX-License-Identifier: MIT
// affine2d:gather, one tile of the result a block, from a window of the image in shared memory (patch.cuh): as fast at any angle.
//
// Bound for 2048 x 2048: 16.8 MB read and written; 7 us from memory, less from an L2 that holds both. Straight from global memory,
// without the window, patches of 8 x 4 take 16.4 us on an H200 at 0 degrees, 24 at 90 (at_16x16: 23 and 42). Predicted with it: 10.
#include "patch.cuh"

typedef struct problem {
    const float *image, *matrix;
    float *to;
    int w, h, outside;
} problem;

template <int STACK> static __global__ void __launch_bounds__(AF_BLOCK) gather(problem p)
{
    __shared__ float window[AF_WINDOW];
    const float *m = p.matrix + 6 * (int64_t)blockIdx.y;
    const af_window v = af_window_of(m, m + 3, p.w, p.h, AF_PATCH_H * STACK);
    if (v.fits) af_window_fill(v, p.image, p.w, p.h, p.outside, 0, window);
    __syncthreads();
    const af_stack s = af_stack_of<2, STACK>(p.w, p.h, 1);
    const float px = (float)s.x + af_low(p.w), py = (float)s.y + af_low(p.h);
    const float x0 = af_row_2d(m, px, py), y0 = af_row_2d(m + 3, px, py), step_x = AF_PATCH_H * m[1], step_y = AF_PATCH_H * m[4];
    float *to = p.to + (int64_t)blockIdx.y * p.w * p.h + (int64_t)s.y * p.w + s.x;
#pragma unroll
    for (int k = 0; k < STACK; k++) {
        const float x = x0 + (float)k * step_x, y = y0 + (float)k * step_y;
        int takes_part = p.outside != AF_IGNORE || (af_inside(x, af_low(p.w), af_high(p.w)) && af_inside(y, af_low(p.h), af_high(p.h)));
        if (k >= s.n) continue;
        to[(int64_t)k * AF_PATCH_H * p.w] = !v.fits      ? af_sample_2d(p.image, p.w, p.h, p.outside, x, y, &takes_part)
                                            : takes_part ? af_window_at(v, window, x, y)
                                                         : 0;
    }
}

static const char *refuse(const rg_shape *s, const int64_t *) { return af_refuse_many(s->n[AF2_TRANSFORMS]); }

static void cost(const rg_shape *s, const int64_t *, rg_cost *c)
{
    const double image = (double)s->n[AF2_WIDTH] * (double)s->n[AF2_HEIGHT], pixels = image * (double)s->n[AF2_TRANSFORMS];
    c->amount[RG_F32_MAD] = 8 * pixels;
    c->amount[RG_SHARED_BYTES] = 4 * (4 + 1.5) * pixels; // four corners, and the window is half as large again as the tile
    c->amount[RG_MEM_BYTES] = 4 * (image + pixels);
}

template <int STACK> static int launch(const rg_call *call)
{
    const af_size z = af_size_2d(call->shape);
    const problem p = {(const float *)call->arg[AF_IMAGE], (const float *)call->arg[AF_MATRIX], (float *)call->arg[AF_TRANSFORMED],
                       z.w, z.h, z.outside};
    RG_LAUNCH((gather<STACK>), dim3((unsigned)af_stack_blocks(z, STACK), (unsigned)z.transforms), AF_BLOCK, 0, call->stream, p);
    return (int)cudaGetLastError();
}

static int run(rg_call *call) { return call->param[0] == 4 ? launch<4>(call) : launch<8>(call); }

static const int64_t stacks[] = {4, 8};
static const rg_param params[] = {{"stack", stacks, RG_COUNT(stacks), 8, "pixels of a thread, 4 rows apart"}};

RG_VARIANT(affine2d_gather) = {
    RG_ABI, sizeof(rg_variant), "affine2d", "gather", "tiles of 64 x 32 pixels from a window of the image in shared memory",
    RG_GATHER, RG_DEVICE, "sm_50", 0, params, RG_COUNT(params), refuse, NULL, NULL, cost, NULL, run, NULL,
};
