// SPDX-License-Identifier: MIT
// autovec.h: plain loops as a compiler makes them for the machine at hand: no intrinsics, its own vector instructions.
//
//     RG_HD void twice(int n, const float *restrict a, float *restrict to) { for (int i = 0; i < n; i++) to[i] = 2 * a[i]; }
//     RG_AUTOVEC(twice, (int n, const float *restrict a, float *restrict to), (n, a, to))
//
// makes twice_avx2 and twice_avx512, and twice_for(avx512) names one of them. It stands between the naive variants, which are
// what a core did in the papers' years, and the simd ones. verify/tests/runtime/test_autovec.c looks for vectors in the listing.
//
// GCC's generic tuning makes no gathers, but loads each lane and inserts it, as it does (from 13 on) for processors that leak
// through gathers (CVE-2022-40982); that of a later one makes them, and would keep to half vectors unless told.
#ifndef RG_AUTOVEC_H
#define RG_AUTOVEC_H

#define RG_AUTOVEC_AVX2 __attribute__((target("avx2,fma"), noinline))
#ifdef __clang__
#define RG_AUTOVEC_TUNE ""
#else
#define RG_AUTOVEC_TUNE ",tune=sapphirerapids,prefer-vector-width=512"
#endif
#define RG_AUTOVEC_AVX512                                                                                                      \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma" RG_AUTOVEC_TUNE), noinline))
#define RG_AUTOVEC_NEEDS "avx2"
#define RG_AUTOVEC_WIDE "avx512vnni" // the feature that chooses the second

#define RG_AUTOVEC(name, parameters, arguments)                                                                                \
    typedef void name##_fn parameters;                                                                                         \
    RG_AUTOVEC_AVX2 static void name##_avx2 parameters { name arguments; }                                                     \
    RG_AUTOVEC_AVX512 static void name##_avx512 parameters { name arguments; }                                                 \
    static inline name##_fn *name##_for(int avx512) { return avx512 ? name##_avx512 : name##_avx2; }

#endif
