// SPDX-License-Identifier: MIT
// cards.c: shows for each paper how its claims came out, and its ratios beside ours.
#include "page.h"

enum { POINTS_MOST = 9 };

// ---- the chart: a line a ratio, hollow the paper, filled ours, one logarithmic axis -----------------------------------------

typedef struct point {
    const char *label;
    double paper, ours, low, high; // low and high NaN without an interval
} point;

static int points(const rg_ledger *l, int machine, const char *paper, point to[POINTS_MOST]) {
    int n = 0;
    for (int i = 0; i < l->findings.n_rows && n < POINTS_MOST; i++) {
        const char *label = rg_tsv_cell(&l->findings, i, "label");
        const int claim = rg_claim_of(&l->claims, rg_tsv_cell(&l->findings, i, "id"));
        const rg_judgement *j = rg_verdict_on(l, claim, machine);
        char *end;
        const double published = strtod(rg_published(&l->claims, claim, "value"), &end);
        if (*label && rg_is_of(&l->claims, claim, paper) && !*end && published > 0 && j->value > 0)
            to[n++] = (point){label, published, j->value, j->low > 0 ? j->low : NAN, j->high > 0 ? j->high : NAN};
    }
    return n;
}

// Sets the place on an axis of `decades`, which starts at 10^first.
static void set_x(rg_data *d, const char *name, double value, int first, int decades) {
    enum { LEFT = 146, RIGHT = 268 };
    rg_set(d, name, "%.1f", LEFT + (RIGHT - LEFT) * (log10(value) - first) / decades);
}

static void lay_chart(const point *at, int n, rg_data *chart) {
    enum { WIDTH = 286, LEFT = 146, ROW = 21, TOP = 6 };
    double low = 1, high = 1; // whole decades around 1 and all points
    for (int i = 0; i < n; i++) {
        low = fmin(low, fmin(at[i].paper, at[i].ours));
        high = fmax(high, fmax(at[i].paper, at[i].ours));
    }
    const int first = (int)floor(log10(low)), last = (int)fmax(ceil(log10(high)), first + 1), foot = TOP + ROW * n;
    const int step = last - first > 4 ? 2 : 1, decades = last - first;
    const struct {
        const char *name;
        int value;
    } number[] = {{"width", WIDTH}, {"height", foot + 34}, {"top", TOP}, {"foot", foot}, {"tick", foot + 14},
        {"left", LEFT - 8}, {"key", foot + 25}, {"words", foot + 29}, {"end", WIDTH - 2}};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) rg_set(chart, number[i].name, "%d", number[i].value);
    for (int k = first; k <= last; k++) {
        rg_data *tick = rg_add(chart, "ticks");
        rg_set(tick, "class", "%s", k ? "grid" : "one");
        set_x(tick, "x", pow(10, k), first, decades);
        rg_set(tick, "text", "%s", "");
        if ((k - first) % step == 0) rg_set(tick, "text", "%g%s", pow(10, k < 3 ? k : k - 3), k < 3 ? "" : "k");
    }
    for (int i = 0; i < n; i++) {
        rg_data *d = rg_add(chart, "points");
        const double y = TOP + ROW * (i + 0.5);
        char text[32];
        rg_set(d, "label", "%s", at[i].label);
        rg_say_digits(at[i].paper, text);
        rg_set(d, "paper", "%s", text);
        rg_say_digits(at[i].ours, text);
        rg_set(d, "ours", "%s", text);
        rg_set(d, "y", "%.1f", y);
        rg_set(d, "below", "%.1f", y + 4);
        set_x(d, "x_paper", at[i].paper, first, decades);
        set_x(d, "x_ours", at[i].ours, first, decades);
        rg_set(d, "x_low", "%s", "");
        if (!isfinite(at[i].low) || !isfinite(at[i].high)) continue;
        set_x(d, "x_low", fmax(at[i].low, pow(10, first)), first, decades); // an interval may be wider than the axis
        set_x(d, "x_high", fmin(at[i].high, pow(10, last)), first, decades);
    }
}

// ---- the card ------------------------------------------------------------------------------------------------------------

// Lays out one machine: its bar and counts, and what it lacks.
static void lay_counts(const rg_ledger *l, int machine, const char *paper, rg_data *card) {
    char text[RG_SAY];
    int count[RG_OUTCOMES];
    if (!rg_count_outcomes(l, machine, paper, false, count)) return;
    rg_data *counts = rg_add(card, "counts");
    rg_set(counts, "machine", "%s", rg_machine_name(&l->machine[machine], "this machine"));
    for (int o = 0; o < RG_OUTCOMES; o++)
        if (count[o]) {
            rg_data *one = rg_add(counts, "count");
            rg_set(one, "verdict", "%d", o);
            rg_set(one, "n", "%d", count[o]);
            rg_set(one, "text", "%s", rg_outcome_name[o]);
            rg_set(one, "means", "%s", rg_outcome_means[o]);
        }
    rg_say_untested(l, machine, paper, text);
    rg_set(counts, "untested", "%s", text);
}

void rg_lay_card(const rg_report *r, int paper, rg_data *d) {
    const rg_ledger *l = &r->ledger;
    const char *name = rg_paper_cell(&l->claims, paper, "paper"), *title = rg_paper_cell(&l->claims, paper, "title");
    const char *colon = strstr(title, ": ");
    const int machine = rg_speaks_of(l, name);
    point at[POINTS_MOST];
    rg_set(d, "short", "%s", colon ? colon + 2 : title);
    rg_set(d, "reference", "%s", rg_machine_name(&l->machine[machine], ""));
    const int n = points(l, machine, name, at);
    if (n > 1) lay_chart(at, n, rg_add(d, "chart"));
    lay_counts(l, 0, name, d); // for each machine, as the card may be about another one
    if (machine) lay_counts(l, machine, name, d);
}
