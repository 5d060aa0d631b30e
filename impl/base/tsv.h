// SPDX-License-Identifier: MIT
// tsv.h: reads and writes tables: '#' lines, a row of column names, rows of cells separated by tabs.
#pragma once

#include <stdbool.h>
#include <stdio.h>

// Limits of a file, of a line (a head can hold a command with all its file names) and of columns; beyond, a file is refused.
enum { RG_TSV_FILE_MOST = 1 << 28, RG_TSV_LINE_MOST = 1 << 22, RG_TSV_COLUMNS_MOST = 256 };

typedef struct rg_tsv_line {
    int number; // of the line in the file, from 1
    char *text; // "# key: value"
} rg_tsv_line;

// All text points into one buffer. Cells are as in the file; "-" and "" both mean: no value.
typedef struct rg_tsv {
    char *path, *text;
    int n_head, n_columns, n_rows;
    int names_line, *row_line; // line numbers of the column names and of each row
    rg_tsv_line *head;         // '#' lines before the column names; later ones and blank lines are skipped
    char **column, **cell;     // cell: row by row, n_columns each
} rg_tsv;

// Reads a whole regular file. RG_GOOD, or one line (file, line, expected, found), RG_USAGE and nothing to free. A last line without
// a line end is a normal line; rg_tsv_read_cut takes it for one that a killed run did not finish, drops it and sets *cut.
int rg_tsv_read(const char *path, rg_tsv *);
int rg_tsv_read_cut(const char *path, rg_tsv *, bool *cut);
int rg_tsv_parse(const char *name, const char *text, size_t bytes, rg_tsv *); // of a table in memory, which is copied
void rg_tsv_free(rg_tsv *);
void rg_tsv_write(const rg_tsv *, FILE *);                            // head, column names and rows again
const char *rg_tsv_head(const rg_tsv *, const char *key);             // value of "# key: value"; NULL when absent
const char *rg_tsv_cell(const rg_tsv *, int row, const char *column); // "" for "-" and where there is no such column
double rg_tsv_number(const rg_tsv *, int row, const char *column);    // NaN when empty or no number
double rg_tsv_number_at(const rg_tsv *, int row, int column);
int rg_tsv_find(const rg_tsv *, const char *column, const char *text); // the first row whose cell is text; -1: none
// RG_GOOD if the table has these columns, separated by blanks; else one line and RG_USAGE.
int rg_tsv_needs(const rg_tsv *, const char *columns);
// "PATH: line 7: expected EXPECTED in column C, found "..."" of a cell, of a column that is there; RG_USAGE. And of a line.
int rg_tsv_fault(const rg_tsv *, int row, const char *column, const char *expected);
int rg_tsv_fault_at(const rg_tsv *, int row, int column, const char *expected);
int rg_tsv_line_fault(const rg_tsv *, int line, const char *expected, const char *found);

// fprintf for head lines and rows. It writes control bytes in the text of a %s as \xNN (rg_put_text), so that no name, path or
// reason breaks a row or reaches a terminal. It knows %s, also with a precision, %d %u (also with l and ll) %e %f %g %c %%. Files
// are written whole by rg_file_open and rg_file_commit (core.h).
void rg_tsv_print(FILE *, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Prints a number by "%.7g", or "-" if it is not finite, followed by `end`, '\t' or '\n'.
void rg_tsv_put(FILE *, const char *format, double value, char end);
