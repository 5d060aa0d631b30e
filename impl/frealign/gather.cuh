// SPDX-License-Identifier: MIT
// gather.cuh: the variants called gather, as Li, Grigorieff & Cheng (2010) have it: a thread a pixel, blocks of 32 x 16 that
// sum and of 16 x 16 that interpolate, the reference in texture memory, sums by trees in shared memory (their Fig. 1A), one
// particle at a time. A block owns a ring. The reference goes into the texture once a call, 16 bytes a node moved; the paper
// did so once for all particles.
#define VARIANT gather
#define WAY FR_TREE
#define TEXTURE true
#define ROLE RG_GATHER
#define FLAGS 0
#include "steps.cuh"

static const int64_t calls_values[] = {1}, block_values[] = {16, 32}, interpolate_values[] = {16, 32};
static const rg_param params[] = {
    {"calls", calls_values, RG_COUNT(calls_values), 1, "pairs of particle and trial a launch"},
    {"block", block_values, RG_COUNT(block_values), 32, "columns of the blocks of 16 rows that sum"},
    {"interpolate", interpolate_values, RG_COUNT(interpolate_values), 16, "columns of the blocks of 16 rows that interpolate"},
};
