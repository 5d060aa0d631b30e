// SPDX-License-Identifier: MIT
// star.h: reads and writes STAR files as RELION 3.0 and 3.1 do: data blocks, each with one loop or one list of items.
//
// A row of a loop is one line. Values are separated by blanks or tabs and quoted by ' or " if they hold blanks. Blank lines, CR
// LF, and comments (# where a value could begin, to the end of the line) are accepted. A last line of values without a newline
// is refused, because the file was truncated. STAR syntax that RELION does not write is refused with the line's number: text
// between semicolons, several loops in one block, rows over several lines.
#pragma once

#include "../../impl/base/core.h"

typedef struct rg_star_table {
    const char *name; // "particles" for data_particles, "" for a bare data_
    int64_t line;     // of data_NAME, from 1
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
const rg_star_table *rg_star_find(const rg_star *, const char *name); // the first of this name, or NULL
int rg_star_column(const rg_star_table *, const char *name);          // -1 when absent
const char *rg_star_cell(const rg_star_table *, int64_t row, int column);
// Reads a finite number. RG_GOOD, or one line and RG_USAGE.
int rg_star_real(const rg_star *, const rg_star_table *, int64_t row, int column, double *value);
// Reads a whole number in [low, high], also written as 1.000000. RG_GOOD, or one line and RG_USAGE.
int rg_star_int(const rg_star *, const rg_star_table *, int64_t row, int column, int64_t low, int64_t high, int64_t *value);
// Prints "regather: PATH: line N: expected ..., found ..."; returns RG_USAGE.
int rg_star_fault(const char *path, int64_t line, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Write row by row: the head of a loop, then each row's cells, quoted if necessary. A cell that holds a line end, or both kinds
// of quotes followed by blanks, cannot be written: false, and nothing is written.
void rg_star_write_head(FILE *, const char *name, int n_columns, const char *const *column);
bool rg_star_write_row(FILE *, int n_columns, const char *const *cell);
// Writes a file whole or not at all, with RELION's version 3.1 above its blocks if it has data_optics. RG_GOOD, or one line and
// RG_USAGE.
int rg_star_write(const char *path, const rg_star *);
