// SPDX-License-Identifier: MIT
// steps.h: reads and runs tables of steps: `regather steps` (`make reproduce`, `make check-deep`) and `regather record`.
//
// A row of a table is a step. Columns of the engine follow; a table may have others, and needs only kind, name and command:
//   kind     let: a variable NAME, its value is in command; ask: the same, its value is the command's output; else a step, of
//            a kind that the table's user defines
//   name     a unique name
//   each     VARIABLE=VALUES: a step for every value; A:B=1:2 3:4 sets several at once; more of these after ";" are nested
//   when     a pattern (fnmatch) for the text of the head line "# when: ...", with variables; other rows are skipped
//   needs    earlier steps, NAME? only if this machine can run it; with a slash: files and folders that it is made from
//   product  the file that it makes
//   runs     core (uses one core, beside others), gpu (uses a GPU and a core, beside steps of kind core) or alone
//   seconds  expected duration
//   command  for sh, with the functions of functions.sh
// Variables come from the environment and stand as $name or ${name} in every cell. sh expands them in commands; every other
// cell remains one text.
#pragma once

#include "../../impl/base/process.h"
#include "../../impl/base/tsv.h"

#include <sched.h>
#include <stdint.h>

typedef enum { RG_RUNS_ALONE, RG_RUNS_CORE, RG_RUNS_GPU } rg_step_runs; // what may run at the same time

typedef struct rg_step {
    int row;           // of the table
    char *set, **cell; // its variables, "A=1;B=2"; the row's cells, expanded except the command
    const char *name, *needs, *product, *command;
    rg_step_runs runs;
    double seconds, cost_s, value; // expected duration by the table; a better estimate; the step's value
    bool first;                    // makes files for others: chosen with them, and runs before steps that share the machine
    bool absent;                   // not available on this machine
    bool done, failed, chosen, ready;
    const char *why; // why it was not begun, or NULL
    pid_t pid;       // 0: not running
    double began_s;
    int core, order; // index of its core or -1; rank in which it was chosen
    void *own;       // owned by the table's user
} rg_step;

typedef struct rg_steps {
    rg_tsv table;
    rg_step *step;
    int n;
} rg_steps;

// ---- table.c ---------------------------------------------------------------------------------------------------------------

// RG_GOOD, or one line and RG_USAGE; free in either case. Sets the variables of let and ask in the environment.
int rg_steps_read(rg_steps *, const char *path);
void rg_steps_free(rg_steps *);
const char *rg_step_cell(const rg_steps *, const rg_step *, const char *column); // "" where there is none
rg_step *rg_step_find(const rg_steps *, const char *name);                       // NULL
// The words of a step's command followed by `more`, split as sh does, without running anything; ended by NULL, malloc'ed in one
// block. NULL: one line was printed.
char **rg_step_words(const rg_steps *, const rg_step *, const char *more);
void rg_step_set_variables(const rg_step *); // sets them in the environment
// Calls keep_on for the steps that this one needs until it returns false; returns whether it never did.
bool rg_step_each_need(const rg_steps *, const rg_step *, bool (*keep_on)(rg_step *, void *), void *of);
// Sets a variable from outside, which becomes part of commands: only letters, digits and _./+,:=@%~- are allowed. RG_GOOD, or
// one line.
int rg_steps_variable(const char *who, const char *name, const char *value);

// ---- choose.c: what fits the time ------------------------------------------------------------------------------------------

#define RG_NO_TIME "no time"
// Chooses steps by value per second; returns the seconds that they take together. beside: steps of one core at a time.
double rg_steps_choose(rg_steps *, int beside, double budget_s);
// After steps took less time than expected: chooses among those that had no time. Returns whether it chose any.
bool rg_steps_choose_again(rg_steps *, int beside, double left_s);

// ---- cores.c: processors ---------------------------------------------------------------------------------------------------

enum { RG_BESIDE_MOST = 64 };
typedef struct rg_cores {
    int beside;              // steps of one core that run beside another step
    int cpu[RG_BESIDE_MOST]; // their processors
    cpu_set_t rest;          // processors that share no core with these
    bool hidden;             // neither the system nor timings show which processors share a core
} rg_cores;
// Chooses among the usable ones of n processors, from their lists of siblings. beside 0: half of the cores, none if siblings
// are hidden. slowed: how many times longer processors take together than alone; called if the lists hide which share a core.
void rg_cores_share(int n, const char *const siblings[], cpu_set_t usable, bool is_virtual, int64_t beside,
    double slowed(const int cpu[], int n), rg_cores *);
void rg_cores_share_here(int64_t beside, rg_cores *);

// ---- run.c -----------------------------------------------------------------------------------------------------------------

typedef struct rg_steps_run rg_steps_run;
struct rg_steps_run {
    rg_steps *steps;
    rg_cores cores;  // beside 0: one step at a time
    char *folder;    // logs go to FOLDER/NAME.log
    char *functions; // sh functions for the commands
    double began_s, budget_s;
    bool over; // the time is up, or a signal came
    // Called before a step: fills in the program, or sets it to NULL if nothing is left to do; a step for sh is filled in
    // already. RG_GOOD, or a code that ends the run after the running steps.
    int (*begin)(rg_steps_run *, rg_step *, rg_child *);
    int (*end)(
        rg_steps_run *, rg_step *, int code, double seconds); // called after it: decides whether it is done or has failed
    void (*waiting)(rg_steps_run *, const rg_step *);         // called 50 times a second for each running step; may be NULL
    void (*no_time)(rg_steps_run *, const rg_step *);         // called for a step that is not begun; may be NULL
    void *of;
};
// Runs the chosen steps, needs first, in child processes, until all are done or failed or the time is up. SIGINT and SIGTERM
// stop the running steps. RG_GOOD, or the first code of begin and end.
int rg_steps_go(rg_steps_run *);

// ---- fresh.c ---------------------------------------------------------------------------------------------------------------

// Returns whether a step was done (stamp), its product exists, and neither the program nor its inputs are newer; files in
// FOLDER/log and FOLDER/done are ignored.
bool rg_step_is_fresh(const rg_step *, const char *stamp, const char *program, const char *folder);
// Removes the product, and its part, that an older program began or made, so that the step starts afresh.
void rg_step_drop_old(const rg_step *, const char *program);
