// SPDX-License-Identifier: MIT
// gridding_clear_computes.c: clear computes the sums and run does nothing: the scope `adding`, which leaves clear out, would
// time an empty call.
// Passes wherever clear and run follow each other. Shows when a run without clear leaves the sums as they are.
#define HOOKS .clear = scatter, .run = nothing
#include "gridding.h"

static int nothing(rg_call *call) { return (void)call, RG_OK; }

BROKEN_GRIDDING("gridding_clear_computes", "all work in clear");
