// SPDX-License-Identifier: MIT
// owned_samples.cuh: the samples as the bricks of owned.cu take them: three lists, in order, by the axis nearest to the
// normal.
#ifndef RG_GRIDDING_OWNED_SAMPLES_CUH
#define RG_GRIDDING_OWNED_SAMPLES_CUH

#include "view.cuh"

enum { SORT_THREADS = 1024 };

// Arrays of one entry a sample; `first` has the first entry of each list, and the end.
typedef struct gr_lists {
    float4 *foot;     // su, sv, half of the view, the number of the image as an int
    float4 *steps[3]; // of x, y and height, with m where the height has no reach
    int *first;
} gr_lists;

static inline size_t gr_lists_bytes(int64_t samples) { return 256 + 4 * sizeof(float4) * (size_t)samples; }

static inline gr_lists gr_lists_of(void *memory, int64_t samples)
{
    gr_lists l;
    l.first = (int *)memory;
    l.foot = (float4 *)((unsigned char *)memory + 256);
    for (int i = 0; i < 3; i++)
        l.steps[i] = l.foot + (i + 1) * samples;
    return l;
}

static __device__ __forceinline__ float4 gr_packed(const gr_steps &t) { return make_float4(t.u, t.v, t.a, t.reach); }
static __device__ __forceinline__ gr_steps gr_unpacked(float4 t)
{
    gr_steps s = {t.x, t.y, t.z, t.w};
    return s;
}

static __device__ void gr_enter(gr_lists to, int at, const gr_input &in, int sample, int axis)
{
    const gr_view view = gr_view_of(in.rotation + 9 * (int64_t)sample, axis, in.b);
    const int image = sample / in.operators;
    to.foot[at] = make_float4(view.su, view.sv, view.half, __int_as_float(image));
    to.steps[0][at] = gr_packed(view.x);
    to.steps[1][at] = gr_packed(view.y);
    to.steps[2][at] = make_float4(view.height.u, view.height.v, view.height.a, in.weight ? in.weight[image] : 1.0f);
}

static __device__ __forceinline__ gr_view gr_entry(const gr_lists &from, int at, int *image)
{
    const float4 foot = from.foot[at];
    gr_view view = {foot.x,
                    foot.y,
                    foot.z,
                    gr_unpacked(from.steps[0][at]),
                    gr_unpacked(from.steps[1][at]),
                    gr_unpacked(from.steps[2][at])};
    *image = __float_as_int(foot.w);
    return view;
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
