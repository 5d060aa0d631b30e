// SPDX-License-Identifier: MIT
// tables.h: several small tables in one file: each is a TSV as it is, below a line "# table: NAME".
#pragma once

typedef struct rg_tables {
    int n;
    struct rg_small_table {
        char *name, *text; // text: lines of a TSV, its head among them, the last one ended
    } * table;
} rg_tables;

// RG_GOOD, or one line and RG_USAGE: no line "# table: NAME" first, a name that is none or there twice.
int rg_tables_read(const char *path, rg_tables *);
int rg_tables_write(const char *path, const rg_tables *);
const char *rg_tables_find(const rg_tables *, const char *name);     // its text, NULL where it is not
void rg_tables_put(rg_tables *, const char *name, const char *text); // in place of the one of this name, or as a further one
void rg_tables_free(rg_tables *);
