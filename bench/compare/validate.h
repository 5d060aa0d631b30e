// SPDX-License-Identifier: MIT
// validate.h: whether the rows of a result file can be what bench measured.
#pragma once

#include "../../data/formats/result.h"

// RG_GOOD, or a line for each row that cannot be believed (file, row, expected, found) and RG_USAGE. Of every timed row: the
// summary is that of its samples, the rate is work / median, no sample is shorter than a tick of the clock. From format 2 on:
// the head has the hash of its inputs and that of its source, which is the row's, and no call is faster than the rates that the
// file's own probes leave it.
int rg_validate(const rg_result *);
// What a file of format 1 cannot be held against, in words; "" from format 2 on.
const char *rg_validate_lacks(const rg_result *);

// Whether the row's kernel, or its job with the kernels that this may call, has another source in this program than it had when
// the row was timed, or is gone from it: the row is stale. false where the row has no hash (before format 2, probes, jobs of
// format 4's first files), and of plug-ins that are not loaded.
bool rg_row_is_stale(const rg_row *);
// Whether a job that a table is of, by the lines "# source JOB: HASH" in its head, has another source now. false without such lines.
bool rg_table_is_stale(const char *text);
// Whether the row timed a variant of this suite and has no hash to tell by (before format 2, or of a build without one).
bool rg_row_is_unsourced(const rg_row *);

// A call may be this much faster than its bound by the probes of the same run, which scatter by a few percent.
#define RG_FRACTION_MOST 1.05
// Beyond this no scatter explains it, nor a machine that was busy while it was probed: the row has no time.
#define RG_FRACTION_REFUSED 4
