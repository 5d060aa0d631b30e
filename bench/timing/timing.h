// SPDX-License-Identifier: MIT
// timing.h: from the command line to the list of measurements that a benchmark times, and the gate that each has to pass.
#pragma once

#include "../../data/formats/result.h"
#include "../../impl/base/options.h"
#include "../machine/machine.h"
#include "sample.h"

typedef struct rg_bench_options {
    rg_given given;
    const char *out, *variant, *job, *gpus, *work, *check, *serve;
    rg_list shape, param;
    int preset;            // an rg_preset; -1: not typed, until rg_bench_options_check
    rg_mask scopes, modes; // a bit for each; 0: the standard ones of the space
    int64_t rounds;
    double max_s, max_call_s;
    bool energy, resume, self_test;
    char pattern[512];
} rg_bench_options;
extern const rg_option rg_bench_option[];
int rg_bench_options_check(rg_bench_options *); // what follows from the algorithms and from each other; RG_GOOD, or one line

typedef struct rg_bench_plan {
    rg_measurement *measurement; // ordered by algorithm, shape, variant, threads, scope, mode
    int n;
} rg_bench_plan;
// RG_GOOD, or one line and its exit code. What cannot run here is in the list, already ended as SKIP.
int rg_bench_plan_make(const rg_bench_options *, rg_bench_plan *);
void rg_bench_plan_free(rg_bench_plan *);
int rg_bench_plan_group(
    const rg_bench_plan *, int first); // past the last measurement of the same algorithm and shape as measurement[first]

// Every measurement that is not done has to pass verify on small shapes, in children: before any GPU context or thread exists here.
// Fills the verdict; a measurement that does not pass is ended.
void rg_bench_plan_verify(rg_bench_plan *, const rg_bench_options *);

// ---- row.c: a measurement as a row ------------------------------------------------------------------------------------------------

rg_row rg_measurement_key(const rg_measurement *);                   // names only: to see whether a file has it
rg_row rg_measurement_row(const rg_measurement *, const rg_rates *); // rates of its device and thread count; NULL: none
char *rg_input_key(const rg_row *);               // of the line of the head that has the hash of its inputs; malloc'ed
void rg_head_source(rg_head *, const rg_entry *); // the hash that its rows have, for the head
rg_row rg_probe_row(const char *space, int threads, int resource, double per_s); // threads 0: GPU
// n, min to max, rate (work / median) and samples.
void rg_set_times(rg_row *, const rg_samples *, double work);
void rg_set_cell(rg_row *, rg_column, const char *format, ...) __attribute__((format(printf, 3, 4)));
void rg_set_number(rg_row *, rg_column, double); // empty when NaN

// ---- show.c: rows for people -----------------------------------------------------------------------------------------------

// One table: rows of one algorithm at one shape, with speed-ups against its naive variant on one core.
void rg_show_rows(FILE *, const rg_row *row, int n, uint64_t seed);
void rg_show_probes(FILE *, const rg_row *row, int n);
void rg_show_scaled(double value, char text[32]); // "12.3 G"

// ---- out.c: the growing file --------------------------------------------------------------------------------------------

// F.tsv.part grows by whole rows and becomes F.tsv at the end. Without --out rows are kept in memory only.
typedef struct rg_out {
    char *path, *part;
    FILE *stream;
    rg_result old; // head of a resumed file
    bool cut;      // its last line is unfinished
    rg_row *row;   // all rows: old ones first
    int n_rows;
} rg_out;
// Looks for what is there, before anything is timed. With resume: takes over the rows of F.tsv.part, or of F.tsv.
int rg_out_begin(rg_out *, const char *path, bool resume);
// Opens the file and writes the head; a resumed file has to be of the same machine, revision and seed.
int rg_out_start(rg_out *, const rg_head *);
const rg_row *rg_out_find(const rg_out *, const rg_row *key); // NULL when there is no such row yet
int rg_out_add(rg_out *, rg_row);                             // takes the row over; RG_GOOD, or one line (full disk)
void rg_out_put(rg_out *, rg_row); // in memory, in place of the row of the same key or as a further one; takes it over
int rg_out_rewrite(rg_out *, const rg_head *); // the growing file anew, with all rows as they are in memory
int rg_out_commit(rg_out *);
void rg_out_free(rg_out *);

// ---- rates.c -------------------------------------------------------------------------------------------------------------

// What the machine sustains, as rows of the algorithm `probe`: of every processor and number of threads in the plan, the
// resources that its measurements' bounds ask for. Those that the file has stay. RG_GOOD, or one line (full disk).
int rg_rates_measure(rg_out *, const rg_bench_plan *, const rg_device *gpu);
void rg_rates_known(const rg_out *, const rg_measurement *, rg_rates *); // by its rows; NaN where there is none

// ---- process.c ------------------------------------------------------------------------------------------------------------

// One round: a fresh process visits the measurements first..past that are not done, shape by shape, in the order of the round, and
// these take over what it measured. A process that a signal ends takes the measurements of the shape that it was at with it, as CRASH.
// RG_GOOD, or one line. heard() is called for every measurement.
typedef struct rg_round {
    const rg_bench_options *options;
    rg_bench_plan *plan;
    int first, past, number;
    void (*heard)(void *of);
    void *of;
} rg_round;
int rg_round_run(const rg_round *);
int rg_round_serve(const rg_bench_options *); // be such a process
char *rg_own_program(void);                   // path of this program, malloc'ed; NULL when it cannot be known

// ---- forecast.c ----------------------------------------------------------------------------------------------------------

double rg_free_bytes(const rg_device *); // that may be taken
// The shape with its extents shrunk alike until the measurement fits into so many bytes, or "none".
void rg_largest_that_fits(const rg_measurement *, double room, char text[96]);
// Ends a measurement of which one call, at the best rate that rows of other shapes have, takes longer than most_s.
void rg_refuse_long(rg_measurement *, const rg_out *, double most_s);

// ---- bench/jobs/bench.c ---------------------------------------------------------------------------------------------------

// --job: a command of this program, files to files, as rows of scope job. RG_GOOD, RG_WRONG, RG_USAGE or RG_LACKS.
int rg_bench_job(const rg_bench_options *);
rg_row rg_bench_job_key(const rg_bench_options *, int gpus); // names only, of its row of so many GPUs

// ---- selftest.c ---------------------------------------------------------------------------------------------------------

// A against A. RG_GOOD, RG_WRONG above the limit, RG_LACKS.
int rg_self_test(const rg_bench_options *);
