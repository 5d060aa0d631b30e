// SPDX-License-Identifier: MIT
// cpu.c: measures the sustained rates of this CPU with its widest instructions: memory copy, and multiply-adds of each type.
// Twelve independent accumulators cover latency x throughput of every x86 so far (4 to 5 cycles x 2) and fit the 16 registers
// of AVX2. Multiply-adds are counted, not operations.
#include "../machine/machine.h"
#include "../machine/sensors.h"
#include "../../impl/base/core.h"
#include "../../impl/runtime/cpu.h"

#include <pthread.h>
#include <sys/mman.h>

// ---- the loops -----------------------------------------------------------------------------------------------------------

// Each thread's two arrays of the copy; the arithmetic loops use none.
typedef struct rg_copy_arrays {
    char *from, *to;
    size_t bytes;
} rg_copy_arrays;
typedef void (*rg_loop)(int64_t rounds, const rg_copy_arrays *);

enum { CHAINS = 12 };
#define ALL_CHAINS(step, p)                                                                                                    \
    step(p, a0) step(p, a1) step(p, a2) step(p, a3) step(p, a4) step(p, a5) step(p, a6) step(p, a7) step(p, a8) step(p, a9)    \
        step(p, a10) step(p, a11)
// Hides from the compiler the sources of x, y and the accumulators and the use of the sum, so that it cannot drop anything or
// merge accumulators with equal starts. Loops whose product does not depend on the accumulator hide x before each step;
// otherwise the product would be computed once.
#if defined(__x86_64__)
#define HIDE(p, v) __asm__ volatile("" : "+v"(v));
#elif defined(__aarch64__)
#define HIDE(p, v) __asm__ volatile("" : "+w"(v));
#else
#define HIDE(p, v) __asm__ volatile("" : "+m"(v));
#endif
// A step receives the prefix p of its instructions, as _mm256, and the accumulator.
#define LOOP(id, target_isa, vector, broadcast, add, p, step)                                                                  \
    target_isa static void id(int64_t rounds, const rg_copy_arrays *unused) {                                                  \
        vector x = broadcast(1), y = broadcast(0);                                                                             \
        (void)unused;                                                                                                          \
        HIDE(p, x)                                                                                                             \
        HIDE(p, y)                                                                                                             \
        vector a0 = x, a1 = x, a2 = x, a3 = x, a4 = x, a5 = x, a6 = x, a7 = x, a8 = x, a9 = x, a10 = x, a11 = x;               \
        ALL_CHAINS(HIDE, p)                                                                                                    \
        for (int64_t i = 0; i < rounds; i++) {                                                                                 \
            ALL_CHAINS(step, p)                                                                                                \
        }                                                                                                                      \
        a0 = add(add(add(a0, a1), add(a2, a3)), add(add(a4, a5), add(a6, a7)));                                                \
        a0 = add(a0, add(add(a8, a9), add(a10, a11)));                                                                         \
        HIDE(p, a0)                                                                                                            \
    }

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma"), noinline))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"), noinline))
#define VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"), noinline))

#define FMA_F32(p, a) a = p##_fmadd_ps(a, y, x);
#define FMA_F64(p, a) a = p##_fmadd_pd(a, y, x);
#define MAD_I32(p, a) HIDE(p, x) a = p##_add_epi32(a, p##_mullo_epi32(x, y));
#define MAD_I16(p, a) HIDE(p, x) a = p##_add_epi32(a, p##_madd_epi16(x, y));
// Without VNNI an 8-bit dot takes vpmaddubsw (pairs, to 16 bits), vpmaddwd by ones (to 32 bits) and vpaddd.
#define DOT_I8(p, a) HIDE(p, x) a = p##_add_epi32(a, p##_madd_epi16(p##_maddubs_epi16(x, y), y));
#define DOT_VNNI(p, a) a = p##_dpbusd_epi32(a, x, y);
#define MAD_VNNI(p, a) a = p##_dpwssd_epi32(a, x, y);
#define LOOPS(isa, target_isa, p, reals, doubles, integers)                                                                    \
    LOOP(f32_##isa, target_isa, reals, p##_set1_ps, p##_add_ps, p, FMA_F32)                                                    \
    LOOP(f64_##isa, target_isa, doubles, p##_set1_pd, p##_add_pd, p, FMA_F64)                                                  \
    LOOP(i32_##isa, target_isa, integers, p##_set1_epi32, p##_add_epi32, p, MAD_I32)                                           \
    LOOP(i16_##isa, target_isa, integers, p##_set1_epi32, p##_add_epi32, p, MAD_I16)                                           \
    LOOP(i8_##isa, target_isa, integers, p##_set1_epi32, p##_add_epi32, p, DOT_I8)

LOOPS(avx2, AVX2, _mm256, __m256, __m256d, __m256i)
LOOPS(avx512, AVX512, _mm512, __m512, __m512d, __m512i)
LOOP(i8_vnni, VNNI, __m512i, _mm512_set1_epi32, _mm512_add_epi32, _mm512, DOT_VNNI)
LOOP(i16_vnni, VNNI, __m512i, _mm512_set1_epi32, _mm512_add_epi32, _mm512, MAD_VNNI)

// Stores bypass the caches, so that the memory moves only the bytes read + written. SSE2 is enough: memory is the limit.
static void copy(int64_t rounds, const rg_copy_arrays *c) {
    for (int64_t r = 0; r < rounds; r++) {
        for (size_t i = 0; i < c->bytes; i += 64) {
            const __m128i *from = (const __m128i *)(c->from + i);
            __m128i *to = (__m128i *)(c->to + i);
            __m128i v0 = _mm_load_si128(from), v1 = _mm_load_si128(from + 1);
            __m128i v2 = _mm_load_si128(from + 2), v3 = _mm_load_si128(from + 3);
            _mm_stream_si128(to, v0);
            _mm_stream_si128(to + 1, v1);
            _mm_stream_si128(to + 2, v2);
            _mm_stream_si128(to + 3, v3);
        }
        _mm_sfence();
    }
}
#else
static void copy(int64_t rounds, const rg_copy_arrays *c) {
    for (int64_t r = 0; r < rounds; r++) {
        memcpy(c->to, c->from, c->bytes);
        __asm__ volatile("" : : "r"(c->to) : "memory");
    }
}
#endif

// For any CPU: 16-byte vectors of the compiler, which may or may not fuse product and sum.
typedef float f32x4 __attribute__((vector_size(16)));
typedef double f64x2 __attribute__((vector_size(16)));
typedef uint32_t u32x4 __attribute__((vector_size(16)));
#define PLAIN __attribute__((noinline))
#define SPREAD4(v)                                                                                                             \
    { v, v, v, v }
#define SPREAD2(v)                                                                                                             \
    { v, v }
#define PLUS(a, b) ((a) + (b))
#define MAD_PLAIN(p, a) a = a * y + x;
LOOP(f32_plain, PLAIN, f32x4, SPREAD4, PLUS, , MAD_PLAIN)
LOOP(f64_plain, PLAIN, f64x2, SPREAD2, PLUS, , MAD_PLAIN)
LOOP(i32_plain, PLAIN, u32x4, SPREAD4, PLUS, , MAD_PLAIN)

// The best first: the first loop whose instructions this CPU has is the one measured.
static const struct {
    rg_resource resource;
    const char *needs; // as rg_cpu_has; "" for any CPU
    rg_loop loop;
    int mads; // of one vector
} loops[] = {
#if defined(__x86_64__)
    {RG_F32_MAD, "avx512", f32_avx512, 16},
    {RG_F64_MAD, "avx512", f64_avx512, 8},
    {RG_I32_MAD, "avx512", i32_avx512, 16},
    {RG_I16_MAD, "avx512vnni", i16_vnni, 32},
    {RG_I8_MAD, "avx512vnni", i8_vnni, 64},
    {RG_I16_MAD, "avx512", i16_avx512, 32},
    {RG_I8_MAD, "avx512", i8_avx512, 64},
    {RG_F32_MAD, "avx2", f32_avx2, 8},
    {RG_F64_MAD, "avx2", f64_avx2, 4},
    {RG_I32_MAD, "avx2", i32_avx2, 8},
    {RG_I16_MAD, "avx2", i16_avx2, 16},
    {RG_I8_MAD, "avx2", i8_avx2, 32},
#endif
    {RG_F32_MAD, "", f32_plain, 4},
    {RG_F64_MAD, "", f64_plain, 2},
    {RG_I32_MAD, "", i32_plain, 4},
};

// ---- the crew of threads -------------------------------------------------------------------------------------------------

typedef struct rg_crew {
    pthread_mutex_t start; // held until all members exist; also lets one at a time into rg_cpu_pin
    pthread_barrier_t gate;
    int threads;
    unsigned wanted;
    bool can_copy; // every member has its arrays
    double *from_s, *to_s;
    rg_rates *rates; // written by member 0
} rg_crew;

typedef struct rg_member {
    rg_crew *crew;
    int index;
    rg_copy_arrays arrays; // from and to as allocated; the member touches them first, so that they lie in its own memory
} rg_member;

// One timed run of all members: seconds from the first start to the last end, the same in every member.
static double run_together(const rg_member *m, rg_loop loop, int64_t rounds, const rg_copy_arrays *arrays) {
    rg_crew *crew = m->crew;
    pthread_barrier_wait(&crew->gate);
    crew->from_s[m->index] = rg_seconds();
    loop(rounds, arrays);
    crew->to_s[m->index] = rg_seconds();
    pthread_barrier_wait(&crew->gate);
    double from = crew->from_s[0], to = crew->to_s[0];
    for (int i = 1; i < crew->threads; i++) {
        from = fmin(from, crew->from_s[i]);
        to = fmax(to, crew->to_s[i]);
    }
    return to - from;
}

// Rounds/s of all members together: the best of four runs of 20 ms or more.
static double rounds_per_s(const rg_member *m, rg_loop loop, const rg_copy_arrays *arrays) {
    int64_t rounds = 1;
    double s;
    while ((s = run_together(m, loop, rounds, arrays)) < 0.02) rounds *= s < 0.002 ? 8 : 2;
    for (int i = 0; i < 3; i++) s = fmin(s, run_together(m, loop, rounds, arrays));
    return (double)rounds * m->crew->threads / s;
}

static void *member(void *argument) {
    const rg_member *m = argument;
    rg_crew *crew = m->crew;
    double found[RG_RESOURCES];
    pthread_mutex_lock(&crew->start);
    rg_cpu_pin(m->index);
    pthread_mutex_unlock(&crew->start);
    for (int r = 0; r < RG_RESOURCES; r++) found[r] = NAN;
    for (int i = 0; i < RG_COUNT(loops); i++) {
        if (crew->wanted & 1u << loops[i].resource && isnan(found[loops[i].resource]) &&
            (!loops[i].needs[0] || rg_cpu_has(loops[i].needs))) {
            found[loops[i].resource] = rounds_per_s(m, loops[i].loop, NULL) * loops[i].mads * CHAINS;
        }
    }
    if (crew->can_copy) {
        memset(m->arrays.from, 1, m->arrays.bytes);
        memset(m->arrays.to, 2, m->arrays.bytes);
        found[RG_MEM_BYTES] = rounds_per_s(m, copy, &m->arrays) * 2.0 * (double)m->arrays.bytes;
    }
    if (m->index == 0) memcpy(crew->rates->per_s, found, sizeof found);
    return NULL;
}

// Bytes of each thread's arrays: both arrays of all threads hold four times the last cache (128 MiB at least), and at most a
// quarter of the memory that is free.
static size_t copy_bytes(int threads) {
    rg_topology t;
    char text[64];
    rg_topology_read(&t);
    size_t all = 4 * rg_topology_last_cache(&t), free_bytes = (size_t)4 << 30;
    if (rg_proc_field("/proc/meminfo", "MemAvailable", text, sizeof text)) free_bytes = (size_t)strtoull(text, NULL, 10) << 10;
    all = all < (size_t)128 << 20 ? (size_t)128 << 20 : all;
    all = all > free_bytes / 4 ? free_bytes / 4 : all;
    return all / 2 / (size_t)threads / 64 * 64;
}

// Large pages if available, to measure the memory and not the walk of page tables.
static char *array_make(size_t bytes) {
    enum { PAGE = 2 << 20 };
    char *p = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
    if (p) (void)madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

static void crew_run(rg_crew *crew, rg_member *members, pthread_t *thread, int n) {
    pthread_mutex_init(&crew->start, NULL);
    pthread_mutex_lock(&crew->start);
    for (int i = 0; i < n; i++) {
        if (pthread_create(&thread[i], NULL, member, &members[i]) != 0) {
            rg_warn("the CPU is probed with %d threads, not %d: no more can be made", i, n);
            break;
        }
        crew->threads++;
    }
    pthread_barrier_init(&crew->gate, NULL, crew->threads ? (unsigned)crew->threads : 1);
    pthread_mutex_unlock(&crew->start);
    for (int i = 0; i < crew->threads; i++) pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&crew->gate);
    pthread_mutex_destroy(&crew->start);
}

void rg_probe_cpu(int threads, unsigned wanted, rg_rates *rates) {
    *rates = (rg_rates){.l2_bytes_per_s = NAN, .mma_i8_per_s = NAN, .wgmma_i8_per_s = NAN};
    for (int r = 0; r < RG_RESOURCES; r++) rates->per_s[r] = NAN;
    rates->isa = rg_cpu_has("avx512") ? "avx512" : rg_cpu_has("avx2") ? "avx2" : "portable";
    int n = threads > 0 ? threads : 1;
    const bool copies = wanted & 1u << RG_MEM_BYTES;
    size_t bytes = copies ? copy_bytes(n) : 0;
    rg_crew crew = {.wanted = wanted, .can_copy = copies, .rates = rates};
    crew.from_s = rg_alloc((size_t)n * sizeof(double));
    crew.to_s = rg_alloc((size_t)n * sizeof(double));
    RG_FREED rg_member *members = rg_alloc((size_t)n * sizeof *members);
    RG_FREED pthread_t *thread = rg_alloc((size_t)n * sizeof *thread);
    for (int i = 0; i < n; i++) {
        members[i] = (rg_member){&crew, i, {copies ? array_make(bytes) : NULL, copies ? array_make(bytes) : NULL, bytes}};
        crew.can_copy = crew.can_copy && members[i].arrays.from && members[i].arrays.to;
    }
    if (copies && !crew.can_copy) rg_warn("the memory copy is not probed: no room for 2 x %d x %zu bytes", n, bytes);
    crew_run(&crew, members, thread, n);
    for (int i = 0; i < n; i++) {
        free(members[i].arrays.from);
        free(members[i].arrays.to);
    }
    free(crew.from_s);
    free(crew.to_s);
}
