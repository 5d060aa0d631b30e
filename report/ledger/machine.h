// SPDX-License-Identifier: MIT
// machine.h: a machine as its files describe it: rows of `bench` and `verify`, and small tables of jobs.
#pragma once

#include "../../data/formats/result.h"

// The source of the kernel that a row timed: the present one; unknown, because the row has no hash; an older one.
typedef enum { RG_TODAYS, RG_UNSOURCED, RG_STALE, RG_KNOWLEDGE } rg_knowledge;

// The rows of a result file, sorted by rg_knowledge: the first up_to[k] are of k or better.
typedef struct rg_row_file {
    rg_result result;
    int up_to[RG_KNOWLEDGE];
} rg_row_file;

typedef struct rg_named_table {
    char name[48];
    rg_tsv tsv;
    bool stale; // its job has changed since
} rg_named_table;

// This machine (the files named on the command line), or a reference machine (files of one folder whose names agree up to the
// first dot). Rows of the checker have no times: only their statuses count.
typedef struct rg_bench_machine {
    char label[96];
    bool here, alone; // alone: a record without its tables beside it
    int n_files, n_tables;
    rg_row_file *file;
    rg_named_table *table;
} rg_bench_machine;

// Selects the rows and tables of a machine that count. All functions that read rows take one.
typedef struct rg_rows {
    const rg_bench_machine *machine;
    rg_knowledge up_to;
} rg_rows;

// for (rg_cursor at = {.rows = rows}; rg_next(&at);) { at.row of at.file }
typedef struct rg_cursor {
    rg_rows rows;
    const rg_row *row;
    const rg_result *file;
    int f, i; // of the next row
} rg_cursor;
bool rg_next(rg_cursor *);

const rg_tsv *rg_table_of(rg_rows, const char *name);                    // or NULL
bool rg_table_counts(rg_rows, int table);                                // whether table i of the machine counts
const char *rg_machine_name(const rg_bench_machine *, const char *here); // its label; for this machine `here`
const char *rg_machine_head(const rg_bench_machine *, const char *key);  // from the first file whose head has it; ""
int rg_machine_rows(const rg_bench_machine *, rg_knowledge);             // number of rows of exactly this knowledge
int rg_machine_stale_tables(const rg_bench_machine *);

// RG_FILE_ANY: a result file if it has the columns of one, a record's FILE.tables.tsv, else a table.
typedef enum { RG_FILE_ANY, RG_FILE_ROWS, RG_FILE_CHECKS, RG_FILE_TABLE } rg_file_kind;
// Adds a file; a table is named by the first `length` bytes of name. RG_GOOD, or one line and RG_USAGE.
int rg_machine_add(rg_bench_machine *, const char *path, rg_file_kind, const char *name, int length);
void rg_machine_add_result(rg_bench_machine *, rg_result); // owns the result from now on
void rg_machine_free(rg_bench_machine *);
