// SPDX-License-Identifier: MIT
// endless.c: a loop that never ends.
// Without a limit the checker would wait with it.
// Shows as TIMEOUT.
#include "../broken.h"

static int run(rg_call *call)
{
    for (volatile int64_t i = call->shape->n[AC_WIDTH]; i > 0;) i = 1;
    return RG_OK;
}

BROKEN("endless", .run = run);
