// SPDX-License-Identifier: MIT
// content.c: what the report says, once for both makes of page.
#include "../../impl/base/core.h"
#include "../../impl/suite.h"
#include "../report.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MOST = 24, TEXT = 400 };

static void paragraph(rg_page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void paragraph(rg_page *p, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p->make->paragraph(p, text);
}

// ---- claims --------------------------------------------------------------------------------------------------------------

static bool is_paper_defect(const rg_report *r, int i)
{
    return !strcmp(rg_tsv_cell(&r->claims.claim, i, "kind"), "paper");
}

static rg_judgement judged(const rg_report *r, int claim, int machine)
{
    return r->judgement[claim * r->n_machines + machine];
}

static void published_text(const rg_report *r, int i, char *text, size_t room)
{
    snprintf(text, room, "%.40s %.24s", rg_published(&r->claims, i, "value"), rg_published(&r->claims, i, "unit"));
}

static bool of_paper(const rg_report *r, int claim, const char *paper)
{
    return !strcmp(rg_tsv_cell(&r->claims.claim, claim, "paper"), paper);
}

// This machine, and each reference machine whose files decide anything of this paper.
static bool is_shown(const rg_report *r, int m, const char *paper)
{
    bool any = m == 0;
    for (int i = 0; i < r->claims.claim.n_rows && !any; i++)
        any = !is_paper_defect(r, i) && of_paper(r, i, paper) && judged(r, i, m).outcome != RG_NOT_TESTABLE;
    return any;
}

static void claims_table(const rg_report *r, rg_page *p, const char *paper)
{
    const char *column[CELLS_MOST] = {"Item", "Claim", "Published", "This machine", "Verdict"};
    char align[CELLS_MOST + 1] = "nlnln";
    char label[CELLS_MOST][TEXT];
    int n = 3, machine[CELLS_MOST];
    for (int m = 0; m < r->n_machines && n + 2 <= CELLS_MOST; m++) {
        if (!is_shown(r, m, paper))
            continue;
        machine[n] = m;
        n += 2;
        if (!m)
            continue;
        snprintf(label[n - 2], TEXT, "%.96s (reference)", r->machine[m].label);
        snprintf(label[n - 1], TEXT, "Verdict there");
        column[n - 2] = label[n - 2];
        column[n - 1] = label[n - 1];
        memcpy(align + n - 2, "ln", 3);
    }
    p->make->table(p, "Claims. Ratios are of medians, with 95 % bootstrap intervals; both sides of a ratio come from one machine "
                      "and one size.", align, column, n);
    for (int i = 0; i < r->claims.claim.n_rows; i++) {
        if (is_paper_defect(r, i) || !of_paper(r, i, paper))
            continue;
        const char *cell[CELLS_MOST] = {rg_tsv_cell(&r->claims.claim, i, "id"), rg_tsv_cell(&r->claims.claim, i, "claim")};
        char published[80];
        published_text(r, i, published, sizeof published);
        cell[2] = published;
        rg_judgement j[CELLS_MOST];
        for (int c = 3; c < n; c += 2) {
            j[c] = judged(r, i, machine[c]);
            cell[c] = j[c].ours;
            cell[c + 1] = rg_outcome_name[j[c].outcome];
        }
        p->make->row(p, cell, n);
    }
    p->make->table_end(p);
}

static void reasons_table(const rg_report *r, rg_page *p, int paper)
{
    static const char *const column[] = {"Item",     "Machine",              "Size", "Scope", "What decided",
                                         "Fails at", "Reason of the bounds", "Note"};
    char caption[TEXT];
    snprintf(caption, sizeof caption, "How each claim was judged. %s", rg_tsv_cell(&r->claims.paper, paper, "shapes"));
    p->make->table(p, caption, "nnnlnlll", column, RG_COUNT(column));
    for (int i = 0; i < r->claims.claim.n_rows; i++) {
        if (is_paper_defect(r, i) || !of_paper(r, i, rg_tsv_cell(&r->claims.paper, paper, "paper")))
            continue;
        for (int m = 0; m < r->n_machines; m++) {
            if (!is_shown(r, m, rg_tsv_cell(&r->claims.paper, paper, "paper")))
                continue;
            rg_judgement j = judged(r, i, m);
            const char *cell[] = {rg_tsv_cell(&r->claims.claim, i, "id"), m ? r->machine[m].label : "this", j.size, j.scope,
                                  j.why, m ? "" : rg_tsv_cell(&r->claims.claim, i, "fails"),
                                  m ? "" : rg_tsv_cell(&r->claims.claim, i, "why"),
                                  m ? "" : rg_tsv_cell(&r->claims.claim, i, "note")};
            p->make->row(p, cell, RG_COUNT(cell));
        }
    }
    p->make->table_end(p);
}

static void defects_table(const rg_report *r, rg_page *p, const char *paper)
{
    int n = 0;
    for (int i = 0; i < r->claims.claim.n_rows; i++)
        n += is_paper_defect(r, i) && of_paper(r, i, paper);
    if (!n)
        return;
    static const char *const column[] = {"Item", "In the paper", "Verdict", "How", "Here"};
    p->make->table(p, "Where the paper does not agree with itself.", "nlnll", column, RG_COUNT(column));
    for (int i = 0; i < r->claims.claim.n_rows; i++)
        if (is_paper_defect(r, i) && of_paper(r, i, paper)) {
            const char *cell[] = {rg_tsv_cell(&r->claims.claim, i, "id"), rg_tsv_cell(&r->claims.claim, i, "claim"),
                                  rg_outcome_name[RG_INCONSISTENT], rg_tsv_cell(&r->claims.claim, i, "why"),
                                  rg_tsv_cell(&r->claims.claim, i, "note")};
            p->make->row(p, cell, RG_COUNT(cell));
        }
    p->make->table_end(p);
}

// Of the paper's claims, or of what this project added to them; paper NULL: of all.
static int count_outcomes(const rg_report *r, int machine, const char *paper, bool additions, int count[RG_OUTCOMES])
{
    int n = 0;
    memset(count, 0, RG_OUTCOMES * sizeof *count);
    for (int i = 0; i < r->claims.claim.n_rows; i++)
        if ((!paper || of_paper(r, i, paper)) && rg_is_addition(&r->claims, i) == additions) {
            count[judged(r, i, machine).outcome]++;
            n++;
        }
    return n;
}

// "145 claims: 61 reproduced, ...; 12 additions of this project: ..."; verdicts that did not come out are left out.
static void counts_text(const rg_report *r, int machine, const char *paper, char *text, size_t room)
{
    size_t at = 0;
    *text = 0;
    for (int additions = 0; additions < 2; additions++) {
        int count[RG_OUTCOMES], n = count_outcomes(r, machine, paper, additions, count);
        const char *separator = ": ";
        if (n && at < room)
            at += (size_t)snprintf(text + at, room - at, "%s%d %s", additions ? "; " : "", n,
                                   additions ? "additions of this project" : "claims");
        for (int o = 0; o < RG_OUTCOMES && at < room; o++)
            if (count[o]) {
                at += (size_t)snprintf(text + at, room - at, "%s%d %s", separator, count[o], rg_outcome_name[o]);
                separator = ", ";
            }
    }
}

// ---- the whole -----------------------------------------------------------------------------------------------------------

static void figures(const rg_report *r, rg_page *p, const char *paper)
{
    int n = 0;
    for (int i = 0; i < r->n_figures; i++) {
        const rg_figure *f = &r->figure[i];
        if (strcmp(f->paper, paper))
            continue;
        if (!n++)
            p->make->heading(p, 3, "Figures");
        if (f->drawn)
            p->make->figure(p, f->file, f->alt, f->caption);
        else
            paragraph(p, "%s Not drawn: %s.", f->caption, f->why_not);
    }
    if (!n)
        p->make->paragraph(p, "No figure: no file holds what one needs.");
}

static void paper_section(const rg_report *r, int i, rg_page *p)
{
    const char *paper = rg_tsv_cell(&r->claims.paper, i, "paper");
    char text[TEXT];
    p->make->heading(p, 2, rg_tsv_cell(&r->claims.paper, i, "title"));
    counts_text(r, 0, paper, text, sizeof text);
    paragraph(p, "%s On this machine %s.", rg_tsv_cell(&r->claims.paper, i, "subject"), text);
    for (int m = 1; m < r->n_machines; m++)
        if (is_shown(r, m, paper)) {
            counts_text(r, m, paper, text, sizeof text);
            paragraph(p, "On %s %s.", r->machine[m].label, text);
        }
    claims_table(r, p, paper);
    rg_write_tables(r, p, paper);
    rg_write_portability(r, p, paper);
    figures(r, p, paper);
    p->make->heading(p, 3, "How the claims were judged");
    reasons_table(r, p, i);
    defects_table(r, p, paper);
}

static void how_to_read(rg_page *p)
{
    p->make->heading(p, 2, "How to read it");
    static const char *const item[] = {
        "reproduced: our number lies on the side that the paper says and between the bounds that `reference/claims.tsv` gives "
        "with their reason. order of magnitude: the same with bounds of half a decade either way. direction only: outside the "
        "bounds, on the paper's side with the whole interval. contradicted today: on the other side with the whole interval, "
        "or a FAIL of the checker; the reason stands beside it. exists: shown to run or to be there, no number is met. not "
        "called: measured, but without an interval, or with one that holds both answers. not testable here: the rows are "
        "missing and the reason is given; no number of another machine takes their place. paper inconsistent: the paper "
        "contradicts itself.",
        "Claims rest on a published number or sentence; what has none is an addition of this project and counted apart. Fails "
        "at: the result that makes the claim fail, which a test feeds to the judge.",
        "Every time is a median of samples taken in turn with all other variants; the interval holds 95 %. A variant is timed "
        "only after it has passed the checker in the same build.",
        "Scope: kernel is the kernel alone, device works on data that are already there, transfer adds the copies to and from "
        "the GPU, job goes from files to files. Mode: cold begins with an emptied cache, hot does not.",
        "Bound and Reached: the resource that limits the variant, by its stated need and the rate measured on the same machine "
        "in the same run, and the part of that rate that it reaches.",
        "Columns marked reference were measured on another machine and are shown beside this one, never instead of it."};
    for (int i = 0; i < RG_COUNT(item); i++)
        p->make->item(p, item[i]);
}

static void limits(const rg_report *r, rg_page *p)
{
    p->make->heading(p, 2, "Limits");
    static const char *const item[] = {
        ("Ratios between a CPU and a GPU of another decade say little about a pair of today: the ratio shows which way of "
         "computing wins, the absolute rates show by how much here."),
        "Times on a shared or virtual machine move with its neighbours: the A/A self-test shows by how much.",
        "Where a size differs from the paper's, the tables name it: small inputs sit in caches that the paper's leave."};
    for (int i = 0; i < RG_COUNT(item); i++)
        p->make->item(p, item[i]);
    for (int i = 0; i < r->claims.paper.n_rows; i++) {
        char text[600];
        snprintf(text, sizeof text, "%s: %s", rg_tsv_cell(&r->claims.paper, i, "paper"),
                 rg_tsv_cell(&r->claims.paper, i, "limits"));
        p->make->item(p, text);
    }
}

void rg_write_content(const rg_report *r, rg_page *p)
{
    char text[TEXT];
    p->make->begin(p, "Papers on GPU imaging kernels, measured again");
    counts_text(r, 0, NULL, text, sizeof text);
    paragraph(p, "%d papers, on %s. %s.", r->claims.paper.n_rows, r->machine[0].label, text);
    for (int m = 1; m < r->n_machines; m++) {
        counts_text(r, m, NULL, text, sizeof text);
        paragraph(p, "Reference machine %s, measured there and shown beside: %s.", r->machine[m].label, text);
    }
    how_to_read(p);
    for (int i = 0; i < r->claims.paper.n_rows; i++)
        paper_section(r, i, p);
    rg_write_gallery(r, p);
    for (int m = 0; m < r->n_machines; m++)
        rg_write_machine(&r->machine[m], p);
    figures(r, p, "");
    limits(r, p);
    p->make->end(p);
}

void rg_write_ledger(const rg_report *r, FILE *out)
{
    fputs("machine\tid\tpaper\taddition\tverdict\tpublished\tunit\tours\tlow\thigh\tsize\tscope\tfails\tdecided\tnote\n", out);
    for (int m = 0; m < r->n_machines; m++)
        for (int i = 0; i < r->claims.claim.n_rows; i++) {
            const rg_tsv *t = &r->claims.claim;
            rg_judgement j = judged(r, i, m);
            char number[3][32] = {"-", "-", "-"};
            const double value[3] = {j.value, j.low, j.high};
            for (int k = 0; k < 3; k++)
                if (isfinite(value[k]))
                    snprintf(number[k], sizeof number[k], "%.6g", value[k]);
            const char *cell[] = {m ? r->machine[m].label : "this", rg_tsv_cell(t, i, "id"), rg_tsv_cell(t, i, "paper"),
                                  rg_is_addition(&r->claims, i) ? "yes" : "no", rg_outcome_name[j.outcome],
                                  rg_published(&r->claims, i, "value"), rg_published(&r->claims, i, "unit"), number[0],
                                  number[1], number[2], j.size, j.scope, rg_tsv_cell(t, i, "fails"), j.why, rg_tsv_cell(t, i, "note")};
            for (int c = 0; c < RG_COUNT(cell); c++)
                fprintf(out, "%s%s", c ? "\t" : "", *cell[c] ? cell[c] : "-");
            fputc('\n', out);
        }
}

void rg_print_claims(const rg_report *r, FILE *out)
{
    static const char *const colour[RG_OUTCOMES] = {"green", "green", "yellow", "red", "green", "yellow", "dim", "yellow"};
    fprintf(out, "%-5s %-19s %-21s %-42s %s\n", "item", "verdict", "published", "here", "claim");
    for (int i = 0; i < r->claims.claim.n_rows; i++) {
        rg_judgement j = judged(r, i, 0);
        char published[80];
        published_text(r, i, published, sizeof published);
        fprintf(out, "%-5s %s%-19s%s %-21s %-42s %s%s%s\n", rg_tsv_cell(&r->claims.claim, i, "id"),
                rg_colour(out, colour[j.outcome]), rg_outcome_name[j.outcome], rg_colour(out, "off"), published, j.ours,
                rg_tsv_cell(&r->claims.claim, i, "claim"), j.outcome == RG_NOT_TESTABLE ? ": " : "",
                j.outcome == RG_NOT_TESTABLE ? j.why : "");
    }
    char text[TEXT];
    counts_text(r, 0, NULL, text, sizeof text);
    fprintf(out, "%s\n", text);
}
