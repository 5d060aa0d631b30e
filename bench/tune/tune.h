// SPDX-License-Identifier: MIT
// tune.h: private to tune*.c: the command `tune`, which searches the parameters of one variant at one shape.
//
//     tune.c         the command line and the order of the work
//     gate.c         verifies a configuration, in a process without a GPU context
//     time.c         times one quickly; then the best together with the defaults and the published ones
//     write.c        writes the table, the result file, data/tuned
#pragma once

#include <sys/types.h>

#include "../timing/timing.h"
#include "../timing/sample.h"
#include "../../impl/runtime/search.h"

// The checker in another process: its workers are forked from one that never opens a GPU, so that configurations can be
// verified and timed in turn.
typedef struct rg_gate {
    pid_t pid;
    int ask, answer; // pipes; -1 while closed
} rg_gate;
int rg_gate_open(rg_gate *, const rg_entry *, int threads, const char *device, uint64_t seed); // RG_GOOD or one line and a code
// Verifies at the check shapes of most work and of most data that the variant accepts with these parameters (SKIP: none).
rg_verdict rg_gate_verdict(rg_gate *, const int64_t *param);
void rg_gate_close(rg_gate *);

// A named configuration: the defaults, or one of impl/ALGO/presets.tsv.
typedef struct rg_named {
    char name[48];
    int64_t param[RG_PARAMS_MAX];
} rg_named;
enum { RG_NAMED_MAX = 16, RG_FINALISTS = 8 };

typedef struct rg_tune {
    // Options.
    rg_given given;
    const char *shape_text, *out, *tuned;
    rg_list kept;    // parameters that keep their values
    int kind;        // an rg_search_kind; -1: not given
    double budget_s; // 0: none
    int64_t configs; // 0: all
    bool energy, resume;

    const rg_entry *entry;
    rg_shape shape;
    char *folder; // of the tuned file; NULL: writes none
    int threads;
    rg_search search;
    rg_named named[RG_NAMED_MAX];
    int n_named;
    rg_gate gate;
    const rg_device *gpu;
    rg_head head;
    rg_out file;
    rg_inputs in;             // the same for every configuration
    void *right[RG_ARGS_MAX]; // outputs for these inputs, after they passed
    bool judged;
    int wrong; // configurations that did not pass
    int code;
    rg_progress progress;

    rg_measurement *final; // measurements of the last rounds, timed together
    int n_final;
} rg_tune;

// time.c
int rg_tune_screen(rg_tune *); // verifies, times and prints every configuration of the search, and adds its row
int rg_tune_finals(rg_tune *); // times the RG_FINALISTS best and the named ones again, in common rounds; replaces their rows
const rg_measurement *rg_tune_best(const rg_tune *);                    // NULL: none passed
const rg_measurement *rg_tune_named(const rg_tune *, const rg_named *); // its measurement in the finals, or NULL

// write.c
int rg_tune_read_presets(rg_tune *); // adds those of this variant to named[]; RG_GOOD, or one line and RG_USAGE
void rg_tune_show_space(const rg_tune *, FILE *);
void rg_tune_show(const rg_tune *, FILE *);
int rg_tune_store(const rg_tune *);
