// SPDX-License-Identifier: MIT
// machine.c: reads files into machines: result files, tables of the checker, tables of jobs.
#include "machine.h"

#include "../../bench/compare/validate.h"
#include "../../data/formats/tables.h"
#include "../../impl/base/core.h"
#include "../../impl/suite.h"

// ---- tables of the checker as rows ---------------------------------------------------------------------------------------

static void set_row(rg_row *row, const rg_tsv *t, int i) {
    static const struct {
        rg_column column;
        const char *name;
        bool number; // empty in a row without one (a crash), as in result files
    } cell[] = {{RG_C_ALGO, "algo", false}, {RG_C_VARIANT, "variant", false}, {RG_C_SHAPE, "shape", false},
        {RG_C_SPACE, "device", false}, {RG_C_ERROR, "error", true}, {RG_C_TOL, "tol", true}, {RG_C_STATUS, "status", false},
        {RG_C_DETAIL, "reason", false}};
    const char *params = rg_tsv_cell(t, i, "params");
    row->cell[RG_C_PARAMS] = rg_print("threads=%s%s%s", rg_tsv_cell(t, i, "threads"), *params ? ";" : "", params);
    for (int k = 0; k < RG_COUNT(cell); k++) {
        const bool empty = cell[k].number && !isfinite(rg_tsv_number(t, i, cell[k].name));
        row->cell[cell[k].column] = rg_print("%s", empty ? "" : rg_tsv_cell(t, i, cell[k].name));
    }
    for (int c = 0; c < RG_COLUMNS; c++)
        if (!row->cell[c]) row->cell[c] = rg_print("%s", "");
}

static int checks_of(const rg_tsv *t, rg_result *result) {
    int code = rg_tsv_needs(t, "algo variant shape params threads device status error tol reason");
    if (code != RG_GOOD) return code;
    *result = (rg_result){.path = rg_print("%s", t->path), .n_rows = t->n_rows};
    result->row = rg_alloc((size_t)(t->n_rows + 1) * sizeof *result->row);
    for (int i = 0; i < t->n_rows; i++) set_row(&result->row[i], t, i);
    return RG_GOOD;
}

// ---- files ---------------------------------------------------------------------------------------------------------------

static rg_knowledge knowledge_of(const rg_row *row) {
    return rg_row_is_stale(row) ? RG_STALE : rg_row_is_unsourced(row) ? RG_UNSOURCED : RG_TODAYS;
}

void rg_machine_add_result(rg_bench_machine *m, rg_result result) {
    m->file = rg_grow(m->file, m->n_files, sizeof *m->file);
    rg_row_file *file = &m->file[m->n_files++];
    rg_row *row = rg_alloc((size_t)(result.n_rows + 1) * sizeof *row);
    RG_FREED int *known = rg_alloc((size_t)(result.n_rows + 1) * sizeof *known);
    for (int i = 0; i < result.n_rows; i++) known[i] = (int)knowledge_of(&result.row[i]);
    for (int k = 0, n = 0; k < RG_KNOWLEDGE; k++) {
        for (int i = 0; i < result.n_rows; i++)
            if (known[i] == k) row[n++] = result.row[i];
        file->up_to[k] = n;
    }
    free(result.row);
    file->result = result;
    file->result.row = row;
}

static void add_table(rg_bench_machine *m, rg_tsv tsv, const char *name, int length, bool stale) {
    m->table = rg_grow(m->table, m->n_tables, sizeof *m->table);
    rg_named_table *table = &m->table[m->n_tables++];
    *table = (rg_named_table){.tsv = tsv, .stale = stale};
    snprintf(table->name, sizeof table->name, "%.*s", length, name);
}

static int add_checks(rg_bench_machine *m, const rg_tsv *t) {
    rg_result result;
    const int code = checks_of(t, &result);
    if (code == RG_GOOD) rg_machine_add_result(m, result);
    return code;
}

// Adds all tables of a record's file, under their own names.
static int add_tables(rg_bench_machine *m, const char *path) {
    RG_ENDS(rg_tables_free) rg_tables tables;
    int code = rg_tables_read(path, &tables);
    for (int i = 0; code == RG_GOOD && i < tables.n; i++) {
        const char *name = tables.table[i].name, *text = tables.table[i].text;
        rg_tsv t;
        RG_FREED char *where = rg_print("%s, table %s", path, name);
        code = rg_tsv_parse(where, text, strlen(text), &t);
        if (code == RG_GOOD && !strcmp(name, "verify")) { // rows of the checker, not of a job
            code = add_checks(m, &t);
            rg_tsv_free(&t);
        } else if (code == RG_GOOD) {
            add_table(m, t, name, (int)strlen(name), rg_table_is_stale(text));
        }
    }
    return code;
}

int rg_machine_add(rg_bench_machine *m, const char *path, rg_file_kind kind, const char *name, int length) {
    rg_tsv t;
    rg_result result;
    bool cut = false;
    if (kind == RG_FILE_ANY && strstr(path, ".tables.tsv")) return add_tables(m, path);
    int code = kind == RG_FILE_TABLE ? rg_tsv_read(path, &t) : rg_tsv_read_cut(path, &t, &cut);
    if (code != RG_GOOD) return code;
    if (cut) rg_warn("%s: the last row is incomplete and ignored", path);
    const bool has_rows = t.n_columns > RG_C_SPACE && !strcmp(t.column[RG_C_SPACE], rg_column_name[RG_C_SPACE]);
    if (kind == RG_FILE_TABLE || (kind == RG_FILE_ANY && !has_rows)) {
        add_table(m, t, name, length, false);
        return RG_GOOD;
    }
    if (kind == RG_FILE_CHECKS) {
        code = add_checks(m, &t);
    } else if ((code = rg_result_of(&t, &result)) == RG_GOOD) {
        rg_machine_add_result(m, result);
        code = rg_validate(&m->file[m->n_files - 1].result);
        if (!code) code = rg_result_say_edited(path);
    }
    rg_tsv_free(&t);
    return code;
}

void rg_machine_free(rg_bench_machine *m) {
    for (int f = 0; f < m->n_files; f++) rg_result_free(&m->file[f].result);
    for (int t = 0; t < m->n_tables; t++) rg_tsv_free(&m->table[t].tsv);
    free(m->file);
    free(m->table);
}

// ---- queries -------------------------------------------------------------------------------------------------------------

bool rg_next(rg_cursor *at) {
    for (; at->f < at->rows.machine->n_files; at->f++, at->i = 0) {
        const rg_row_file *file = &at->rows.machine->file[at->f];
        at->file = &file->result;
        if (at->i < file->up_to[at->rows.up_to]) {
            at->row = &file->result.row[at->i++];
            return true;
        }
    }
    return false;
}

bool rg_table_counts(rg_rows rows, int table) { return !rows.machine->table[table].stale || rows.up_to == RG_STALE; }

const rg_tsv *rg_table_of(rg_rows rows, const char *name) {
    for (int i = 0; i < rows.machine->n_tables; i++)
        if (!strcmp(rows.machine->table[i].name, name) && rg_table_counts(rows, i)) return &rows.machine->table[i].tsv;
    return NULL;
}

const char *rg_machine_name(const rg_bench_machine *m, const char *here) { return m->here ? here : m->label; }

const char *rg_machine_head(const rg_bench_machine *m, const char *key) {
    for (int f = 0; f < m->n_files; f++)
        if (rg_result_head(&m->file[f].result, key)) return rg_result_head(&m->file[f].result, key);
    return "";
}

int rg_machine_rows(const rg_bench_machine *m, rg_knowledge k) {
    int n = 0;
    for (int f = 0; f < m->n_files; f++) n += m->file[f].up_to[k] - (k ? m->file[f].up_to[k - 1] : 0);
    return n;
}

int rg_machine_stale_tables(const rg_bench_machine *m) {
    int n = 0;
    for (int t = 0; t < m->n_tables; t++) n += m->table[t].stale;
    return n;
}
