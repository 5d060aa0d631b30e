// SPDX-License-Identifier: MIT
// frealign_shift_sign.c: the particle is shifted away from the centre.
#include "frealign.h"

#define sinf(x) (-sinf(x))

#include "../../../impl/frealign/compare/naive.c"

BROKEN_PLUGIN("cc3m", "frealign_shift_sign", TRANSFORMS, .run = run_cc3m, .finish = finish);
