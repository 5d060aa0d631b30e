// SPDX-License-Identifier: MIT
// phantom.h: the kinds of `regather phantom KIND`: input made from a seed, so that nothing need be fetched. Each is a command
// with options of its own.
#pragma once

#include "../../impl/suite.h"
#include "../../impl/base/log.h"
#include "../../impl/base/memory.h"
#include "../../impl/base/options.h"

extern const rg_command rg_cmd_phantom;
// Rows of --dry-run: what, its memory, and each file of the folder.
void rg_phantom_plan(const char *folder, const char *what, double bytes, rg_memory_need *, const void *of, const char *fits,
    int n, const char *const *name);

extern const rg_command rg_phantom_coarsening, rg_phantom_particles, rg_phantom_tilt, rg_phantom_subtomograms;
