// SPDX-License-Identifier: MIT
// exits.c: ends the process with status 0, which a careless parent takes for success.
// No verdict was given, so there is none.
// Shows as CRASH.
#include "../broken.h"
#include <unistd.h>

static int run(rg_call *call)
{
    (void)call;
    _exit(0);
}

BROKEN("exits", .run = run);
