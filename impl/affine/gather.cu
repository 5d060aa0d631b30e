// SPDX-License-Identifier: MIT
// affine2d:gather, one transform from global memory in patches of 8 x 4 pixels a warp (patch.cuh): few lines of the image a load at
// every angle, and no looking at the border where all four corners of a warp's pixels come from inside.
//
// Bound for 2048 x 2048: 16.8 MB read and written; 7 us from memory, less from an L2 that holds both.
#include "patch.cuh"

struct problem {
    const float *image, *matrix;
    float *to;
    int w, h, outside;
};

template <int STACK> static __global__ void __launch_bounds__(AF_BLOCK) gather(problem p)
{
    const unsigned lane = threadIdx.x % 32, index = blockIdx.x * AF_WARPS + threadIdx.x / 32;
    const af_stack s = af_stack_of<2, STACK>(p.w, p.h, 1, index, lane);
    const float *m = p.matrix + 6 * (int64_t)blockIdx.y;
    const float px = (float)s.x + af_low(p.w), py = (float)s.y + af_low(p.h), low_x = af_low(p.w), low_y = af_low(p.h);
    const float x0 = af_row_2d(m, px, py), y0 = af_row_2d(m + 3, px, py), step_x = AF_PATCH_H * m[1], step_y = AF_PATCH_H * m[4];
    const float x1 = x0 + (STACK - 1) * step_x, y1 = y0 + (STACK - 1) * step_y, high_x = af_high(p.w), high_y = af_high(p.h);
    const int inside = s.n == STACK && fminf(x0, x1) >= low_x && fmaxf(x0, x1) < high_x && fminf(y0, y1) >= low_y && fmaxf(y0, y1) < high_y;
    float *to = p.to + (int64_t)blockIdx.y * p.w * p.h + (int64_t)s.y * p.w + s.x;
    if (__all_sync(~0u, inside)) {
        const float *centre = p.image + (int64_t)af_centre(p.h) * p.w + af_centre(p.w);
#pragma unroll
        for (int k = 0; k < STACK; k++)
            to[(int64_t)k * AF_PATCH_H * p.w] = af_read_2d(centre, p.w, x0 + (float)k * step_x, y0 + (float)k * step_y);
        return;
    }
    int takes_part;
    for (int k = 0; k < s.n; k++)
        to[(int64_t)k * AF_PATCH_H * p.w] =
            af_sample_2d(p.image, p.w, p.h, p.outside, x0 + (float)k * step_x, y0 + (float)k * step_y, &takes_part);
}

static const char *refuse(const rg_shape *s, const int64_t *) { return af_refuse_many(s->n[AF2_TRANSFORMS]); }

static void cost(const rg_shape *s, const int64_t *, rg_cost *c)
{
    const double image = (double)s->n[AF2_WIDTH] * (double)s->n[AF2_HEIGHT], pixels = image * (double)s->n[AF2_TRANSFORMS];
    c->amount[RG_F32_MAD] = 8 * pixels;
    c->amount[RG_MEM_BYTES] = 4 * (image + pixels);
}

template <int STACK> static int launch(const rg_call *call)
{
    const af_size z = af_size_2d(call->shape);
    const problem p = {(const float *)call->arg[AF_IMAGE], (const float *)call->arg[AF_MATRIX], (float *)call->arg[AF_TRANSFORMED],
                       z.w, z.h, z.outside};
    RG_LAUNCH((gather<STACK>), dim3(af_blocks(af_stacks(z, STACK), AF_WARPS), (unsigned)z.transforms), AF_BLOCK, 0, call->stream, p);
    return (int)cudaGetLastError();
}

static int run(rg_call *call)
{
    switch (call->param[0]) {
    case 1: return launch<1>(call);
    case 2: return launch<2>(call);
    case 4: return launch<4>(call);
    default: return launch<8>(call);
    }
}

static const int64_t stacks[] = {1, 2, 4, 8};
static const rg_param params[] = {{"stack", stacks, RG_COUNT(stacks), 4, "pixels of a thread, 4 rows apart"}};

RG_VARIANT(affine2d_gather) = {
    RG_ABI, sizeof(rg_variant), "affine2d", "gather", "patches of 8 x 4 pixels a warp from global memory, no border checks inside",
    RG_GATHER, RG_DEVICE, "sm_50", 0, params, RG_COUNT(params), refuse, NULL, NULL, cost, NULL, run, NULL,
};
