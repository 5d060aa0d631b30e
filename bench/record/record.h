// SPDX-License-Identifier: MIT
// record.h: what the parts of `regather record` share: the plan, a table of steps (plan.tsv), and the record, NAME.tsv with the
// rows of a machine and NAME.tables.tsv with its small tables.
#ifndef RG_RECORD_H
#define RG_RECORD_H

#include "../../data/formats/tables.h"
#include "../timing/lineup.h"

#include <sched.h>
#include <sys/types.h>

// ---- store.c: the record ---------------------------------------------------------------------------------------------------

typedef struct rg_record {
    char *path, *tables_path;
    rg_result rows; // its head is that of the last run; sources and hashes of inputs grow with the rows
    rg_tables tables;
    rg_row *probe; // rates that steps of this run measured: those after them need not
    int n_probes;
    char serial[48];  // this machine's, hashed
    bool without_gpu; // of CPUs alone: what a GPU gave is left out
    double widest;    // rows whose interval is a larger part of the median are measured again; 0: however wide, none is
} rg_record;
// Takes over what a run of this name left, unfinished files too. RG_GOOD, or one line.
int rg_record_open(rg_record *, const char *name, bool resume);
// Rows of a result file that the record lacks, or whose kernels have changed in it, and that hold today. own: of a run on this
// machine. Tells what is left out, and why. RG_USAGE where the file is not of the same kind of machine, or differs in an input.
int rg_record_merge(rg_record *, const char *path, bool own);
// The head of a file without rows, of this machine and this run, becomes the record's. RG_USAGE where it is of another kind.
int rg_record_here(rg_record *, const char *path);
int rg_record_save(rg_record *);
// What the step goes on with by --resume, in `path`: its rows that the record has, and the rates that this run knows.
// cores: those that it may use, 0: all.
typedef struct rg_record_step rg_record_step;
int rg_record_seed(const rg_record *, const rg_record_step *, int cores, const char *path);
// Whether the record has the row as today's kernel gives it: passed with an interval, and with its energy if that is asked for.
bool rg_record_has(const rg_record *, const rg_row *key, bool energy);
bool rg_record_is_wide(const rg_record *, const rg_row *key); // as `widest` has it
int rg_record_mixed(const rg_record *, char text[400]);       // machines whose rows it has; which, in words
void rg_record_free(rg_record *);

// ---- plan.c: the table -----------------------------------------------------------------------------------------------------

typedef enum { RG_STEP_DATA, RG_STEP_BENCH, RG_STEP_TUNE, RG_STEP_TABLE } rg_step_kind;
typedef enum { RG_RUNS_CORE, RG_RUNS_GPU, RG_RUNS_ALONE } rg_step_runs; // beside which others

struct rg_record_step {
    char *name, *needs, *claims, *command;
    rg_step_kind kind;
    rg_step_runs runs;
    int gpus;
    double seconds; // the whole step, by the table
    rg_row *key;    // rows that it makes here
    int n_keys, missing;
    bool energy, done, failed, chosen, ready;
    double cost_s, value;
    const char *why; // not begun
    pid_t pid;
    double began_s;
    int core;  // the place of its core, -1
    int order; // in which it was chosen
};

typedef struct rg_record_plan {
    rg_record_step *step;
    int n, gpus; // steps; GPUs of this machine
} rg_record_plan;
// Steps of the table with $name replaced by the rows of kind `let`, and $work. RG_GOOD, or one line and RG_USAGE.
int rg_record_plan_read(const char *path, const char *work, rg_record_plan *);
// What the steps make here, what of it the record lacks, what that costs and is worth; done where it lacks nothing.
int rg_record_plan_weigh(rg_record_plan *, const rg_record *, int gpus);
// Whether a row of the record is one of the step's, as today's kernel gives it.
bool rg_record_step_has(const rg_record *, const rg_record_step *, const rg_row *);
int rg_record_rows_of(const rg_record *, const rg_record_step *);
void rg_record_plan_free(rg_record_plan *);
// Whether all steps that this one needs are to keep_on's liking, which is asked until one is not.
bool rg_record_each_need(const rg_record_plan *, const rg_record_step *, bool (*keep_on)(rg_record_step *, void *), void *of);
// The words of a command, apart by blanks but for those between double quotes; malloc'ed together, ended by NULL.
char **rg_record_words(const char *command);

// ---- cores.c: processors ---------------------------------------------------------------------------------------------------

enum { RG_BESIDE_MOST = 64 };
typedef struct rg_record_cores {
    int beside;              // so many steps of one core at a time beside another one
    int cpu[RG_BESIDE_MOST]; // their processors
    cpu_set_t rest;          // what none of them shares a core with
    bool hidden;             // which processors share a core is not said here, nor shown by times
} rg_record_cores;
// Of n processors with their lists of siblings, as the system has them, those that may be used. beside 0: half of the cores,
// none where that is hidden. slowed: how many times as long processors take together as alone; asked where the lists hide who
// shares a core.
void rg_record_share(int n, const char *const siblings[], cpu_set_t usable, bool is_virtual, int64_t beside,
    double slowed(const int cpu[], int n), rg_record_cores *);
void rg_record_share_here(int64_t beside, rg_record_cores *);

// ---- choose.c: what fits ---------------------------------------------------------------------------------------------------

#define RG_NO_TIME "no time"
// Chooses steps by value a second; the seconds that they take together.
double rg_record_choose(rg_record_plan *, int beside, double budget_s);
// Others took less than was thought: chooses of those that had no time. Whether there is any.
bool rg_record_choose_again(rg_record_plan *, int beside, double left_s);
void rg_record_show(const rg_record_plan *, const rg_record_cores *, int gpus, double expected_s);

// ---- run.c: the chosen steps -----------------------------------------------------------------------------------------------

typedef struct rg_record_run {
    const char *out; // the record's name
    rg_record record;
    rg_record_plan plan;
    rg_record_cores cores;
    char *program, *work, *words; // this program, the folder of the steps' files, the shell's words that they may use
    int folder;                   // work, locked; -1
    double began_s, budget_s;
    bool over; // the time is
    int rows_new;
} rg_record_run;
// From now on a signal ends what runs and keeps what it made. Takes over what a run that was killed left, by its steps' names.
int rg_record_run_begin(rg_record_run *);
int rg_record_run_steps(rg_record_run *);

#endif
