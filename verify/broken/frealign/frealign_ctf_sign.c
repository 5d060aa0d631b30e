// SPDX-License-Identifier: MIT
// frealign_ctf_sign.c: the CTF with the sign that other programs give it.
#include "frealign.h"

#define fr_ctf(optics, i, j) (-fr_ctf(optics, i, j))

#include "../../../impl/frealign/ctf/naive.c"

BROKEN_PLUGIN("ctfapply", "frealign_ctf_sign", TRANSFORMS, .run = run, .finish = finish);
