// SPDX-License-Identifier: MIT
#include "compared.h"

#include "../timing/timing.h"

// A GPU works through what is queued, so that a busy host delays short calls alone.
static const double SHORT_NS = 1e5;
// Rates of equal probes on a quiet machine scatter by a few percent.
static const double PROBE_LEAST = 0.05;
// Clocks are means of a few readings.
static const double CLOCK_LEAST = 0.005;

__attribute__((format(printf, 3, 4))) static void explain(rg_confounder *e, double factor, const char *format, ...) {
    char text[200];
    *(factor > 1 ? &e->slower : &e->faster) *= factor > 1 ? factor : 1 / factor;
    RG_FORMAT(text, sizeof text, format);
    const size_t at = strlen(e->why);
    snprintf(e->why + at, sizeof e->why - at, "%s%s", at ? "; " : "", text);
}

// At worst, other processes' extra load shares the time slices of our core. A process elsewhere takes caches, bandwidth, turbo
// and, on the same core, half of the units: up to a factor of 2 for a whole core.
static void look_at_load(rg_confounder *e, const rg_row *const row[2]) {
    double others[2];
    int cores[2];
    for (int i = 0; i < 2; i++) {
        others[i] = rg_row_other_load(row[i], &cores[i]);
        if (isnan(others[i])) return;
        if (strcmp(row[i]->cell[RG_C_SPACE], "host") && !(rg_cell_number(row[i], RG_C_MEDIAN) < SHORT_NS)) return;
    }
    const double more = fabs(others[1] - others[0]), all = cores[others[1] > others[0]];
    if (!(more >= RG_OTHERS_LEAST)) return;
    const double factor = (1 + fmin(more, 1)) / (1 - fmin(more / all, 0.9));
    explain(e, others[1] > others[0] ? factor : 1 / factor, "other processes had %.2f of %d cores in A, %.2f of %d in B",
        others[0], cores[0], others[1], cores[1]);
}

// Why the clock was held down; "": no reason found.
static const char *throttle(const rg_row *row, char text[RG_REASON]) {
    const unsigned harmless = 1u << RG_THROTTLE_NONE | 1u << RG_THROTTLE_IDLE | 1u << RG_THROTTLE_UNKNOWN;
    rg_throttle_print(rg_row_throttle(row) & ~harmless, true, text);
    return text;
}

static void look_at_clocks(rg_confounder *e, const rg_row *const row[2]) {
    char text[2][RG_REASON];
    const char *held[2] = {throttle(row[0], text[0]), throttle(row[1], text[1])};
    const double MHz[2] = {rg_cell_number(row[0], RG_C_CLOCK), rg_cell_number(row[1], RG_C_CLOCK)}, factor = MHz[0] / MHz[1];
    if ((*held[0] || *held[1]) && isfinite(factor) && factor > 0 && fabs(log(factor)) > CLOCK_LEAST)
        explain(e, factor, "the clock was at %.0f MHz in A%s%s, %.0f in B%s%s", MHz[0], *held[0] ? ", held down by " : "",
            held[0], MHz[1], *held[1] ? ", held down by " : "", held[1]);
}

// For the resource that bounds the row.
static double probed(const rg_result *f, const rg_row *row, const char *resource) {
    const size_t threads = strcmp(row->cell[RG_C_SPACE], "host") ? 0 : strcspn(row->cell[RG_C_PARAMS], ";");
    for (int i = 0; i < f->n_rows; i++) {
        const rg_row *p = &f->row[i];
        if (rg_row_is_probe(p) && !strcmp(p->cell[RG_C_VARIANT], resource) &&
            !strcmp(p->cell[RG_C_SPACE], row->cell[RG_C_SPACE]) &&
            (!threads ||
                (strlen(p->cell[RG_C_PARAMS]) == threads && !strncmp(p->cell[RG_C_PARAMS], row->cell[RG_C_PARAMS], threads))))
            return rg_cell_number(p, RG_C_RATE);
    }
    return NAN;
}

static void look_at_probes(rg_confounder *e, const rg_result *const of[2], const rg_row *const row[2]) {
    const char *resource = row[1]->cell[RG_C_BOUND];
    const double rate[2] = {probed(of[0], row[0], resource), probed(of[1], row[1], resource)}, factor = rate[0] / rate[1];
    if (*resource && isfinite(factor) && factor > 0 && fabs(log(factor)) > PROBE_LEAST)
        explain(e, factor, "the probe of %s ran at %.3g /s in A, %.3g in B", resource, rate[0], rate[1]);
}

rg_confounder rg_confounder_find(const rg_result *of_a, const rg_row *a, const rg_result *of_b, const rg_row *b) {
    const rg_result *const of[2] = {of_a, of_b};
    const rg_row *const row[2] = {a, b};
    const char *machine[2] = {rg_result_head(of_a, "machine"), rg_result_head(of_b, "machine")};
    rg_confounder e = {1, 1, ""};
    look_at_load(&e, row);
    if (machine[0] && machine[1] && !strcmp(machine[0], machine[1])) { // different machines are themselves compared
        look_at_clocks(&e, row);
        look_at_probes(&e, of, row);
    }
    return e;
}

rg_change rg_confounder_judge(const rg_confounder *e, const rg_ratio *r, double gate) {
    const rg_ratio without = {r->ratio, r->low / e->slower, r->high * e->faster};
    const rg_change as_it_stands = rg_gate_judge(r, gate);
    return rg_gate_judge(&without, gate) == as_it_stands ? as_it_stands : RG_UNDECIDED;
}
