// SPDX-License-Identifier: MIT
// probe_gpu.cu: what this GPU sustains, measured: copy, shared memory, multiply-adds of each type, matrix units, atomics and
// textures. Each probe fills the chip with a loop whose length is set so that one launch takes about 20 ms, and reports the best
// of five launches. Results are used in a way that the compiler cannot foresee, so nothing is dropped.
#include "machine.h"
#include "../impl/core/cuda.h"

#include <cmath>
#include <cstdio>

namespace {

enum { BLOCK = 256, BLOCKS_PER_SM = 8, CHAINS = 16, UNROLL = 16 };

#define TRY(call)                   \
    do {                            \
        cudaError_t e_ = (call);    \
        if (e_ != cudaSuccess) {    \
            return (int)e_;         \
        }                           \
    } while (0)

// ---- kernels: `reps` is the length of the loop; *out is written when a sum takes a value that it practically never has ---------

struct fma_f32 {
    typedef float type;
    static __device__ float step(float a, float x, float y) { return fmaf(a, x, y); }
};
struct fma_f64 {
    typedef double type;
    static __device__ double step(double a, double x, double y) { return fma(a, x, y); }
};
struct mad_i32 {
    typedef unsigned type;
    static __device__ unsigned step(unsigned a, unsigned x, unsigned y) { return a * x + y; }
};
struct dot_i8 {
    typedef unsigned type;
    static __device__ unsigned step(unsigned a, unsigned x, unsigned y) { return __dp4a(x, y, a); }
};

template <class OP>
__global__ void __launch_bounds__(BLOCK) arithmetic(int reps, typename OP::type x, typename OP::type y, unsigned *out)
{
    typename OP::type a[CHAINS], sum = 0;
#pragma unroll
    for (int k = 0; k < CHAINS; k++) {
        a[k] = (typename OP::type)(threadIdx.x + k);
    }
    for (int r = 0; r < reps; r++) {
#pragma unroll
        for (int i = 0; i < UNROLL * CHAINS; i++) {
            a[i % CHAINS] = OP::step(a[i % CHAINS], x, y);
        }
    }
#pragma unroll
    for (int k = 0; k < CHAINS; k++) {
        sum += a[k];
    }
    if (sum == (typename OP::type)123456789) {
        *out = 1;
    }
}

__global__ void __launch_bounds__(BLOCK) matrix_mma(int reps, unsigned *out)
{
    enum { TILES = 8 };
    int d[TILES][4] = {};
    unsigned a[4], b[2];
    for (int i = 0; i < 4; i++) {
        a[i] = (unsigned)rg_bits(1, threadIdx.x * 4u + i);
        b[i & 1] = (unsigned)rg_bits(2, threadIdx.x * 4u + i);
    }
    for (int r = 0; r < reps; r++) {
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            rg_mma_u8(d[i % TILES], a, b);
        }
    }
    int sum = 0;
    for (int i = 0; i < TILES * 4; i++) {
        sum ^= d[i / 4][i % 4];
    }
    if (sum == 123456789) {
        *out = 1;
    }
}

// The 128 accumulators of wgmma m64n256k32 as text "%0,%1,...,%127" and as operands.
#define NAMES(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define HOLD8(i)                                                                                                              \
    "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), "+r"(d[i + 6]), "+r"(d[i + 7])
#define HOLD32(i) HOLD8(i), HOLD8(i + 8), HOLD8(i + 16), HOLD8(i + 24)

// One warpgroup a block; A (64 x 32 bytes) and B (256 x 32 bytes) both in shared memory, without swizzle: core matrices of
// 8 rows x 16 bytes, the two of one row group 128 bytes apart, row groups 256 bytes apart. Values do not matter, but random ones
// draw the power, and hold the clock, of real work. *ran tells whether this body was compiled for the GPU at hand.
__global__ void __launch_bounds__(128) matrix_wgmma(int reps, unsigned *out, unsigned *ran)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    __shared__ __align__(128) unsigned tile[(64 + 256) * 32 / 4];
    for (int i = threadIdx.x; i < (64 + 256) * 32 / 4; i += 128) {
        tile[i] = (unsigned)rg_bits(3, i);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    uint64_t where = (uint64_t)__cvta_generic_to_shared(tile);
    uint64_t strides = (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
    uint64_t a = strides | where >> 4, b = strides | (where + 64 * 32) >> 4;
    int d[128];
#pragma unroll
    for (int i = 0; i < 128; i++) {
        d[i] = 0;
    }
    for (int r = 0; r < reps; r++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            asm volatile("{.reg .pred p; setp.eq.u32 p, 1, 1; wgmma.mma_async.sync.aligned.m64n256k32.s32.u8.u8 {"
                         "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9," NAMES(1) NAMES(2) NAMES(3) NAMES(4) NAMES(5) NAMES(6) NAMES(7)
                         NAMES(8) NAMES(9) NAMES(10) NAMES(11) "%120,%121,%122,%123,%124,%125,%126,%127}, %128, %129, p;}"
                         : HOLD32(0), HOLD32(32), HOLD32(64), HOLD32(96)
                         : "l"(a), "l"(b));
        }
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    int sum = 0;
#pragma unroll
    for (int i = 0; i < 128; i++) {
        sum ^= d[i];
    }
    *ran = 1;
    if (sum == 123456789) {
        *out = 1;
    }
#else
    (void)reps, (void)out, (void)ran;
#endif
}

// Past L1 both ways, so that an array smaller than L2 measures L2 and a larger one the memory. n is a multiple of the grid x 4.
__global__ void __launch_bounds__(BLOCK) copy(int reps, uint4 *to, const uint4 *from, size_t n)
{
    size_t threads = (size_t)gridDim.x * BLOCK, first = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    for (int r = 0; r < reps; r++) {
        for (size_t i = first; i < n; i += 4 * threads) {
            uint4 v[4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                v[k] = __ldcg(from + i + k * threads);
            }
#pragma unroll
            for (int k = 0; k < 4; k++) {
                __stcg(to + i + k * threads, v[k]);
            }
        }
    }
}

// 16 bytes a lane, without bank conflicts; the start moves each time so that no load can be kept from the time before.
__global__ void __launch_bounds__(BLOCK) shared_read(int reps, unsigned *out)
{
    __shared__ uint4 line[1024];
    for (int i = threadIdx.x; i < 1024; i += BLOCK) {
        line[i] = make_uint4(i, i + 1, i + 2, i + 3);
    }
    __syncthreads();
    unsigned sum = 0, at = threadIdx.x;
    for (int r = 0; r < reps; r++) {
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            uint4 v = line[at + i * 32];
            sum ^= v.x ^ v.y ^ v.z ^ v.w;
        }
        at = (at + 32) & 511;
    }
    if (sum == 123456789) {
        *out = 1;
    }
}

__device__ void add_one(unsigned *p) { atomicAdd(p, 1u); }
__device__ void add_one(float *p) { atomicAdd(p, 1.0f); }
__device__ void add_one(float4 *p)
{
#if __CUDA_ARCH__ >= 900
    atomicAdd(p, make_float4(1, 1, 1, 1));
#else
    (void)p;
#endif
}

// Neighbouring lanes add to neighbouring elements: the most that L2 can take. n is a power of two.
template <class T>
__global__ void __launch_bounds__(BLOCK) atomics(int reps, T *p, unsigned n, unsigned *ran)
{
#if __CUDA_ARCH__ >= 900
    const bool can = true;
#else
    const bool can = sizeof(T) < 16;
#endif
    unsigned threads = gridDim.x * BLOCK, at = blockIdx.x * BLOCK + threadIdx.x;
    for (int r = 0; r < reps && can; r++) {
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            add_one(p + ((at + i * threads) & (n - 1)));
        }
        at += UNROLL * threads;
    }
    if (can) {
        *ran = 1;
    }
}

// Each add to an element of its own somewhere in an array much larger than L2. n is a power of two.
__global__ void __launch_bounds__(BLOCK) atomics_spread(int reps, float *p, unsigned n)
{
    unsigned x = (unsigned)rg_bits(4, (uint64_t)blockIdx.x * BLOCK + threadIdx.x);
    for (int r = 0; r < reps; r++) {
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            x = x * 1664525u + 1013904223u;
            add_one(p + ((x ^ x >> 15) & (n - 1)));
        }
    }
}

enum { TEXTURE_SIDE = 64 };

// Warps read 8 x 4 pixels, from a picture that stays in the texture cache.
__global__ void __launch_bounds__(BLOCK) fetch(int reps, cudaTextureObject_t picture, unsigned *out)
{
    float x = threadIdx.x % 8 + 0.5f, y = threadIdx.x / 8 % 4 + 0.5f;
    unsigned sum = 0;
    for (int r = 0; r < reps; r++) {
        float left = x + r % 32;
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            sum ^= tex2D<unsigned>(picture, left, y + i);
        }
    }
    if (sum == 123456789) {
        *out = 1;
    }
}

// ---- timing --------------------------------------------------------------------------------------------------------------

struct bench_state {
    cudaStream_t stream = nullptr;
    cudaEvent_t from = nullptr, to = nullptr;
    unsigned *word = nullptr; // [0] what kernels pretend to write, [1] whether a body was compiled for this GPU
    unsigned *big[2] = {nullptr, nullptr};
    cudaArray_t array = nullptr;
    cudaTextureObject_t picture = 0;
    rg_device_facts facts;
    size_t big_bytes = 0; // of each, a power of two
    int grid = 0;

    ~bench_state()
    {
        // Reports of what went wrong have been given by then; there is nothing left to do about failing clean-up.
        picture && cudaDestroyTextureObject(picture);
        array && cudaFreeArray(array);
        cudaFree(big[0]);
        cudaFree(big[1]);
        cudaFree(word);
        from && cudaEventDestroy(from);
        to && cudaEventDestroy(to);
        stream && cudaStreamDestroy(stream);
    }
};

template <class LAUNCH>
int time_ms(bench_state &s, LAUNCH launch, int reps, float *ms)
{
    TRY(cudaEventRecord(s.from, s.stream));
    launch(reps);
    TRY(cudaGetLastError());
    TRY(cudaEventRecord(s.to, s.stream));
    TRY(cudaEventSynchronize(s.to));
    TRY(cudaEventElapsedTime(ms, s.from, s.to));
    return RG_OK;
}

// Best of five launches of about 20 ms, in units a second; `each` units are done by one of the `reps` of a launch.
template <class LAUNCH>
int measure(bench_state &s, LAUNCH launch, double each, double *per_s)
{
    int code, reps = 1;
    float ms = 0, best = INFINITY;
    while (!(code = time_ms(s, launch, reps, &ms)) && ms < 2 && reps < 1 << 24) {
        reps *= 4;
    }
    if (!code && ms < 20) {
        reps = (int)fmin((double)reps * 20 / fmax(ms, 0.01), 1e9);
    }
    for (int i = 0; i < 5 && !code; i++) {
        code = time_ms(s, launch, reps, &ms);
        best = fminf(best, ms);
    }
    if (!code) {
        *per_s = each * reps / (best * 1e-3);
    }
    return code;
}

int set_up(bench_state &s, const rg_device *device)
{
    int code = device->facts(&s.facts);
    if (code != RG_OK) {
        return code;
    }
    s.grid = s.facts.multiprocessors * BLOCKS_PER_SM;
    TRY(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
    TRY(cudaEventCreate(&s.from));
    TRY(cudaEventCreate(&s.to));
    TRY(cudaMalloc(&s.word, 2 * sizeof *s.word));
    // Two arrays of 1 GiB, or what a quarter of the free memory holds.
    s.big_bytes = (size_t)1 << 30;
    while (2 * s.big_bytes > s.facts.free_bytes / 4) {
        s.big_bytes /= 2;
    }
    for (unsigned *&p : s.big) {
        TRY(cudaMalloc(&p, s.big_bytes));
        TRY(cudaMemset(p, 0, s.big_bytes));
    }
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned>();
    TRY(cudaMallocArray(&s.array, &format, TEXTURE_SIDE, TEXTURE_SIDE));
    TRY(cudaMemcpy2DToArray(s.array, 0, 0, s.big[0], TEXTURE_SIDE * 4, TEXTURE_SIDE * 4, TEXTURE_SIDE, cudaMemcpyDeviceToDevice));
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

template <class OP>
int probe_arithmetic(bench_state &s, typename OP::type x, typename OP::type y, int mads, double *per_s)
{
    auto launch = [&](int reps) { RG_LAUNCH(arithmetic<OP>, s.grid, BLOCK, 0, s.stream, reps, x, y, s.word); };
    return measure(s, launch, (double)s.grid * BLOCK * UNROLL * CHAINS * mads, per_s);
}

// Runs a probe whose kernel may be empty on this GPU or in this build: NaN then.
template <class LAUNCH>
int measure_if_compiled(bench_state &s, LAUNCH launch, double each, double *per_s)
{
    unsigned ran = 0;
    float ms;
    TRY(cudaMemsetAsync(s.word + 1, 0, sizeof ran, s.stream));
    int code = time_ms(s, launch, 1, &ms);
    if (code != RG_OK) {
        return code;
    }
    TRY(cudaMemcpy(&ran, s.word + 1, sizeof ran, cudaMemcpyDeviceToHost));
    return ran ? measure(s, launch, each, per_s) : (int)RG_OK;
}

int probe_matrix(bench_state &s, rg_rates *rates)
{
    double tile = 16.0 * 8 * 32, warps = (double)s.grid * BLOCK / 32;
    auto mma = [&](int reps) { RG_LAUNCH(matrix_mma, s.grid, BLOCK, 0, s.stream, reps, s.word); };
    int code = measure(s, mma, warps * UNROLL * tile, &rates->mma_i8_per_s);
    if (code != RG_OK) {
        return code;
    }
    int grid = s.facts.multiprocessors * 2; // two warpgroups an SM: one computes while the other waits
    auto wgmma = [&](int reps) { RG_LAUNCH(matrix_wgmma, grid, 128, 0, s.stream, reps, s.word, s.word + 1); };
    code = measure_if_compiled(s, wgmma, (double)grid * UNROLL * 64 * 256 * 32, &rates->wgmma_i8_per_s);
    rates->per_s[RG_MATRIX_I8_MAD] = fmax(rates->mma_i8_per_s, rates->wgmma_i8_per_s); // fmax passes over NaN
    return code;
}

int probe_copy(bench_state &s, size_t bytes, double *per_s)
{
    size_t group = (size_t)s.grid * BLOCK * 4, n = bytes / sizeof(uint4) / group * group;
    if (!n) {
        return RG_OK;
    }
    auto launch = [&](int reps) {
        RG_LAUNCH(copy, s.grid, BLOCK, 0, s.stream, reps, (uint4 *)s.big[0], (const uint4 *)s.big[1], n);
    };
    return measure(s, launch, 2.0 * sizeof(uint4) * (double)n, per_s);
}

template <class T>
int probe_atomics(bench_state &s, size_t bytes, double *per_s)
{
    unsigned n = (unsigned)(bytes / sizeof(T));
    auto launch = [&](int reps) { RG_LAUNCH(atomics<T>, s.grid, BLOCK, 0, s.stream, reps, (T *)s.big[0], n, s.word + 1); };
    return measure_if_compiled(s, launch, (double)s.grid * BLOCK * UNROLL, per_s);
}

int probe_memory(bench_state &s, rg_rates *rates)
{
    // A quarter of L2 for both arrays together: on chips with two L2 halves a line may be kept in both.
    size_t small = 1;
    while (2 * small <= s.facts.l2_bytes / 8 && 2 * small <= s.big_bytes) {
        small *= 2;
    }
    double integer = NAN, real = NAN;
    int code = probe_copy(s, s.big_bytes, &rates->per_s[RG_MEM_BYTES]);
    code = code ? code : probe_copy(s, s.facts.l2_bytes / 8, &rates->l2_bytes_per_s);
    code = code ? code : probe_atomics<unsigned>(s, small, &integer);
    code = code ? code : probe_atomics<float>(s, small, &real);
    rates->per_s[RG_ATOMIC] = fmax(integer, real);
    code = code ? code : probe_atomics<float4>(s, small, &rates->per_s[RG_ATOMIC_16B]);
    if (code != RG_OK || s.big_bytes < 4 * s.facts.l2_bytes) { // NaN where the array would half fit L2
        return code;
    }
    unsigned n = (unsigned)(s.big_bytes / sizeof(float));
    auto launch = [&](int reps) { RG_LAUNCH(atomics_spread, s.grid, BLOCK, 0, s.stream, reps, (float *)s.big[0], n); };
    return measure(s, launch, (double)s.grid * BLOCK * UNROLL, &rates->per_s[RG_ATOMIC_MEM]);
}

int probe_all(bench_state &s, rg_rates *rates)
{
    double *per_s = rates->per_s;
    double reads = (double)s.grid * BLOCK * UNROLL;
    int code = probe_arithmetic<fma_f32>(s, 0.5f, 1.0f, 1, &per_s[RG_F32_MAD]);
    code = code ? code : probe_arithmetic<fma_f64>(s, 0.5, 1.0, 1, &per_s[RG_F64_MAD]);
    code = code ? code : probe_arithmetic<mad_i32>(s, 0x01010103u, 0x12345677u, 1, &per_s[RG_I32_MAD]);
    code = code ? code : probe_arithmetic<dot_i8>(s, 0x01020304u, 0x12345677u, 4, &per_s[RG_I8_MAD]);
    code = code ? code : probe_matrix(s, rates);
    auto shared = [&](int reps) { RG_LAUNCH(shared_read, s.grid, BLOCK, 0, s.stream, reps, s.word); };
    code = code ? code : measure(s, shared, reads * sizeof(uint4), &per_s[RG_SHARED_BYTES]);
    auto texture = [&](int reps) { RG_LAUNCH(fetch, s.grid, BLOCK, 0, s.stream, reps, s.picture, s.word); };
    code = code ? code : measure(s, texture, reads, &per_s[RG_TEXTURE]);
    return code ? code : probe_memory(s, rates);
}

} // namespace

extern "C" int rg_probe_gpu(const rg_device *device, rg_rates *rates)
{
    for (double &rate : rates->per_s) {
        rate = NAN;
    }
    rates->l2_bytes_per_s = rates->mma_i8_per_s = rates->wgmma_i8_per_s = NAN;
    rates->isa = "";
    if (!device->is_gpu || device->is_emulated) {
        return RG_OK;
    }
    bench_state s;
    int code = set_up(s, device);
    return code ? code : probe_all(s, rates);
}

extern "C" int rg_gpu_code(const rg_device *device, int *sass_sm, int *ptx_sm)
{
    (void)device; // the runtime's current one
    cudaFuncAttributes facts;
    TRY(cudaFuncGetAttributes(&facts, shared_read));
    *sass_sm = facts.binaryVersion;
    *ptx_sm = facts.ptxVersion;
    return RG_OK;
}
