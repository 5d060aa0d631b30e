// SPDX-License-Identifier: MIT
// affine2d:scatter, forward mapping: a thread an input pixel q, which adds its share to every result pixel that interpolates
// from it: those p with |s(p) - q| < 1 along both axes. They lie in a parallelogram around the image of q under M^-1.
//
// The pairs and shares are those of the gather, so the result is right. Plain forward mapping, which gives a pixel's value to
// the four results around its image, is a different function: no interpolation of I, with holes where M^-1 stretches. Even so
// scatter costs more: an inverse, a search of the parallelogram's box (4 to 16 candidates a pixel), clearing, and four float
// atomics a result pixel, in an order that differs from run to run. It cannot do rule 1: the border would be added to all
// pixels outside.
//
// Bound: 4 atomics a pixel in L2, 1.7e7 for 2048 x 2048.
#include "source.cuh"

enum { BLOCK_W = 32, BLOCK_H = 8 };

struct problem {
    const float *image, *matrix;
    float *to;
    int w, h, outside;
};

// First and last result pixel along an axis whose source may lie within 1 of the input pixel: `around` its image, `reach` away.
static __device__ __forceinline__ void window(double around, double reach, int side, int *first, int *last) {
    const double low = around - reach, high = around + reach, end = side - 1;
    *first = low > 0 ? low < end ? (int)low : side : 0;
    *last = high < end ? high > 0 ? (int)high : -1 : side - 1;
}

static __device__ __forceinline__ void give(
    const problem &p, const float *m, int px, int py, float qx, float qy, float value, float *to) {
    const float x = (float)px + af_low(p.w), y = (float)py + af_low(p.h);
    float sx = af_row_2d(m, x, y), sy = af_row_2d(m + 3, x, y);
    if (p.outside == AF_IGNORE) { // then s is clamped
        if (!af_inside(sx, af_low(p.w), af_high(p.w)) || !af_inside(sy, af_low(p.h), af_high(p.h))) return;
        sx = fminf(fmaxf(sx, af_low(p.w)), af_high(p.w));
        sy = fminf(fmaxf(sy, af_low(p.h)), af_high(p.h));
    }
    const float share_x = 1 - fabsf(sx - qx), share_y = 1 - fabsf(sy - qy);
    if (share_x > 0 && share_y > 0) atomicAdd(&to[(int64_t)py * p.w + px], share_x * share_y * value);
}

static __global__ void scatter(problem p) {
    const int x = (int)(blockIdx.x * BLOCK_W + threadIdx.x), y = (int)(blockIdx.y * BLOCK_H + threadIdx.y);
    const float *m = p.matrix + 6 * (int64_t)blockIdx.z;
    float *to = p.to + (int64_t)blockIdx.z * p.w * p.h;
    double back[6];
    if (x >= p.w || y >= p.h) return;
    const float qx = (float)x + af_low(p.w), qy = (float)y + af_low(p.h), value = p.image[(int64_t)y * p.w + x];
    if (!af_inverse_2d(m, back)) { // no forward map exists: the thread gathers its pixel
        int takes_part;
        to[(int64_t)y * p.w + x] =
            af_sample_2d(p.image, p.w, p.h, p.outside, af_row_2d(m, qx, qy), af_row_2d(m + 3, qx, qy), &takes_part);
        return;
    }
    const double more = 1.05; // rounding of s, and the margin of rule 2
    int x0, x1, y0, y1;
    window(back[0] * qx + back[1] * qy + back[2] + af_centre(p.w), more * (fabs(back[0]) + fabs(back[1])), p.w, &x0, &x1);
    window(back[3] * qx + back[4] * qy + back[5] + af_centre(p.h), more * (fabs(back[3]) + fabs(back[4])), p.h, &y0, &y1);
    for (int py = y0; py <= y1; py++)
        for (int px = x0; px <= x1; px++) give(p, m, px, py, qx, qy, value, to);
}

static const char *refuse(const rg_shape *s, const int64_t *) {
    if (s->n[AF2_OUTSIDE] == AF_EDGE)
        return "scattering cannot continue the edge: border pixels would go to all that lies outside";
    return af_refuse_many(s->n[AF2_TRANSFORMS]);
}

static void cost(const rg_shape *s, const int64_t *, rg_cost *c) {
    const double image = (double)s->n[AF2_WIDTH] * (double)s->n[AF2_HEIGHT], pixels = image * (double)s->n[AF2_TRANSFORMS];
    c->amount[RG_ATOMIC] = 4 * pixels;
    c->amount[RG_MEM_BYTES] = 4 * image + 8 * pixels;
}

static int run(rg_call *call) {
    const af_size z = af_size_2d(call->shape);
    const problem p = {(const float *)call->arg[AF_IMAGE], (const float *)call->arg[AF_MATRIX],
        (float *)call->arg[AF_TRANSFORMED], z.w, z.h, z.outside};
    const int error =
        (int)cudaMemsetAsync(p.to, 0, (size_t)(af_pixels(&z) * z.transforms) * sizeof *p.to, (cudaStream_t)call->stream);
    if (error) return error;
    RG_LAUNCH(scatter, dim3(af_blocks(z.w, BLOCK_W), af_blocks(z.h, BLOCK_H), (unsigned)z.transforms), dim3(BLOCK_W, BLOCK_H),
        0, call->stream, p);
    return (int)cudaGetLastError();
}

RG_VARIANT(affine2d_scatter) = {
    RG_VARIANT_OF(
        "affine2d", "scatter", RG_SCATTER, RG_DEVICE, "thread per input pixel, float atomics to the result pixels that use it"),
    .needs = "sm_50",
    .flags = RG_UNORDERED,
    .refuse = refuse,
    .cost = cost,
    .run = run,
};
