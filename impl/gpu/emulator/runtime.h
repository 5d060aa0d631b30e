// SPDX-License-Identifier: MIT
// runtime.h: the CUDA runtime calls of variants, with CUDA's names and numbers. Calls are complete on return.
#pragma once

#include "vectors.h"
#include <cstddef>

typedef struct CUstream_st *cudaStream_t;

enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidPitchValue = 12,
    cudaErrorInvalidChannelDescriptor = 20,
    cudaErrorInvalidFilterSetting = 26,
    cudaErrorInvalidNormSetting = 27,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801
};
typedef cudaError cudaError_t;
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char *cudaGetErrorString(cudaError_t);
void rg_launch_status(int code); // records the result of a launch for cudaGetLastError

namespace rg_emu {
// The error that this call of the runtime must return instead of doing its work: the error that has broken the device, or
// `code`, recorded for cudaGetLastError, if a library that injects failures (verify/faults) requests it; else cudaSuccess.
// `code` tells whether the call allocates memory; gives: it releases what another call allocated.
cudaError_t call_fails(cudaError_t code, bool gives = false);
// As cudaMalloc and cudaFree, recorded in the ledger.
cudaError_t allocate(void **to, size_t bytes, const char *what);
cudaError_t release(void *);
} // namespace rg_emu

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t, cudaMemcpyKind, cudaStream_t = nullptr);
cudaError_t cudaMemsetAsync(void *, int byte, size_t, cudaStream_t = nullptr);
cudaError_t cudaMemset2DAsync(void *, size_t pitch, int byte, size_t width, size_t height, cudaStream_t = nullptr);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
    cudaMemcpyKind, cudaStream_t = nullptr);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaGetDevice(int *);

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
cudaError_t cudaDeviceGetAttribute(int *, cudaDeviceAttr, int device);

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
cudaError_t rg_func_set_attribute(const void *kernel, cudaFuncAttribute, int value);
template <class K> cudaError_t cudaFuncSetAttribute(K *kernel, cudaFuncAttribute which, int value) {
    return rg_func_set_attribute((const void *)kernel, which, value);
}
cudaError_t rg_occupancy(int *blocks, int block_threads, size_t shared_bytes);
template <class K>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, K *, int threads, size_t shared_bytes) {
    return rg_occupancy(blocks, threads, shared_bytes);
}

// ---- arrays and textures -------------------------------------------------------------------------------------------------

enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned,
    cudaChannelFormatKindUnsigned,
    cudaChannelFormatKindFloat,
    cudaChannelFormatKindNone
};
struct cudaChannelFormatDesc {
    int x, y, z, w; // bits of each component
    cudaChannelFormatKind f;
};
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
    return {x, y, z, w, f};
}
template <class T> cudaChannelFormatDesc cudaCreateChannelDesc() {
    typedef rg_vector<T> V;
    const int bits = 8 * (int)sizeof(typename V::type), n = V::n;
    const bool real = (typename V::type)0.5 != 0, negative = (typename V::type)(-1) < (typename V::type)0;
    return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0,
        real           ? cudaChannelFormatKindFloat
            : negative ? cudaChannelFormatKindSigned
                       : cudaChannelFormatKindUnsigned};
}

struct cudaExtent {
    size_t width, height, depth;
};
struct cudaPos {
    size_t x, y, z;
};
struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};
inline cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return {w, h, d}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch, size_t x, size_t y) { return {p, pitch, x, y}; }

typedef struct cudaArray *cudaArray_t;
typedef const cudaArray *cudaArray_const_t;
enum : unsigned { cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArrayTextureGather = 8 };
cudaError_t cudaMallocArray(cudaArray_t *, const cudaChannelFormatDesc *, size_t width, size_t height = 0, unsigned flags = 0);
cudaError_t cudaMalloc3DArray(cudaArray_t *, const cudaChannelFormatDesc *, cudaExtent, unsigned flags = 0);
cudaError_t cudaFreeArray(cudaArray_t);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t, size_t x_bytes, size_t y, const void *from, size_t pitch, size_t width_bytes,
    size_t height, cudaMemcpyKind, cudaStream_t = nullptr);
struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    cudaMemcpyKind kind;
};
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *, cudaStream_t = nullptr); // memory to array only

typedef unsigned long long cudaTextureObject_t;
enum cudaResourceType {
    cudaResourceTypeArray,
    cudaResourceTypeMipmappedArray,
    cudaResourceTypeLinear,
    cudaResourceTypePitch2D
};
struct cudaResourceDesc {
    cudaResourceType resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            void *devPtr;
            cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
};
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
struct cudaTextureDesc {
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
    cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc;
cudaError_t cudaCreateTextureObject(
    cudaTextureObject_t *, const cudaResourceDesc *, const cudaTextureDesc *, const cudaResourceViewDesc *);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t);

// One fetch: four components, as floats, or as integers where the texture is read by element type.
struct rg_texel {
    union {
        float f[4];
        int i[4];
    };
    bool real;
};
rg_texel rg_fetch_linear(cudaTextureObject_t, int x);
rg_texel rg_fetch(cudaTextureObject_t, int dimensions, float x, float y, float z, int layer);
rg_texel rg_fetch_four(cudaTextureObject_t, float x, float y, int component); // one component of four neighbours

template <class T> T rg_texel_as(const rg_texel &t) {
    typedef rg_vector<T> V;
    T value = {};
    typename V::type *component = (typename V::type *)&value;
    for (int i = 0; i < V::n; i++) component[i] = t.real ? (typename V::type)t.f[i] : (typename V::type)t.i[i];
    return value;
}
template <class T> T tex1Dfetch(cudaTextureObject_t t, int x) { return rg_texel_as<T>(rg_fetch_linear(t, x)); }
template <class T> T tex1D(cudaTextureObject_t t, float x) { return rg_texel_as<T>(rg_fetch(t, 1, x, 0, 0, 0)); }
template <class T> T tex2D(cudaTextureObject_t t, float x, float y) { return rg_texel_as<T>(rg_fetch(t, 2, x, y, 0, 0)); }
template <class T> T tex3D(cudaTextureObject_t t, float x, float y, float z) {
    return rg_texel_as<T>(rg_fetch(t, 3, x, y, z, 0));
}
template <class T> T tex2Dgather(cudaTextureObject_t t, float x, float y, int component = 0) {
    return rg_texel_as<T>(rg_fetch_four(t, x, y, component));
}
template <class T> T tex2DLayered(cudaTextureObject_t t, float x, float y, int layer) {
    return rg_texel_as<T>(rg_fetch(t, 2, x, y, 0, layer));
}
