// SPDX-License-Identifier: MIT
// frealign_nyquist_row.c: the row j = N/2 is shifted as if it stood at -N/2.
#include "frealign.h"

#define fr_j(side, element) (2 * fr_j(side, element) == (side) ? -(side) / 2 : fr_j(side, element))

#include "../../../impl/frealign/ctf/naive.c"

BROKEN_PLUGIN("ctfapply", "frealign_nyquist_row", TRANSFORMS, .run = run, .finish = finish);
