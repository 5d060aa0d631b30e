// SPDX-License-Identifier: MIT
// run.h: one run of a whole command of this program, files to files, in a process of its own: `bench --job`, `duel --job`,
// `measure` and `audit` run their jobs by it.
#pragma once

#include "files.h"

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
