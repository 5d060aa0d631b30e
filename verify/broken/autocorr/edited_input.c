// SPDX-License-Identifier: MIT
// edited_input.c: right, but it leaves the last pixel of its input changed.
// Every later variant on the same buffers then gets another photograph.
// Shows as an input that was changed.
#include "../broken.h"

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    right_sums(p, sums);
    ((unsigned char *)call->arg[AC_A])[p.width * p.height * (p.sixteen_bit ? 2 : 1) - 1] ^= 1;
    return RG_OK;
}

BROKEN("edited_input", .run = run);
