// SPDX-License-Identifier: MIT
// frealign_column_once.c: of the column i = 0 only j >= 0 is counted, as if its mates were not stored.
#include "frealign.h"

RG_HD int upper_half(int64_t side, int64_t i, int64_t j, int64_t a, int64_t b)
{
    return (i > 0 || j >= 0) && fr_in_band(side, i, j, a, b);
}
#define fr_in_band upper_half

#include "../../../impl/frealign/compare/naive.c"

BROKEN_PLUGIN("ccoef", "frealign_column_once", TRANSFORMS, .run = run_ccoef, .finish = finish);
