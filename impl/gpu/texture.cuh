// SPDX-License-Identifier: MIT
// texture.cuh: textures for kernels, on rows in memory or on an array of two or three dimensions that is filled by a copy.
// Codes are CUDA's. A texture starts as zeros; free it whatever the functions that make it return.
#ifndef RG_TEXTURE_CUH
#define RG_TEXTURE_CUH

#include "cuda.h"

typedef struct rg_texture {
    cudaTextureObject_t object;
    cudaArray_t array; // NULL: rows in the caller's memory
    size_t n[3];       // of the array; n[2] = 0: two dimensions
    size_t texel;      // bytes
} rg_texture;

static inline int rg_texture_of(
    rg_texture *t, const cudaResourceDesc *from, cudaTextureAddressMode outside, cudaTextureFilterMode filter) {
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = outside;
    how.filterMode = filter;
    how.readMode = cudaReadModeElementType;
    return (int)cudaCreateTextureObject(&t->object, from, &how, NULL);
}

// `height` rows of `width` texels, `pitch` bytes apart, read without filtering; coordinates are clamped to the edge.
static inline int rg_texture_rows(
    rg_texture *t, void *rows, cudaChannelFormatDesc texel, int64_t width, int64_t height, size_t pitch_bytes) {
    cudaResourceDesc from = {};
    from.resType = cudaResourceTypePitch2D;
    from.res.pitch2D.devPtr = rows;
    from.res.pitch2D.desc = texel;
    from.res.pitch2D.width = (size_t)width;
    from.res.pitch2D.height = (size_t)height;
    from.res.pitch2D.pitchInBytes = pitch_bytes;
    return rg_texture_of(t, &from, cudaAddressModeClamp, cudaFilterModePoint);
}

// An array of width x height x depth texels; depth 0: two dimensions.
template <class texel>
static int rg_texture_array(
    rg_texture *t, int64_t width, int64_t height, int64_t depth, cudaTextureAddressMode outside, cudaTextureFilterMode filter) {
    const cudaChannelFormatDesc kind = cudaCreateChannelDesc<texel>();
    t->n[0] = (size_t)width;
    t->n[1] = (size_t)height;
    t->n[2] = (size_t)depth;
    t->texel = sizeof(texel);
    const int error = depth ? (int)cudaMalloc3DArray(&t->array, &kind, make_cudaExtent(t->n[0], t->n[1], t->n[2]), 0)
                            : (int)cudaMallocArray(&t->array, &kind, t->n[0], t->n[1]);
    if (error) return error;
    cudaResourceDesc from = {};
    from.resType = cudaResourceTypeArray;
    from.res.array.array = t->array;
    return rg_texture_of(t, &from, outside, filter);
}

// Fills the array from consecutive texels: every byte is read and written once.
static inline int rg_texture_fill(const rg_texture *t, const void *from, void *stream) {
    const size_t line = t->n[0] * t->texel;
    if (!t->n[2])
        return (int)cudaMemcpy2DToArrayAsync(
            t->array, 0, 0, from, line, line, t->n[1], cudaMemcpyDeviceToDevice, (cudaStream_t)stream);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr((void *)from, line, t->n[0], t->n[1]);
    copy.dstArray = t->array;
    copy.extent = make_cudaExtent(t->n[0], t->n[1], t->n[2]);
    copy.kind = cudaMemcpyDeviceToDevice;
    return (int)cudaMemcpy3DAsync(&copy, (cudaStream_t)stream);
}

static inline void rg_texture_free(rg_texture *t) {
    if (t->object) cudaDestroyTextureObject(t->object);
    if (t->array) cudaFreeArray(t->array);
    t->object = 0;
    t->array = NULL;
}

#endif
