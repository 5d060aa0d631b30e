// SPDX-License-Identifier: MIT
// frealign_kept_reference.c: keeps the scores for as long as the particles, their CTF and poses stay, whatever the reference.
#include "frealign.h"
#include "../kept.h"

#include "../../../impl/frealign/compare/naive.c"

KEPT(cc3m, "frealign_kept_reference", 1u << FR_X | 1u << FR_C | 1u << FR_POSE, run_cc3m, TRANSFORMS, .run = run_or_not,
    .finish = finish);
