// SPDX-License-Identifier: MIT
// simd_vector.h: vectors of AF_LANES (16 or 8) floats, in AVX-512 or AVX2. Included once for each, with the code written in
// them after it.
#undef TARGET
#undef NAME
#undef VEC
#undef INTS
#undef MASK
#undef LOAD
#undef SET
#undef SET_INT
#undef ADD
#undef SUB
#undef MAD
#undef FLOOR
#undef TO_INTS
#undef ADD_INTS
#undef MUL_INTS
#undef COUNT_UP
#undef FIRST
#undef MIN
#undef STORE_SOME
#undef KEEP
#undef LOAD_SOME
#undef PAIRS

#if AF_LANES == 16
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define NAME(x) avx512_##x
#define VEC __m512
#define INTS __m512i
#define MASK __mmask16
#define SET(x) _mm512_set1_ps(x)
#define SET_INT(x) _mm512_set1_epi32(x)
#define ADD(a, b) _mm512_add_ps(a, b)
#define SUB(a, b) _mm512_sub_ps(a, b)
#define MAD(a, b, c) _mm512_fmadd_ps(a, b, c)
#define MIN(a, b) _mm512_min_ps(a, b)
#define FLOOR(v) _mm512_roundscale_ps(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define TO_INTS(v) _mm512_cvtps_epi32(v)
#define ADD_INTS(a, b) _mm512_add_epi32(a, b)
#define MUL_INTS(a, b) _mm512_mullo_epi32(a, b)
#define COUNT_UP() _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define FIRST(n) ((__mmask16)((1u << (n)) - 1))
#define STORE_SOME(p, mask, v) _mm512_mask_storeu_ps(p, mask, v)
#define LOAD_SOME(p, mask) _mm512_maskz_loadu_ps(mask, p)
#define KEEP(mask, v) _mm512_maskz_mov_ps(mask, v)
#define PAIRS(p, index, left, right) avx512_pairs(p, index, left, right)

// p[index] and p[index + 1], loaded as one word of 64 bits: half as many loads as pixels.
TARGET static inline void avx512_pairs(const float *p, __m512i index, __m512 *left, __m512 *right)
{
    const __m512 low = _mm512_castpd_ps(_mm512_i32gather_pd(_mm512_castsi512_si256(index), p, 4));
    const __m512 high = _mm512_castpd_ps(_mm512_i32gather_pd(_mm512_extracti64x4_epi64(index, 1), p, 4));
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    *left = _mm512_permutex2var_ps(low, even, high);
    *right = _mm512_permutex2var_ps(low, _mm512_add_epi32(even, _mm512_set1_epi32(1)), high);
}
#else
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) avx2_##x
#define VEC __m256
#define INTS __m256i
#define MASK __m256i
#define SET(x) _mm256_set1_ps(x)
#define SET_INT(x) _mm256_set1_epi32(x)
#define ADD(a, b) _mm256_add_ps(a, b)
#define SUB(a, b) _mm256_sub_ps(a, b)
#define MAD(a, b, c) _mm256_fmadd_ps(a, b, c)
#define MIN(a, b) _mm256_min_ps(a, b)
#define FLOOR(v) _mm256_floor_ps(v)
#define TO_INTS(v) _mm256_cvtps_epi32(v)
#define ADD_INTS(a, b) _mm256_add_epi32(a, b)
#define MUL_INTS(a, b) _mm256_mullo_epi32(a, b)
#define COUNT_UP() _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7)
#define FIRST(n) _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define STORE_SOME(p, mask, v) _mm256_maskstore_ps(p, mask, v)
#define LOAD_SOME(p, mask) _mm256_maskload_ps(p, mask)
#define KEEP(mask, v) _mm256_and_ps(_mm256_castsi256_ps(mask), v)
#define PAIRS(p, index, left, right) avx2_pairs(p, index, left, right)

TARGET static inline void avx2_pairs(const float *p, __m256i index, __m256 *left, __m256 *right)
{
    const __m256 low = _mm256_castpd_ps(_mm256_i32gather_pd((const double *)p, _mm256_castsi256_si128(index), 4));
    const __m256 high = _mm256_castpd_ps(_mm256_i32gather_pd((const double *)p, _mm256_extracti128_si256(index, 1), 4));
    const __m256 even = _mm256_shuffle_ps(low, high, 0x88), odd = _mm256_shuffle_ps(low, high, 0xDD); // 0 1 4 5 2 3 6 7
    *left = _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(even), 0xD8));
    *right = _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(odd), 0xD8));
}
#endif
