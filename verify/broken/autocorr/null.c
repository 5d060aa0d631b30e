// SPDX-License-Identifier: MIT
// null.c: does nothing.
// Whatever stood in the output is taken for the answer, were it not poisoned.
// Shows as an output that was never written.
#include "../broken.h"

static int run(rg_call *call)
{
    (void)call;
    return RG_OK;
}

BROKEN("null", .run = run);
