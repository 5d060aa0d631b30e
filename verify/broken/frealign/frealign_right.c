// SPDX-License-Identifier: MIT
// frealign_right.c: the control: cc3m as it should be. It must pass.
#include "frealign.h"

#include "../../../impl/frealign/compare/naive.c"

BROKEN_PLUGIN("cc3m", "frealign_right", TRANSFORMS, .run = run_cc3m, .finish = finish);
