// SPDX-License-Identifier: MIT
// archive.h: what `measure` wrote, read again: see bench/RULES.md for its tables.
#pragma once

#include "workload.h"

#include "../../impl/base/bundle.h"
#include "../stats/stats.h"

typedef struct rg_archive {
    rg_bundle bundle;
    char label[80]; // its file name without the suffix
    rg_size size;
    rg_workload workload;
    rg_tsv manifest, machine, runs, power, summary;
} rg_archive;

// RG_GOOD, or one line, RG_USAGE and nothing to free: no archive, one without a table or a column, of another version.
int rg_archive_read(const char *path, rg_archive *);
void rg_archive_free(rg_archive *);
const char *rg_archive_value(const rg_archive *, const char *key);     // of machine.tsv; "" where there is none
double rg_archive_number(const rg_archive *, const char *key);         // that it begins with; NaN
int rg_archive_table(const rg_archive *, const char *path, rg_tsv *);  // of the bundle. RG_GOOD, or one line and RG_USAGE
double *rg_archive_times(const rg_archive *, const char *job, int *n); // seconds of its n timed runs that were good; free it
double rg_archive_median(const rg_archive *, const char *job);         // of them; NaN with none
// Joules of one run: of the meter where there is one, else of GPU boards and CPU packages together. source: "meter", "NVML +
// RAPL", "NVML, GPU boards alone". NaN: none.
double rg_archive_joules(const rg_archive *, const char *job, const char **source);

// audit.c: how many findings `audit` has in it without computing anything again, and the first of them, "rule: what was found".
enum { RG_FINDING = 640 };
int rg_audit_findings(const rg_archive *, char first[RG_FINDING]);
