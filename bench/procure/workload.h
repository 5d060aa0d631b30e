// SPDX-License-Identifier: MIT
// workload.h: a lab's work as a table: its jobs, their weights, their checks. A row is a job at one size.
//
// `# title: ...`, then columns
//   job          the job's name: letters, digits, _ and -
//   weight       its share of the lab's jobs; the weights of one size sum to 1
//   command      of this program, files to files: {in} is the input folder, {out} the prefix of its results
//   size         small, medium or full
//   units        N:UNIT, the work of one run: 400:images
//   reference_s  seconds of the reference machine that the head names ("# reference: ..."); "-": none, then `score` needs
//                an archive
//   min_runs     from 5 to 1000
//   check        how the outputs are compared with the truth: see rg_check
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
extern const double rg_size_s[RG_SIZES]; // time limit of a kit of this size; 0: as long as the rules need

// MAP: 1 - correlation of {out}.mrc with {in}/map.mrc. POSES: median angle between the orientations of {out}.star and
// {in}/particles.star, degrees. TRANSFORMS: largest error of a shift of {out}.tsv against {in}/truth.tsv, pixels. SUMS: largest
// error of 16 elements, computed again, of every C2D in {out}/.
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

// Read the rows of one size. RG_GOOD, or one line, RG_USAGE and nothing to free.
int rg_workload_read(const char *path, rg_size, rg_workload *);
int rg_workload_parse(const char *name, const char *text, size_t bytes, rg_size, rg_workload *);
void rg_workload_free(rg_workload *);
int rg_workload_find(const rg_workload *, const char *job); // -1: none
// Checks whether these words are allowed in a command; peak: also --plugin. NULL, or the reason.
const char *rg_words_fault(const char *words, bool peak);
bool rg_name_good(const char *name); // valid name of a job
