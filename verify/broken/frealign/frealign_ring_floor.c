// SPDX-License-Identifier: MIT
// frealign_ring_floor.c: rings are rounded down, as shells of an FSC are, not to the nearest.
#include "frealign.h"

#define fr_ring(rr) fr_root(rr)

#include "../../../impl/frealign/compare/naive.c"

BROKEN_PLUGIN("presb", "frealign_ring_floor", TRANSFORMS, .run = run_presb, .finish = finish);
