// SPDX-License-Identifier: MIT
// scatter.cuh: the variants called scatter: one thread per pixel, which adds to the sums by atomics, one particle at a time.
// This is the obvious port, to which the paper's trees are compared (its Fig. 1A).
//
// Bound: atomics, three to seven per pixel, on few addresses: all pixels of a ring share one address, and so do those of an
// image's sum.
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
