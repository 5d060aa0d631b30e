// SPDX-License-Identifier: MIT
// result.h: the result file: its columns, one writer, one reader. bench writes it; compare, export, report, plots and the jobs'
// own records read it. Long TSV: '#' lines with the machine ("# key: value"), a row of column names, one row a measurement.
#ifndef RG_RESULT_H
#define RG_RESULT_H

#include "../../impl/base/tsv.h"
#include <stdint.h>

// Column names, in order (contract): algo variant shape params space scope mode n min q1 median q3 max unit work traffic rate
// rate_unit bound fraction error tol status clock temp joules energy_source peak_bytes prepare stop samples source check
// gpu_peak_bytes made. Files of format 1 (no line `format` in the head) end at `samples`, those of format 2 at `source`; in both
// all samples of a row are of one process; those of format 3 end at `gpu_peak_bytes`. made: which machine, driver, clocks,
// revision and when, where the rows of a file are not all of the run that its head speaks of (`record`). check: what the
// outputs were held against. peak_bytes: of kernels where they compute, of jobs the host's memory.
typedef enum {
    RG_C_ALGO,
    RG_C_VARIANT,
    RG_C_SHAPE,
    RG_C_PARAMS,
    RG_C_SPACE,
    RG_C_SCOPE,
    RG_C_MODE,
    RG_C_N,
    RG_C_MIN,
    RG_C_Q1,
    RG_C_MEDIAN,
    RG_C_Q3,
    RG_C_MAX,
    RG_C_UNIT,
    RG_C_WORK,
    RG_C_TRAFFIC,
    RG_C_RATE,
    RG_C_RATE_UNIT,
    RG_C_BOUND,
    RG_C_FRACTION,
    RG_C_ERROR,
    RG_C_TOL,
    RG_C_STATUS,
    RG_C_CLOCK,
    RG_C_TEMP,
    RG_C_JOULES,
    RG_C_ENERGY_SOURCE,
    RG_C_PEAK_BYTES,
    RG_C_PREPARE,
    RG_C_STOP,
    RG_C_SAMPLES,
    RG_C_SOURCE,
    RG_C_CHECK,
    RG_C_GPU_PEAK_BYTES,
    RG_C_MADE,
    RG_COLUMNS
} rg_column;
#define RG_RESULT_FORMAT "5" // what is written now; formats 1 to 4 are read, too
extern const char *const rg_column_name[RG_COLUMNS];

typedef struct rg_row {
    char *cell[RG_COLUMNS]; // "" when absent; a missing number is "" with the reason in a neighbouring cell, never 0
    double timed_ns;        // the median of a row that has passed, by rg_row_set_time; 0: has no time
} rg_row;

typedef struct rg_result { // its arrays grow by rg_more
    char *path;
    int n_head;
    char **head_key, **head_value; // "gpu" -> "NVIDIA H200", ...
    int n_rows;
    rg_row *row;
} rg_result;

// Reads a whole file. RG_GOOD, or one line (file, line, expected, found) and RG_USAGE. A last line without newline is a row
// that a killed run did not finish: it is dropped and *cut set.
int rg_result_read(const char *path, rg_result *, bool *cut);
int rg_result_of(const rg_tsv *, rg_result *); // the same of a table that has been read
void rg_result_free(rg_result *);
const char *rg_result_head(const rg_result *, const char *key); // NULL when absent
int rg_result_format(const rg_result *);                        // 1: older than the line `format`
bool rg_row_same(const rg_row *, const rg_row *);               // the same measurement: algo to mode, all but the numbers
bool rg_row_is_probe(const rg_row *);                           // a rate of the machine
bool rg_row_is_self_test(const rg_row *);                       // a variant against itself; neither is a variant's time
bool rg_row_is_timed(const rg_row *);                           // has passed, and has a median
double rg_cell_number(const rg_row *, rg_column);               // NaN when empty
void rg_row_set_time(rg_row *);                                 // once its cells are there, as rg_result_of does
// The number of a part of a cell: "w750,r250", "w" -> 750; "threads=2;isa=0", "isa=" -> 0; `standard` where it has no such part.
int64_t rg_cell_part(const char *cell, const char *name, int64_t standard);
int rg_row_threads(const rg_row *, int standard); // of the cell params
double rg_row_ns(const rg_row *, rg_column);      // a time of the row in ns, whatever its unit
void rg_duration(double ns, char text[32]);       // "12.3 ms"; "" when not finite
// Times, process after process, those of each in the order in which they were taken.
typedef struct rg_samples {
    int n, processes;
    double *ns;
    int *past; // of each process, the place after its last sample
} rg_samples;
// Those of a row, malloc'ed. The cell `samples` has them in nanoseconds, ';' between two of one process, '|' between processes.
rg_samples rg_row_samples(const rg_row *);
void rg_samples_free(rg_samples *);
// Writes head and rows; rows are appended whole (one write(2) each) and flushed, so that a killed run keeps every finished one.
// rg_result_open is fopen with a buffer that holds any row; ferror tells of a full disk.
FILE *rg_result_open(const char *path, const char *mode);
void rg_result_write_head(FILE *, int n, char *const *key, char *const *value);
void rg_result_write_row(FILE *, const rg_row *);
void rg_row_free(rg_row *);

#endif
