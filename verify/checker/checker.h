// SPDX-License-Identifier: MIT
// checker.h: the parts of the checker, private to verify/.
//
// The command (verify_cmd.c) gets the cases of a variant from plan.c and passes them one by one to rg_verify_case (worker.c),
// which hands each to a child process. The child (examine.c, large.c) runs the variant in guarded buffers and compares
// (compare.c) with the reference, which problem.c computes once for all variants. The parent touches neither kernels nor
// devices.
#pragma once

#include "../../impl/runtime/call.h"
#include "verify.h"

enum { RG_VERDICT_REASON = sizeof((rg_verdict *)0)->reason };

// ---- compare.c -----------------------------------------------------------------------------------------------------------

// The largest error so far and the bound there; after a failure, among the elements that fail.
typedef struct rg_tally {
    double error, tol;
    bool failed;
} rg_tally;

// Compares element i: integers as integers, so that 2^53 + 1 is not 2^53; NaN never passes.
bool rg_element_passes(rg_type, const void *found, const void *expected, int64_t i, const rg_tolerance *, rg_tally *);
// The first of n elements that does not pass, or -1; *wrong: their number.
int64_t rg_first_fault(
    rg_type, const void *found, const void *expected, int64_t n, const rg_tolerance *, rg_tally *, int64_t *wrong);
// Writes "sums(X0=3,Y0=-7) is 12, expected 14", by how much it misses the bound, and what the found value equals: poison,
// poison plus the sum, another element, the right value for the inputs before.
void rg_fault_print(const rg_algo *, const rg_shape *, int which, int64_t i, const void *found, const void *expected,
    const void *previous, const rg_tolerance *, char *text, size_t size);
rg_tolerance rg_tolerance_of(const rg_entry *, const rg_shape *, const int64_t *param);

// The allowed |found - expected|: 0 for RG_EXACT.
double rg_allowed(const rg_tolerance *, double expected);
double rg_value_at(rg_type, const void *, int64_t i);
bool rg_is_poison(rg_type, const void *, int64_t i); // never written

// ---- problem.c -----------------------------------------------------------------------------------------------------------

// Inputs of one shape, seed and pattern, and the reference's answer, in read-only memory shared by all workers.
typedef struct rg_problem {
    const rg_algo *algo;
    rg_shape shape;
    rg_pattern pattern;
    void *initial[RG_ARGS_MAX];  // IN and INOUT before the run; NULL for OUT
    void *expected[RG_ARGS_MAX]; // OUT and INOUT after it; NULL for IN
} rg_problem;

// More patterns: two for trace, one input on, number seed - 1 (0: none), and the object of rg_trace; and random inputs with the
// steady arguments (suite.h) of the seed before.
#define RG_ONE_HOT ((rg_pattern)RG_PATTERNS)
#define RG_OBJECT ((rg_pattern)(RG_PATTERNS + 1))
#define RG_RENEWED ((rg_pattern)(RG_PATTERNS + 2))
// Random inputs: arguments 0 to k of this seed, the others of the seed before.
#define RG_STEP(k) ((rg_pattern)(RG_PATTERNS + 3 + (k)))
// Random inputs in which one number of argument k, the j-th drawn (0 or 1), is from the seed before.
#define RG_ELEMENT(k, j) ((rg_pattern)(RG_PATTERNS + 3 + RG_ARGS_MAX + 2 * (k) + (j)))
// Random inputs in which each item (row, image, particle) equals the one before in all but one number, or in the first only.
#define RG_TWINS RG_ELEMENT(RG_ARGS_MAX, 0)
// Random inputs, in each of which two items have exchanged a number, which leaves their sums unchanged.
#define RG_EXCHANGED RG_ELEMENT(RG_ARGS_MAX, 1)
// Bit of the mask of patterns: inputs that change by one argument, or one number, at a time; and twins.
enum { RG_STEPS = RG_PATTERNS };
int rg_traced_argument(const rg_algo *); // the argument whose elements are switched on

void rg_problem_store_open(void);                                                 // call in the parent before the first worker
const rg_problem *rg_problem_find(const rg_algo *, const rg_shape *, rg_pattern); // NULL: not yet computed
const rg_problem *rg_problem_make(const rg_algo *, const rg_shape *, rg_pattern); // computes it; valid until the next call

// ---- examine.c -----------------------------------------------------------------------------------------------------------

// One case, as passed to the child.
typedef struct rg_case {
    rg_shape shape;
    int64_t param[RG_PARAMS_MAX];
    int threads;
    bool brief;        // on the emulated GPU: random inputs only
    bool steps;        // also with the inputs of RG_STEPS
    bool drawn;        // the seed chose its shape
    bool any;          // from a threshold of all variants
    unsigned patterns; // from a threshold: a bit mask; 0: all
} rg_case;

typedef struct rg_job {
    rg_case item;
    uint64_t seed;
    unsigned patterns; // bit mask
    bool no_refuse, once, single;
    struct rg_show *show; // not NULL: runs its inputs instead, and stores the outputs in it
} rg_job;

// Memory shared with the worker, made before it starts: outputs of a variant and of the reference, one answer after the other,
// each argument at its own offset. Answers after `done` were not reached: the variant crashed, or wrote outside its buffers.
typedef struct rg_show {
    rg_pattern pattern; // RG_ONE_HOT or RG_OBJECT
    int64_t n, done;
    int64_t *input; // n input numbers, -1: all off
    size_t answer_bytes, found_at[RG_ARGS_MAX], expected_at[RG_ARGS_MAX];
    char *answer;
} rg_show;

// Tells the parent what the child does next, and its time limit in seconds (0: that of the case).
typedef void rg_phase(const char *what, double limit_s);
void rg_examine(const rg_entry *, const rg_device *, const rg_job *, rg_phase *, rg_verdict *);
// After this, an access of a variant to the fences of its buffers ends in the callback, with a FAIL that names the place.
typedef void rg_last_word(const rg_verdict *);
void rg_examine_fences(rg_last_word *);
extern const char *const rg_pattern_name[RG_PATTERNS];

// The mask of patterns of a case of a plan.
unsigned rg_patterns_of(const rg_entry *, const rg_case *, unsigned asked);

// worker.c: fills show->answer in a worker process; PASS if every run ended with guards and inputs intact.
rg_verdict rg_show_case(
    const rg_entry *, const rg_shape *, const int64_t *param, int threads, rg_show *, const rg_verify_options *);

// verify_cmd.c: returns whether --device selects the entry; NULL: no --device.
bool rg_on_device(const rg_entry *, const char *asked);

// The meaning of an error from device->sync() after a run that returned RG_OK.
#define RG_LATE_ERROR "a launch or another call of CUDA failed"

// ---- large.c -------------------------------------------------------------------------------------------------------------

bool rg_is_large(const rg_entry *, const rg_shape *); // more than a GiB of arguments: rg_examine_large examines it
void rg_examine_large(const rg_entry *, const rg_device *, const rg_job *, rg_phase *, rg_verdict *);

// ---- plan.c --------------------------------------------------------------------------------------------------------------

// The covered part of a variant's possible requests: values of its parameters and pairs of them, words of dimensions (kind,
// rule, turn), shapes, cases. Refused requests do not count.
typedef struct rg_coverage {
    int values, pairs, kinds, shapes, cases;
} rg_coverage;

typedef struct rg_plan {
    rg_case *item;
    int n, first;    // n: cases; first: those that run whatever the budget
    rg_coverage all; // zero: the plan is narrowed, no coverage is printed
} rg_plan;

// Restrictions of a plan; zero or NULL: none.
typedef struct rg_narrow {
    const rg_shape *shape;
    const int64_t *param;
    int threads;
    bool smoke;                                                      // only the shapes of the smoke test
    enum { RG_ALL, RG_NO_THRESHOLDS, RG_CHEAP, RG_DEEP } thresholds; // all, none, only the cheap or only the long ones
    bool no_refuse;
} rg_narrow;

void rg_plan_make(rg_plan *, const rg_entry *, const rg_narrow *, uint64_t seed);
rg_coverage rg_plan_coverage(const rg_plan *, const rg_entry *, const bool *ran); // ran[i]: case i was compared
void rg_plan_free(rg_plan *);
bool rg_starts_program(const rg_variant *); // starts a program for every run, so only the few cases of its budget follow

// ---- threshold.c ---------------------------------------------------------------------------------------------------------

// Passes on the cases of the entry's rows in verify/thresholds.tsv: the long ones (deep) or the others. The caller sets
// threads. A table that cannot be read ends the program with one line.
typedef void rg_threshold(void *of, const rg_case *);
void rg_thresholds(const rg_entry *, bool deep, rg_threshold *, void *of);

// ---- expect.c ------------------------------------------------------------------------------------------------------------

// Checks for every line of a table (plug-in, variant, devices, status, word) that the checker gives this verdict on the
// plug-in's kernel. Prints one line per kernel; returns the exit code.
int rg_expect(const char *path, const rg_verify_options *);
