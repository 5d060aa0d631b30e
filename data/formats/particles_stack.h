// SPDX-License-Identifier: MIT
// particles_stack.h: the stacks that a STAR file names, each found and checked once. Private to data/particles*.c and data/par.c.
#ifndef RG_PARTICLES_STACK_H
#define RG_PARTICLES_STACK_H

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
} rg_stack_names;

// The number of the stack of this name, opened and checked when it is new. RG_GOOD, or one line and RG_USAGE.
int rg_particles_stack(rg_particles *, rg_stack_names *, const char *name, int64_t line, int *stack);
void rg_particles_unnamed(const rg_particles *); // warns of images without a row

#endif
