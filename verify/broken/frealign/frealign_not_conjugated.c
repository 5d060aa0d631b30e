// SPDX-License-Identifier: MIT
// frealign_not_conjugated.c: where p_x < 0 the mate's value is taken as it stands.
#include "frealign.h"

RG_HD void section_of_mate(const fr_call *p, const float *pose, int64_t i, int64_t j, float S[2])
{
    float at[3];
    fr_section(p, pose, i, j, S);
    fr_place(pose, (float)i, (float)j, at);
    S[1] = at[0] < 0 ? -S[1] : S[1];
}
#define fr_section section_of_mate

#include "../../../impl/frealign/compare/naive.c"

BROKEN_PLUGIN("cc3m", "frealign_not_conjugated", TRANSFORMS, .run = run_cc3m, .finish = finish);
