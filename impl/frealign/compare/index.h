// SPDX-License-Identifier: MIT
// index.h: cc3m, presb, ccoef and sigma2, particles compared with sections of a reference. Arguments as in ../index.h.
//
// cc3m   A0 = f S(Mq) in the band, 0 elsewhere, f = 2c, or c^2 with FR_SQUARED; A = DFT(mask(IDFT A0)); Y = X e^{i s.q}.
//        C_k = sum over ring k of Re(Y conj A), B_k = sum |X|^2, Q_k = sum |A|^2, over the band. score[p][t] =
//        sum C / sqrt(sum B sum Q), or with FR_RINGS  sum g_k R_k / sqrt(n sum g_k^2 B_k), R_k = C_k / sqrt(Q_k) where k + 1 <
//        setting[2], else |C_k| / sqrt(Q_k); g_k = exp(-setting[1] k^2); n rings that have coefficients. 0 where the root is 0.
// presb  cc[p][t][k] = C_k / sqrt(B_k Q_k), k = 0..N/2-1; 0 where the root is 0 (k = 0 always).
// ccoef  a = IDFT(f S), x = IDFT(D e^{i s.q}), both over the band; cc[p][t] = sum a x / sqrt(sum a^2 sum x^2) over all pixels.
// sigma2 a = IDFT(2|c| S) / N^2, x = IDFT(sign(c) D e^{i s.q}) / N^2 over the band, sign(0) = 1. Over the disc r <= R about the
//        corner, of n pixels, means subtracted: moment[p][t] = (sum a'x' / n, sum a'^2 / n, sum x'^2 / n, sum over all pixels
//        of x^2 / N^2). FREALIGN's alpha and sigma^2 follow from them by fr_alpha and fr_noise.
#ifndef RG_FREALIGN_COMPARE_INDEX_H
#define RG_FREALIGN_COMPARE_INDEX_H

#include "../index.h"

enum { FR_SCORE = FR_OWN_ARGS }; // or cc, or moment
enum { FR_MOMENTS = 4 };

// Results computed from sigma2's moments.
RG_HD double fr_alpha(const float moment[FR_MOMENTS]) { return moment[1] > 0 ? fabs((double)moment[0]) / moment[1] : 0; }
RG_HD double fr_noise(const float moment[FR_MOMENTS]) // sigma^2
{
    return moment[1] > 0 ? fabs(moment[2] - (double)moment[0] * moment[0] / moment[1]) : moment[2];
}

#endif
