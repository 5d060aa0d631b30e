// SPDX-License-Identifier: MIT
// steps.h: where a series of times changes its level, and how sure that is.
//
// Model: a level, noise that is exchangeable (any distribution, but no memory), and steps between levels; the values are
// logarithms, so that a step is a ratio. Search: circular binary segmentation (Olshen et al. 2004): of all arcs of the series
// the one whose mean differs most from that of the rest; a change that was undone is an arc as well. It counts when at most
// RG_STEP_ERROR of all permutations of the series have one as good, an exact test whatever the noise is distributed like; then
// the pieces are searched in the same way. The first test decides whether a series has any step at all, so that of series
// without one at most RG_STEP_ERROR get one. Last, each step is moved to where it explains most, and those are dropped whose t
// statistic, with the scatter about all levels, is below the quantile of RG_STEP_ERROR over all places (Bonferroni).
//
// Permutations cannot tell less than their number: of 12 runs a step in the middle can be found, of 25 one with three runs
// after it. A slow drift is no step and appears as several.
#ifndef RG_STEPS_H
#define RG_STEPS_H

#include <stdint.h>

#define RG_STEP_ERROR 0.01
enum { RG_STEP_RUNS = 3 }; // that a level has at least

typedef struct rg_step {
    int at;                  // the first value of the new level
    double ratio, low, high; // new / old level, with its 95 % interval (Student's t, the scatter about all levels)
    double chance;           // share of permutations with a change as good as that which led to it
} rg_step;

// The steps of n values, in order, and in level[i] that of value i; returns how many, at most n / RG_STEP_RUNS.
int rg_steps_find(const double *value, int n, uint64_t seed, rg_step *step, double *level);

#endif
