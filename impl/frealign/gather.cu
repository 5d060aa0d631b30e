// SPDX-License-Identifier: MIT
// gather of cc3m, presb, sigma2, ccoef, ctfapply and ccp as Li, Grigorieff & Cheng (2010) have it: a thread a pixel, blocks of
// 32 x 16 that sum and of 16 x 16 that interpolate, the reference in texture memory, sums by trees in shared memory (their Fig.
// 1A), one particle at a time. A block owns a ring.
//
// The reference goes into the texture once a call, 16 bytes a node moved, which at 500 is a quarter of a millisecond: the paper
// did so once for all particles. `batch` reads it from memory, through L1.
#define WAY FR_TREE
#define TEXTURE true
#define NAME "gather"
#define IDEA "the paper's: thread a pixel, reference in texture memory, sums by trees in shared memory"
#define ROLE RG_GATHER
#define FLAGS 0
#define NEEDS "sm_60"
#include "ctf/apply.cuh"
#include "turn/turns.cuh"

static const int64_t calls_values[] = {1}, block_values[] = {16, 32}, interpolate_values[] = {16, 32};
static const rg_param params[] = {
    {"calls", calls_values, RG_COUNT(calls_values), 1, "pairs of particle and trial a launch"},
    {"block", block_values, RG_COUNT(block_values), 32, "columns of the blocks of 16 rows that sum"},
    {"interpolate", interpolate_values, RG_COUNT(interpolate_values), 16, "columns of the blocks of 16 rows that interpolate"},
};

#include "compare/correlate_variants.cuh"
FR_ROUTINE(ccoef, FR_CCOEF)

RG_VARIANT(cc3m_gather) = FR_DESCRIPTOR(cc3m, "cc3m");
RG_VARIANT(presb_gather) = FR_DESCRIPTOR(presb, "presb");
RG_VARIANT(sigma2_gather) = FR_DESCRIPTOR(sigma2, "sigma2");
RG_VARIANT(ccoef_gather) = FR_DESCRIPTOR(ccoef, "ccoef");

FR_APPLY(gather, "a block owns a ring, sums by trees in shared memory", RG_GATHER, 0, FR_TREE);

FR_TURN(gather, "lags by transforms, norms by trees, reference in texture memory", RG_GATHER, 0, FR_TREE, true);
