// SPDX-License-Identifier: MIT
// verdicts.c: writes a verdict: the reason, and what was measured.
#include "words.h"

#include "../../impl/base/core.h"

const char *const rg_outcome_name[RG_OUTCOMES] = {"reproduced", "order of magnitude", "direction only", "contradicted today",
    "exists", "not called", "not testable here", "paper inconsistent", "criticism"};
const char *const rg_outcome_means[RG_OUTCOMES] = {"within the claim's bounds", "within half a decade",
    "the paper's side, other size", "the other side", "runs, no number met", "interval holds both", "not measured",
    "against itself", "to be known"};

// Appends to the text.
__attribute__((format(printf, 2, 3))) static void say(char text[RG_SAY], const char *format, ...) {
    const size_t n = strlen(text);
    RG_FORMAT(text + n, RG_SAY - n, format);
}

// ---- reasons -------------------------------------------------------------------------------------------------------------

static void say_number(const rg_claims *c, int claim, const rg_judgement *v, char text[RG_SAY]) {
    const char *side = rg_claim_cell(c, claim, "direction");
    const double low = rg_tsv_number(&c->claim, claim, "low"), high = rg_tsv_number(&c->claim, claim, "high");
    char bounds[RG_SAY] = "";
    if (!isfinite(high) || isfinite(low)) say(bounds, "from %.4g", low);
    if (isfinite(high)) say(bounds, "%sto %.4g", *bounds ? " " : "", high);
    if (v->outcome == RG_CONTRADICTED)
        say(text, "the paper has %s%s%s; ours lies beyond with its whole interval", side, *side ? ", " : "", bounds);
    else if (v->outcome == RG_NOT_CALLED && isfinite(v->low) && isfinite(v->high))
        say(text, "the interval reaches over %s%s: %.4g to %.4g", *side ? "the limit " : "the bounds ",
            *side ? side + 1 : bounds, v->low, v->high);
    else if (v->outcome == RG_NOT_CALLED)
        say(text, "measured once: a number without an interval has no verdict");
    else
        say(text, "counts as %s %s%s%s", rg_outcome_name[rg_is_wide(low, high) ? RG_ORDER : RG_REPRODUCED], bounds,
            *side ? "; " : "", side);
    if ((v->outcome == RG_REPRODUCED || v->outcome == RG_ORDER) && (v->low < low || v->high > high))
        say(text, "; the interval reaches beyond");
}

#define T(i) w->text[i].n, w->text[i].at
static void say_reason(const rg_why *w, char text[RG_SAY]) {
    const double *n = w->number;
    switch (w->reason) {
    case RG_BY_NOTHING:
    case RG_BY_NUMBER: break;
    case RG_BY_NO_LIMIT: say(text, "claims.tsv gives neither a side nor bounds beyond which a number could lie"); break;
    case RG_BY_UNKNOWN_KIND: say(text, "claims.tsv has the unknown kind \"%.*s\"", T(0)); break;
    case RG_BY_UNKNOWN_QUANTITY: say(text, "claims.tsv asks for the unknown quantity \"%.*s\"", T(0)); break;
    case RG_BY_BAD_SPEC: say(text, "claims.tsv: expected TABLE key=value COLUMN, found \"%.*s\"", T(0)); break;
    case RG_BY_BAD_TURNS: say(text, "claims.tsv: expected the size PREFIX;FIRST;LAST;COUNT, found \"%.*s\"", T(0)); break;
    case RG_BY_NO_ROW: say(text, "no row of `%.*s` in the files of this machine: not measured", T(0)); break;
    case RG_BY_STATUS:
        say(text, "`%.*s`: %.*s %.*s%s%.*s", T(0), T(1), T(2), w->text[2].n && w->text[3].n ? ": " : "", T(3));
        break;
    case RG_BY_ONE_ROW: say(text, "both sides are one row: no other configuration was timed"); break;
    case RG_BY_NO_COMMON_SIZE: say(text, "both were timed, but at no common size and scope"); break;
    case RG_BY_NO_COMMON_SCOPE: say(text, "both sizes were timed, but in no common scope"); break;
    case RG_BY_FEW_TRIED:
        say(text, "one row is the best of both sides; of a kind %.0f configurations were tried, expected %.0f", n[0], n[1]);
        break;
    case RG_BY_UNEQUAL_WORK:
        say(text, "unequal work, %.0f against %.0f pieces: fixed costs weigh more where there is less of it", n[0], n[1]);
        break;
    case RG_BY_MIXED_STAGES: say(text, "one side is another stage of the job than the other"); break;
    case RG_BY_OTHER_SIZE: say(text, "`%.*s` was not timed at %.*s", T(0), T(1)); break;
    case RG_BY_NO_CURVE: say(text, "no variant was timed at three offsets or more"); break;
    case RG_BY_REACH:
        say(text, "all curves have to reach %.2g of the width%s%s", n[0], *w->list ? "; without " : "", w->list);
        break;
    case RG_BY_FAILED_ROW: say(text, "one row has failed: %.*s", T(0)); break;
    case RG_BY_EQUAL: say(text, "integer sums are compared bit for bit, others within their stated bound"); break;
    case RG_BY_UNCHECKED: say(text, "no passed row of %s", w->list); break;
    case RG_BY_CAUGHT: say(text, "the checker says FAIL: %.*s", T(0)); break;
    case RG_BY_NOT_CAUGHT: say(text, "the checker says PASS where the fault should show"); break;
    case RG_BY_RUNNING: say(text, "runs, gives the reference's sums, and was timed"); break;
    case RG_BY_NO_PLACE:
        say(text, "no row of `%.*s`%s%.*s%s at %.*s in scope %.*s: not measured", T(0), w->text[1].n ? " and `" : "", T(1),
            w->text[1].n ? "`" : "", T(2), T(3));
        break;
    case RG_BY_TURNS_ONCE: say(text, "every turn was timed once: no interval"); break;
    case RG_BY_FEW_TURNS: say(text, "%.0f turns were timed, the mean of the range needs %.0f", n[0], n[1]); break;
    case RG_BY_NEVER_BOTH: say(text, "`%.*s` and `%.*s` were not both timed at any size", T(0), T(1)); break;
    case RG_BY_WRONG: say(text, "%.0f wrong; all %.0f have to be right", n[0], n[1]); break;
    case RG_BY_NO_ENERGY:
        say(text, "no energy of `%.*s`: %.*s", T(0), T(1));
        if (w->text[2].n) say(text, "; `%.*s` takes %.*s J a call", T(2), T(3));
        break;
    case RG_BY_NO_TABLE: say(text, "no table `%.*s` among the files of this machine: not measured", T(0)); break;
    case RG_BY_FEW_IMAGES:
        say(text, "table `%.*s` is of %.0f images, expected %.0f: fixed costs would decide", T(0), n[0], n[1]);
        break;
    case RG_BY_NO_COLUMN:
        say(text, "no table `%.*s` with numbers %.*s among the files of this machine: not measured", T(0), T(1));
        break;
    case RG_BY_NO_CELL:
        say(text, "table `%.*s` has no number %.*s where %.*s is %.*s%s%.*s: not measured", T(0), T(1), T(2), T(3),
            w->text[4].n ? " and shape is " : "", T(4));
        break;
    case RG_BY_NO_PHOTO: say(text, "no photo was looked at"); break;
    case RG_BY_FEW_SERIES:
        say(text, "fewer than two series have three photos with an R_max, and lengths from the spectrum");
        break;
    case RG_BY_NO_SECOND_RUN: say(text, "a second run of the same series by another variant is needed"); break;
    case RG_BY_NO_GROWTH: say(text, "R_max does not grow over this series"); break;
    }
}

void rg_say_why(const rg_claims *c, int claim, const rg_judgement *v, char text[RG_SAY]) {
    static const char *const mark[RG_KNOWLEDGE] = {"", "SOURCE NOT KNOWN: rests on times without the hash of their kernel. ",
        "STALE: rests on times before the kernel changed. "};
    *text = 0;
    say(text, "%s", mark[v->rests_on]);
    if (v->why.reason == RG_BY_NUMBER)
        say_number(c, claim, v, text);
    else
        say_reason(&v->why, text);
}

// ---- measurements --------------------------------------------------------------------------------------------------------

// Writes three digits, without an exponent.
static void say_ratio(char text[RG_SAY], double ratio) { say(text, ratio < 1000 ? "%.3g" : "%.0f", ratio); }

static void say_ratios(const rg_judgement *v, char text[RG_SAY]) {
    const bool itself = v->why.reason == RG_BY_FEW_TRIED; // a row over itself: it has no value
    say_ratio(text, itself ? 1 : v->value);
    if (itself)
        say(text, " x [1, 1]");
    else if (isfinite(v->low) && isfinite(v->high)) {
        say(text, " x [");
        say_ratio(text, v->low);
        say(text, ", ");
        say_ratio(text, v->high);
        say(text, "]");
    } else
        say(text, " x (no interval: a single sample)");
}

static void say_growth(const rg_judgement *v, char text[RG_SAY]) {
    static const char *const at[] = {"large size", "small"};
    say(text, "%.3g x [%.3g, %.3g]: ", v->value, v->low, v->high);
    for (int i = 0; i < 2; i++) {
        char amount[48];
        const rg_text unit = v->ours.text[0];
        snprintf(amount, sizeof amount, "%.*s", unit.n, unit.at ? unit.at : "");
        if (unit.n)
            rg_say_amount(v->ours.number[i], amount, amount);
        else
            snprintf(amount, sizeof amount, "%.3g x", v->ours.number[i]);
        say(text, "%s%.24s at the %s", i ? ", " : "", amount, at[i]);
    }
}

void rg_say_ours(const rg_judgement *v, char text[RG_SAY]) {
    const rg_ours *w = &v->ours;
    const double *n = w->number;
    char duration[32];
    *text = 0;
    switch (w->form) {
    case RG_OURS_NOTHING: break;
    case RG_OURS_RATIO:
        say_ratios(v, text);
        if (n[0] > 2 || n[1] > 2) // a search is only as good as the number of configurations it tried
            say(text, "; the best of %.0f over the best of %.0f", n[0], n[1]);
        if (isfinite(n[2]) && isfinite(n[4]))
            say(text, "; fixed costs %.3g of %.3g s and %.3g of %.3g s", n[2], n[3], n[4], n[5]);
        break;
    case RG_OURS_MEAN:
        say_ratios(v, text);
        say(text, ", mean of %.0f turns", n[0]);
        if (n[1] > 0) say(text, " over that of %.0f", n[1]);
        break;
    case RG_OURS_RATE: say(text, "%.4g images/s [%.4g, %.4g]", v->value, v->low, v->high); break;
    case RG_OURS_SCALING:
        say(text, "%.3g x on %.0f cores: %.0f %% [%.0f, %.0f]", n[0], n[1], 100 * v->value, 100 * v->low, 100 * v->high);
        break;
    case RG_OURS_CURVES: say(text, "R to %.0f, %.2g of the width; %.0f of %.0f curves", n[0], v->value, n[1], n[2]); break;
    case RG_OURS_EQUAL:
        say(text, "%.0f of %.0f variants %s the reference", n[0], n[1], n[0] < n[1] ? "were checked, and equal" : "equal");
        break;
    case RG_OURS_UNEQUAL: say(text, "%.*s: %.*s", T(0), T(1)); break;
    case RG_OURS_CAUGHT:
        say(text, "caught");
        if (n[0] > 0) say(text, ": largest error %.6g", n[0]);
        break;
    case RG_OURS_TIME:
        rg_duration(n[0], duration);
        say(text, "%s", duration);
        break;
    case RG_OURS_GROWTH: say_growth(v, text); break;
    case RG_OURS_AGREEMENT:
        say(text, "differ by %.2g at most, %.0f %% of what rounding allows; %.0f size%s", n[0], 100 * v->value, n[1],
            rg_plural((int)n[1]));
        break;
    case RG_OURS_CONFIGS: say(text, "%.0f configuration%s right and timed", n[0], rg_plural((int)n[0])); break;
    case RG_OURS_ENERGY:
        say(text, "%.3g x: %.4g J / %.4g J a call", v->value, n[0], n[1]);
        if (n[2] > 0) say(text, ", the host's %.0f W in both", n[2]);
        break;
    case RG_OURS_CELL: say(text, "%.4g %.*s", v->value, T(0)); break;
    case RG_OURS_CELLS:
        say_ratio(text, v->value);
        say(text, " x (%.4g / %.4g)", n[0], n[1]);
        break;
    case RG_OURS_LEAST: say(text, "%.7g at least, in %.0f row%s", v->value, n[0], rg_plural((int)n[0])); break;
    case RG_OURS_CROSSING: say(text, "FSC = 0.5 at %.4g and %.4g", n[0], n[1]); break;
    case RG_OURS_PHOTOS:
        say(text, "in %.0f of %.0f photos", n[0], n[1]);
        if (n[0] > 0) say(text, ", %.2f px in the first, %.2f px in the last", n[2], n[3]);
        break;
    case RG_OURS_INTERCEPT:
        say(text, "intercept %.2g [%.2g, %.2g] of the last R_max, the median of %.0f series", v->value, v->low, v->high, n[0]);
        break;
    case RG_OURS_RECIPROCAL:
        say_ratios(v, text);
        say(text, ", the median of %.0f series: scatter %.2g %% of the growth, R_max %.2g %%", n[2], 100 * n[0], 100 * n[1]);
        break;
    case RG_OURS_DIFFERENCE: say(text, "largest difference %.2g px, %.0f runs of %.0f photos", v->value, n[0], n[1]); break;
    }
    if (v->over_autovec != 0 && isnan(v->over_autovec)) say(text, "; over autovec not timed");
    if (v->over_autovec > 0) {
        say(text, "; over autovec ");
        say_ratio(text, v->over_autovec);
        say(text, " x");
    }
}
#undef T

// ---- the claim's statement -----------------------------------------------------------------------------------------------

void rg_say_bounds(const rg_claims *c, int claim, char text[RG_SAY]) {
    const char *low = rg_claim_cell(c, claim, "low"), *high = rg_claim_cell(c, claim, "high");
    const char *side = rg_claim_cell(c, claim, "direction"), *why = rg_claim_cell(c, claim, "why");
    *text = 0;
    if (*low) say(text, "from %s", low);
    if (*high) say(text, "%sto %s", *text ? " " : "", high);
    if (*side) say(text, "%sthe paper's side is %s", *text ? "; " : "", side);
    say(text, "%s%s", *text && *why ? ": " : "", why);
}

void rg_say_published(const rg_claims *c, int claim, char text[RG_SAY]) {
    snprintf(text, RG_SAY, "%s %s", rg_published(c, claim, "value"), rg_published(c, claim, "unit"));
}
