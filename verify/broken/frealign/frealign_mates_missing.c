// SPDX-License-Identifier: MIT
// frealign_mates_missing.c: coefficients are inserted without their mates.
#include "frealign.h"

#define fr_mates(side, i, j) 1

#include "../../../impl/frealign/insert/naive.c"

BROKEN_PLUGIN("pinsert_s", "frealign_mates_missing", .run = run);
