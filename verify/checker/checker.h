// SPDX-License-Identifier: MIT
// checker.h: the parts of the checker, private to verify/.
//
// The command (verify_cmd.c) asks plan.c for the cases of a variant and hands them one by one to rg_verify_case (worker.c),
// which passes each to a child process. The child (examine.c, large.c) runs the variant in guarded buffers and compares
// (compare.c) with the reference, which problem.c computes once for all variants. The parent touches neither kernels nor
// devices.
#pragma once

#include "../../impl/runtime/call.h"
#include "verify.h"

enum { RG_VERDICT_REASON = sizeof((rg_verdict *)0)->reason };

// ---- compare.c -----------------------------------------------------------------------------------------------------------

// The largest error met so far and the bound there: of the elements that fail, once one does.
typedef struct rg_tally {
    double error, tol;
    bool failed;
} rg_tally;

// How element i passes: integers are compared as integers, so that 2^53 + 1 is not 2^53; NaN never passes.
bool rg_element_passes(rg_type, const void *found, const void *expected, int64_t i, const rg_tolerance *, rg_tally *);
// First of n elements that does not pass, or -1; *wrong counts all of them.
int64_t rg_first_fault(
    rg_type, const void *found, const void *expected, int64_t n, const rg_tolerance *, rg_tally *, int64_t *wrong);
// "sums(X0=3,Y0=-7) is 12, expected 14", by how much a bound was missed, and what the found value looks like: poison, added to it,
// another element's, the right one of the inputs before.
void rg_fault_print(const rg_algo *, const rg_shape *, int which, int64_t i, const void *found, const void *expected,
    const void *previous, const rg_tolerance *, char *text, size_t size);
rg_tolerance rg_tolerance_of(const rg_entry *, const rg_shape *, const int64_t *param);

// |found - expected| allowed: 0 for RG_EXACT.
double rg_allowed(const rg_tolerance *, double expected);
double rg_value_at(rg_type, const void *, int64_t i);
bool rg_is_poison(rg_type, const void *, int64_t i); // never written

// ---- problem.c -----------------------------------------------------------------------------------------------------------

// Inputs of one shape, seed and pattern, and the answer of the reference. Lives in memory shared by all workers, readable only.
typedef struct rg_problem {
    const rg_algo *algo;
    rg_shape shape;
    rg_pattern pattern;
    void *initial[RG_ARGS_MAX];  // IN and INOUT before the run; NULL for OUT
    void *expected[RG_ARGS_MAX]; // OUT and INOUT after it; NULL for IN
} rg_problem;

// Two more patterns, for trace: one input switched on, number seed - 1 (0: none), and the object of rg_trace. And random inputs
// with the steady arguments (suite.h) of the seed before.
#define RG_ONE_HOT ((rg_pattern)RG_PATTERNS)
#define RG_OBJECT ((rg_pattern)(RG_PATTERNS + 1))
#define RG_RENEWED ((rg_pattern)(RG_PATTERNS + 2))
// Random inputs, arguments 0 to k of this seed and the others of the seed before.
#define RG_STEP(k) ((rg_pattern)(RG_PATTERNS + 3 + (k)))
// Random inputs, of which one number of argument k alone, the j-th drawn (0 or 1), is of the seed before.
#define RG_ELEMENT(k, j) ((rg_pattern)(RG_PATTERNS + 3 + RG_ARGS_MAX + 2 * (k) + (j)))
// Random inputs in which items (rows, images, particles) agree with the one before in all but one number, or in the first alone.
#define RG_TWINS RG_ELEMENT(RG_ARGS_MAX, 0)
// Random inputs, in each of which two items have exchanged a number: what their sums do not tell.
#define RG_EXCHANGED RG_ELEMENT(RG_ARGS_MAX, 1)
// In the mask of patterns: inputs that change by one argument, or one number, at a time; and twins.
enum { RG_STEPS = RG_PATTERNS };
int rg_traced_argument(const rg_algo *); // whose elements are switched on

void rg_problem_store_open(void);                                                 // in the parent, before the first worker
const rg_problem *rg_problem_find(const rg_algo *, const rg_shape *, rg_pattern); // NULL when not yet computed
const rg_problem *rg_problem_make(const rg_algo *, const rg_shape *, rg_pattern); // computes it; valid until the next call

// ---- examine.c -----------------------------------------------------------------------------------------------------------

// One case as the child is given it.
typedef struct rg_case {
    rg_shape shape;
    int64_t param[RG_PARAMS_MAX];
    int threads;
    bool brief;        // on the emulated GPU: random inputs only
    bool steps;        // with inputs of RG_STEPS
    bool drawn;        // its shape is drawn from the seed
    bool any;          // of a threshold of all variants
    unsigned patterns; // of a threshold: a bit mask; 0: all
} rg_case;

typedef struct rg_job {
    rg_case item;
    uint64_t seed;
    unsigned patterns; // bit mask
    bool no_refuse, once, single;
    struct rg_show *show; // not NULL: runs the inputs that it lists instead, and leaves in it what came out
} rg_job;

// In memory shared with the worker, made before that starts: a variant's outputs beside the reference's, one answer after the
// other, each argument at an offset of its own. Answers beyond `done` were not reached: the variant crashed, or wrote where it
// must not.
typedef struct rg_show {
    rg_pattern pattern; // RG_ONE_HOT or RG_OBJECT
    int64_t n, done;
    int64_t *input; // n numbers, -1: none on
    size_t answer_bytes, found_at[RG_ARGS_MAX], expected_at[RG_ARGS_MAX];
    char *answer;
} rg_show;

// What the child is about to do; the parent allows it so many seconds (0: the limit of the case).
typedef void rg_phase(const char *what, double limit_s);
void rg_examine(const rg_entry *, const rg_device *, const rg_job *, rg_phase *, rg_verdict *);
// From now on an access of a variant to the fences of its buffers ends in this, with a FAIL that names the place.
typedef void rg_last_word(const rg_verdict *);
void rg_examine_fences(rg_last_word *);
extern const char *const rg_pattern_name[RG_PATTERNS];

// The mask of patterns of a case of a plan.
unsigned rg_patterns_of(const rg_entry *, const rg_case *, unsigned asked);

// worker.c: fills show->answer by a worker process; PASS when every run ended with its guards and inputs intact.
rg_verdict rg_show_case(
    const rg_entry *, const rg_shape *, const int64_t *param, int threads, rg_show *, const rg_verify_options *);

// verify_cmd.c: whether --device asks for the entry; NULL: no --device.
bool rg_on_device(const rg_entry *, const char *asked);

// What device->sync() tells after a run that returned RG_OK.
#define RG_LATE_ERROR "a launch or another call of CUDA failed"

// ---- large.c -------------------------------------------------------------------------------------------------------------

bool rg_is_large(const rg_entry *, const rg_shape *); // more than a GiB of arguments: examined in rg_examine_large's way
void rg_examine_large(const rg_entry *, const rg_device *, const rg_job *, rg_phase *, rg_verdict *);

// ---- plan.c --------------------------------------------------------------------------------------------------------------

// How much of what a variant can be asked for: values of its parameters and pairs of them, words of dimensions (kind, rule,
// turn), shapes, and cases. What it refuses is not counted.
typedef struct rg_coverage {
    int values, pairs, kinds, shapes, cases;
} rg_coverage;

typedef struct rg_plan {
    rg_case *item;
    int n, first;    // cases, and those that come before any budget
    rg_coverage all; // zero: narrowed, nothing is stated
} rg_plan;

// What narrows a plan; zero or NULL: not narrowed.
typedef struct rg_narrow {
    const rg_shape *shape;
    const int64_t *param;
    int threads;
    bool smoke;                                                      // at the shapes of the smoke test
    enum { RG_ALL, RG_NO_THRESHOLDS, RG_CHEAP, RG_DEEP } thresholds; // as ever, without them, the cheap or the long ones alone
    bool no_refuse;
} rg_narrow;

void rg_plan_make(rg_plan *, const rg_entry *, const rg_narrow *, uint64_t seed);
rg_coverage rg_plan_coverage(const rg_plan *, const rg_entry *, const bool *ran); // ran[i]: case i was compared
void rg_plan_free(rg_plan *);
bool rg_starts_program(const rg_variant *); // for every run: no case follows but the few of its budget

// ---- threshold.c ---------------------------------------------------------------------------------------------------------

// Hands over the cases of each row of the entry in verify/thresholds.tsv, of those that take long (deep) or of the others; threads are left to the caller. A table that cannot be read ends the program with one line.
typedef void rg_threshold(void *of, const rg_case *);
void rg_thresholds(const rg_entry *, bool deep, rg_threshold *, void *of);

// ---- expect.c ------------------------------------------------------------------------------------------------------------

// Demands of every line of a table (plug-in, variant, devices, status, word) that the checker says just that of the plugged-in
// kernel. Exit code; prints one line a kernel.
int rg_expect(const char *path, const rg_verify_options *);
