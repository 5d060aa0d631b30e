// SPDX-License-Identifier: MIT
// autocorr:fft, eq. 1 by the correlation theorem as in cufft, but with custom transforms that skip unneeded parts and keep a
// line in registers: three kernels pass over the data instead of a dozen.
//
// rows: two lines of a photograph, as real and imaginary part, become one complex transform along x, whose two spectra are
// separated and stored column by column; lines of padding do not exist. columns: one block a column transforms forward along y,
// multiplies (by itself or by the other photograph's column), transforms back, and stores the offsets wanted. offsets:
// transforms two rows of Y0 at a time back along x and rounds. A line of N = 2^m points is 16 numbers in each of N / 16 threads
// (Stockham's order, radix 16, the last radix what is left; Govindaraju et al. 2008). Between two radices they are exchanged
// through shared memory, padded so that the lanes of a warp have no bank conflicts.
//
// Bound: fp64 operations (two transforms of N log2 N points a column), and shared memory for the exchanges. The spectrum, 16
// bytes for a point of half the padded width, is written and read once, in L2 where it fits.
#include "index.h"
#include "../gpu/cuda.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS = 16, LEAST = 256, MOST = 8192, SIZES = 6 }; // numbers a thread; points of a line; number of sizes

// Padded sides and layout: the spectrum as [column][line], columns 0 .. width / 2, and the rows wanted as [row][column].
typedef struct grid {
    int w, h, r, width, height;
    int columns, pitch, rows; // columns stored; lines from one column to the next; computed rows of Y0
    bool cross, wide;
    int64_t root_x, root_y, spectrum, product, bytes; // offsets of the parts in scratch, and its size
} grid;

// ---- a transform in registers and shared memory ---------------------------------------------------------------------------

static __device__ __forceinline__ double2 add(double2 a, double2 b) { return make_double2(a.x + b.x, a.y + b.y); }
static __device__ __forceinline__ double2 subtract(double2 a, double2 b) { return make_double2(a.x - b.x, a.y - b.y); }
static __device__ __forceinline__ double2 conjugate(double2 a) { return make_double2(a.x, -a.y); }
static __device__ __forceinline__ double2 times(double2 a, double2 b) {
    return make_double2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// z exp(-2 pi i k / 16), k = 0 .. 7 known when compiled.
static __device__ __forceinline__ double2 turn(double2 z, int k) {
    const double c = 0.92387953251128675613, s = 0.38268343236508977173, h = 0.70710678118654752440;
    switch (k) {
    case 0: return z;
    case 1: return times(z, make_double2(c, -s));
    case 2: return make_double2(h * (z.x + z.y), h * (z.y - z.x));
    case 3: return times(z, make_double2(s, -c));
    case 4: return make_double2(z.y, -z.x);
    case 5: return times(z, make_double2(-s, -c));
    case 6: return make_double2(h * (z.y - z.x), -h * (z.x + z.y));
    default: return times(z, make_double2(-c, -s));
    }
}

template <int radix> static __device__ __forceinline__ constexpr int reversed(int q) {
    int to = 0;
    for (int bit = 1; bit < radix; bit *= 2) to = 2 * to + ((q & bit) != 0);
    return to;
}

// The transform of v[first], v[first + POINTS / radix], ..., with pieces from `length` on; its output is in the order of
// reversed().
template <int radix, int length> static __device__ __forceinline__ void butterflies(double2 v[POINTS], int first) {
    constexpr int step = POINTS / radix, half = length / 2;
#pragma unroll
    for (int pair = 0; pair < radix / 2; pair++) {
        const int i = pair % half, at = first + (pair / half * length + i) * step;
        const double2 low = v[at], high = v[at + half * step];
        v[at] = add(low, high);
        v[at + half * step] = turn(subtract(low, high), i * (16 / length));
    }
    if constexpr (length > 2) butterflies<radix, half>(v, first);
}

static __device__ __forceinline__ int padded(int i) { return i + i / 16; }
template <int N> RG_HD constexpr int values() { return N + N / 16; } // of one part of a line in shared memory

// Exchanges values that threads hold as `from(i)`: thread t gets t, t + N / POINTS, ...; real and imaginary parts separately.
template <int N> static __device__ __forceinline__ void fetch(double2 v[POINTS], const double *line) {
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
        const int at = padded((int)threadIdx.x + i * (N / POINTS));
        v[i] = make_double2(line[at], line[values<N>() + at]);
    }
}

static __device__ __forceinline__ void put(double *imaginary, double *line, int at, double2 z) {
    line[padded(at)] = z.x;
    imaginary[padded(at)] = z.y;
}

// Forward transform in place of v[i] = x[t + i N / POINTS], after radices whose product is `done`. root: exp(-2 pi i k / N).
template <int N, int done>
static __device__ __forceinline__ void transform(double2 v[POINTS], const double2 *root, double *line) {
    constexpr int radix = N / done < POINTS ? N / done : POINTS, step = POINTS / radix, threads = N / POINTS;
#pragma unroll
    for (int first = 0; first < step; first++) {
        const int k = ((int)threadIdx.x + first * threads) % done;
        if constexpr (done > 1)
#pragma unroll
            for (int q = 1; q < radix; q++)
                v[first + q * step] = times(v[first + q * step], root[k * q * (N / (done * radix))]);
        butterflies<radix, radix>(v, first);
    }
    if constexpr (done * radix == N) { // in place, except for the order within a thread
        double2 out[POINTS];
#pragma unroll
        for (int i = 0; i < POINTS; i++) out[i] = v[i % step + reversed<radix>(i / step) * step];
#pragma unroll
        for (int i = 0; i < POINTS; i++) v[i] = out[i];
    } else {
#pragma unroll
        for (int first = 0; first < step; first++) {
            const int j = (int)threadIdx.x + first * threads, k = j % done;
#pragma unroll
            for (int q = 0; q < radix; q++)
                put(line + values<N>(), line, (j - k) * radix + k + q * done, v[first + reversed<radix>(q) * step]);
        }
        __syncthreads();
        fetch<N>(v, line);
        __syncthreads(); // before the line is used again
        transform<N, done * radix>(v, root, line);
    }
}

// ---- the three passes -----------------------------------------------------------------------------------------------------

// Blocks a multiprocessor at a time if a thread may have 128 registers; a block has at least a warp.
template <int N> constexpr int blocks_together() { return N < 512 ? 16 : 512 / (N / POINTS); }

// Block b transforms lines 2b and 2b + 1 of a photograph.
template <class pixel, int N>
static __device__ __forceinline__ void load_lines(double2 v[POINTS], const grid &g, const pixel *photo) {
    const int y = 2 * (int)blockIdx.x;
    const pixel *low = photo + (int64_t)y * g.w, *high = y + 1 < g.h ? low + g.w : nullptr;
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
        const int x = (int)threadIdx.x + i * (N / POINTS);
        v[i] = make_double2(x < g.w ? low[x] : 0, high && x < g.w ? high[x] : 0);
    }
}

template <int N>
static __global__ void __launch_bounds__(N / POINTS, blocks_together<N>())
    rows(grid g, const void *photo, const double2 *root, double2 *spectrum) {
    RG_SHARED_DYNAMIC(double, line);
    const int y = 2 * (int)blockIdx.x, t = (int)threadIdx.x;
    double2 v[POINTS];
    if (g.wide)
        load_lines<uint16_t, N>(v, g, (const uint16_t *)photo);
    else
        load_lines<uint8_t, N>(v, g, (const uint8_t *)photo);
    transform<N, 1>(v, root, line);
#pragma unroll
    for (int i = 0; i < POINTS; i++) put(line + values<N>(), line, t + i * (N / POINTS), v[i]);
    __syncthreads();
#pragma unroll
    for (int i = 0; i <= POINTS / 2; i++) { // the transforms of a + i b at k and at -k give those of a and b
        const int k = t + i * (N / POINTS), mate = padded((N - k) % N);
        if (k > N / 2) continue;
        const double2 m = make_double2(line[mate], -line[values<N>() + mate]), sum = add(v[i], m), rest = subtract(v[i], m);
        double2 *to = spectrum + (int64_t)k * g.pitch + y;
        to[0] = make_double2(sum.x / 2, sum.y / 2);
        to[1] = make_double2(rest.y / 2, -rest.x / 2);
    }
}

template <int N> static __device__ __forceinline__ void load(double2 v[POINTS], const grid &g, const double2 *from) {
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
        const int y = (int)threadIdx.x + i * (N / POINTS);
        v[i] = y < g.h ? from[y] : make_double2(0, 0);
    }
}

// Column blockIdx.x: forward transform, product, back transform (the conjugate of the transform of the conjugate).
template <int N, bool cross>
static __global__ void __launch_bounds__(N / POINTS, cross ? (blocks_together<N>() + 1) / 2 : blocks_together<N>())
    columns(grid g, const double2 *spectrum, const double2 *root, double2 *product) {
    RG_SHARED_DYNAMIC(double, line);
    const double2 *from = spectrum + (int64_t)blockIdx.x * g.pitch;
    double2 v[POINTS];
    load<N>(v, g, from);
    transform<N, 1>(v, root, line);
    if constexpr (cross) {
        double2 other[POINTS];
        load<N>(other, g, from + (int64_t)g.columns * g.pitch);
        transform<N, 1>(other, root, line);
#pragma unroll
        for (int i = 0; i < POINTS; i++) v[i] = times(conjugate(v[i]), other[i]);
    } else {
#pragma unroll
        for (int i = 0; i < POINTS; i++) v[i] = make_double2(v[i].x * v[i].x + v[i].y * v[i].y, 0);
    }
    transform<N, 1>(v, root, line);
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
        const int y = (int)threadIdx.x + i * (N / POINTS);
        const int row = y <= g.r ? y : cross && y >= N - g.r ? y - N + 2 * g.r + 1 : -1;
        if (row >= 0) product[(int64_t)row * g.columns + blockIdx.x] = conjugate(v[i]);
    }
}

// Block b transforms rows 2b and 2b + 1 of Y0, as real and imaginary part.
template <int N>
static __global__ void __launch_bounds__(N / POINTS, blocks_together<N>())
    offsets(grid g, const double2 *product, const double2 *root, int64_t *sums) {
    RG_SHARED_DYNAMIC(double, line);
    const int row = 2 * (int)blockIdx.x;
    const double2 *low = product + (int64_t)row * g.columns, *high = row + 1 < g.rows ? low + g.columns : nullptr;
    double2 v[POINTS];
#pragma unroll
    for (int i = 0; i < POINTS; i++) { // conj(a + i b); beyond the middle a and b are the conjugates of their mates
        const int k = (int)threadIdx.x + i * (N / POINTS), mate = k <= N / 2 ? k : N - k;
        double2 a = low[mate], b = high ? high[mate] : make_double2(0, 0);
        if (k > N / 2) a = conjugate(a), b = conjugate(b);
        v[i] = make_double2(a.x - b.y, -a.y - b.x);
    }
    transform<N, 1>(v, root, line);
    const double scale = 1.0 / ((double)N * (double)g.height);
#pragma unroll
    for (int i = 0; i < POINTS; i++) {
        const int x = (int)threadIdx.x + i * (N / POINTS), x0 = x <= g.r ? x : x - N;
        for (int part = 0; part < 2 && x0 >= -g.r && row + part < g.rows; part++) {
            const int y0 = row + part <= g.r ? row + part : row + part - 2 * g.r - 1;
            const int64_t e = ac_element(g.r, x0, y0), sum = __double2ll_rn((part ? -v[i].y : v[i].x) * scale);
            sums[e] = sum;
            if (!g.cross && y0 > 0) sums[ac_mirror(g.r, e)] = sum;
        }
    }
}

// ---- layout -------------------------------------------------------------------------------------------------------------

// Large enough that no offset wraps around onto another.
static int64_t side_of(int64_t side, int64_t r) {
    int64_t n = LEAST;
    while (n < side + r || n < 2 * r + 1) n *= 2;
    return n;
}

static grid grid_of(const rg_shape *s) {
    grid g = {};
    const int64_t width = side_of(s->n[AC_WIDTH], s->n[AC_R]), height = side_of(s->n[AC_HEIGHT], s->n[AC_R]);
    if (width > MOST || height > MOST) return g;
    g.w = (int)s->n[AC_WIDTH], g.h = (int)s->n[AC_HEIGHT], g.r = (int)s->n[AC_R];
    g.width = (int)width, g.height = (int)height;
    g.cross = s->n[AC_KIND] & AC_CROSS, g.wide = s->n[AC_KIND] & AC_16BIT;
    g.columns = g.width / 2 + 1;
    g.pitch = (g.h + 1) / 2 * 2;
    g.rows = g.cross ? 2 * g.r + 1 : g.r + 1;
    const int64_t unit = sizeof(double2);
    g.root_y = g.width * unit;
    g.spectrum = g.root_y + g.height * unit;
    g.product = g.spectrum + (g.cross ? 2 : 1) * (int64_t)g.columns * g.pitch * unit;
    g.bytes = g.product + (int64_t)g.rows * g.columns * unit;
    return g;
}

static size_t scratch(const rg_shape *s, const int64_t *) { return (size_t)grid_of(s).bytes; }

// A level of a transform is a product with a rounded root of unity and a sum, with an error of at most 7 u (Higham, Accuracy
// and Stability, 2nd ed., sec. 24.1, u = 2^-53), relative to the sum of moduli; the roots between two radices are those of
// their last level. Two forward transforms and the backward one: 21 u a level, and 6 u for separating two lines, product,
// scaling and rounding, times |a||b| <= top^2 w h (Parseval, Cauchy-Schwarz). Two lines that share a transform add each other's
// error: |a + ib| <= sqrt 2 times the larger, hence 2 for forward and back. Below one half, rounding gives the exact integer.
static double error_bound(const rg_shape *s, const grid &g) {
    const double top = g.wide ? 65535 : 255, levels = log2((double)g.width * (double)g.height);
    return 2 * (21 * levels + 6) * 0x1p-53 * top * top * (double)s->n[AC_WIDTH] * (double)s->n[AC_HEIGHT];
}

static rg_tolerance tolerance(const rg_shape *, const int64_t *) {
    return {RG_EXACT, 0, 0, "the transforms' error, 2 (21 log2(WH) + 6) u top^2 w h, is below one half: rounding is exact"};
}

static const char *refuse(const rg_shape *s, const int64_t *) {
    const grid g = grid_of(s);
    if (!g.bytes) return "a side and the largest offset are more than 8192 pixels: a line does not fit a block";
    return error_bound(s, g) < 0.5 ? nullptr : "sums so large are not exact in double precision: the photograph is too large";
}

// A transform of N points: 5 N log2 N operations, half as many multiply-adds. Each exchange writes and reads a point.
static double mads(double n) { return 2.5 * n * log2(n); }
static double exchanged(double n) { return 32 * n * (ceil(log2(n) / 4) - 1); }

static void cost(const rg_shape *s, const int64_t *, rg_cost *c) {
    const grid g = grid_of(s);
    const double photos = g.cross ? 2 : 1, pixel = s->n[AC_KIND] & AC_16BIT ? 2 : 1;
    const double across = photos * ((g.h + 1) / 2) + (g.rows + 1) / 2, down = (photos + 1) * g.columns;
    c->amount[RG_F64_MAD] = across * mads(g.width) + down * mads(g.height);
    c->amount[RG_SHARED_BYTES] = across * exchanged(g.width) + down * exchanged(g.height) +
        photos * ((g.h + 1) / 2) * 24 * g.width; // two lines are separated
    c->amount[RG_MEM_BYTES] = photos * pixel * g.w * g.h + 8.0 * (double)(ac_side(g.r) * ac_side(g.r));
}

// ---- calls --------------------------------------------------------------------------------------------------------------

// exp(-2 pi i k / n), rounded from long double.
static int copy_roots(void *to, int n, cudaStream_t stream) {
    double2 *root = (double2 *)malloc((size_t)n * sizeof *root);
    if (!root) return RG_E_STATE;
    for (int k = 0; k < n; k++) {
        const long double angle = 2 * 3.14159265358979323846264338327950288L * (long double)k / (long double)n;
        root[k] = make_double2((double)cosl(angle), (double)-sinl(angle));
    }
    int error = (int)cudaMemcpyAsync(to, root, (size_t)n * sizeof *root, cudaMemcpyHostToDevice, stream);
    error = error ? error : (int)cudaStreamSynchronize(stream);
    free(root);
    return error;
}

static int prepare(rg_call *call) {
    const grid g = grid_of(call->shape);
    char *scratch = (char *)call->scratch;
    cudaStream_t stream = (cudaStream_t)call->stream;
    const int error = copy_roots(scratch + g.root_x, g.width, stream);
    return error ? error : copy_roots(scratch + g.root_y, g.height, stream);
}

// A pass: its kernel for each size of a line.
template <class kernel, class... A>
static int launch(kernel *const of[SIZES], int n, int blocks, const rg_call *call, const grid &g, A... arg) {
    const size_t shared = 17 * (size_t)n; // values<n>() for the real and as many for the imaginary parts
    int i = 0;
    while (LEAST << i < n) i++;
    const int error = (int)cudaFuncSetAttribute(of[i], cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (error) return error;
    RG_LAUNCH((of[i]), (unsigned)blocks, (unsigned)(n / POINTS), shared, call->stream, g, arg...);
    return (int)cudaGetLastError();
}

static int run(rg_call *call) {
    typedef void row_kernel(grid, const void *, const double2 *, double2 *);
    typedef void column_kernel(grid, const double2 *, const double2 *, double2 *);
    typedef void offset_kernel(grid, const double2 *, const double2 *, int64_t *);
    static row_kernel *const along[SIZES] = {rows<256>, rows<512>, rows<1024>, rows<2048>, rows<4096>, rows<8192>};
    static column_kernel *const down[2][SIZES] = {{columns<256, false>, columns<512, false>, columns<1024, false>,
                                                      columns<2048, false>, columns<4096, false>, columns<8192, false>},
        {columns<256, true>, columns<512, true>, columns<1024, true>, columns<2048, true>, columns<4096, true>,
            columns<8192, true>}};
    static offset_kernel *const back[SIZES] = {
        offsets<256>, offsets<512>, offsets<1024>, offsets<2048>, offsets<4096>, offsets<8192>};
    const grid g = grid_of(call->shape);
    char *scratch = (char *)call->scratch;
    double2 *root_x = (double2 *)(scratch + g.root_x), *root_y = (double2 *)(scratch + g.root_y);
    double2 *spectrum = (double2 *)(scratch + g.spectrum), *product = (double2 *)(scratch + g.product);
    int error = 0;
    for (int photo = 0; photo <= g.cross && !error; photo++)
        error = launch(
            along, g.width, (g.h + 1) / 2, call, g, call->arg[photo], root_x, spectrum + (int64_t)photo * g.columns * g.pitch);
    error = error ? error : launch(down[g.cross], g.height, g.columns, call, g, spectrum, root_y, product);
    return error ? error : launch(back, g.width, (g.rows + 1) / 2, call, g, product, root_x, (int64_t *)call->arg[AC_SUMS]);
}

RG_VARIANT(autocorr_fft) = {
    RG_VARIANT_OF("autocorr", "fft", RG_OTHER, RG_DEVICE,
        "correlation theorem in three kernels: only lines of the photograph and of offsets wanted, products in registers"),
    .needs = "sm_60",
    .refuse = refuse,
    .scratch = scratch,
    .tolerance = tolerance,
    .cost = cost,
    .prepare = prepare,
    .run = run,
};
