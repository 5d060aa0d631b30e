// SPDX-License-Identifier: MIT
// steps.cuh: host code shared by the GPU variants: memory, transforms and the order of steps.
#ifndef RG_FREALIGN_STEPS_CUH
#define RG_FREALIGN_STEPS_CUH

#include "../gpu/fft.cuh"
#include "../gpu/texture.cuh"
#include "bound.h"
#include "planes.cuh"

#include <stdlib.h>

enum { FR_P_CALLS, FR_P_BLOCK, FR_P_INTERPOLATE, FR_P_UPLOAD }; // the last only for variants that read a texture
enum { FR_PIXEL_SUMS = 7, FR_RING_SUMS = 4 };                   // the most sums kept for an image, and for a ring

// Offsets in scratch, in bytes. images: 1, or 2 where both section and particle go to real space.
typedef struct fr_layout {
    int64_t calls, images, stored, parts, rings;
    size_t image, image_bytes, work, work_bytes, part, sums, ring, list, begin, total;
} fr_layout;

static inline size_t fr_reserve(size_t *total, size_t bytes) {
    const size_t at = *total;
    *total += (bytes + 255) / 256 * 256;
    return at;
}

static inline unsigned fr_blocks(int64_t n, int64_t threads) { return (unsigned)((n + threads - 1) / threads); }

// Calls per launch: all passes have the same size, except the last.
static inline int64_t fr_calls_at_once(const rg_shape *s, int64_t most) {
    const int64_t all = fr_calls(s), passes = (all + most - 1) / most;
    return (all + passes - 1) / passes;
}

// Blocks that share the pixels of an image: one thread per pixel where one call has the GPU for itself, else several pixels per
// thread.
static inline int64_t fr_pixel_blocks(const rg_shape *s, int way, int64_t calls, int64_t threads) {
    const int64_t pixels = s->n[FR_SIDE] * s->n[FR_SIDE], all = (pixels + threads - 1) / threads;
    return way == FR_LIST && calls > 1 ? (all < 16 ? all : 16) : all;
}

static inline fr_layout fr_layout_of(const rg_shape *s, const int64_t *param, int way, int images, int64_t rings) {
    fr_layout l = {};
    l.calls = fr_calls_at_once(s, param[FR_P_CALLS]);
    l.images = images;
    l.stored = fr_stored(s->n[FR_SIDE]);
    l.rings = rings;
    l.parts = fr_pixel_blocks(s, way, l.calls, 16 * param[FR_P_BLOCK]);
    const size_t calls = (size_t)l.calls, real = sizeof(double);
    l.image_bytes = (size_t)images * calls * (size_t)l.stored * sizeof(float2);
    l.work_bytes = 2 * l.image_bytes + ((size_t)4 << 20); // cuFFT gives the size only when it makes a plan: fr_prepare checks
    l.image = fr_reserve(&l.total, l.image_bytes);
    l.work = fr_reserve(&l.total, l.work_bytes);
    l.part = fr_reserve(&l.total, calls * (size_t)l.parts * FR_PIXEL_SUMS * real);
    l.sums = fr_reserve(&l.total, calls * FR_PIXEL_SUMS * real);
    l.ring = fr_reserve(&l.total, calls * (size_t)rings * FR_RING_SUMS * real);
    if (way == FR_LIST && rings) {
        l.list = fr_reserve(&l.total, (size_t)l.stored * sizeof(int));
        l.begin = fr_reserve(&l.total, (size_t)(rings + 1) * sizeof(int));
    }
    return l;
}

// ---- prepare -------------------------------------------------------------------------------------------------------------

typedef struct fr_plan {
    rg_fft to_image, to_plane;
    rg_texture texture;
} fr_plan;

static inline int fr_make_fft(
    rg_fft *plan, cufftType type, int64_t side, int64_t batch, void *work, size_t most, void *stream) {
    const int64_t n[2] = {side, side};
    return rg_fft_make(plan, type, 2, n, batch, work, most, stream);
}

static inline int fr_make_texture(fr_plan *plan, int64_t side) {
    return rg_texture_array<float2>(&plan->texture, fr_width(side), side, side, cudaAddressModeClamp, cudaFilterModePoint);
}

// The ring of a coefficient in the list; -1: it is in none.
typedef int64_t (*fr_ring_of)(const rg_shape *, int64_t i, int64_t j);
static inline int64_t fr_ring_of_band(const rg_shape *s, int64_t i, int64_t j) {
    return fr_in_band(s->n[FR_SIDE], i, j, s->n[FR_INNER], s->n[FR_OUTER]) ? fr_ring(i * i + j * j) : -1;
}

// Copies the list that FR_LIST kernels read: coefficients sorted by ring, row by row within a ring.
static inline int fr_copy_list(const rg_call *call, const fr_layout &l, fr_ring_of ring_of) {
    const int64_t side = call->shape->n[FR_SIDE], rings = l.rings;
    int *list = (int *)calloc((size_t)l.stored, sizeof(int)), *begin = (int *)calloc((size_t)rings + 2, sizeof(int));
    if (!list || !begin) return free(list), free(begin), RG_E_STATE;
    for (int pass = 0; pass < 2; pass++) { // count, then place; begin[k + 1] is the next free element of ring k
        for (int64_t j = 1 - side / 2; j <= side / 2; j++)
            for (int64_t i = 0; i <= side / 2; i++) {
                const int64_t k = ring_of(call->shape, i, j);
                if (k >= 0 && pass)
                    list[begin[k + 1]++] = (int)((j + side / 2) << 16 | i);
                else if (k >= 0)
                    begin[k + 2]++;
            }
        for (int64_t k = 2; k <= rings + 1 && !pass; k++) begin[k] += begin[k - 1];
    }
    char *scratch = (char *)call->scratch;
    cudaStream_t stream = (cudaStream_t)call->stream;
    int error = (int)cudaMemcpyAsync(scratch + l.list, list, (size_t)l.stored * sizeof(int), cudaMemcpyHostToDevice, stream);
    if (!error)
        error =
            (int)cudaMemcpyAsync(scratch + l.begin, begin, (size_t)(rings + 1) * sizeof(int), cudaMemcpyHostToDevice, stream);
    error = error ? error : (int)cudaStreamSynchronize(stream);
    free(list);
    free(begin);
    return error;
}

// back: the masked image returns to Fourier space. ring_of: selects the list for FR_LIST.
static inline int fr_prepare(rg_call *call, const fr_layout &l, bool back, bool texture, fr_ring_of ring_of) {
    const int64_t side = call->shape->n[FR_SIDE];
    fr_plan *plan = (fr_plan *)calloc(1, sizeof *plan);
    char *work = (char *)call->scratch + l.work;
    if (!plan) return RG_E_STATE;
    call->state = plan;
    int error =
        fr_make_fft(&plan->to_image, CUFFT_C2R, side, (back ? 1 : l.images) * l.calls, work, l.work_bytes, call->stream);
    if (!error && back) error = fr_make_fft(&plan->to_plane, CUFFT_R2C, side, l.calls, work, l.work_bytes, call->stream);
    if (!error && texture) error = fr_make_texture(plan, side * fr_pad(call->shape->n[FR_KIND]));
    return error || !l.list ? error : fr_copy_list(call, l, ring_of);
}

// Copies the reference to the texture; it does not change between calls.
static inline int fr_upload(const rg_call *call) {
    return rg_texture_fill(&((const fr_plan *)call->state)->texture, call->arg[FR_F3], call->stream);
}

static inline bool fr_uploads(bool texture, const int64_t *param) { return texture && param[FR_P_UPLOAD]; }

static inline int fr_load(rg_call *call) { return fr_uploads(true, call->param) ? RG_OK : fr_upload(call); }

static inline void fr_finish(rg_call *call) {
    fr_plan *plan = (fr_plan *)call->state;
    if (plan) {
        rg_fft_free(&plan->to_image);
        rg_fft_free(&plan->to_plane);
        rg_texture_free(&plan->texture);
    }
    free(plan);
    call->state = NULL;
}

// ---- steps ---------------------------------------------------------------------------------------------------------------

typedef struct fr_steps {
    const rg_call *call;
    const fr_plan *plan;
    fr_layout l;
    fr_input in;
    int64_t first;  // call of this pass
    unsigned count; // calls in this pass
    float2 *image;
    double *part, *sums, *ring;
} fr_steps;

static inline fr_steps fr_steps_of(const rg_call *call, const fr_layout &l) {
    char *scratch = (char *)call->scratch;
    fr_steps s = {call, (const fr_plan *)call->state, l, fr_input_of(call), 0, 0, (float2 *)(scratch + l.image),
        (double *)(scratch + l.part), (double *)(scratch + l.sums), (double *)(scratch + l.ring)};
    return s;
}

static inline bool fr_next(fr_steps *s) {
    s->first += s->count;
    const int64_t left = fr_calls(s->call->shape) - s->first;
    s->count = (unsigned)(left < s->l.calls ? left : s->l.calls);
    return left > 0;
}

static inline dim3 fr_plane_grid(const fr_steps &s, dim3 block) {
    return dim3(fr_blocks(s.in.width, block.x), fr_blocks(s.in.side, block.y), s.count);
}

static inline dim3 fr_block(const fr_steps &s, int param) { return dim3((unsigned)s.call->param[param], 16); }

template <class volume> static int fr_extract_all(const fr_steps &s, volume f3, bool flipped) {
    const dim3 block = fr_block(s, FR_P_INTERPOLATE), grid = fr_plane_grid(s, block);
#define FR_EXTRACT(how)                                                                                                        \
    RG_LAUNCH((fr_extract<how, volume>), grid, block, 0, s.call->stream, s.in, f3, s.first, flipped, s.image)
    FR_FOR_INTERPOLATION(s.call->shape->n[FR_KIND], FR_EXTRACT)
#undef FR_EXTRACT
    return (int)cudaGetLastError();
}

static inline int fr_sections(const fr_steps &s, bool texture, bool flipped) {
    const fr_memory memory = {s.in.f3, s.in.pairs};
    const fr_texture fetch = {s.plan->texture.object};
    return texture ? fr_extract_all(s, fetch, flipped) : fr_extract_all(s, memory, flipped);
}

template <int way, class pixels> static int fr_sum_pixels(const fr_steps &s, pixels p) {
    const dim3 block = fr_block(s, FR_P_BLOCK), grid((unsigned)s.l.parts, s.count);
    if (way == FR_ATOMIC) {
        int error = (int)cudaMemsetAsync(s.sums, 0, s.count * pixels::n * sizeof(double), (cudaStream_t)s.call->stream);
        if (error) return error;
        RG_LAUNCH((fr_pixel_sums<way, pixels>), grid, block, 0, s.call->stream, p, s.in.side, s.sums);
        return (int)cudaGetLastError();
    }
    RG_LAUNCH((fr_pixel_sums<way, pixels>), grid, block, 0, s.call->stream, p, s.in.side, s.part);
    RG_LAUNCH((fr_combine<pixels::n>), s.count, FR_THREADS, 0, s.call->stream, s.part, (int)s.l.parts, s.sums);
    return (int)cudaGetLastError();
}

// Masks the half planes of `plane` in real space, in place.
template <int way> static int fr_mask_planes(const fr_steps &s, float2 *plane, const float *setting) {
    float *image = (float *)plane;
    const fr_edge_sums edge = {image, setting};
    const dim3 block(32, 8), grid(fr_blocks(s.in.side, 32), fr_blocks(s.in.side, 8), s.count);
    int error = rg_fft_run(&s.plan->to_image, image);
    error = error ? error : fr_sum_pixels<way>(s, edge);
    if (error) return error;
    RG_LAUNCH((fr_mask_image), grid, block, 0, s.call->stream, setting, s.in.side, s.sums, image);
    error = (int)cudaGetLastError();
    return error ? error : rg_fft_run(&s.plan->to_plane, plane);
}

// ---- costs --------------------------------------------------------------------------------------------------------------

// Multiply-adds of a call's two transforms.
static inline double fr_transforms_mad(const rg_shape *s) {
    const double pixels = (double)s->n[FR_SIDE] * (double)s->n[FR_SIDE];
    return 2 * 1.25 * pixels * log2(pixels);
}

// Cost of one run: the reference's nodes in the band's ball; the images; for each call its section, its transforms (cuFFT reads
// and writes twice each) and its sums, which may all stay in L2 when few calls share a launch.
static inline void fr_section_cost(const rg_shape *s, const int64_t *param, bool texture, rg_cost *c) {
    const double calls = (double)fr_calls(s);
    double band = 0;
    for (int64_t i = 0; i < s->n[FR_OUTER]; i++) band += 2 * sqrt((double)(s->n[FR_OUTER] * s->n[FR_OUTER] - i * i));
    const double nodes = pow((double)fr_nodes(fr_interpolation(s->n[FR_KIND])), 3), pad = (double)fr_pad(s->n[FR_KIND]);
    const double ball = 2.1 * pow((double)s->n[FR_OUTER] * pad, 3), read = band * calls * nodes;
    c->amount[RG_MEM_BYTES] = 12 * band * (double)s->n[FR_PARTICLES] + 8 * (ball < read ? ball : read);
    c->amount[RG_F32_MAD] = calls * (band * nodes * 5 + fr_transforms_mad(s));
    if (texture) {
        c->amount[RG_TEXTURE] = 2 * read;
        c->amount[RG_MEM_BYTES] += fr_uploads(true, param) ? 16 * (double)fr_voxels(s->n[FR_SIDE] * fr_pad(s->n[FR_KIND])) : 0;
    }
}

// ---- descriptors ---------------------------------------------------------------------------------------------------------

// A variant of ALGO with the name and the flags set by batch.cuh, gather.cuh or scatter.cuh; its other fields follow in their
// order.
#define FR_JOIN(a, b) a##_##b
#define FR_NAME(a, b) FR_JOIN(a, b)
#define FR_TEXT_OF(a) #a
#define FR_TEXT(a) FR_TEXT_OF(a)
#define FR_DESCRIPTOR(ALGO, IDEA, ...)                                                                                         \
    RG_VARIANT(FR_NAME(ALGO, VARIANT)) = {                                                                                     \
        RG_VARIANT_OF(#ALGO, FR_TEXT(VARIANT), ROLE, RG_DEVICE, IDEA), .needs = "sm_60", .flags = FLAGS, __VA_ARGS__}

#endif
