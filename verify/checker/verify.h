// SPDX-License-Identifier: MIT
// verify.h: the checker's interface. The default verdict is FAIL; only a completed comparison gives PASS.
#pragma once

#include "../../impl/runtime/table.h"
#include <stdbool.h>

typedef enum { RG_FAIL, RG_PASS, RG_SKIP, RG_CRASH, RG_TIMEOUT, RG_STATUSES } rg_status;
extern const char *const rg_status_name[RG_STATUSES];

// The verdict on one variant at one shape with one set of parameters, over all patterns, both alignments and two runs, in a
// child process.
typedef struct rg_verdict {
    rg_status status;
    double error;     // largest |found - expected| over all elements, 0 for exact ones
    double tol;       // the bound for that element
    double accesses;  // memory accesses by kernels on the emulated GPU, a measure of work; else 0
    char reason[320]; // first fault: "random, seed 7: sums(X0=3,Y0=-7) is 12, expected 14"; or why it was skipped
    bool lacks;       // skipped because memory, a device or a library is missing
    bool of_many;     // the fault needs several inputs at their largest, or several runs: `trace` would not show it
} rg_verdict;

typedef struct rg_verify_options {
    const char *device; // "cpu", "host", "gpu0": where DEVICE variants run; NULL: "gpu"
    uint64_t seed;      // of the inputs; the seed of the shape is not used
    double limit_s;     // of one run of the variant; 0: RG_LIMIT_S
    bool no_refuse;     // also runs what refuse() declines, to show the reason
    unsigned patterns;  // bit mask of rg_pattern; 0: all
    bool once;          // on the emulated GPU, one run per pattern
    bool single;        // one run per pattern everywhere
} rg_verify_options;

enum { RG_LIMIT_S = 30 };

// One worker serves successive cases of a variant, so the first call forks. A process that uses a GPU itself, or has used
// OpenMP threads, must verify before that, because neither survives a fork. rg_verify_end ends the worker and its GPU context.
rg_verdict rg_verify_case(const rg_entry *, const rg_shape *, const int64_t *param, int threads, const rg_verify_options *);
void rg_verify_end(void);

// The reference's answer to some inputs: every element of each output or, if reference_at exists, as many as the time allows.
typedef struct rg_answer {
    bool brief;                    // as few elements as possible, and no test of the invariant
    int64_t n[RG_ARGS_MAX];        // known elements of each argument, 0 for inputs
    int64_t *element[RG_ARGS_MAX]; // which they are; NULL: all, in order
    void *value[RG_ARGS_MAX];      // in the argument's type
} rg_answer;
// arg[] (host memory): inputs, and INOUT arguments as a call finds them; not changed. The seed chooses the elements: as many as
// take about `seconds` for all outputs together, at least 64 of each, corners included; 0 seconds: a brief answer of 16. Free
// with rg_answer_free.
void rg_answer_make(rg_answer *, const rg_algo *, const rg_shape *, void *const *arg, double seconds, uint64_t seed);
double rg_answer_bytes(const rg_algo *, const rg_shape *); // predicted memory
void rg_answer_free(rg_answer *);

// Compares the outputs in arg[] (host memory, inputs as the variant got them) with the reference's answer, then tests the
// invariant unless the answer is brief.
rg_verdict rg_compare_outputs(const rg_entry *, const rg_shape *, const int64_t *param, void *const *arg, const rg_answer *);

// Compares every output in arg[] with right[], outputs for the same inputs and other parameters that passed rg_compare_outputs.
// Both lie within the bound of the reference, so within twice the bound of each other. Does not test the invariant.
rg_verdict rg_compare_alike(const rg_entry *, const rg_shape *, const int64_t *param, void *const *arg, void *const *right);
