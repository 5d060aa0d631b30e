// SPDX-License-Identifier: MIT
// texture.cc: arrays and texture objects, as in the programming guide, "Texture fetching".
//
// Linear filtering computes its weights from fractions of 9 bits, 8 of them after the point (so that 1 can be represented): the
// fraction of x - 0.5 is rounded to the nearest 1/256. The GPU's final rounding of the weighted sum is not specified; here each
// operation rounds to float.
#include "emulation.h"
#include "runtime.h"
#include <cmath>
#include <cstdlib>
#include <cstring>

struct cudaArray {
    cudaChannelFormatDesc desc;
    size_t width, height, depth, texel_bytes;
    bool layered, gather;
    unsigned char *data;
};

namespace {

// Alignments that a GPU requires of linear memory for a texture.
enum : size_t { BASE_ALIGN = 512, PITCH_ALIGN = 32, LINEAR_MOST = 1 << 27 };

struct Texture {
    const unsigned char *data;
    cudaChannelFormatDesc desc;
    cudaTextureDesc how;
    size_t texel_bytes, pitch, slice;
    int size[3], layers, components;
    bool linear, in_array, gather;
};

cudaError_t noted(cudaError_t code) {
    rg_launch_status(code);
    return code;
}

size_t texel_bytes(const cudaChannelFormatDesc &d) {
    const int bits[] = {d.x, d.y, d.z, d.w};
    int n = 0;
    while (n < 4 && bits[n]) n++;
    for (int i = 0; i < 4; i++)
        if (bits[i] != (i < n ? d.x : 0)) return 0;
    const bool size = d.x == 32 || ((d.x == 8 || d.x == 16) && d.f != cudaChannelFormatKindFloat);
    return n && n != 3 && size && d.f != cudaChannelFormatKindNone ? (size_t)(n * d.x / 8) : 0;
}

// The coordinate after the address mode is applied; -1: the border.
int address(cudaTextureAddressMode mode, bool normalized, int i, int n) {
    if (i >= 0 && i < n) return i;
    if (mode == cudaAddressModeBorder) return -1;
    if (!normalized || mode == cudaAddressModeClamp) return i < 0 ? 0 : n - 1; // wrap and mirror need normalised coordinates
    const int period = mode == cudaAddressModeWrap ? n : 2 * n, k = (i % period + period) % period;
    return k < n ? k : period - 1 - k;
}

void component(const Texture &t, const unsigned char *p, int i, rg_texel &out) {
    const bool real = t.desc.f == cudaChannelFormatKindFloat, negative = t.desc.f == cudaChannelFormatKindSigned;
    int64_t value = 0;
    if (real) {
        memcpy(&out.f[i], p + 4 * i, 4);
        return;
    }
    if (t.desc.x == 8)
        value = negative ? (signed char)p[i] : p[i];
    else if (t.desc.x == 16)
        value = negative ? ((const int16_t *)p)[i] : ((const uint16_t *)p)[i];
    else
        value = negative ? ((const int32_t *)p)[i] : (int64_t)((const uint32_t *)p)[i];
    if (out.real) {
        const float most = (float)((1 << (t.desc.x - (negative ? 1 : 0))) - 1), x = (float)value / most;
        out.f[i] = x < -1 ? -1 : x;
    } else {
        out.i[i] = (int)value;
    }
}

rg_texel empty(const Texture &t) {
    rg_texel out = {};
    out.real = t.desc.f == cudaChannelFormatKindFloat || t.how.readMode == cudaReadModeNormalizedFloat;
    return out;
}

rg_texel texel(const Texture &t, const int at[3], int layer) {
    rg_texel out = empty(t);
    int i[3];
    for (int d = 0; d < 3; d++) {
        if ((unsigned)at[d] < (unsigned)t.size[d]) {
            i[d] = at[d];
            continue;
        }
        i[d] = address(t.how.addressMode[d], t.how.normalizedCoords != 0, at[d], t.size[d]);
        if (i[d] < 0) {
            for (int c = 0; c < 4 && out.real; c++) out.f[c] = t.how.borderColor[c];
            return out;
        }
    }
    const unsigned char *p = t.data + (size_t)(i[2] + layer) * t.slice + (size_t)i[1] * t.pitch + (size_t)i[0] * t.texel_bytes;
    if (!t.in_array) rg_emu::read_access(p, t.texel_bytes);
    for (int c = 0; c < t.components; c++) component(t, p, c, out);
    return out;
}

} // namespace

rg_texel rg_fetch_linear(cudaTextureObject_t object, int x) {
    const Texture &t = *(const Texture *)object;
    const int at[3] = {x, 0, 0};
    if (!t.linear) rg_emu::fault("tex1Dfetch of a texture that is not over linear memory");
    return x >= 0 && x < t.size[0] ? texel(t, at, 0) : empty(t);
}

rg_texel rg_fetch(cudaTextureObject_t object, int dimensions, float x, float y, float z, int layer) {
    const Texture &t = *(const Texture *)object;
    const bool smooth = t.how.filterMode == cudaFilterModeLinear;
    const float at[3] = {x, y, z};
    float weight[3] = {0, 0, 0};
    int low[3] = {0, 0, 0};
    if (t.linear) rg_emu::fault("a texture over linear memory is read by tex1Dfetch only");
    layer = layer < 0 ? 0 : layer >= t.layers ? t.layers - 1 : layer;
    for (int d = 0; d < dimensions; d++) {
        float u = t.how.normalizedCoords ? at[d] * (float)t.size[d] : at[d];
        u = !(u > -1e9f) ? -1e9f : u > 1e9f ? 1e9f : u; // also NaN
        const double base = smooth ? (double)u - 0.5 : (double)u;
        low[d] = (int)base - ((int)base > base); // floor
        if (smooth) weight[d] = (float)(int)((base - low[d]) * 256 + 0.5) / 256;
    }
    if (!smooth) return texel(t, low, layer);
    rg_texel out = empty(t);
    for (int corner = 0; corner < 1 << dimensions; corner++) {
        int i[3] = {low[0], low[1], low[2]};
        float share = 1;
        for (int d = 0; d < dimensions; d++) {
            const int high = corner >> d & 1;
            i[d] += high;
            share *= high ? weight[d] : 1 - weight[d];
        }
        const rg_texel one = texel(t, i, layer);
        for (int c = 0; c < 4; c++) out.f[c] += share * one.f[c];
    }
    return out;
}

// The four texels that linear filtering at (x, y) would weigh, selected by the same rounded fractions: counterclockwise from
// the lower left, in a plane whose y points up, as in the PTX ISA (tld4).
rg_texel rg_fetch_four(cudaTextureObject_t object, float x, float y, int component) {
    const Texture &t = *(const Texture *)object;
    if (!t.gather) rg_emu::fault("tex2Dgather of a texture whose array was not made with cudaArrayTextureGather");
    const float at[2] = {x, y};
    int low[2];
    for (int d = 0; d < 2; d++) {
        float u = t.how.normalizedCoords ? at[d] * (float)t.size[d] : at[d];
        u = !(u > -1e9f) ? -1e9f : u > 1e9f ? 1e9f : u; // also NaN
        low[d] = (int)std::floor(std::floor(((double)u - 0.5) * 256 + 0.5) / 256);
    }
    const int right[4] = {0, 1, 1, 0}, below[4] = {1, 1, 0, 0};
    rg_texel out = empty(t);
    for (int i = 0; i < 4; i++) {
        const int corner[3] = {low[0] + right[i], low[1] + below[i], 0};
        const rg_texel one = texel(t, corner, 0);
        if (out.real)
            out.f[i] = one.f[component];
        else
            out.i[i] = one.i[component];
    }
    return out;
}

// ---- arrays --------------------------------------------------------------------------------------------------------------

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *desc, cudaExtent e, unsigned flags) {
    cudaArray a = {};
    a.desc = *desc;
    a.texel_bytes = texel_bytes(*desc);
    a.width = e.width;
    a.height = e.height ? e.height : 1;
    a.depth = e.depth ? e.depth : 1;
    a.layered = flags & cudaArrayLayered;
    a.gather = flags & cudaArrayTextureGather;
    if (!a.texel_bytes) return noted(cudaErrorInvalidChannelDescriptor);
    if (!a.width || a.width > 131072 || a.height > 65536 || a.depth > 16384) return noted(cudaErrorInvalidValue);
    void *data;
    const cudaError_t code = rg_emu::allocate(&data, a.width * a.height * a.depth * a.texel_bytes, "texture");
    a.data = (unsigned char *)data;
    *array = data ? new cudaArray(a) : nullptr;
    return code;
}

cudaError_t cudaMallocArray(
    cudaArray_t *array, const cudaChannelFormatDesc *desc, size_t width, size_t height, unsigned flags) {
    return cudaMalloc3DArray(array, desc, make_cudaExtent(width, height, 0), flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    const cudaError_t code = rg_emu::release(array ? array->data : nullptr);
    delete array;
    return code;
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x_bytes, size_t y, const void *from, size_t pitch,
    size_t width_bytes, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    if (!rg_emu::stream_right(stream, "a copy to an array")) return cudaErrorLaunchFailure;
    if (const cudaError_t e = rg_emu::call_fails(cudaErrorLaunchFailure)) return e;
    const size_t line = to->width * to->texel_bytes;
    if (!width_bytes || !height) return cudaSuccess;
    if (x_bytes + width_bytes > line || y + height > to->height || width_bytes > pitch ||
        (kind == cudaMemcpyDeviceToDevice && !rg_emu::memory_holds(from, pitch * (height - 1) + width_bytes)))
        return noted(cudaErrorInvalidValue);
    for (size_t i = 0; i < height; i++)
        memcpy(to->data + (y + i) * line + x_bytes, (const char *)from + i * pitch, width_bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *m, cudaStream_t stream) {
    if (!rg_emu::stream_right(stream, "a copy to an array")) return cudaErrorLaunchFailure;
    cudaArray_t to = m->dstArray;
    if (!to || !m->srcPtr.ptr || m->srcPos.x || m->srcPos.y || m->srcPos.z || m->dstPtr.ptr)
        return noted(cudaErrorNotSupported);
    if (m->dstPos.z + m->extent.depth > to->depth) return noted(cudaErrorInvalidValue);
    cudaArray slice = *to;
    for (size_t z = 0; z < m->extent.depth; z++) {
        slice.data = to->data + (m->dstPos.z + z) * to->width * to->height * to->texel_bytes;
        const char *from = (const char *)m->srcPtr.ptr + z * m->srcPtr.ysize * m->srcPtr.pitch;
        const cudaError_t code = cudaMemcpy2DToArrayAsync(&slice, m->dstPos.x * to->texel_bytes, m->dstPos.y, from,
            m->srcPtr.pitch, m->extent.width * to->texel_bytes, m->extent.height, m->kind, stream);
        if (code) return code;
    }
    return cudaSuccess;
}

// ---- texture objects -----------------------------------------------------------------------------------------------------

static cudaError_t over_resource(Texture &t, const cudaResourceDesc &r) {
    t.size[0] = t.size[1] = t.size[2] = t.layers = 1;
    if (r.resType == cudaResourceTypeArray) {
        const cudaArray &a = *r.res.array.array;
        t.data = a.data;
        t.desc = a.desc;
        t.in_array = true;
        t.gather = a.gather;
        t.pitch = a.width * a.texel_bytes;
        t.slice = t.pitch * a.height;
        t.size[0] = (int)a.width;
        t.size[1] = (int)a.height;
        (a.layered ? t.layers : t.size[2]) = (int)a.depth;
    } else if (r.resType == cudaResourceTypeLinear) {
        t.data = (const unsigned char *)r.res.linear.devPtr;
        t.desc = r.res.linear.desc;
        t.linear = true;
        t.pitch = r.res.linear.sizeInBytes;
        const size_t n = texel_bytes(t.desc) ? t.pitch / texel_bytes(t.desc) : 0;
        if (n > LINEAR_MOST) return cudaErrorInvalidValue;
        t.size[0] = (int)n;
    } else if (r.resType == cudaResourceTypePitch2D) {
        t.data = (const unsigned char *)r.res.pitch2D.devPtr;
        t.desc = r.res.pitch2D.desc;
        t.pitch = r.res.pitch2D.pitchInBytes;
        t.size[0] = (int)r.res.pitch2D.width;
        t.size[1] = (int)r.res.pitch2D.height;
        if (t.pitch % PITCH_ALIGN || t.pitch < (size_t)t.size[0] * texel_bytes(t.desc)) return cudaErrorInvalidPitchValue;
    } else {
        return cudaErrorNotSupported;
    }
    t.texel_bytes = texel_bytes(t.desc);
    if (!t.texel_bytes) return cudaErrorInvalidChannelDescriptor;
    t.components = (int)t.texel_bytes * 8 / t.desc.x;
    if (!t.in_array && ((uintptr_t)t.data % BASE_ALIGN || !rg_emu::memory_holds(t.data, t.pitch * (size_t)(t.size[1] - 1) + 1)))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

cudaError_t cudaCreateTextureObject(
    cudaTextureObject_t *object, const cudaResourceDesc *r, const cudaTextureDesc *how, const cudaResourceViewDesc *view) {
    Texture t = {};
    t.how = *how;
    const cudaError_t code = over_resource(t, *r);
    if (code) return noted(code);
    if (const cudaError_t e = rg_emu::call_fails(cudaErrorMemoryAllocation)) return e;
    if (view || how->sRGB || how->maxAnisotropy > 1) return noted(cudaErrorNotSupported);
    const bool real = t.desc.f == cudaChannelFormatKindFloat;
    if (how->readMode == cudaReadModeNormalizedFloat && !real && t.desc.x == 32) return noted(cudaErrorInvalidNormSetting);
    if (how->filterMode == cudaFilterModeLinear && how->readMode == cudaReadModeElementType && !real)
        return noted(cudaErrorInvalidFilterSetting);
    *object = (cudaTextureObject_t)(uintptr_t) new Texture(t);
    return cudaSuccess;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
    delete (Texture *)(uintptr_t)object;
    return rg_emu::call_fails(cudaErrorLaunchFailure, true);
}
