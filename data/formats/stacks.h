// SPDX-License-Identifier: MIT
// stacks.h: finds and checks each stack that rows of particles name, once. For the readers of rows (particles.c, par.c).
//
// A stack is searched for at its path; then relative to the STAR file's folder and the folders above it, such as that of a
// RELION project; then, for projects that were moved, beside the STAR file by its base name. A message names stacks that are
// not at their path, or that could be confused with another file. RELION and Xmipp append ":mrcs" to a name that does not show
// that it is a stack, "stack.mrc:mrcs"; :mrcs and :mrc are dropped, and the content decides the format.
#pragma once

#include "particles.h"

typedef struct rg_stack_name {
    const char *name; // as in the STAR file
    int stack;
} rg_stack_name;

// Open addressing; the table doubles before it is half full.
typedef struct rg_stack_names {
    rg_stack_name *slot;
    size_t room;
    int n;
    int64_t here, moved; // stacks with a namesake beside the STAR file; stacks that are not at their path
} rg_stack_names;

// The number of the stack of this name, which is opened and checked if new. RG_GOOD, or one line and RG_USAGE.
int rg_particles_stack(rg_particles *, rg_stack_names *, const char *name, int64_t line, int *stack);
// After the last row: prints how many more stacks the first messages apply to, and frees the names.
void rg_particles_stacks_end(const rg_particles *, rg_stack_names *);
