// SPDX-License-Identifier: MIT
// findings.c: what was found, in sentences made from the verdicts by reference/findings.tsv: for the cards and titles of
// figures.
#include "../impl/base/core.h"
#include "../impl/suite.h"
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void drop_row(rg_tsv *t, int row)
{
    const size_t after = (size_t)(--t->n_rows - row), columns = (size_t)t->n_columns;
    char **cell = t->cell + (size_t)row * columns;
    memmove(cell, cell + columns, after * columns * sizeof *cell);
    memmove(&t->row_line[row], &t->row_line[row + 1], after * sizeof *t->row_line);
}

int rg_findings_read(rg_report *r, bool of_some)
{
    char *path = rg_share_path("reference/findings.tsv");
    int code = rg_tsv_read(path, &r->findings);
    if (code == RG_GOOD) code = rg_tsv_needs(&r->findings, "id label holds fails open");
    for (int i = code == RG_GOOD ? r->findings.n_rows : 0; i-- > 0 && code == RG_GOOD;) {
        const char *id = rg_tsv_cell(&r->findings, i, "id");
        if (rg_claim_of(&r->claims, id) >= 0) continue;
        if (of_some)
            drop_row(&r->findings, i);
        else
            code = rg_fail(RG_USAGE, "%s: expected ids of claims, found \"%s\"", path, id);
    }
    free(path);
    return code;
}

int rg_claim_of(const rg_claims *c, const char *id) { return rg_tsv_find(&c->claim, "id", id); }

bool rg_is_of(const rg_report *r, int claim, const char *paper) { return !strcmp(rg_claim_cell(r, claim, "paper"), paper); }

void rg_digits(double value, char text[32])
{
    const double step = fabs(value) < 1000 ? 0 : pow(10, floor(log10(fabs(value))) - 2);
    snprintf(text, 32, step > 0 ? "%.0f" : "%.3g", step > 0 ? step * round(value / step) : value);
    if (value < 1 && !strcmp(text, "1")) // less than 1 is not printed as 1
        snprintf(text, 32, "%.5g", fmin(value, 0.99999));
}

void rg_fill_in(const char *from, const rg_known_word *word, int words, char *to, size_t room)
{
    size_t n = 0;
    *to = 0;
    while (*from && n + 1 < room) {
        int k = 0;
        while (k < words && strncmp(from, word[k].word, strlen(word[k].word))) k++;
        const bool known = k < words;
        const char *text = known ? word[k].text : from;
        n += (size_t)snprintf(to + n, room - n, "%.*s", known ? (int)strlen(text) : 1, text);
        from += known ? strlen(word[k].word) : 1;
    }
}

// `from` with {ours}, {paper} and {open} filled in: what was measured, the published number, why it is not called.
static void fill(const char *from, const rg_judgement *j, const char *paper, char *to, size_t room)
{
    char ours[32], low[32], high[32], open[80] = ", timed once";
    rg_digits(j->value, ours);
    rg_digits(j->low, low);
    rg_digits(j->high, high);
    if (isfinite(j->low) && isfinite(j->high)) snprintf(open, sizeof open, ", interval %s to %s", low, high);
    const rg_known_word word[] = {{"{ours}", ours}, {"{paper}", paper}, {"{open}", open}};
    rg_fill_in(from, word, RG_COUNT(word), to, room);
}

bool rg_finding(const rg_report *r, const char *id, int machine, char *text, size_t room)
{
    static const char *const column[RG_OUTCOMES] = {"holds", "holds", "holds", "fails", "holds", "open", NULL, NULL};
    const int claim = rg_claim_of(&r->claims, id);
    *text = 0;
    if (claim < 0 || !r->judgement) return false;
    const rg_judgement *j = rg_judged(r, claim, machine);
    if (!column[j->outcome] || isnan(j->value)) return false;
    char paper[96], over[32] = "not timed";
    snprintf(paper, sizeof paper, "%.40s", rg_published(&r->claims, claim, "value"));
    if (j->over_autovec > 0) rg_digits(j->over_autovec, over);
    if (j->over_autovec != 0) // no ratio to scalar C stands alone
        snprintf(paper + strlen(paper), sizeof paper - strlen(paper), "; over a compiler's vectors: %s", over);
    const int row = rg_tsv_find(&r->findings, "id", id);
    if (row >= 0) fill(rg_tsv_cell(&r->findings, row, column[j->outcome]), j, paper, text, room);
    return *text;
}

// Sentences and points of charts that the machine has of the paper.
static int known(const rg_report *r, const char *paper, int machine)
{
    char text[400];
    int n = 0;
    for (int i = 0; i < r->findings.n_rows; i++) {
        const char *id = rg_tsv_cell(&r->findings, i, "id");
        const int claim = rg_claim_of(&r->claims, id);
        if (!rg_is_of(r, claim, paper)) continue;
        n += rg_finding(r, id, machine, text, sizeof text);
        n += *rg_tsv_cell(&r->findings, i, "label") && !isnan(rg_judged(r, claim, machine)->value);
    }
    return n;
}

int rg_speaks_of(const rg_report *r, const char *paper)
{
    enum { ENOUGH = 3 };
    int best = 0, most = known(r, paper, 0);
    for (int m = 1; m < r->n_machines && most < ENOUGH; m++) {
        const int n = known(r, paper, m);
        if (n > most) {
            best = m;
            most = n;
        }
    }
    for (int m = best + 1; best && m < r->n_machines; m++) // of the reference machines, the one with most
        if (known(r, paper, m) > known(r, paper, best)) best = m;
    return best;
}
