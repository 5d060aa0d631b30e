// SPDX-License-Identifier: MIT
// judge.h: claims and rows into verdicts. A claim says, as data, which rows it compares, on which side of which limit the
// paper's statement stands and between which bounds a number counts as the paper's. The side goes first: a number beyond it is
// contradicted whatever the bounds.
#pragma once

#include "claims.h"
#include "numbers.h"
#include "verdict.h"
#include <string.h>

// What a claim compares, by the columns of claims.tsv of these names.
typedef struct rg_comparison {
    rg_rows rows;
    const char *kind, *a, *b, *size, *scopes, *direction;
    const char *unit; // of the published number
    double low, high;
    double host_W; // added to what the GPUs take
} rg_comparison;

rg_comparison rg_comparison_of(const rg_claims *, int claim, rg_rows);
rg_judgement rg_judge(const rg_comparison *);
// Claim i by rows of every knowledge up to that of rows, from the best known on: what it rests on.
rg_judgement rg_judge_claim(const rg_claims *, int claim, rg_rows);

// The verdict on a number alone: on the side of the direction (">1", "<0.9"; "": the bounds alone decide) with its whole
// interval, then between low and high (NaN does not bind).
rg_outcome rg_outcome_of(rg_estimate, double low, double high, const char *direction);
// The number that "TABLE key=value COLUMN" names, the median of its repeats; NaN when there is none.
double rg_table_cell(rg_rows, const char *spec);
bool rg_is_wide(
    double low, double high); // half a decade either way, a factor of ten between the bounds; two either way is four
// Where the best of a kind is the very row that it is compared with, so many configurations of the kind have to be there, or
// that none is faster says nothing: of 20 drawn at random one is among the fastest 14 % with a probability of 95 %.
enum { RG_SEARCHED = 20 };

// ---- for the kinds of claims ---------------------------------------------------------------------------------------------

rg_judgement rg_unjudged(void);
void rg_judge_number(const rg_comparison *, rg_estimate, rg_judgement *); // value, interval, outcome
void rg_refuse(rg_reason, double a, double b, rg_judgement *);            // not called, for this reason and its numbers
rg_outcome rg_shown(rg_outcome); // what was shown to exist is no measured number that agrees
static inline rg_text rg_text_of(const char *text) { return (rg_text){text, (int)strlen(text)}; }
static inline rg_text rg_text_to(const char *text, const char *ends) { return (rg_text){text, (int)strcspn(text, ends)}; }
rg_why rg_missing(rg_rows, const char *spec); // why no row can be used: what one says instead of PASS, or that there is none
void rg_add_to_list(char list[200], const char *spec);

typedef struct rg_claim_kind {
    const char *name;
    rg_judgement (*judge)(const rg_comparison *);
} rg_claim_kind;
extern const rg_claim_kind rg_kinds_of_times[], rg_kinds_of_checks[], rg_kinds_of_jobs[]; // up to a name of NULL
