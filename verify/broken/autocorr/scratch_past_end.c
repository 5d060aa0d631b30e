// SPDX-License-Identifier: MIT
// scratch_past_end.c: right, and its scratch memory is one element too small for what it keeps there.
// The argument buffers stay whole.
// Shows as the guard of the scratch memory overwritten.
#include "../broken.h"

static size_t scratch(const rg_shape *s, const int64_t *param)
{
    (void)param;
    return (size_t)s->n[AC_WIDTH] * sizeof(int64_t);
}

static int run(rg_call *call)
{
    const photos p = photos_of(call->shape, call->arg);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    right_sums(p, sums);
    for (int64_t x = 0; x <= p.width; x++) ((int64_t *)call->scratch)[x] = x;
    return RG_OK;
}

BROKEN("scratch_past_end", .scratch = scratch, .run = run);
