// SPDX-License-Identifier: MIT
// claims.c: shows every claim in one table: the paper's statement, what this machine and a chosen reference machine measured,
// the verdicts. A row opens to the reason, and to the command that repeats the measurement. plots/page.js filters and sorts the
// table; without it, all rows are shown.
#include "page.h"

#include "../../impl/base/core.h"

static rg_data *lay_option(rg_data *d, const char *list, int n, const char *text) {
    rg_data *option = rg_add(d, list);
    rg_set(option, "n", "%d", n);
    rg_set(option, "text", "%s", text);
    return option;
}

// Number of the papers' claims that the machine decides.
static int decided(const rg_ledger *l, int machine) {
    int count[RG_OUTCOMES];
    return rg_count_outcomes(l, machine, NULL, false, count) - count[RG_NOT_TESTABLE];
}

// Lays out the details of a row for one machine.
static void lay_machine(const rg_ledger *l, int claim, int machine, rg_data *d) {
    const rg_judgement *v = rg_verdict_on(l, claim, machine);
    char text[RG_SAY];
    rg_set(d, "machine", "%s", rg_machine_name(&l->machine[machine], "this machine"));
    rg_say_why(&l->claims, claim, v, text);
    rg_set(d, "decided", "%s", text);
    rg_set(d, "size", "%s", v->size);
    rg_set(d, "scope", "%s", v->scope);
    rg_say_samples(l, claim, machine, text);
    rg_set(d, "samples", "%s", text);
}

static void lay_verdict(const rg_ledger *l, int claim, int machine, int place, rg_data *d) {
    const rg_judgement *v = rg_verdict_on(l, claim, machine);
    char text[RG_SAY];
    rg_say_ours(v, text);
    rg_set(d, "machine", "%s", rg_machine_name(&l->machine[machine], "this machine"));
    if (place) rg_set(d, "place", "%d", place);
    rg_set(d, "v", "%d", (int)v->outcome);
    if (isfinite(v->value)) rg_set(d, "value", "%.6g", v->value);
    rg_set(d, "verdict", "%s", rg_outcome_name[v->outcome]);
    rg_set(d, "text", "%s", text);
}

static void lay_claim(const rg_ledger *l, int claim, const int *machine, int machines, rg_data *d) {
    const rg_claims *c = &l->claims;
    const char *value = rg_published(c, claim, "value");
    char text[RG_SAY], *end;
    const double number = strtod(value, &end);
    for (const char *const *column = (const char *const[]){"id", "paper", "claim", "fails", "note", NULL}; *column; column++)
        rg_set(d, *column, "%s", rg_claim_cell(c, claim, *column));
    rg_set(d, "n", "%d", rg_paper_of(c, rg_claim_cell(c, claim, "paper")));
    rg_say_bounds(c, claim, text);
    rg_set(d, "bounds", "%s", text);
    if (*value && !*end) rg_set(d, "printed", "%.6g", number);
    rg_set(d, "published", "%s", rg_is_addition(c, claim) ? "addition" : value);
    rg_set(d, "unit", "%s", rg_published(c, claim, "unit"));
    *text = 0;
    if (!rg_is_defect(c, claim))
        rg_say_command(l, claim, isnan(rg_verdict_on(l, claim, 0)->value) && machines > 1 ? machine[1] : 0, text);
    rg_set(d, "again", "%s", text);
    for (int m = 0; m < l->n_machines && !rg_is_defect(c, claim); m++)
        if (m == 0 || rg_verdict_on(l, claim, m)->outcome != RG_NOT_TESTABLE) lay_machine(l, claim, m, rg_add(d, "on"));
    for (int m = 0; m < machines; m++) lay_verdict(l, claim, machine[m], m, rg_add(d, "ours"));
}

void rg_lay_claims(const rg_report *r, rg_data *d) {
    const rg_ledger *l = &r->ledger;
    int *machine = rg_alloc((size_t)l->n_machines * sizeof *machine), machines = 0, most = 1;
    for (int m = 0; m < l->n_machines; m++)
        if (rg_is_shown(r, m, NULL)) machine[machines++] = m;
    for (int m = 2; m < machines; m++) most = decided(l, machine[m]) > decided(l, machine[most]) ? m : most;
    if (machines > 2) { // the one with most verdicts is shown first
        const int first = machine[most];
        machine[most] = machine[1];
        machine[1] = first;
    }
    for (int m = 0; m < machines; m++) {
        rg_data *head = rg_add(d, "shown");
        if (m) rg_set(head, "place", "%d", m);
        rg_set(head, "head", "%s", rg_machine_name(&l->machine[machine[m]], "This machine"));
    }
    for (int i = 0; i < l->claims.paper.n_rows; i++) lay_option(d, "all_papers", i, rg_paper_cell(&l->claims, i, "paper"));
    for (int i = 0; i < RG_OUTCOMES; i++)
        rg_set(lay_option(d, "verdicts", i, rg_outcome_name[i]), "means", "%s", rg_outcome_means[i]);
    rg_data *beside = machines > 1 ? rg_add(d, "beside") : NULL;
    for (int m = 1; m < machines; m++) lay_option(beside, "option", m - 1, l->machine[machine[m]].label);
    for (int i = 0; i < l->claims.claim.n_rows; i++) lay_claim(l, i, machine, machines, rg_add(d, "claims"));
    free(machine);
}
