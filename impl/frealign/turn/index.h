// SPDX-License-Identifier: MIT
// index.h: ccp, correlations of a particle with a section under in-plane rotations, at few lags.
//
// ccp    A0 as in cc3m with 1 <= r < b, b <= N/4; with FR_MASKED A = DFT(mask(IDFT A0)) [P], else A0 [S]. a = IDFT A / N^2, e
//        the mean of its 4N-4 border pixels (x or y is N/2-1 or -N/2); a filled with e to 4N x 4N, transformed: big.
//        P_u(i,j) = big[nearest(4(c_u i - s_u j)), nearest(4(s_u i + c_u j))], (c_u, s_u) = turn[u] = cos, sin of u/U quarter
//        turns, products, difference and sum rounded like p. P_{u,v}(i,j) is P_u turned by v quarters: P_u of (i,j), (-j,i),
//        (-i,-j), (j,-i). Over the half plane 1 <= r < b, w(x,y) = sum h Re(X conj P_uv e^{4 pi i (ix + jy)/N}), h = 1 at i =
//        0, else 2; cc[p][t][v U + u][y + 7][x + 7] = w / sqrt(sum |P_uv|^2 sum |X|^2) at the lags |x|, |y| <= 7 of two
//        pixels. FREALIGN finds the largest w of |x|, |y| <= 6 and gives the mean of the 3 x 3 about it; shift s = 4 pi x / N.
#ifndef RG_FREALIGN_TURN_INDEX_H
#define RG_FREALIGN_TURN_INDEX_H

#include "../index.h"

enum { FR_TURNS = FR_INNER }; // n[5]
enum { FR_CCP_TURN = FR_OWN_ARGS, FR_CCP_CC };
enum { FR_LAG = 7, FR_LAGS = 2 * FR_LAG + 1, FR_QUARTERS = 4, FR_PAD_TURN = 4 };

RG_HD int64_t fr_turns(const rg_shape *s) { return FR_QUARTERS * s->n[FR_TURNS]; } // rotations tried: v U + u
RG_HD int64_t fr_lag(int64_t x, int64_t y) { return (y + FR_LAG) * FR_LAGS + x + FR_LAG; }
// The coefficient of P_u whose rotation by v quarters gives (i, j).
RG_HD void fr_quarter(int v, int64_t i, int64_t j, int64_t *from_i, int64_t *from_j) {
    *from_i = v == 0 ? i : v == 1 ? -j : v == 2 ? -i : j;
    *from_j = v == 0 ? j : v == 1 ? i : v == 2 ? -j : -i;
}

#endif
