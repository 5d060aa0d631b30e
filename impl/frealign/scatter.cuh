// SPDX-License-Identifier: MIT
// scatter.cuh: the variants called scatter: a thread a pixel, each of which adds itself to the sums by atomics, one particle at
// a time: the port that comes to mind first, and what the paper's trees are to be held against (its Fig. 1A).
//
// Bound: atomics, three to seven a pixel, on few addresses: a ring is one place for all of its pixels, and so is an image's
// sum.
#define VARIANT scatter
#define WAY FR_ATOMIC
#define TEXTURE false
#define ROLE RG_SCATTER
#define FLAGS RG_UNORDERED
#include "steps.cuh"

static const int64_t calls_values[] = {1}, block_values[] = {32}, interpolate_values[] = {16};
static const rg_param params[] = {
    {"calls", calls_values, RG_COUNT(calls_values), 1, "pairs of particle and trial a launch"},
    {"block", block_values, RG_COUNT(block_values), 32, "columns of the blocks of 16 rows that sum"},
    {"interpolate", interpolate_values, RG_COUNT(interpolate_values), 16, "columns of the blocks of 16 rows that interpolate"},
};
