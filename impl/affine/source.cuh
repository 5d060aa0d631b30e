// SPDX-License-Identifier: MIT
// source.cuh: how the GPU variants read the image: from global memory by index.h, or through an interpolating texture.
//
// A texture adds 0.5 to pixel centres; its address modes are rules 0 (border) and 1 (clamp) of index.h. A texture with a
// three-dimensional or a rotated footprint needs the layout of a cudaArray, which prepare makes. load copies the image, which
// is steady, into it, once for all of its transforms; with upload = 1 every run does. The times of Garcia et al. include no
// copies, which corresponds to upload = 0.
#ifndef RG_AFFINE_SOURCE_CUH
#define RG_AFFINE_SOURCE_CUH

#include "../gpu/texture.cuh"
#include "index.h"

#include <stdlib.h>

template <int OUTSIDE> struct af_memory_2d {
    const float *image;
    int w, h;
    __device__ __forceinline__ float at(float x, float y, int *takes_part) const {
        return af_sample_2d(image, w, h, OUTSIDE, x, y, takes_part);
    }
};

template <int OUTSIDE> struct af_texture_2d {
    cudaTextureObject_t texture;
    int w, h;
    __device__ __forceinline__ float at(float x, float y, int *takes_part) const {
        *takes_part = OUTSIDE != AF_IGNORE || (af_inside(x, af_low(w), af_high(w)) && af_inside(y, af_low(h), af_high(h)));
        return *takes_part ? tex2D<float>(texture, x + (0.5f - af_low(w)), y + (0.5f - af_low(h))) : 0;
    }
};

template <int OUTSIDE> struct af_memory_3d {
    const float *image;
    int w, h, d;
    __device__ __forceinline__ float at(float x, float y, float z, int *takes_part) const {
        return af_sample_3d(image, w, h, d, OUTSIDE, x, y, z, takes_part);
    }
};

template <int OUTSIDE> struct af_texture_3d {
    cudaTextureObject_t texture;
    int w, h, d;
    __device__ __forceinline__ float at(float x, float y, float z, int *takes_part) const {
        *takes_part = OUTSIDE != AF_IGNORE ||
            (af_inside(x, af_low(w), af_high(w)) && af_inside(y, af_low(h), af_high(h)) && af_inside(z, af_low(d), af_high(d)));
        return *takes_part ? tex3D<float>(texture, x + (0.5f - af_low(w)), y + (0.5f - af_low(h)), z + (0.5f - af_low(d))) : 0;
    }
};

// ---- the texture ---------------------------------------------------------------------------------------------------------

static inline void af_texture_finish(rg_call *call) {
    rg_texture *t = (rg_texture *)call->state;
    if (t) rg_texture_free(t);
    free(t);
    call->state = NULL;
}

static inline int af_texture_prepare(rg_call *call, const af_size &z) {
    rg_texture *t = (rg_texture *)calloc(1, sizeof *t);
    if (!t) return RG_E_STATE;
    call->state = t;
    return rg_texture_array<float>(t, z.w, z.h, z.dims == 3 ? z.d : 0,
        z.outside == AF_ZERO ? cudaAddressModeBorder : cudaAddressModeClamp, cudaFilterModeLinear);
}

static inline int af_texture_copy(const rg_call *call) {
    return rg_texture_fill((const rg_texture *)call->state, call->arg[AF_IMAGE], call->stream); // AL_IMAGE is the same
}

static const int64_t af_upload_values[] = {0, 1};
#define AF_UPLOAD                                                                                                              \
    {                                                                                                                          \
        "upload", af_upload_values, RG_COUNT(af_upload_values), 0,                                                             \
            "the texture filled once for all calls (0), or by every call (1)"                                                  \
    }

// upload is param[AT]. The first is the variants' load, the second begins their run.
template <int AT> static int af_texture_load(rg_call *call) { return call->param[AT] ? RG_OK : af_texture_copy(call); }
template <int AT> static int af_texture_renew(const rg_call *call) { return call->param[AT] ? af_texture_copy(call) : RG_OK; }

static inline cudaTextureObject_t af_texture_of(const rg_call *call) { return ((const rg_texture *)call->state)->object; }

static inline int af_texture_prepare_2d(rg_call *call) { return af_texture_prepare(call, af_size_2d(call->shape)); }
static inline int af_texture_prepare_3d(rg_call *call) { return af_texture_prepare(call, af_size_3d(call->shape)); }

// ---- launches ------------------------------------------------------------------------------------------------------------

static inline unsigned af_blocks(int64_t n, int64_t each) { return (unsigned)((n + each - 1) / each); }

enum { AF_GRID_MOST = 65535 }; // of the grid's y and z

static inline const char *af_refuse_many(int64_t transforms) {
    return transforms > AF_GRID_MOST ? "more than 65,535 transforms: hand them over in parts" : NULL;
}

#endif
