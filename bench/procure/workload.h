// SPDX-License-Identifier: MIT
// workload.h: a lab's work as a table: what is done, how much it counts, what is right. A row is a job at one size.
//
// `# title: ...`, then columns
//   job          its name: letters, digits, _ and -
//   weight       its share of the jobs that the lab runs; those of one size sum to 1
//   command      of this program, files to files: {in} is the folder of its input, {out} where its results begin
//   size         small, medium or full
//   units        N:UNIT, what one run does: 400:images
//   reference_s  seconds of the reference machine that the head names ("# reference: ..."); "-": none, then `score` is given
//                an archive
//   min_runs     from 5 to 1000
//   check        what the outputs are held against the truth by: see rg_check
//   tolerance    the largest error that passes
//   input        `phantom KIND ...` that makes {in}, which gets --out and a --seed that follows from the buyer's nonce
//
// A workload comes with archives of strangers and is run to audit them, so a command may do no more than a job does: commands
// and inputs are words of letters, digits and ._/,:=+*{}-, paths are relative, --plugin and options that run others' programs
// are refused.
#pragma once

#include "../../impl/base/tsv.h"

enum { RG_JOBS_MOST = 32, RG_LEAST_RUNS = 5, RG_MOST_RUNS = 1000 }; // more would be a slip: a run takes seconds
typedef enum { RG_SMALL, RG_MEDIUM, RG_FULL, RG_SIZES } rg_size;
extern const char *const rg_size_name[RG_SIZES];
extern const double rg_size_s[RG_SIZES]; // what a kit of this size may take; 0: as long as the rules need

// MAP: 1 - correlation of {out}.mrc with {in}/map.mrc. POSES: median angle between orientations of {out}.star and of
// {in}/particles.star, degrees. TRANSFORMS: largest error of a shift of {out}.tsv, of {in}/truth.tsv, pixels. SUMS: largest
// error of 16 elements of every C2D in {out}/, summed again.
typedef enum { RG_CHECK_MAP, RG_CHECK_POSES, RG_CHECK_TRANSFORMS, RG_CHECK_SUMS, RG_CHECKS } rg_check;

typedef struct rg_work {
    const char *job, *command, *input, *unit;
    double weight, units, reference_s, tolerance; // reference_s NaN: none
    int min_runs, input_of;                       // input_of: the first job with this input
    rg_check check;
} rg_work;
typedef struct rg_workload {
    rg_tsv table; // all text points into it
    const char *title;
    int n;
    rg_work job[RG_JOBS_MOST];
} rg_workload;

// The rows of one size. RG_GOOD, or one line, RG_USAGE and nothing to free.
int rg_workload_read(const char *path, rg_size, rg_workload *);
int rg_workload_parse(const char *name, const char *text, size_t bytes, rg_size, rg_workload *);
void rg_workload_free(rg_workload *);
int rg_workload_find(const rg_workload *, const char *job); // -1: none
// Whether such words may stand in a command; peak: --plugin too. NULL, or why not.
const char *rg_words_fault(const char *words, bool peak);
bool rg_name_good(const char *name); // of a job
