// SPDX-License-Identifier: MIT
// judge.h: what the kinds of claims have in common, whatever they are judged by.
#ifndef RG_JUDGE_H
#define RG_JUDGE_H

#include "../report.h"

// A kind of claims.tsv.
typedef struct rg_judge_kind {
    const char *kind;
    rg_judgement (*judge)(const rg_comparison *);
} rg_judge_kind;

// By rows of `bench` and `verify` (judge_rows.c); false: none of its kinds.
bool rg_judge_rows(const char *kind, const rg_comparison *, rg_judgement *);

rg_judgement rg_unjudged(void);
// The outcome of j->value and its interval, and why.
void rg_judge_number(const rg_comparison *, rg_judgement *j);
// The same of a number that the same command, seed and files give again: its interval is itself.
void rg_judge_exact(const rg_comparison *, rg_judgement *j);
// What was shown to exist is no measured number that agrees.
rg_outcome rg_shown(rg_outcome);
// Three digits, without a power of ten.
void rg_print_ratio(double ratio, char text[32]);

#endif
