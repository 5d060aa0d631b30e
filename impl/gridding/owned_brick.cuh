// SPDX-License-Identifier: MIT
// owned_brick.cuh: the inner part of owned.cu: the pixels of a sample that a brick can need, in shared memory, and how the
// voxels of a list add theirs.
#ifndef RG_GRIDDING_OWNED_BRICK_CUH
#define RG_GRIDDING_OWNED_BRICK_CUH

#include "owned_list.cuh"

// w of kernel.h, in d^2: the square of a polynomial of degree 6 in q = b^2 - d^2, the minimax of w for that form, wrong by
// 1.15e-6, after rounding by less than OWNED_KERNEL_ERROR.
#define OWNED_KERNEL_ERROR 1.6e-6
enum { ROOT_TERMS = 7 };
typedef struct gr_root {
    float c[ROOT_TERMS];
} gr_root;

static inline gr_root gr_root_of(double b)
{
    static const double c[ROOT_TERMS] = {0.00202264667, 0.0373103323,  0.199189745, 0.145039227,
                                         0.539399582,   -0.132030458, 0.209068352};
    gr_root root;
    double scale = 1;
    for (int i = 0; i < ROOT_TERMS; i++, scale /= b * b)
        root.c[i] = (float)(c[i] * scale);
    return root;
}

static __device__ __forceinline__ float gr_weight_at(const gr_root &root, float q)
{
    float r = root.c[ROOT_TERMS - 1];
#pragma unroll
    for (int i = ROOT_TERMS - 2; i >= 0; i--)
        r = fmaf(r, q, root.c[i]);
    return r * r;
}

// ---- tiles ---------------------------------------------------------------------------------------------------------------

typedef struct gr_tile {
    float2 *pixel; // c F
    float *c;      // c^2, where there is a CTF
} gr_tile;

// A warp copies pieces of rows, of 32 pixels, BATCH of them at a time: pieces turn * BATCH * WARPS + warp and every WARPS-th
// from there, first all of the rows' beginnings, then what lies beyond 32 pixels.
enum { WARPS = THREADS / 32, BATCH = 4 };
typedef struct gr_load {
    float2 f[BATCH];
    float c[BATCH];
} gr_load;

static __device__ __forceinline__ int gr_pieces(const gr_hit &hit) { return hit.tile.w << (hit.tile.z > 32); }

// The element of pixel (x, y), counted from that of (0, 0), is y (k + 1) + x; its mate's is the opposite.
template <bool has_ctf, bool aligned>
static __device__ __forceinline__ void gr_fetch_pieces(const gr_hit &hit, const gr_input &in, int piece, gr_load &load)
{
    const int64_t origin = hit.image * gr_pixels(in.k) + gr_pixel(in.k, 0, 0);
    const float *pixels = in.image + 2 * origin, *ctf = in.ctf + (has_ctf ? origin : 0);
    const int4 tile = hit.tile;
    const int lane = (int)threadIdx.x % 32, in_circle = hit.in_circle;
#pragma unroll
    for (int i = 0; i < BATCH; i++, piece += WARPS) {
        const int beyond = piece >= tile.w, row = piece - (beyond ? tile.w : 0), column = lane + 32 * beyond;
        const int x = tile.x + column, y = tile.y + row, element = y * (in.k + 1) + x, stored = x < 0 ? -element : element;
        const bool there = row < tile.w && column < tile.z && (in_circle || x * x + y * y <= in.k * in.k);
        load.f[i] = make_float2(0, 0);
        if (there)
            load.f[i] = gr_pixel_at(pixels, stored, aligned);
        load.c[i] = has_ctf && there ? ctf[stored] : 0;
    }
}

template <bool has_ctf>
static __device__ __forceinline__ void gr_fetch(const gr_hit &hit, const gr_input &in, int piece, gr_load &load)
{
    if ((uintptr_t)in.image % sizeof(float2) == 0)
        gr_fetch_pieces<has_ctf, true>(hit, in, piece, load);
    else
        gr_fetch_pieces<has_ctf, false>(hit, in, piece, load);
}

template <bool has_ctf>
static __device__ __forceinline__ void gr_keep(const gr_hit &hit, int piece, const gr_load &load, const gr_tile &to)
{
    const int4 tile = hit.tile;
    const int lane = (int)threadIdx.x % 32, pitch = hit.pitch;
#pragma unroll
    for (int i = 0; i < BATCH; i++, piece += WARPS) {
        const int beyond = piece >= tile.w, row = piece - (beyond ? tile.w : 0), column = lane + 32 * beyond;
        if (row >= tile.w || column >= tile.z)
            continue;
        const float2 f = load.f[i];
        const float c = has_ctf ? load.c[i] : 1.0f;
        to.pixel[row * pitch + column] = make_float2(c * f.x, tile.x + column < 0 ? -c * f.y : c * f.y);
        if (has_ctf)
            to.c[row * pitch + column] = c * c;
    }
}

// ---- windows -------------------------------------------------------------------------------------------------------------

enum { INSIDE, AT_EDGE, WITH_CTF }; // pixels of a tile: all in the circle; some not; each with its c^2, 0 beyond the circle

// sum += weight (f, c) where q >= 0. As predicated instructions: a branch for each pixel would cost more than what it saves.
static __device__ __forceinline__ void gr_add_if(float q, float weight, float2 f, float c, gr_terms &sum)
{
#ifdef RG_EMULATED
    if (q >= 0) {
        sum.re += weight * f.x;
        sum.im += weight * f.y;
        sum.w += weight * c;
    }
#else
    asm("{\n\t.reg .pred in;\n\tsetp.ge.f32 in, %3, 0f00000000;\n\t@in fma.rn.f32 %0, %4, %5, %0;\n\t"
        "@in fma.rn.f32 %1, %4, %6, %1;\n\t@in fma.rn.f32 %2, %4, %7, %2;\n\t}"
        : "+f"(sum.re), "+f"(sum.im), "+f"(sum.w)
        : "f"(q), "f"(weight), "f"(f.x), "f"(f.y), "f"(c));
#endif
}

// The nearest integer of x as a float's low bits: adding 1.5 x 2^23 rounds.
static constexpr float ROUND = 12582912.0f;
static constexpr int ROUND_BITS = 0x4B400000;

// The pixels of a window, of which pixel (i, j) is at (across, down)^2 from the foot and at (gx, gy)^2 from the origin.
typedef struct gr_pixels_of {
    const float2 *f;
    const float *c;
    float rest, kk; // squared radii of the disc and of the circle
} gr_pixels_of;

template <int mode>
static __device__ __forceinline__ void gr_add_pixel(const gr_pixels_of &p, const gr_root &root, int at, float row, float across,
                                                    float room, float column, gr_terms &sum)
{
    const float q = row - across, weight = gr_weight_at(root, q);
    gr_add_if(mode == AT_EDGE ? fminf(q, room - column) : q, weight, p.f[at], mode == WITH_CTF ? p.c[at] : 1.0f, sum);
}

// The n x n pixels about foot (x, y). Of the corners of 4 x 4 seldom any but the nearest is in the disc.
template <int n, int mode>
static __device__ __forceinline__ gr_terms gr_window(const gr_hit &hit, gr_pixels_of p, const gr_root &root, float x, float y)
{
    const float half = n % 2 ? 0.0f : 0.5f, up_x = (x - half) + ROUND, up_y = (y - half) + ROUND;
    const float px = up_x - ROUND - (float)((n - 1) / 2), py = up_y - ROUND - (float)((n - 1) / 2);
    const int pitch = hit.pitch, skipped = ROUND_BITS + (n - 1) / 2;
    const int at = (__float_as_int(up_y) - skipped) * pitch + __float_as_int(up_x) - skipped - hit.at;
    p.f += at;
    p.c += mode == WITH_CTF ? at : 0;
    float across[n], column[n], row[n], room[n];
#pragma unroll
    for (int i = 0; i < n; i++) {
        const float gx = px + (float)i, gy = py + (float)i, dx = px - x + (float)i, dy = py - y + (float)i;
        across[i] = dx * dx;
        column[i] = gx * gx;
        row[i] = p.rest - dy * dy;
        room[i] = p.kk - gy * gy;
    }
    gr_terms sum = {0, 0, 0};
#pragma unroll
    for (int j = 0; j < n; j++)
#pragma unroll
        for (int i = 0; i < n; i++)
            if (n != 4 || (i % 3 != 0 || j % 3 != 0))
                gr_add_pixel<mode>(p, root, j * pitch + i, row[j], across[i], room[j], column[i], sum);
    if (n == 4) {
        const bool left = across[0] <= across[n - 1], top = row[0] >= row[n - 1];
        const float near_x = left ? across[0] : across[n - 1], far_x = left ? across[n - 1] : across[0];
        const float near_y = top ? row[0] : row[n - 1], far_y = top ? row[n - 1] : row[0];
        const int at_x = left ? 0 : 3, at_y = top ? 0 : 3 * pitch;
        const float column_x = left ? column[0] : column[n - 1], room_y = top ? room[0] : room[n - 1];
        gr_add_pixel<mode>(p, root, at_y + at_x, near_y, near_x, room_y, column_x, sum);
        if (fmaxf(near_y - far_x, far_y - near_x) >= 0) {
            const float column_far = left ? column[n - 1] : column[0], room_far = top ? room[n - 1] : room[0];
            gr_add_pixel<mode>(p, root, at_y + 3 - at_x, near_y, far_x, room_y, column_far, sum);
            gr_add_pixel<mode>(p, root, 3 * pitch - at_y + at_x, far_y, near_x, room_far, column_x, sum);
            gr_add_pixel<mode>(p, root, 3 * pitch - at_y + 3 - at_x, far_y, far_x, room_far, column_far, sum);
        }
    }
    return sum;
}

// What a block has in shared memory.
typedef struct gr_memory {
    float *sums;
    gr_tile tile;
    gr_column *column;
    gr_lists lists;
} gr_memory;

// A warp adds the n x n pixels of each of 32 voxels of a list, of `most` from `list` on in steps.
template <int n, int mode>
static __device__ __forceinline__ void gr_add_voxels(const gr_hit &hit, const gr_memory &own, const gr_input &in,
                                                     const gr_root &root, const unsigned short *list, int at, int most)
{
    if (at >= most)
        return;
    const int entry = *list;
    const gr_column c = own.column[entry & ((1 << COLUMN_BITS) - 1)];
    const int ia = entry >> COLUMN_BITS;
    const float a = (float)ia, height = c.height + hit.h.z * a;
    const gr_pixels_of p = {own.tile.pixel, own.tile.c, in.b * in.b - height * height, (float)(in.k * in.k)};
    const gr_terms t = gr_window<n, mode>(hit, p, root, c.x + hit.x.z * a, c.y + hit.y.z * a);
    float *to = own.sums + gr_element(c.element + ia * gr_stride(hit.axis));
    to[0] += hit.m * t.re;
    to[BRICK_VOXELS] += hit.m * t.im;
    to[2 * BRICK_VOXELS] += hit.m * t.w;
}

// All voxels of the lists, 32 at a time, the largest windows first.
template <int N, int mode>
static __device__ __forceinline__ void gr_add_lists(const gr_hit &hit, const gr_memory &own, const gr_input &in,
                                                    const gr_root &root, const int number[3])
{
    const int lane = (int)threadIdx.x % 32, first = (number[0] + 31) / 32, second = first + (number[1] + 31) / 32,
              third = second + (number[2] + 31) / 32;
    for (int i = (int)threadIdx.x / 32; i < third; i += WARPS)
        if (i < first) {
            const int at = i * 32 + lane;
            gr_add_voxels<N, mode>(hit, own, in, root, own.lists.voxel + at, at, number[0]);
        } else if (i < second) {
            const int at = (i - first) * 32 + lane;
            gr_add_voxels<N - 1, mode>(hit, own, in, root, own.lists.voxel + (own.lists.most - 1 - at), at, number[1]);
        } else {
            const int at = (i - second) * 32 + lane;
            gr_add_voxels<(N > 2 ? N - 2 : 1), mode>(hit, own, in, root, own.lists.small + at, at, number[2]);
        }
}

#endif
