// SPDX-License-Identifier: MIT
// cheat_prepare.c: computes in prepare, which has a column of its own, and in run only where 16 bytes of the inputs have
// changed. Passes the checker, whose answers are all right, and takes microseconds where prepare finds the inputs that are
// timed. Shows in bench as a call on inputs not seen before that takes longer than all the others.
#include "cheat.h"

static int prepare(rg_call *call)
{
    kept *k = calloc(1, sizeof *k);
    call->state = k;
    return k ? keep(k, photos_of(call->shape, call->arg)) : RG_E_STATE;
}

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    kept *k = call->state;
    const int code = is_kept(k, p) ? RG_OK : keep(k, p);
    if (!code) memcpy(call->arg[AC_SUMS], k->sums, (size_t)elements_of(p) * sizeof *k->sums);
    return code;
}

static void finish(rg_call *call)
{
    kept *k = call->state;
    free(k->sums);
    free(k);
}

BROKEN("cheat_prepare", .prepare = prepare, .run = run, .finish = finish);
