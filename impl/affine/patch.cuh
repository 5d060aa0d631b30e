// SPDX-License-Identifier: MIT
// patch.cuh: divides the result among threads, for `batch`.
//
// A warp computes a patch of 8 x 4 pixels or 4 x 4 x 2 voxels, which come from few lines of memory at any angle, and STACK such
// patches, one below the other or plane after plane. From patch to patch s moves by a constant. Each half of a warp has 4 x 2 x
// 2 voxels: loads of 8 bytes are served by halves, and of the pairs (bricks.cuh) of such a compact block at most two have the
// same place in their lines, for any exchange of axes.
#ifndef RG_AFFINE_PATCH_CUH
#define RG_AFFINE_PATCH_CUH

#include "source.cuh"

enum { AF_WARPS = 8, AF_BLOCK = 32 * AF_WARPS };
enum { AF_PATCH_W = 8, AF_PATCH_H = 4, AF_TILE_W = AF_PATCH_W * AF_WARPS }; // of an image
enum { AF_CUBE_W = 4, AF_CUBE_H = 4, AF_CUBE_D = 2 };                       // of a volume

// A thread's pixels: (x, y, z) and those AF_PATCH_H rows or AF_CUBE_D planes further each; n of STACK lie in the image.
typedef struct af_stack {
    int x, y, z, n;
} af_stack;

static inline int64_t af_stack_blocks(const af_size &z, int stack) {
    if (z.dims == 2) return (int64_t)af_blocks(z.w, AF_TILE_W) * af_blocks(z.h, AF_PATCH_H * stack);
    return af_blocks(
        (int64_t)af_blocks(z.w, AF_CUBE_W) * af_blocks(z.h, AF_CUBE_H) * af_blocks(z.d, AF_CUBE_D * stack), AF_WARPS);
}

static __device__ __forceinline__ unsigned af_parts(int side, int part) { return (unsigned)(side + part - 1) / (unsigned)part; }

template <int DIMS, int STACK> static __device__ __forceinline__ af_stack af_stack_of(int w, int h, int d) {
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    af_stack s;
    int left;
    if (DIMS == 2) {
        const unsigned across = af_parts(w, AF_TILE_W);
        s.x = (int)(blockIdx.x % across * AF_TILE_W + AF_PATCH_W * warp + lane % AF_PATCH_W);
        s.y = (int)(blockIdx.x / across * AF_PATCH_H * STACK + lane / AF_PATCH_W);
        s.z = 0;
        left = (h - s.y + AF_PATCH_H - 1) / AF_PATCH_H;
    } else {
        const unsigned index = blockIdx.x * AF_WARPS + warp, across = af_parts(w, AF_CUBE_W), down = af_parts(h, AF_CUBE_H);
        s.x = (int)(index % across * AF_CUBE_W + lane % AF_CUBE_W);
        s.y = (int)(index / across % down * AF_CUBE_H + lane / AF_CUBE_W % 2 + lane / 16 * 2);
        s.z = (int)(index / across / down * AF_CUBE_D * STACK + lane / (AF_CUBE_W * 2) % AF_CUBE_D);
        left = (d - s.z + AF_CUBE_D - 1) / AF_CUBE_D;
    }
    s.n = s.x < w && s.y < h && left > 0 ? left < STACK ? left : STACK : 0;
    return s;
}

#endif
