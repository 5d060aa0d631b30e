// SPDX-License-Identifier: MIT
// compared.h: two result files, compared row by row, as files for programs and for pull requests.
#pragma once

#include "../../data/formats/result.h"
#include "../stats/stats.h"

enum { RG_WHY = RG_REASON + 60 };
typedef struct rg_pair_of_rows {
    rg_change word;
    const rg_row *a, *b; // NULL: it has no such row
    rg_ratio ratio;      // b / a; NaN when not both have times
    char why[RG_WHY];    // what the files say of it: of their machines, why it has no times, which parameters differ; ""
} rg_pair_of_rows;

typedef struct rg_compared {
    const char *path[2];
    char *title;   // what is compared: "two commits, a and b, of one machine"
    char *summary; // in words
    double gate;
    bool allow_missing; // what is in A only is skipped in JUnit's report, else an error
    int n, count[RG_CHANGES];
    rg_pair_of_rows *pair;
} rg_compared;

// "autocorr:simd w64,h64,r8,k0 threads=1;isa=0 device hot" of a pair, by B's row where it has one; malloc'ed.
char *rg_pair_name(const rg_pair_of_rows *);
// A table; JUnit's XML, a test case a pair, where SLOWER and BROKEN are failures, `only in A` is an error and UNSURE is skipped; Markdown for a pull
// request. Written whole or not at all. RG_GOOD, or one line and RG_USAGE.
int rg_compared_tsv(const rg_compared *, const char *path);
int rg_compared_junit(const rg_compared *, const char *path);
int rg_compared_markdown(const rg_compared *, const char *path);

// ---- confounder.c -------------------------------------------------------------------------------------------------------

// How much of a difference between two rows may be the doing of their machines' state while they were timed, by what
// the two files say of it: what other processes took of the cores, clocks that were held down, probes that ran at other rates.

// B may have been slowed down so many times more than A, and A than B; both at least 1.
typedef struct rg_confounder {
    double slower, faster;
    char why[RG_WHY]; // "" without any
} rg_confounder;
rg_confounder rg_confounder_find(const rg_result *of_a, const rg_row *a, const rg_result *of_b, const rg_row *b);
// The verdict of an interval of b / a that stands whatever the confounders explain; else UNSURE.
rg_change rg_confounder_judge(const rg_confounder *, const rg_ratio *, double gate);
