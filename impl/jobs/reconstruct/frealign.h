// SPDX-License-Identifier: MIT
// reconstruct.h: what `regather reconstruct` needs to know of --method frealign.
#ifndef RG_FREALIGN_RECONSTRUCT_H
#define RG_FREALIGN_RECONSTRUCT_H

#include "../../base/core.h"

// What a .par file does not say.
#define FR_PAR_OPTIONS                                                                                  \
    {"stack", "S.mrc", "the images of a .par file", false},                                             \
    {"pixel", "A", "pixel size of a .par file's images", false},                                        \
    {"kv", "KV", "acceleration voltage of a .par file's images (default 300)", false},                  \
    {"cs", "MM", "spherical aberration of a .par file's images (default 2.7)", false},                  \
    {"amplitude-contrast", "W", "of a .par file's images (default 0.07)", false}

#define FR_PAR_ONLY "stack pixel kv cs amplitude-contrast"

#define FR_INPUT_OPTIONS \
    FR_PAR_OPTIONS, {"invert", NULL, "take the images' contrast the other way round: particles are dark in them", false}

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
