// SPDX-License-Identifier: MIT
// stacks.h: the stacks that rows of particles name, each found and checked once. For the readers of rows (particles.c, par.c).
//
// A stack is looked for as named; beside the STAR file, or in a folder above it, such as that of a RELION project, with the
// folders of the name; else, for projects that were moved, beside the STAR file without them. What is elsewhere than named, or
// could be taken for another file, is said. RELION and Xmipp write "stack.mrc:mrcs" where a name does not say that it is a stack:
// :mrcs and :mrc are no part of it, and how the file is read, its content says.
#pragma once

#include "particles.h"

typedef struct rg_stack_name {
    const char *name; // as the STAR file has it
    int stack;
} rg_stack_name;

// Open addressing; the table doubles before it is half full.
typedef struct rg_stack_names {
    rg_stack_name *slot;
    size_t room;
    int n;
    int64_t here, moved; // stacks of which another file stands beside the STAR file; that are not where they are named
} rg_stack_names;

// The number of the stack of this name, opened and checked when it is new. RG_GOOD, or one line and RG_USAGE.
int rg_particles_stack(rg_particles *, rg_stack_names *, const char *name, int64_t line, int *stack);
// At the end of the rows: says how many more stacks there are of what was said of the first, and frees the names.
void rg_particles_stacks_end(const rg_particles *, rg_stack_names *);
