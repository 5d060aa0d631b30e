// SPDX-License-Identifier: MIT
// owned_samples.cuh: the samples as the bricks of owned.cu see them (view.cuh), each along the axis nearest to its normal, and
// what a block keeps of those that meet its brick.
#ifndef RG_GRIDDING_OWNED_SAMPLES_CUH
#define RG_GRIDDING_OWNED_SAMPLES_CUH

#include "owned_plan.cuh"

// Voxels whose disc, of radius sqrt(b^2 - height^2), has room in N x N pixels, N - 1, N - 2: the largest height of each class,
// -1 where there is none. N > 2 b.
typedef struct gr_classes {
    float height[3];
} gr_classes;

static inline gr_classes gr_classes_of(int N, double b)
{
    gr_classes c;
    for (int i = 0; i < 2; i++) {
        const double room = (N - 1 - i) / 2.0;
        c.height[i] = b < room ? -1.0f : (float)sqrt(b * b - room * room);
    }
    c.height[2] = (float)b;
    return c;
}

// Arrays of one entry a sample.
typedef struct gr_views {
    float4 *foot; // su, sv, half of the view, the axis as an int
    float4 *x, *y; // steps; along the axis: voxels at a height h are h .w of x from the image; m
    float4 *h;     // steps of the height in b
    float4 *tile;  // of pixels that a brick can need, from the foot of its first column: from, to along x and along y
} gr_views;

static inline size_t gr_views_bytes(int64_t samples) { return 5 * sizeof(float4) * (size_t)samples; }

static inline gr_views gr_views_of(void *memory, int64_t samples)
{
    gr_views v;
    v.foot = (float4 *)memory;
    v.x = v.foot + samples;
    v.y = v.x + samples;
    v.h = v.y + samples;
    v.tile = v.h + samples;
    return v;
}

static __device__ __forceinline__ float4 gr_packed(const gr_steps &t, float scale, float last)
{
    return make_float4(scale * t.u, scale * t.v, scale * t.a, last);
}

// Of the tile along one coordinate: between the feet of the outermost columns, and beyond them as far as windows reach.
static __device__ __forceinline__ float2 gr_tile_side(const gr_view &view, const gr_steps &t, const gr_classes &c, int N)
{
    const float u = (BRICK - 1) * (t.u + t.a * view.su), v = (BRICK - 1) * (t.v + t.a * view.sv);
    const float tilt = fabsf(t.a / view.height.a);
    float reach = 0;
    for (int i = 0; i < 3; i++)
        reach = c.height[i] < 0 ? reach : fmaxf(reach, c.height[i] * tilt + 0.5f * (float)(N - i));
    reach += TILE_MARGIN;
    return make_float2(fminf(u, 0) + fminf(v, 0) - reach, fmaxf(u, 0) + fmaxf(v, 0) + reach);
}

static __global__ void gr_make_views(gr_input in, gr_classes classes, int N, gr_views to)
{
    const int sample = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (sample >= in.samples)
        return;
    const float *rotation = in.rotation + 9 * (int64_t)sample;
    const int axis = gr_nearest_axis(rotation);
    const gr_view view = gr_view_of(rotation, axis, in.b);
    const float2 across = gr_tile_side(view, view.x, classes, N), down = gr_tile_side(view, view.y, classes, N);
    to.foot[sample] = make_float4(view.su, view.sv, view.half, __int_as_float(axis));
    to.x[sample] = gr_packed(view.x, 1, 1.0f / fabsf(view.height.a));
    to.y[sample] = gr_packed(view.y, 1, in.weight ? in.weight[sample / in.operators] : 1.0f);
    to.h[sample] = gr_packed(view.height, in.per_b, 0);
    to.tile[sample] = make_float4(across.x, across.y, down.x, down.y);
}

// A sample that meets the brick, in the brick's coordinates u, v, a = 0 .. 15 along the axes of its view.
typedef struct gr_hit {
    float4 x, y, h;            // a coordinate of the image's frame is t.x u + t.y v + t.z a + t.w; heights in b
    float4 columns;            // columns meet the image at a = .x u + .y v + .z; voxels at a height h are h .w from there
    int4 tile;                 // of pixels that the brick can need: first x, first y, width, height; width 0: beyond the circle
    int pitch, at, axis, last; // at: less than the element of pixel (0, 0) of the tile; last a
    int64_t origin;            // element of pixel (0, 0) of the image
    int columns_u, columns_v, in_circle;
    float u0, v0, a0, m; // the brick's first voxel; the weight of the image
} gr_hit;

// The first pixel, and how many, from corner + from to corner + to.
static __device__ __forceinline__ int2 gr_pixels_within(float corner, float from, float to)
{
    const int first = (int)ceilf(corner + from);
    return make_int2(first, (int)floorf(corner + to) - first + 1);
}

// Lines of at least w pixels whose length modulo 16 is 3..7 or 9..13: with others the lanes of a half warp meet in the same
// banks.
static __device__ __forceinline__ int gr_pitch(int w) { return w + (int)(0x4500000100000123ull >> w % 16 * 4 & 15u); }

static __device__ __forceinline__ gr_hit gr_hit_of(const gr_views &views, const gr_input &in, int sample, const int low[AXES])
{
    const float4 foot = views.foot[sample], x = views.x[sample], y = views.y[sample], h = views.h[sample];
    const float4 tile = views.tile[sample];
    gr_hit hit;
    hit.axis = __float_as_int(foot.w);
    hit.origin = sample / in.operators * gr_pixels(in.k) + gr_pixel(in.k, 0, 0);
    hit.m = y.w;
    const int u0 = gr_along(low, gr_u_axis(hit.axis)), v0 = gr_along(low, gr_v_axis(hit.axis)), a0 = gr_along(low, hit.axis);
    const float u = (float)u0, v = (float)v0, a = (float)a0;
    hit.x = make_float4(x.x, x.y, x.z, x.x * u + x.y * v + x.z * a);
    hit.y = make_float4(y.x, y.y, y.z, y.x * u + y.y * v + y.z * a);
    hit.h = make_float4(h.x, h.y, h.z, h.x * u + h.y * v + h.z * a);
    hit.columns = make_float4(foot.x, foot.y, foot.x * u + foot.y * v - a, x.w);
    hit.u0 = u, hit.v0 = v, hit.a0 = a;
    hit.last = min(BRICK - 1, in.k - a0);
    hit.columns_u = in.k + 1 - u0;
    hit.columns_v = in.k + 1 - v0;
    const int2 across = gr_pixels_within(hit.x.w + x.z * hit.columns.z, tile.x, tile.y);
    const int2 down = gr_pixels_within(hit.y.w + y.z * hit.columns.z, tile.z, tile.w);
    const int last_x = across.x + across.y - 1, last_y = down.x + down.y - 1;
    const int near_x = max(max(across.x, -last_x), 0), near_y = max(max(down.x, -last_y), 0);
    const int far_x = max(abs(across.x), abs(last_x)), far_y = max(abs(down.x), abs(last_y));
    hit.tile = make_int4(across.x, down.x, near_x * near_x + near_y * near_y > in.k * in.k ? 0 : across.y, down.y);
    hit.in_circle = far_x * far_x + far_y * far_y <= in.k * in.k;
    hit.pitch = gr_pitch(across.y);
    hit.at = down.x * hit.pitch + across.x;
    return hit;
}

// Pixels that a tile may have, pitch included. Steps u and v lie on the image, are at most sqrt(2) long, and u^2 + v^2 <= 4,
// so both sides together are at most 15 x 4, twice the reach beside each, which is at most b tilt + N/2 with tilts of sqrt(2)
// together 2, roundings, and 5 that gr_pitch adds; the product is at most the square of half the sum.
static inline int gr_tile_pixels(double b, int N)
{
    const gr_classes c = gr_classes_of(N, b);
    double reach = 0; // of both sides, tilts t and s with t^2 + s^2 <= 2
    for (int i = 0; i <= 100; i++) {
        double side[2] = {0, 0};
        for (int j = 0; j < 3; j++)
            for (int e = 0; e < 2; e++) {
                const double t = e ? sqrt(2.0) * sin(i * 0.0157079633) : sqrt(2.0) * cos(i * 0.0157079633);
                if (c.height[j] >= 0)
                    side[e] = fmax(side[e], (double)c.height[j] * t + (N - j) / 2.0);
            }
        reach = fmax(reach, side[0] + side[1]);
    }
    const double half = ((BRICK - 1) * 4.0 + 2 * (reach + 2 * 0.02 + 0.05) + 2 + 5) / 2;
    return (int)(half * half) + 1;
}

#endif
