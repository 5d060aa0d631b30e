// SPDX-License-Identifier: MIT
// timing.h: makes the list of measurements from the command line, and checks each before it is timed.
#pragma once

#include "../../data/formats/result.h"
#include "../../impl/base/options.h"
#include "../machine/machine.h"
#include "sample.h"

typedef struct rg_bench_options {
    rg_given given;
    const char *out, *variant, *job, *gpus, *work, *check, *serve;
    rg_list shape, param;
    int preset;            // an rg_preset; -1: not given (before rg_bench_options_check)
    rg_mask scopes, modes; // a bit for each; 0: the defaults of the variant's space
    int64_t rounds;
    double max_s, max_call_s;
    bool energy, resume, self_test;
    char pattern[512];
} rg_bench_options;
extern const rg_option rg_bench_option[];
int rg_bench_options_check(rg_bench_options *); // checks options against the algorithms and each other; RG_GOOD, or one line

typedef struct rg_bench_plan {
    rg_measurement *measurement; // ordered by algorithm, shape, variant, threads, scope, mode
    int n;
} rg_bench_plan;
// RG_GOOD, or one line and its exit code. Measurements that cannot run here are in the list, ended as SKIP.
int rg_bench_plan_make(const rg_bench_options *, rg_bench_plan *);
void rg_bench_plan_free(rg_bench_plan *);
int rg_bench_plan_group(const rg_bench_plan *,
    int first); // the index after the last measurement with the algorithm and shape of measurement[first]

// Verifies every measurement that is not done on small shapes, in child processes, before this one has a GPU context or
// threads. Fills the verdict, and ends measurements that do not pass.
void rg_bench_plan_verify(rg_bench_plan *, const rg_bench_options *);

// ---- row.c: a measurement as a row ------------------------------------------------------------------------------------------------

rg_row rg_measurement_key(const rg_measurement *);                   // names only, for searching a file
rg_row rg_measurement_row(const rg_measurement *, const rg_rates *); // rates: of its device and thread count; may be NULL
char *rg_input_key(const rg_row *);               // key of the head line with the hash of its inputs; malloc'ed
void rg_head_source(rg_head *, const rg_entry *); // adds the source hash of its rows to the head
rg_row rg_probe_row(const char *space, int threads, int resource, double per_s); // threads 0: GPU
// Sets n, min to max, rate (work / median) and samples.
void rg_set_times(rg_row *, const rg_samples *, double work);
void rg_set_cell(rg_row *, rg_column, const char *format, ...) __attribute__((format(printf, 3, 4)));
void rg_set_number(rg_row *, rg_column, double); // NaN: empty

// ---- show.c: rows for people -----------------------------------------------------------------------------------------------

// Prints a table: rows of one algorithm at one shape, with speed-ups over its naive variant on one core.
void rg_show_rows(FILE *, const rg_row *row, int n, uint64_t seed);
void rg_show_probes(FILE *, const rg_row *row, int n);
void rg_show_scaled(double value, char text[32]); // "12.3 G"

// ---- out.c: the growing file --------------------------------------------------------------------------------------------

// F.tsv.part grows by whole rows and becomes F.tsv at the end. Without --out, rows are kept in memory.
typedef struct rg_out {
    char *path, *part;
    FILE *stream;
    rg_result old; // head of a resumed file
    bool cut;      // its last line is unfinished
    rg_row *row;   // all rows, old ones first
    int n_rows;
} rg_out;
// Checks for existing files before anything is timed. resume: takes over the rows of F.tsv.part, or of F.tsv.
int rg_out_begin(rg_out *, const char *path, bool resume);
// Opens the file and writes the head. A resumed file must have the same machine, revision and seed.
int rg_out_start(rg_out *, const rg_head *);
const rg_row *rg_out_find(const rg_out *, const rg_row *key); // NULL: no such row yet
int rg_out_add(rg_out *, rg_row);                             // owns the row from now on; RG_GOOD, or one line (full disk)
void rg_out_put(rg_out *, rg_row); // in memory, in place of the row of the same key or as a further one; takes it over
int rg_out_rewrite(rg_out *, const rg_head *); // writes the growing file again from the rows in memory
int rg_out_commit(rg_out *);
void rg_out_free(rg_out *);

// ---- rates.c -------------------------------------------------------------------------------------------------------------

// Measures the machine's sustained rates as rows of the algorithm `probe`: for every processor and number of threads in the
// plan, the resources that the bounds of its measurements need. Rows already in the file are kept. RG_GOOD, or one line (full
// disk).
int rg_rates_measure(rg_out *, const rg_bench_plan *, const rg_device *gpu);
void rg_rates_known(const rg_out *, const rg_measurement *, rg_rates *); // rates from the file's rows; NaN: no row

// ---- process.c ------------------------------------------------------------------------------------------------------------

// Runs one round: a new process visits the measurements first..past that are not done, shape by shape, in the order of the
// round, and these take over its results. If a signal ends the process, the measurements of its current shape end as CRASH.
// heard() is called for every measurement. RG_GOOD, or one line.
typedef struct rg_round {
    const rg_bench_options *options;
    rg_bench_plan *plan;
    int first, past, number;
    void (*heard)(void *of);
    void *of;
} rg_round;
int rg_round_run(const rg_round *);
int rg_round_serve(const rg_bench_options *); // runs as such a process
char *rg_own_program(void);                   // path of this program, malloc'ed; NULL: unknown

// ---- forecast.c ----------------------------------------------------------------------------------------------------------

double rg_free_bytes(const rg_device *); // available to the measurement
// The shape, with extents reduced in proportion until the measurement fits in `room` bytes, or "none".
void rg_largest_that_fits(const rg_measurement *, double room, char text[96]);
// Ends a measurement if one call would take longer than most_s at the best rate among rows of other shapes.
void rg_refuse_long(rg_measurement *, const rg_out *, double most_s);

// ---- bench/jobs/bench.c ---------------------------------------------------------------------------------------------------

// --job: times a command of this program, from files to files, as rows of scope job. RG_GOOD, RG_WRONG, RG_USAGE or RG_LACKS.
int rg_bench_job(const rg_bench_options *);
rg_row rg_bench_job_key(const rg_bench_options *, int gpus); // names only, of its row for `gpus` GPUs

// ---- selftest.c ---------------------------------------------------------------------------------------------------------

// Times a variant against itself. RG_GOOD, RG_WRONG above the limit, RG_LACKS.
int rg_self_test(const rg_bench_options *);
