// SPDX-License-Identifier: MIT
// compared.h: two result files, compared row by row, as files for programs and for pull requests.
#pragma once

#include "../../data/formats/result.h"
#include "../stats/gate.h"

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
