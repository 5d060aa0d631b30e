// SPDX-License-Identifier: MIT
// star.h: STAR files as RELION 3.0 and 3.1 write them: data blocks of one loop, or of one list of items, each.
//
// A row of a loop stands on one line, its values apart by blanks or tabs, quoted by ' or " where they hold blanks. Blank lines,
// lines ended by CR LF, and comments (# where a value could begin, to the end of the line) are taken. A last line of values
// without a newline is refused: of a file that was cut. So is, with the line's number, what STAR knows besides and RELION does
// not write (text between semicolons, several loops in one block, rows over several lines).
#pragma once

#include "../../impl/base/core.h"

typedef struct rg_star_table {
    const char *name; // "particles" of data_particles, "" of a bare data_
    int64_t line;     // where data_NAME stands, from 1
    bool is_loop;     // else a list of items: one row
    int n_columns;
    const char **column; // "rlnAngleRot", without the underscore
    int64_t n_rows;
    const char **cell; // n_rows * n_columns values, row by row, unquoted
    int64_t *row_line; // n_rows line numbers
} rg_star_table;

typedef struct rg_star {
    char *path, *text; // the names and values above point into text
    int n_tables;
    rg_star_table *table;
} rg_star;

// RG_GOOD, or one line (file, line, expected, found) and RG_USAGE.
int rg_star_read(const char *path, rg_star *);
void rg_star_free(rg_star *);
const rg_star_table *rg_star_find(const rg_star *, const char *name); // the first of this name, NULL when there is none
int rg_star_column(const rg_star_table *, const char *name);          // -1 when absent
const char *rg_star_cell(const rg_star_table *, int64_t row, int column);
// A finite number, or one line and RG_USAGE.
int rg_star_real(const rg_star *, const rg_star_table *, int64_t row, int column, double *value);
// A whole number in [low, high], also written as 1.000000, or one line and RG_USAGE.
int rg_star_int(const rg_star *, const rg_star_table *, int64_t row, int column, int64_t low, int64_t high, int64_t *value);
// "regather: PATH: line N: expected ..., found ..."; always RG_USAGE.
int rg_star_fault(const char *path, int64_t line, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Writing, row by row: the head of a loop, then each row's cells, quoted where needed. A value that holds both kinds of quotes
// followed by blanks, or the end of a line, cannot be written: false, and nothing is written.
void rg_star_write_head(FILE *, const char *name, int n_columns, const char *const *column);
bool rg_star_write_row(FILE *, int n_columns, const char *const *cell);
// A whole file, or nothing, with RELION's version 3.1 above its blocks where it has data_optics; RG_GOOD, or one line and RG_USAGE.
int rg_star_write(const char *path, const rg_star *);
