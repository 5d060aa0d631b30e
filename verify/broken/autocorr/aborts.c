// SPDX-License-Identifier: MIT
// aborts.c: an assertion of its own ends the process.
// As above, by another signal.
// Shows as CRASH by SIGABRT.
#include "../broken.h"
#include <stdlib.h>

static int run(rg_call *call)
{
    (void)call;
    abort();
}

BROKEN("aborts", .run = run);
