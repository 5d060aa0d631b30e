// SPDX-License-Identifier: MIT
// steps.h: tables of steps and what runs them: `regather steps` (`make reproduce`, `make check-deep`) and `regather record`.
//
// A table has a step a row. Columns of the engine; a table may have more, and leave out all but kind, name and command:
//   kind     let: a variable NAME, its value stands in command; ask: the same, of what the command prints; else a step, of a
//            kind that is its user's
//   name     of the step, its own
//   each     VARIABLE=VALUES: a step for every value; A:B=1:2 3:4 sets several at once; more of these behind ";" are nested
//   when     pattern (fnmatch) of what the head line "# when: ..." says, with variables; other rows are passed over
//   needs    steps that come before, NAME? where this machine can have it; with a slash: files and folders that it is made from
//   product  the file that it makes
//   runs     core (on one core, others go on beside it), gpu (a GPU and a core: cores go on beside it) or alone
//   seconds  what it takes
//   command  for sh, with the functions of functions.sh
// Variables are those of the environment, $name or ${name} in every cell. In commands they are sh's; cells elsewhere are one text.
#pragma once

#include "../../impl/base/process.h"
#include "../../impl/base/tsv.h"

#include <sched.h>
#include <stdint.h>

typedef enum { RG_RUNS_ALONE, RG_RUNS_CORE, RG_RUNS_GPU } rg_step_runs; // beside which others

typedef struct rg_step {
    int row;           // of the table
    char *set, **cell; // its variables, "A=1;B=2"; the row's cells with variables replaced, but the command's
    const char *name, *needs, *product, *command;
    rg_step_runs runs;
    double seconds, cost_s, value; // by the table, and what is known better; worth of having it done
    bool first;                    // makes files for others: chosen with them, and runs before what may run beside others
    bool absent;                   // cannot be had on this machine
    bool done, failed, chosen, ready;
    const char *why; // not begun; NULL
    pid_t pid;       // 0: does not run
    double began_s;
    int core, order; // the place of its core, -1; in which it was chosen
    void *own;       // of the table's user
} rg_step;

typedef struct rg_steps {
    rg_tsv table;
    rg_step *step;
    int n;
} rg_steps;

// ---- table.c ---------------------------------------------------------------------------------------------------------------

// RG_GOOD, or one line and RG_USAGE; to be freed in either case. Variables of let and ask stand in the environment from then on.
int rg_steps_read(rg_steps *, const char *path);
void rg_steps_free(rg_steps *);
const char *rg_step_cell(const rg_steps *, const rg_step *, const char *column); // "" where there is none
rg_step *rg_step_find(const rg_steps *, const char *name);                       // NULL
// The words of a step's command and of `more` behind it, as sh takes them apart, without running anything; ended by NULL,
// malloc'ed together. NULL: one line was printed.
char **rg_step_words(const rg_steps *, const rg_step *, const char *more);
void rg_step_set_variables(const rg_step *); // in the environment
// Whether all steps that this one needs are to keep_on's liking, which is asked until one is not.
bool rg_step_each_need(const rg_steps *, const rg_step *, bool (*keep_on)(rg_step *, void *), void *of);
// A variable from outside, which stands in the words of commands: letters, digits and _./+,:=@%~- alone. RG_GOOD, or one line.
int rg_steps_variable(const char *who, const char *name, const char *value);

// ---- choose.c: what fits the time ------------------------------------------------------------------------------------------

#define RG_NO_TIME "no time"
// Chooses steps by value a second; the seconds that they take together. beside: so many steps of one core at a time.
double rg_steps_choose(rg_steps *, int beside, double budget_s);
// Others took less than was thought: chooses of those that had no time. Whether there is any.
bool rg_steps_choose_again(rg_steps *, int beside, double left_s);

// ---- cores.c: processors ---------------------------------------------------------------------------------------------------

enum { RG_BESIDE_MOST = 64 };
typedef struct rg_cores {
    int beside;              // so many steps of one core at a time beside another one
    int cpu[RG_BESIDE_MOST]; // their processors
    cpu_set_t rest;          // what none of them shares a core with
    bool hidden;             // which processors share a core is not said here, nor shown by times
} rg_cores;
// Of n processors with their lists of siblings, as the system has them, those that may be used. beside 0: half of the cores,
// none where that is hidden. slowed: how many times as long processors take together as alone; asked where the lists hide who
// shares a core.
void rg_cores_share(int n, const char *const siblings[], cpu_set_t usable, bool is_virtual, int64_t beside,
    double slowed(const int cpu[], int n), rg_cores *);
void rg_cores_share_here(int64_t beside, rg_cores *);

// ---- run.c -----------------------------------------------------------------------------------------------------------------

typedef struct rg_steps_run rg_steps_run;
struct rg_steps_run {
    rg_steps *steps;
    rg_cores cores;  // beside 0: one step at a time
    char *folder;    // logs go to FOLDER/NAME.log
    char *functions; // of sh, that commands may call
    double began_s, budget_s;
    bool over; // the time is, or a signal came
    // What the table's user does before a step: it fills in the program, NULL: nothing is left to do; a step for sh is already
    // there. RG_GOOD, or a code that ends the run when what runs has ended.
    int (*begin)(rg_steps_run *, rg_step *, rg_child *);
    int (*end)(rg_steps_run *, rg_step *, int code, double seconds); // after it: says whether it is done or has failed
    void (*waiting)(rg_steps_run *, const rg_step *);                // 50 times a second, of each that runs; NULL
    void (*no_time)(rg_steps_run *, const rg_step *);                // it is not begun; NULL
    void *of;
};
// Runs the chosen steps, one another's needs first, in processes of their own, until all are done or failed or the time is up.
// SIGINT and SIGTERM end what runs. RG_GOOD, or the first code of begin and end.
int rg_steps_go(rg_steps_run *);

// ---- fresh.c ---------------------------------------------------------------------------------------------------------------

// Whether a step was done (stamp) and its product is there, and neither the program nor what it is made from is newer; files in
// FOLDER/log and FOLDER/done do not count.
bool rg_step_is_fresh(const rg_step *, const char *stamp, const char *program, const char *folder);
// What an older program began or made is not gone on with: product and its part are removed.
void rg_step_drop_old(const rg_step *, const char *program);
