// SPDX-License-Identifier: MIT
// run.h: runs a whole command of this program, from files to files, in its own process. `bench --job`, `duel --job`, `measure`
// and `audit` use it.
#pragma once

#include "../procure/workload.h"
#include "../../impl/base/core.h"
#include "../../impl/base/hash.h"

// Makes a folder in $TMPDIR for the outputs and messages of runs. RG_GOOD, or one line and RG_USAGE.
int rg_job_folder_make(char folder[4096]);
void rg_job_folder_remove(const char *folder);

// rg_job_put replaces every `word`, such as {in}, by `another`; rg_job_put_out replaces every `word`, such as {out}, by
// FOLDER/out. malloc'ed.
char *rg_job_put(const char *text, const char *word, const char *another);
char *rg_job_put_out(const char *text, const char *word, const char *folder);

typedef struct rg_job_run {
    int code; // exit status, or 128 + the signal that ended it
    double wall_s;
    double cpu_s; // of all its threads and of the processes that it waited for
    long preempted;
    double peak_bytes;     // largest resident size of one of its processes
    double gpu_peak_bytes; // growth of the memory used on all GPUs, by NVML every 50 ms; NaN: no NVML,
    char said[200];        // the last line that it printed if it failed, else ""
} rg_job_run;
// Removes the files of an earlier run and runs the command: {out} is FOLDER/out, its messages go to FOLDER/log. It sees `gpus`
// GPUs, -1: all.
rg_job_run rg_job_run_once(const char *program, const char *command, const char *folder, int gpus);
// The same, but the first run keeps its outputs for comparison: it gets its own folder, `first`, which is "" before. Returns
// the folder of the run. The run's code is RG_USAGE if no folder can be made.
const char *rg_job_run_again(
    const char *program, const char *command, char first[4096], const char *folder, int gpus, rg_job_run *);

// ---- accuracy.c ---------------------------------------------------------------------------------------------------------

// Checks the outputs of a job, and selects values of them for an archive, which are computed again elsewhere.

// The seed of inputs and samples is 63 bits of the SHA-256 of the nonce, which is any word.
uint64_t rg_nonce_seed(const char *nonce);

// The error, as workload.h defines it, of a run that read IN and wrote FOLDER/out*. NaN: a file is missing or does not match.
double rg_job_error(const rg_work *, const char *in, const char *folder, uint64_t seed);

// At most RG_SAMPLES_A_FILE values of each of the first RG_SAMPLED_FILES files below a folder, at places that follow from the
// seed: values of maps and images, numbers of text. A line per value: "file<tab>place<tab>value", below these column names.
// malloc'ed.
enum { RG_SAMPLES_A_FILE = 256, RG_SAMPLED_FILES = 64 };
char *rg_job_samples(const char *folder, uint64_t seed);

// Compares two such tables and counts rows whose files, places or values differ. Tolerances: 1e-3 of the file's largest value;
// in text, 1e-3 of the number itself or of 1; in transforms 0.01 of it (a search ends a few thousandths of a pixel elsewhere if
// sums are rounded in another order); in poses 0.02 of it or of 10. The share RG_MAY_DIFFER of a file of text or images may
// differ: grey values are rounded, angles wrap.
typedef struct rg_alike {
    int n, differ, files_differ; // files_differ: files with too many differences
    char first[160];             // "out.mrc at 1234: 0.5, here 0.7"
} rg_alike;
#define RG_MAY_DIFFER 0.05
rg_alike rg_samples_alike(const rg_tsv *theirs, const rg_tsv *here);

// ---- files.c ------------------------------------------------------------------------------------------------------------

// The inputs and outputs of a job.

// The hash of the files that the words of a command name, and of the stacks that their STAR files name: "fnv1a 0123456789abcdef
// of 3 files", or "unknown (reason)".
void rg_job_inputs_hash(const char *command, char text[96]);

// Compares the outputs below two folders, file by file. Leaves out what differs from run to run but is no result: times of
// stages, plots, the name of the run in heads and labels.
typedef struct rg_job_outputs {
    int files, differ; // all files, and those that differ
    double largest;    // largest difference of two numbers: in maps over the map's largest value, in tables over max(both, 1);
                       // inf if the formats differ
    char first[200];   // the first file that differs
} rg_job_outputs;
rg_job_outputs rg_job_outputs_compare(const char *folder, const char *other);

// The sorted names of a folder's outputs, those in folders below as "sub/name"; free with rg_job_list_free.
typedef struct rg_job_list {
    int n;
    char **name;
} rg_job_list;
rg_job_list rg_job_outputs_list(const char *folder);
void rg_job_list_free(rg_job_list *);
bool rg_job_is_map(const char *name); // by its extension
// SHA-256 of names and contents of all outputs below a folder, without the name of the run.
void rg_job_outputs_hash(const char *folder, char hex[65]);
