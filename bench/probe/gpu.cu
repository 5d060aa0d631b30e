// SPDX-License-Identifier: MIT
// gpu.cu: what this GPU sustains, measured: copy, shared memory, multiply-adds of each type, matrix units, atomics and
// textures. Each probe fills the chip with a loop (kernels.cuh) whose length is set so that one launch takes about 20 ms,
// and reports the best of five launches.
#include "../machine/machine.h"
#include "kernels.cuh"

#include <cmath>
#include <cstdio>

namespace {

#define TRY(call)                                                                                                              \
    do {                                                                                                                       \
        cudaError_t e_ = (call);                                                                                               \
        if (e_ != cudaSuccess) {                                                                                               \
            cudaGetLastError(); /* it is returned here, and no kernel's */                                                     \
            return (int)e_;                                                                                                    \
        }                                                                                                                      \
    } while (0)

// ---- timing --------------------------------------------------------------------------------------------------------------

struct bench_state {
    cudaStream_t stream = nullptr;
    cudaEvent_t from = nullptr, to = nullptr;
    const rg_device *device = nullptr;
    unsigned *word = nullptr; // [0] what kernels pretend to write, [1] whether a body was compiled for this GPU
    unsigned *big[2] = {nullptr, nullptr};
    cudaArray_t array = nullptr;
    cudaTextureObject_t picture = 0;
    rg_device_facts facts;
    size_t big_bytes = 0; // of each, a power of two
    int grid = 0;

    ~bench_state() {
        // Errors have been reported by now; a failing clean-up changes nothing.
        picture &&cudaDestroyTextureObject(picture);
        array &&cudaFreeArray(array);
        for (unsigned *p : {big[0], big[1], word})
            if (p) device->release(p);
        from &&cudaEventDestroy(from);
        to &&cudaEventDestroy(to);
        stream &&cudaStreamDestroy(stream);
    }
};

template <class LAUNCH> int time_ms(bench_state &s, LAUNCH launch, int reps, float *ms) {
    TRY(cudaEventRecord(s.from, s.stream));
    launch(reps);
    TRY(cudaGetLastError());
    TRY(cudaEventRecord(s.to, s.stream));
    TRY(cudaEventSynchronize(s.to));
    TRY(cudaEventElapsedTime(ms, s.from, s.to));
    return RG_OK;
}

// Best of five launches of about 20 ms, in units a second; `each` units are done by one of the `reps` of a launch.
template <class LAUNCH> int measure(bench_state &s, LAUNCH launch, double each, double *per_s) {
    int reps = 1;
    float ms = 0, best = INFINITY;
    int code = time_ms(s, launch, reps, &ms); // loads the kernel, which may take longer than it runs
    while (!code && !(code = time_ms(s, launch, reps, &ms)) && ms < 15 && reps < 1 << 26)
        reps = ms < 1 ? reps * 8 : (int)(reps * (20.0 / ms)) + 1;
    for (int i = 0; i < 5 && !code; i++) {
        code = time_ms(s, launch, reps, &ms);
        best = fminf(best, ms);
    }
    if (!code) *per_s = each * reps / (best * 1e-3);
    return code;
}

int set_up(bench_state &s, const rg_device *device) {
    int code = device->facts(&s.facts);
    if (code != RG_OK) return code;
    s.grid = s.facts.multiprocessors * BLOCKS_PER_SM;
    TRY(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
    TRY(cudaEventCreate(&s.from));
    TRY(cudaEventCreate(&s.to));
    void *at;
    s.device = device;
    code = device->alloc(&at, 2 * sizeof *s.word, "probe");
    if (code != RG_OK) return code;
    s.word = (unsigned *)at;
    // Two arrays of 1 GiB, or a quarter of the free memory.
    s.big_bytes = (size_t)1 << 30;
    while (2 * s.big_bytes > s.facts.free_bytes / 4) s.big_bytes /= 2;
    for (unsigned *&p : s.big) {
        code = device->alloc(&at, s.big_bytes, "probe");
        if (code != RG_OK) return code;
        p = (unsigned *)at;
        TRY(cudaMemset(p, 0, s.big_bytes));
    }
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned>();
    TRY(cudaMallocArray(&s.array, &format, TEXTURE_SIDE, TEXTURE_SIDE));
    enum { ROW = TEXTURE_SIDE * sizeof(unsigned) };
    TRY(cudaMemcpy2DToArray(s.array, 0, 0, s.big[0], ROW, ROW, TEXTURE_SIDE, cudaMemcpyDeviceToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = s.array;
    cudaTextureDesc texture = {};
    texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeClamp;
    texture.filterMode = cudaFilterModePoint;
    texture.readMode = cudaReadModeElementType;
    TRY(cudaCreateTextureObject(&s.picture, &resource, &texture, nullptr));
    TRY(cudaDeviceSynchronize());
    return RG_OK;
}

// ---- the probes ----------------------------------------------------------------------------------------------------------

template <class OP> int probe_arithmetic(bench_state &s, typename OP::type x, typename OP::type y, int mads, double *per_s) {
    auto launch = [&](int reps) { RG_LAUNCH(arithmetic<OP>, s.grid, BLOCK, 0, s.stream, reps, x, y, s.word); };
    return measure(s, launch, (double)s.grid * BLOCK * UNROLL * CHAINS * mads, per_s);
}

// Runs a probe whose kernel may be empty on this GPU or in this build: NaN then.
template <class LAUNCH> int measure_if_compiled(bench_state &s, LAUNCH launch, double each, double *per_s) {
    unsigned ran = 0;
    float ms;
    TRY(cudaMemsetAsync(s.word + 1, 0, sizeof ran, s.stream));
    int code = time_ms(s, launch, 1, &ms);
    if (code != RG_OK) return code;
    TRY(cudaMemcpy(&ran, s.word + 1, sizeof ran, cudaMemcpyDeviceToHost));
    return ran ? measure(s, launch, each, per_s) : (int)RG_OK;
}

int probe_matrix(bench_state &s, rg_rates *rates) {
    double tile = 16.0 * 8 * 32, warps = (double)s.grid * BLOCK / 32;
    auto mma = [&](int reps) { RG_LAUNCH(matrix_mma, s.grid, BLOCK, 0, s.stream, reps, s.word); };
    int code = measure(s, mma, warps * UNROLL * tile, &rates->mma_i8_per_s);
    if (code != RG_OK) return code;
    int grid = s.facts.multiprocessors * 2; // two warpgroups an SM: one computes while the other waits
    auto wgmma = [&](int reps) { RG_LAUNCH(matrix_wgmma, grid, 128, 0, s.stream, reps, s.word, s.word + 1); };
    code = measure_if_compiled(s, wgmma, (double)grid * UNROLL * 64 * 256 * 32, &rates->wgmma_i8_per_s);
    rates->per_s[RG_MATRIX_I8_MAD] = fmax(rates->mma_i8_per_s, rates->wgmma_i8_per_s); // fmax ignores NaN
    return code;
}

int probe_copy(bench_state &s, size_t bytes, double *per_s) {
    // Fewer blocks where the whole grid would be larger than the array (the one that has to fit L2).
    size_t most = bytes / sizeof(uint4) / (BLOCK * 4), grid = most < (size_t)s.grid ? most : (size_t)s.grid;
    size_t group = grid * BLOCK * 4, n = group ? bytes / sizeof(uint4) / group * group : 0;
    if (!n) return RG_OK;
    auto launch = [&](int reps) {
        RG_LAUNCH(copy, (unsigned)grid, BLOCK, 0, s.stream, reps, (uint4 *)s.big[0], (const uint4 *)s.big[1], n);
    };
    return measure(s, launch, 2.0 * sizeof(uint4) * (double)n, per_s);
}

template <class T> int probe_atomics(bench_state &s, size_t bytes, double *per_s) {
    unsigned n = (unsigned)(bytes / sizeof(T));
    auto launch = [&](int reps) { RG_LAUNCH(atomics<T>, s.grid, BLOCK, 0, s.stream, reps, (T *)s.big[0], n, s.word + 1); };
    return measure_if_compiled(s, launch, (double)s.grid * BLOCK * UNROLL, per_s);
}

int probe_memory(bench_state &s, unsigned wanted, rg_rates *rates) {
    auto want = [&](rg_resource r) { return (wanted >> r & 1) != 0; };
    // A quarter of L2 for both arrays together: on chips with two L2 halves a line may be kept in both.
    size_t small = 1;
    while (2 * small <= s.facts.l2_bytes / 8 && 2 * small <= s.big_bytes) small *= 2;
    double integer = NAN, real = NAN;
    int code = RG_OK;
    if (want(RG_MEM_BYTES)) {
        code = probe_copy(s, s.big_bytes, &rates->per_s[RG_MEM_BYTES]);
        code = code ? code : probe_copy(s, s.facts.l2_bytes / 8, &rates->l2_bytes_per_s);
    }
    if (!code && want(RG_ATOMIC)) {
        code = probe_atomics<unsigned>(s, small, &integer);
        code = code ? code : probe_atomics<float>(s, small, &real);
        rates->per_s[RG_ATOMIC] = fmax(integer, real);
    }
    if (!code && want(RG_ATOMIC_16B)) code = probe_atomics<float4>(s, small, &rates->per_s[RG_ATOMIC_16B]);
    if (code || !want(RG_ATOMIC_MEM) || s.big_bytes < 4 * s.facts.l2_bytes) { // NaN if the array would half fit L2
        return code;
    }
    unsigned n = (unsigned)(s.big_bytes / sizeof(float));
    auto launch = [&](int reps) { RG_LAUNCH(atomics_spread, s.grid, BLOCK, 0, s.stream, reps, (float *)s.big[0], n); };
    return measure(s, launch, (double)s.grid * BLOCK * UNROLL, &rates->per_s[RG_ATOMIC_MEM]);
}

int probe_wanted(bench_state &s, unsigned wanted, rg_rates *rates) {
    double *per_s = rates->per_s;
    double reads = (double)s.grid * BLOCK * UNROLL;
    int code = RG_OK;
    auto next = [&](rg_resource r) { return !code && (wanted >> r & 1); };
    if (next(RG_F32_MAD)) code = probe_arithmetic<fma_f32>(s, 0.5f, 1.0f, 1, &per_s[RG_F32_MAD]);
    if (next(RG_F64_MAD)) code = probe_arithmetic<fma_f64>(s, 0.5, 1.0, 1, &per_s[RG_F64_MAD]);
    if (next(RG_I32_MAD)) code = probe_arithmetic<mad_i32>(s, 0x01010103u, 0x12345677u, 1, &per_s[RG_I32_MAD]);
    if (next(RG_I8_MAD)) code = probe_arithmetic<dot_i8>(s, 0x01020304u, 0x12345677u, 4, &per_s[RG_I8_MAD]);
    if (next(RG_MATRIX_I8_MAD)) code = probe_matrix(s, rates);
    auto shared = [&](int reps) { RG_LAUNCH(shared_read, s.grid, BLOCK, 0, s.stream, reps, s.word); };
    if (next(RG_SHARED_BYTES)) code = measure(s, shared, reads * sizeof(uint4), &per_s[RG_SHARED_BYTES]);
    auto texture = [&](int reps) { RG_LAUNCH(fetch, s.grid, BLOCK, 0, s.stream, reps, s.picture, s.word); };
    if (next(RG_TEXTURE)) code = measure(s, texture, reads, &per_s[RG_TEXTURE]);
    return code ? code : probe_memory(s, wanted, rates);
}

} // namespace

extern "C" int rg_probe_gpu(const rg_device *device, unsigned wanted, rg_rates *rates) {
    for (double &rate : rates->per_s) rate = NAN;
    rates->l2_bytes_per_s = rates->mma_i8_per_s = rates->wgmma_i8_per_s = NAN;
    rates->isa = "";
    if (!device->is_gpu || device->is_emulated) return RG_OK;
    bench_state s;
    int code = set_up(s, device);
    return code ? code : probe_wanted(s, wanted, rates);
}

extern "C" int rg_gpu_code(const rg_device *device, int *sass_sm, int *ptx_sm) {
    (void)device; // the runtime's current one
    cudaFuncAttributes facts;
    TRY(cudaFuncGetAttributes(&facts, shared_read));
    *sass_sm = facts.binaryVersion;
    *ptx_sm = facts.ptxVersion;
    return RG_OK;
}
