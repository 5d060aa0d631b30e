// SPDX-License-Identifier: MIT
// result.h: the result file: its columns, the writer, the reader. bench writes it; compare, export, report, plots and the
// records of jobs read it. Long TSV: '#' lines about the machine ("# key: value"), a row of column names, one row per
// measurement.
#pragma once

#include "../../impl/base/tsv.h"
#include "result_words.h"
#include <stdint.h>

#define RG_RESULT_FORMAT "5" // the format written; result_old.c reads formats 1 to 4

typedef struct rg_row {
    char *cell[RG_COLUMNS]; // "" when absent
    double timed_ns;        // median of a row that passed, set by rg_row_set_time; 0: no time
} rg_row;

typedef struct rg_result { // its arrays grow by rg_more
    char *path;
    int n_head;
    char **head_key, **head_value; // "gpu" -> "NVIDIA H200", ...
    int n_rows;
    rg_row *row;
} rg_result;

// A complete file ends in "# sha256: ", the hash of all bytes before that line, as sha256sum prints it. A warning says if the
// file was edited since. It detects mistakes, not fraud: whoever edits can rewrite the line.
int rg_result_seal(FILE *, const char *path); // writes the line; RG_GOOD, or one line and RG_USAGE
int rg_result_say_edited(const char *path);   // warns; for commands that compare or show the file
// Reads a file whole. RG_GOOD, or one line (file, line, expected, found) and RG_USAGE. A last line without newline is the
// unfinished row of a killed run: it is dropped and *cut set.
int rg_result_read(const char *path, rg_result *, bool *cut);
int rg_result_of(const rg_tsv *, rg_result *); // the same from a table in memory
void rg_result_free(rg_result *);
const char *rg_result_head(const rg_result *, const char *key); // NULL when absent
int rg_result_format(const rg_result *);                        // 1: a file without the line `format`
// The index of the cell's word in its closed set; -1: the cell is empty, or its column has no set.
int rg_cell_word(const rg_row *, rg_column);
unsigned rg_row_throttle(const rg_row *);                 // bits of rg_throttle; 0: unknown
void rg_row_reason(const rg_row *, char text[RG_REASON]); // stop and detail, for people
double rg_row_other_load(const rg_row *, int *cores);     // cores that other processes used, of *cores; NaN: unknown
bool rg_row_same(const rg_row *, const rg_row *);         // the same measurement: columns algo to mode, without the numbers
bool rg_row_is_job(const rg_row *);                       // its scope is job
bool rg_row_is_probe(const rg_row *);                     // a rate of the machine
bool rg_row_is_self_test(const rg_row *);         // a variant against itself; neither this nor a probe is a variant's time
bool rg_row_is_timed(const rg_row *);             // passed, and has a median
double rg_cell_number(const rg_row *, rg_column); // NaN when empty
void rg_row_set_time(rg_row *);                   // after its cells are set; rg_result_of does it
// The number in a part of a cell: "w750,r250", "w" -> 750; "threads=2;isa=0", "isa=" -> 0; `standard` if there is no such part.
int64_t rg_cell_part(const char *cell, const char *name, int64_t standard);
int rg_row_threads(const rg_row *, int standard); // from the cell params
double rg_row_ns(const rg_row *, rg_column);      // a time of the row, converted to ns
void rg_duration(double ns, char text[32]);       // "12.3 ms"; "" when not finite
// Times, grouped by process, in the order of measurement.
typedef struct rg_samples {
    int n, processes;
    double *ns;
    int *past; // of each process, the index after its last sample
} rg_samples;
// The samples of a row, malloc'ed.
rg_samples rg_row_samples(const rg_row *);
void rg_samples_free(rg_samples *);
// Writes head and rows; rows are appended whole (one write(2) each) and flushed, so that a killed run keeps every finished one.
// rg_result_open is fopen with a buffer that holds any row; ferror tells of a full disk.
FILE *rg_result_open(const char *path, const char *mode);
void rg_result_write_head(FILE *, int n, char *const *key, char *const *value);
void rg_result_write_row(FILE *, const rg_row *);
rg_row rg_row_empty(void);
void rg_row_free(rg_row *);

// ---- for the reader ----------------------------------------------------------------------------------------------------------

// Formats 1 to 4 (result_old.c). RG_GOOD, or one line and RG_USAGE.
int rg_result_old_columns(const rg_tsv *);
int rg_result_old_row(const rg_tsv *, int i, rg_row *); // converts its cells to format 5
