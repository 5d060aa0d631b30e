// SPDX-License-Identifier: MIT
// correlate_run.cuh: the order of the steps of correlate.cuh, their memory, their transforms; on the host.
#ifndef RG_FREALIGN_CORRELATE_RUN_CUH
#define RG_FREALIGN_CORRELATE_RUN_CUH

#include "../bound.h"
#include "correlate.cuh"

enum { FR_P_CALLS, FR_P_BLOCK, FR_P_INTERPOLATE, FR_CORRELATE_PARAMS };

// Where everything stands in scratch, in bytes. images: 1, or 2 where both section and particle go to real space.
typedef struct fr_layout {
    int64_t calls, images, stored, parts, rings;
    size_t image, image_bytes, work, work_bytes, part, sums, ring, list, begin, total;
} fr_layout;

static inline size_t fr_take(size_t *total, size_t bytes)
{
    const size_t at = *total;
    *total += (bytes + 255) / 256 * 256;
    return at;
}

static inline unsigned fr_blocks(int64_t n, int64_t threads) { return (unsigned)((n + threads - 1) / threads); }

// Calls that share a launch: all passes the same size but the last.
static inline int64_t fr_calls_at_once(const rg_shape *s, int64_t most)
{
    const int64_t all = fr_calls(s), passes = (all + most - 1) / most;
    return (all + passes - 1) / passes;
}

// Blocks that share the pixels of an image: a thread a pixel where one call has the GPU for itself, else some pixels a thread.
static inline int64_t fr_pixel_blocks(const rg_shape *s, int way, int64_t calls, int64_t threads)
{
    const int64_t pixels = s->n[FR_SIDE] * s->n[FR_SIDE], all = (pixels + threads - 1) / threads;
    return way == FR_LIST && calls > 1 ? (all < 16 ? all : 16) : all;
}

static inline fr_layout fr_layout_of(const rg_shape *s, const int64_t *param, int way, int images, int64_t rings)
{
    fr_layout l = {};
    l.calls = fr_calls_at_once(s, param[FR_P_CALLS]);
    l.images = images;
    l.stored = fr_stored(s->n[FR_SIDE]);
    l.rings = rings;
    l.parts = fr_pixel_blocks(s, way, l.calls, 16 * param[FR_P_BLOCK]);
    const size_t calls = (size_t)l.calls, real = sizeof(double);
    l.image_bytes = (size_t)images * calls * (size_t)l.stored * sizeof(float2);
    l.work_bytes =
        2 * l.image_bytes + ((size_t)4 << 20); // cuFFT says what it wants only when a plan is made: fr_prepare checks
    l.image = fr_take(&l.total, l.image_bytes);
    l.work = fr_take(&l.total, l.work_bytes);
    l.part = fr_take(&l.total, calls * (size_t)l.parts * fr_disc_sums::n * real);
    l.sums = fr_take(&l.total, calls * fr_disc_sums::n * real);
    l.ring = fr_take(&l.total, calls * (size_t)rings * FR_RING_SUMS * real);
    if (way == FR_LIST && rings) {
        l.list = fr_take(&l.total, (size_t)l.stored * sizeof(int));
        l.begin = fr_take(&l.total, (size_t)(rings + 1) * sizeof(int));
    }
    return l;
}

// ---- what prepare makes --------------------------------------------------------------------------------------------------

typedef struct fr_plan {
    cufftHandle to_image, to_plane;
    cudaArray_t array;
    cudaTextureObject_t texture;
} fr_plan;

static inline int fr_make_fft(cufftHandle *plan, cufftType type, int64_t side, int64_t batch, void *work, size_t most,
                              void *stream)
{
    long long n[2] = {side, side}, half[2] = {side, side / 2 + 1}, real[2] = {side, 2 * half[1]}, stored = fr_stored(side);
    const bool real_out = type == CUFFT_C2R;
    size_t bytes = 0;
    if (cufftCreate(plan) || cufftSetAutoAllocation(*plan, 0) ||
        cufftMakePlanMany64(*plan, 2, n, real_out ? half : real, 1, real_out ? stored : 2 * stored, real_out ? real : half, 1,
                            real_out ? 2 * stored : stored, type, batch, &bytes) ||
        bytes > most || cufftSetWorkArea(*plan, work) || cufftSetStream(*plan, (cudaStream_t)stream))
        return RG_E_LIBRARY;
    return RG_OK;
}

static inline int fr_make_texture(fr_plan *plan, int64_t side)
{
    const cudaChannelFormatDesc texel = cudaCreateChannelDesc<float2>();
    const cudaExtent extent = make_cudaExtent((size_t)fr_width(side), (size_t)side, (size_t)side);
    int error = (int)cudaMalloc3DArray(&plan->array, &texel, extent, 0);
    if (error)
        return error;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = plan->array;
    cudaTextureDesc how = {};
    for (int a = 0; a < 3; a++)
        how.addressMode[a] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    return (int)cudaCreateTextureObject(&plan->texture, &resource, &how, NULL);
}

// F3 into the array of the texture, once a call: 8 bytes a node, read and written.
static inline int fr_fill_texture(const fr_plan *plan, const rg_call *call)
{
    const size_t side = (size_t)(call->shape->n[FR_SIDE] * fr_pad(call->shape->n[FR_KIND])), width = side / 2 + 1;
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(call->arg[FR_F3], width * sizeof(float2), width, side);
    copy.dstArray = plan->array;
    copy.extent = make_cudaExtent(width, side, side);
    copy.kind = cudaMemcpyDeviceToDevice;
    return (int)cudaMemcpy3DAsync(&copy, (cudaStream_t)call->stream);
}

// The ring that a coefficient of the list belongs to, -1: none.
typedef int64_t (*fr_ring_of)(const rg_shape *, int64_t i, int64_t j);
static inline int64_t fr_ring_of_band(const rg_shape *s, int64_t i, int64_t j)
{
    return fr_in_band(s->n[FR_SIDE], i, j, s->n[FR_INNER], s->n[FR_OUTER]) ? fr_ring(i * i + j * j) : -1;
}

// The list that kernels of FR_LIST read: coefficients sorted by ring, row by row within a ring.
static inline int fr_copy_list(const rg_call *call, const fr_layout &l, fr_ring_of ring_of)
{
    const int64_t side = call->shape->n[FR_SIDE], rings = l.rings;
    int *list = (int *)calloc((size_t)l.stored, sizeof(int)), *begin = (int *)calloc((size_t)rings + 2, sizeof(int));
    if (!list || !begin)
        return free(list), free(begin), RG_E_STATE;
    for (int pass = 0; pass < 2; pass++) { // count, then place; begin[k + 1] is where ring k goes on
        for (int64_t j = 1 - side / 2; j <= side / 2; j++)
            for (int64_t i = 0; i <= side / 2; i++) {
                const int64_t k = ring_of(call->shape, i, j);
                if (k >= 0 && pass)
                    list[begin[k + 1]++] = (int)((j + side / 2) << 16 | i);
                else if (k >= 0)
                    begin[k + 2]++;
            }
        for (int64_t k = 2; k <= rings + 1 && !pass; k++)
            begin[k] += begin[k - 1];
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

// back: the masked image returns to Fourier space. ring_of: which list FR_LIST wants.
static inline int fr_prepare(rg_call *call, const fr_layout &l, bool back, bool texture, fr_ring_of ring_of)
{
    const int64_t side = call->shape->n[FR_SIDE];
    fr_plan *plan = (fr_plan *)calloc(1, sizeof *plan);
    char *work = (char *)call->scratch + l.work;
    if (!plan)
        return RG_E_STATE;
    call->state = plan;
    int error =
        fr_make_fft(&plan->to_image, CUFFT_C2R, side, (back ? 1 : l.images) * l.calls, work, l.work_bytes, call->stream);
    if (!error && back)
        error = fr_make_fft(&plan->to_plane, CUFFT_R2C, side, l.calls, work, l.work_bytes, call->stream);
    if (!error && texture)
        error = fr_make_texture(plan, side * fr_pad(call->shape->n[FR_KIND]));
    return error || !l.list ? error : fr_copy_list(call, l, ring_of);
}

static inline void fr_finish(rg_call *call)
{
    fr_plan *plan = (fr_plan *)call->state;
    if (plan) {
        if (plan->to_image)
            cufftDestroy(plan->to_image);
        if (plan->to_plane)
            cufftDestroy(plan->to_plane);
        if (plan->texture)
            cudaDestroyTextureObject(plan->texture);
        if (plan->array)
            cudaFreeArray(plan->array);
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
    unsigned count; // of them in this pass
    float2 *image;
    double *part, *sums, *ring;
} fr_steps;

static inline fr_steps fr_steps_of(const rg_call *call, const fr_layout &l)
{
    char *scratch = (char *)call->scratch;
    fr_steps s = {call, (const fr_plan *)call->state, l, fr_input_of(call), 0, 0, (float2 *)(scratch + l.image),
                  (double *)(scratch + l.part), (double *)(scratch + l.sums), (double *)(scratch + l.ring)};
    return s;
}

static inline bool fr_next(fr_steps *s)
{
    s->first += s->count;
    const int64_t left = fr_calls(s->call->shape) - s->first;
    s->count = (unsigned)(left < s->l.calls ? left : s->l.calls);
    return left > 0;
}

static inline dim3 fr_plane_grid(const fr_steps &s, dim3 block)
{
    return dim3(fr_blocks(s.in.width, block.x), fr_blocks(s.in.side, block.y), s.count);
}

static inline dim3 fr_block(const fr_steps &s, int param) { return dim3((unsigned)s.call->param[param], 16); }

template <class volume> static int fr_extract_all(const fr_steps &s, volume f3, bool flipped)
{
    const dim3 block = fr_block(s, FR_P_INTERPOLATE), grid = fr_plane_grid(s, block);
#define FR_EXTRACT(how) \
    RG_LAUNCH((fr_extract<how, volume>), grid, block, 0, s.call->stream, s.in, f3, s.first, flipped, s.image)
    FR_FOR_INTERPOLATION(s.call->shape->n[FR_KIND], FR_EXTRACT)
#undef FR_EXTRACT
    return (int)cudaGetLastError();
}

static inline int fr_sections(const fr_steps &s, bool texture, bool flipped)
{
    const fr_memory memory = {s.in.f3, s.in.pairs};
    const fr_texture fetch = {s.plan->texture};
    return texture ? fr_extract_all(s, fetch, flipped) : fr_extract_all(s, memory, flipped);
}

static inline int fr_shifts(const fr_steps &s, bool flipped)
{
    const dim3 block = fr_block(s, FR_P_INTERPOLATE);
    float2 *second = s.image + s.l.calls * s.l.stored;
    RG_LAUNCH((fr_shifted), fr_plane_grid(s, block), block, 0, s.call->stream, s.in, s.first, flipped, second);
    return (int)cudaGetLastError();
}

template <int way, class pixels> static int fr_sum_pixels(const fr_steps &s, pixels p)
{
    const dim3 block = fr_block(s, FR_P_BLOCK), grid((unsigned)s.l.parts, s.count);
    if (way == FR_ATOMIC) {
        int error = (int)cudaMemsetAsync(s.sums, 0, s.count * pixels::n * sizeof(double), (cudaStream_t)s.call->stream);
        if (error)
            return error;
        RG_LAUNCH((fr_pixel_sums<way, pixels>), grid, block, 0, s.call->stream, p, s.in.side, s.sums);
        return (int)cudaGetLastError();
    }
    RG_LAUNCH((fr_pixel_sums<way, pixels>), grid, block, 0, s.call->stream, p, s.in.side, s.part);
    RG_LAUNCH((fr_combine<pixels::n>), s.count, FR_THREADS, 0, s.call->stream, s.part, (int)s.l.parts, s.sums);
    return (int)cudaGetLastError();
}

// The half planes of `plane` are masked in real space, in place.
template <int way> static int fr_mask_planes(const fr_steps &s, float2 *plane, const float *setting)
{
    float *image = (float *)plane;
    const fr_edge_sums edge = {image, setting};
    const dim3 block(32, 8), grid(fr_blocks(s.in.side, 32), fr_blocks(s.in.side, 8), s.count);
    if (cufftExecC2R(s.plan->to_image, plane, image))
        return RG_E_LIBRARY;
    int error = fr_sum_pixels<way>(s, edge);
    if (error)
        return error;
    RG_LAUNCH((fr_mask_image), grid, block, 0, s.call->stream, setting, s.in.side, s.sums, image);
    error = (int)cudaGetLastError();
    if (error)
        return error;
    return cufftExecR2C(s.plan->to_plane, image, plane) ? RG_E_LIBRARY : RG_OK;
}

template <int way> static int fr_sum_rings(const fr_steps &s)
{
    const dim3 block = fr_block(s, FR_P_BLOCK);
    const unsigned rings = (unsigned)fr_rings(s.in.side);
    void *stream = s.call->stream;
    const char *scratch = (const char *)s.call->scratch;
    if (way == FR_ATOMIC) {
        int error = (int)cudaMemsetAsync(s.ring, 0, s.count * rings * FR_RING_SUMS * sizeof(double), (cudaStream_t)stream);
        if (error)
            return error;
        const dim3 grid(fr_blocks(s.l.stored, 16 * s.call->param[FR_P_BLOCK]), s.count);
        RG_LAUNCH((fr_ring_atomics), grid, block, 0, stream, s.in, s.image, s.first, s.ring);
    } else if (way == FR_TREE) {
        RG_LAUNCH((fr_ring_tree), dim3(rings, s.count), block, 0, stream, s.in, s.image, s.first, s.ring);
    } else {
        const dim3 grid(fr_blocks(rings, 8), s.count);
        RG_LAUNCH((fr_ring_list), grid, 256, 0, stream, s.in, s.image, s.first, (const int *)(scratch + s.l.list),
                  (const int *)(scratch + s.l.begin), s.ring);
    }
    return (int)cudaGetLastError();
}

// ---- the four algorithms -------------------------------------------------------------------------------------------------

typedef enum { FR_CC3M, FR_PRESB, FR_SIGMA2, FR_CCOEF } fr_routine;

template <int way> static int fr_pass(const fr_steps &s, fr_routine routine, bool texture)
{
    float *out = (float *)s.call->arg[FR_SCORE];
    void *stream = s.call->stream;
    const int rings = (int)fr_rings(s.in.side);
    int error = fr_sections(s, texture, routine == FR_SIGMA2);
    if (routine == FR_CC3M || routine == FR_PRESB) {
        error = error ? error : fr_mask_planes<way>(s, s.image, s.in.setting);
        error = error ? error : fr_sum_rings<way>(s);
        if (error)
            return error;
        const int64_t n = (int64_t)s.count * rings;
        const bool by_ring = (s.call->shape->n[FR_KIND] & FR_RINGS) != 0;
        if (routine == FR_CC3M)
            RG_LAUNCH((fr_score), s.count, 32, 0, stream, s.ring, rings, s.in.setting, by_ring, s.first, out);
        else
            RG_LAUNCH((fr_ring_correlations), fr_blocks(n, 256), 256, 0, stream, s.ring, n, out + s.first * rings);
        return (int)cudaGetLastError();
    }
    error = error ? error : fr_shifts(s, routine == FR_SIGMA2);
    if (error)
        return error;
    const float *a = (const float *)s.image, *x = a + 2 * s.l.calls * s.l.stored;
    if (cufftExecC2R(s.plan->to_image, s.image, (float *)s.image))
        return RG_E_LIBRARY;
    const fr_disc_sums disc = {a, x, s.in.setting};
    const fr_whole_sums whole = {a, x};
    error = routine == FR_SIGMA2 ? fr_sum_pixels<way>(s, disc) : fr_sum_pixels<way>(s, whole);
    if (error)
        return error;
    const double pixels = (double)s.in.side * s.in.side;
    if (routine == FR_SIGMA2)
        RG_LAUNCH((fr_moments), fr_blocks(s.count, 64), 64, 0, stream, s.sums, (int)s.count, pixels,
                  out + s.first * FR_MOMENTS);
    else
        RG_LAUNCH((fr_coefficients), fr_blocks(s.count, 64), 64, 0, stream, s.sums, (int)s.count, out + s.first);
    return (int)cudaGetLastError();
}

static inline bool fr_in_real_space(fr_routine routine) { return routine == FR_SIGMA2 || routine == FR_CCOEF; }

static inline fr_layout fr_correlate_layout(const rg_shape *s, const int64_t *param, int way, fr_routine routine)
{
    return fr_in_real_space(routine) ? fr_layout_of(s, param, way, 2, 0)
                                     : fr_layout_of(s, param, way, 1, fr_rings(s->n[FR_SIDE]));
}

template <int way> static int fr_correlate(const rg_call *call, fr_routine routine, bool texture)
{
    fr_steps s = fr_steps_of(call, fr_correlate_layout(call->shape, call->param, way, routine));
    int error = texture ? fr_fill_texture(s.plan, call) : RG_OK;
    while (!error && fr_next(&s))
        error = fr_pass<way>(s, routine, texture);
    return error;
}

// Multiply-adds of a call's two transforms.
static inline double fr_transforms_mad(const rg_shape *s)
{
    const double pixels = (double)s->n[FR_SIDE] * (double)s->n[FR_SIDE];
    return 2 * 1.25 * pixels * log2(pixels);
}

// What one run asks of the machine: the reference's nodes in the band's ball, the images, and of each call its section, its
// transforms (cuFFT reads and writes twice each) and its sums, all of which may stay in L2 when few calls share a launch.
static inline void fr_correlate_cost(const rg_shape *s, bool texture, rg_cost *c)
{
    const double calls = (double)fr_calls(s);
    double band = 0;
    for (int64_t i = 0; i < s->n[FR_OUTER]; i++)
        band += 2 * sqrt((double)(s->n[FR_OUTER] * s->n[FR_OUTER] - i * i));
    const double nodes = pow((double)fr_nodes(fr_interpolation(s->n[FR_KIND])), 3), pad = (double)fr_pad(s->n[FR_KIND]);
    const double ball = 2.1 * pow((double)s->n[FR_OUTER] * pad, 3), read = band * calls * nodes;
    c->amount[RG_MEM_BYTES] = 12 * band * (double)s->n[FR_PARTICLES] + 8 * (ball < read ? ball : read);
    c->amount[RG_F32_MAD] = calls * (band * nodes * 5 + fr_transforms_mad(s));
    if (texture) {
        c->amount[RG_TEXTURE] = 2 * read;
        c->amount[RG_MEM_BYTES] += 16 * (double)fr_voxels(s->n[FR_SIDE] * fr_pad(s->n[FR_KIND]));
    }
}

#endif
