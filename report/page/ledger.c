// SPDX-License-Identifier: MIT
// ledger.c: every claim in one table: what the paper says, what this machine and a chosen reference machine measured, the
// verdicts; a row opens to what decided, and to the command that repeats it. plots/page.js filters and sorts it; without, all
// is there.
#include "../../impl/base/core.h"
#include "content.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 400 };

static const char *name_of(const rg_report *r, int machine) { return rg_machine_name(&r->machine[machine], "this machine"); }

// ---- what a row opens to ---------------------------------------------------------------------------------------------------

static void fact(rg_page *p, const char *name, const char *text, bool code)
{
    if (!*text) return;
    fprintf(p->out, "<dt>%s</dt><dd>%s", name, code ? "<code>" : "");
    (code ? rg_html_text : rg_html_rich)(p->out, text);
    fprintf(p->out, "%s</dd>\n", code ? "</code>" : "");
}

static void bounds_text(const rg_report *r, int claim, char *text, size_t room)
{
    const char *low = rg_claim_cell(r, claim, "low"), *high = rg_claim_cell(r, claim, "high");
    const char *side = rg_claim_cell(r, claim, "direction"), *why = rg_claim_cell(r, claim, "why");
    const bool any = *low || *high;
    snprintf(text, room, "%s%s%s%s%s%s%s%s%s", *low ? "from " : "", low, *low && *high ? " " : "", *high ? "to " : "", high,
        *side ? any ? "; the paper's side is " : "the paper's side is " : "", side, *why && (any || *side) ? ": " : "", why);
}

// How many samples each side of a ratio rests on, and how long a call took.
static void samples_text(const rg_report *r, int claim, int machine, char *text, size_t room)
{
    const rg_judgement *j = rg_judged(r, claim, machine);
    const char *spec[2] = {rg_claim_cell(r, claim, "numerator"), rg_claim_cell(r, claim, "denominator")};
    size_t n = 0;
    *text = 0;
    for (int k = 0; k < 2 && *j->size; k++) {
        rg_measure of;
        char median[32];
        if (!*spec[k] || !rg_pick(&r->machine[machine], spec[k], j->size, rg_claim_cell(r, claim, "scope"), &of)) continue;
        rg_samples samples = rg_row_samples(of.row);
        const int count = samples.n;
        rg_samples_free(&samples);
        rg_duration(of.median_ns, median);
        if (n < room)
            n += (size_t)snprintf(text + n, room - n, "%s%s %s: %s, median of %d", n ? "; " : "", of.row->cell[RG_C_VARIANT],
                of.row->cell[RG_C_PARAMS], median, count);
    }
}

static void on_machine(const rg_report *r, int claim, int machine, rg_page *p)
{
    const rg_judgement *j = rg_judged(r, claim, machine);
    char text[TEXT];
    fputs("<h4>", p->out);
    rg_html_text(p->out, name_of(r, machine));
    fputs("</h4><dl>\n", p->out);
    fact(p, "Decided", j->why, false);
    fact(p, "Size", j->size, true);
    fact(p, "Scope", j->scope, false);
    samples_text(r, claim, machine, text, sizeof text);
    fact(p, "Samples", text, false);
    fputs("</dl>\n", p->out);
}

static void opened(const rg_report *r, int claim, int first_machine, rg_page *p)
{
    char text[2 * TEXT];
    fputs("<dl>\n", p->out);
    bounds_text(r, claim, text, sizeof text);
    fact(p, "Bounds", text, false);
    fact(p, "Fails at", rg_claim_cell(r, claim, "fails"), false);
    fact(p, "Note", rg_claim_cell(r, claim, "note"), false);
    if (!rg_is_defect(r, claim)) {
        rg_again(r, claim, isnan(rg_judged(r, claim, 0)->value) ? first_machine : 0, text, sizeof text);
        fact(p, "Again", text, true);
    }
    fputs("</dl>\n", p->out);
    for (int m = 0; m < r->n_machines && !rg_is_defect(r, claim); m++)
        if (m == 0 || rg_judged(r, claim, m)->outcome != RG_NOT_TESTABLE) on_machine(r, claim, m, p);
}

// ---- rows ------------------------------------------------------------------------------------------------------------------

static void open_cell(rg_page *p, const char *class, const char *head)
{
    fprintf(p->out, "<td class=\"%s\" data-head=\"", class);
    rg_html_text(p->out, head);
    putc('"', p->out);
}

static void verdict(const rg_report *r, int claim, int machine, int place, rg_page *p)
{
    const rg_judgement *j = rg_judged(r, claim, machine);
    char class[32];
    snprintf(class, sizeof class, place ? "ours m m%d" : "ours", place);
    open_cell(p, class, name_of(r, machine));
    fprintf(p->out, " data-v=\"%d\"", j->outcome);
    if (isfinite(j->value)) fprintf(p->out, " data-value=\"%.6g\"", j->value);
    fprintf(p->out, "><span class=\"v v%d\">%s</span> ", j->outcome, rg_outcome_name[j->outcome]);
    rg_html_rich(p->out, j->ours);
    fputs("</td>", p->out);
}

static void row(const rg_report *r, int claim, const int *machine, int machines, rg_page *p)
{
    const char *id = rg_claim_cell(r, claim, "id"), *paper = rg_claim_cell(r, claim, "paper");
    fputs("<tr id=\"claim-", p->out);
    rg_html_text(p->out, id);
    fprintf(p->out, "\" data-paper=\"%d\">", rg_paper_of(&r->claims, paper));
    fputs("<th scope=\"row\" class=\"id\">", p->out);
    rg_html_text(p->out, id);
    fputs("</th>", p->out);
    open_cell(p, "paper", "Paper");
    putc('>', p->out);
    rg_html_text(p->out, paper);
    fputs("</td>", p->out);
    open_cell(p, "claim", "Claim");
    fputs("><details><summary>", p->out);
    rg_html_rich(p->out, rg_claim_cell(r, claim, "claim"));
    fputs("</summary>\n", p->out);
    opened(r, claim, machines > 1 ? machine[1] : 0, p);
    fputs("</details></td>", p->out);
    open_cell(p, "printed", "Printed");
    char *end;
    const char *value = rg_published(&r->claims, claim, "value");
    const double number = strtod(value, &end);
    if (*value && !*end) fprintf(p->out, " data-value=\"%.6g\"", number);
    putc('>', p->out);
    rg_html_text(p->out, rg_is_addition(&r->claims, claim) ? "addition" : value);
    putc(' ', p->out);
    rg_html_text(p->out, rg_published(&r->claims, claim, "unit"));
    fputs("</td>", p->out);
    for (int m = 0; m < machines; m++) verdict(r, claim, machine[m], m, p);
    fputs("</tr>\n", p->out);
}

static void options_of(const char *name, const char *label, const char *const *option, int n, const char *all, rg_page *p)
{
    fprintf(p->out, "<label>%s <select name=\"%s\">", label, name);
    if (all) fprintf(p->out, "<option value=\"\">%s</option>", all);
    for (int i = 0; i < n; i++) {
        fprintf(p->out, "<option value=\"%d\">", i);
        rg_html_text(p->out, option[i]);
        fputs("</option>", p->out);
    }
    fputs("</select></label>\n", p->out);
}

void rg_write_ledger_table(const rg_report *r, rg_page *p)
{
    int *machine = rg_alloc((size_t)r->n_machines * sizeof *machine), machines = 1; // [0] is this one
    const char **label = rg_alloc((size_t)r->n_machines * sizeof *label), *paper[RG_PAPERS_MOST];
    for (int m = 1; m < r->n_machines; m++)
        if (rg_is_shown(r, m, NULL)) {
            label[machines - 1] = r->machine[m].label;
            machine[machines++] = m;
        }
    for (int i = 0; i < r->claims.paper.n_rows; i++) paper[i] = rg_tsv_cell(&r->claims.paper, i, "paper");
    fputs("<form class=\"filters\" hidden>\n", p->out);
    options_of("paper", "Paper", paper, r->claims.paper.n_rows, "all", p);
    options_of("verdict", "Verdict", rg_outcome_name, RG_OUTCOMES, "all", p);
    if (machines > 1) options_of("machine", "Beside", label, machines - 1, NULL, p);
    fputs(
        "<output aria-live=\"polite\"></output></form>\n<noscript><style>.m{display:table-cell!important}</style></noscript>\n"
        "<table class=\"ledger\">\n<caption>Every claim. Ratios are of medians with 95&nbsp;% intervals; both sides come from one "
        "machine, one size and one scope. A row opens to what decided, and to the command that repeats it.</caption>\n"
        "<thead><tr><th scope=\"col\">Item</th><th scope=\"col\">Paper</th><th scope=\"col\">Claim</th>"
        "<th scope=\"col\">Printed</th>",
        p->out);
    for (int m = 0; m < machines; m++) {
        fprintf(p->out, m ? "<th scope=\"col\" class=\"m m%d\">" : "<th scope=\"col\">", m);
        rg_html_text(p->out, rg_machine_name(&r->machine[machine[m]], "This machine"));
        fputs(m ? " <small>(reference)</small></th>" : "</th>", p->out);
    }
    fputs("</tr></thead>\n<tbody>\n", p->out);
    for (int i = 0; i < r->claims.claim.n_rows; i++) row(r, i, machine, machines, p);
    fputs("</tbody></table>\n", p->out);
    free(machine);
    free(label);
}
