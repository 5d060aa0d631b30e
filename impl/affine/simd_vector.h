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
#undef MAX
#undef MUL
#undef EQUAL
#undef BOTH
#undef COUNT
#undef GATHER
#undef STORE_SOME
#undef KEEP
#undef LOAD_SOME
#undef STORE_INTS
#undef PAIRS
#undef TWICE
#undef LEFT
#undef RIGHT

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
#define MAX(a, b) _mm512_max_ps(a, b)
#define MUL(a, b) _mm512_mul_ps(a, b)
#define EQUAL(a, b) _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ)
#define BOTH(a, b) ((__mmask16)((a) & (b)))
#define COUNT(mask) __builtin_popcount(mask)
#define GATHER(p, index) _mm512_i32gather_ps(index, p, 4)
#define FLOOR(v) _mm512_roundscale_ps(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define TO_INTS(v) _mm512_cvtps_epi32(v)
#define ADD_INTS(a, b) _mm512_add_epi32(a, b)
#define MUL_INTS(a, b) _mm512_mullo_epi32(a, b)
#define COUNT_UP() _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define FIRST(n) ((__mmask16)((1u << (n)) - 1))
#define STORE_SOME(p, mask, v) _mm512_mask_storeu_ps(p, mask, v)
#define LOAD_SOME(p, mask) _mm512_maskz_loadu_ps(mask, p)
#define KEEP(mask, v) _mm512_maskz_mov_ps(mask, v)
#define STORE_INTS(p, v) _mm512_store_si512(p, v)
#define PAIRS(p, index) avx512_pairs(p, index)
#define TWICE(v, half) avx512_twice(v, half)
#define LEFT(low, high) avx512_every_second(low, high, 0)
#define RIGHT(low, high) avx512_every_second(low, high, 1)

// p[i] and p[i + 1] of eight indices i, 64 bits a load.
TARGET static inline __m512 avx512_pairs(const float *p, const int32_t *index)
{
    return _mm512_castpd_ps(_mm512_i32gather_pd(_mm256_load_si256((const __m256i *)index), p, 4));
}

// Every value of half a vector twice.
TARGET static inline __m512 avx512_twice(__m512 v, int half)
{
    const __m512i of = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    return _mm512_permutexvar_ps(_mm512_add_epi32(of, _mm512_set1_epi32(8 * half)), v);
}

TARGET static inline __m512 avx512_every_second(__m512 low, __m512 high, int first)
{
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_ps(low, _mm512_add_epi32(even, _mm512_set1_epi32(first)), high);
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
#define MAX(a, b) _mm256_max_ps(a, b)
#define MUL(a, b) _mm256_mul_ps(a, b)
#define EQUAL(a, b) _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_EQ_OQ))
#define BOTH(a, b) _mm256_and_si256(a, b)
#define COUNT(mask) __builtin_popcount((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(mask)))
#define GATHER(p, index) _mm256_i32gather_ps(p, index, 4)
#define FLOOR(v) _mm256_floor_ps(v)
#define TO_INTS(v) _mm256_cvtps_epi32(v)
#define ADD_INTS(a, b) _mm256_add_epi32(a, b)
#define MUL_INTS(a, b) _mm256_mullo_epi32(a, b)
#define COUNT_UP() _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7)
#define FIRST(n) _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define STORE_SOME(p, mask, v) _mm256_maskstore_ps(p, mask, v)
#define LOAD_SOME(p, mask) _mm256_maskload_ps(p, mask)
#define KEEP(mask, v) _mm256_and_ps(_mm256_castsi256_ps(mask), v)
#define STORE_INTS(p, v) _mm256_store_si256((__m256i *)(p), v)
#define PAIRS(p, index) avx2_pairs(p, index)
#define TWICE(v, half) avx2_twice(v, half)
#define LEFT(low, high) avx2_in_order(_mm256_shuffle_ps(low, high, 0x88))
#define RIGHT(low, high) avx2_in_order(_mm256_shuffle_ps(low, high, 0xDD))

// Loads and inserts: on a Zen 4 core 15 % faster than the gathers of AVX2.
TARGET static inline __m256 avx2_pairs(const float *p, const int32_t *index)
{
    // Not _mm_load_sd, which demands the alignment of a double.
    const __m128d low = _mm_loadh_pd(_mm_castsi128_pd(_mm_loadl_epi64((const __m128i *)(p + index[0]))),
                                     (const double *)(p + index[1]));
    const __m128d high = _mm_loadh_pd(_mm_castsi128_pd(_mm_loadl_epi64((const __m128i *)(p + index[2]))),
                                      (const double *)(p + index[3]));
    return _mm256_castpd_ps(_mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1));
}

TARGET static inline __m256 avx2_twice(__m256 v, int half)
{
    const __m256i of = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
    return _mm256_permutevar8x32_ps(v, _mm256_add_epi32(of, _mm256_set1_epi32(4 * half)));
}

// 0 1 4 5 2 3 6 7, as shuffles of two halves leave it.
TARGET static inline __m256 avx2_in_order(__m256 v)
{
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(v), 0xD8));
}
#endif
