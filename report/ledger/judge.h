// SPDX-License-Identifier: MIT
// judge.h: judges claims by rows. A claim is data: the rows that it compares, the limit and the side of it that the paper
// states, and the bounds between which a number agrees with the paper's. The side has priority: a number beyond it contradicts
// the claim whatever the bounds.
#pragma once

#include "claims.h"
#include "numbers.h"
#include "verdict.h"
#include <string.h>

// The comparison of a claim, from the columns of claims.tsv of these names.
typedef struct rg_comparison {
    rg_rows rows;
    const char *kind, *a, *b, *size, *scopes, *direction;
    const char *unit; // of the published number
    double low, high;
    double host_W; // added to the power of the GPUs
} rg_comparison;

rg_comparison rg_comparison_of(const rg_claims *, int claim, rg_rows);
rg_judgement rg_judge(const rg_comparison *);
// Judges claim i by rows of every knowledge up to that of `rows`, best first; records the knowledge that it rests on.
rg_judgement rg_judge_claim(const rg_claims *, int claim, rg_rows);

// The verdict on a number: its whole interval must be on the side of the direction (">1", "<0.9"; "": only the bounds decide),
// then between low and high (NaN: no bound).
rg_outcome rg_outcome_of(rg_estimate, double low, double high, const char *direction);
// The number that "TABLE key=value COLUMN" selects, the median of its repeats; NaN: none.
double rg_table_cell(rg_rows, const char *spec);
bool rg_is_wide(double low,
    double high); // the bounds are a factor of ten apart, half a decade either way; a factor of two either way is four
// If the fastest configuration of a kind is the row that it is compared with, this many configurations must have been timed
// before "none is faster" means anything: of 20 drawn at random one is among the fastest 14 % with a probability of 95 %.
enum { RG_SEARCHED = 20 };

// ---- for the kinds of claims ---------------------------------------------------------------------------------------------

rg_judgement rg_unjudged(void);
void rg_judge_number(const rg_comparison *, rg_estimate, rg_judgement *); // sets value, interval, outcome
void rg_refuse(rg_reason, double a, double b, rg_judgement *);            // sets "not called" with this reason and its numbers
rg_outcome rg_shown(rg_outcome); // turns agreement into RG_EXISTS: existence is shown, no number measured
static inline rg_text rg_text_of(const char *text) { return (rg_text){text, (int)strlen(text)}; }
static inline rg_text rg_text_to(const char *text, const char *ends) { return (rg_text){text, (int)strcspn(text, ends)}; }
rg_why rg_missing(
    rg_rows, const char *spec); // why no row can be used: the status that one has instead of PASS, or there is none
void rg_add_to_list(char list[200], const char *spec);

typedef struct rg_claim_kind {
    const char *name;
    rg_judgement (*judge)(const rg_comparison *);
} rg_claim_kind;
extern const rg_claim_kind rg_kinds_of_times[], rg_kinds_of_checks[], rg_kinds_of_jobs[]; // ended by a NULL name
