// SPDX-License-Identifier: MIT
// verify_rows.c: a file of `regather verify --out` as the rows that claims and tables know.
#include "../../impl/base/core.h"
#include "../report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set(rg_row *row, rg_column column, const char *text) { row->cell[column] = rg_print("%s", text); }

// Errors of rows without a number (a crash) are left empty, as in result files.
static void set_number(rg_row *row, rg_column column, const rg_tsv *t, int i, const char *name)
{
    set(row, column, isfinite(rg_tsv_number(t, i, name)) ? rg_tsv_cell(t, i, name) : "");
}

static void set_row(rg_row *row, const rg_tsv *t, int i)
{
    const char *params = rg_tsv_cell(t, i, "params"), *threads = rg_tsv_cell(t, i, "threads");
    set(row, RG_C_ALGO, rg_tsv_cell(t, i, "algo"));
    set(row, RG_C_VARIANT, rg_tsv_cell(t, i, "variant"));
    set(row, RG_C_SHAPE, rg_tsv_cell(t, i, "shape"));
    row->cell[RG_C_PARAMS] = rg_print("threads=%s%s%s", threads, *params ? ";" : "", params);
    set(row, RG_C_SPACE, rg_tsv_cell(t, i, "device"));
    set_number(row, RG_C_ERROR, t, i, "error");
    set_number(row, RG_C_TOL, t, i, "tol");
    set(row, RG_C_STATUS, rg_tsv_cell(t, i, "status"));
    set(row, RG_C_STOP, rg_tsv_cell(t, i, "reason"));
    for (int c = 0; c < RG_COLUMNS; c++)
        if (!row->cell[c]) set(row, (rg_column)c, "");
}

int rg_verify_of(const rg_tsv *t, rg_result *result)
{
    *result = (rg_result){0};
    int code = rg_tsv_needs(t, "algo variant shape params threads device status error tol reason");
    if (code != RG_GOOD) return code;
    *result = (rg_result){.path = rg_print("%s", t->path), .n_rows = t->n_rows};
    result->row = rg_alloc((size_t)t->n_rows * sizeof *result->row);
    for (int i = 0; i < t->n_rows; i++) set_row(&result->row[i], t, i);
    return RG_GOOD;
}
