// SPDX-License-Identifier: MIT
// simd_vector.h: vectors of GR_LANES (16 or 8) floats as macros, in AVX-512 or AVX2, and the kernel's weights in them. Included
// once for each, with the code written in them after it.

#undef UNROLL
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#undef TARGET
#undef NAME
#undef VEC
#undef INTS
#undef LOAD
#undef STORE
#undef SET
#undef SET_INT
#undef LOAD_INTS
#undef ADD
#undef SUB
#undef MUL
#undef MAD
#undef LESS
#undef XOR
#undef AND
#undef BITS_POSITIVE
#undef BITS_INSIDE
#undef KEEP_INSIDE
#undef CEIL
#undef TO_INTS
#undef INTS_OF
#undef REALS_OF
#undef ADD_INTS
#undef MUL_INTS
#undef SPREAD
#undef REPEAT
#undef STORE_INTS
#undef CHOOSE

#if GR_LANES == 16
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define NAME(x) avx512_##x
#define VEC __m512
#define INTS __m512i
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define SET(x) _mm512_set1_ps(x)
#define SET_INT(x) _mm512_set1_epi32(x)
#define LOAD_INTS(p) _mm512_loadu_si512(p)
#define ADD(a, b) _mm512_add_ps(a, b)
#define SUB(a, b) _mm512_sub_ps(a, b)
#define MUL(a, b) _mm512_mul_ps(a, b)
#define MAD(a, b, c) _mm512_fmadd_ps(a, b, c)
#define LESS(a, b, c) _mm512_fnmadd_ps(a, b, c)
#define XOR(a, b) _mm512_xor_ps(a, b)
#define AND(a, b) _mm512_and_ps(a, b)
#define BITS_POSITIVE(v) ((uint32_t)_mm512_cmp_ps_mask(v, SET(0), _CMP_GT_OQ))
#define BITS_INSIDE(t) ((uint32_t)_mm512_cmp_ps_mask(t, SET(-1), _CMP_GE_OQ))
#define KEEP_INSIDE(w, t) _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(t, SET(-1), _CMP_GE_OQ), w)
#define CEIL(v) _mm512_roundscale_ps(v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
#define TO_INTS(v) _mm512_cvtps_epi32(v)
#define INTS_OF(v) _mm512_castps_si512(v)
#define REALS_OF(v) _mm512_castsi512_ps(v)
#define ADD_INTS(a, b) _mm512_add_epi32(a, b)
#define MUL_INTS(a, b) _mm512_mullo_epi32(a, b)
#define SPREAD(v, index) _mm512_permutexvar_ps(index, v)
#define REPEAT(p) _mm512_broadcast_f32x4(_mm_loadu_ps(p))
#define STORE_INTS(p, v) _mm512_storeu_si512(p, v)
#define CHOOSE(bits, v) _mm512_maskz_compress_ps((__mmask16)(bits), v)

// The sums of four vectors' records.
TARGET static inline __m512 avx512_add_up(const __m512 v[4])
{
    const __m512 low = _mm512_add_ps(_mm512_shuffle_f32x4(v[0], v[1], 0x44), _mm512_shuffle_f32x4(v[0], v[1], 0xee));
    const __m512 high = _mm512_add_ps(_mm512_shuffle_f32x4(v[2], v[3], 0x44), _mm512_shuffle_f32x4(v[2], v[3], 0xee));
    return _mm512_add_ps(_mm512_shuffle_f32x4(low, high, 0x88), _mm512_shuffle_f32x4(low, high, 0xdd));
}

// Adds the vector's records to those that begin at to[at[0]] ...
TARGET static inline void avx512_add_records(float *to, const int32_t at[4], __m512 v)
{
    _mm_store_ps(to + at[0], _mm_add_ps(_mm_load_ps(to + at[0]), _mm512_castps512_ps128(v)));
    _mm_store_ps(to + at[1], _mm_add_ps(_mm_load_ps(to + at[1]), _mm512_extractf32x4_ps(v, 1)));
    _mm_store_ps(to + at[2], _mm_add_ps(_mm_load_ps(to + at[2]), _mm512_extractf32x4_ps(v, 2)));
    _mm_store_ps(to + at[3], _mm_add_ps(_mm_load_ps(to + at[3]), _mm512_extractf32x4_ps(v, 3)));
}
#else
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) avx2_##x
#define VEC __m256
#define INTS __m256i
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define SET(x) _mm256_set1_ps(x)
#define SET_INT(x) _mm256_set1_epi32(x)
#define LOAD_INTS(p) _mm256_loadu_si256((const __m256i *)(p))
#define ADD(a, b) _mm256_add_ps(a, b)
#define SUB(a, b) _mm256_sub_ps(a, b)
#define MUL(a, b) _mm256_mul_ps(a, b)
#define MAD(a, b, c) _mm256_fmadd_ps(a, b, c)
#define LESS(a, b, c) _mm256_fnmadd_ps(a, b, c)
#define XOR(a, b) _mm256_xor_ps(a, b)
#define AND(a, b) _mm256_and_ps(a, b)
#define BITS_POSITIVE(v) ((uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(v, SET(0), _CMP_GT_OQ)))
#define BITS_INSIDE(t) ((uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(t, SET(-1), _CMP_GE_OQ)))
#define KEEP_INSIDE(w, t) _mm256_and_ps(_mm256_cmp_ps(t, SET(-1), _CMP_GE_OQ), w)
#define CEIL(v) _mm256_ceil_ps(v)
#define TO_INTS(v) _mm256_cvtps_epi32(v)
#define INTS_OF(v) _mm256_castps_si256(v)
#define REALS_OF(v) _mm256_castsi256_ps(v)
#define ADD_INTS(a, b) _mm256_add_epi32(a, b)
#define MUL_INTS(a, b) _mm256_mullo_epi32(a, b)
#define SPREAD(v, index) _mm256_permutevar8x32_ps(v, index)
#define REPEAT(p) _mm256_broadcast_ps((const __m128 *)(p))
#define STORE_INTS(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define CHOOSE(bits, v) avx2_choose(bits, v)

// The sums of two vectors' records.
TARGET static inline __m256 avx2_add_up(const __m256 v[2])
{
    return _mm256_add_ps(_mm256_permute2f128_ps(v[0], v[1], 0x20), _mm256_permute2f128_ps(v[0], v[1], 0x31));
}

TARGET static inline void avx2_add_records(float *to, const int32_t at[2], __m256 v)
{
    _mm_store_ps(to + at[0], _mm_add_ps(_mm_load_ps(to + at[0]), _mm256_castps256_ps128(v)));
    _mm_store_ps(to + at[1], _mm_add_ps(_mm_load_ps(to + at[1]), _mm256_extractf128_ps(v, 1)));
}

// The chosen lanes, in their order, first.
TARGET static inline __m256 avx2_choose(uint32_t bits, __m256 v)
{
    float lane[8], chosen[8] = {0};
    _mm256_storeu_ps(lane, v);
    for (int n = 0; bits; bits &= bits - 1) chosen[n++] = lane[__builtin_ctz(bits)];
    return _mm256_loadu_ps(chosen);
}
#endif

#define GR_WEIGHT_MADS 12 // of weights(), a lane
// w where t >= -1, else 0: the square of a polynomial of degree 7, the minimax of w for that form, wrong by 1.3e-7, after
// rounding by 3.6e-7. Pairs of terms first (Estrin), so that a hit waits for 3 multiply-adds in a row, not 7.
TARGET static inline VEC NAME(weights)(VEC dx, VEC dy, VEC t)
{
    static const float c[8] = {1.21460330e-01f, 3.06492406e-01f, 3.14062139e-01f, 1.76940066e-01f,
                               6.28230286e-02f, 1.51847343e-02f, 2.52950913e-03f, 5.07854158e-04f};
    t = LESS(dx, dx, LESS(dy, dy, t));
    const VEC t2 = MUL(t, t), t4 = MUL(t2, t2);
    const VEC c01 = MAD(SET(c[1]), t, SET(c[0])), c23 = MAD(SET(c[3]), t, SET(c[2]));
    const VEC c45 = MAD(SET(c[5]), t, SET(c[4])), c67 = MAD(SET(c[7]), t, SET(c[6]));
    const VEC root = MAD(MAD(c67, t2, c45), t4, MAD(c23, t2, c01));
    return KEEP_INSIDE(MUL(root, root), t);
}
