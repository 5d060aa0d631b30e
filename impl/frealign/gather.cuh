// SPDX-License-Identifier: MIT
// gather.cuh: the variants called gather, as in Li, Grigorieff & Cheng (2010): one thread per pixel, blocks of 32 x 16 that sum
// and of 16 x 16 that interpolate, the reference in texture memory, sums by trees in shared memory (their Fig. 1A), one
// particle at a time. A block owns a ring. The reference is copied to the texture once for all particles, as in the paper, or
// with upload = 1 once per call, 16 bytes a node moved.
#define VARIANT gather
#define WAY FR_TREE
#define TEXTURE true
#define ROLE RG_GATHER
#define FLAGS 0
#include "steps.cuh"

static const int64_t calls_values[] = {1}, block_values[] = {16, 32}, interpolate_values[] = {16, 32}, upload_values[] = {0, 1};
static const rg_param params[] = {
    {"calls", calls_values, RG_COUNT(calls_values), 1, "pairs of particle and trial a launch"},
    {"block", block_values, RG_COUNT(block_values), 32, "columns of the blocks of 16 rows that sum"},
    {"interpolate", interpolate_values, RG_COUNT(interpolate_values), 16, "columns of the blocks of 16 rows that interpolate"},
    {"upload", upload_values, RG_COUNT(upload_values), 0, "the texture filled once for all calls (0), or by every call (1)"},
};
