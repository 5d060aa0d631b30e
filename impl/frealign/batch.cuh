// SPDX-License-Identifier: MIT
// batch.cuh: the variants called batch: many particles and trials per launch, batched transforms, one warp per ring from a list
// sorted by ring, every sum in a fixed order: the same bits in every run.
//
// Bound: memory. The data of a call, most of it between transforms, stays in L2 when few calls share a launch.
#define VARIANT batch
#define WAY FR_LIST
#define TEXTURE false
#define ROLE RG_GATHER
#define FLAGS 0
#include "steps.cuh"

static const int64_t calls_values[] = {8, 32, 128}, block_values[] = {32}, interpolate_values[] = {16, 32};
static const rg_param params[] = {
    {"calls", calls_values, RG_COUNT(calls_values), 32, "pairs of particle and trial a launch"},
    {"block", block_values, RG_COUNT(block_values), 32, "columns of the blocks of 16 rows that sum"},
    {"interpolate", interpolate_values, RG_COUNT(interpolate_values), 16, "columns of the blocks of 16 rows that interpolate"},
};
