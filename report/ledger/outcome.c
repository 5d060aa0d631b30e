// SPDX-License-Identifier: MIT
// outcome.c: shared by all kinds of claims: the verdict on a number, and the reasons for having none.
#include "judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool on_side(double value, const char *direction) {
    const double limit = strtod(direction + 1, NULL);
    return direction[0] == '>' ? value > limit : value < limit;
}

bool rg_is_wide(double low, double high) { return high > 5 * low && low > 0; }

rg_outcome rg_outcome_of(rg_estimate e, double low, double high, const char *direction) {
    if (isnan(e.value)) return RG_NOT_TESTABLE;
    if (!isfinite(e.low) || !isfinite(e.high)) return RG_NOT_CALLED;
    const bool inside = !(e.value < low) && !(e.value > high);
    const rg_outcome good = rg_is_wide(low, high) ? RG_ORDER : RG_REPRODUCED;
    if (!*direction) { // the paper gives only bounds
        const bool overlaps = !(e.high < low) && !(e.low > high);
        return inside ? good : overlaps ? RG_NOT_CALLED : RG_CONTRADICTED;
    }
    const bool on_low = on_side(e.low, direction), on_high = on_side(e.high, direction);
    if (on_low != on_high) return RG_NOT_CALLED; // a ratio that may be 1 has no direction
    return !on_low ? RG_CONTRADICTED : inside ? good : RG_DIRECTION;
}

rg_judgement rg_unjudged(void) { return (rg_judgement){.outcome = RG_NOT_TESTABLE, .value = NAN, .low = NAN, .high = NAN}; }

// Whether the claim holds for any value, as times, ratios and other judged values are positive.
static bool is_without_limit(const rg_comparison *q) {
    const bool above = *q->direction ? *q->direction == '>' && strtod(q->direction + 1, NULL) <= 0 : !(q->low > 0);
    return above && (*q->direction || isnan(q->high));
}

void rg_refuse(rg_reason reason, double a, double b, rg_judgement *v) {
    v->outcome = RG_NOT_CALLED;
    v->why = (rg_why){reason, .number = {a, b}};
}

void rg_judge_number(const rg_comparison *q, rg_estimate e, rg_judgement *v) {
    v->value = e.value;
    v->low = e.low;
    v->high = e.high;
    v->outcome = rg_outcome_of(e, q->low, q->high, q->direction);
    v->why = (rg_why){.reason = RG_BY_NUMBER};
    if (is_without_limit(q)) rg_refuse(RG_BY_NO_LIMIT, NAN, NAN, v);
}

rg_outcome rg_shown(rg_outcome outcome) { return outcome == RG_REPRODUCED || outcome == RG_ORDER ? RG_EXISTS : outcome; }

rg_why rg_missing(rg_rows rows, const char *spec) {
    const rg_row *row = rg_not_passed(rows, spec);
    if (!row) return (rg_why){RG_BY_NO_ROW, .text = {rg_text_of(spec)}};
    const int stop = rg_cell_word(row, RG_C_STOP);
    return (rg_why){RG_BY_STATUS,
        .text = {rg_text_of(spec), rg_text_of(row->cell[RG_C_STATUS]), rg_text_of(stop < 0 ? "" : rg_stop_word[stop].phrase),
            rg_text_of(row->cell[RG_C_DETAIL])}};
}

void rg_add_to_list(char list[200], const char *spec) {
    const size_t n = strlen(list);
    snprintf(list + n, 200 - n, "%s%s", n ? ", " : "", spec);
}
