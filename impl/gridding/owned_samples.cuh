// SPDX-License-Identifier: MIT
// owned_samples.cuh: the samples as the bricks of owned.cu take them: three lists, in order, by the axis nearest to the normal.
//
// In the list of axis a, with u and v the other two, a column of voxels (u, v, all a) meets the image at a = su u + sv v and is
// within b of it as far as `half` to both sides; |su|, |sv| <= 1 and half <= sqrt(3) b as a is the largest component.
#ifndef RG_GRIDDING_OWNED_SAMPLES_CUH
#define RG_GRIDDING_OWNED_SAMPLES_CUH

#include "insert.cuh"

enum { X_AXIS, Y_AXIS, Z_AXIS, AXES };
enum { SORT_THREADS = 1024 };

// What a coordinate t of the image's frame is at the voxel (u, v, a): t = u_step u + v_step v + a_step a.
typedef struct gr_steps {
    float u, v, a, reach; // reach: how far from the column's foot it gets within b of the image and the window beside it
} gr_steps;

typedef struct gr_foot {
    float su, sv, half;
    int sample;
} gr_foot;

// Arrays of one entry a sample; `first` has the first entry of each list, and the end.
typedef struct gr_lists {
    float4 *foot;     // gr_foot
    float4 *frame[3]; // gr_steps of x, y and height
    int *first;
} gr_lists;

RG_HD int gr_u_axis(int axis) { return axis == X_AXIS ? Y_AXIS : X_AXIS; }
RG_HD int gr_v_axis(int axis) { return axis == Z_AXIS ? Y_AXIS : Z_AXIS; }

static inline size_t gr_lists_bytes(int64_t samples) { return 256 + 4 * sizeof(float4) * (size_t)samples; }

static inline gr_lists gr_lists_of(void *memory, int64_t samples)
{
    gr_lists l;
    l.first = (int *)memory;
    l.foot = (float4 *)((unsigned char *)memory + 256);
    for (int i = 0; i < 3; i++)
        l.frame[i] = l.foot + (i + 1) * samples;
    return l;
}

static __device__ __forceinline__ int gr_nearest_axis(const float *m)
{
    const float x = fabsf(m[2]), y = fabsf(m[5]), z = fabsf(m[8]);
    return z >= x && z >= y ? Z_AXIS : y >= x ? Y_AXIS : X_AXIS;
}

static __device__ void gr_enter(gr_lists to, int at, const gr_input &in, int sample, int axis)
{
    const float *m = in.rotation + 9 * (int64_t)sample, *u = m + 3 * gr_u_axis(axis), *v = m + 3 * gr_v_axis(axis), *a = m + 3 * axis;
    to.foot[at] = make_float4(-u[2] / a[2], -v[2] / a[2], in.b / fabsf(a[2]), __int_as_float(sample));
    for (int i = 0; i < 3; i++) {
        const float tilt = a[i] / a[2]; // of x or y along the column
        to.frame[i][at] = make_float4(u[i], v[i], a[i], in.b * sqrtf(1.0f + tilt * tilt));
    }
}

// A block makes the list of its axis.
static __global__ void gr_sort(gr_input in, gr_lists to)
{
    __shared__ int in_warp[SORT_THREADS / 32];
    const int axis = (int)blockIdx.x, lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    int at = 0;
    for (int s = 0; s < in.samples; s += SORT_THREADS) {
        const int mine = s + (int)threadIdx.x;
        at += __syncthreads_count(mine < in.samples && gr_nearest_axis(in.rotation + 9 * (int64_t)mine) < axis);
    }
    if (threadIdx.x == 0)
        to.first[axis] = at;
    for (int s = 0; s < in.samples; s += SORT_THREADS) {
        const int mine = s + (int)threadIdx.x;
        const bool take = mine < in.samples && gr_nearest_axis(in.rotation + 9 * (int64_t)mine) == axis;
        const unsigned taken = __ballot_sync(~0u, take);
        if (lane == 0)
            in_warp[warp] = __popc(taken);
        __syncthreads();
        int before = at + __popc(taken & ((1u << lane) - 1u));
        for (int w = 0; w < SORT_THREADS / 32; w++) {
            before += w < warp ? in_warp[w] : 0;
            at += in_warp[w];
        }
        if (take)
            gr_enter(to, before, in, mine, axis);
        __syncthreads();
    }
    if (threadIdx.x == 0 && axis == Z_AXIS)
        to.first[AXES] = at;
}

static inline int gr_sort_all(const rg_call *call, const gr_input &in, gr_lists to)
{
    RG_LAUNCH(gr_sort, AXES, SORT_THREADS, 0, call->stream, in, to);
    return (int)cudaGetLastError();
}

#endif
