// SPDX-License-Identifier: MIT
// frealign_first_chunk.c: samples are taken 256 at a time, and what comes after the first 256 is forgotten.
// Shows with more samples than that alone: a size at which kernels turn (verify/thresholds.tsv).
#include "frealign.h"
#include "../../../impl/frealign/insert/insert.h"

RG_HD fr_insertion first_chunk_of(const rg_call *call)
{
    fr_insertion p = fr_insertion_of(call);
    p.samples = p.samples < 256 ? p.samples : 256;
    return p;
}
#define fr_insertion_of first_chunk_of

#include "../../../impl/frealign/insert/naive.c"

BROKEN_PLUGIN("pinsert_s", "frealign_first_chunk", .run = run);
