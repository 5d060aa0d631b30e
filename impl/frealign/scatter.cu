// SPDX-License-Identifier: MIT
// scatter of cc3m, presb, sigma2, ccoef, ctfapply and ccp: a thread a pixel, each of which adds itself to the sums by atomics,
// one particle at a time: the port that comes to mind first, and what the paper's trees are to be held against (its Fig. 1A).
//
// Bound: atomics, three to seven a pixel, on few addresses: rings are 250 places for 98,000 pixels, and a sum over the image is
// one. Prediction, not a measurement: some ten times slower than the trees of gather at 500 x 500.
#define WAY FR_ATOMIC
#define TEXTURE false
#define NAME "scatter"
#define IDEA "thread a pixel, sums by double-precision atomics"
#define ROLE RG_SCATTER
#define FLAGS RG_UNORDERED
#define NEEDS "sm_60"
#include "ctf/apply.cuh"
#include "turn/turns.cuh"

static const int64_t calls_values[] = {1}, block_values[] = {32}, interpolate_values[] = {16};
static const rg_param params[] = {
    {"calls", calls_values, RG_COUNT(calls_values), 1, "pairs of particle and trial a launch"},
    {"block", block_values, RG_COUNT(block_values), 32, "columns of the blocks of 16 rows that sum"},
    {"interpolate", interpolate_values, RG_COUNT(interpolate_values), 16, "columns of the blocks of 16 rows that interpolate"},
};

#include "compare/correlate_variants.cuh"
FR_ROUTINE(ccoef, FR_CCOEF)

RG_VARIANT(cc3m_scatter) = FR_DESCRIPTOR(cc3m, "cc3m");
RG_VARIANT(presb_scatter) = FR_DESCRIPTOR(presb, "presb");
RG_VARIANT(sigma2_scatter) = FR_DESCRIPTOR(sigma2, "sigma2");
RG_VARIANT(ccoef_scatter) = FR_DESCRIPTOR(ccoef, "ccoef");

FR_APPLY(scatter, "thread a pixel, rings and the mask's mean by atomics", RG_SCATTER, RG_UNORDERED, FR_ATOMIC);

FR_TURN(scatter, "lags by transforms, norms by atomics", RG_SCATTER, RG_UNORDERED, FR_ATOMIC, false);
