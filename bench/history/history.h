// SPDX-License-Identifier: MIT
// history.h: many result files as series: what each row's time was from commit to commit, and where it changed.
#ifndef RG_HISTORY_H
#define RG_HISTORY_H

#include "../../data/formats/result.h"
#include "steps.h"

// A result file at its place in time.
typedef struct rg_run {
    rg_result file;
    const char *revision, *committed, *date; // of its head, "" where it has none; dates as they sort: 2026-11-22T14:53:12Z
} rg_run;

typedef struct rg_history_point {
    int run; // its place in rg_history.run
    const rg_row *row;
    double median_ns, low_ns, high_ns; // the median's 95 % interval; all NaN when the row has not passed
    double level_ns;                   // of the level that the run belongs to
} rg_history_point;

// One row of the files, from run to run. What must not be mixed is part of its key: machine, version of the suite, hash of
// inputs.
typedef struct rg_history_series {
    const rg_row *key;
    const char *machine, *suite, *input;
    int n, n_timed, n_steps;
    rg_history_point *point; // in the order of runs
    rg_step *step;           // rg_step.at counts timed points
} rg_history_series;

typedef struct rg_history {
    const char *folder, *command;
    int n_runs, n_series, commits;
    rg_run *run; // in time
    rg_history_series *series;
    bool by_commit; // every head has the date of its commit, which orders them; else the date of the run does
    uint64_t seed;
} rg_history;

const rg_history_point *rg_timed_point(const rg_history_series *, int timed); // the timed-th one that has a time
char *rg_series_name(const rg_history_series *); // "autocorr:simd w64,h64,r8,k0 threads=1;isa=0 device hot"; malloc'ed
const char *rg_step_word(const rg_step *);       // "SLOWER", "FASTER"
// What else differs in the heads of the runs before and at a step: "its source, compiler"; "nothing that the heads name".
// malloc'ed
char *rg_step_cause(const rg_history *, const rg_history_series *, const rg_step *);
// The newest run of a row that had passed before has not passed.
bool rg_series_broken(const rg_history_series *);

// write.c: history.tsv, steps.tsv, index.html and the figures of rows with steps (of all rows: all) in the folder, which is
// new, empty, or what this has made before. RG_GOOD, or one line and RG_USAGE.
int rg_history_check_folder(const char *folder);
int rg_history_write(const rg_history *, const char *folder, bool all);

#endif
