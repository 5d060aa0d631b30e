// SPDX-License-Identifier: MIT
#include "claims.h"

#include "../../impl/base/core.h"

// papers.tsv is in reference/, the numbers of each paper are in reference/published/.
int rg_claims_read(const char *claims_path, const char *papers_path, rg_claims *c) {
    *c = (rg_claims){0};
    int code = rg_tsv_read(claims_path, &c->claim);
    if (code == RG_GOOD) code = rg_tsv_read(papers_path, &c->paper);
    if (code == RG_GOOD && c->paper.n_rows > RG_PAPERS_MOST)
        code = rg_fail(RG_USAGE, "%s: expected at most %d papers, found %d", papers_path, RG_PAPERS_MOST, c->paper.n_rows);
    for (int i = 0; i < c->paper.n_rows && code == RG_GOOD; i++) {
        RG_FREED char *path = rg_print(
            "%.*spublished/%s", (int)(rg_base_name(papers_path) - papers_path), papers_path, rg_paper_cell(c, i, "published"));
        code = rg_tsv_read(path, &c->published[i]);
    }
    if (code != RG_GOOD) rg_claims_free(c);
    return code;
}

void rg_claims_free(rg_claims *c) {
    for (int i = 0; i < RG_PAPERS_MOST; i++) rg_tsv_free(&c->published[i]);
    rg_tsv_free(&c->paper);
    rg_tsv_free(&c->claim);
}

int rg_claim_of(const rg_claims *c, const char *id) { return rg_tsv_find(&c->claim, "id", id); }

int rg_paper_of(const rg_claims *c, const char *paper) { return rg_tsv_find(&c->paper, "paper", paper); }

const char *rg_claim_cell(const rg_claims *c, int claim, const char *column) { return rg_tsv_cell(&c->claim, claim, column); }

const char *rg_paper_cell(const rg_claims *c, int paper, const char *column) { return rg_tsv_cell(&c->paper, paper, column); }

bool rg_is_of(const rg_claims *c, int claim, const char *paper) {
    return !paper || !strcmp(rg_claim_cell(c, claim, "paper"), paper);
}

bool rg_is_addition(const rg_claims *c, int claim) { return !*rg_claim_cell(c, claim, "published") && !rg_is_defect(c, claim); }

bool rg_is_defect(const rg_claims *c, int claim) {
    const char *kind = rg_claim_cell(c, claim, "kind");
    return !strcmp(kind, "paper") || !strcmp(kind, "criticism");
}

const char *rg_published_number(const rg_claims *c, int paper, const char *id, const char *column) {
    const int row = paper < 0 || !*id ? -1 : rg_tsv_find(&c->published[paper], "id", id);
    return row < 0 ? "" : rg_tsv_cell(&c->published[paper], row, column);
}

const char *rg_published(const rg_claims *c, int claim, const char *column) {
    return rg_published_number(
        c, rg_paper_of(c, rg_claim_cell(c, claim, "paper")), rg_claim_cell(c, claim, "published"), column);
}
