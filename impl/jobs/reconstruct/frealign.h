// SPDX-License-Identifier: MIT
// frealign.h: --method frealign, what the command needs to know of it.
#ifndef RG_RECONSTRUCT_FREALIGN_H
#define RG_RECONSTRUCT_FREALIGN_H

#include "../particles/particles.h"

#define FR_RECONSTRUCT_OPTIONS                                                                                                 \
    {"method", "NAME", "gridding (default), or frealign: FREALIGN's insertion, always with the CTF and both halves", false},   \
        {"preset", "v9|paper", "frealign: trilinear weights, or squared ones as in the paper (default v9)", false},            \
        {"f", "F", "frealign: added to the weights (default: a tenth of the operators times their mean)", false},              \
        {"resolution", "A", "frealign: nothing finer is inserted (default: two pixels)", false},                               \
        {"pbc", "P", "frealign: weights exp(2 min(2, (score - mean) / (P pixel^2)) (2r/N)^2) from the scores of a .par file",  \
         false},                                                                                                               \
        {"mass", "KDA", "frealign: of the particle, for the column part_ssnr", false}, FR_PAR_OPTIONS

#define FR_RECONSTRUCT_ONLY "preset f resolution pbc mass " FR_PAR_ONLY

int fr_reconstruct(const rg_cli *);

#endif
