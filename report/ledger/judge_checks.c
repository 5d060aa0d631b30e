// SPDX-License-Identifier: MIT
// judge_checks.c: judges claims by the checker: results are right, equal, or wrong in the way of the paper's own code.
#include "judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Holds if every listed variant passed the checker somewhere and failed nowhere: its results equal the reference's.
static rg_judgement judge_equal(const rg_comparison *q) {
    rg_judgement v = rg_unjudged();
    char spec[96], unchecked[200] = "";
    int good = 0, all = 0;
    for (const char *at = q->a, *from = at; rg_next_piece(&at, ',', spec, sizeof spec); all++, from = at) {
        int passed = 0;
        for (rg_cursor row = {.rows = q->rows}; rg_next(&row);) {
            const char *status = row.row->cell[RG_C_STATUS];
            if (!rg_matches(row.row, spec)) continue;
            passed += !strcmp(status, "PASS");
            if (rg_is_failure(status)) {
                v.outcome = RG_CONTRADICTED;
                v.ours = (rg_ours){RG_OURS_UNEQUAL, .text = {rg_text_to(from, ","), rg_text_of(status)}};
                v.why = (rg_why){RG_BY_FAILED_ROW, .text = {rg_text_of(row.row->cell[RG_C_SHAPE])}};
                return v;
            }
        }
        good += passed > 0;
        if (!passed) rg_add_to_list(unchecked, spec);
    }
    v.ours = (rg_ours){RG_OURS_EQUAL, .number = {good, all}};
    v.why = (rg_why){.reason = good < all ? RG_BY_UNCHECKED : RG_BY_EQUAL};
    memcpy(v.why.list, unchecked, sizeof v.why.list);
    if (good < all) return v;
    v.outcome = RG_REPRODUCED;
    v.value = 0;
    return v;
}

// The paper says that the results differ; equal results refute it.
static rg_judgement judge_refutes(const rg_comparison *q) {
    rg_judgement v = judge_equal(q);
    if (v.outcome == RG_REPRODUCED)
        v.outcome = RG_CONTRADICTED;
    else if (v.outcome == RG_CONTRADICTED)
        v.outcome = RG_REPRODUCED;
    return v;
}

// A fault of the paper's own code that the checker must detect: a FAIL with its error.
static rg_judgement judge_fault(const rg_comparison *q) {
    rg_judgement v = rg_unjudged();
    for (rg_cursor at = {.rows = q->rows}; rg_next(&at);) {
        if (!rg_matches(at.row, q->a) || strcmp(at.row->cell[RG_C_STATUS], "FAIL")) continue;
        v.outcome = RG_REPRODUCED;
        v.value = rg_cell_number(at.row, RG_C_ERROR);
        v.ours = (rg_ours){RG_OURS_CAUGHT, .number = {v.value > 0 ? v.value : 0}};
        v.why = (rg_why){RG_BY_CAUGHT, .text = {rg_text_of(at.row->cell[RG_C_DETAIL])}};
        snprintf(v.size, sizeof v.size, "%s", at.row->cell[RG_C_SHAPE]);
        return v;
    }
    const bool passed = rg_count_status(q->rows, q->a, q->size, false) > 0;
    v.why = passed ? (rg_why){.reason = RG_BY_NOT_CAUGHT} : rg_missing(q->rows, q->a);
    if (passed) v.outcome = RG_CONTRADICTED;
    return v;
}

// The sum of both errors as a fraction of the tolerance, at the size where it is largest.
static rg_judgement judge_agree(const rg_comparison *q) {
    rg_judgement v = rg_unjudged();
    double worst = -1, error = 0;
    int shapes = 0;
    for (rg_cursor at = {.rows = q->rows}; rg_next(&at);) {
        const rg_row *pair[2];
        if (!rg_timed(at.row) || !rg_matches(at.row, q->a) ||
            !rg_pick_pair(q->rows, q->a, q->b, at.row->cell[RG_C_SHAPE], q->scopes, pair) || pair[0] != at.row)
            continue;
        const double sum = rg_cell_number(pair[0], RG_C_ERROR) + rg_cell_number(pair[1], RG_C_ERROR);
        const double allowed = rg_cell_number(pair[0], RG_C_TOL) + rg_cell_number(pair[1], RG_C_TOL);
        shapes++;
        if (sum / allowed > worst) {
            worst = sum / allowed;
            error = sum;
            snprintf(v.size, sizeof v.size, "%s", pair[0]->cell[RG_C_SHAPE]);
            snprintf(v.scope, sizeof v.scope, "%s", pair[strcmp(pair[1]->cell[RG_C_SPACE], "host") ? 1 : 0]->cell[RG_C_SCOPE]);
        }
    }
    if (!shapes) {
        v.why = (rg_why){RG_BY_NEVER_BOTH, .text = {rg_text_of(q->a), rg_text_of(q->b)}};
        return v;
    }
    v.ours = (rg_ours){RG_OURS_AGREEMENT, .number = {error, shapes}};
    rg_judge_number(q, (rg_estimate){worst, worst, worst}, &v);
    return v;
}

// Counts the rows of the spec with the shape and mode of this row, in its file.
static int beside(const rg_comparison *q, const rg_cursor *first) {
    int n = 0;
    for (rg_cursor at = {.rows = q->rows}; rg_next(&at);)
        n += at.file == first->file && rg_timed(at.row) && rg_matches(at.row, q->a) &&
            !strcmp(at.row->cell[RG_C_SHAPE], first->row->cell[RG_C_SHAPE]) &&
            !strcmp(at.row->cell[RG_C_MODE], first->row->cell[RG_C_MODE]);
    return n;
}

static rg_judgement judge_configs(const rg_comparison *q) {
    rg_judgement v = rg_unjudged();
    const rg_result *counted = NULL;
    int most = 0;
    for (rg_cursor at = {.rows = q->rows}; rg_next(&at);) {
        if (at.file == counted || !rg_timed(at.row) || !rg_matches(at.row, q->a)) continue;
        counted = at.file; // `tune` writes one shape a file
        const int n = beside(q, &at);
        if (n > most) {
            most = n;
            snprintf(v.size, sizeof v.size, "%s", at.row->cell[RG_C_SHAPE]);
        }
    }
    const int wrong = rg_count_status(q->rows, q->a, "", true);
    if (!most && !wrong) {
        v.why = rg_missing(q->rows, q->a);
        return v;
    }
    v.value = v.low = v.high = most;
    v.ours = (rg_ours){RG_OURS_CONFIGS, .number = {most}};
    v.outcome = wrong ? RG_CONTRADICTED : most < q->low ? RG_NOT_CALLED : RG_REPRODUCED;
    v.why = (rg_why){RG_BY_WRONG, .number = {wrong, q->low}};
    return v;
}

const rg_claim_kind rg_kinds_of_checks[] = {{"equal", judge_equal}, {"refutes", judge_refutes}, {"fault", judge_fault},
    {"agree", judge_agree}, {"configs", judge_configs}, {NULL, NULL}};
