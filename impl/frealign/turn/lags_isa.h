// SPDX-License-Identifier: MIT
// lags_isa.h: the lag sums of simd.c, written with ../../simd/simd.h.

// For a block of columns, the sums over rows j = 0 .. rows-1 of E cos(y j) and O sin(y j) for the lags y and y + 1, written to
// the lags' columns of to[]. fold[j]: Re E, Im E, Re O, Im O of BLOCK columns. Two lags keep eight sums and four operands in
// registers.
TARGET static inline void NAME(two_lags)(
    const float *fold, int64_t rows, const float *cosine, const float *sine, int64_t pitch, lag_sums *to, int y) {
    for (int half = 0; half < BLOCK; half += SIMD_LANES) {
        VEC sum[8];
        for (int k = 0; k < 8; k++) sum[k] = v_set1_ps(0);
        for (int64_t j = 0; j < rows; j++) {
            const float *at = fold + 4 * BLOCK * j + half;
            const VEC er = v_loadu_ps(at), ei = v_loadu_ps(at + BLOCK), or = v_loadu_ps(at + 2 * BLOCK),
                      oi = v_loadu_ps(at + 3 * BLOCK);
            const VEC c0 = v_set1_ps(cosine[j]), s0 = v_set1_ps(sine[j]), c1 = v_set1_ps(cosine[pitch + j]),
                      s1 = v_set1_ps(sine[pitch + j]);
            sum[0] = v_fmadd_ps(er, c0, sum[0]);
            sum[1] = v_fmadd_ps(ei, c0, sum[1]);
            sum[2] = v_fmadd_ps(or, s0, sum[2]);
            sum[3] = v_fmadd_ps(oi, s0, sum[3]);
            sum[4] = v_fmadd_ps(er, c1, sum[4]);
            sum[5] = v_fmadd_ps(ei, c1, sum[5]);
            sum[6] = v_fmadd_ps(or, s1, sum[6]);
            sum[7] = v_fmadd_ps(oi, s1, sum[7]);
        }
        for (int lag = 0; lag < 2; lag++)
            for (int k = 0; k < 4; k++) v_storeu_ps(to->sum[k][y + lag] + half, sum[4 * lag + k]);
    }
}

TARGET static void NAME(lags)(
    const float *fold, int64_t rows, const float *cosine, const float *sine, int64_t pitch, lag_sums *to) {
    for (int y = 0; y <= FR_LAG; y += 2) NAME(two_lags)(fold, rows, cosine + y * pitch, sine + y * pitch, pitch, to, y);
}
