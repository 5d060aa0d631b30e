// SPDX-License-Identifier: MIT
// measure.h: measures a workload on this machine by the rules of bench/RULES.md, in a working folder.
#pragma once

#include "../jobs/run.h"
#include "../machine/sensors.h"

// Other processes were busy during a run if they used more than this share of the CPUs' time, and more than 50 ms (/proc/stat
// counts ticks of 10 ms per CPU).
#define RG_BUSY_SHARE 0.05
#define RG_BUSY_LEAST_S 0.05
enum { RG_MEASURE_WINDOW_S = 60, RG_ROUNDS_MOST = 25 };

// The inputs of all jobs for a seed, each in its own folder: FOLDER/in0 ...
typedef struct rg_inputs_made {
    const rg_workload *workload;
    const char *program, *folder;
    uint64_t seed;
    char *in[RG_JOBS_MOST]; // input folder of each job; jobs with the same input share it
    char hash[RG_JOBS_MOST][65];
} rg_inputs_made;
int rg_inputs_generate(rg_inputs_made *, const rg_workload *, const char *program, const char *folder,
    uint64_t seed); // RG_GOOD, or one line
void rg_inputs_made_free(rg_inputs_made *);
// The command of a job on its inputs, followed by `more` or "". malloc'ed.
char *rg_job_command(const rg_inputs_made *, int job, const char *more);

// ---- watch.c ------------------------------------------------------------------------------------------------------------

// Activity of other processes, and energy, while a job runs.

// CPU seconds that the CPUs of this process spent on all work since the system started (/proc/stat); NaN: not available.
double rg_watch_cpu_s(void);
// A list of the system's processes with their CPU seconds. rg_watch_say writes which of them, except this one, have used most
// since: "1.8 of 2 cores: cc1 (4711) 0.9, ld (4712) 0.4"; processes that ended since are not named.
typedef struct rg_watched {
    int n;
    struct rg_watched_one {
        int pid;
        double cpu_s;
        char name[32];
    } * one;
} rg_watched;
rg_watched rg_watch_processes(void);
void rg_watch_say(const rg_watched *before, double others_s, double seconds, char text[300]);

// Joules over a window from up to three sources. A meter at the outlet includes the other two and is never added to them.
typedef enum { RG_POWER_GPU, RG_POWER_CPU, RG_POWER_METER, RG_POWERS } rg_power;
extern const char *const rg_power_name[RG_POWERS]; // "NVML", "RAPL", "meter"
typedef struct rg_window {
    int gpus;          // 0: none
    const char *meter; // a command for sh that prints watts and ends; NULL: none
    rg_energy of_cpu;
    double gpus_J, began_s, meter_J, meter_read_s, meter_W; // meter readings so far
    char why[RG_POWERS][160];                               // reason of a source that gives nothing
} rg_window;
// Returns whether any source gives joules here; why[] has the reason for each that does not.
bool rg_window_can(rg_window *, int gpus, const char *meter);
void rg_window_begin(rg_window *);
void rg_window_read_meter(rg_window *); // call about once a second, from one thread
void rg_window_end(rg_window *, double joules[RG_POWERS], double *seconds);
