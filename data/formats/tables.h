// SPDX-License-Identifier: MIT
// tables.h: several small tables in one file: each is a TSV below a line "# table: NAME".
#pragma once

typedef struct rg_tables {
    int n;
    struct rg_small_table {
        char *name, *text; // text: all lines of the TSV, head included; the last ends in a newline
    } * table;
} rg_tables;

// RG_GOOD, or one line and RG_USAGE: the first line is not "# table: NAME", a name is empty or occurs twice.
int rg_tables_read(const char *path, rg_tables *);
int rg_tables_write(const char *path, const rg_tables *);
const char *rg_tables_find(const rg_tables *, const char *name);     // the table's text, or NULL
void rg_tables_put(rg_tables *, const char *name, const char *text); // replaces the table of this name, or appends it
void rg_tables_free(rg_tables *);
