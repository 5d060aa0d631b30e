// SPDX-License-Identifier: MIT
// device.cu: the steps of steps.h on a GPU. All but the transforms pass once over memory: at 500 x 500 x 500 a volume
// is 1 GB and a map or its transform half of that.
#include "../pipeline/cube.cuh"
#include "steps.h"

enum { BLOCK = 256 };

static __device__ __forceinline__ int64_t fr_thread() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }

static unsigned blocks_of(int64_t n) { return (unsigned)((n + BLOCK - 1) / BLOCK); }

static int done() {
    const int error = (int)cudaGetLastError();
    return error ? error : (int)cudaStreamSynchronize(nullptr);
}

static __global__ void spread(int64_t side, const float *map, float *grid) {
    const int64_t e = fr_thread();
    if (e < side * side * side) grid[e / side * 2 * fr_width(side) + e % side] = map[e];
}

static int transform(int64_t side, const float *map, float *grid) {
    RG_LAUNCH(spread, blocks_of(side * side * side), BLOCK, 0, nullptr, side, map, grid);
    const int error = (int)cudaGetLastError();
    return error ? error : rg_fft_cube(CUFFT_R2C, side, grid, nullptr);
}

static __global__ void resample(int64_t own, const float2 *grid, int64_t side, float2 *f3) {
    const int64_t e = fr_thread();
    if (e >= fr_voxels(own)) return;
    float sign;
    const int64_t to = fr_resampled(own, side, e, &sign);
    if (to >= 0) f3[to] = make_float2(sign * grid[e].x, sign * grid[e].y);
}

static int reference(int64_t own, const float *map, float *grid, int64_t side, float *f3, int) {
    int error = transform(own, map, grid);
    error = error ? error : (int)cudaMemsetAsync(f3, 0, (size_t)fr_voxels(side) * sizeof(float2), nullptr);
    if (error) return error;
    RG_LAUNCH(resample, blocks_of(fr_voxels(own)), BLOCK, 0, nullptr, own, (const float2 *)grid, side, (float2 *)f3);
    return done();
}

// ---- the map -------------------------------------------------------------------------------------------------------------

static __global__ void divide(fr_map_call c) {
    const int64_t e = fr_thread();
    if (e < fr_voxels(c.side)) fr_divide(&c, e, c.grid + 2 * e);
}

static __global__ void correct(fr_map_call c) {
    const int64_t e = fr_thread();
    if (e < c.side * c.side * c.side) c.map[e] = fr_correct(&c, e);
}

// One block a row of voxels; most rows have none on the edge.
static __global__ void sum_edge(fr_map_call c) {
    __shared__ double mine[2];
    const int64_t row = (int64_t)blockIdx.y * c.side + blockIdx.x;
    if (threadIdx.x < 2) mine[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t x = threadIdx.x; x < c.side; x += blockDim.x)
        if (fr_on_edge(c.mask_px, fr_from_centre(c.side, row * c.side + x))) {
            atomicAdd(&mine[0], (double)c.map[row * c.side + x]);
            atomicAdd(&mine[1], 1.0);
        }
    __syncthreads();
    if (threadIdx.x < 2 && mine[1] > 0) atomicAdd(&c.edge[threadIdx.x], mine[threadIdx.x]);
}

static __global__ void mask(fr_map_call c) {
    const int64_t e = fr_thread();
    if (e >= c.side * c.side * c.side) return;
    const float share = fr_mask(c.mask_px, fr_from_centre(c.side, e));
    const float mean = c.edge[1] > 0 ? (float)(c.edge[0] / c.edge[1]) : 0;
    c.map[e] = share * c.map[e] + (1 - share) * mean;
}

static int map(const fr_map_call *c) {
    const int64_t voxels = c->side * c->side * c->side;
    RG_LAUNCH(divide, blocks_of(fr_voxels(c->side)), BLOCK, 0, nullptr, *c);
    int error = (int)cudaGetLastError();
    error = error ? error : rg_fft_cube(CUFFT_C2R, c->side, c->grid, nullptr);
    if (error) return error;
    RG_LAUNCH(correct, blocks_of(voxels), BLOCK, 0, nullptr, *c);
    error = done();
    if (error || !(c->mask_px > 0)) return error;
    error = (int)cudaMemsetAsync(c->edge, 0, 2 * sizeof *c->edge, nullptr);
    if (error) return error;
    RG_LAUNCH(sum_edge, dim3((unsigned)c->side, (unsigned)c->side), 128, 0, nullptr, *c);
    RG_LAUNCH(mask, blocks_of(voxels), BLOCK, 0, nullptr, *c);
    return done();
}

// ---- sums over rings -----------------------------------------------------------------------------------------------------

struct weight_of {
    const float *volume;
    __device__ __forceinline__ double operator()(int64_t e) const { return volume[FR_RECORD * e + 2]; }
};
struct one {
    __device__ __forceinline__ double operator()(int64_t) const { return 1; }
};
struct product {
    const float2 *a, *b;
    int64_t side;
    __device__ __forceinline__ double operator()(int64_t e) const {
        return fr_stands_for(side, e) * ((double)a[e].x * b[e].x + (double)a[e].y * b[e].y);
    }
};

// One block a plane z: sums in shared memory, then adds them to the total.
template <class quantity> static __global__ void by_ring(quantity q, int64_t side, int rings, double *sums) {
    RG_SHARED_DYNAMIC(double, mine);
    const int64_t plane = side * fr_width(side);
    for (int s = (int)threadIdx.x; s < rings; s += (int)blockDim.x) mine[s] = 0;
    __syncthreads();
    for (int64_t e = blockIdx.x * plane + threadIdx.x; e < (blockIdx.x + 1) * plane; e += blockDim.x) {
        const int64_t s = fr_ring_of_node(side, e);
        if (s < rings) atomicAdd(&mine[s], q(e));
    }
    __syncthreads();
    for (int s = (int)threadIdx.x; s < rings; s += (int)blockDim.x)
        if (mine[s] != 0) atomicAdd(&sums[s], mine[s]);
}

static int weights(int64_t side, const float *volume, double *sums, int) {
    const int rings = (int)fr_all_rings(side);
    const size_t bytes = (size_t)rings * sizeof(double);
    const weight_of weight = {volume};
    const one node = {};
    const int error = (int)cudaMemsetAsync(sums, 0, 2 * bytes, nullptr);
    if (error) return error;
    RG_LAUNCH((by_ring<weight_of>), (unsigned)side, BLOCK, bytes, nullptr, weight, side, rings, sums);
    RG_LAUNCH((by_ring<one>), (unsigned)side, BLOCK, bytes, nullptr, node, side, rings, sums + rings);
    return done();
}

static int shells(int64_t side, const float *a, const float *b, float *const grid[2], double *sums, int) {
    const int rings = (int)(side / 2 + 1);
    const size_t bytes = (size_t)rings * sizeof(double);
    int error = transform(side, a, grid[0]);
    error = error ? error : transform(side, b, grid[1]);
    error = error ? error : (int)cudaMemsetAsync(sums, 0, 3 * bytes, nullptr);
    for (int i = 0; i < 3 && !error; i++) {
        const product p = {(const float2 *)grid[i == 2], (const float2 *)grid[i != 1], side};
        RG_LAUNCH((by_ring<product>), (unsigned)side, BLOCK, bytes, nullptr, p, side, rings, sums + i * rings);
        error = done();
    }
    return error;
}

static size_t work_bytes(int64_t side) {
    const size_t there = pl_cube_work(CUFFT_R2C, side), back = pl_cube_work(CUFFT_C2R, side);
    return there > back ? there : back;
}

#ifdef RG_EMULATED
#define STEPS fr_steps_emulated
#else
#define STEPS fr_steps_gpu
#endif
const fr_job_steps STEPS = {work_bytes, reference, map, weights, shells};
