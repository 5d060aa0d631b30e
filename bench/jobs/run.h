// SPDX-License-Identifier: MIT
// run.h: one run of a whole command of this program, files to files, in a process of its own: `bench --job`, `duel --job`,
// `measure` and `audit` run their jobs by it.
#pragma once

#include "../procure/workload.h"
#include "../../impl/base/core.h"
#include "../../impl/base/hash.h"

// A folder for what runs of a job write and say, in $TMPDIR; RG_GOOD, or one line and RG_USAGE.
int rg_job_folder_make(char folder[4096]);
void rg_job_folder_remove(const char *folder);

// A text with another in place of every such word, as {in}; with every such word, as {out}, as FOLDER/out. malloc'ed.
char *rg_job_put(const char *text, const char *word, const char *another);
char *rg_job_put_out(const char *text, const char *word, const char *folder);

typedef struct rg_job_run {
    int code; // its exit status, 128 + the signal that ended it
    double wall_s;
    double cpu_s; // of all its threads, and of processes that it waited for
    long preempted;
    double peak_bytes;     // the largest resident size of one of its processes
    double gpu_peak_bytes; // what NVML says that all GPUs hold more than before, looked at every 50 ms; NaN: no NVML, or no GPU
                           // is seen
    char said[200];        // the last line that it printed, which says what went wrong; "" where nothing did
} rg_job_run;
// Runs the command after what an earlier run left is gone: {out} is FOLDER/out, what it prints goes to FOLDER/log. It sees that
// many GPUs, -1: all.
rg_job_run rg_job_run_once(const char *program, const char *command, const char *folder, int gpus);
// The same where the first run keeps its outputs for others to be compared with: it gets a folder of its own, first, which is ""
// before. Returns the folder that it ran in. RG_USAGE is the run's code where there can be no folder.
const char *rg_job_run_again(
    const char *program, const char *command, char first[4096], const char *folder, int gpus, rg_job_run *);

// ---- accuracy.c ---------------------------------------------------------------------------------------------------------

// Whether a job's outputs are right, and which of their values go into an archive to be computed again elsewhere.

// The nonce is any word; the seed of inputs and samples is 63 bits of its SHA-256.
uint64_t rg_nonce_seed(const char *nonce);

// The error that workload.h defines, of a run that wrote FOLDER/out*, its input in IN. NaN where a file is missing or unlike.
double rg_job_error(const rg_work *, const char *in, const char *folder, uint64_t seed);

// At most RG_SAMPLES_A_FILE values of each of the first RG_SAMPLED_FILES files below a folder, at places that follow from the
// seed: of maps and images their values, of text its numbers. One line a value: "file<tab>place<tab>value", under these column
// names.
enum { RG_SAMPLES_A_FILE = 256, RG_SAMPLED_FILES = 64 };
char *rg_job_samples(const char *folder, uint64_t seed);

// Two such tables: rows whose files or places differ, or whose values do: by more than 1e-3 of the largest of that file, in
// text of the number itself or of 1; in transforms by 0.01 of it (a search ends a few thousandths of a pixel elsewhere when
// sums are rounded in another order), in poses by 0.02 of it or of 10. Of text and images RG_MAY_DIFFER may: grey values are
// rounded, angles wrap.
typedef struct rg_alike {
    int n, differ, files_differ; // files_differ: those with too many
    char first[160];             // "out.mrc at 1234: 0.5, here 0.7"
} rg_alike;
#define RG_MAY_DIFFER 0.05
rg_alike rg_samples_alike(const rg_tsv *theirs, const rg_tsv *here);

// ---- files.c ------------------------------------------------------------------------------------------------------------

// What a job reads and what it writes.

// Of the files that the words of a command name, and of the stacks that their STAR files name: "fnv1a 0123456789abcdef of 3
// files", or "unknown (reason)".
void rg_job_inputs_hash(const char *command, char text[96]);

// The outputs below two folders, file by file: what differs from run to run and is no result is left out (times of stages,
// plots, what names the run in heads and labels).
typedef struct rg_job_outputs {
    int files, differ; // all, and those that are not the same
    double largest; // difference of two numbers: of maps over the map's largest value, of tables over the larger of both and 1;
                    // inf where files are not of one form
    char first[200]; // name of the first that differs
} rg_job_outputs;
rg_job_outputs rg_job_outputs_compare(const char *folder, const char *other);

// The names of a folder's outputs, in order, of those in folders below as "sub/name"; free it.
typedef struct rg_job_list {
    int n;
    char **name;
} rg_job_list;
rg_job_list rg_job_outputs_list(const char *folder);
void rg_job_list_free(rg_job_list *);
bool rg_job_is_map(const char *name); // by its ending
// SHA-256 of names and contents of all outputs below a folder, without what names the run.
void rg_job_outputs_hash(const char *folder, char hex[65]);
