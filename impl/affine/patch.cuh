// SPDX-License-Identifier: MIT
// patch.cuh: how `gather` and `batch` share out the result among warps, and read the image where it needs no looking after.
//
// A warp computes a patch of 8 x 4 pixels, and STACK such patches: below each other in an image, plane behind plane in a volume.
// Whatever the angle, 8 x 4 pixels come from few lines of memory, unlike 32 x 1, which come from up to 32. From patch to patch s
// moves by a constant.
#ifndef RG_AFFINE_PATCH_CUH
#define RG_AFFINE_PATCH_CUH

#include "source.cuh"

enum { AF_PATCH_W = 8, AF_PATCH_H = 4, AF_WARPS = 8, AF_BLOCK = 32 * AF_WARPS };

// A thread's pixels: (x, y) and below it every 4th, or (x, y, z) and the planes behind; n of STACK lie in the image.
typedef struct af_stack {
    int x, y, z, n;
} af_stack;

static inline int64_t af_stacks(const af_size &z, int stack)
{
    const int64_t rows = z.dims == 2 ? AF_PATCH_H * stack : AF_PATCH_H;
    return (int64_t)af_blocks(z.w, AF_PATCH_W) * af_blocks(z.h, rows) * (z.dims == 2 ? 1 : af_blocks(z.d, stack));
}

template <int DIMS, int STACK>
static __device__ __forceinline__ af_stack af_stack_of(int w, int h, int d, unsigned index, unsigned lane)
{
    const unsigned across = (unsigned)(w + AF_PATCH_W - 1) / AF_PATCH_W, column = index % across, row = index / across;
    af_stack s = {(int)(column * AF_PATCH_W + lane % AF_PATCH_W), 0, 0, 0};
    int left;
    if (DIMS == 2) {
        s.y = (int)(row * AF_PATCH_H * STACK + lane / AF_PATCH_W);
        left = (h - s.y + AF_PATCH_H - 1) / AF_PATCH_H;
    } else {
        const unsigned down = (unsigned)(h + AF_PATCH_H - 1) / AF_PATCH_H;
        s.y = (int)(row % down * AF_PATCH_H + lane / AF_PATCH_W);
        s.z = (int)(row / down * STACK);
        left = d - s.z;
    }
    s.n = s.x < w && s.y < h && left > 0 ? left < STACK ? left : STACK : 0;
    return s;
}

// Interpolation at (x, y) from the pixel at the centre; all neighbours must be there. Offsets fit 32 bits (refuse).
static __device__ __forceinline__ float af_read_2d(const float *centre, int pitch, float x, float y)
{
    const int i = __float2int_rd(x), j = __float2int_rd(y);
    const float *at = centre + (j * pitch + i), *below = at + pitch;
    const float share = x - (float)i;
    return af_between(af_between(__ldg(at), __ldg(at + 1), share), af_between(__ldg(below), __ldg(below + 1), share), y - (float)j);
}

static __device__ __forceinline__ float af_read_3d(const float *centre, int pitch, int slice, float x, float y, float z)
{
    const int k = __float2int_rd(z);
    const float *plane = centre + k * slice;
    return af_between(af_read_2d(plane, pitch, x, y), af_read_2d(plane + slice, pitch, x, y), z - (float)k);
}

#endif
