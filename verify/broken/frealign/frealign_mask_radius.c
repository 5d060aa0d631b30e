// SPDX-License-Identifier: MIT
// frealign_mask_radius.c: the mask's edge ends at R in place of lying about it.
#include "frealign.h"

#define fr_mask_image(side, R, centre, image) (fr_mask_image)(side, (R)-FR_EDGE / 2, centre, image)

#include "../../../impl/frealign/compare/naive.c"

BROKEN_PLUGIN("cc3m", "frealign_mask_radius", TRANSFORMS, .run = run_cc3m, .finish = finish);
