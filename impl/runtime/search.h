// SPDX-License-Identifier: MIT
// search.h: which configuration of a variant's parameters to try next. `regather tune` times configurations with bench's
// sampler; a job may try them on its own batches (every configuration computes the same sums, so its results stay valid):
//
//     rg_search s;
//     rg_search_begin(&s, variant, &shape, RG_SEARCH_LOCAL, 12, seed);    // at most 12 configurations
//     while batches are left {
//         int i = rg_search_next(&s);                                     // -1: enough have been tried
//         const int64_t *param = s.config[i < 0 ? s.best : i];
//         ... a batch with param ...
//         if (i >= 0) rg_search_tell(&s, i, seconds / images);            // INFINITY when it failed
//     }
//     rg_search_end(&s);
#pragma once

#include "../suite.h"

#include <stdbool.h>

// EXHAUSTIVE: all in order. RANDOM: any, none twice. LOCAL: the variant's defaults, then at random for a third of the budget,
// then always an untried one that differs from the best in as few parameters as there are.
typedef enum { RG_SEARCH_EXHAUSTIVE, RG_SEARCH_RANDOM, RG_SEARCH_LOCAL, RG_SEARCHES } rg_search_kind;
extern const char *const rg_search_name[RG_SEARCHES];

enum { RG_REFUSALS_MAX = 16 };
typedef struct rg_refusal {
    char reason[160];
    int64_t count;
} rg_refusal;

typedef struct rg_search {
    const rg_variant *variant;
    rg_search_kind kind;
    uint64_t seed;
    int n; // combinations that the variant takes at this shape
    int64_t (*config)[RG_PARAMS_MAX];
    double *cost;                        // told; NaN: not tried yet, INFINITY: failed
    int tried, most;                     // budget
    int best;                            // -1 while none was good
    int64_t combinations, refused;       // declared, and of them refused
    rg_refusal refusal[RG_REFUSALS_MAX]; // by reason; the last counts all further reasons
    int n_refusals;
} rg_search;

// most 0: no limit. among: of each parameter those of its declared values that are tried, a bit each, at least one and of the
// first 64; NULL: all. NULL, or why it cannot be searched.
const char *rg_search_begin(rg_search *, const rg_variant *, const rg_shape *, rg_search_kind, int most, uint64_t seed);
const char *rg_search_begin_among(
    rg_search *, const rg_variant *, const rg_shape *, rg_search_kind, int most, uint64_t seed, const uint64_t *among);
int rg_search_next(rg_search *); // index of config, -1 when the budget or the space is used up
void rg_search_tell(rg_search *, int i, double cost);
// Which of config these parameters are, -1 when none.
int rg_search_find(const rg_search *, const int64_t *param);
void rg_search_end(rg_search *);
