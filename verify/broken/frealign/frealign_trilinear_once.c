// SPDX-License-Identifier: MIT
// frealign_trilinear_once.c: trilinear weights are not squared where the sums are those of squares. Neither preset has this
// kind: only a check of every combination of kinds sees it.
#include "frealign.h"
#include "../../../impl/frealign/insert/insert.h"

RG_HD void insert_once(const fr_insertion *p, const float at[3], const float record[3], int64_t first, int64_t past)
{
    fr_insertion once = *p;
    once.squared = p->squared && p->interpolation != FR_TRILINEAR;
    fr_insert_plain(&once, at, record, first, past);
}
#define fr_insert_plain insert_once

#include "../../../impl/frealign/insert/naive.c"

BROKEN_PLUGIN("pinsert_s", "frealign_trilinear_once", .run = run);
