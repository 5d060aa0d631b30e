// SPDX-License-Identifier: MIT
// measurements.c: one machine on the page: what it is, what it sustains, every time, what the checker said, what is missing.
#include "../../bench/compare/validate.h"
#include "../../bench/stats/stats.h"
#include "../../impl/suite.h"
#include "../../impl/base/core.h"
#include "content.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 400 };

static void speed_row(const rg_row *row, rg_page *p)
{
    char median[32], low[32], high[32], interval[72], rate[48], fraction[32] = "", error[40] = "", stop[64];
    rg_samples samples = rg_row_samples(row);
    rg_summary s;
    rg_summarise(&samples, &s);
    rg_samples_free(&samples);
    rg_duration(rg_row_ns(row, RG_C_MEDIAN), median);
    rg_duration(s.low, low);
    rg_duration(s.high, high);
    if (isfinite(s.low) && isfinite(s.high))
        snprintf(interval, sizeof interval, "%s to %s", low, high);
    else
        snprintf(interval, sizeof interval, "none: %d sample%s", s.n, rg_s(s.n));
    rg_say_amount(rg_cell_number(row, RG_C_RATE), row->cell[RG_C_RATE_UNIT], rate);
    const double reached = rg_cell_number(row, RG_C_FRACTION);
    // More than the bound: of an older file, whose cost or probe was wrong.
    if (reached > RG_FRACTION_MOST)
        snprintf(fraction, sizeof fraction, "none: beyond its bound");
    else if (!isnan(reached))
        snprintf(fraction, sizeof fraction, "%.0f %%", 100 * reached);
    if (*row->cell[RG_C_ERROR])
        snprintf(error, sizeof error, "%.3g (of %.3g)", rg_cell_number(row, RG_C_ERROR), rg_cell_number(row, RG_C_TOL));
    snprintf(stop, sizeof stop, "%.8s, %.40s", row->cell[RG_C_N], row->cell[RG_C_STOP]);
    const char *cell[] = {row->cell[RG_C_VARIANT], row->cell[RG_C_PARAMS], row->cell[RG_C_SCOPE], row->cell[RG_C_MODE], median,
        interval, rate, row->cell[RG_C_BOUND], fraction, error, stop};
    p->make->row(p, cell, RG_COUNT(cell));
}

static bool same_problem(const rg_row *a, const rg_row *b)
{
    return !strcmp(a->cell[RG_C_ALGO], b->cell[RG_C_ALGO]) && !strcmp(a->cell[RG_C_SHAPE], b->cell[RG_C_SHAPE]);
}

static bool first_of_shape(const rg_result *f, int i)
{
    for (int k = 0; k < i; k++)
        if (rg_timed(&f->row[k]) && same_problem(&f->row[k], &f->row[i])) return false;
    return true;
}

// Of a search (regather tune) the page shows what is within a tenth of the best; the file has all.
static bool shown(const rg_result *f, int i)
{
    if (!rg_result_head(f, "search")) return true;
    for (int k = 0; k < f->n_rows; k++)
        if (rg_timed(&f->row[k]) && same_problem(&f->row[k], &f->row[i]) &&
            rg_row_ns(&f->row[i], RG_C_MEDIAN) > 1.1 * rg_row_ns(&f->row[k], RG_C_MEDIAN))
            return false;
    return true;
}

static void speed_tables(const rg_result *f, rg_page *p)
{
    static const char *const column[] = {"Variant", "Parameters", "Scope", "Mode", "Median", "95 % interval", "Rate", "Bound",
        "Reached", "Error (allowed)", "Samples, why stopped"};
    for (int i = 0; i < f->n_rows; i++) {
        if (!rg_timed(&f->row[i]) || !first_of_shape(f, i)) continue;
        char caption[TEXT];
        snprintf(caption, sizeof caption, "%s `%s`, from `%s`%s", f->row[i].cell[RG_C_ALGO], f->row[i].cell[RG_C_SHAPE],
            rg_base_name(f->path), rg_result_head(f, "search") ? ": of a search, what is within 10 % of the best" : "");
        p->make->table(p, caption, "nlnnrnnnrnl", column, RG_COUNT(column));
        for (int k = i; k < f->n_rows; k++)
            if (rg_timed(&f->row[k]) && same_problem(&f->row[k], &f->row[i]) && shown(f, k)) speed_row(&f->row[k], p);
        p->make->table_end(p);
    }
}

static void self_test_table(const rg_result *f, rg_page *p)
{
    static const char *const column[] = {"Variant", "Image", "Parameters", "Median false difference", "Limit", "What was done"};
    p->make->table(p, "A against A: the same variant under two names.", "nnnrrl", column, RG_COUNT(column));
    for (int i = 0; i < f->n_rows; i++) {
        const rg_row *row = &f->row[i];
        if (!rg_row_is_self_test(row)) continue;
        char median[32], limit[32];
        snprintf(median, sizeof median, "%.3g %s", rg_cell_number(row, RG_C_MEDIAN), row->cell[RG_C_UNIT]);
        snprintf(limit, sizeof limit, "%.3g %s", rg_cell_number(row, RG_C_TOL), row->cell[RG_C_UNIT]);
        const char *cell[] = {
            row->cell[RG_C_VARIANT], row->cell[RG_C_SHAPE], row->cell[RG_C_PARAMS], median, limit, row->cell[RG_C_DETAIL]};
        p->make->row(p, cell, RG_COUNT(cell));
    }
    p->make->table_end(p);
}

// What the machine sustains, as bench measured it in the same run.
static void probes_table(const rg_result *f, rg_page *p)
{
    static const char *const column[] = {"Resource", "Space", "Threads", "Measured rate"};
    bool open = false;
    for (int i = 0; i < f->n_rows; i++) {
        const rg_row *row = &f->row[i];
        if (!rg_row_is_probe(row) || !*row->cell[RG_C_RATE]) continue;
        if (!open) {
            char caption[TEXT];
            snprintf(caption, sizeof caption, "Rates that this machine sustained in the same run, from `%s`.",
                rg_base_name(f->path));
            p->make->table(p, caption, "nnrr", column, RG_COUNT(column));
        }
        open = true;
        char rate[48], threads[24] = "";
        rg_say_amount(rg_cell_number(row, RG_C_RATE), row->cell[RG_C_RATE_UNIT], rate);
        if (rg_row_threads(row, 0)) snprintf(threads, sizeof threads, "%d", rg_row_threads(row, 0));
        const char *cell[] = {row->cell[RG_C_VARIANT], row->cell[RG_C_SPACE], threads, rate};
        p->make->row(p, cell, RG_COUNT(cell));
    }
    if (open) p->make->table_end(p);
}

static bool same_variant(const rg_row *a, const rg_row *b)
{
    return !strcmp(a->cell[RG_C_ALGO], b->cell[RG_C_ALGO]) && !strcmp(a->cell[RG_C_VARIANT], b->cell[RG_C_VARIANT]) &&
        !strcmp(a->cell[RG_C_SPACE], b->cell[RG_C_SPACE]);
}

// One line of the checker's table: all cases of the variant of row first.
static void checks_row(const rg_result *f, int first, rg_page *p)
{
    int passed = 0, skipped = 0, failed = 0;
    double error = NAN, tol = NAN;
    const rg_row *fault = NULL;
    for (int i = first; i < f->n_rows; i++) {
        const rg_row *row = &f->row[i];
        if (!same_variant(row, &f->row[first])) continue;
        bool pass = !strcmp(row->cell[RG_C_STATUS], "PASS"), skip = !strcmp(row->cell[RG_C_STATUS], "SKIP");
        passed += pass;
        skipped += skip;
        failed += !pass && !skip;
        if (!pass && (!fault || !skip)) fault = row;
        double e = rg_cell_number(row, RG_C_ERROR);
        if (pass && !(e <= error)) {
            error = e;
            tol = rg_cell_number(row, RG_C_TOL);
        }
    }
    char text[3][24], bound[64] = "";
    snprintf(text[0], sizeof text[0], "%d", passed);
    snprintf(text[1], sizeof text[1], "%d", failed);
    snprintf(text[2], sizeof text[2], "%d", skipped);
    if (isfinite(error)) snprintf(bound, sizeof bound, "%.3g (of %.3g)", error, tol);
    const char *cell[] = {f->row[first].cell[RG_C_VARIANT], f->row[first].cell[RG_C_SPACE], text[0], text[1], text[2], bound,
        fault ? fault->cell[RG_C_DETAIL] : ""};
    p->make->row(p, cell, RG_COUNT(cell));
}

// Only files of the checker have rows without a scope that are no probes.
static bool is_of_checker(const rg_result *f)
{
    return f->n_rows > 0 && !rg_row_is_probe(&f->row[0]) && !*f->row[0].cell[RG_C_SCOPE];
}

static void checks_table(const rg_result *f, rg_page *p)
{
    static const char *const column[] = {
        "Variant", "Ran on", "PASS", "FAIL", "SKIP", "Largest error (allowed)", "First fault, or why skipped"};
    char caption[TEXT];
    snprintf(caption, sizeof caption, "What the checker said, cases counted, from `%s`.", rg_base_name(f->path));
    p->make->table(p, caption, "nnrrrnl", column, RG_COUNT(column));
    int *first = rg_alloc((size_t)(f->n_rows + 1) * sizeof *first), n = 0; // rows of each variant
    for (int i = 0; i < f->n_rows; i++) {
        int k = n;
        while (k > 0 && !same_variant(&f->row[first[k - 1]], &f->row[i])) // the last is the likeliest
            k--;
        if (k == 0) {
            first[n++] = i;
            checks_row(f, i, p);
        }
    }
    free(first);
    p->make->table_end(p);
}

// Variants that bench did not time, once each with the first reason.
static void missing_table(const rg_result *f, rg_page *p)
{
    static const char *const column[] = {"Variant", "Status", "Reason"};
    bool open = false;
    for (int i = 0; i < f->n_rows; i++) {
        const rg_row *row = &f->row[i];
        bool said = rg_row_is_probe(row) || rg_row_is_self_test(row) || rg_timed(row);
        for (int k = 0; k < i && !said; k++)
            said = same_variant(&f->row[k], row) && !strcmp(f->row[k].cell[RG_C_STOP], row->cell[RG_C_STOP]) &&
                !strcmp(f->row[k].cell[RG_C_DETAIL], row->cell[RG_C_DETAIL]) && !rg_timed(&f->row[k]);
        if (said) continue;
        if (!open) {
            char caption[TEXT];
            snprintf(caption, sizeof caption, "Not timed, each reason once, from `%s`.", rg_base_name(f->path));
            p->make->table(p, caption, "nnl", column, RG_COUNT(column));
        }
        open = true;
        char reason[RG_REASON];
        rg_row_reason(row, reason);
        const char *cell[] = {row->cell[RG_C_VARIANT], row->cell[RG_C_STATUS], reason};
        p->make->row(p, cell, RG_COUNT(cell));
    }
    if (open) p->make->table_end(p);
}

static void head_table(const rg_result *f, rg_page *p)
{
    static const char *const column[] = {"Property", "Value"};
    char caption[TEXT];
    snprintf(caption, sizeof caption, "Head of `%s`.", rg_base_name(f->path));
    p->make->table(p, caption, "nl", column, RG_COUNT(column));
    for (int i = 0; i < f->n_head; i++) {
        const char *cell[] = {f->head_key[i], f->head_value[i]};
        p->make->row(p, cell, RG_COUNT(cell));
    }
    p->make->table_end(p);
}

enum { TABLE_ROWS_MOST = 40, TABLE_COLUMNS_MOST = 20 }; // longer ones are for figures

// A number as people read it: files have up to 17 digits.
static const char *for_people(const char *text, char number[32])
{
    char *end;
    const double value = strtod(text, &end);
    if (strlen(text) < 9 || *end || !strpbrk(text, ".e")) return text;
    snprintf(number, 32, "%.6g", value);
    return number;
}

static void job_table(const struct rg_named_table *t, rg_page *p)
{
    const char *column[TABLE_COLUMNS_MOST], *cell[TABLE_COLUMNS_MOST];
    char number[TABLE_COLUMNS_MOST][32];
    char caption[TEXT], align[TABLE_COLUMNS_MOST + 1] = "";
    int n = t->tsv.n_columns;
    if (n > TABLE_COLUMNS_MOST || t->tsv.n_rows > TABLE_ROWS_MOST || !t->tsv.n_rows) return;
    for (int c = 0; c < n; c++) {
        column[c] = t->tsv.column[c];
        align[c] = c ? 'r' : 'n';
    }
    snprintf(caption, sizeof caption, "Table `%s`, from `%s`.", t->name, rg_base_name(t->tsv.path));
    p->make->table(p, caption, align, column, n);
    for (int i = 0; i < t->tsv.n_rows; i++) {
        for (int c = 0; c < n; c++) cell[c] = for_people(rg_tsv_cell(&t->tsv, i, column[c]), number[c]);
        p->make->row(p, cell, n);
    }
    p->make->table_end(p);
}

void rg_write_machine(rg_rows rows, rg_page *p)
{
    const rg_bench_machine *m = rows.machine;
    char text[TEXT];
    snprintf(text, sizeof text, m->here ? "This machine: %s" : "Reference machine: %s (measured there, not here)", m->label);
    p->make->heading(p, 2, NULL, text);
    for (int f = 0; f < m->n_files; f++) {
        rg_result some = m->file[f].result;
        const rg_result *file = &some;
        some.n_rows = m->file[f].up_to[rows.up_to];
        if (is_of_checker(file)) {
            checks_table(file, p);
            continue;
        }
        if (file->n_rows > 0 && rg_row_is_self_test(&file->row[0])) {
            self_test_table(file, p);
            continue;
        }
        head_table(file, p);
        probes_table(file, p);
        speed_tables(file, p);
        missing_table(file, p);
    }
    for (int t = 0; t < m->n_tables; t++)
        if (rg_table_counts(rows, t)) job_table(&m->table[t], p);
}
