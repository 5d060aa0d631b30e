// SPDX-License-Identifier: MIT
// index.c: the page as a whole: papers with their figures and tables, machines, files.
#include "page.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"

bool rg_is_shown(const rg_report *r, int m, const char *paper) { return m == 0 || rg_has_verdicts(&r->ledger, m, paper); }

static bool is_measured(const rg_report *r, int paper) {
    const char *name = rg_paper_cell(&r->ledger.claims, paper, "paper");
    bool any = false;
    for (int m = 0; m < r->ledger.n_machines && !any; m++) any = rg_has_verdicts(&r->ledger, m, name);
    for (int i = 0; i < r->figures.n && !any; i++)
        any = r->figures.figure[i].drawn && !strcmp(r->figures.figure[i].paper, name);
    return any;
}

int rg_paper_at(const rg_report *r, int place) {
    for (int measured = 1; measured >= 0; measured--)
        for (int i = 0; i < r->ledger.claims.paper.n_rows; i++)
            if (is_measured(r, i) == measured && place-- == 0) return i;
    return -1;
}

// ---- figures -------------------------------------------------------------------------------------------------------------

// Whether an earlier figure of the list is the same one for another machine: this machine, or the first that has it.
static bool is_again(const rg_figures *all, int i) {
    const rg_figure *f = &all->figure[i];
    for (const rg_figure *k = all->figure; k < f; k++)
        if (k->drawn && !strcmp(k->name, f->name) && k->machine != f->machine) return true;
    return false;
}

// Sets "fig6-h200" for fig/fig6-h200.svg.
static void set_id(const rg_figure *f, const char *name, rg_data *d) {
    rg_set(d, name, "%.*s", (int)strlen(f->wide) - (int)strlen("fig/.svg"), f->wide + strlen("fig/"));
}

static void lay_figure(const rg_figure *f, rg_data *d) {
    set_id(f, "id", d);
    const bool broad = !*f->narrow; // its text would be too small on a phone, so it scrolls in its frame there
    rg_set(d, "class", "%s%s%s", f->picture ? "picture" : "lines", f->whole ? " whole" : "", broad ? " broad" : "");
    const struct {
        const char *name, *text;
    } text[] = {{"title", f->title}, {"subtitle", f->subtitle}, {"wide", f->wide}, {"narrow", f->narrow}, {"alt", f->alt},
        {"data", f->data}, {"script", f->script}, {"svg", ""}, {"broad", broad ? "yes" : ""}};
    for (int i = 0; i < RG_COUNT(text); i++) rg_set(d, text[i].name, "%s", text[i].text);
    rg_set(d, "width", "%d", f->width);
    rg_set(d, "height", "%d", f->height);
}

// Lays out the paper's drawn figures: the first LEAD in one list, others in another; NULL: none. Returns the others' number.
static int lay_figures(const rg_report *r, const char *paper, rg_data *d, const char *lead, const char *more) {
    enum { LEAD = 2 };
    int before = 0;
    for (int again = 0; again < 2; again++)
        for (int i = 0; i < r->figures.n; i++) {
            const rg_figure *f = &r->figures.figure[i];
            if (!f->drawn || strcmp(f->paper, paper) || is_again(&r->figures, i) != again) continue;
            const bool leads = before < LEAD && !again;
            before += leads;
            lay_figure(f, rg_add(d, leads ? lead : more));
        }
    return before;
}

// Lays out the findings: each sentence with its claims and its figure, of the same machine if there is one.
static void lay_statements(const rg_report *r, rg_data *d) {
    rg_statement s;
    for (int row = 0; rg_next_statement(&r->ledger, &row, &s);) {
        rg_data *one = rg_add(d, "found");
        const rg_figure *shows = NULL;
        char id[16];
        for (int i = 0; i < r->figures.n; i++) {
            const rg_figure *f = &r->figures.figure[i];
            if (f->drawn && !strcmp(f->name, s.figure) && (!shows || f->machine == s.machine)) shows = f;
        }
        rg_set(one, "text", "%s", s.text);
        rg_set(one, "claims", "%s", s.claims);
        rg_set(one, "on", "%s", s.machine ? r->ledger.machine[s.machine].label : "");
        rg_set(one, "wide", "%s", shows ? shows->wide : "");
        if (shows) set_id(shows, "figure", one);
        for (const char *at = s.claims; rg_next_piece(&at, ' ', id, sizeof id);) {
            id[strcspn(id, ",")] = 0;
            rg_set(rg_add(one, "ids"), "id", "%s", id);
        }
    }
}

// ---- papers --------------------------------------------------------------------------------------------------------------

// Lays out the paper's claims for Markdown, with two columns for each machine shown.
static void lay_claimed(const rg_report *r, const char *paper, rg_data *d) {
    enum { CELLS_MOST = 24 };
    const rg_ledger *l = &r->ledger;
    char label[CELLS_MOST][RG_SAY], align[CELLS_MOST + 1] = "nln";
    const char *column[CELLS_MOST] = {"Item", "Claim", "Published"}, *cell[CELLS_MOST];
    int n = 3, machine[CELLS_MOST];
    for (int m = 0; m < l->n_machines && n + 2 <= CELLS_MOST; m++) {
        if (!rg_is_shown(r, m, paper)) continue;
        snprintf(label[n], RG_SAY, "%s%s", rg_machine_name(&l->machine[m], "This machine"), m ? " (reference)" : "");
        column[n] = label[n];
        column[n + 1] = m ? "Verdict there" : "Verdict";
        memcpy(align + n, "ln", 3);
        machine[n] = m;
        n += 2;
    }
    rg_data *table = rg_add_table(rg_add(d, "claimed"), "", align, column, n);
    for (int i = 0; i < l->claims.claim.n_rows; i++) {
        if (!rg_is_of(&l->claims, i, paper)) continue;
        cell[0] = rg_claim_cell(&l->claims, i, "id");
        cell[1] = rg_claim_cell(&l->claims, i, "claim");
        rg_say_published(&l->claims, i, label[2]);
        cell[2] = label[2];
        for (int c = 3; c < n; c += 2) {
            rg_say_ours(rg_verdict_on(l, i, machine[c]), label[c]);
            cell[c] = label[c];
            cell[c + 1] = rg_outcome_name[rg_verdict_on(l, i, machine[c])->outcome];
        }
        rg_add_row(table, cell, n);
    }
}

static int lay_paper(const rg_report *r, int i, rg_data *d) {
    static const char *const column[] = {"paper", "title", "subject", "shapes", "limits"};
    const rg_ledger *l = &r->ledger;
    const char *paper = rg_paper_cell(&l->claims, i, "paper");
    const int speaks = rg_speaks_of(l, paper);
    char text[RG_SAY];
    for (int c = 0; c < RG_COUNT(column); c++) rg_set(d, column[c], "%s", rg_paper_cell(&l->claims, i, column[c]));
    rg_set(d, "n", "%d", i);
    rg_set(d, "speaks", "%s", rg_machine_name(&l->machine[speaks], ""));
    rg_set(d, "speaks_md", "%s", rg_machine_name(&l->machine[speaks], "this machine"));
    rg_sentences(l, paper, speaks, 5, text);
    rg_set(d, "sentences", "%s", text);
    rg_lay_card(r, i, d);
    for (int m = 0; m < l->n_machines; m++)
        if (rg_is_shown(r, m, paper)) {
            rg_data *counted = rg_add(d, "counted");
            rg_say_counts(l, m, paper, text);
            rg_set(counted, "counts", "%s", text);
            rg_set(counted, "machine", "%s", rg_machine_name(&l->machine[m], "This machine"));
        }
    rg_say_untested(l, 0, paper, text);
    if (*text) rg_add_text(d, "lacking", text);
    lay_claimed(r, paper, d);
    int more = 0;
    for (int k = 0; k < r->figures.n; k++) {
        const rg_figure *f = &r->figures.figure[k];
        if (strcmp(f->paper, paper)) continue;
        more += f->drawn;
        if (f->drawn || f->machine) continue;
        rg_data *undrawn = rg_add(d, "undrawn");
        rg_set(undrawn, "name", "%s", f->name);
        rg_set(undrawn, "why", "%s", f->why_not);
    }
    const int lead = lay_figures(r, paper, d, "lead", "more");
    more -= lead;
    rg_set(d, "some", "%s", lead ? "yes" : "");
    if (more > 0) rg_set(d, "others", more == 1 ? "%d more figure" : "%d more figures", more);
    const int code = rg_lay_tables(r, d, paper);
    rg_set(d, "tables_beside", "%s", rg_has(d, "tables") ? "yes" : "");
    return code;
}

// ---- machines and files --------------------------------------------------------------------------------------------------

// Lays out how often `regather duel` was right about kernels of known slowness: tables of verify/duels.sh, NAME.duels.tsv.
static bool lay_duels(const rg_report *r, rg_data *d) {
    static const char *const of_table[] = {"device", "kernel", "planted_percent", "gate", "busy", "duels", "SAME", "FASTER",
        "SLOWER", "UNSURE", "other", "median_s", "required", "met"};
    bool any = false;
    for (int m = 0; m < r->ledger.n_machines; m++) {
        const rg_tsv *t = rg_table_of(rg_rows_on(&r->ledger, m), "duels");
        for (int i = 0; t && i < t->n_rows; i++) {
            rg_data *row = rg_add(d, "duel");
            rg_set(row, "machine", "%s", rg_machine_name(&r->ledger.machine[m], "this machine"));
            for (int c = 0; c < RG_COUNT(of_table); c++) rg_set(row, of_table[c], "%s", rg_tsv_cell(t, i, of_table[c]));
            any = true;
        }
    }
    rg_set(d, "has_duels", "%s", any ? "yes" : "");
    return any;
}

static void lay_files(const rg_report *r, rg_data *d) {
    for (int m = 0; m < r->ledger.n_machines; m++) {
        const rg_bench_machine *of = &r->ledger.machine[m];
        char text[RG_SAY];
        for (int f = 0; f < of->n_files + of->n_tables; f++) {
            rg_data *file = rg_add(d, "files");
            const rg_row_file *rows = f < of->n_files ? &of->file[f] : NULL;
            const rg_tsv *table = rows ? NULL : &of->table[f - of->n_files].tsv;
            rg_set(file, "name", "%s", rg_base_name(rows ? rows->result.path : table->path));
            rg_set(file, "machine", "%s", rg_machine_name(of, "this machine"));
            rg_set(file, "n", "%d", rows ? rows->up_to[r->ledger.up_to] : table->n_rows);
        }
        for (int k = 0; rg_say_left_out(&r->ledger, m, k, text); k++) rg_add_text(d, "left_out", text);
    }
}

static void lay_machines(const rg_report *r, rg_data *d) {
    for (int m = 0; m < r->ledger.n_machines; m++) {
        static const char *const key[] = {"cpu", "gpu", "date"};
        const rg_bench_machine *of = &r->ledger.machine[m];
        rg_data *row = rg_add(d, "machines");
        char text[RG_SAY];
        rg_say_counts(&r->ledger, m, NULL, text);
        rg_set(row, "n", "%d", m);
        rg_set(row, "name", "%s", rg_machine_name(of, "this machine"));
        for (int k = 0; k < RG_COUNT(key); k++) rg_set(row, key[k], "%s", rg_machine_head(of, key[k]));
        rg_set(row, "commit", "%s", rg_machine_head(of, "revision"));
        rg_set(row, "counts", "%s", text);
        rg_say_beside(&r->ledger, m, text);
        rg_set(row, "beside", "%s", text);
    }
}

int rg_lay_index(const rg_report *r, rg_data *d) {
    const rg_ledger *l = &r->ledger;
    char text[RG_SAY];
    rg_say_counts(l, 0, NULL, text);
    rg_set(d, "title", "%s", rg_report_title);
    rg_set(d, "lead", "%s", rg_report_lead);
    rg_set(d, "n_papers", "%d", l->claims.paper.n_rows);
    rg_set(d, "label", "%s", l->machine[0].label);
    rg_set(d, "counts", "%s", text);
    rg_set(d, "date", "%s", rg_machine_head(&l->machine[0], "date"));
    rg_set(d, "commit", "%s", rg_machine_head(&l->machine[0], "revision"));
    int code = RG_GOOD;
    for (int k = 0; k < l->claims.paper.n_rows && code == RG_GOOD; k++)
        code = lay_paper(r, rg_paper_at(r, k), rg_add(d, "papers"));
    lay_statements(r, d);
    lay_figures(r, "*", d, "generations", "generations");
    rg_lay_claims(r, d);
    if (code == RG_GOOD) code = rg_lay_gallery(r, d);
    if (code == RG_GOOD) code = rg_lay_job_pages(r, d);
    lay_machines(r, d);
    bool trusted = lay_duels(r, d);
    lay_figures(r, "", d, "selftest", "selftest");
    trusted |= rg_has(d, "selftest");
    rg_set(d, "trusted", "%s", trusted ? "yes" : "");
    lay_files(r, d);
    for (int i = 0; rg_reading[i]; i++) rg_add_text(d, i ? "reading" : "first_reading", rg_reading[i]);
    return code;
}
