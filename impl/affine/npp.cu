// SPDX-License-Identifier: MIT
// affine2d:npp, the rotation of NVIDIA's Performance Primitives, which come with the CUDA toolkit: the competitor of all
// kernels here, as cuFFT is for the sums of autocorr.
//
// nppiWarpAffineBack uses the map of index.h, from the result into the image, but relative to the first pixel, and from the
// host: every run copies the transforms there. It does not write pixels that come from outside the image. So the result is
// cleared first, and the image, which is steady, is in a frame of zeros, from which its border blends as in rule 0. It has no
// rules 1 and 2. Of its modes NN, LINEAR and CUBIC only the second is bilinear; for floats it does not round shares to 1/256,
// as textures do.
//
// The library is loaded on demand (.needs), so that neither a build nor a kit depends on it. The interface is that of NPP 13.
// Bound: memory, the image read once, the result written twice.
#include "../gpu/cuda.h"
#include "bound.h"

#include <dlfcn.h>
#include <stdlib.h>

#define NPP "libnppig.so.13"
enum { FRAME = 2, LINE = 128 }; // zeros on each side; lines begin at multiples of LINE floats
enum { NPP_LINEAR = 2 };

typedef struct npp_size {
    int width, height;
} npp_size;
typedef struct npp_rect {
    int x, y, width, height;
} npp_rect;
typedef struct npp_stream {
    cudaStream_t stream;
    int device, processors, threads_processor, threads_block;
    size_t shared_block;
    int major, minor;
    unsigned flags;
    int reserved;
} npp_stream;
typedef struct npp_map {
    double row[2][3]; // of pixels in the result to pixels in the frame
} npp_map;
// Negative: an error. Positive: a warning, for example of a result that gets nothing from the image.
typedef int warp_back_fn(const float *from, npp_size size, int pitch_bytes, npp_rect part, float *to, int to_pitch_bytes,
    npp_rect to_part, const double map[2][3], int interpolation, npp_stream);

typedef struct npp {
    void *library;
    warp_back_fn *warp_back;
    npp_stream stream;
    float *matrix; // on the host
} npp;

static npp_size framed(const af_size *z) { return {z->w + 2 * FRAME, z->h + 2 * FRAME}; }
static int pitch(const af_size *z) { return (z->w + 2 * FRAME + LINE - 1) / LINE * LINE; } // in floats

#ifdef RG_EMULATED
// Stands in for NPP where it is missing, so that frame, coordinates and strides here are tested.
static __global__ void stand_in(const float *from, npp_size size, int pitch, float *to, npp_size result, npp_map m) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const double x = (double)(i % result.width), y = (double)(i / result.width);
    const double sx = m.row[0][0] * x + m.row[0][1] * y + m.row[0][2], sy = m.row[1][0] * x + m.row[1][1] * y + m.row[1][2];
    if (i >= (int64_t)result.width * result.height || !(sx >= 0 && sy >= 0 && sx < size.width - 1 && sy < size.height - 1))
        return;
    const int ix = (int)sx, iy = (int)sy;
    const float *at = from + (int64_t)iy * pitch + ix, fx = (float)(sx - ix), fy = (float)(sy - iy);
    to[i] = af_between(af_between(at[0], at[1], fx), af_between(at[pitch], at[pitch + 1], fx), fy);
}

static int find(npp *) { return RG_OK; }
static int warp(const npp *, const rg_call *call, const af_size *z, float *to, const npp_map &m) {
    RG_LAUNCH(stand_in, (unsigned)((af_pixels(z) + 255) / 256), 256, 0, call->stream, (const float *)call->scratch, framed(z),
        pitch(z), to, npp_size{z->w, z->h}, m);
    return (int)cudaGetLastError();
}
#else
static int find(npp *p) {
    const struct {
        cudaDeviceAttr of;
        int *to;
    } asked[] = {{cudaDevAttrMultiProcessorCount, &p->stream.processors},
        {cudaDevAttrMaxThreadsPerMultiProcessor, &p->stream.threads_processor},
        {cudaDevAttrMaxThreadsPerBlock, &p->stream.threads_block}, {cudaDevAttrComputeCapabilityMajor, &p->stream.major},
        {cudaDevAttrComputeCapabilityMinor, &p->stream.minor}};
    int shared = 0, error = (int)cudaGetDevice(&p->stream.device);
    for (const auto &a : asked) error = error ? error : (int)cudaDeviceGetAttribute(a.to, a.of, p->stream.device);
    error = error ? error : (int)cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlock, p->stream.device);
    error = error ? error : (int)cudaStreamGetFlags(p->stream.stream, &p->stream.flags);
    p->stream.shared_block = (size_t)shared;
    p->library = dlopen(NPP, RTLD_NOW | RTLD_LOCAL);
    p->warp_back = p->library ? (warp_back_fn *)dlsym(p->library, "nppiWarpAffineBack_32f_C1R_Ctx") : NULL;
    return error ? error : p->warp_back ? RG_OK : RG_E_LIBRARY;
}

static int warp(const npp *p, const rg_call *call, const af_size *z, float *to, const npp_map &m) {
    const npp_size size = framed(z);
    const int code = p->warp_back((const float *)call->scratch, size, pitch(z) * (int)sizeof(float),
        {0, 0, size.width, size.height}, to, z->w * (int)sizeof(float), {0, 0, z->w, z->h}, m.row, NPP_LINEAR, p->stream);
    return code < 0 ? RG_E_LIBRARY : RG_OK;
}
#endif

static size_t scratch(const rg_shape *s, const int64_t *) {
    const af_size z = af_size_2d(s);
    return (size_t)pitch(&z) * (size_t)framed(&z).height * sizeof(float);
}

static int prepare(rg_call *call) {
    npp *p = (npp *)calloc(1, sizeof *p);
    if (!p) return RG_E_STATE;
    call->state = p;
    p->stream.stream = (cudaStream_t)call->stream;
    p->matrix = (float *)malloc((size_t)call->shape->n[AF2_TRANSFORMS] * 6 * sizeof(float));
    return p->matrix ? find(p) : RG_E_STATE;
}

static int load(rg_call *call) {
    const af_size z = af_size_2d(call->shape);
    const size_t line = (size_t)z.w * sizeof(float), to_line = (size_t)pitch(&z) * sizeof(float);
    const int error = (int)cudaMemsetAsync(call->scratch, 0, scratch(call->shape, NULL), (cudaStream_t)call->stream);
    return error ? error
                 : (int)cudaMemcpy2DAsync((float *)call->scratch + FRAME * (pitch(&z) + 1), to_line, call->arg[AF_IMAGE], line,
                       line, (size_t)z.h, cudaMemcpyDeviceToDevice, (cudaStream_t)call->stream);
}

// The map from results, relative to their first pixel, to s, relative to the frame's first pixel.
static npp_map map_of(const af_size *z, const float *m) {
    const int centre[2] = {af_centre(z->w), af_centre(z->h)};
    npp_map map;
    for (int a = 0; a < 2; a++, m += 3) {
        map.row[a][0] = m[0];
        map.row[a][1] = m[1];
        map.row[a][2] = m[2] + (double)(FRAME + centre[a]) - (double)m[0] * centre[0] - (double)m[1] * centre[1];
    }
    return map;
}

static int run(rg_call *call) {
    const af_size z = af_size_2d(call->shape);
    const npp *p = (const npp *)call->state;
    const cudaStream_t stream = (cudaStream_t)call->stream;
    float *to = (float *)call->arg[AF_TRANSFORMED];
    // A copy to pageable memory is synchronous.
    int error = (int)cudaMemcpyAsync(
        p->matrix, call->arg[AF_MATRIX], (size_t)z.transforms * 6 * sizeof(float), cudaMemcpyDeviceToHost, stream);
    error = error ? error : (int)cudaMemsetAsync(to, 0, (size_t)(af_pixels(&z) * z.transforms) * sizeof *to, stream);
    for (int64_t t = 0; t < z.transforms && !error; t++)
        error = warp(p, call, &z, to + t * af_pixels(&z), map_of(&z, p->matrix + 6 * t));
    return error;
}

static void finish(rg_call *call) {
    npp *p = (npp *)call->state;
    if (p && p->library) dlclose(p->library);
    if (p) free(p->matrix);
    free(p);
    call->state = NULL;
}

static const char *refuse(const rg_shape *s, const int64_t *) {
    return s->n[AF2_OUTSIDE] == AF_ZERO ? NULL
                                        : "NPP leaves alone what comes from outside: it continues no edge and counts no pixel";
}

// NPP counts from the frame's corner, not from the centre: s is twice as large, and so is its rounding error.
static rg_tolerance tolerance(const rg_shape *s, const int64_t *) {
    const af_size z = af_size_2d(s);
    const af_size all = {z.w + 2 * FRAME, z.h + 2 * FRAME, 1, 2, z.outside, 1, 0};
    rg_tolerance t = af_pixel_bound(&z, 2 * af_misplaced(&all));
    t.reason = "float rounding of s, counted from the corner, times the slope (bound.h)";
    return t;
}

static void cost(const rg_shape *s, const int64_t *, rg_cost *c) {
    const double image = (double)s->n[AF2_WIDTH] * (double)s->n[AF2_HEIGHT], pixels = image * (double)s->n[AF2_TRANSFORMS];
    c->amount[RG_MEM_BYTES] = 4 * (image + 2 * pixels);
}

RG_VARIANT(affine2d_npp) = {
    RG_VARIANT_OF(
        "affine2d", "npp", RG_LIBRARY, RG_DEVICE, "nppiWarpAffineBack of the CUDA toolkit's NPP, from a frame of zeros"),
    .needs = "sm_50," NPP,
    .refuse = refuse,
    .scratch = scratch,
    .tolerance = tolerance,
    .cost = cost,
    .prepare = prepare,
    .load = load,
    .run = run,
    .finish = finish,
};
