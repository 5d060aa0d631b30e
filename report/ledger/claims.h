// SPDX-License-Identifier: MIT
// claims.h: reads the papers' claims (reference/claims.tsv, papers.tsv, published/).
#pragma once

#include "../../impl/base/tsv.h"

enum { RG_PAPERS_MOST = 16 };
typedef struct rg_claims {
    rg_tsv claim, paper;              // reference/claims.tsv, reference/papers.tsv
    rg_tsv published[RG_PAPERS_MOST]; // the numbers of each row of paper
} rg_claims;
int rg_claims_read(const char *claims_path, const char *papers_path, rg_claims *);
void rg_claims_free(rg_claims *);

int rg_claim_of(const rg_claims *, const char *id);    // its row, -1 when unknown
int rg_paper_of(const rg_claims *, const char *paper); // its row, -1 when unknown
const char *rg_claim_cell(const rg_claims *, int claim, const char *column);
const char *rg_paper_cell(const rg_claims *, int paper, const char *column);
bool rg_is_of(const rg_claims *, int claim, const char *paper); // paper NULL: any
bool rg_is_addition(const rg_claims *, int claim);              // added by this project, without a number of the paper
bool rg_is_defect(const rg_claims *, int claim);                // a defect of the paper itself: nothing is measured
const char *rg_published_number(const rg_claims *, int paper, const char *id, const char *column); // "": none; paper may be -1
const char *rg_published(const rg_claims *, int claim, const char *column); // of the number that the claim rests on; "": none
