// SPDX-License-Identifier: MIT
// autovec.h: plain loops that the compiler vectorises for the machine at hand, without intrinsics.
//
//     RG_HD void twice(int n, const float *restrict a, float *restrict to) { for (int i = 0; i < n; i++) to[i] = 2 * a[i]; }
//     RG_AUTOVEC(twice, (int n, const float *restrict a, float *restrict to), (n, a, to))
//
// defines twice_avx2 and twice_avx512, and twice_for(avx512) returns one of them. Autovec variants lie between the naive ones,
// which correspond to a core of the papers' years, and the simd ones. verify/tests/runtime/test_autovec.c checks the listing
// for vectors.
//
// GCC's generic tuning emits no gathers, but loads each lane and inserts it, as it does (from 13 on) for processors that leak
// through gathers (CVE-2022-40982). The tuning of a later processor emits them, but needs an option to use full vectors.
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
#define RG_AUTOVEC_WIDE "avx512vnni" // the feature that selects the second

#define RG_AUTOVEC(name, parameters, arguments)                                                                                \
    typedef void name##_fn parameters;                                                                                         \
    RG_AUTOVEC_AVX2 static void name##_avx2 parameters { name arguments; }                                                     \
    RG_AUTOVEC_AVX512 static void name##_avx512 parameters { name arguments; }                                                 \
    static inline name##_fn *name##_for(int avx512) { return avx512 ? name##_avx512 : name##_avx2; }

#endif
