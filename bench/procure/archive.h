// SPDX-License-Identifier: MIT
// archive.h: reads archives that `measure` wrote; bench/RULES.md describes their tables.
#pragma once

#include "workload.h"

#include "../../impl/base/bundle.h"
#include "../stats/stats.h"

typedef struct rg_archive {
    rg_bundle bundle;
    char label[80]; // file name without the suffix
    rg_size size;
    rg_workload workload;
    rg_tsv manifest, machine, runs, power, summary;
} rg_archive;

// RG_GOOD, or one line, RG_USAGE and nothing to free: not an archive, a missing table or column, another version.
int rg_archive_read(const char *path, rg_archive *);
void rg_archive_free(rg_archive *);
const char *rg_archive_value(const rg_archive *, const char *key); // from machine.tsv; "": absent
double rg_archive_number(const rg_archive *, const char *key);     // the number at its begin; NaN: none
int rg_archive_table(
    const rg_archive *, const char *path, rg_tsv *); // reads a table of the bundle. RG_GOOD, or one line and RG_USAGE
double *rg_archive_times(const rg_archive *, const char *job, int *n); // seconds of the n timed runs that succeeded; malloc'ed
double rg_archive_median(const rg_archive *, const char *job);         // of these; NaN: none
// Joules of one run, from the meter if there is one, else GPU boards and CPU packages together. source: "meter", "NVML + RAPL",
// "NVML, GPU boards alone". NaN: none.
double rg_archive_joules(const rg_archive *, const char *job, const char **source);

// audit.c: counts the findings of `audit` that need no computation; `first`: the first of them, "rule: what was found".
enum { RG_FINDING = 640 };
int rg_audit_findings(const rg_archive *, char first[RG_FINDING]);
