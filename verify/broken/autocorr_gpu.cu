// SPDX-License-Identifier: MIT
// autocorr_gpu.cu: kernels of `autocorr` for GPUs that are wrong on purpose, and the control: a thread an offset, in blocks of
// 64. compute-sanitizer's tools find some of them (verify/sanitizers.tsv), the emulated GPU all.
#include "autocorr.h"
#include "../../impl/gpu/cuda.h"

enum { BLOCK = 64 };

static inline unsigned blocks_of(int64_t n) { return (unsigned)((n + BLOCK - 1) / BLOCK); }

static __device__ __forceinline__ int64_t thread_index() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }

// Defines the kernel NAME and its descriptor: the number of blocks, and bytes of dynamic shared memory of each. Its body
// follows.
#define KERNEL(NAME, BLOCKS, SHARED_BYTES, IDEA, ...)                                                                          \
    static __global__ void NAME##_kernel(const photos p, int64_t *sums);                                                       \
    static int NAME##_run(rg_call *call) {                                                                                     \
        const photos p = photos_of(call->shape, call->arg);                                                                    \
        RG_LAUNCH(NAME##_kernel, (unsigned)(BLOCKS), BLOCK, SHARED_BYTES, call->stream, p, (int64_t *)call->arg[AC_SUMS]);     \
        return (int)cudaGetLastError();                                                                                        \
    }                                                                                                                          \
    BROKEN("autocorr", NAME, IDEA, __VA_ARGS__.run = NAME##_run);                                                              \
    static __global__ void NAME##_kernel(const photos p, int64_t *sums)
// A kernel with a thread for each of N.
#define THREADS(NAME, N, IDEA, ...) KERNEL(NAME, blocks_of(N), 0, IDEA, __VA_ARGS__)

THREADS(gpu_right, elements_of(p), "the control") {
    const int64_t e = thread_index();
    if (e < elements_of(p)) sums[e] = right_element(p, e);
}

// ---- sums and memory -------------------------------------------------------------------------------------------------------

// A failed launch that nobody checks looks the same.
THREADS(gpu_null, elements_of(p), "the launch is there, the store is not") {
    const int64_t e = thread_index();
    if (e < elements_of(p) && right_element(p, e) < 0) sums[e] = 0;
}

THREADS(gpu_off_by_one, elements_of(p), "offsets rounded towards zero: every negative X0 is one too large") {
    const int64_t e = thread_index();
    if (e < elements_of(p)) sums[e] = right_sum(p, ac_x0(p.r, e) + (ac_x0(p.r, e) < 0), ac_y0(p.r, e));
}

static const char *eight_bits(const rg_shape *s, const int64_t *) {
    return s->n[AC_KIND] & AC_16BIT ? "8-bit pixels only" : NULL;
}

THREADS(gpu_overflow_32bit, elements_of(p), "sums in 32 bits, which hold no more than 33,025 pixels of 255 x 255",
    .refuse = eight_bits, ) {
    const int64_t e = thread_index();
    if (e < elements_of(p)) sums[e] = (int32_t)(uint32_t)right_element(p, e); // what a 32-bit sum wraps to
}

THREADS(gpu_many_rows, elements_of(p), "rows are numbered in 9 bits, and those from the 513th on forgotten") {
    const int64_t e = thread_index();
    photos first = p;
    first.height = p.height < 512 ? p.height : 512;
    if (e < elements_of(p)) sums[e] = right_element(first, e);
}

// Does not fault, because GPU memory is mapped in large pages.
THREADS(gpu_past_end, elements_of(p) + 1, "<= for <: one thread too many writes, one element behind the output") {
    const int64_t e = thread_index();
    if (e <= elements_of(p)) sums[e] = e < elements_of(p) ? right_element(p, e) : 0;
}

// The fault ends the context, so that everything later in the process fails.
THREADS(gpu_wild, elements_of(p), "right, then one thread stores through a wild pointer") {
    const int64_t e = thread_index();
    int64_t *volatile wild = (int64_t *)(uintptr_t)64;
    if (e < elements_of(p)) sums[e] = right_element(p, e);
    if (e == 0) *wild = 0;
}

// An endless kernel would block a GPU that others share.
THREADS(gpu_long, elements_of(p), "a loop of about a minute") {
    const int64_t e = thread_index();
    uint32_t x = (uint32_t)e;
    for (int64_t i = 0; i < (int64_t)30e9; i++) // 4 cycles each: 60 s at 2 GHz
        x = x * 1664525u + 1013904223u;
    if (e < elements_of(p)) sums[e] = x;
}

// ---- synchronization and races ---------------------------------------------------------------------------------------------

static __global__ void clear(photos p, int64_t *sums) {
    const int64_t e = thread_index();
    if (e < elements_of(p)) sums[e] = 0;
}

static __global__ void add_rows(photos p, int64_t *sums) {
    const int64_t i = thread_index(), e = i / p.height, y = i % p.height;
    if (e < elements_of(p)) sums[e] += row_sum(p, ac_x0(p.r, e), ac_y0(p.r, e), y, 0, p.width);
}

static int lost_update(rg_call *call) {
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    RG_LAUNCH(clear, blocks_of(elements_of(p)), BLOCK, 0, call->stream, p, sums);
    RG_LAUNCH(add_rows, blocks_of(elements_of(p) * p.height), BLOCK, 0, call->stream, p, sums);
    return (int)cudaGetLastError();
}

BROKEN(
    "autocorr", gpu_lost_update, "a thread for every row of every offset adds to the sum with a plain +=", .run = lost_update);

// The second warp computes while the first, which has no such work, already adds.
KERNEL(gpu_no_barrier, elements_of(p), 0,
    "no __syncthreads between the threads that fill shared memory and the one that adds it up") {
    __shared__ int64_t partial[BLOCK];
    const int64_t e = blockIdx.x;
    const int t = (int)threadIdx.x;
    int64_t sum = 0;
    for (int64_t y = t - BLOCK / 2; t >= BLOCK / 2 && y < p.height; y += BLOCK / 2)
        sum += row_sum(p, ac_x0(p.r, e), ac_y0(p.r, e), y, 0, p.width);
    partial[t] = sum;
    if (t > 0) return;
    for (int i = 1; i < BLOCK; i++) sum += *(volatile int64_t *)&partial[i];
    sums[e] = sum;
}

// On a GPU the outcome is undefined: it may pass, or hang.
THREADS(gpu_divergent_barrier, elements_of(p), "a __syncthreads that half of the threads do not reach") {
    __shared__ int64_t partial[BLOCK];
    const int64_t e = thread_index();
    partial[threadIdx.x] = e < elements_of(p) ? right_element(p, e) : 0;
    if (threadIdx.x < BLOCK / 2)
        __syncthreads();
    else if (e < 0) // keeps the other threads in another branch
        __syncthreads();
    if (e < elements_of(p)) sums[e] = partial[threadIdx.x];
    __syncthreads();
}

// Passes on GPUs, which allocate it in larger pieces.
KERNEL(gpu_shared_past_end, blocks_of(elements_of(p)), BLOCK * sizeof(int64_t),
    "one element of dynamic shared memory more than the launch asked for") {
    RG_SHARED_DYNAMIC(int64_t, line);
    const int64_t e = thread_index();
    line[threadIdx.x + 1] = e < elements_of(p) ? right_element(p, e) : 0;
    __syncthreads();
    if (e < elements_of(p)) sums[e] = line[threadIdx.x + 1];
}

// Often passes on a GPU, where it often is 0.
THREADS(gpu_shared_uninitialised, elements_of(p), "adds an element of shared memory that no thread wrote") {
    __shared__ int64_t partial[BLOCK + 1];
    const int64_t e = thread_index();
    partial[threadIdx.x] = e < elements_of(p) ? right_element(p, e) : 0;
    __syncthreads();
    if (e < elements_of(p)) sums[e] = partial[threadIdx.x] + *(volatile int64_t *)&partial[BLOCK];
}

// ---- launches and streams --------------------------------------------------------------------------------------------------

static void launch(rg_call *call, int threads, void *stream) {
    const photos p = photos_of(call->shape, call->arg);
    RG_LAUNCH(gpu_right_kernel, blocks_of(elements_of(p)), threads, 0, stream, p, (int64_t *)call->arg[AC_SUMS]);
}

static int refused(rg_call *call) {
    launch(call, 2048, call->stream);
    return RG_OK;
}

BROKEN("autocorr", gpu_refused, "blocks of more threads than a GPU has, and run() does not ask whether they were launched",
    .run = refused);

static int default_stream(rg_call *call) {
    launch(call, BLOCK, nullptr);
    return (int)cudaGetLastError();
}

// Right if nothing else is queued. In a job of several streams it waits for all of them, or reads data before they are there.
BROKEN("autocorr", gpu_default_stream, "queued on the default stream and not on the stream of the call", .run = default_stream);

static int prepare_stream(rg_call *call) {
#ifdef RG_EMULATED
    static int any;
    call->state = &any;
    return RG_OK;
#else
    return (int)cudaStreamCreateWithFlags((cudaStream_t *)&call->state, cudaStreamNonBlocking);
#endif
}

static int other_stream(rg_call *call) {
    launch(call, BLOCK, call->state);
    return (int)cudaGetLastError();
}

static void finish_stream(rg_call *call) {
#ifndef RG_EMULATED
    cudaStreamDestroy((cudaStream_t)call->state);
#else
    (void)call;
#endif
}

// Timed as an empty launch, as no event of the call is recorded there. Passes a checker that waits for the whole device.
BROKEN("autocorr", gpu_other_stream, "works on a stream of its own", .prepare = prepare_stream, .run = other_stream,
    .finish = finish_stream);

static int first;

static size_t all_sums(const rg_shape *s, const int64_t *) { return (size_t)(ac_side(s->n[AC_R]) * ac_side(s->n[AC_R])) * 8; }

static __global__ void keep_first(photos p, int64_t *sums, int64_t *kept, int compute) {
    const int64_t e = thread_index();
    if (e >= elements_of(p)) return;
    if (compute) kept[e] = right_element(p, e);
    sums[e] = kept[e];
}

static int prepare_first(rg_call *) {
    first = 1;
    return RG_OK;
}

static int stale(rg_call *call) {
    const photos p = photos_of(call->shape, call->arg);
    RG_LAUNCH(keep_first, blocks_of(elements_of(p)), BLOCK, 0, call->stream, p, (int64_t *)call->arg[AC_SUMS],
        (int64_t *)call->scratch, first);
    first = 0;
    return (int)cudaGetLastError();
}

BROKEN("autocorr", gpu_stale, "the first run after prepare keeps its answer in scratch memory, later ones copy it",
    .scratch = all_sums, .prepare = prepare_first, .run = stale);

RG_PLUGIN = {&gpu_right, &gpu_null, &gpu_off_by_one, &gpu_overflow_32bit, &gpu_many_rows, &gpu_past_end, &gpu_wild, &gpu_long,
    &gpu_lost_update, &gpu_no_barrier, &gpu_divergent_barrier, &gpu_shared_past_end, &gpu_shared_uninitialised, &gpu_refused,
    &gpu_default_stream, &gpu_other_stream, &gpu_stale, NULL};
