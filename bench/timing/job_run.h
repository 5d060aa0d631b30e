// SPDX-License-Identifier: MIT
// job_run.h: one run of a whole command of this program, files to files, in a process of its own.
#ifndef RG_JOB_RUN_H
#define RG_JOB_RUN_H

// A folder for what runs of a job write and say, in $TMPDIR; RG_GOOD, or one line and RG_USAGE.
int rg_job_folder_make(char folder[4096]);
void rg_job_folder_remove(const char *folder);

// A text with another in place of every such word, as {in}; with every such word, as {out}, as FOLDER/out; a command as a line
// for sh, in which "$0" is the program, that may write what begins with FOLDER/out. malloc'ed.
char *rg_job_put(const char *text, const char *word, const char *another);
char *rg_job_put_out(const char *text, const char *word, const char *folder);
char *rg_job_line(const char *command, const char *folder);

typedef struct rg_job_run {
    int code; // its exit status, 128 + the signal that ended it
    double wall_s;
    double cpu_s; // of all its threads, and of processes that it waited for
    long preempted;
    double peak_bytes;     // the largest resident size of one of its processes
    double gpu_peak_bytes; // what NVML says that all GPUs hold more than before, looked at every 50 ms; NaN: no NVML, or no GPU
                           // is seen
} rg_job_run;
// Runs the line after what an earlier run left is gone; what it prints goes to FOLDER/log. It sees that many GPUs, -1: all.
rg_job_run rg_job_run_once(const char *line, const char *program, const char *folder, int gpus);
void rg_job_last_line(const char *folder, char text[200]); // of its log, which says what went wrong

#endif
