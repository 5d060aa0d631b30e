// SPDX-License-Identifier: MIT
// frealign_turn.c: the plain variant of `ccp` with quarter turns in the wrong direction.
#include "../../impl/frealign/call.h"
#include "../../impl/frealign/plain.h"
#include "../../impl/frealign/turn/index.h"
#include "plugin.h"

#define fr_quarter(v, i, j, from_i, from_j) (fr_quarter)((4 - (v)) % 4, i, j, from_i, from_j)
#include "../../impl/frealign/turn/naive.c"

BROKEN("ccp", frealign_quarter, "quarters are turned the wrong way round", .scratch = scratch, .prepare = prepare, .run = run,
    .finish = finish);
RG_PLUGIN = {&frealign_quarter, NULL};
