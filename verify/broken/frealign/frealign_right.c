// SPDX-License-Identifier: MIT
// frealign_right.c: the control: cc3m as it should be. It must pass.
#include "frealign.h"

#include "../../../impl/frealign/compare/naive.c"

BROKEN_FREALIGN("frealign_right", "cc3m", TRANSFORMS, .run = run_cc3m, .finish = finish);
