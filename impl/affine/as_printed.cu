// SPDX-License-Identifier: MIT
// align2d:as_printed, atct_2d with eq. 2 of Garcia et al. 2014 taken literally: single-precision sums of the raw values, a
// variance that is the difference of two of them, and N/(N-1) on the variances alone, which makes the correlation of an image
// with itself (N-1)/N. Kept for its error (digest G7): if the images are bright, their variance is a small difference of large
// sums (verify/tests/affine/test_affine.c).
#include "bound.h"
#include "columns.cuh"

// Five sums in float, as in the paper: I1 is I', I2 the reference.
struct printed_sums {
    float i1, i2, i1_i1, i2_i2, i1_i2;
};

static __device__ void printed_join(printed_sums &to, const printed_sums &from) {
    to.i1 += from.i1;
    to.i2 += from.i2;
    to.i1_i1 += from.i1_i1;
    to.i2_i2 += from.i2_i2;
    to.i1_i2 += from.i1_i2;
}

static __global__ void printed_columns(
    af_texture_2d<AF_EDGE> source, const float *reference, const float *matrix, int column, printed_sums *partial) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y0 = (int)blockIdx.y * column;
    const float *m = matrix + 6 * (int64_t)blockIdx.z, px = (float)x + af_low(source.w);
    __shared__ printed_sums all[AF_THREADS_MOST];
    printed_sums s = {0, 0, 0, 0, 0};
    for (int y = y0; y < y0 + column && y < source.h && x < source.w; y++) {
        const float py = (float)y + af_low(source.h);
        int takes_part;
        const float i1 = source.at(af_row_2d(m, px, py), af_row_2d(m + 3, px, py), &takes_part);
        const float i2 = reference[(int64_t)y * source.w + x];
        printed_join(s, printed_sums{i1, i2, i1 * i1, i2 * i2, i1 * i2});
    }
    all[threadIdx.x] = s;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (unsigned t = 1; t < blockDim.x; t++) printed_join(s, all[t]); // "a single thread carries out the summation"
    partial[((int64_t)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = s;
}

static __device__ float variance(float square, float mean, float n) { return (square - mean * mean) * (n / (n - 1)); }

// The host's part. If a variance may be all rounding, as that of a constant image, the result is 0 as in the other variants.
static __global__ void printed_finish(
    const printed_sums *partial, int blocks, int transforms, float n, double *rho, int32_t *pixels) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= transforms) return;
    printed_sums s = {0, 0, 0, 0, 0};
    for (int b = 0; b < blocks; b++) printed_join(s, partial[(int64_t)i * blocks + b]);
    const float variance_1 = variance(s.i1_i1 / n, s.i1 / n, n), variance_2 = variance(s.i2_i2 / n, s.i2 / n, n);
    const float rounding = 4 * sqrtf(n) * 0x1p-24f;
    const int varies = n >= 2 && variance_1 > rounding * s.i1_i1 / n && variance_2 > rounding * s.i2_i2 / n;
    const float value = varies ? (s.i1_i2 / n - (s.i1 / n) * (s.i2 / n)) / sqrtf(variance_1) / sqrtf(variance_2) : 0;
    rho[i] = value > 1 ? 1 : value < -1 ? -1 : value;
    pixels[i] = (int32_t)n;
}

static int run_as_printed(rg_call *call) {
    const af_size z = af_size_2d(call->shape);
    const dim3 grid = af_columns_grid(call->shape, call->param);
    printed_sums *partial = (printed_sums *)call->scratch;
    int error = af_texture_renew<AF_COLUMNS_UPLOAD>(call);
    if (error) return error;
    RG_LAUNCH(printed_columns, grid, (unsigned)call->param[AF_THREADS], 0, call->stream,
        (af_texture_2d<AF_EDGE>{af_texture_of(call), z.w, z.h}), (const float *)call->arg[AL_REFERENCE],
        (const float *)call->arg[AL_MATRIX], (int)call->param[1], partial);
    error = (int)cudaGetLastError();
    if (error) return error;
    RG_LAUNCH(printed_finish, af_blocks(grid.z, AF_FINISH), AF_FINISH, 0, call->stream, partial, (int)(grid.x * grid.y),
        (int)grid.z, (float)af_pixels(&z), (double *)call->arg[AL_RHO], (int32_t *)call->arg[AL_PIXELS]);
    return (int)cudaGetLastError();
}

static const char *refuse(const rg_shape *s, const int64_t *param) {
    if (s->n[AF2_OUTSIDE] == AF_IGNORE) return "eq. 2 counts every pixel: it knows the rules 0 (zero) and 1 (edge) only";
    return af_columns_refuse(s, param);
}

static size_t scratch(const rg_shape *s, const int64_t *param) {
    const dim3 grid = af_columns_grid(s, param);
    return (size_t)grid.x * grid.y * grid.z * sizeof(printed_sums);
}

// n errors of mean zero, 4 sqrt n u, times the largest (mean / sigma)^2 of bright inputs; and 1/N.
static rg_tolerance tolerance(const rg_shape *s, const int64_t *) {
    const af_size z = af_size_2d(s);
    const double n = (double)af_pixels(&z), one_pass = 4 * sqrt(n) * 0x1p-24 * 400 * 400 + 1 / n;
    rg_tolerance t = af_rho_bound(&z, AF_TEXTURE_FRACTION, one_pass < 1 ? one_pass : 1);
    t.reason = "single-precision one-pass variance of bright images, 9-bit shares, N/(N-1) (as_printed.cu)";
    return t;
}

RG_VARIANT(align2d_as_printed) = {
    RG_VARIANT_OF(
        "align2d", "as_printed", RG_OTHER, RG_DEVICE, "atct_2d with eq. 2 at its word: one-pass variance in single precision"),
    .needs = "sm_50",
    .flags = RG_COPIES_FIRST,
    RG_PARAMS(af_columns_params),
    .refuse = refuse,
    .scratch = scratch,
    .tolerance = tolerance,
    .cost = af_columns_cost,
    .prepare = af_texture_prepare_2d,
    .load = af_texture_load<AF_COLUMNS_UPLOAD>,
    .run = run_as_printed,
    .finish = af_texture_finish,
};
