// SPDX-License-Identifier: MIT
// owned_samples.cuh: samples as the bricks of owned.cu use them (view.cuh), each along the axis nearest to its normal, and the
// data that a block keeps of those that meet its brick.
#ifndef RG_GRIDDING_OWNED_SAMPLES_CUH
#define RG_GRIDDING_OWNED_SAMPLES_CUH

#include "owned_plan.cuh"
#include "squares.h"

// Classes of voxels whose disc, of radius sqrt(b^2 - height^2), needs N x N pixels, or N - 1: the largest height of each, -1 if
// the class is empty. N >= 2 b.
typedef struct gr_classes {
    float height[2];
} gr_classes;

static inline gr_classes gr_classes_of(int N, double b) {
    gr_classes c;
    const double room = (N - 1) / 2.0;
    c.height[0] = b < room ? -1.0f : (float)sqrt(b * b - room * room);
    c.height[1] = (float)b;
    return c;
}

// Bounds of a coordinate t.x u + t.y v + t.z a, and of the pixels of the windows, over the voxels 0 <= u, v, a <= BRICK - 1
// within b of the image. With the brick's first voxel at height h, in units of b, it lies between the largest from - f h and
// the least to - f h, each of which is a bound. A multiple f of the height is subtracted from the coordinate; the rest is
// largest at a corner, and the multiple is at most that of b. The best f is 0 or one that cancels one of the three steps
// (duality of linear programming).
typedef struct gr_sides {
    float4 f, from, to;
} gr_sides;

static __device__ __forceinline__ void gr_side(const gr_steps &t, const gr_steps &h, float f, const gr_input &in,
    const gr_classes &c, int N, float *by, float *from, float *to) {
    const float u = (BRICK - 1) * (t.u - f * h.u), v = (BRICK - 1) * (t.v - f * h.v), a = (BRICK - 1) * (t.a - f * h.a);
    float reach = 0;
    for (int i = 0; i < 2; i++)
        reach = c.height[i] < 0 ? reach : fmaxf(reach, fabsf(f) * (c.height[i] + 2 * RANGE_MARGIN) + 0.5f * (float)(N - i));
    reach += TILE_MARGIN;
    *by = f / in.per_b;
    *from = fminf(u, 0) + fminf(v, 0) + fminf(a, 0) - reach;
    *to = fmaxf(u, 0) + fmaxf(v, 0) + fmaxf(a, 0) + reach;
}

// Steep multiples magnify rounding errors and become 0.
static __device__ __forceinline__ float gr_multiple(float t, float h) { return fabsf(h) < 0.1f ? 0 : t / h; }

static __device__ gr_sides gr_sides_of(const gr_steps &t, const gr_steps &h, const gr_input &in, const gr_classes &c, int N) {
    gr_sides s;
    gr_side(t, h, gr_multiple(t.u, h.u), in, c, N, &s.f.x, &s.from.x, &s.to.x);
    gr_side(t, h, gr_multiple(t.v, h.v), in, c, N, &s.f.y, &s.from.y, &s.to.y);
    gr_side(t, h, gr_multiple(t.a, h.a), in, c, N, &s.f.z, &s.from.z, &s.to.z);
    gr_side(t, h, 0, in, c, N, &s.f.w, &s.from.w, &s.to.w);
    return s;
}

// First pixel and number of pixels of a tile along a coordinate that is `corner` at the brick's first voxel, of height h.
static __device__ __forceinline__ int2 gr_pixels_within(const gr_sides &s, float corner, float h) {
    const float from = fmaxf(fmaxf(s.from.x - s.f.x * h, s.from.y - s.f.y * h), fmaxf(s.from.z - s.f.z * h, s.from.w));
    const float to = fminf(fminf(s.to.x - s.f.x * h, s.to.y - s.f.y * h), fminf(s.to.z - s.f.z * h, s.to.w));
    const int first = (int)ceilf(corner + from);
    return make_int2(first, max((int)floorf(corner + to) - first + 1, 0));
}

// Arrays with one entry for each sample.
typedef struct gr_views {
    float4 *foot;  // su, sv, half of the view, the axis as an int
    float4 *x, *y; // steps; along the axis: voxels at a height h are h .w of x from the image; m
    float4 *h;     // steps of the height, times per_b
    gr_sides *across, *down;
} gr_views;

static inline size_t gr_views_bytes(int64_t samples) { return (4 * sizeof(float4) + 2 * sizeof(gr_sides)) * (size_t)samples; }

static inline gr_views gr_views_of(void *memory, int64_t samples) {
    gr_views v;
    v.foot = (float4 *)memory;
    v.x = v.foot + samples;
    v.y = v.x + samples;
    v.h = v.y + samples;
    v.across = (gr_sides *)(v.h + samples);
    v.down = v.across + samples;
    return v;
}

static __device__ __forceinline__ float4 gr_packed(const gr_steps &t, float scale, float last) {
    return make_float4(scale * t.u, scale * t.v, scale * t.a, last);
}

// Fills the views and resets the next unit to 0. The next kernel may be set up meanwhile.
static __global__ void gr_make_views(gr_input in, gr_classes classes, int N, gr_views to, gr_counters *count) {
    const int sample = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    rg_take_turn();
    if (sample == 0) count->next = 0;
    if (sample >= in.samples) return;
    const float *rotation = in.rotation + 9 * (int64_t)sample;
    const int axis = gr_nearest_axis(rotation);
    const gr_view view = gr_view_of(rotation, axis, in.b);
    to.foot[sample] = make_float4(view.su, view.sv, view.half, __int_as_float(axis));
    to.x[sample] = gr_packed(view.x, 1, 1.0f / fabsf(view.height.a));
    to.y[sample] = gr_packed(view.y, 1, in.weight ? in.weight[sample / in.operators] : 1.0f);
    to.h[sample] = gr_packed(view.height, in.per_b, 0);
    to.across[sample] = gr_sides_of(view.x, view.height, in, classes, N);
    to.down[sample] = gr_sides_of(view.y, view.height, in, classes, N);
}

RG_HD int gr_stride(int axis) { return axis == X_AXIS ? 1 : axis == Y_AXIS ? BRICK : BRICK * BRICK; }

// What windows need of a hit: steps of the foot and the height (times per_b) from a to a + 1; the weight of the image, and of
// imaginary parts; minus the element of pixel (0, 0) in the tile; elements from a to a + 1.
typedef struct __align__(16) gr_frame {
    float x, y, height, m, m_im;
    int at, stride;
}
gr_frame;

// A sample that meets the brick, in the brick's coordinates u, v, a = 0 .. 15 along the axes of its view.
typedef struct gr_hit {
    float4 x, y, h; // a coordinate of the image's frame is t.x u + t.y v + t.z a + t.w; heights times per_b
    float4 columns; // columns meet the image at a = .x u + .y v + .z; voxels at a height h are h .w from there
    gr_frame frame;
    int4 tile;             // pixels that the brick can need: first x, first y, width, height; width 0: beyond the circle
    int64_t origin, first; // elements of pixel (0, 0) of the image, and of the tile
    int in_circle, plain;  // all of its pixels are in the circle; they can be copied unchanged
    int stride_u, stride_v, last, columns_u, columns_v; // last a
    float u0, v0, a0;                                   // the brick's first voxel
} gr_hit;

static __device__ __forceinline__ gr_hit gr_hit_of(
    const gr_views &views, const gr_input &in, int sample, const int low[AXES], int pitch) {
    const float4 foot = views.foot[sample], x = views.x[sample], y = views.y[sample], h = views.h[sample];
    const int axis = __float_as_int(foot.w);
    const int u0 = gr_along(low, gr_u_axis(axis)), v0 = gr_along(low, gr_v_axis(axis)), a0 = gr_along(low, axis);
    const float u = (float)u0, v = (float)v0, a = (float)a0;
    gr_hit hit;
    hit.x = make_float4(x.x, x.y, x.z, x.x * u + x.y * v + x.z * a);
    hit.y = make_float4(y.x, y.y, y.z, y.x * u + y.y * v + y.z * a);
    hit.h = make_float4(h.x, h.y, h.z, h.x * u + h.y * v + h.z * a);
    hit.columns = make_float4(foot.x, foot.y, foot.x * u + foot.y * v - a, x.w);
    hit.stride_u = gr_stride(gr_u_axis(axis));
    hit.stride_v = gr_stride(gr_v_axis(axis));
    hit.u0 = u, hit.v0 = v, hit.a0 = a;
    hit.last = min(BRICK - 1, in.k - a0);
    hit.columns_u = in.k + 1 - u0;
    hit.columns_v = in.k + 1 - v0;
    int2 across = gr_pixels_within(views.across[sample], hit.x.w, hit.h.w);
    int2 down = gr_pixels_within(views.down[sample], hit.y.w, hit.h.w);
    const bool mates = 2 * across.x + across.y < 1; // most of the tile has x < 0: use the mates
    if (mates) {
        across.x = 1 - across.x - across.y, down.x = 1 - down.x - down.y;
        hit.x = make_float4(-hit.x.x, -hit.x.y, -hit.x.z, -hit.x.w);
        hit.y = make_float4(-hit.y.x, -hit.y.y, -hit.y.z, -hit.y.w);
    }
    const int last_x = across.x + across.y - 1, last_y = down.x + down.y - 1;
    const int near_x = max(max(across.x, -last_x), 0), near_y = max(max(down.x, -last_y), 0);
    const int far_x = max(abs(across.x), abs(last_x)), far_y = max(abs(down.x), abs(last_y));
    if (near_x * near_x + near_y * near_y > in.k * in.k) across.y = hit.columns_u = 0;
    hit.tile = make_int4(across.x, down.x, across.y, down.y);
    hit.in_circle = far_x * far_x + far_y * far_y <= in.k * in.k;
    hit.plain = hit.in_circle && across.x >= 0 && (uintptr_t)in.image % sizeof(float2) == 0;
    hit.origin = sample / in.operators * gr_pixels(in.k) + gr_pixel(in.k, 0, 0);
    hit.first = hit.origin + down.x * (in.k + 1) + across.x;
    const gr_frame frame = {hit.x.z, hit.y.z, h.z, y.w, mates ? -y.w : y.w, down.x * pitch + across.x, gr_stride(axis)};
    hit.frame = frame;
    return hit;
}

// A side of a tile is at most the brick's diagonal, since gr_sides has the multiple 0, plus a window.
RG_HD constexpr int gr_tile_side(int N) { return (int)((BRICK - 1) * 1.7321 + N + 2 * 0.02 + 0.01) + 1; }

// All tiles have the same pitch, 4 or 12 modulo 16, so that 4 x 4 pixels are in different banks of 8 bytes.
RG_HD constexpr int gr_pitch(int N) { return (gr_tile_side(N) + 3) / 8 * 8 + 4; }

#endif
