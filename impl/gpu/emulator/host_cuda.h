// SPDX-License-Identifier: MIT
// host_cuda.h: the CUDA language of kernels as C++, to build the .cu files without a GPU (emulation.h).
//
// It follows the CUDA C++ programming guide and the PTX instruction set, version 13. Behaviour that is undefined on a GPU and
// detectable here (a lane outside the mask, an unordered access) ends the launch with a fault instead of giving a value.
#pragma once

#include "engine.h"
#include "runtime.h"
#include "vectors.h"
#include <algorithm>
#include <cmath>
#include <cstdio> // nvcc declares printf without it
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

// ---- declarations of functions and variables -----------------------------------------------------------------------------
// Kernels are `static` or in an anonymous namespace: all .cu files are linked into one program.
#define __global__ __attribute__((unused))
#define __device__ __attribute__((unused))
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// One block runs at a time, on one CPU thread; thread_local tells the checker which of a kernel's variables are shared.
#define __shared__ static thread_local
#define RG_SHARED_DYNAMIC(type, id) type *id = static_cast<type *>(rg_emu::shared_dynamic())

// Set by launch.cc under these symbol names. They are constants to a kernel, so that loads of them are not instrumented (a
// const dim3 would not be a constant, because it has a constructor).
extern const uint3 threadIdx __asm__("rg_thread_idx"), blockIdx __asm__("rg_block_idx");
extern const uint3 blockDim __asm__("rg_block_dim"), gridDim __asm__("rg_grid_dim");
constexpr int warpSize = 32;

#if defined(__SANITIZE_THREAD__)
#define RG_CHECKED true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RG_CHECKED true
#endif
#endif
#ifndef RG_CHECKED
#define RG_CHECKED false
#endif
#define RG_UNCHECKED __attribute__((noinline, no_sanitize("thread")))
#define RG_LINE int line = __builtin_LINE()
#define RG_INLINE static inline __attribute__((unused))

namespace rg_emu {

template <class... P> struct Call {
    void (*kernel)(P...);
    std::tuple<P...> args;
    static void invoke(const void *p) {
        const Call &c = *(const Call *)p;
        std::apply(c.kernel, c.args);
    }
};

template <class... P, class... A>
void launch_kernel(
    const char *name, dim3 grid, dim3 block, size_t shared, const void *stream, void (*kernel)(P...), A &&...args) {
    const Call<P...> call = {kernel, std::tuple<P...>(static_cast<P>(std::forward<A>(args))...)};
    rg_launch_status(
        launch({name, (const void *)kernel, grid, block, shared, stream, &call, sizeof call, RG_CHECKED, Call<P...>::invoke}));
}

// Any atomic: returns the old value and stores f(old). reads: false if the new value does not depend on the old one.
template <class T, class F> RG_UNCHECKED T atomic(T *p, bool reads, F f) {
    atomic_access(p, sizeof *p, reads);
    const T old = *p;
    *p = f(old);
    return old;
}

// It reads only the emulation's own memory.
template <class T> RG_UNCHECKED T lane_value(const Value *from, unsigned lane) {
    static_assert(sizeof(T) <= sizeof(Value), "too large to exchange");
    T v;
    __builtin_memcpy(&v, from[lane].bytes, sizeof v);
    return v;
}

template <class T> T shuffle(unsigned mask, T value, unsigned from, int line) {
    static_assert(sizeof(T) <= sizeof(Value), "too large to exchange");
    T result;
    shuffle(mask, &value, sizeof value, from, &result, line);
    return result;
}

template <class T, class F> T reduce(unsigned mask, T value, F f, int line) {
    const Value *all = exchange(REDUCE, mask, line, &value, sizeof value);
    T sum = lane_value<T>(all, (unsigned)__builtin_ctz(mask));
    for (unsigned left = mask & (mask - 1); left; left &= left - 1)
        sum = f(sum, lane_value<T>(all, (unsigned)__builtin_ctz(left)));
    return sum;
}

} // namespace rg_emu

#define RG_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                                              \
    rg_emu::launch_kernel(#kernel, (grid), (block), (shared_bytes), (const void *)(stream), kernel, ##__VA_ARGS__)

// ---- barriers and warp-wide operations -----------------------------------------------------------------------------------
RG_INLINE void __syncthreads(RG_LINE) { rg_emu::barrier(rg_emu::PLAIN, 0, line); }
RG_INLINE int __syncthreads_count(int p, RG_LINE) { return rg_emu::barrier(rg_emu::COUNT, p, line); }
RG_INLINE int __syncthreads_and(int p, RG_LINE) { return rg_emu::barrier(rg_emu::AND, p, line); }
RG_INLINE int __syncthreads_or(int p, RG_LINE) { return rg_emu::barrier(rg_emu::OR, p, line); }
RG_INLINE void __syncwarp(unsigned mask = ~0u, RG_LINE) { rg_emu::exchange(rg_emu::SYNC, mask, line, "", 0); }
RG_INLINE void __threadfence() { rg_emu::fence(); }
RG_INLINE void __threadfence_block() {}

// Segments of `width` lanes (PTX shfl): a lane that asks beyond its segment reads itself.
template <class T> T __shfl_sync(unsigned mask, T v, int from, int width = 32, RG_LINE) {
    const unsigned l = rg_emu::lane(), w = (unsigned)width;
    return rg_emu::shuffle(mask, v, (l & ~(w - 1)) | ((unsigned)from & (w - 1)), line);
}
template <class T> T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32, RG_LINE) {
    const unsigned l = rg_emu::lane(), first = l & ~((unsigned)width - 1);
    return rg_emu::shuffle(mask, v, l - first < delta ? l : l - delta, line);
}
template <class T> T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32, RG_LINE) {
    const unsigned l = rg_emu::lane(), last = l | ((unsigned)width - 1);
    return rg_emu::shuffle(mask, v, last - l < delta ? l : l + delta, line);
}
template <class T> T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32, RG_LINE) {
    const unsigned l = rg_emu::lane(), last = l | ((unsigned)width - 1), from = l ^ (unsigned)bits;
    return rg_emu::shuffle(mask, v, from > last ? l : from, line);
}
RG_INLINE unsigned __ballot_sync(unsigned mask, int predicate, RG_LINE) {
    const rg_emu::Value *all = rg_emu::exchange(rg_emu::VOTE, mask, line, &predicate, sizeof predicate);
    unsigned set = 0;
    for (unsigned left = mask; left; left &= left - 1) {
        const unsigned l = (unsigned)__builtin_ctz(left);
        set |= (rg_emu::lane_value<int>(all, l) != 0 ? 1u : 0u) << l;
    }
    return set;
}
RG_INLINE int __any_sync(unsigned mask, int predicate, RG_LINE) { return __ballot_sync(mask, predicate, line) != 0; }
RG_INLINE int __all_sync(unsigned mask, int predicate, RG_LINE) { return __ballot_sync(mask, predicate, line) == mask; }
template <class T> unsigned __match_any_sync(unsigned mask, T v, RG_LINE) {
    const rg_emu::Value *all = rg_emu::exchange(rg_emu::MATCH, mask, line, &v, sizeof v);
    unsigned set = 0;
    for (unsigned l = 0; l < 32; l++) set |= (mask >> l & 1 && rg_emu::lane_value<T>(all, l) == v ? 1u : 0u) << l;
    return set;
}
// Any set of lanes that includes the caller is correct; threads run one by one.
RG_INLINE unsigned __activemask() { return 1u << rg_emu::lane(); }
template <class T> T __reduce_add_sync(unsigned mask, T v, RG_LINE) {
    return (T)rg_emu::reduce(
        mask, (unsigned)v, [](unsigned a, unsigned b) { return a + b; }, line);
}
template <class T> T __reduce_min_sync(unsigned mask, T v, RG_LINE) {
    return rg_emu::reduce(
        mask, v, [](T a, T b) { return b < a ? b : a; }, line);
}
template <class T> T __reduce_max_sync(unsigned mask, T v, RG_LINE) {
    return rg_emu::reduce(
        mask, v, [](T a, T b) { return a < b ? b : a; }, line);
}

RG_INLINE void rg_mma_u8(int d[4], const unsigned a[4], const unsigned b[2], RG_LINE) { rg_emu::multiply_u8(d, a, b, line); }

// ---- atomics -------------------------------------------------------------------------------------------------------------
#define RG_ATOMIC_ADD(T, U)                                                                                                    \
    RG_INLINE T atomicAdd(T *p, T v) {                                                                                         \
        return rg_emu::atomic(p, true, [v](T old) { return (T)((U)old + (U)v); });                                             \
    }
RG_ATOMIC_ADD(int, unsigned)
RG_ATOMIC_ADD(unsigned, unsigned)
RG_ATOMIC_ADD(unsigned long long, unsigned long long)
RG_ATOMIC_ADD(float, float)
RG_ATOMIC_ADD(double, double)
#undef RG_ATOMIC_ADD
RG_INLINE float2 atomicAdd(float2 *p, float2 v) { return make_float2(atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)); }
RG_INLINE float4 atomicAdd(float4 *p, float4 v) {
    return make_float4(atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z), atomicAdd(&p->w, v.w));
}
RG_INLINE int atomicSub(int *p, int v) { return atomicAdd(p, (int)(0u - (unsigned)v)); }
RG_INLINE unsigned atomicSub(unsigned *p, unsigned v) { return atomicAdd(p, 0u - v); }
#define RG_SAME(T) typename std::common_type<T>::type // not deduced: the pointer decides, as among CUDA's overloads
template <class T> T atomicMax(T *p, RG_SAME(T) v) {
    return rg_emu::atomic(p, true, [v](T old) { return old < v ? v : old; });
}
template <class T> T atomicMin(T *p, RG_SAME(T) v) {
    return rg_emu::atomic(p, true, [v](T old) { return v < old ? v : old; });
}
template <class T> T atomicOr(T *p, RG_SAME(T) v) {
    return rg_emu::atomic(p, true, [v](T old) { return old | v; });
}
template <class T> T atomicAnd(T *p, RG_SAME(T) v) {
    return rg_emu::atomic(p, true, [v](T old) { return old & v; });
}
template <class T> T atomicXor(T *p, RG_SAME(T) v) {
    return rg_emu::atomic(p, true, [v](T old) { return old ^ v; });
}
template <class T> T atomicExch(T *p, RG_SAME(T) v) {
    return rg_emu::atomic(p, false, [v](T) { return v; });
}
template <class T> T atomicCAS(T *p, RG_SAME(T) was, RG_SAME(T) v) {
    return rg_emu::atomic(p, true, [was, v](T old) { return old == was ? v : old; });
}
RG_INLINE unsigned atomicInc(unsigned *p, unsigned most) {
    return rg_emu::atomic(p, true, [most](unsigned old) { return old >= most ? 0 : old + 1; });
}

// ---- loads with a hint ---------------------------------------------------------------------------------------------------
template <class T> T __ldg(const T *p) { return *p; }
template <class T> T __ldcs(const T *p) { return *p; }
template <class T> T __ldca(const T *p) { return *p; }
template <class T> T __ldcg(const T *p) { return *p; }
template <class T> void __stcs(T *p, RG_SAME(T) v) { *p = v; }
template <class T> void __stcg(T *p, RG_SAME(T) v) { *p = v; }

// ---- integers ------------------------------------------------------------------------------------------------------------
RG_INLINE int __popc(unsigned v) { return __builtin_popcount(v); }
RG_INLINE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
RG_INLINE int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
RG_INLINE int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
RG_INLINE int __ffs(int v) { return __builtin_ffs(v); }
RG_INLINE int __ffsll(long long v) { return __builtin_ffsll(v); }
RG_INLINE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
RG_INLINE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
RG_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
RG_INLINE int rg_low24(int v) { return (int)((unsigned)v << 8) >> 8; }
RG_INLINE int __mul24(int a, int b) { return (int)((unsigned)rg_low24(a) * (unsigned)rg_low24(b)); }
RG_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n) {
    return (unsigned)(((unsigned long long)high << 32 | low) << (n & 31) >> 32);
}
RG_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (n & 31));
}
// PTX prmt: each nibble of the selector selects a byte of b:a; its top bit replicates that byte's sign over eight bits.
RG_INLINE unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    const unsigned long long both = (unsigned long long)b << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned nibble = selector >> 4 * i & 15u, byte = (unsigned)(both >> 8 * (nibble & 7)) & 255u;
        result |= (nibble & 8 ? (byte & 128u ? 255u : 0u) : byte) << 8 * i;
    }
    return result;
}
template <class A, class B, class C> C rg_dp4a(unsigned a, unsigned b, C c) {
    unsigned sum = (unsigned)c;
    for (int i = 0; i < 32; i += 8) sum += (unsigned)((int)(A)(a >> i) * (int)(B)(b >> i));
    return (C)sum;
}
RG_INLINE int __dp4a(int a, int b, int c) { return rg_dp4a<signed char, signed char>((unsigned)a, (unsigned)b, c); }
RG_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return rg_dp4a<unsigned char, unsigned char>(a, b, c); }

template <class A, class B> typename std::common_type<A, B>::type min(A a, B b) {
    typedef typename std::common_type<A, B>::type T;
    static_assert(std::is_arithmetic<T>::value, "numbers only");
    return std::is_floating_point<T>::value ? (T)std::fmin((T)a, (T)b) : (T)b < (T)a ? (T)b : (T)a;
}
template <class A, class B> typename std::common_type<A, B>::type max(A a, B b) {
    typedef typename std::common_type<A, B>::type T;
    static_assert(std::is_arithmetic<T>::value, "numbers only");
    return std::is_floating_point<T>::value ? (T)std::fmax((T)a, (T)b) : (T)a < (T)b ? (T)b : (T)a;
}

// ---- reals ---------------------------------------------------------------------------------------------------------------
// The fast intrinsics return exactly rounded results, while a GPU is off by some units: a kernel that passes here may still
// exceed its bound. Those whose names the C library declares, or may declare in later versions, are macros.
#define __expf(x) std::exp((float)(x))
#define __logf(x) std::log((float)(x))
#define __log2f(x) std::log2((float)(x))
#define __powf(x, y) std::pow((float)(x), (float)(y))
#define __sinf(x) std::sin((float)(x))
#define __cosf(x) std::cos((float)(x))
#define __sincosf(x, s, c) sincosf(x, s, c)
#define rsqrtf(x) rg_rsqrt((float)(x))
#define rsqrt(x) rg_rsqrt((double)(x))
#define sinpif(x) rg_sinpi((float)(x))
#define cospif(x) rg_cospi((float)(x))
#define sinpi(x) rg_sinpi((double)(x))
#define cospi(x) rg_cospi((double)(x))
template <class T> T rg_rsqrt(T x) { return (T)(1 / std::sqrt((double)x)); }
template <class T> T rg_sinpi(T x) { return (T)std::sin(M_PI * std::remainder((double)x, 2.0)); }
template <class T> T rg_cospi(T x) { return (T)std::cos(M_PI * std::remainder((double)x, 2.0)); }
RG_INLINE void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
RG_INLINE void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
RG_INLINE float __fdividef(float a, float b) { return a / b; }
RG_INLINE float __fdiv_rn(float a, float b) { return a / b; }
RG_INLINE float __fadd_rn(float a, float b) { return a + b; }
RG_INLINE float __fadd_rd(float a, float b) {
    const double sum = (double)a + b, of_b = sum - a, lost = (a - (sum - of_b)) + (b - of_b); // Knuth's two-sum
    const float near = (float)sum;
    return near > sum || (near == sum && lost < 0) ? std::nextafter(near, -HUGE_VALF) : near;
}
RG_INLINE float __fmul_rn(float a, float b) { return a * b; }
RG_INLINE float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
RG_INLINE float __fsqrt_rn(float x) { return std::sqrt(x); }
RG_INLINE float __frcp_rn(float x) { return 1 / x; }
RG_INLINE float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }

// Conversions saturate and turn NaN into 0, as cvt does.
template <class I> I rg_to_integer(double whole) {
    typedef std::numeric_limits<I> Limits;
    const double least = (double)Limits::min(), beyond = std::ldexp(1.0, Limits::digits);
    return whole != whole ? 0 : whole < least ? Limits::min() : whole >= beyond ? Limits::max() : (I)whole;
}
#define RG_CONVERT(from, name, to)                                                                                             \
    RG_INLINE to __##from##2##name##_rn(from x) { return rg_to_integer<to>(std::nearbyint((double)x)); }                       \
    RG_INLINE to __##from##2##name##_rz(from x) { return rg_to_integer<to>(std::trunc((double)x)); }                           \
    RG_INLINE to __##from##2##name##_rd(from x) { return rg_to_integer<to>(std::floor((double)x)); }                           \
    RG_INLINE to __##from##2##name##_ru(from x) { return rg_to_integer<to>(std::ceil((double)x)); }
RG_CONVERT(float, int, int)
RG_CONVERT(float, uint, unsigned)
RG_CONVERT(float, ll, long long)
RG_CONVERT(float, ull, unsigned long long)
RG_CONVERT(double, int, int)
RG_CONVERT(double, uint, unsigned)
RG_CONVERT(double, ll, long long)
RG_CONVERT(double, ull, unsigned long long)
#undef RG_CONVERT
RG_INLINE float __int2float_rn(int x) { return (float)x; }
RG_INLINE float __int2float_rd(int x) { return (float)x > (double)x ? std::nextafter((float)x, -INFINITY) : (float)x; }
RG_INLINE float __uint2float_rn(unsigned x) { return (float)x; }
RG_INLINE float __ll2float_rn(long long x) { return (float)x; }
RG_INLINE float __double2float_rn(double x) { return (float)x; }
template <class T, class F> T rg_same_bits(F from) {
    static_assert(sizeof(T) == sizeof(F), "same size");
    T to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
RG_INLINE int __float_as_int(float x) { return rg_same_bits<int>(x); }
RG_INLINE unsigned __float_as_uint(float x) { return rg_same_bits<unsigned>(x); }
RG_INLINE float __int_as_float(int x) { return rg_same_bits<float>(x); }
RG_INLINE float __uint_as_float(unsigned x) { return rg_same_bits<float>(x); }
RG_INLINE long long __double_as_longlong(double x) { return rg_same_bits<long long>(x); }
RG_INLINE double __longlong_as_double(long long x) { return rg_same_bits<double>(x); }
