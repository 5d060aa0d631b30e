// SPDX-License-Identifier: MIT
// measure.h: a workload on this machine, by the rules of bench/RULES.md, and the folder that holds it meanwhile.
#pragma once

#include "watch.h"

#include "../jobs/accuracy.h"
#include "../jobs/run.h"

// Beyond this share of the CPUs' time, and of 50 ms (/proc/stat counts ticks of 10 ms a CPU), others were busy during a run.
#define RG_BUSY_SHARE 0.05
#define RG_BUSY_LEAST_S 0.05
enum { RG_MEASURE_WINDOW_S = 60, RG_ROUNDS_MOST = 25 };

// The inputs of all jobs at one seed, each in a folder of its own: FOLDER/in0 ...
typedef struct rg_inputs_made {
    const rg_workload *workload;
    const char *program, *folder;
    uint64_t seed;
    char *in[RG_JOBS_MOST]; // of each job; jobs of one input share it
    char hash[RG_JOBS_MOST][65];
} rg_inputs_made;
int rg_inputs_generate(rg_inputs_made *, const rg_workload *, const char *program, const char *folder,
    uint64_t seed); // RG_GOOD, or one line
void rg_inputs_made_free(rg_inputs_made *);
// The command of a job on its inputs; more: words behind it, or "". malloc'ed.
char *rg_job_command(const rg_inputs_made *, int job, const char *more);
