// SPDX-License-Identifier: MIT
// frealign_disc_radius.c: sigma2's disc is a pixel too wide.
#include "frealign.h"

#define fr_in_disc(R, rr) (fr_in_disc)((R) + 1, rr)

#include "../../../impl/frealign/compare/naive.c"

BROKEN_PLUGIN("sigma2", "frealign_disc_radius", TRANSFORMS, .run = run_sigma2, .finish = finish);
