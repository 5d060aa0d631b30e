// SPDX-License-Identifier: MIT
// record.h: what the parts of `regather record` share: the plan, a table of steps (plan.tsv, bench/steps/steps.h), and the record,
// NAME.tsv with the rows of a machine and NAME.tables.tsv with its small tables.
#pragma once

#include "../../data/formats/tables.h"
#include "../steps/steps.h"
#include "../timing/timing.h"

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

// What a record knows of a step of the plan, beside the engine.
struct rg_record_step {
    rg_step_kind kind;
    int gpus;           // that it needs
    const char *claims; // that wait for it
    char **word;        // of the command for bench or tune, ended by NULL; NULL: of others
    const char *shapes;
    rg_row *key; // rows that it makes here
    int n_keys, missing;
    bool energy;
};
static inline rg_record_step *rg_record_of(const rg_step *s) { return s->own; }

// RG_GOOD, or one line and RG_USAGE; to be freed in either case.
int rg_record_plan_read(const char *path, rg_steps *);
// What the steps make here, what of it the record lacks, what that costs and is worth; done where it lacks nothing.
int rg_record_plan_weigh(rg_steps *, const rg_record *, int gpus);
// Whether a row of the record is one of the step's, as today's kernel gives it.
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
    const char **line;    // words of the step that begins
    int folder;           // work, locked; -1
    int rows_new;
} rg_record_run;
// Takes over what a run that was killed left, by its steps' names.
int rg_record_take_left(rg_record_run *);
int rg_record_run_steps(rg_record_run *);
