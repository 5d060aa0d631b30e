// SPDX-License-Identifier: MIT
// frealign_stale_reference.c: load copies the reference the first time only, as one that takes "once for all particles" for
// "once": in a job that refines map after map, every map is compared with the first.
// Passes on every first reference. Shows once the reference changes under the same state.
#include "frealign.h"
#include <stdlib.h>
#include <string.h>

static float *kept;

RG_HD void section_of_first(const fr_call *p, const float *pose, int64_t i, int64_t j, float S[2])
{
    fr_call first = *p;
    first.F3 = kept;
    fr_section(&first, pose, i, j, S);
}
#define fr_section section_of_first

#include "../../../impl/frealign/compare/naive.c"

static int load(rg_call *call)
{
    const int64_t side = fr_pad(call->shape->n[FR_KIND]) * call->shape->n[FR_SIDE];
    const size_t bytes = (size_t)(2 * fr_voxels(side)) * sizeof *kept;
    if (kept) return RG_OK;
    kept = malloc(bytes);
    if (kept) memcpy(kept, call->arg[FR_F3], bytes);
    return kept ? RG_OK : RG_E_STATE;
}

static void finish_both(rg_call *call)
{
    finish(call);
    free(kept);
    kept = NULL;
}

BROKEN_PLUGIN("cc3m", "frealign_stale_reference", TRANSFORMS, .load = load, .run = run_cc3m, .finish = finish_both);
