// SPDX-License-Identifier: MIT
// tuned.h: the best parameters that `regather tune` found on this GPU or CPU, in data/tuned/NAME.tsv. They replace the defaults.
// There is one file a processor, used for that processor only.
#pragma once

#include "../base/tsv.h"
#include "table.h"

#include <stdio.h>

// The name, from CUDA or /proc/cpuinfo, of the processor on which the entry would run with --device `device` ("gpu1" may differ from
// "gpu0"). "" if there is none, and for emulated variants, whose times mean nothing.
void rg_tuned_processor(const rg_entry *, const char *device, char name[128]);

// The file of that processor, read once and kept until the process ends; NULL: none.
const rg_tsv *rg_tuned_file(const char *processor);

// Parameters of a call: those of `given` ("NAME=VALUE;...", "" or "-": none), then the tuned values of the nearest shape in the
// processor's file, unless it is a factor of eight away or more (the product over all extents), then the defaults. If the
// variant refuses the mixture, the defaults are used beside the given values. *tuned (may be NULL): a default was replaced.
// False, with the reason in why, if `given` is invalid. A file of another processor is ignored with one warning.
bool rg_params_resolve(
    const rg_entry *, const char *device, const rg_shape *, const char *given, int64_t *param, bool *tuned, char why[160]);

// A row of --dry-run: the time of `work` units of rg_algo.work at the rate that `tune` measured here at the nearest shape. Without
// such a rate: "not known", and the command that measures it.
void rg_plan_time(const rg_entry *, const char *device, const rg_shape *, double work);

// One best configuration, as a row of the file.
typedef struct rg_tuned_row {
    const char *algo, *variant, *shape, *params;
    double median_ns, rate;
    const char *rate_unit, *how; // "exhaustive, 445 of 445 configurations"
} rg_tuned_row;
// Writes the row to FOLDER/NAME.tsv, replacing the row of the same algorithm, variant and shape. path[] receives the path. RG_GOOD,
// or one line and RG_USAGE.
int rg_tuned_store(const char *folder, const char *processor, const char *driver, const rg_tuned_row *, char path[512]);

// Prints the entry's rows of the file, one line each, for `regather list`.
void rg_tuned_print(const rg_entry *, const char *device, FILE *);
