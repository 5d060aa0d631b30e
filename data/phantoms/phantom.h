// SPDX-License-Identifier: MIT
// phantom.h: the kinds of `regather phantom KIND`, which make input from a seed, so that nothing need be downloaded. Each is a
// command with its own options.
#pragma once

#include "../../impl/suite.h"
#include "../../impl/base/log.h"
#include "../../impl/base/memory.h"
#include "../../impl/base/options.h"

extern const rg_command rg_cmd_phantom;
// Prints rows of --dry-run: what is made, its memory, and each file of the folder.
void rg_phantom_plan(const char *folder, const char *what, double bytes, rg_memory_need *, const void *of, const char *fits,
    int n, const char *const *name);

extern const rg_command rg_phantom_coarsening, rg_phantom_particles, rg_phantom_tilt, rg_phantom_subtomograms;
