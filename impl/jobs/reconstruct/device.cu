// SPDX-License-Identifier: MIT
// device.cu: the steps of reconstruct on a GPU (device.h).
//
// An image of N^2 pixels is padded to P x P with its centre at the origin. Two kernels of lines.cuh avoid the padding: `rows`
// transforms only the rows with pixels, two at a time as real and imaginary part; `columns` only the columns that are kept, and
// applies the shift to every pixel. Bound by memory: an image's pixels once, 4 N P bytes written and read between the two, and
// 4 P^2 bytes of output. Phases are reduced to one turn in double precision before single-precision sine and cosine: the CTF's
// phase exceeds hundreds of turns.
#include "../../gridding/index.h"
#include "../pipeline/cube.cuh"
#include "device.h"
#include "lines.cuh"

#include <stdlib.h>

enum { BLOCK = 256, CTF_BLOCK = 512, TILE = 8 };

struct rc_lane {
    int side, padded, k;
    cudaStream_t stream;
    rc_line line;
    float2 *half; // images x side x pitch: transforms of the rows
};

static unsigned blocks_of(int64_t n, int block) { return (unsigned)((n + block - 1) / block); }

// ---- images --------------------------------------------------------------------------------------------------------------

// Index into the image of padded column or row i, -1 outside: the centre floor(side / 2) is at 0.
static __device__ __forceinline__ int rc_source(int i, int side, int padded) {
    const int centre = side / 2;
    return i < side - centre ? i + centre : i >= padded - centre ? i - padded + centre : -1;
}

// Kept columns, rounded up to whole sectors of memory.
RG_HD int64_t gr_pitch(int64_t padded) { return (padded / 2 + 4) / 4 * 4; }

// Line i transforms rows 2 i and 2 i + 1 of image blockIdx.y as a + i b; its values at x and -x give both transforms.
static __global__ void __launch_bounds__(GR_LINE_THREADS, 1024 / GR_LINE_THREADS)
    rows(rc_line l, const float *picture, int side, float2 *half) {
    RG_SHARED_DYNAMIC(float2, shared);
    const int y = 2 * (int)(blockIdx.x * blockDim.y + threadIdx.y), pitch = (int)gr_pitch(l.n);
    const float *a = picture + ((int64_t)blockIdx.y * side + y) * side, *b = a + side;
    float2 *line = shared + (int)threadIdx.y * l.values;
    for (int i = (int)threadIdx.x; i < l.n; i += (int)blockDim.x) {
        const int x = rc_source(i, side, l.n);
        line[rc_padded(l, i)] = make_float2(x >= 0 && y < side ? a[x] : 0, x >= 0 && y + 1 < side ? b[x] : 0);
    }
    __syncthreads();
    const float2 *done = gr_transform(l, shared, &line) + (int)threadIdx.y * l.values;
    float2 *to = half + ((int64_t)blockIdx.y * side + y) * pitch;
    for (int x = (int)threadIdx.x; x <= l.n / 2; x += (int)blockDim.x) {
        const float2 f = done[rc_padded(l, x)], m = done[rc_padded(l, x ? l.n - x : 0)];
        if (y < side) to[x] = make_float2((f.x + m.x) / 2, (f.y - m.y) / 2);
        if (y + 1 < side) to[pitch + x] = make_float2((f.y + m.y) / 2, (m.x - f.x) / 2);
    }
}

// exp(-2 pi i x origin / padded).
static __device__ __forceinline__ float2 shift_of(int x, double origin, int padded) {
    const double turn = -x * origin / padded;
    float s, c;
    sincospif((float)(2 * (turn - rint(turn))), &s, &c);
    return make_float2(c, s);
}

// Columns of image blockIdx.y, l.lines a block. Threads read l.lines values of a row together.
static __global__ void __launch_bounds__(GR_LINE_THREADS, 1024 / GR_LINE_THREADS)
    columns(rc_line l, const float2 *half, const double *origin, int side, int k, float sign, float2 *out) {
    RG_SHARED_DYNAMIC(float2, shared);
    const int t = (int)(threadIdx.y * blockDim.x + threadIdx.x), c = t & (l.lines - 1), first = t >> l.shift;
    const int low = (int)blockIdx.x * l.lines, x = low + c, step = GR_LINE_THREADS >> l.shift, pitch = (int)gr_pitch(l.n);
    const int64_t image = blockIdx.y;
    const float2 *from = half + image * side * pitch + x;
    for (int i = first; i < l.n; i += step) {
        const int y = rc_source(i, side, l.n);
        shared[c * l.values + rc_padded(l, i)] = y >= 0 && x <= k ? from[(int64_t)y * pitch] : make_float2(0, 0);
    }
    __syncthreads();
    float2 *down; // factors of the shift, for rows, then for the block's columns
    const float2 *line = gr_transform(l, shared, &down) + c * l.values, *across = down + 2 * k + 1;
    for (int i = t; i <= 2 * k; i += GR_LINE_THREADS) down[i] = shift_of(i - k, origin[2 * image + 1], l.n);
    if (t < l.lines) down[2 * k + 1 + t] = shift_of(low + t, origin[2 * image], l.n);
    __syncthreads();
    const float2 by = make_float2(sign * across[c].x, sign * across[c].y);
    float2 *to = out + image * gr_pixels(k) + x;
    for (int i = first; i <= 2 * k && x <= k; i += step)
        to[(int64_t)i * (k + 1)] = times(times(by, down[i]), line[rc_padded(l, i < k ? i - k + l.n : i - k)]);
}

// Bytes of the roots of unity, which precede the rows.
static int64_t root_bytes(int64_t padded) { return (padded * (int64_t)sizeof(float2) + 255) / 256 * 256; }

static size_t lane_room(int64_t side, int64_t padded, int64_t images) {
    return (size_t)(root_bytes(padded) + images * side * gr_pitch(padded) * (int64_t)sizeof(float2));
}

static void lane_free(rc_lane *l) { free(l); }

// exp(-2 pi i j / n), rounded from long double.
static int copy_roots(float2 *to, int64_t n, cudaStream_t stream) {
    float2 *root = (float2 *)malloc((size_t)n * sizeof *root);
    if (!root) return RG_E_STATE;
    for (int64_t j = 0; j < n; j++) {
        const long double angle = 2 * 3.14159265358979323846264338327950288L * (long double)j / (long double)n;
        root[j] = make_float2((float)cosl(angle), (float)-sinl(angle));
    }
    int error = (int)cudaMemcpyAsync(to, root, (size_t)n * sizeof *root, cudaMemcpyHostToDevice, stream);
    error = error ? error : (int)cudaStreamSynchronize(stream);
    free(root);
    return error;
}

// so that a multiprocessor of sm_90 runs 1024 threads
enum { SHARED_MOST = (222 << 10) / (1024 / GR_LINE_THREADS) };

static int lane_make(rc_lane **made, int64_t side, int64_t padded, int64_t k, void *room, void *stream) {
    rc_lane *l = *made = (rc_lane *)calloc(1, sizeof *l);
    if (!l) return RG_E_STATE;
    l->side = (int)side;
    l->padded = (int)padded;
    l->k = (int)k;
    l->stream = (cudaStream_t)stream;
    l->half = (float2 *)((char *)room + root_bytes(padded));
    l->line = rc_line_make(l->padded, SHARED_MOST, (const float2 *)room);
    int error = copy_roots((float2 *)room, padded, l->stream);
    const int bytes = (int)rc_line_bytes(&l->line);
    error = error ? error : (int)cudaFuncSetAttribute(rows, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    return error ? error : (int)cudaFuncSetAttribute(columns, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

static int transforms(rc_lane *l, const float *picture, const double *origin, int64_t images, int invert, float *out) {
    const rc_line *line = &l->line;
    const dim3 block = rc_line_block(line);
    const size_t bytes = rc_line_bytes(line);
    RG_LAUNCH(rows, dim3(blocks_of((l->side + 1) / 2, line->lines), (unsigned)images), block, bytes, l->stream, *line, picture,
        l->side, l->half);
    const int error = (int)cudaGetLastError();
    if (error) return error;
    RG_LAUNCH(columns, dim3(blocks_of(l->k + 1, line->lines), (unsigned)images), block, bytes, l->stream, *line,
        (const float2 *)l->half, origin, l->side, l->k, invert ? -1.0f : 1.0f, (float2 *)out);
    return (int)cudaGetLastError();
}

// One block an image, so that the sum of squares is always added in the same order.
static __global__ void ctf(const rg_ctf *terms, int k, int applied, float2 *image, float *out, double *square) {
    RG_SHARED_DYNAMIC(double, partial);
    const rg_ctf t = terms[blockIdx.x];
    float *to = out + (int64_t)blockIdx.x * gr_pixels(k);
    double sum = 0;
    for (int64_t e = threadIdx.x; e < gr_pixels(k); e += CTF_BLOCK) {
        const int64_t px = gr_pixel_x(k, e), py = gr_pixel_y(k, e);
        const double x = (double)px, y = (double)py, g2 = x * x + y * y;
        double turn = (t.xx * x * x + t.xy * x * y + t.yy * y * y + t.quartic * g2 * g2 + t.constant) / 3.14159265358979323846;
        turn -= 2 * rint(turn / 2);
        const float c = -sinpif((float)turn) * (float)t.scale * (t.damping == 0 ? 1.0f : expf((float)(t.damping * g2)));
        to[e] = c;
        if (applied != GR_APPLIED_NOT) {
            float2 *f = image + (int64_t)blockIdx.x * gr_pixels(k) + e;
            const float by = rc_plain(applied, c);
            *f = make_float2(by * f->x, by * f->y);
        }
        sum += gr_in_circle(k, px, py) ? gr_mates(px) * (double)c * c : 0;
    }
    partial[threadIdx.x] = sum;
    for (int half = CTF_BLOCK / 2; half; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) square[blockIdx.x] = partial[0];
}

static int ctfs(
    void *stream, int64_t k, const rg_ctf *terms, int64_t images, int applied, float *image, float *out, double *square) {
    RG_LAUNCH(ctf, (unsigned)images, CTF_BLOCK, CTF_BLOCK * sizeof(double), stream, terms, (int)k, applied, (float2 *)image,
        out, square);
    return (int)cudaGetLastError();
}

// ---- operators of the grid -----------------------------------------------------------------------------------------------

typedef struct operators {
    int n;
    signed char m[24][9];
} operators;

// Blocks are cubes of voxels, so that neighbours use the values read across the source's lines. Reads G(-v) = conj G(v) where
// the source is in the half x < 0.
static __global__ void pull(int k, operators s, const float2 *g, const float *w, float2 *to_g, float *to_w) {
    const int x = (int)(blockIdx.x * TILE + threadIdx.x), y = (int)(blockIdx.y * TILE + threadIdx.y) - k;
    const int z = (int)(blockIdx.z * TILE + threadIdx.z) - k;
    if (x > k || y > k || z > k) return;
    float re = 0, im = 0, weight = 0;
    for (int i = 0; i < s.n; i++) {
        const signed char *m = s.m[i];
        const int u = m[0] * x + m[3] * y + m[6] * z, turn = u < 0 ? -1 : 1;
        const int v = m[1] * x + m[4] * y + m[7] * z, t = m[2] * x + m[5] * y + m[8] * z;
        const int64_t e = gr_voxel(k, turn * u, turn * v, turn * t);
        re += g[e].x;
        im += (float)turn * g[e].y;
        weight += w[e];
    }
    const int64_t to = gr_voxel(k, x, y, z);
    to_g[to] = make_float2(re, im);
    to_w[to] = weight;
}

static int lattice(
    void *stream, int64_t k, const int *matrices, int n, const float *g, const float *w, float *to_g, float *to_w) {
    operators s;
    s.n = n;
    for (int i = 0; i < 9 * n; i++) s.m[i / 9][i % 9] = (signed char)matrices[i];
    const unsigned across = blocks_of(2 * k + 1, TILE);
    RG_LAUNCH(pull, dim3(blocks_of(k + 1, TILE), across, across), dim3(TILE, TILE, TILE), 0, stream, (int)k, s,
        (const float2 *)g, w, (float2 *)to_g, to_w);
    return (int)cudaGetLastError();
}

// ---- the map -------------------------------------------------------------------------------------------------------------

static __global__ void divide(rc_map_call c) {
    const int n = (int)c.padded, pitch = n / 2 + 1;
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), row = (int)blockIdx.y, section = (int)blockIdx.z;
    if (x >= pitch) return;
    const int y = row <= n / 2 ? row : row - n, z = section <= n / 2 ? section : section - n;
    float f[2] = {0, 0};
    if (gr_takes_part(c.sums.k, x, y, z)) gr_quotient(&c.sums, x, y, z, f);
    ((float2 *)c.grid)[((int64_t)section * n + row) * pitch + x] = make_float2(f[0], f[1]);
}

static __global__ void correct(rc_map_call c) {
    const int n = (int)c.padded, pitch = 2 * (n / 2 + 1), side = (int)c.side, low = -(side / 2);
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= side) return;
    const int x = i + low, y = (int)blockIdx.y + low, z = (int)blockIdx.z + low;
    const int64_t row = (int64_t)(z < 0 ? z + n : z) * n + (y < 0 ? y + n : y);
    c.map[((int64_t)blockIdx.z * side + blockIdx.y) * side + i] =
        (float)(c.grid[row * pitch + (x < 0 ? x + n : x)] * c.factor[(int64_t)x * x + y * y + z * z]);
}

static int map(void *stream, const rc_map_call *c) {
    const unsigned n = (unsigned)c->padded, side = (unsigned)c->side;
    RG_LAUNCH(divide, dim3(blocks_of(c->padded / 2 + 1, BLOCK), n, n), BLOCK, 0, stream, *c);
    int error = (int)cudaGetLastError();
    error = error ? error : rg_fft_cube(CUFFT_C2R, c->padded, c->grid, stream);
    if (error) return error;
    RG_LAUNCH(correct, dim3(blocks_of(c->side, BLOCK), side, side), BLOCK, 0, stream, *c);
    error = (int)cudaGetLastError();
    return error ? error : (int)cudaStreamSynchronize((cudaStream_t)stream);
}

static size_t work_bytes(int64_t padded) { return pl_cube_work(CUFFT_C2R, padded); }

#ifdef RG_EMULATED
#define STEPS rc_steps_emulated
#else
#define STEPS rc_steps_gpu
#endif
const rc_device_steps STEPS = {lane_room, lane_make, lane_free, transforms, ctfs, lattice, work_bytes, map};
