// SPDX-License-Identifier: MIT
// frealign_quarter.c: ccp turns quarters the wrong way round.
#include "frealign.h"

#define fr_quarter(v, i, j, from_i, from_j) (fr_quarter)((4 - (v)) % 4, i, j, from_i, from_j)

#include "../../../impl/frealign/turn/naive.c"

BROKEN_PLUGIN("ccp", "frealign_quarter", TRANSFORMS, .run = run, .finish = finish);
