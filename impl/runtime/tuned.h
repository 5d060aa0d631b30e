// SPDX-License-Identifier: MIT
// tuned.h: the best parameters that `regather tune` found on this GPU or CPU, data/tuned/NAME.tsv, and how they stand for the
// defaults. One file a processor; it holds for this processor only.
#pragma once

#include "../base/tsv.h"
#include "table.h"

#include <stdio.h>

// The name of the processor on which the entry would run with --device `device` ("gpu1" is another GPU than "gpu0"): as CUDA or
// /proc/cpuinfo have it. "" when there is none, and for emulated variants, whose times mean nothing.
void rg_tuned_processor(const rg_entry *, const char *device, char name[128]);

// That processor's file, read once and kept for as long as the process runs; NULL when there is none that holds here.
const rg_tsv *rg_tuned_file(const char *processor);

// Parameters of a call: those in `given` ("NAME=VALUE;...", "" or "-": none), for the others the tuned values of the nearest
// shape in the processor's file, or without one the defaults. When the variant refuses that mixture, the defaults stand beside
// the given ones. *tuned (may be NULL) tells whether that changed a default. False with the reason in why when `given` is
// wrong. A file of another processor or version is left alone with one warning.
bool rg_params_resolve(
    const rg_entry *, const char *device, const rg_shape *, const char *given, int64_t *param, bool *tuned, char why[160]);

// A row of --dry-run: how long `work` units of rg_algo.work take at the rate that `tune` measured here at the shape nearest to
// this one; "not known", and the command that measures it, where there is none.
void rg_plan_time(const rg_entry *, const char *device, const rg_shape *, double work);

// One best configuration, as a row of the file.
typedef struct rg_tuned_row {
    const char *algo, *variant, *shape, *params;
    double median_ns, rate;
    const char *rate_unit, *how; // "exhaustive, 445 of 445 configurations"
} rg_tuned_row;
// Puts the row into FOLDER/NAME.tsv in place of the one of the same algorithm, variant and shape; rows of another version of
// the suite go. The path is printed into path[]. RG_GOOD, or one line and RG_USAGE.
int rg_tuned_store(const char *folder, const char *processor, const char *driver, const rg_tuned_row *, char path[512]);

// The rows of the file that holds for the entry, one line each, for `regather list`.
void rg_tuned_print(const rg_entry *, const char *device, FILE *);
