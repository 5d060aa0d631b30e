// SPDX-License-Identifier: MIT
// lockstep.h: runs many small minimisations by NLopt at the same time and evaluates their functions together, so that a GPU
// gets one batch of trials per step where the original evaluated one.
//
// Every problem runs NLopt on its own stack, and leaves it at each evaluation. Once all running problems have left theirs, one
// call evaluates them all. The result of a problem does not depend on its neighbours.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { FR_DIMENSIONS_MAX = 8, FR_PROBLEMS_MAX = 1024 };

typedef struct fr_minimiser {
    const char *optimiser; // "praxis" or "bobyqa"
    int dimensions;
    double unit[FR_DIMENSIONS_MAX]; // unit of each variable: NLopt works on x / unit
    double step;                    // first step, in units
    double tolerance;               // stops when every variable moves by less than this, in units
    int64_t most_evaluations;       // limit per problem
    uint64_t seed;
} fr_minimiser;

// Computes the values of problems at x (problems * dimensions); those not `requested` have ended and need none. RG_OK, or a
// code that ends all.
typedef int (*fr_evaluate)(void *context, int64_t problems, const double *x, const bool *requested, double *value);

// Improves x in place. value[]: the least value found; evaluations[]: their number; *steps: batches evaluated. RG_OK, the code
// of evaluate, or RG_E_LIBRARY if NLopt is missing or does not know the optimiser. problems <= FR_PROBLEMS_MAX.
int fr_minimise(const fr_minimiser *, int64_t problems, double *x, double *value, int64_t *evaluations, int64_t *steps,
    fr_evaluate, void *context);
// The memory of their stacks that is touched.
double fr_minimise_bytes(int64_t problems);
const char *fr_optimiser_unknown(const char *name); // NULL: fr_minimise accepts it, else the reason
