// SPDX-License-Identifier: MIT
// rule.h: when a duel stops, and how often its verdict is then wrong.
//
// Whatever changes between processes (addresses, clocks, neighbours) affects all pairs of a process alike. A process therefore
// counts as one observation: the median of the logarithms of its paired ratios. The interval is Student's t over processes; a
// bootstrap over a few of them would be too narrow (five processes: about 85 % instead of 95 %). The data are tested after 5,
// 7, 10, 14, 20, 28 and 40 processes, each time with an interval that misses the truth in RG_DUEL_ERROR / 7 of all cases. By
// Bonferroni's inequality at most RG_DUEL_ERROR of all duels end with a wrong verdict, whenever they stop.
#pragma once

#include "stats.h"

enum { RG_DUEL_LOOKS = 7, RG_DUEL_PROCESSES_MOST = 40, RG_DUEL_PAIRS_MOST = 2000 };
extern const int rg_duel_look[RG_DUEL_LOOKS];
#define RG_DUEL_ERROR 0.01

// Pairs of blocks of one process.
typedef struct rg_pair {
    double ns[2]; // of a call: old, new
    int calls[2]; // of a block
    long preempted[2];
    int held[2]; // the clock was throttled after it
    int first;   // which of the two ran first
} rg_pair;
// CPU time stops while another process has the core, but the caches must then be filled again: some 50 us (1 MiB of L2 at 20
// GB/s). A pair is kept if the preemptions that only one of its blocks had cost at most 0.5 % of the shorter block (blocks of 1
// ms must have equally many), and if the clock was throttled for both or for neither.
bool rg_pair_kept(const rg_pair *);

// Median of log(new / old) over the kept pairs; NaN without any. *kept: how many.
double rg_process_ratio(const rg_pair *, int n, int *kept);
// new / old over n processes, with the interval of one test.
rg_ratio rg_duel_ratio(const double *log_ratio, int n);
// The verdict after n processes; RG_UNDECIDED between two tests.
rg_change rg_duel_judge(const double *log_ratio, int n, double gate, rg_ratio *);
