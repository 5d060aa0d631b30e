// SPDX-License-Identifier: MIT
// test_emulation_faults.cc: the emulated GPU names every fault, with kernel, block and thread, and reports no others.
#include "test_emulation.h"

// ---- faults --------------------------------------------------------------------------------------------------------------

static __global__ void branch(int *out) {
    if (threadIdx.x < 40)
        __syncthreads();
    else
        __syncthreads();
    out[threadIdx.x] = 1;
}

static __global__ void gone(int *out) {
    if (threadIdx.x == 7) return;
    __syncthreads();
    out[threadIdx.x] = 1;
}

static __global__ void absent_lane(int *out) {
    if (threadIdx.x != 35) out[threadIdx.x] = __shfl_sync(~0u, (int)threadIdx.x, 0);
}

static __global__ void other_mask(int *out) {
    out[threadIdx.x] = __shfl_sync(threadIdx.x < 16 ? 0xffffu : ~0u, (int)threadIdx.x, 0);
}

static __global__ void outside_lane(int *out) {
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffffu, (int)threadIdx.x, 20);
}

static __global__ void store(int *out) { out[0] = 1; }

TEST(divergence) {
    Memory<int> out(64);
    RG_LAUNCH(branch, 1, 64, 0, nullptr, out.p);
    assert_fault("branch", "barrier divergence");
    RG_LAUNCH(gone, 1, 64, 0, nullptr, out.p);
    assert_fault("gone", "thread (7,0,0) has ended");
    RG_LAUNCH(absent_lane, 1, 64, 0, nullptr, out.p);
    assert_fault("absent_lane", "thread (35,0,0) has ended");
    RG_LAUNCH(other_mask, 1, 32, 0, nullptr, out.p);
    assert_fault("other_mask", "warp divergence");
    RG_LAUNCH(outside_lane, 1, 32, 0, nullptr, out.p);
    assert_fault("outside_lane", "reads lane 20");
    RG_LAUNCH(absent_lane, 1, 35, 0, nullptr, out.p); // a warp of 3 lanes that names 32
    assert_fault("absent_lane", "does not exist");
    // A fault persists until the device is reset; later launches do nothing.
    RG_LAUNCH(gone, 1, 64, 0, nullptr, out.p);
    RG_LAUNCH(store, 1, 1, 0, nullptr, out.p);
    assert_int_equal(out[0], 0);
    assert_fault("gone", "barrier divergence");
}

// The rest needs every access of kernels to be instrumented, which a build with sanitizers does not do.
#if RG_CHECKED

template <int SIZE> static __global__ void fill_and_use(const int *in, int *out, bool barrier) {
    __shared__ int tile[SIZE];
    tile[threadIdx.x] = in[threadIdx.x];
    if (barrier) __syncthreads();
    out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

static __global__ void used_again(const int *in, int *out, bool barrier) {
    __shared__ int tile[64];
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        tile[threadIdx.x] = in[threadIdx.x] + i;
        __syncthreads();
        sum += tile[63 - threadIdx.x];
        if (barrier) __syncthreads();
    }
    out[threadIdx.x] = sum;
}

static __global__ void in_a_warp(const int *in, int *out, bool barrier) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    if (barrier) __syncwarp();
    out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

static __global__ void histogram(const int *in, int *out, bool barrier) {
    __shared__ int count[4];
    if (threadIdx.x < 4) count[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&count[in[threadIdx.x] & 3], 1);
    if (barrier) __syncthreads();
    if (threadIdx.x < 4) out[threadIdx.x] = count[threadIdx.x];
}

TEST(missing_barriers) {
    Memory<int> in(64), out(64);
    for (int i = 0; i < 64; i++) in[(size_t)i] = i;
    for (uint64_t seed = 0; seed < 8; seed++) { // in any order of the threads
        rg_emulation_seed(seed);
        RG_LAUNCH((fill_and_use<64>), 1, 64, 0, nullptr, in.p, out.p, true);
        RG_LAUNCH(used_again, 1, 64, 0, nullptr, in.p, out.p, true);
        RG_LAUNCH(in_a_warp, 1, 64, 0, nullptr, in.p, out.p, true);
        RG_LAUNCH(histogram, 1, 64, 0, nullptr, in.p, out.p, true);
        assert_fine();
        RG_LAUNCH((fill_and_use<64>), 1, 64, 0, nullptr, in.p, out.p, false);
        assert_fault("fill_and_use<64>", "shared array tile");
        RG_LAUNCH(used_again, 1, 64, 0, nullptr, in.p, out.p, false);
        assert_fault("used_again", "race");
        RG_LAUNCH(in_a_warp, 1, 64, 0, nullptr, in.p, out.p, false);
        assert_fault("in_a_warp", "shared array tile");
        RG_LAUNCH(histogram, 1, 64, 0, nullptr, in.p, out.p, false);
        assert_fault("histogram", "race");
    }
}

static __global__ void plain_sum(int *out) { out[0] += (int)threadIdx.x; }
static __global__ void plain_sum_of_blocks(int *out) { out[0] += (int)blockIdx.x; }
static __global__ void one_past(int *out, int by) { out[blockIdx.x * blockDim.x + threadIdx.x + (unsigned)by] = 1; }
static __global__ void nowhere(int *out) { *(volatile int *)(uintptr_t)(64 + 4 * threadIdx.x) = out[0]; }
static __global__ void misaligned(char *out) { *reinterpret_cast<int *>(out + 1) = 1; }
static __global__ void hole(int *out) {
    __shared__ int tile[64];
    if (threadIdx.x != 41) tile[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

// The last block to finish adds the results of all, which are fenced, hence no race.
static __global__ void last_block(int *part, unsigned *arrived, int *sum, bool fenced) {
    part[blockIdx.x] = (int)blockIdx.x;
    if (fenced) __threadfence();
    if (atomicAdd(arrived, 1u) == gridDim.x - 1)
        for (unsigned b = 0; b < gridDim.x; b++) *sum += part[b];
}

TEST(races_and_bounds) {
    Memory<int> in(64), out(64);
    RG_LAUNCH(plain_sum, 1, 2, 0, nullptr, out.p);
    assert_fault("plain_sum", "race");
    RG_LAUNCH(plain_sum_of_blocks, 2, 1, 0, nullptr, out.p);
    assert_fault("plain_sum_of_blocks", "another block");
    RG_LAUNCH(one_past, 2, 32, 0, nullptr, out.p, 0);
    assert_fine();
    RG_LAUNCH(one_past, 2, 32, 0, nullptr, out.p, 1);
    assert_fault("one_past, block (1,0,0), thread (31,0,0)", "byte 256 of a buffer in global memory (256 bytes)");
    rg_emulation_extent(out.p + 1, 62 * sizeof(int)); // as between the guards of the arena
    RG_LAUNCH(one_past, 2, 31, 0, nullptr, out.p, 1);
    assert_fine();
    RG_LAUNCH(one_past, 2, 31, 0, nullptr, out.p, 0);
    assert_fault("one_past, block (0,0,0), thread (0,0,0)", "byte -4");
    RG_LAUNCH(nowhere, 1, 1, 0, nullptr, in.p);
    assert_fault("nowhere", "no memory of the device");
    RG_LAUNCH(misaligned, 1, 1, 0, nullptr, (char *)in.p);
    assert_fault("misaligned", "misaligned address");
    RG_LAUNCH((fill_and_use<63>), 1, 64, 0, nullptr, in.p, in.p, true);
    assert_fault("fill_and_use<63>, block (0,0,0), thread (63,0,0)", "index out of range");
    RG_LAUNCH(reverse, 1, 64, 63 * sizeof(int), nullptr, in.p, in.p);
    assert_fault("reverse, block (0,0,0), thread (63,0,0)", "dynamic shared memory (252 bytes)");
    RG_LAUNCH(hole, 1, 64, 0, nullptr, in.p);
    assert_fault("hole, block (0,0,0), thread (41,0,0)", "uninitialised shared memory: read of byte 164 of the shared array");
}

TEST(fences) {
    Memory<int> part(8), sum(1);
    Memory<unsigned> arrived(1);
    RG_LAUNCH(last_block, 8, 1, 0, nullptr, part.p, arrived.p, sum.p, true);
    assert_fine();
    assert_int_equal(sum[0], 28);
    arrived[0] = 0;
    RG_LAUNCH(last_block, 8, 1, 0, nullptr, part.p, arrived.p, sum.p, false);
    assert_fault("last_block", "another block");
}

#endif
