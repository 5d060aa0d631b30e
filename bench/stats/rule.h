// SPDX-License-Identifier: MIT
// rule.h: when a duel has seen enough, and how often it is then wrong.
//
// What changes from one process to the next (addresses, clocks, neighbours) changes all pairs of a process alike, so a process
// counts as one observation: the median of the logarithms of its paired ratios. The interval is Student's t over processes; a
// bootstrap over a handful of them would be too narrow (five processes: about 85 % where 95 % is said). The data are looked at
// after 5, 7, 10, 14, 20, 28 and 40 processes, each time with an interval that misses the truth in RG_DUEL_ERROR / 7 of all
// cases, so that by Bonferroni's inequality a duel says what is not so in at most RG_DUEL_ERROR of all, whenever it stops.
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
    int held[2]; // the clock was held down behind it
    int first;   // which of the two ran first
} rg_pair;
// CPU time stands still while another process has the core, but the caches are then to be filled again: some 50 us (1 MiB of L2
// at 20 GB/s). A pair is kept when the preemptions that only one of its blocks had cost at most 0.5 % of the shorter one; of
// blocks of 1 ms both were preempted equally often. And when the clock was held down for both or for none.
bool rg_pair_kept(const rg_pair *);

// Median of log(new / old) over the pairs kept, and how many these are; NaN with none.
double rg_process_ratio(const rg_pair *, int n, int *kept);
// new / old over n processes, with the interval of one look.
rg_ratio rg_duel_ratio(const double *log_ratio, int n);
// The verdict after n processes: RG_UNDECIDED between two looks.
rg_change rg_duel_judge(const double *log_ratio, int n, double gate, rg_ratio *);
