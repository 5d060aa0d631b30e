// SPDX-License-Identifier: MIT
// frealign_insert_right.c: the control: pinsert_s as it should be. It must pass.
#include "frealign.h"

#include "../../../impl/frealign/insert/naive.c"

BROKEN_PLUGIN("pinsert_s", "frealign_insert_right", .run = run);
