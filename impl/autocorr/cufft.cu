// SPDX-License-Identifier: MIT
// autocorr:cufft, eq. 1 by the correlation theorem, S = inverse transform of A conj(B), in double precision by cuFFT: the
// competitor of all direct sums, whose cost hardly depends on R.
//
// The photographs are padded with zeros to at least (w + R) x (h + R), so that no offset up to R wraps around onto another, and
// to sides that only have the factors 2, 3, 5 and 7. All steps work in place, in one array of H x (W/2 + 1) complex numbers a
// photograph. Three passes surround the transforms: bytes to doubles, the product, and the crop, which also scales and rounds.
// Bound: the bare transforms. Measured: data/machines/h100-16xeon.tsv.
#include "index.h"
#include "../gpu/fft.cuh"

#include <math.h>
#include <stdlib.h>

typedef struct grid {
    int64_t width, height, columns; // padded sides; complex numbers a line
} grid;

template <class pixel> static __global__ void pad(const pixel *photo, int64_t w, int64_t h, grid g, double2 *to) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= g.columns * g.height) return;
    int64_t y = i / g.columns, x = 2 * (i - y * g.columns);
    const pixel *line = photo + y * w;
    to[i] = make_double2(y < h && x < w ? line[x] : 0, y < h && x + 1 < w ? line[x + 1] : 0);
}

// a <- a conj(b)
static __global__ void product(double2 *a, const double2 *b, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double2 u = a[i], v = b[i];
    a[i] = make_double2(u.x * v.x + u.y * v.y, u.y * v.x - u.x * v.y);
}

static __global__ void crop(const double *sum, grid g, int64_t r, int64_t *sums) {
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= ac_side(r) * ac_side(r)) return;
    int64_t x = ac_x0(r, e), y = ac_y0(r, e);
    x += x < 0 ? g.width : 0;
    y += y < 0 ? g.height : 0;
    sums[e] = __double2ll_rn(sum[y * 2 * g.columns + x] / ((double)g.width * (double)g.height));
}

// The least n' >= n that is a multiple of `step` (even) and has no prime factor above 7.
static int64_t good_size(int64_t n, int64_t step) {
    for (n = (n + step - 1) / step * step;; n += step) {
        int64_t rest = n;
        const int factor[] = {2, 3, 5, 7};
        for (int i = 0; i < RG_COUNT(factor); i++)
            while (rest % factor[i] == 0) rest /= factor[i];
        if (rest == 1) return n;
    }
}

static grid grid_of(const rg_shape *s, const int64_t *param) {
    grid g;
    g.width = good_size(s->n[AC_WIDTH] + s->n[AC_R], param[0]);
    g.height = good_size(s->n[AC_HEIGHT] + s->n[AC_R], param[0]);
    g.columns = g.width / 2 + 1;
    return g;
}

static int photos(const rg_shape *s) { return s->n[AC_KIND] & AC_CROSS ? 2 : 1; }
static size_t array_bytes(const rg_shape *s, const int64_t *param) {
    grid g = grid_of(s, param);
    return ((size_t)g.columns * (size_t)g.height * sizeof(double2) + 255) / 256 * 256;
}

// cuFFT gives the size of its work area only after it has made a plan; for such sides it is at most two arrays and a little.
static size_t work_bytes(const rg_shape *s, const int64_t *param) { return 2 * array_bytes(s, param) + ((size_t)1 << 20); }
static size_t scratch(const rg_shape *s, const int64_t *param) {
    return array_bytes(s, param) * (size_t)photos(s) + work_bytes(s, param);
}

static const char *refuse(const rg_shape *s, const int64_t *param) {
    grid g = grid_of(s, param);
    return g.width * g.height < INT64_C(1) << 38 ? NULL : "more than 2^38 padded pixels do not fit a launch of 2^31 blocks";
}

// A value of a transform of n = 2^L numbers passes through L butterflies, each a product with a rounded root of unity and a
// sum, with an error of at most 7 u each (Higham, Accuracy and Stability, 2nd ed., sec. 24.1, u = 2^-53; less for higher
// radices), relative to the sum of moduli. Two forward transforms and the backward one: 21 L u, and 4 u for product, scaling
// and rounding, times sum |A||B| / n <= |a||b| (Parseval, Cauchy-Schwarz) <= top^2 w h. Below one half, rounding gives the
// exact integer.
static rg_tolerance tolerance(const rg_shape *s, const int64_t *param) {
    grid g = grid_of(s, param);
    double top = s->n[AC_KIND] & AC_16BIT ? 65535 : 255, levels = log2((double)g.width * (double)g.height);
    double bound = (21 * levels + 4) * 0x1p-53 * top * top * (double)s->n[AC_WIDTH] * (double)s->n[AC_HEIGHT];
    if (bound < 0.5)
        return {RG_EXACT, 0, 0, "error of the transforms, (21 log2(WH) + 4) u 255^2 w h, is below one half: rounding is exact"};
    return {RG_BOUND, bound + 0.5, 0, "(21 log2(WH) + 4) u top^2 w h for the three transforms, one half for rounding"};
}

static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    grid g = grid_of(s, param);
    double pixels = (double)g.width * (double)g.height, arrays = (double)array_bytes(s, param), transforms = photos(s) + 1;
    double sums = 8.0 * (double)(ac_side(s->n[AC_R]) * ac_side(s->n[AC_R]));
    c->amount[RG_F64_MAD] = transforms * 1.25 * pixels * log2(pixels);
    // A transform reads and writes its array once a side. Padding writes it, the product reads and writes it, the crop reads
    // it.
    c->amount[RG_MEM_BYTES] = arrays * (4 * transforms + photos(s) + photos(s) + 1) + 2 * sums;
}

typedef struct plans {
    rg_fft forward, backward;
} plans;

static int make_plan(rg_fft *plan, cufftType type, grid g, const rg_call *call) {
    const int64_t n[2] = {g.height, g.width};
    void *area = (char *)call->scratch + array_bytes(call->shape, call->param) * (size_t)photos(call->shape);
    return rg_fft_make(plan, type, 2, n, 1, area, work_bytes(call->shape, call->param), call->stream);
}

static int prepare(rg_call *call) {
    plans *p = (plans *)calloc(1, sizeof *p);
    if (!p) return RG_E_STATE;
    call->state = p;
    grid g = grid_of(call->shape, call->param);
    int error = make_plan(&p->forward, CUFFT_D2Z, g, call);
    return error ? error : make_plan(&p->backward, CUFFT_Z2D, g, call);
}

static int run(rg_call *call) {
    const rg_shape *s = call->shape;
    const plans *plan = (const plans *)call->state;
    grid g = grid_of(s, call->param);
    int64_t w = s->n[AC_WIDTH], h = s->n[AC_HEIGHT], r = s->n[AC_R], n = g.columns * g.height;
    unsigned blocks = (unsigned)((n + 255) / 256);
    size_t second = (size_t)(photos(s) - 1) * array_bytes(s, call->param);
    double2 *array[2] = {(double2 *)call->scratch, (double2 *)((char *)call->scratch + second)};
    for (int i = 0; i < photos(s); i++) {
        if (s->n[AC_KIND] & AC_16BIT)
            RG_LAUNCH((pad<uint16_t>), blocks, 256, 0, call->stream, (const uint16_t *)call->arg[i], w, h, g, array[i]);
        else
            RG_LAUNCH((pad<uint8_t>), blocks, 256, 0, call->stream, (const uint8_t *)call->arg[i], w, h, g, array[i]);
        int error = (int)cudaGetLastError();
        if (error) return error;
        if ((error = rg_fft_run(&plan->forward, array[i]))) return error;
    }
    RG_LAUNCH((product), blocks, 256, 0, call->stream, array[0], array[1], n);
    int error = (int)cudaGetLastError();
    if (error) return error;
    if ((error = rg_fft_run(&plan->backward, array[0]))) return error;
    RG_LAUNCH((crop), (unsigned)((ac_side(r) * ac_side(r) + 255) / 256), 256, 0, call->stream, (const double *)array[0], g, r,
        (int64_t *)call->arg[AC_SUMS]);
    return (int)cudaGetLastError();
}

static void finish(rg_call *call) {
    plans *p = (plans *)call->state;
    if (p) {
        rg_fft_free(&p->forward);
        rg_fft_free(&p->backward);
    }
    free(p);
    call->state = NULL;
}

static const int64_t steps_of[] = {2, 16, 64, 128};
static const rg_param params[] = {
    {"multiple", steps_of, RG_COUNT(steps_of), 2, "padded sides are multiples of this without prime factors above 7"},
};

RG_VARIANT(autocorr_cufft) = {
    RG_VARIANT_OF("autocorr", "cufft", RG_LIBRARY, RG_DEVICE,
        "correlation theorem: cuFFT in double precision, padded, rounded to integers"),
    .needs = "sm_50",
    RG_PARAMS(params),
    .refuse = refuse,
    .scratch = scratch,
    .tolerance = tolerance,
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .finish = finish,
};
