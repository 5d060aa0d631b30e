// SPDX-License-Identifier: MIT
// validate.h: checks whether the rows of a result file are plausible measurements of bench.
#pragma once

#include "../../data/formats/result.h"

// RG_GOOD, or a line for each implausible row (file, row, expected, found) and RG_USAGE. For every timed row: the summary
// agrees with its samples, the rate is work / median, no sample is shorter than a tick of the clock. From format 2 on: the head
// has the hash of its inputs and of its source, which equals the row's, and no call is faster than the rates of the file's own
// probes allow.
int rg_validate(const rg_result *);
// Names the checks that a file of format 1 lacks; "" from format 2 on.
const char *rg_validate_lacks(const rg_result *);

// Returns whether the row is stale: its kernel, or its job with the kernels that this may call, has changed since it was timed,
// or no longer exists. false if the row has no hash (before format 2, probes, jobs of format 4's first files), and for plug-ins
// that are not loaded.
bool rg_row_is_stale(const rg_row *);
// Returns whether a job of the table, from the lines "# source JOB: HASH" in its head, has changed since. false without such
// lines.
bool rg_table_is_stale(const char *text);
// Returns whether the row timed a variant of this suite but has no hash to check (before format 2, or of a build without one).
bool rg_row_is_unsourced(const rg_row *);

// A call may be this much faster than its bound by the probes of the same run, which scatter by a few percent.
#define RG_FRACTION_MOST 1.05
// Beyond this, neither scatter nor a busy machine during the probes explains it: the row has no time.
#define RG_FRACTION_REFUSED 4
