// SPDX-License-Identifier: MIT
// frealign_nyquist_column.c: the column N/2 keeps a shift's phase, which no real image has.
#include "frealign.h"

#define fr_hermitian(side, pitch, plane) (void)(plane)

#include "../../../impl/frealign/ctf/naive.c"

BROKEN_PLUGIN("ctfapply", "frealign_nyquist_column", TRANSFORMS, .run = run, .finish = finish);
