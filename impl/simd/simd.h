// SPDX-License-Identifier: MIT
// simd.h: macros for vector code that is compiled for AVX2 and for AVX-512. It is included once for each, with SIMD_LANES 8 or
// 16 (floats in a vector), before the code that uses them:
//
//     TARGET static VEC NAME(twice)(VEC v) { return v_add_ps(v, v); }    // avx2_twice and avx512_twice
//
// v_add_ps is _mm256_add_ps or _mm512_add_ps. Where the two sets differ in more than the prefix, v_x does what AVX-512 calls x,
// and MASK is the type of its comparison results.
#include <immintrin.h>
#include <stdint.h>

#ifndef RG_SIMD_H
#define RG_SIMD_H
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define v_add_epi32 V(add_epi32)
#define v_add_ps V(add_ps)
#define v_and_ps V(and_ps)
#define v_ceil_ps V(ceil_ps)
#define v_cvtps_epi32 V(cvtps_epi32)
#define v_floor_ps V(floor_ps)
#define v_fmadd_ps V(fmadd_ps)
#define v_fnmadd_ps V(fnmadd_ps)
#define v_loadu_ps V(loadu_ps)
#define v_max_ps V(max_ps)
#define v_min_ps V(min_ps)
#define v_mul_ps V(mul_ps)
#define v_mullo_epi32 V(mullo_epi32)
#define v_set1_epi32 V(set1_epi32)
#define v_set1_ps V(set1_ps)
#define v_storeu_ps V(storeu_ps)
#define v_sub_ps V(sub_ps)
#define v_xor_ps V(xor_ps)
#endif

#undef TARGET
#undef NAME
#undef V
#undef VEC
#undef INTS
#undef MASK
#undef v_loadu_int
#undef v_storeu_int
#undef v_castint_ps
#undef v_cmp_ps
#undef v_mask_and
#undef v_mask_bits
#undef v_mask_first
#undef v_maskz_mov_ps
#undef v_maskz_loadu_ps
#undef v_mask_storeu_ps
#undef v_i32gather_ps
#undef v_permutexvar_ps
#undef v_count_ps

#if SIMD_LANES == 16
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define NAME(x) avx512_##x
#define V(op) _mm512_##op
#define VEC __m512
#define INTS __m512i
#define MASK __mmask16
#define v_loadu_int(p) _mm512_loadu_si512(p)
#define v_storeu_int(p, v) _mm512_storeu_si512(p, v)
#define v_castint_ps(v) _mm512_castsi512_ps(v)
#define v_cmp_ps(a, b, how) _mm512_cmp_ps_mask(a, b, how)
#define v_mask_and(a, b) ((__mmask16)((a) & (b)))
#define v_mask_bits(mask) ((uint32_t)(mask))
#define v_mask_first(n) ((__mmask16)((1u << (n)) - 1))
#define v_maskz_mov_ps(mask, v) _mm512_maskz_mov_ps(mask, v)
#define v_maskz_loadu_ps(mask, p) _mm512_maskz_loadu_ps(mask, p)
#define v_mask_storeu_ps(p, mask, v) _mm512_mask_storeu_ps(p, mask, v)
#define v_i32gather_ps(index, p) _mm512_i32gather_ps(index, p, 4)
#define v_permutexvar_ps(index, v) _mm512_permutexvar_ps(index, v)
#define v_count_ps() _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#else
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) avx2_##x
#define V(op) _mm256_##op
#define VEC __m256
#define INTS __m256i
#define MASK __m256i
#define v_loadu_int(p) _mm256_loadu_si256((const __m256i *)(p))
#define v_storeu_int(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define v_castint_ps(v) _mm256_castsi256_ps(v)
#define v_cmp_ps(a, b, how) _mm256_castps_si256(_mm256_cmp_ps(a, b, how))
#define v_mask_and(a, b) _mm256_and_si256(a, b)
#define v_mask_bits(mask) ((uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(mask)))
#define v_mask_first(n) _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define v_maskz_mov_ps(mask, v) _mm256_and_ps(_mm256_castsi256_ps(mask), v)
#define v_maskz_loadu_ps(mask, p) _mm256_maskload_ps(p, mask)
#define v_mask_storeu_ps(p, mask, v) _mm256_maskstore_ps(p, mask, v)
#define v_i32gather_ps(index, p) _mm256_i32gather_ps(p, index, 4)
#define v_permutexvar_ps(index, v) _mm256_permutevar8x32_ps(v, index)
#define v_count_ps() _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7)

#endif
