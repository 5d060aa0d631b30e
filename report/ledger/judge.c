// SPDX-License-Identifier: MIT
#include "judge.h"

#include "../../impl/suite.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static rg_judgement judge_paper(const rg_comparison *q) {
    rg_judgement v = rg_unjudged();
    v.outcome = strcmp(q->kind, "paper") ? RG_CRITICISED : RG_INCONSISTENT;
    return v;
}

rg_judgement rg_judge(const rg_comparison *q) {
    static const rg_claim_kind defects[] = {{"paper", judge_paper}, {"criticism", judge_paper}, {NULL, NULL}};
    const rg_claim_kind *const kinds[] = {defects, rg_kinds_of_times, rg_kinds_of_checks, rg_kinds_of_jobs};
    for (int i = 0; i < RG_COUNT(kinds); i++)
        for (const rg_claim_kind *k = kinds[i]; k->name; k++)
            if (!strcmp(k->name, q->kind)) return k->judge(q);
    rg_judgement v = rg_unjudged();
    v.why = (rg_why){RG_BY_UNKNOWN_KIND, .text = {rg_text_of(q->kind)}};
    return v;
}

rg_comparison rg_comparison_of(const rg_claims *c, int i, rg_rows rows) {
    const rg_tsv *t = &c->claim;
    return (rg_comparison){rows, rg_tsv_cell(t, i, "kind"), rg_tsv_cell(t, i, "numerator"), rg_tsv_cell(t, i, "denominator"),
        rg_tsv_cell(t, i, "size"), rg_tsv_cell(t, i, "scope"), rg_tsv_cell(t, i, "direction"), rg_published(c, i, "unit"),
        rg_tsv_number(t, i, "low"), rg_tsv_number(t, i, "high"),
        atof(rg_published_number(c, rg_paper_of(c, rg_claim_cell(c, i, "paper")), rg_tsv_cell(t, i, "size"), "value"))};
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static bool comes_out_alike(const rg_judgement *a, const rg_judgement *b) {
    return a->outcome == b->outcome && same(a->value, b->value) && same(a->low, b->low) && same(a->high, b->high);
}

rg_judgement rg_judge_claim(const rg_claims *c, int i, rg_rows rows) {
    rg_comparison q = rg_comparison_of(c, i, rows);
    rg_judgement v = rg_judge(&q);
    for (int k = (int)rows.up_to; k > 0; k--) {
        const bool other =
            rg_machine_rows(rows.machine, (rg_knowledge)k) || (k == RG_STALE && rg_machine_stale_tables(rows.machine));
        q.rows.up_to = (rg_knowledge)(k - 1);
        const rg_judgement without = other ? rg_judge(&q) : v;
        v.rests_on = (rg_knowledge)k;
        if (!comes_out_alike(&v, &without)) return v;
    }
    v.rests_on = RG_TODAYS;
    return v;
}
