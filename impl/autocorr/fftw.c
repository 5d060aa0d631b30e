// SPDX-License-Identifier: MIT
// fftw.c: eq. 1 through the correlation theorem with FFTW in double precision: the modern competitor (digest L13).
//
// The images are padded with zeros to at least (width + R) x (height + R), so that no offset wraps around; then S = F^-1(F(a)
// conj(F(b))), each sum rounded to the nearest integer. The two-dimensional transforms are split into rows and columns. Rows of
// padding and rows of offsets beyond R are not transformed, and eight columns at a time are transformed forward, multiplied and
// transformed back while they are in cache. Threads share rows and groups of columns. prepare makes the plans: with
// FFTW_MEASURE, or with FFTW_ESTIMATE, which plans faster but gives slower transforms.
//
// Error. A transform of N = nx ny points errs by at most e = 6.7 u log2 N relative to its norm, and in every single output
// relative to the sum of magnitudes of its inputs (Higham, Accuracy and Stability, 2nd ed., Sect. 24.1; u = 2^-53; radices
// above 2 round less often for each factor of two). By Cauchy-Schwarz the two forward transforms contribute 2 e |a| |b| to any
// sum, the inverse e |a| |b|, product and scaling 4 u |a| |b|, and |a| |b| is at most width height largest^2. Below one half,
// rounding removes the error: so for every 8-bit image below 1e8 pixels.
//
// Bound: the bare two-dimensional transforms, less the omitted parts. Measured: data/machines/h100-16xeon.tsv.
#include "index.h"
#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 8 }; // columns at a time: 128 bytes of a row

typedef struct grid {
    int64_t width, height, r, rx, ry; // rx, ry: largest offsets with an overlap
    int64_t nx, ny, pitch;            // points; complex numbers from one row to the next
    int cross, wide;
    size_t bytes; // of one spectrum
} grid;

typedef struct plans {
    fftw_plan row, column, column_back, row_back;
} plans;

// The smallest 2^i 3^j 5^k 7^l that is at least n.
static int64_t smooth(int64_t n) {
    static const int64_t prime[4] = {2, 3, 5, 7};
    for (;; n++) {
        int64_t rest = n;
        for (int i = 0; i < 4; i++)
            while (rest % prime[i] == 0) rest /= prime[i];
        if (rest == 1) return n;
    }
}

static grid make_grid(const rg_shape *s) {
    grid g = {.width = s->n[AC_WIDTH], .height = s->n[AC_HEIGHT], .r = s->n[AC_R]};
    g.cross = (s->n[AC_KIND] & AC_CROSS) != 0;
    g.wide = (s->n[AC_KIND] & AC_16BIT) != 0;
    g.rx = g.r < g.width ? g.r : g.width - 1;
    g.ry = g.r < g.height ? g.r : g.height - 1;
    g.nx = smooth(g.width + g.rx);
    g.ny = smooth(g.height + g.ry);
    g.pitch = (g.nx / 2 + 1 + BATCH - 1) / BATCH * BATCH;
    if (g.pitch % 256 == 0) g.pitch += BATCH; // a column at multiples of 4 KiB would fall into few cache sets
    g.bytes = (size_t)(g.ny * g.pitch) * sizeof(fftw_complex);
    return g;
}

static size_t scratch(const rg_shape *s, const int64_t *param) {
    (void)param;
    grid g = make_grid(s);
    return g.bytes * (g.cross ? 2 : 1);
}

static const char *refuse(const rg_shape *s, const int64_t *param) {
    (void)param;
    grid g = make_grid(s);
    return g.nx > INT32_MAX || g.ny > INT32_MAX || g.pitch > INT32_MAX ? "FFTW counts in 32 bits" : NULL;
}

static rg_tolerance tolerance(const rg_shape *s, const int64_t *param) {
    (void)param;
    grid g = make_grid(s);
    double u = 0x1p-53, largest = g.wide ? 65535 : 255, most = (double)g.width * (double)g.height * largest * largest;
    double error = (3 * 6.7 * u * log2((double)g.nx * (double)g.ny) + 4 * u) * most;
    if (error < 0.5) return (rg_tolerance){RG_EXACT, 0, 0, "rounding errors stay below one half, then the sums are rounded"};
    return (rg_tolerance){RG_BOUND, error + 0.5, 0, "(20.1 log2(nx ny) + 4) 2^-53 width height largest^2 + 1/2"};
}

static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    grid g = make_grid(s);
    double images = g.cross ? 2 : 1, columns = (double)g.pitch, nx = (double)g.nx, ny = (double)g.ny;
    double rows = images * (double)g.height + (double)g.ry * images + 1;
    // 5 n log2 n operations for a complex transform, half of it for a real one; two operations count as one multiply-add.
    c->amount[RG_F64_MAD] = (2.5 * rows * nx * log2(nx) + (images + 1) * 5 * columns * ny * log2(ny)) / 2 + 3 * columns * ny;
}

static void finish(rg_call *call) {
    plans *p = call->state;
    if (!p) return;
    fftw_plan each[4] = {p->row, p->column, p->column_back, p->row_back};
#pragma omp critical(fftw_planner) // makes and destroys plans one at a time
    for (int i = 0; i < 4; i++)
        if (each[i]) fftw_destroy_plan(each[i]);
    free(p);
    call->state = NULL;
}

// All rows and batches of columns begin at multiples of 128 bytes in scratch, so plans made for the first fit all.
static int prepare(rg_call *call) {
    const grid g = make_grid(call->shape);
    const int nx = (int)g.nx, ny = (int)g.ny, pitch = (int)g.pitch;
    fftw_complex *z = call->scratch;
    plans *p = call->state = calloc(1, sizeof *p);
    if (!p) return RG_E_STATE;
    const unsigned how = call->param[0] ? FFTW_MEASURE : FFTW_ESTIMATE;
#pragma omp critical(fftw_planner)
    {
        p->row = fftw_plan_dft_r2c_1d(nx, (double *)z, z, how);
        p->row_back = fftw_plan_dft_c2r_1d(nx, z, (double *)z, how);
        p->column = fftw_plan_many_dft(1, &ny, BATCH, z, NULL, pitch, 1, z, NULL, pitch, 1, FFTW_FORWARD, how);
        p->column_back = fftw_plan_many_dft(1, &ny, BATCH, z, NULL, pitch, 1, z, NULL, pitch, 1, FFTW_BACKWARD, how);
    }
    if (p->row && p->row_back && p->column && p->column_back) return RG_OK;
    finish(call);
    return RG_E_LIBRARY;
}

// Row y of an image, padded and transformed in place. Rows of padding are zero before and after.
static void row_forward(const grid *g, const plans *p, const void *image, int64_t y, fftw_complex *row) {
    double *real = (double *)row;
    int64_t n = y < g->height ? g->width : 0;
    const uint8_t *bytes = (const uint8_t *)image + (n && !g->wide ? y * g->width : 0);
    const uint16_t *words = (const uint16_t *)image + (n && g->wide ? y * g->width : 0);
    if (g->wide)
        for (int64_t x = 0; x < n; x++) real[x] = words[x];
    else
        for (int64_t x = 0; x < n; x++) real[x] = bytes[x];
    memset(real + n, 0, (size_t)(2 * g->pitch - n) * sizeof(double));
    if (n) fftw_execute_dft_r2c(p->row, real, row);
}

// Transforms eight columns forward, multiplies, and transforms back. b is NULL in an autocorrelation.
static void columns(const grid *g, const plans *p, fftw_complex *a, fftw_complex *b) {
    fftw_execute_dft(p->column, a, a);
    if (b) fftw_execute_dft(p->column, b, b);
    for (int64_t y = 0; y < g->ny; y++) {
        double *f = a[y * g->pitch], *h = b ? b[y * g->pitch] : f;
        for (int i = 0; i < 2 * BATCH; i += 2) {
            double real = f[i] * h[i] + f[i + 1] * h[i + 1], imaginary = f[i + 1] * h[i] - f[i] * h[i + 1];
            f[i] = real;
            f[i + 1] = imaginary;
        }
    }
    fftw_execute_dft(p->column_back, a, a);
}

// The sums of one Y0. An autocorrelation only computes Y0 >= 0, and the opposite offset gets the same number.
static void row_back(const grid *g, const plans *p, fftw_complex *spectrum, int64_t y0, int64_t *sums) {
    fftw_complex *row = spectrum + (y0 < 0 ? y0 + g->ny : y0) * g->pitch;
    double *real = (double *)row, scale = 1 / ((double)g->nx * (double)g->ny);
    fftw_execute_dft_c2r(p->row_back, row, real);
    for (int64_t x0 = !g->cross && y0 == 0 ? 0 : -g->rx; x0 <= g->rx; x0++) {
        int64_t e = ac_element(g->r, x0, y0);
        sums[e] = llrint(real[x0 < 0 ? x0 + g->nx : x0] * scale);
        if (!g->cross) sums[ac_mirror(g->r, e)] = sums[e];
    }
}

static int run(rg_call *call) {
    const grid shape = make_grid(call->shape), *g = &shape;
    const plans *p = call->state;
    if (!p) return RG_E_STATE;
    fftw_complex *a = call->scratch, *b = g->cross ? a + g->ny * g->pitch : NULL;
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    if (g->rx < g->r || g->ry < g->r) memset(sums, 0, (size_t)(ac_side(g->r) * ac_side(g->r)) * sizeof *sums);
#pragma omp parallel num_threads(call->threads)
    {
#pragma omp for schedule(dynamic, 16)
        for (int64_t y = 0; y < g->ny; y++) {
            row_forward(g, p, call->arg[AC_A], y, a + y * g->pitch);
            if (b) row_forward(g, p, call->arg[AC_B], y, b + y * g->pitch);
        }
#pragma omp for schedule(dynamic)
        for (int64_t x = 0; x < g->nx / 2 + 1; x += BATCH) columns(g, p, a + x, b ? b + x : NULL);
#pragma omp for schedule(dynamic, 16)
        for (int64_t y0 = g->cross ? -g->ry : 0; y0 <= g->ry; y0++) row_back(g, p, a, y0, sums);
    }
    return RG_OK;
}

static const int64_t plan_values[] = {0, 1};
static const rg_param params[] = {{"plan", plan_values, RG_COUNT(plan_values), 1, "0 FFTW_ESTIMATE, 1 FFTW_MEASURE"}};

RG_VARIANT(autocorr_fftw) = {
    RG_VARIANT_OF(
        "autocorr", "fftw", RG_LIBRARY, RG_HOST, "correlation theorem through FFTW in double precision, rounded to integers"),
    .flags = RG_THREADED,
    RG_PARAMS(params),
    .refuse = refuse,
    .scratch = scratch,
    .tolerance = tolerance,
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .finish = finish,
};
