// SPDX-License-Identifier: MIT
// frealign_insert_right.c: the control: pinsert_s as it should be. It must pass.
#include "frealign.h"

#include "../../../impl/frealign/insert/naive.c"

BROKEN_FREALIGN("frealign_insert_right", "pinsert_s", .run = run);
