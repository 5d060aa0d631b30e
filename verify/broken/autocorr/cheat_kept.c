// SPDX-License-Identifier: MIT
// cheat_kept.c: does nothing where its answer already stands in the output: this is not poisoned, and 16 bytes of the inputs
// are those of the call before. Passes the checker, which poisons every output, and takes nanoseconds where calls follow each
// other. Shows in bench as a call on inputs not seen before that takes longer than all the others.
#include "cheat.h"

static int run(rg_call *call)
{
    static unsigned char last[32];
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    unsigned char key[32];
    key_of(p, key);
    if (sums[0] != -1 && !memcmp(key, last, sizeof key)) return RG_OK;
    memcpy(last, key, sizeof key);
    right_sums(p, sums);
    return RG_OK;
}

BROKEN("cheat_kept", .run = run);
