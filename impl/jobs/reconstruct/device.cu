// SPDX-License-Identifier: MIT
// device.cu: the steps of reconstruct on a GPU (device.h).
//
// An image is padded to P x P with its centre at the origin and transformed by cuFFT, many at a time, in place; the crop turns
// every pixel by its shift. Phases are reduced to a turn in double precision before sine and cosine are taken in single: that
// of the CTF passes hundreds of turns. All of it is bound by memory: an image takes 5 passes of 4 P^2 bytes and its pixels.
#include "../../gpu/fft.cuh"
#include "../../gridding/index.h"
#include "device.h"

#include <stdlib.h>

enum { BLOCK = 256, CTF_BLOCK = 512, TILE = 8 };

struct gr_lane {
    int64_t side, padded, k;
    cudaStream_t stream;
    rg_fft plan;
    float2 *grid; // images x P x (P / 2 + 1)
};

static unsigned blocks_of(int64_t n, int block) { return (unsigned)((n + block - 1) / block); }

// ---- images --------------------------------------------------------------------------------------------------------------

// The image's value at padded column or row i, or -1 beyond it: the centre floor(side / 2) stands at 0.
static __device__ __forceinline__ int gr_source(int i, int side, int padded)
{
    const int centre = side / 2;
    return i < side - centre ? i + centre : i >= padded - centre ? i - padded + centre : -1;
}

static __global__ void pad(const float *picture, int side, int padded, float2 *grid)
{
    const int pitch = padded / 2 + 1, x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)blockIdx.y;
    if (x >= pitch)
        return;
    const float *from = picture + (int64_t)blockIdx.z * side * side;
    const int row = gr_source(y, side, padded), a = gr_source(2 * x, side, padded);
    const int b = 2 * x + 1 < padded ? gr_source(2 * x + 1, side, padded) : -1;
    grid[((int64_t)blockIdx.z * padded + y) * pitch + x] =
        make_float2(row >= 0 && a >= 0 ? from[(int64_t)row * side + a] : 0,
                    row >= 0 && b >= 0 ? from[(int64_t)row * side + b] : 0);
}

static __global__ void crop(const float2 *grid, const double *origin, int padded, int k, float sign, float2 *out)
{
    const int pitch = padded / 2 + 1, x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)blockIdx.y - k;
    const int64_t i = blockIdx.z;
    if (x > k)
        return;
    const float2 f = grid[(i * padded + (y < 0 ? y + padded : y)) * pitch + x];
    double turn = -(x * origin[2 * i] + y * origin[2 * i + 1]) / padded;
    float s, c;
    sincospif((float)(2 * (turn - rint(turn))), &s, &c);
    out[i * gr_pixels(k) + gr_pixel(k, x, y)] = make_float2(sign * (c * f.x - s * f.y), sign * (c * f.y + s * f.x));
}

static size_t lane_room(int64_t padded, int64_t images)
{
    return (size_t)(images * padded * (padded / 2 + 1)) * sizeof(float2);
}

static void lane_free(gr_lane *l)
{
    if (l)
        rg_fft_free(&l->plan);
    free(l);
}

static int lane_make(gr_lane **made, int64_t side, int64_t padded, int64_t k, int64_t images, void *room, void *stream)
{
    gr_lane *l = *made = (gr_lane *)calloc(1, sizeof *l);
    if (!l)
        return RG_E_STATE;
    l->side = side;
    l->padded = padded;
    l->k = k;
    l->stream = (cudaStream_t)stream;
    l->grid = (float2 *)room;
    const int64_t n[2] = {padded, padded};
    return rg_fft_make(&l->plan, CUFFT_R2C, 2, n, images, NULL, 0, stream);
}

// The plan always transforms as many images as it was made for; beyond `images` they are those of the call before.
static int transforms(gr_lane *l, const float *picture, const double *origin, int64_t images, int invert, float *out)
{
    const int padded = (int)l->padded, k = (int)l->k;
    RG_LAUNCH(pad, dim3(blocks_of(padded / 2 + 1, BLOCK), (unsigned)padded, (unsigned)images), BLOCK, 0, l->stream, picture,
              (int)l->side, padded, l->grid);
    int error = (int)cudaGetLastError();
    if (error)
        return error;
    error = rg_fft_run(&l->plan, l->grid);
    if (error)
        return error;
    RG_LAUNCH(crop, dim3(blocks_of(k + 1, BLOCK), (unsigned)(2 * k + 1), (unsigned)images), BLOCK, 0, l->stream,
              (const float2 *)l->grid, origin, padded, k, invert ? -1.0f : 1.0f, (float2 *)out);
    return (int)cudaGetLastError();
}

// A block an image, so that the sum of squares always adds up in the same order.
static __global__ void ctf(const rg_ctf *terms, int k, int applied, float2 *image, float *out, double *square)
{
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
            const float by = gr_plain(applied, c);
            *f = make_float2(by * f->x, by * f->y);
        }
        sum += gr_in_circle(k, px, py) ? gr_mates(px) * (double)c * c : 0;
    }
    partial[threadIdx.x] = sum;
    for (int half = CTF_BLOCK / 2; half; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        square[blockIdx.x] = partial[0];
}

static int ctfs(void *stream, int64_t k, const rg_ctf *terms, int64_t images, int applied, float *image, float *out, double *square)
{
    RG_LAUNCH(ctf, (unsigned)images, CTF_BLOCK, CTF_BLOCK * sizeof(double), stream, terms, (int)k, applied,
              (float2 *)image, out, square);
    return (int)cudaGetLastError();
}

// ---- operators of the grid -----------------------------------------------------------------------------------------------

typedef struct operators {
    int n;
    signed char m[24][9];
} operators;

// Cubes of voxels, so that what lies across the source's lines is used by the neighbours. G(-v) = conj G(v) is read where the
// source lies in the half x < 0.
static __global__ void pull(int k, operators s, const float2 *g, const float *w, float2 *to_g, float *to_w)
{
    const int x = (int)(blockIdx.x * TILE + threadIdx.x), y = (int)(blockIdx.y * TILE + threadIdx.y) - k;
    const int z = (int)(blockIdx.z * TILE + threadIdx.z) - k;
    if (x > k || y > k || z > k)
        return;
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

static int lattice(void *stream, int64_t k, const int *matrices, int n, const float *g, const float *w, float *to_g,
                   float *to_w)
{
    operators s;
    s.n = n;
    for (int i = 0; i < 9 * n; i++)
        s.m[i / 9][i % 9] = (signed char)matrices[i];
    const unsigned across = blocks_of(2 * k + 1, TILE);
    RG_LAUNCH(pull, dim3(blocks_of(k + 1, TILE), across, across), dim3(TILE, TILE, TILE), 0, stream, (int)k, s,
              (const float2 *)g, w, (float2 *)to_g, to_w);
    return (int)cudaGetLastError();
}

// ---- the map -------------------------------------------------------------------------------------------------------------

static __global__ void divide(gr_map_call c)
{
    const int n = (int)c.padded, pitch = n / 2 + 1, k = (int)c.k;
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), row = (int)blockIdx.y, section = (int)blockIdx.z;
    if (x >= pitch)
        return;
    const int y = row <= n / 2 ? row : row - n, z = section <= n / 2 ? section : section - n;
    float2 f = make_float2(0, 0);
    if ((int64_t)x * x + (int64_t)y * y + (int64_t)z * z <= (int64_t)k * k) {
        const int64_t e = gr_voxel(k, x, y, z);
        const double w = c.w[e] + c.wiener;
        if (w > 0)
            f = make_float2((float)(c.g[2 * e] / w), (float)(c.g[2 * e + 1] / w));
    }
    ((float2 *)c.grid)[((int64_t)section * n + row) * pitch + x] = f;
}

static __global__ void correct(gr_map_call c)
{
    const int n = (int)c.padded, pitch = 2 * (n / 2 + 1), side = (int)c.side, low = -(side / 2);
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= side)
        return;
    const int x = i + low, y = (int)blockIdx.y + low, z = (int)blockIdx.z + low;
    const int64_t row = (int64_t)(z < 0 ? z + n : z) * n + (y < 0 ? y + n : y);
    c.map[((int64_t)blockIdx.z * side + blockIdx.y) * side + i] =
        (float)(c.grid[row * pitch + (x < 0 ? x + n : x)] * c.factor[(int64_t)x * x + y * y + z * z]);
}

static int map(void *stream, const gr_map_call *c)
{
    const unsigned n = (unsigned)c->padded, side = (unsigned)c->side;
    RG_LAUNCH(divide, dim3(blocks_of(c->padded / 2 + 1, BLOCK), n, n), BLOCK, 0, stream, *c);
    int error = (int)cudaGetLastError();
    error = error ? error : rg_fft_cube(CUFFT_C2R, c->padded, c->grid, stream);
    if (error)
        return error;
    RG_LAUNCH(correct, dim3(blocks_of(c->side, BLOCK), side, side), BLOCK, 0, stream, *c);
    error = (int)cudaGetLastError();
    return error ? error : (int)cudaStreamSynchronize((cudaStream_t)stream);
}

#ifdef RG_EMULATED
#define STEPS gr_steps_emulated
#else
#define STEPS gr_steps_gpu
#endif
const gr_device_steps STEPS = {lane_room, lane_make, lane_free, transforms, ctfs, lattice, map};
