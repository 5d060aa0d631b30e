// SPDX-License-Identifier: MIT
// ledger.c: every claim in one table: what the paper says, what this machine and a chosen reference machine measured, the
// verdicts; a row opens to what decided, and to the command that repeats it. plots/page.js filters and sorts it; without, all
// is there.
#include "../../impl/base/core.h"
#include "content.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = RG_SAY };

static const char *name_of(const rg_report *r, int machine)
{
    return rg_machine_name(&r->ledger.machine[machine], "this machine");
}

// ---- what a row opens to ---------------------------------------------------------------------------------------------------

static void fact(rg_page *p, const char *name, const char *text, bool code)
{
    if (!*text) return;
    fprintf(p->out, "<dt>%s</dt><dd>%s", name, code ? "<code>" : "");
    (code ? rg_html_text : rg_html_rich)(p->out, text);
    fprintf(p->out, "%s</dd>\n", code ? "</code>" : "");
}

static void on_machine(const rg_report *r, int claim, int machine, rg_page *p)
{
    const rg_judgement *j = rg_verdict_on(&r->ledger, claim, machine);
    char text[TEXT];
    fputs("<h4>", p->out);
    rg_html_text(p->out, name_of(r, machine));
    fputs("</h4><dl>\n", p->out);
    rg_say_why(&r->ledger.claims, claim, j, text);
    fact(p, "Decided", text, false);
    fact(p, "Size", j->size, true);
    fact(p, "Scope", j->scope, false);
    rg_say_samples(&r->ledger, claim, machine, text);
    fact(p, "Samples", text, false);
    fputs("</dl>\n", p->out);
}

static void opened(const rg_report *r, int claim, int first_machine, rg_page *p)
{
    char text[TEXT];
    fputs("<dl>\n", p->out);
    rg_say_bounds(&r->ledger.claims, claim, text);
    fact(p, "Bounds", text, false);
    fact(p, "Fails at", rg_claim_cell(&r->ledger.claims, claim, "fails"), false);
    fact(p, "Note", rg_claim_cell(&r->ledger.claims, claim, "note"), false);
    if (!rg_is_defect(&r->ledger.claims, claim)) {
        rg_say_command(&r->ledger, claim, isnan(rg_verdict_on(&r->ledger, claim, 0)->value) ? first_machine : 0, text);
        fact(p, "Again", text, true);
    }
    fputs("</dl>\n", p->out);
    for (int m = 0; m < r->ledger.n_machines && !rg_is_defect(&r->ledger.claims, claim); m++)
        if (m == 0 || rg_verdict_on(&r->ledger, claim, m)->outcome != RG_NOT_TESTABLE) on_machine(r, claim, m, p);
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
    const rg_judgement *j = rg_verdict_on(&r->ledger, claim, machine);
    char class[32];
    snprintf(class, sizeof class, place ? "ours m m%d" : "ours", place);
    open_cell(p, class, name_of(r, machine));
    fprintf(p->out, " data-v=\"%d\"", j->outcome);
    if (isfinite(j->value)) fprintf(p->out, " data-value=\"%.6g\"", j->value);
    fprintf(p->out, "><span class=\"v v%d\">%s</span> ", j->outcome, rg_outcome_name[j->outcome]);
    char text[RG_SAY];
    rg_say_ours(j, text);
    rg_html_rich(p->out, text);
    fputs("</td>", p->out);
}

static void row(const rg_report *r, int claim, const int *machine, int machines, rg_page *p)
{
    const char *id = rg_claim_cell(&r->ledger.claims, claim, "id"), *paper = rg_claim_cell(&r->ledger.claims, claim, "paper");
    fputs("<tr id=\"claim-", p->out);
    rg_html_text(p->out, id);
    fprintf(p->out, "\" data-paper=\"%d\">", rg_paper_of(&r->ledger.claims, paper));
    fputs("<th scope=\"row\" class=\"id\">", p->out);
    rg_html_text(p->out, id);
    fputs("</th>", p->out);
    open_cell(p, "paper", "Paper");
    putc('>', p->out);
    rg_html_text(p->out, paper);
    fputs("</td>", p->out);
    open_cell(p, "claim", "Claim");
    fputs("><details><summary>", p->out);
    rg_html_rich(p->out, rg_claim_cell(&r->ledger.claims, claim, "claim"));
    fputs("</summary>\n", p->out);
    opened(r, claim, machines > 1 ? machine[1] : 0, p);
    fputs("</details></td>", p->out);
    open_cell(p, "printed", "Printed");
    char *end;
    const char *value = rg_published(&r->ledger.claims, claim, "value");
    const double number = strtod(value, &end);
    if (*value && !*end) fprintf(p->out, " data-value=\"%.6g\"", number);
    putc('>', p->out);
    rg_html_text(p->out, rg_is_addition(&r->ledger.claims, claim) ? "addition" : value);
    putc(' ', p->out);
    rg_html_text(p->out, rg_published(&r->ledger.claims, claim, "unit"));
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
    int *machine = rg_alloc((size_t)r->ledger.n_machines * sizeof *machine), machines = 1; // [0] is this one
    const char **label = rg_alloc((size_t)r->ledger.n_machines * sizeof *label), *paper[RG_PAPERS_MOST];
    for (int m = 1; m < r->ledger.n_machines; m++)
        if (rg_is_shown(r, m, NULL)) {
            label[machines - 1] = r->ledger.machine[m].label;
            machine[machines++] = m;
        }
    for (int i = 0; i < r->ledger.claims.paper.n_rows; i++) paper[i] = rg_tsv_cell(&r->ledger.claims.paper, i, "paper");
    fputs("<form class=\"filters\" hidden>\n", p->out);
    options_of("paper", "Paper", paper, r->ledger.claims.paper.n_rows, "all", p);
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
        rg_html_text(p->out, rg_machine_name(&r->ledger.machine[machine[m]], "This machine"));
        fputs(m ? " <small>(reference)</small></th>" : "</th>", p->out);
    }
    fputs("</tr></thead>\n<tbody>\n", p->out);
    for (int i = 0; i < r->ledger.claims.claim.n_rows; i++) row(r, i, machine, machines, p);
    fputs("</tbody></table>\n", p->out);
    free(machine);
    free(label);
}
