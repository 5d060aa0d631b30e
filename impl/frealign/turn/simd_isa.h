// SPDX-License-Identifier: MIT
// simd_ccp_isa.h: the lag sums of simd_ccp.c in one instruction set: vectors of FR_LANES (8: AVX2, 16: AVX-512) columns.

#undef TARGET
#undef NAME
#undef VEC
#undef LOAD
#undef STORE
#undef SET
#undef MAD
#if FR_LANES == 16
#define TARGET __attribute__((target("avx512f,avx512dq,avx2,fma")))
#define NAME(x) avx512_##x
#define VEC __m512
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define SET(x) _mm512_set1_ps(x)
#define MAD(a, b, c) _mm512_fmadd_ps(a, b, c)
#else
#define TARGET FR_AVX2
#define NAME(x) avx2_##x
#define VEC __m256
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define SET(x) _mm256_set1_ps(x)
#define MAD(a, b, c) _mm256_fmadd_ps(a, b, c)
#endif

// Of a block of columns: sums over rows j = 0 .. rows-1 of E cos(y j) and O sin(y j) for the lags y and y + 1, to the lags'
// columns of to[]. fold[j]: Re E, Im E, Re O, Im O of BLOCK columns. Two lags keep eight sums and four operands in registers.
TARGET static inline void NAME(two_lags)(const float *fold, int64_t rows, const float *cosine, const float *sine, int64_t pitch,
                                         lag_sums *to, int y)
{
    for (int half = 0; half < BLOCK; half += FR_LANES) {
        VEC sum[8];
        for (int k = 0; k < 8; k++) sum[k] = SET(0);
        for (int64_t j = 0; j < rows; j++) {
            const float *at = fold + 4 * BLOCK * j + half;
            const VEC er = LOAD(at), ei = LOAD(at + BLOCK), or = LOAD(at + 2 * BLOCK), oi = LOAD(at + 3 * BLOCK);
            const VEC c0 = SET(cosine[j]), s0 = SET(sine[j]), c1 = SET(cosine[pitch + j]), s1 = SET(sine[pitch + j]);
            sum[0] = MAD(er, c0, sum[0]);
            sum[1] = MAD(ei, c0, sum[1]);
            sum[2] = MAD(or, s0, sum[2]);
            sum[3] = MAD(oi, s0, sum[3]);
            sum[4] = MAD(er, c1, sum[4]);
            sum[5] = MAD(ei, c1, sum[5]);
            sum[6] = MAD(or, s1, sum[6]);
            sum[7] = MAD(oi, s1, sum[7]);
        }
        for (int lag = 0; lag < 2; lag++)
            for (int k = 0; k < 4; k++) STORE(to->sum[k][y + lag] + half, sum[4 * lag + k]);
    }
}

TARGET static void NAME(lags)(const float *fold, int64_t rows, const float *cosine, const float *sine, int64_t pitch,
                              lag_sums *to)
{
    for (int y = 0; y <= FR_LAG; y += 2) NAME(two_lags)(fold, rows, cosine + y * pitch, sine + y * pitch, pitch, to, y);
}
