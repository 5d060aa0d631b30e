// SPDX-License-Identifier: MIT
// verify.h: what the checker tells others. The default answer is FAIL; only a completed comparison says PASS.
#pragma once

#include "../../impl/runtime/table.h"
#include <stdbool.h>

typedef enum { RG_FAIL, RG_PASS, RG_SKIP, RG_CRASH, RG_TIMEOUT, RG_STATUSES } rg_status;
extern const char *const rg_status_name[RG_STATUSES];

// One variant at one shape with one set of parameters, over all patterns, both alignments and two runs, in a child process.
typedef struct rg_verdict {
    rg_status status;
    double error;     // largest |found - expected| over all elements, 0 for exact ones
    double tol;       // the bound at that element
    double accesses;  // to memory by kernels on the emulated GPU, a measure of its work; else 0
    char reason[320]; // first fault: "random, seed 7: sums(X0=3,Y0=-7) is 12, expected 14"; or why skipped
    bool lacks;       // skipped for want of memory, a device or a library
    bool of_many;     // it takes several inputs at their largest, or several runs: `trace` would show nothing
} rg_verdict;

typedef struct rg_verify_options {
    const char *device; // "cpu", "host", "gpu0": where DEVICE variants run; NULL: "gpu"
    uint64_t seed;      // of the inputs; the seed of the shape is not used
    double limit_s;     // of one run of the variant; 0: RG_LIMIT_S
    bool no_refuse;     // run what refuse() declines, to show why it does
    unsigned patterns;  // bit mask of rg_pattern; 0: all
    bool once;          // on the emulated GPU one run of each pattern
    bool single;        // so everywhere
} rg_verify_options;

enum { RG_LIMIT_S = 30 };

// One worker serves successive cases of one variant, so the first call forks: a process that uses a GPU itself, or has used
// OpenMP threads, must verify before that (neither survives a fork). rg_verify_end lets the worker go, with its GPU context.
rg_verdict rg_verify_case(const rg_entry *, const rg_shape *, const int64_t *param, int threads, const rg_verify_options *);
void rg_verify_end(void);

// The reference's answer to some inputs: every element of each output or, where reference_at exists, as many as the time
// allowed.
typedef struct rg_answer {
    bool brief;                    // as few elements as can be, and no invariant is asked for
    int64_t n[RG_ARGS_MAX];        // elements known of each argument, 0 of inputs
    int64_t *element[RG_ARGS_MAX]; // which they are; NULL: all, in order
    void *value[RG_ARGS_MAX];      // in the argument's type
} rg_answer;
// arg[] (host memory): inputs, and INOUT arguments as a call finds them; it stays as it is. Elements are chosen by the seed, in
// about `seconds` for all outputs together, at least 64 of each, its corners among them; 0 seconds: a brief answer of 16.
// Freed with rg_answer_free.
void rg_answer_make(rg_answer *, const rg_algo *, const rg_shape *, void *const *arg, double seconds, uint64_t seed);
double rg_answer_bytes(const rg_algo *, const rg_shape *); // memory it takes, predicted
void rg_answer_free(rg_answer *);

// Compares the outputs in arg[] (host memory, inputs as the variant got them) with the reference's answer. Then the invariant,
// unless the answer is brief.
rg_verdict rg_compare_outputs(const rg_entry *, const rg_shape *, const int64_t *param, void *const *arg, const rg_answer *);

// The same inputs, other parameters: every output in arg[] against right[], outputs that rg_compare_outputs has passed. Both
// lie within the bound of the reference, so within twice the bound of each other. No invariant.
rg_verdict rg_compare_alike(const rg_entry *, const rg_shape *, const int64_t *param, void *const *arg, void *const *right);
