// SPDX-License-Identifier: MIT
// compared.h: the comparison of two result files row by row, written as files for programs and for pull requests.
#pragma once

#include "../../data/formats/result.h"
#include "../stats/stats.h"

enum { RG_WHY = RG_REASON + 60 };
typedef struct rg_pair_of_rows {
    rg_change word;
    const rg_row *a, *b; // NULL: the file has no such row
    rg_ratio ratio;      // b / a; NaN unless both have times
    char why[RG_WHY];    // notes from the files: the machines, why there are no times, which parameters differ; ""
} rg_pair_of_rows;

typedef struct rg_compared {
    const char *path[2];
    char *title;   // "two commits, a and b, of one machine"
    char *summary; // one sentence
    double gate;
    bool allow_missing; // rows only in A are skipped in the JUnit report, else errors
    int n, count[RG_CHANGES];
    rg_pair_of_rows *pair;
} rg_compared;

// The name of a pair, by B's row if it has one: "autocorr:simd w64,h64,r8,k0 threads=1;isa=0 device hot"; malloc'ed.
char *rg_pair_name(const rg_pair_of_rows *);
// Write a table; JUnit XML with a test case per pair, where SLOWER and BROKEN are failures, `only in A` is an error and UNSURE
// is skipped; Markdown for a pull request. Whole or not at all. RG_GOOD, or one line and RG_USAGE.
int rg_compared_tsv(const rg_compared *, const char *path);
int rg_compared_junit(const rg_compared *, const char *path);
int rg_compared_markdown(const rg_compared *, const char *path);

// ---- confounder.c -------------------------------------------------------------------------------------------------------

// How much of the difference between two rows the state of their machines may explain, from what the two files record: cores
// used by other processes, throttled clocks, probes with different rates.

// The factors by which B may have been slowed down more than A, and A more than B; both at least 1.
typedef struct rg_confounder {
    double slower, faster;
    char why[RG_WHY]; // "" without any
} rg_confounder;
rg_confounder rg_confounder_find(const rg_result *of_a, const rg_row *a, const rg_result *of_b, const rg_row *b);
// The verdict that the interval of b / a gives whatever the confounders explain; else UNSURE.
rg_change rg_confounder_judge(const rg_confounder *, const rg_ratio *, double gate);
