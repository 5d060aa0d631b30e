// SPDX-License-Identifier: MIT
// phantom.h: the kinds of `regather phantom KIND`: input made from a seed, so that nothing need be fetched. One line a kind in
// the table of phantom_cmd.c.
#ifndef RG_PHANTOM_H
#define RG_PHANTOM_H

#include "../../impl/base/core.h"

typedef struct rg_phantom {
    const char *name;
    const char *doc; // what it makes, one line
    const char *options; // those that it takes, a blank between two
    int (*make)(const rg_cli *, const char *folder);
} rg_phantom;

int rg_phantom_coarsening(const rg_cli *, const char *folder);
int rg_phantom_particles(const rg_cli *, const char *folder);
int rg_phantom_tilt(const rg_cli *, const char *folder);
int rg_phantom_subtomograms(const rg_cli *, const char *folder);

#endif
