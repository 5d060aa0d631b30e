// SPDX-License-Identifier: MIT
// index.h: ctfapply turns images into D, X and c, which are compared and inserted.
//
// ctfapply  X0 = DFT(image) e^{i s.q}, of columns 0 and N/2 the Hermitian part (fr_hermitian; a shift leaves the Nyquist
//        column none [D]); D = X0 (-1)^(i+j); Xm = DFT(mask(IDFT X0)) (-1)^(i+j), the mask about the centre (N/2,N/2);
//        X = Xm; times c with FR_SQUARED [P]; with FR_RINGS times S_k c4 / (S_k c4 + 1) / A_k, c4 = (2c)^2, A_k the root mean
//        square of Xm over the stored coefficients of ring k, S_k = ssnr[k], and 0 in rings beyond N/2 or where A_k = 0 [S].
//        optics: c = o4 sin(pi h) - o5 cos(pi h), h = o0 i^2 + o1 ij + o2 j^2 + o3 (i^2+j^2)^2, o = optics[p].
#ifndef RG_FREALIGN_CTF_INDEX_H
#define RG_FREALIGN_CTF_INDEX_H

#include "../index.h"

enum { FR_APPLY_IMAGE, FR_APPLY_OPTICS, FR_APPLY_SHIFT, FR_APPLY_SETTING, FR_APPLY_SSNR, FR_APPLY_D, FR_APPLY_X, FR_APPLY_C };
enum { FR_OPTICS = 6 };

#endif
