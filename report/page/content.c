// SPDX-License-Identifier: MIT
// content.c: what the report says: the page, its short form in Markdown, the ledger as TSV, and the claims on the terminal.
#include "content.h"
#include "../../impl/base/core.h"
#include "../../impl/suite.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MOST = 24, TEXT = 800 };

static const char title[] = "Scatter or gather: papers on GPU imaging kernels, measured again";

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

bool rg_is_shown(const rg_report *r, int m, const char *paper) { return m == 0 || rg_has_verdicts(&r->ledger, m, paper); }

static bool is_measured(const rg_report *r, int paper)
{
    const char *name = rg_tsv_cell(&r->ledger.claims.paper, paper, "paper");
    bool any = false;
    for (int m = 0; m < r->ledger.n_machines && !any; m++) any = rg_has_verdicts(&r->ledger, m, name);
    for (int i = 0; i < r->figures.n && !any; i++)
        any = r->figures.figure[i].drawn && !strcmp(r->figures.figure[i].paper, name);
    return any;
}

int rg_paper_at(const rg_report *r, int place)
{
    for (int measured = 1; measured >= 0; measured--)
        for (int i = 0; i < r->ledger.claims.paper.n_rows; i++)
            if (is_measured(r, i) == measured && place-- == 0) return i;
    return -1;
}

// ---- figures -------------------------------------------------------------------------------------------------------------

static rg_page_figure shown(const rg_figure *f)
{
    return (rg_page_figure){.title = f->title,
        .subtitle = f->subtitle,
        .wide = f->wide,
        .narrow = f->narrow,
        .alt = f->alt,
        .data = f->data,
        .script = f->script,
        .width = f->width,
        .height = f->height,
        .picture = f->picture,
        .whole = f->whole};
}

// Whether an earlier figure of the list is the same of another machine: of this machine, or of the first that has it.
static bool is_again(const rg_report *r, int i)
{
    for (int k = 0; k < i; k++)
        if (r->figures.figure[k].drawn && !strcmp(r->figures.figure[k].name, r->figures.figure[i].name) &&
            r->figures.figure[k].machine != r->figures.figure[i].machine)
            return true;
    return false;
}

// The paper's drawn figures; the first LEAD of them, or the others.
enum { LEAD = 2, FIGURES_MOST = 64 };
static int choose(const rg_report *r, const char *paper, bool lead, rg_page_figure to[FIGURES_MOST])
{
    int n = 0, before = 0;
    for (int again = 0; again < 2; again++)
        for (int i = 0; i < r->figures.n && n < FIGURES_MOST; i++)
            if (r->figures.figure[i].drawn && !strcmp(r->figures.figure[i].paper, paper) && is_again(r, i) == again &&
                (before++ < LEAD && !again) == lead)
                to[n++] = shown(&r->figures.figure[i]);
    return n;
}

static void figures(const rg_report *r, rg_page *p, const char *paper)
{
    rg_page_figure some[FIGURES_MOST];
    char text[TEXT];
    const int first = choose(r, paper, true, some);
    if (first) p->make->figures(p, some, first);
    const int others = choose(r, paper, false, some);
    if (others) {
        snprintf(text, sizeof text, others == 1 ? "1 more figure" : "%d more figures", others);
        p->make->fold(p, text);
        p->make->figures(p, some, others);
        p->make->fold_end(p);
    }
    for (int i = 0; i < r->figures.n; i++)
        if (!r->figures.figure[i].drawn && !strcmp(r->figures.figure[i].paper, paper) && r->figures.figure[i].machine == 0)
            paragraph(p, "No figure `%s`: %s.", r->figures.figure[i].name, r->figures.figure[i].why_not);
}

// ---- the page --------------------------------------------------------------------------------------------------------------

static void section(rg_page *p, const char *id, int number)
{
    fprintf(p->out, number < 0 ? "<section aria-labelledby=\"%s\">\n" : "<section aria-labelledby=\"%s-%d\">\n", id, number);
}

static void section_end(rg_page *p) { fputs("</section>\n", p->out); }

static void masthead(const rg_report *r, rg_page *p)
{
    const char *const part[] = {r->ledger.machine[0].label, rg_machine_head(&r->ledger.machine[0], "date"),
        rg_machine_head(&r->ledger.machine[0], "revision")};
    static const char *const before[] = {"", " &#183; ", " &#183; revision "};
    fputs("<a class=\"skip\" href=\"#main\">To the findings</a>\n<header>\n<h1>", p->out);
    rg_html_text(p->out, title);
    fputs("</h1>\n<p class=\"run\">", p->out);
    for (int i = 0; i < RG_COUNT(part); i++)
        if (*part[i]) {
            fputs(before[i], p->out);
            rg_html_text(p->out, part[i]);
        }
    fputs("</p>\n<nav aria-label=\"Parts of the page\">", p->out);
    fputs("<a href=\"#findings\">Findings</a>", p->out);
    for (int k = 0; k < r->ledger.claims.paper.n_rows; k++) {
        const int i = rg_paper_at(r, k);
        fprintf(p->out, "<a href=\"#paper-%d\">", i);
        rg_html_text(p->out, rg_tsv_cell(&r->ledger.claims.paper, i, "paper"));
        fputs("</a>", p->out);
    }
    fprintf(p->out,
        "<a href=\"#ledger\">Ledger</a>%s<a href=\"#machines\">Machines</a><a href=\"#data\">Data</a><a href=\"#reading\">How to read it</a></nav>\n"
        "</header>\n<main id=\"main\">\n",
        r->traces ? "<a href=\"#faults\">Faults</a>" : "");
}

static void paper_section(const rg_report *r, int i, rg_page *p)
{
    const char *paper = rg_tsv_cell(&r->ledger.claims.paper, i, "paper");
    char text[TEXT], id[32];
    snprintf(id, sizeof id, "paper-%d", i);
    section(p, "paper", i);
    p->make->heading(p, 2, id, rg_tsv_cell(&r->ledger.claims.paper, i, "title"));
    const int speaks = rg_speaks_of(&r->ledger, paper);
    const char *where = rg_machine_name(&r->ledger.machine[speaks], "");
    rg_sentences(&r->ledger, paper, speaks, 5, text);
    paragraph(p, "%s %s%s%s%s", rg_tsv_cell(&r->ledger.claims.paper, i, "subject"), *where ? "On " : "", where,
        *where ? ": " : "", text);
    figures(r, p, paper);
    const bool tables = rg_write_tables(r, NULL, paper) || rg_write_portability(r, NULL, paper);
    p->make->fold(p, tables ? "The paper's own tables, ours beside" : "What its shapes mean, and what is not compared");
    rg_write_tables(r, p, paper);
    rg_write_portability(r, p, paper);
    paragraph(p, "%s", rg_tsv_cell(&r->ledger.claims.paper, i, "shapes"));
    paragraph(p, "%s", rg_tsv_cell(&r->ledger.claims.paper, i, "limits"));
    p->make->fold_end(p);
    section_end(p);
}

static void machines_section(const rg_report *r, rg_page *p)
{
    section(p, "machines", -1);
    p->make->heading(p, 2, "machines", "Machines");
    fputs(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Machines\"><table>\n<caption>Where the numbers come from; "
        "each machine's times, checks and probes stand on a page of its own.</caption>\n<thead><tr><th scope=\"col\">Machine</th>"
        "<th scope=\"col\">CPU</th><th scope=\"col\">GPU</th><th scope=\"col\">Measured</th><th scope=\"col\">Revision</th>"
        "<th scope=\"col\">Verdicts</th></tr></thead>\n<tbody>\n",
        p->out);
    for (int m = 0; m < r->ledger.n_machines; m++) {
        const rg_bench_machine *of = &r->ledger.machine[m];
        char text[TEXT];
        rg_say_counts(&r->ledger, m, NULL, text);
        fprintf(p->out, "<tr><th scope=\"row\"><a href=\"machine-%d.html\">", m);
        rg_html_text(p->out, rg_machine_name(of, "this machine"));
        fputs("</a></th>", p->out);
        const char *const of_head[] = {rg_machine_head(of, "cpu"), rg_machine_head(of, "gpu"), rg_machine_head(of, "date"),
            rg_machine_head(of, "revision"), text};
        for (int i = 0; i < RG_COUNT(of_head); i++) {
            fputs("<td>", p->out);
            rg_html_text(p->out, of_head[i]);
            fputs("</td>", p->out);
        }
        fputs("</tr>\n", p->out);
    }
    fputs("</tbody></table></div>\n", p->out);
    rg_page_figure some[FIGURES_MOST];
    bool tested = choose(r, "", true, some) > 0;
    for (int m = 0; m < r->ledger.n_machines; m++) tested |= rg_table_of(rg_rows_on(&r->ledger, m), "duels") != NULL;
    if (tested) {
        p->make->fold(p, "Whether a verdict on time can be trusted: duels of known outcome, and a variant against itself");
        rg_write_duels(r, p);
        figures(r, p, "");
        p->make->fold_end(p);
    }
    section_end(p);
}

static void data_section(const rg_report *r, rg_page *p)
{
    static const char *const column[] = {"File", "Machine", "Rows"};
    section(p, "data", -1);
    p->make->heading(p, 2, "data", "Data");
    fputs(
        "<p><a href=\"ledger.tsv\">ledger.tsv</a> has every claim on every machine; <code>fig/</code> the points of each figure and "
        "the script that draws it again: <code>gnuplot FIGURE.gp</code> there.</p>\n",
        p->out);
    rg_write_pages(r, p->out);
    p->make->fold(p, "Files that this page was made from");
    p->make->table(p, "Result files and tables, as they were given.", "nnr", column, RG_COUNT(column));
    for (int m = 0; m < r->ledger.n_machines; m++) {
        const rg_bench_machine *of = &r->ledger.machine[m];
        char rows[24];
        for (int f = 0; f < of->n_files + of->n_tables; f++) {
            const bool table = f >= of->n_files;
            snprintf(
                rows, sizeof rows, "%d", table ? of->table[f - of->n_files].tsv.n_rows : of->file[f].up_to[r->ledger.up_to]);
            const char *cell[] = {rg_base_name(table ? of->table[f - of->n_files].tsv.path : of->file[f].result.path),
                rg_machine_name(of, "this machine"), rows};
            p->make->row(p, cell, RG_COUNT(cell));
        }
    }
    p->make->table_end(p);
    p->make->fold_end(p);
    char text[RG_SAY];
    for (int m = 0; m < r->ledger.n_machines; m++)
        for (int k = 0; rg_say_left_out(&r->ledger, m, k, text); k++) paragraph(p, "%s", text);
    section_end(p);
}

static void how_to_read(const rg_report *r, rg_page *p)
{
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
        "Scope: kernel is the kernel alone, device works on data that are already there, transfer (pinned memory) and pageable add the copies to and from "
        "the GPU, job goes from files to files. Mode: cold begins with an emptied cache, hot does not.",
        "Bound and Reached: the resource that limits the variant, by its stated need and the rate measured on the same machine "
        "in the same run, and the part of that rate that it reaches.",
        "Ratios between a CPU and a GPU of another decade say little about a pair of today: the ratio shows which way of "
        "computing wins, the absolute rates show by how much here.",
        "Times on a shared or virtual machine move with its neighbours: the A/A self-test shows by how much.",
        "Where a size differs from the paper's, the tables name it: small inputs sit in caches that the paper's leave.",
        "Reference machines were measured elsewhere and are shown beside this one, never instead of it."};
    (void)r;
    p->make->heading(p, 2, "reading", "How to read it");
    for (int i = 0; i < RG_COUNT(item); i++) {
        p->make->item(p, item[i]);
        if (i == 0) p->make->fold(p, "Claims, times, scopes, bounds, ratios"); // closes the list
    }
    p->make->fold_end(p);
}

int rg_write_index(const rg_report *r, rg_page *p)
{
    const int code = rg_html_begin(p, title);
    masthead(r, p);
    rg_write_cards(r, p);
    for (int k = 0; k < r->ledger.claims.paper.n_rows; k++) paper_section(r, rg_paper_at(r, k), p);
    section(p, "ledger", -1);
    p->make->heading(p, 2, "ledger", "Ledger");
    rg_write_ledger_table(r, p);
    section_end(p);
    if (r->traces) {
        section(p, "faults", -1);
        rg_write_gallery(r, p);
        section_end(p);
    }
    machines_section(r, p);
    data_section(r, p);
    section(p, "reading", -1);
    how_to_read(r, p);
    p->make->fold(p, "What all this cannot show"); // closes the list
    for (int i = 0; i < r->ledger.claims.paper.n_rows; i++) {
        char text[TEXT];
        snprintf(text, sizeof text, "%s: %s", rg_tsv_cell(&r->ledger.claims.paper, i, "paper"),
            rg_tsv_cell(&r->ledger.claims.paper, i, "limits"));
        p->make->item(p, text);
    }
    p->make->fold_end(p);
    section_end(p);
    fputs("</main>\n<footer><p>Made by <code>regather report</code>, revision ", p->out);
    rg_html_text(p->out, rg_revision());
    fputs(". Every number stands in a file that this page names.</p></footer>\n", p->out);
    rg_html_end(p);
    return code;
}

int rg_write_machine_page(const rg_report *r, int machine, rg_page *p)
{
    char text[TEXT];
    snprintf(text, sizeof text, "%s: all that was measured", rg_machine_name(&r->ledger.machine[machine], "This machine"));
    const int code = rg_html_begin(p, text);
    fputs("<header>\n<h1>", p->out);
    rg_html_text(p->out, text);
    fputs("</h1>\n<p class=\"run\">", p->out);
    rg_html_text(p->out, rg_machine_head(&r->ledger.machine[machine], "machine"));
    fputs("</p>\n<nav aria-label=\"Pages\"><a href=\"index.html\">Back to the findings</a></nav></header>\n<main>\n", p->out);
    rg_write_machine(rg_rows_on(&r->ledger, machine), p);
    fputs("</main>\n", p->out);
    rg_html_end(p);
    return code;
}

// ---- Markdown: what was found, the claims, the figures --------------------------------------------------------------------

static void claims_table(const rg_report *r, rg_page *p, const char *paper)
{
    const char *column[CELLS_MOST] = {
        "Item", "Claim", "Published", rg_machine_name(&r->ledger.machine[0], "This machine"), "Verdict"};
    char align[CELLS_MOST + 1] = "nlnln", label[CELLS_MOST][TEXT];
    int n = 3, machine[CELLS_MOST];
    for (int m = 0; m < r->ledger.n_machines && n + 2 <= CELLS_MOST; m++) {
        if (!rg_is_shown(r, m, paper)) continue;
        machine[n] = m;
        n += 2;
        if (!m) continue;
        snprintf(label[n - 2], TEXT, "%.96s (reference)", r->ledger.machine[m].label);
        column[n - 2] = label[n - 2];
        column[n - 1] = "Verdict there";
        memcpy(align + n - 2, "ln", 3);
    }
    p->make->table(p,
        "Claims. Ratios are of medians, with 95 % intervals; both sides of a ratio come from one machine "
        "and one size.",
        align, column, n);
    for (int i = 0; i < r->ledger.claims.claim.n_rows; i++) {
        if (!rg_is_of(&r->ledger.claims, i, paper)) continue;
        char ours[CELLS_MOST][RG_SAY];
        const char *cell[CELLS_MOST] = {
            rg_claim_cell(&r->ledger.claims, i, "id"), rg_claim_cell(&r->ledger.claims, i, "claim")};
        char published[RG_SAY];
        rg_say_published(&r->ledger.claims, i, published);
        cell[2] = published;
        for (int c = 3; c < n; c += 2) {
            rg_say_ours(rg_verdict_on(&r->ledger, i, machine[c]), ours[c]);
            cell[c] = ours[c];
            cell[c + 1] = rg_outcome_name[rg_verdict_on(&r->ledger, i, machine[c])->outcome];
        }
        p->make->row(p, cell, n);
    }
    p->make->table_end(p);
}

void rg_write_markdown(const rg_report *r, rg_page *p)
{
    char text[TEXT];
    p->make->heading(p, 1, NULL, title);
    rg_say_counts(&r->ledger, 0, NULL, text);
    paragraph(p, "%d papers, on %s. %s.", r->ledger.claims.paper.n_rows, r->ledger.machine[0].label, text);
    for (int k = 0; k < r->ledger.claims.paper.n_rows; k++) {
        const int i = rg_paper_at(r, k);
        const char *paper = rg_tsv_cell(&r->ledger.claims.paper, i, "paper");
        p->make->heading(p, 2, NULL, rg_tsv_cell(&r->ledger.claims.paper, i, "title"));
        paragraph(p, "%s", rg_tsv_cell(&r->ledger.claims.paper, i, "subject"));
        const int speaks = rg_speaks_of(&r->ledger, paper);
        rg_sentences(&r->ledger, paper, speaks, 5, text);
        paragraph(p, "On %s: %s", rg_machine_name(&r->ledger.machine[speaks], "this machine"), text);
        for (int m = 0; m < r->ledger.n_machines; m++)
            if (rg_is_shown(r, m, paper)) {
                rg_say_counts(&r->ledger, m, paper, text);
                paragraph(p, "%s: %s.", rg_machine_name(&r->ledger.machine[m], "This machine"), text);
            }
        rg_say_untested(&r->ledger, 0, paper, text);
        if (*text) paragraph(p, "%s", text);
        claims_table(r, p, paper);
        figures(r, p, paper);
        rg_write_tables(r, p, paper);
        rg_write_portability(r, p, paper);
    }
    rg_write_duels(r, p);
    how_to_read(r, p);
}

// ---- the ledger and the terminal -----------------------------------------------------------------------------------------

void rg_write_ledger(const rg_report *r, FILE *out)
{
    fputs("machine\tid\tpaper\taddition\tverdict\tpublished\tunit\tours\tlow\thigh\tsize\tscope\tfails\tdecided\tnote\n", out);
    for (int m = 0; m < r->ledger.n_machines; m++)
        for (int i = 0; i < r->ledger.claims.claim.n_rows; i++) {
            const rg_tsv *t = &r->ledger.claims.claim;
            const rg_judgement *j = rg_verdict_on(&r->ledger, i, m);
            char number[3][32] = {"-", "-", "-"}, why[RG_SAY];
            rg_say_why(&r->ledger.claims, i, j, why);
            const double value[3] = {j->value, j->low, j->high};
            for (int k = 0; k < 3; k++)
                if (isfinite(value[k])) snprintf(number[k], sizeof number[k], "%.6g", value[k]);
            const char *cell[] = {rg_machine_name(&r->ledger.machine[m], "this"), rg_tsv_cell(t, i, "id"),
                rg_tsv_cell(t, i, "paper"), rg_is_addition(&r->ledger.claims, i) ? "yes" : "no", rg_outcome_name[j->outcome],
                rg_published(&r->ledger.claims, i, "value"), rg_published(&r->ledger.claims, i, "unit"), number[0], number[1],
                number[2], j->size, j->scope, rg_tsv_cell(t, i, "fails"), why, rg_tsv_cell(t, i, "note")};
            for (int c = 0; c < RG_COUNT(cell); c++) fprintf(out, "%s%s", c ? "\t" : "", *cell[c] ? cell[c] : "-");
            fputc('\n', out);
        }
}

// Not wider than a terminal of 100 columns: the claim's own words stand on the page.
void rg_print_claims(const rg_report *r, FILE *out)
{
    static const char *const colour[RG_OUTCOMES] = {"green", "green", "yellow", "red", "green", "yellow", "dim", "yellow"};
    fprintf(out, "%-5s %-19s %-16s %s\n", "item", "verdict", "published", rg_machine_name(&r->ledger.machine[0], "here"));
    for (int i = 0; i < r->ledger.claims.claim.n_rows; i++) {
        const rg_judgement *j = rg_verdict_on(&r->ledger, i, 0);
        char published[RG_SAY], said[RG_SAY];
        rg_say_published(&r->ledger.claims, i, published);
        rg_say_ours(j, said);
        if (!*said) rg_say_why(&r->ledger.claims, i, j, said);
        fprintf(out, "%-5s %s%-19s%s %-16.16s %.57s\n", rg_claim_cell(&r->ledger.claims, i, "id"),
            rg_colour(out, colour[j->outcome]), rg_outcome_name[j->outcome], rg_colour(out, "off"), published, said);
    }
    char text[TEXT];
    rg_say_counts(&r->ledger, 0, NULL, text);
    fprintf(out, "%s\n", text);
}
