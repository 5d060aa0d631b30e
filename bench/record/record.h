// SPDX-License-Identifier: MIT
// record.h: shared by the parts of `regather record`: the plan, a table of steps (plan.tsv, bench/steps/steps.h), and the
// record, NAME.tsv with the rows of a machine and NAME.tables.tsv with its small tables.
#pragma once

#include "../../data/formats/tables.h"
#include "../steps/steps.h"
#include "../timing/timing.h"

// ---- store.c: the record ---------------------------------------------------------------------------------------------------

typedef struct rg_record {
    char *path, *tables_path;
    rg_result rows; // the head is that of the last run; its hashes of sources and inputs grow with the rows
    rg_tables tables;
    rg_row *probe; // rates that steps of this run measured, which later steps use
    int n_probes;
    char serial[48];  // this machine's, hashed
    bool without_gpu; // a record of CPUs only: rows of a GPU are left out
    double widest;    // rows whose interval is a larger part of the median are measured again; 0: none
} rg_record;
// Takes over the record of this name, unfinished files too. RG_GOOD, or one line.
int rg_record_open(rg_record *, const char *name, bool resume);
// Adds the rows of a result file that the record lacks, or whose kernels have changed in it, and that are valid today. own:
// from a run on this machine. Prints what is left out, and why. RG_USAGE: a file from another kind of machine, or with another
// input.
int rg_record_merge(rg_record *, const char *path, bool own);
// Makes the head of a file without rows, of this machine and this run, the record's. RG_USAGE: another kind of machine.
int rg_record_here(rg_record *, const char *path);
int rg_record_save(rg_record *);
// Writes to `path` the rows from which the step resumes by --resume: those that the record has, and the rates that this run
// knows. cores: those that it may use, 0: all.
typedef struct rg_record_step rg_record_step;
int rg_record_seed(const rg_record *, const rg_record_step *, int cores, const char *path);
// Returns whether the record has the row for today's kernel: passed with an interval, and with its energy if requested.
bool rg_record_has(const rg_record *, const rg_row *key, bool energy);
bool rg_record_is_wide(const rg_record *, const rg_row *key); // wider than `widest`
int rg_record_mixed(const rg_record *, char text[400]);       // number of machines with rows in it; text: which
void rg_record_free(rg_record *);

// ---- plan.c: the table -----------------------------------------------------------------------------------------------------

typedef enum { RG_STEP_DATA, RG_STEP_BENCH, RG_STEP_TUNE, RG_STEP_TABLE } rg_step_kind;

// Data of a step of the plan, besides the engine's.
struct rg_record_step {
    rg_step_kind kind;
    int gpus;           // GPUs that it needs
    const char *claims; // claims that need it
    char **word;        // words of a bench or tune command, ended by NULL; NULL: another command
    const char *shapes;
    rg_row *key; // rows that it makes here
    int n_keys, missing;
    bool energy;
};
static inline rg_record_step *rg_record_of(const rg_step *s) { return s->own; }

// RG_GOOD, or one line and RG_USAGE; free in either case.
int rg_record_plan_read(const char *path, rg_steps *);
// Computes the rows that the steps make here, which of them the record lacks, and their cost and value; a step with none
// missing is done.
int rg_record_plan_weigh(rg_steps *, const rg_record *, int gpus);
// Returns whether a row of the record is one of the step's, for today's kernel.
bool rg_record_step_has(const rg_record *, const rg_record_step *, const rg_row *);
int rg_record_rows_of(const rg_record *, const rg_record_step *);
void rg_record_show(const rg_steps *, const rg_cores *, int gpus, double expected_s);
void rg_record_plan_free(rg_steps *);

// ---- run.c: the chosen steps -----------------------------------------------------------------------------------------------

typedef struct rg_record_run {
    const char *out; // the record's name
    rg_record record;
    rg_steps plan;
    rg_steps_run run;
    char *program, *work; // this program, the folder of the steps' files
    const char **line;    // words of the step that starts
    int folder;           // descriptor of `work`, locked; -1
    int rows_new;
} rg_record_run;
// Takes over the files that a killed run left, by its steps' names.
int rg_record_take_left(rg_record_run *);
int rg_record_run_steps(rg_record_run *);
