// SPDX-License-Identifier: MIT
// lockstep.h: many small minimisations at the same time, each by NLopt, all of whose functions are evaluated together: a
// GPU sees one batch of trials a step where the original saw one.
//
// Every problem runs NLopt on a stack of its own, which it leaves at each evaluation; once all that are still under way have left
// theirs, one call evaluates them all. What a problem finds does not depend on its neighbours.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { FR_DIMENSIONS_MAX = 8, FR_PROBLEMS_MAX = 1024 };

typedef struct fr_minimiser {
    const char *optimiser; // "praxis" or "bobyqa"
    int dimensions;
    double unit[FR_DIMENSIONS_MAX]; // of each variable: NLopt works on x / unit
    double step;                    // first step, in units
    double tolerance;               // stops when no variable moves by as much as this, in units
    int64_t most_evaluations;       // of one problem
    uint64_t seed;
} fr_minimiser;

// Values of problems at x (problems * dimensions); those not `requested` have ended and need none. RG_OK, or a code that ends
// it all.
typedef int (*fr_evaluate)(void *context, int64_t problems, const double *x, const bool *requested, double *value);

// Improves x in place; value[] becomes the least found, evaluations[] how many it took. *steps: batches evaluated. RG_OK, the
// code of evaluate, or RG_E_LIBRARY when NLopt is not there or does not know the optimiser. problems <= FR_PROBLEMS_MAX.
int fr_minimise(const fr_minimiser *, int64_t problems, double *x, double *value, int64_t *evaluations, int64_t *steps,
    fr_evaluate, void *context);
// What is touched of their stacks.
double fr_minimise_bytes(int64_t problems);
const char *fr_optimiser_unknown(const char *name); // NULL when fr_minimise takes it, else the reason
