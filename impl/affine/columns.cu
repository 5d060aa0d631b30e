// SPDX-License-Identifier: MIT
// align2d:atct_2d and align3d:atc_3d, atct_3d, the kernels of Garcia et al. 2014, secs 4.2 and 4.3 (digest G3, G4): the affine
// transformation and the correlation in one kernel, so that no transformed image is written. 128 threads, a column of 128
// pixels each; in three dimensions 16 x 16 threads in the plane of y and z, columns along x of the whole width (the paper's
// 90). Each block stores partial sums; a second kernel adds them and computes the correlations, as the paper's host did.
//
// With columns along x, neighbouring threads read a row apart from each other, unless the map turns z or y onto x: from memory,
// the slow angle (G5) depends on the direction of the columns; with the texture there is none. Measured:
// data/machines/h100-16xeon.tsv.
#include "bound.h"
#include "columns.cuh"

enum { UPLOAD_3D = 2 }; // of the parameters in three dimensions

template <class Source>
static __global__ void columns_2d(
    Source source, const float *reference, const float *matrix, int column, const float *typical, af_sums *partial) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y0 = (int)blockIdx.y * column;
    const float *m = matrix + 6 * (int64_t)blockIdx.z, px = (float)x + af_low(source.w);
    af_run run = {0, 0, 0, 0, 0, 0};
    for (int y = y0; y < y0 + column && y < source.h && x < source.w; y++) {
        const float py = (float)y + af_low(source.h);
        int takes_part;
        const float value = source.at(af_row_2d(m, px, py), af_row_2d(m + 3, px, py), &takes_part);
        if (takes_part) af_run_add(run, value - typical[0], reference[(int64_t)y * source.w + x] - typical[1]);
    }
    const af_sums s = af_block_sum<256>(af_sums_of(run));
    if (threadIdx.x == 0) partial[((int64_t)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = s;
}

template <class Source>
static __global__ void columns_3d(
    Source source, const float *reference, const float *matrix, const float *typical, af_sums *partial) {
    const int y = (int)(blockIdx.x * blockDim.x + threadIdx.x), z = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    const float *m = matrix + 12 * (int64_t)blockIdx.z, py = (float)y + af_low(source.h), pz = (float)z + af_low(source.d);
    af_run run = {0, 0, 0, 0, 0, 0};
    const float *row = reference + ((int64_t)z * source.h + y) * source.w;
    for (int x = 0; x < source.w && y < source.h && z < source.d; x++) {
        const float px = (float)x + af_low(source.w);
        int takes_part;
        const float value =
            source.at(af_row_3d(m, px, py, pz), af_row_3d(m + 4, px, py, pz), af_row_3d(m + 8, px, py, pz), &takes_part);
        if (takes_part) af_run_add(run, value - typical[0], row[x] - typical[1]);
    }
    const af_sums s = af_block_sum<256>(af_sums_of(run));
    if (threadIdx.x == 0 && threadIdx.y == 0)
        partial[((int64_t)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = s;
}

// ---- launches ------------------------------------------------------------------------------------------------------------

static dim3 block_3d(const int64_t *param) { return dim3((unsigned)param[0], (unsigned)param[1]); }
static dim3 grid_3d(const rg_shape *s, const int64_t *param) {
    return dim3(af_blocks(s->n[AF3_HEIGHT], param[0]), af_blocks(s->n[AF3_DEPTH], param[1]), (unsigned)s->n[AF3_TRANSFORMS]);
}

template <class Source> static int launch_2d(const rg_call *call, const Source &source) {
    const dim3 grid = af_columns_grid(call->shape, call->param);
    RG_LAUNCH((columns_2d<Source>), grid, (unsigned)call->param[0], 0, call->stream, source,
        (const float *)call->arg[AL_REFERENCE], (const float *)call->arg[AL_MATRIX], (int)call->param[1], af_typicals(call),
        af_partials(call));
    const int error = (int)cudaGetLastError();
    return error ? error : af_launch_finish(call, 0, grid.z, (int)(grid.x * grid.y));
}

template <class Source> static int launch_3d(const rg_call *call, const Source &source) {
    const dim3 grid = grid_3d(call->shape, call->param);
    RG_LAUNCH((columns_3d<Source>), grid, block_3d(call->param), 0, call->stream, source,
        (const float *)call->arg[AL_REFERENCE], (const float *)call->arg[AL_MATRIX], af_typicals(call), af_partials(call));
    const int error = (int)cudaGetLastError();
    return error ? error : af_launch_finish(call, 0, grid.z, (int)(grid.x * grid.y));
}

static int run_atct_2d(rg_call *call) {
    const af_size z = af_size_2d(call->shape);
    int error = af_launch_typical(call, z);
    error = error ? error : af_texture_renew<AF_COLUMNS_UPLOAD>(call);
    if (error) return error;
    if (z.outside == AF_IGNORE) return launch_2d(call, af_texture_2d<AF_IGNORE>{af_texture_of(call), z.w, z.h});
    return launch_2d(call, af_texture_2d<AF_EDGE>{af_texture_of(call), z.w, z.h}); // the texture applies the rule
}

static int run_atc_3d(rg_call *call) {
    const af_size z = af_size_3d(call->shape);
    const float *image = (const float *)call->arg[AL_IMAGE];
    const int error = af_launch_typical(call, z);
    if (error) return error;
    if (z.outside == AF_ZERO) return launch_3d(call, af_memory_3d<AF_ZERO>{image, z.w, z.h, z.d});
    if (z.outside == AF_EDGE) return launch_3d(call, af_memory_3d<AF_EDGE>{image, z.w, z.h, z.d});
    return launch_3d(call, af_memory_3d<AF_IGNORE>{image, z.w, z.h, z.d});
}

static int run_atct_3d(rg_call *call) {
    const af_size z = af_size_3d(call->shape);
    int error = af_launch_typical(call, z);
    error = error ? error : af_texture_renew<UPLOAD_3D>(call);
    if (error) return error;
    if (z.outside == AF_IGNORE) return launch_3d(call, af_texture_3d<AF_IGNORE>{af_texture_of(call), z.w, z.h, z.d});
    return launch_3d(call, af_texture_3d<AF_EDGE>{af_texture_of(call), z.w, z.h, z.d});
}

// ---- the table -----------------------------------------------------------------------------------------------------------

static const char *refuse_3d(const rg_shape *s, const int64_t *) { return af_refuse_many(s->n[AF3_TRANSFORMS]); }

static size_t scratch_2d(const rg_shape *s, const int64_t *param) {
    const dim3 grid = af_columns_grid(s, param);
    return af_scratch((int64_t)grid.x * grid.y, grid.z);
}
static size_t scratch_3d(const rg_shape *s, const int64_t *param) {
    const dim3 grid = grid_3d(s, param);
    return af_scratch((int64_t)grid.x * grid.y, grid.z);
}

static rg_tolerance tolerance_2d(const rg_shape *s, const int64_t *) {
    const af_size z = af_size_2d(s);
    return af_rho_bound(&z, AF_TEXTURE_FRACTION, 0);
}
static rg_tolerance tolerance_3d(const rg_shape *s, const int64_t *) {
    const af_size z = af_size_3d(s);
    return af_rho_bound(&z, AF_TEXTURE_FRACTION, 0);
}

// Three rows of the matrix and five sums; seven interpolations, or a fetch.
static void cost_3d(const rg_shape *s, const int64_t *, rg_cost *c) {
    const af_size z = af_size_3d(s);
    c->amount[RG_F32_MAD] = (double)af_pixels(&z) * (double)z.transforms * (9 + 5 + 14);
}
static void cost_3d_texture(const rg_shape *s, const int64_t *, rg_cost *c) {
    const af_size z = af_size_3d(s);
    c->amount[RG_F32_MAD] = (double)af_pixels(&z) * (double)z.transforms * (9 + 5);
    c->amount[RG_TEXTURE] = 2 * (double)af_pixels(&z) * (double)z.transforms; // two planes
}

static const int64_t sides_y[] = {8, 16}, sides_z[] = {2, 8, 16};
#define BLOCK_3D                                                                                                               \
    {"block_y", sides_y, RG_COUNT(sides_y), 16, "threads of a block along y"}, {                                               \
        "block_z", sides_z, RG_COUNT(sides_z), 16, "threads of a block along z"                                                \
    }
static const rg_param params_3d[] = {BLOCK_3D}, texture_params_3d[] = {BLOCK_3D, AF_UPLOAD};

RG_VARIANT(align2d_atct_2d) = {
    RG_VARIANT_OF(
        "align2d", "atct_2d", RG_OTHER, RG_DEVICE, "128 threads, columns of 128 pixels, texture hardware, sums of each block"),
    .needs = "sm_50",
    .flags = RG_COPIES_FIRST,
    RG_PARAMS(af_columns_params),
    .refuse = af_columns_refuse,
    .scratch = scratch_2d,
    .tolerance = tolerance_2d,
    .cost = af_columns_cost,
    .prepare = af_texture_prepare_2d,
    .load = af_texture_load<AF_COLUMNS_UPLOAD>,
    .run = run_atct_2d,
    .finish = af_texture_finish,
};
RG_VARIANT(align3d_atc_3d) = {
    RG_VARIANT_OF(
        "align3d", "atc_3d", RG_OTHER, RG_DEVICE, "16 x 16 threads, columns along x, from global memory, sums of each block"),
    .needs = "sm_50",
    RG_PARAMS(params_3d),
    .refuse = refuse_3d,
    .scratch = scratch_3d,
    .cost = cost_3d,
    .run = run_atc_3d,
};
RG_VARIANT(align3d_atct_3d) = {
    RG_VARIANT_OF(
        "align3d", "atct_3d", RG_OTHER, RG_DEVICE, "16 x 16 threads, columns along x, texture hardware, sums of each block"),
    .needs = "sm_50",
    .flags = RG_COPIES_FIRST,
    RG_PARAMS(texture_params_3d),
    .refuse = refuse_3d,
    .scratch = scratch_3d,
    .tolerance = tolerance_3d,
    .cost = cost_3d_texture,
    .prepare = af_texture_prepare_3d,
    .load = af_texture_load<UPLOAD_3D>,
    .run = run_atct_3d,
    .finish = af_texture_finish,
};
