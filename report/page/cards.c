// SPDX-License-Identifier: MIT
// cards.c: the first screen: for each paper what was found, how the claims came out, and the papers' ratios beside ours.
#include "content.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 400, POINTS_MOST = 9 };

// ---- counts as a bar -----------------------------------------------------------------------------------------------------

static void bar(const rg_report *r, int machine, const char *paper, rg_page *p)
{
    int count[RG_OUTCOMES], n = rg_count_outcomes(&r->ledger, machine, paper, false, count);
    if (!n) return;
    fputs("<div class=\"bar\" aria-hidden=\"true\">", p->out);
    for (int o = 0; o < RG_OUTCOMES; o++)
        if (count[o]) fprintf(p->out, "<i class=\"b%d\" style=\"flex-grow:%d\"></i>", o, count[o]);
    fputs("</div>\n<ul class=\"counts\">", p->out);
    for (int o = 0; o < RG_OUTCOMES; o++)
        if (count[o]) {
            fprintf(p->out, "<li><i class=\"b%d\"></i>%d ", o, count[o]);
            rg_html_text(p->out, rg_outcome_name[o]);
            fputs("</li>", p->out);
        }
    fputs("</ul>\n", p->out);
}

// ---- the chart: a line a ratio, hollow the paper, filled ours, one logarithmic axis -----------------------------------------

typedef struct point {
    const char *label;
    double paper, ours, low, high; // low and high NaN without an interval
} point;

static int points(const rg_report *r, int machine, const char *paper, point to[POINTS_MOST])
{
    int n = 0;
    for (int i = 0; i < r->ledger.findings.n_rows && n < POINTS_MOST; i++) {
        const char *label = rg_tsv_cell(&r->ledger.findings, i, "label");
        const int claim = rg_claim_of(&r->ledger.claims, rg_tsv_cell(&r->ledger.findings, i, "id"));
        const rg_judgement *j = rg_verdict_on(&r->ledger, claim, machine);
        char *end;
        const double published = strtod(rg_published(&r->ledger.claims, claim, "value"), &end);
        if (*label && rg_is_of(&r->ledger.claims, claim, paper) && !*end && published > 0 && j->value > 0)
            to[n++] = (point){label, published, j->value, j->low > 0 ? j->low : NAN, j->high > 0 ? j->high : NAN};
    }
    return n;
}

static void describe(const point *at, int n, rg_page *p)
{
    fputs("Ratios, the paper's and ours: ", p->out);
    for (int i = 0; i < n; i++) {
        char text[2][32];
        rg_say_digits(at[i].paper, text[0]);
        rg_say_digits(at[i].ours, text[1]);
        fputs(i ? "; " : "", p->out);
        rg_html_text(p->out, at[i].label);
        fprintf(p->out, " %s, %s", text[0], text[1]);
    }
}

static void chart(const point *at, int n, rg_page *p)
{
    enum { WIDTH = 286, LEFT = 146, RIGHT = 268, ROW = 21, TOP = 6 };
    double low = 1, high = 1; // whole decades about 1 and all points
    for (int i = 0; i < n; i++) {
        low = fmin(low, fmin(at[i].paper, at[i].ours));
        high = fmax(high, fmax(at[i].paper, at[i].ours));
    }
    const int first = (int)floor(log10(low)), last = (int)fmax(ceil(log10(high)), first + 1), foot = TOP + ROW * n;
    const int step = last - first > 4 ? 2 : 1;
#define X(value) (LEFT + (RIGHT - LEFT) * (log10(value) - first) / (last - first))
    fprintf(p->out, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, foot + 34);
    describe(at, n, p);
    fputs("\">\n", p->out);
    for (int d = first; d <= last; d++) {
        fprintf(p->out, "<path class=\"%s\" d=\"M%.1f %dV%d\"/>", d ? "grid" : "one", X(pow(10, d)), TOP, foot);
        if ((d - first) % step) continue;
        char text[32];
        snprintf(text, sizeof text, d < 3 ? "%g" : "%gk", pow(10, d < 3 ? d : d - 3));
        fprintf(p->out, "<text class=\"tick\" x=\"%.1f\" y=\"%d\">%s</text>\n", X(pow(10, d)), foot + 14, text);
    }
    for (int i = 0; i < n; i++) {
        const double y = TOP + ROW * (i + 0.5);
        fprintf(p->out, "<text class=\"name\" x=\"%d\" y=\"%.1f\">", LEFT - 8, y + 4);
        rg_html_text(p->out, at[i].label);
        fprintf(p->out, "</text><path class=\"span\" d=\"M%.1f %.1fH%.1f\"/>", X(at[i].paper), y, X(at[i].ours));
        if (isfinite(at[i].low) && isfinite(at[i].high)) // an interval may be wider than the axis
            fprintf(p->out, "<path class=\"error\" d=\"M%.1f %.1fH%.1f\"/>", X(fmax(at[i].low, pow(10, first))), y,
                X(fmin(at[i].high, pow(10, last))));
        fprintf(p->out,
            "<circle class=\"ours\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>"
            "<circle class=\"theirs\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>\n",
            X(at[i].ours), y, X(at[i].paper), y);
    }
#undef X
    fprintf(p->out,
        "<circle class=\"theirs\" cx=\"%d\" cy=\"%d\" r=\"4.5\"/><text class=\"key\" x=\"%d\" y=\"%d\">paper</text>"
        "<circle class=\"ours\" cx=\"%d\" cy=\"%d\" r=\"4.5\"/><text class=\"key\" x=\"%d\" y=\"%d\">measured</text>"
        "<text class=\"key end\" x=\"%d\" y=\"%d\">times as fast</text>\n</svg>\n",
        6, foot + 25, 14, foot + 29, 62, foot + 25, 70, foot + 29, WIDTH - 2, foot + 29);
}

// ---- the card ------------------------------------------------------------------------------------------------------------

static void where(const rg_report *r, int machine, rg_page *p)
{
    fputs("<p class=\"where\">", p->out);
    if (!r->ledger.machine[machine].here) {
        fputs("Measured on ", p->out);
        rg_html_text(p->out, r->ledger.machine[machine].label);
        fputs(", a reference machine", p->out);
    } else {
        fputs("Measured on this machine", p->out);
    }
    fputs("</p>\n", p->out);
}

static void card(const rg_report *r, int paper, rg_page *p)
{
    const char *name = rg_tsv_cell(&r->ledger.claims.paper, paper, "paper"),
               *title = rg_tsv_cell(&r->ledger.claims.paper, paper, "title");
    const char *colon = strstr(title, ": ");
    const int machine = rg_speaks_of(&r->ledger, name);
    char text[2 * TEXT];
    point at[POINTS_MOST];
    fprintf(p->out, "<article class=\"card\" aria-labelledby=\"card-%d\">\n<h3 id=\"card-%d\"><a href=\"#paper-%d\">", paper,
        paper, paper);
    rg_html_text(p->out, name);
    fputs("</a> <span>", p->out);
    rg_html_text(p->out, colon ? colon + 2 : title);
    fputs("</span></h3>\n", p->out);
    const bool measured = rg_sentences(&r->ledger, name, machine, 2, text);
    fputs("<p class=\"finding\">", p->out);
    rg_html_text(p->out, text);
    fputs("</p>\n", p->out);
    if (measured) where(r, machine, p);
    const int n = points(r, machine, name, at);
    if (n > 1) chart(at, n, p);
    bar(r, machine, name, p);
    rg_say_untested(&r->ledger, 0, name, text);
    if (*text) {
        fputs("<p class=\"untested\">", p->out);
        rg_html_rich(p->out, text);
        fputs("</p>\n", p->out);
    }
    fputs("</article>\n", p->out);
}

void rg_write_cards(const rg_report *r, rg_page *p)
{
    fputs("<section id=\"findings\" aria-label=\"Findings\" class=\"cards\">\n", p->out);
    for (int k = 0; k < r->ledger.claims.paper.n_rows; k++) card(r, rg_paper_at(r, k), p);
    fputs("</section>\n", p->out);
}
