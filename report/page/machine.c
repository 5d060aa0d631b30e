// SPDX-License-Identifier: MIT
// machine.c: writes the page of a machine: its description, its sustained rates, all times, the checker's results, what is
// missing.
#include "page.h"

#include "../../bench/compare/validate.h"
#include "../../bench/stats/stats.h"
#include "../../impl/base/core.h"
#include "../../impl/suite.h"

// Sets a row's cells, by their names in result files.
static void set_cells(rg_data *d, const rg_row *row, const int *column, int n) {
    for (int i = 0; i < n; i++) rg_set(d, rg_column_name[column[i]], "%s", row->cell[column[i]]);
}

static void set_rate(rg_data *d, const rg_row *row) {
    char rate[48];
    rg_say_amount(rg_cell_number(row, RG_C_RATE), row->cell[RG_C_RATE_UNIT], rate);
    rg_set(d, "rate", "%s", rate);
}

static void set_duration(rg_data *d, const char *name, double ns) {
    char text[32];
    rg_duration(ns, text);
    rg_set(d, name, "%s", text);
}

static void lay_time(const rg_row *row, rg_data *d) {
    static const int column[] = {RG_C_VARIANT, RG_C_PARAMS, RG_C_SCOPE, RG_C_MODE, RG_C_BOUND};
    const double reached = rg_cell_number(row, RG_C_FRACTION);
    RG_ENDS(rg_samples_free) rg_samples samples = rg_row_samples(row);
    rg_summary s;
    rg_summarise(&samples, &s);
    set_cells(d, row, column, RG_COUNT(column));
    set_duration(d, "median", rg_row_ns(row, RG_C_MEDIAN));
    rg_set(d, "low", "%s", "");
    if (isfinite(s.low) && isfinite(s.high)) {
        set_duration(d, "low", s.low);
        set_duration(d, "high", s.high);
    }
    rg_set(d, "n", "%d", s.n);
    rg_set(d, "many", "%s", rg_plural(s.n));
    set_rate(d, row);
    // Beyond the bound: from an older file, whose cost or probe was wrong.
    rg_set(d, "beyond", "%s", reached > RG_FRACTION_MOST ? "yes" : "");
    if (reached <= RG_FRACTION_MOST) rg_set(d, "reached", "%.0f", 100 * reached);
    rg_set(d, "error", "%s", "");
    if (*row->cell[RG_C_ERROR])
        rg_set(d, "error", "%.3g (of %.3g)", rg_cell_number(row, RG_C_ERROR), rg_cell_number(row, RG_C_TOL));
    rg_set(d, "samples", "%s", row->cell[RG_C_N]);
    rg_set(d, "stop", "%.40s", row->cell[RG_C_STOP]);
}

static bool same_problem(const rg_row *a, const rg_row *b) {
    return !strcmp(a->cell[RG_C_ALGO], b->cell[RG_C_ALGO]) && !strcmp(a->cell[RG_C_SHAPE], b->cell[RG_C_SHAPE]);
}

static bool first_of_shape(const rg_row *row, int i) {
    for (int k = 0; k < i; k++)
        if (rg_timed(&row[k]) && same_problem(&row[k], &row[i])) return false;
    return true;
}

// The page shows results of a search (regather tune) within a tenth of the best; the file has all.
static bool is_shown(const rg_row *row, int n, int i) {
    for (int k = 0; k < n; k++)
        if (rg_timed(&row[k]) && same_problem(&row[k], &row[i]) && row[i].timed_ns > 1.1 * row[k].timed_ns) return false;
    return true;
}

static void lay_times(const rg_result *f, int n, rg_data *d) {
    const rg_row *row = f->row;
    const bool search = rg_result_head(f, "search");
    rg_data *times = NULL;
    for (int i = 0; i < n; i++) {
        static const int column[] = {RG_C_ALGO, RG_C_SHAPE};
        if (!rg_timed(&row[i]) || !first_of_shape(row, i)) continue;
        if (!times) times = rg_add(d, "times");
        rg_data *shape = rg_add(times, "shapes");
        set_cells(shape, &row[i], column, RG_COUNT(column));
        rg_set(shape, "search", "%s", search ? "yes" : "");
        for (int k = i; k < n; k++)
            if (rg_timed(&row[k]) && same_problem(&row[k], &row[i]) && (!search || is_shown(row, n, k)))
                lay_time(&row[k], rg_add(shape, "row"));
    }
}

static void lay_self_tests(const rg_result *f, int n, rg_data *d) {
    static const int column[] = {RG_C_VARIANT, RG_C_SHAPE, RG_C_PARAMS};
    for (int i = 0; i < n; i++) {
        const rg_row *row = &f->row[i];
        if (!rg_row_is_self_test(row)) continue;
        rg_data *one = rg_add(d, "row");
        set_cells(one, row, column, RG_COUNT(column));
        rg_set(one, "stop", "%s", row->cell[RG_C_DETAIL]);
        rg_set(one, "median", "%.3g %s", rg_cell_number(row, RG_C_MEDIAN), row->cell[RG_C_UNIT]);
        rg_set(one, "limit", "%.3g %s", rg_cell_number(row, RG_C_TOL), row->cell[RG_C_UNIT]);
    }
}

// Lays out the machine's sustained rates, as bench measured them in the same run.
static void lay_probes(const rg_result *f, int n, rg_data *d) {
    static const int column[] = {RG_C_VARIANT, RG_C_SPACE};
    rg_data *probes = NULL;
    for (int i = 0; i < n; i++) {
        const rg_row *row = &f->row[i];
        if (!rg_row_is_probe(row) || !*row->cell[RG_C_RATE]) continue;
        if (!probes) probes = rg_add(d, "probes");
        rg_data *one = rg_add(probes, "row");
        const int threads = rg_row_threads(row, 0);
        set_cells(one, row, column, RG_COUNT(column));
        set_rate(one, row);
        if (threads) rg_set(one, "threads", "%d", threads);
    }
}

static bool same_variant(const rg_row *a, const rg_row *b) {
    return !strcmp(a->cell[RG_C_ALGO], b->cell[RG_C_ALGO]) && !strcmp(a->cell[RG_C_VARIANT], b->cell[RG_C_VARIANT]) &&
        !strcmp(a->cell[RG_C_SPACE], b->cell[RG_C_SPACE]);
}

// Lays out one line of the checker's table: all cases of the variant of row first.
static void lay_variant(const rg_row *row, int n, int first, rg_data *d) {
    static const int column[] = {RG_C_VARIANT, RG_C_SPACE};
    int passed = 0, skipped = 0, failed = 0;
    double error = NAN, tol = NAN;
    const rg_row *fault = NULL;
    for (int i = first; i < n; i++) {
        if (!same_variant(&row[i], &row[first])) continue;
        const bool pass = !strcmp(row[i].cell[RG_C_STATUS], "PASS"), skip = !strcmp(row[i].cell[RG_C_STATUS], "SKIP");
        passed += pass;
        skipped += skip;
        failed += !pass && !skip;
        if (!pass && (!fault || !skip)) fault = &row[i];
        const double e = rg_cell_number(&row[i], RG_C_ERROR);
        if (pass && !(e <= error)) {
            error = e;
            tol = rg_cell_number(&row[i], RG_C_TOL);
        }
    }
    set_cells(d, &row[first], column, RG_COUNT(column));
    rg_set(d, "passed", "%d", passed);
    rg_set(d, "failed", "%d", failed);
    rg_set(d, "skipped", "%d", skipped);
    if (isfinite(error)) rg_set(d, "error", "%.3g (of %.3g)", error, tol);
    rg_set(d, "stop", "%s", fault ? fault->cell[RG_C_DETAIL] : "");
}

static void lay_checks(const rg_row *row, int n, rg_data *d) {
    int *first = rg_alloc((size_t)(n + 1) * sizeof *first), variants = 0; // first row of each variant
    for (int i = 0; i < n; i++) {
        int k = variants;
        while (k > 0 && !same_variant(&row[first[k - 1]], &row[i])) // the last is the most likely
            k--;
        if (k > 0) continue;
        first[variants++] = i;
        lay_variant(row, n, i, rg_add(d, "row"));
    }
    free(first);
}

// Lays out variants that bench did not time, each once with its first reason.
static void lay_missing(const rg_row *row, int n, rg_data *d) {
    static const int column[] = {RG_C_VARIANT, RG_C_STATUS};
    rg_data *missing = NULL;
    for (int i = 0; i < n; i++) {
        bool said = rg_row_is_probe(&row[i]) || rg_row_is_self_test(&row[i]) || rg_timed(&row[i]);
        for (int k = 0; k < i && !said; k++)
            said = same_variant(&row[k], &row[i]) && !strcmp(row[k].cell[RG_C_STOP], row[i].cell[RG_C_STOP]) &&
                !strcmp(row[k].cell[RG_C_DETAIL], row[i].cell[RG_C_DETAIL]) && !rg_timed(&row[k]);
        if (said) continue;
        if (!missing) missing = rg_add(d, "missing");
        rg_data *one = rg_add(missing, "row");
        char reason[RG_REASON];
        rg_row_reason(&row[i], reason);
        set_cells(one, &row[i], column, RG_COUNT(column));
        rg_set(one, "stop", "%s", reason);
    }
}

static void lay_head(const rg_result *f, rg_data *d) {
    for (int i = 0; i < f->n_head; i++) {
        rg_data *row = rg_add(d, "row");
        rg_set(row, "key", "%s", f->head_key[i]);
        rg_set(row, "value", "%s", f->head_value[i]);
    }
}

// Only the checker's files have rows that lack a scope and are no probes.
static bool is_of_checker(const rg_row *row, int n) { return n > 0 && !rg_row_is_probe(row) && !*row->cell[RG_C_SCOPE]; }

static void lay_file(const rg_row_file *file, int n, rg_data *d) {
    const rg_result *f = &file->result;
    rg_set(d, "file", "%s", rg_base_name(f->path));
    if (is_of_checker(f->row, n)) {
        lay_checks(f->row, n, rg_add(d, "checks"));
    } else if (n > 0 && rg_row_is_self_test(f->row)) {
        lay_self_tests(f, n, rg_add(d, "selftests"));
    } else {
        lay_head(f, rg_add(d, "head"));
        lay_probes(f, n, d);
        lay_times(f, n, d);
        lay_missing(f->row, n, d);
    }
}

enum { TABLE_ROWS_MOST = 500, TABLE_COLUMNS_MOST = 20 }; // twice the steps of the plan; a map is left to a figure

// Shortens a number for readers: files have up to 17 digits.
static const char *for_people(const char *text, char number[32]) {
    char *end;
    const double value = strtod(text, &end);
    if (strlen(text) < 9 || *end || !strpbrk(text, ".e")) return text;
    snprintf(number, 32, "%.6g", value);
    return number;
}

static void lay_job_table(const rg_named_table *t, rg_data *d) {
    const char *column[TABLE_COLUMNS_MOST], *cell[TABLE_COLUMNS_MOST];
    char number[TABLE_COLUMNS_MOST][32], align[TABLE_COLUMNS_MOST + 1] = "";
    const int n = t->tsv.n_columns;
    if (n > TABLE_COLUMNS_MOST || t->tsv.n_rows > TABLE_ROWS_MOST || !t->tsv.n_rows) return;
    for (int c = 0; c < n; c++) {
        column[c] = t->tsv.column[c];
        align[c] = c ? 'r' : 'n';
    }
    rg_data *table = rg_add_table(d, "", align, column, n);
    rg_set(table, "table", "%s", t->name);
    rg_set(table, "file", "%s", rg_base_name(t->tsv.path));
    for (int i = 0; i < t->tsv.n_rows; i++) {
        for (int c = 0; c < n; c++) cell[c] = for_people(rg_tsv_cell(&t->tsv, i, column[c]), number[c]);
        rg_add_row(table, cell, n);
    }
}

void rg_lay_machine(const rg_report *r, int machine, rg_data *d) {
    const rg_rows rows = rg_rows_on(&r->ledger, machine);
    const rg_bench_machine *m = rows.machine;
    char text[RG_SAY];
    rg_say_machine_title(m, text);
    rg_set(d, "title", "%s", text);
    rg_set(d, "what", "%s", rg_machine_head(m, "machine"));
    rg_set(d, m->here ? "here" : "there", "%s", m->label);
    for (int f = 0; f < m->n_files; f++) lay_file(&m->file[f], m->file[f].up_to[rows.up_to], rg_add(d, "files"));
    rg_data *job = rg_add(d, "job");
    for (int t = 0; t < m->n_tables; t++)
        if (rg_table_counts(rows, t)) lay_job_table(&m->table[t], job);
}
