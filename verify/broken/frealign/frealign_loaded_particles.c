// SPDX-License-Identifier: MIT
// frealign_loaded_particles.c: load copies the particles as well as the reference, and they are not steady: the copy is out of
// date as soon as others come to the same reference. What it saves is work that belongs to run.
// Passes wherever every set of particles comes with a reference of its own. Shows when they alone change.
#include "frealign.h"
#include <stdlib.h>
#include <string.h>

static float *kept;

#include "../../../impl/frealign/compare/naive.c"

static int load(rg_call *call)
{
    const int64_t *n = call->shape->n;
    const size_t bytes = (size_t)(2 * n[FR_PARTICLES] * fr_stored(n[FR_SIDE])) * sizeof *kept;
    free(kept);
    kept = malloc(bytes);
    if (kept) memcpy(kept, call->arg[FR_X], bytes);
    return kept ? RG_OK : RG_E_STATE;
}

static int run_kept(rg_call *call)
{
    void *arg[FR_SCORE + 1];
    memcpy(arg, call->arg, sizeof arg);
    arg[FR_X] = kept;
    rg_call with = *call;
    with.arg = arg;
    return run_cc3m(&with);
}

static void finish_both(rg_call *call)
{
    finish(call);
    free(kept);
    kept = NULL;
}

BROKEN_PLUGIN("cc3m", "frealign_loaded_particles", TRANSFORMS, .load = load, .run = run_kept, .finish = finish_both);
