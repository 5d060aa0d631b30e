// SPDX-License-Identifier: MIT
// simd_section.h: computes a row of the section, eight samples at a time in AVX2. Positions, weights and addresses of nodes are
// vectors; then each sample loads its rows of nodes along x, one load each.
//
// A sample reads n^2 rows of n complex numbers: 4 of 16 bytes (trilinear), 9 of 24, 25 of 40. If no cache holds the volume,
// almost every sample needs a new line. Samples whose rows leave the stored half (a strip beside the plane x = 0 for the boxes)
// are computed by fr_section of call.h.
#ifndef RG_FREALIGN_SIMD_SECTION_H
#define RG_FREALIGN_SIMD_SECTION_H

#include "call.h"
#include <immintrin.h>

#define FR_AVX2 __attribute__((target("avx2,fma,prfchw")))
#define FR_INLINE static inline __attribute__((always_inline))

enum { FR_EIGHT = 8, FR_ROWS = 25, FR_AHEAD = 3 };

// Eight samples of a row. Their nodes are n^2 rows of n along x: the address of each row in a volume, its weight along y and z;
// weights along x; the sign bit, set where the value is conjugated; first nodes along each axis (y and z not yet modulo the
// grid).
typedef struct fr_eight {
    const float *row[FR_ROWS][FR_EIGHT];
    float w[FR_ROWS][FR_EIGHT], x[5][FR_EIGHT], sign[FR_EIGHT];
    int first[3][FR_EIGHT];
} fr_eight;

FR_AVX2 FR_INLINE __m256 fr_sinc_eight(__m256 t) {
    const __m256 n = _mm256_round_ps(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), f = _mm256_sub_ps(t, n);
    const __m256 ff = _mm256_mul_ps(f, f), odd = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtps_epi32(n), 31));
    __m256 s = _mm256_set1_ps(0.0247186446f);
    s = _mm256_fmadd_ps(s, ff, _mm256_set1_ps(-0.1904417527f));
    s = _mm256_fmadd_ps(s, ff, _mm256_set1_ps(0.8117148427f));
    s = _mm256_fmadd_ps(s, ff, _mm256_set1_ps(-1.644933206f));
    s = _mm256_fmadd_ps(s, ff, _mm256_set1_ps(1.0f));
    const __m256 far = _mm256_mul_ps(_mm256_xor_ps(s, odd), _mm256_div_ps(f, t));
    return _mm256_blendv_ps(far, s, _mm256_cmp_ps(n, _mm256_setzero_ps(), _CMP_EQ_OQ));
}

// `at` modulo the side, for -side <= at < 2 side.
FR_AVX2 FR_INLINE __m256i fr_modulo_eight(__m256i at, __m256i side) {
    const __m256i up = _mm256_add_epi32(at, _mm256_and_si256(_mm256_srai_epi32(at, 31), side));
    return _mm256_sub_epi32(up, _mm256_andnot_si256(_mm256_cmpgt_epi32(side, up), side));
}

// Addresses of the rows of nodes of eight samples, in a volume of `floats` numbers a node and `grid` nodes a side.
FR_AVX2 FR_INLINE void fr_rows_eight(const float *volume, int64_t grid, const int floats, const int n, fr_eight *to) {
    const __m256i side = _mm256_set1_epi32((int)grid), width = _mm256_set1_epi32((int)(grid / 2 + 1));
    const __m256i x = _mm256_loadu_si256((const __m256i *)to->first[0]), base = _mm256_set1_epi64x((int64_t)(uintptr_t)volume);
    const __m256i plane = _mm256_set1_epi64x(grid * (grid / 2 + 1) * floats * (int)sizeof(float));
    __m256i y[5][2];
    for (int r = 0; r < n; r++) {
        const __m256i at = _mm256_add_epi32(_mm256_loadu_si256((const __m256i *)to->first[1]), _mm256_set1_epi32(r));
        const __m256i node = _mm256_add_epi32(_mm256_mullo_epi32(fr_modulo_eight(at, side), width), x);
        const int shift = floats == 2 ? 3 : 4;
        y[r][0] = _mm256_add_epi64(_mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(node)), shift), base);
        y[r][1] = _mm256_add_epi64(_mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm256_extracti128_si256(node, 1)), shift), base);
    }
    for (int r = 0; r < n; r++) {
        const __m256i at = _mm256_add_epi32(_mm256_loadu_si256((const __m256i *)to->first[2]), _mm256_set1_epi32(r));
        const __m256i z = fr_modulo_eight(at, side);
        const __m256i low = _mm256_mul_epu32(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(z)), plane),
                      high = _mm256_mul_epu32(_mm256_cvtepi32_epi64(_mm256_extracti128_si256(z, 1)), plane);
        for (int k = 0; k < n; k++) {
            _mm256_storeu_si256((__m256i *)to->row[n * r + k], _mm256_add_epi64(low, y[k][0]));
            _mm256_storeu_si256((__m256i *)(to->row[n * r + k] + 4), _mm256_add_epi64(high, y[k][1]));
        }
    }
}

// Weights and first nodes of the samples i .. i + 7 of row j. The products and their sum are not fused (fr_place).
FR_AVX2 FR_INLINE void fr_place_eight(
    float pad, const float *pose, int64_t i, int64_t j, const int interpolation, fr_eight *to) {
    const __m256 column = _mm256_add_ps(_mm256_set1_ps((float)i), _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7));
    const int n = fr_nodes(interpolation);
    __m256 sign = _mm256_setzero_ps(), w[3][5];
    for (int axis = 0; axis < 3; axis++) {
        const __m256 product = _mm256_mul_ps(_mm256_set1_ps(pose[axis]), column);
        __m256 at = _mm256_add_ps(product, _mm256_set1_ps(pose[3 + axis] * (float)j));
        if (axis == 0) sign = _mm256_and_ps(_mm256_cmp_ps(at, _mm256_setzero_ps(), _CMP_LT_OQ), _mm256_set1_ps(-0.0f));
        at = _mm256_mul_ps(_mm256_xor_ps(at, sign), _mm256_set1_ps(pad));
        if (n == 2) {
            const __m256 low = _mm256_floor_ps(at), f = _mm256_sub_ps(at, low);
            const __m256 rest = _mm256_sub_ps(_mm256_set1_ps(1), f);
            w[axis][0] = interpolation == FR_BOX2 ? fr_sinc_eight(f) : rest;
            w[axis][1] = interpolation == FR_BOX2 ? fr_sinc_eight(rest) : f;
            _mm256_storeu_si256((__m256i *)to->first[axis], _mm256_cvttps_epi32(low));
            continue;
        }
        const __m256 nearest = _mm256_round_ps(at, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        const __m256 first = _mm256_sub_ps(nearest, _mm256_set1_ps((float)(n / 2)));
        for (int l = 0; l < n; l++) {
            const __m256 d = _mm256_sub_ps(_mm256_sub_ps(at, first), _mm256_set1_ps((float)l));
            const __m256 sinc = fr_sinc_eight(_mm256_mul_ps(d, _mm256_set1_ps(1 / pad)));
            w[axis][l] = interpolation == FR_NEAREST ? _mm256_set1_ps(1) : sinc;
        }
        _mm256_storeu_si256((__m256i *)to->first[axis], _mm256_cvttps_epi32(first));
    }
    for (int l = 0; l < n; l++) _mm256_storeu_ps(to->x[l], w[0][l]);
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++) _mm256_storeu_ps(to->w[n * z + y], _mm256_mul_ps(w[2][z], w[1][y]));
    _mm256_storeu_ps(to->sign, sign);
}

// The sum over the nodes of sample l: n rows of n nodes in n planes.
FR_AVX2 FR_INLINE __m128 fr_sum_nodes(const fr_eight *e, int l, const int n) {
    __m256 sum = _mm256_setzero_ps();
    __m128 rest = _mm_setzero_ps();
    for (int r = 0; r < n * n; r++) {
        const float *row = e->row[r][l], w = e->w[r][l];
        if (n == 1) {
            rest = _mm_mul_ps(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)row)), _mm_set1_ps(w));
        } else if (n == 2) {
            rest = _mm_fmadd_ps(_mm_set1_ps(w), _mm_loadu_ps(row), rest);
        } else {
            const __m256i six = _mm256_setr_epi32(-1, -1, -1, -1, -1, -1, 0, 0);
            sum = _mm256_fmadd_ps(_mm256_set1_ps(w), n == 3 ? _mm256_maskload_ps(row, six) : _mm256_loadu_ps(row), sum);
            if (n == 5)
                rest = _mm_fmadd_ps(_mm_set1_ps(w), _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(row + 8))), rest);
        }
    }
    const float w0 = e->x[0][l], w1 = e->x[1][l];
    if (n == 1) return _mm_mul_ps(rest, _mm_set1_ps(w0));
    if (n == 2) rest = _mm_mul_ps(rest, _mm_setr_ps(w0, w0, w1, w1));
    if (n > 2) {
        const float w2 = e->x[2][l], w3 = n == 5 ? e->x[3][l] : 0;
        sum = _mm256_mul_ps(sum, _mm256_setr_ps(w0, w0, w1, w1, w2, w2, w3, w3));
        rest = n == 5 ? _mm_mul_ps(rest, _mm_set1_ps(e->x[4][l])) : _mm_setzero_ps();
        rest = _mm_add_ps(rest, _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1)));
    }
    return _mm_add_ps(rest, _mm_movehl_ps(rest, rest));
}

// Whether all rows of eight samples lie in the stored half.
FR_AVX2 FR_INLINE int fr_all_stored(const fr_eight *e, int64_t grid, const int n) {
    const __m256i x = _mm256_loadu_si256((const __m256i *)e->first[0]);
    const __m256i rest = _mm256_sub_epi32(_mm256_set1_epi32((int)grid / 2 + 1 - n), x);
    return _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(x, rest))) == 0; // none is negative
}

// Eight samples of 2^3 nodes: fr_sum_nodes for two nodes along x, four samples at a time.
FR_AVX2 FR_INLINE void fr_sum_eight(const fr_eight *e, float *S) {
    const __m256 odd = _mm256_setr_ps(0, -0.0f, 0, -0.0f, 0, -0.0f, 0, -0.0f);
    for (int half = 0; half < FR_EIGHT; half += 4) {
        __m128 a[4];
        for (int l = 0; l < 4; l++) {
            a[l] = _mm_mul_ps(_mm_set1_ps(e->w[0][half + l]), _mm_loadu_ps(e->row[0][half + l]));
            for (int r = 1; r < 4; r++)
                a[l] = _mm_fmadd_ps(_mm_set1_ps(e->w[r][half + l]), _mm_loadu_ps(e->row[r][half + l]), a[l]);
        }
        const __m256 A = _mm256_set_m128(a[1], a[0]), B = _mm256_set_m128(a[3], a[2]);
        const __m256i lane = _mm256_add_epi32(_mm256_setr_epi32(0, 0, 2, 2, 1, 1, 3, 3), _mm256_set1_epi32(half));
        const __m256 w0 = _mm256_permutevar8x32_ps(_mm256_loadu_ps(e->x[0]), lane);
        const __m256 w1 = _mm256_permutevar8x32_ps(_mm256_loadu_ps(e->x[1]), lane);
        const __m256 flip = _mm256_and_ps(_mm256_permutevar8x32_ps(_mm256_loadu_ps(e->sign), lane), odd);
        const __m256 first = _mm256_mul_ps(_mm256_shuffle_ps(A, B, 0x44), w0);
        const __m256 sum = _mm256_fmadd_ps(_mm256_shuffle_ps(A, B, 0xee), w1, first); // samples 0, 2, 1, 3
        const __m256d out = _mm256_permute4x64_pd(_mm256_castps_pd(_mm256_xor_ps(sum, flip)), 0xd8);
        _mm256_storeu_ps(S + 2 * half, _mm256_castpd_ps(out));
    }
}

// Places eight samples from i on and prefetches the lines of their rows. A group is summed when FR_AHEAD later ones have been
// requested: most of these lines are in memory, and their addresses depend on the pose alone.
FR_AVX2 FR_INLINE void fr_call_for(
    const fr_call *p, const float *pose, int64_t i, int64_t j, const int interpolation, fr_eight *e) {
    const int n = fr_nodes(interpolation);
    fr_place_eight(p->pad, pose, i, j, interpolation, e);
    fr_rows_eight(p->F3, p->grid, 2, n, e);
    for (int r = 0; r < n * n; r++)
        for (int l = 0; l < FR_EIGHT; l++) _mm_prefetch((const char *)e->row[r][l], _MM_HINT_T0);
}

FR_AVX2 FR_INLINE void fr_section_row_of(
    const fr_call *p, const float *pose, int64_t j, int64_t first, int64_t past, float *S, const int interpolation) {
    const int n = fr_nodes(interpolation);
    fr_eight ring[FR_AHEAD + 1];
    for (int64_t i = first, placed = first; i < past; i += FR_EIGHT) {
        for (; placed < past && placed <= i + FR_AHEAD * FR_EIGHT; placed += FR_EIGHT)
            fr_call_for(p, pose, placed, j, interpolation, &ring[(placed - first) / FR_EIGHT % (FR_AHEAD + 1)]);
        const fr_eight *e = &ring[(i - first) / FR_EIGHT % (FR_AHEAD + 1)];
        if (n == 2 && i + FR_EIGHT <= past && fr_all_stored(e, p->grid, n)) {
            fr_sum_eight(e, S + 2 * i);
            continue;
        }
        for (int l = 0; l < FR_EIGHT && i + l < past; l++) {
            float *to = S + 2 * (i + l);
            if (e->first[0][l] < 0 || e->first[0][l] + n - 1 > p->grid / 2) {
                fr_section(p, pose, i + l, j, to);
                continue;
            }
            const __m128 conjugate = _mm_setr_ps(0, e->sign[l], 0, 0);
            _mm_storel_pi((__m64 *)to, _mm_xor_ps(fr_sum_nodes(e, l, n), conjugate));
        }
    }
}

// Writes S(M q) of the coefficients first <= i < past of row j to S[2i].
FR_AVX2 static inline void fr_section_row(
    const fr_call *p, const float *pose, int64_t j, int64_t first, int64_t past, float *S) {
    switch (p->interpolation) {
    case FR_TRILINEAR: fr_section_row_of(p, pose, j, first, past, S, FR_TRILINEAR); break;
    case FR_NEAREST: fr_section_row_of(p, pose, j, first, past, S, FR_NEAREST); break;
    case FR_BOX1: fr_section_row_of(p, pose, j, first, past, S, FR_BOX1); break;
    case FR_BOX3: fr_section_row_of(p, pose, j, first, past, S, FR_BOX3); break;
    default: fr_section_row_of(p, pose, j, first, past, S, FR_BOX5); break;
    }
}

// The first column of row j in the band, and the column after the last; the row has none if past <= first.
RG_HD int64_t fr_band_first(int64_t a, int64_t j) { return a * a > j * j ? fr_root(a * a - j * j - 1) + 1 : 0; }
RG_HD int64_t fr_band_past(int64_t side, int64_t b, int64_t j) {
    const int64_t past = fr_row_past(b, j), rest = (side - 1) * (side - 1) - 4 * j * j; // 4 i^2 < rest
    const int64_t ring = rest > 0 ? fr_root((rest - 1) / 4) + 1 : 0;
    return past < ring ? past : ring;
}

#endif
