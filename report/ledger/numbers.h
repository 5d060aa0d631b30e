// SPDX-License-Identifier: MIT
// numbers.h: statistics of selected rows: medians, ratios and rates with their 95 % intervals, lines through points.
#pragma once

#include "rows.h"

typedef struct rg_estimate {
    double value, low, high; // low, high: NaN if there is no interval
} rg_estimate;
#define RG_NO_ESTIMATE ((rg_estimate){NAN, NAN, NAN})

rg_estimate rg_median_of(const rg_samples *);
rg_estimate rg_ratio_of(const rg_samples *a, const rg_samples *b); // of medians, a / b
// The ratio of the times of two rows, each per piece of work.
rg_estimate rg_time_ratio(const rg_row *a, const rg_row *b);
rg_estimate rg_calls_a_second(const rg_row *);
// Of the rows that both timed on a GPU, or on one core, the times of a over those of b: their median, and between low and high
// half of them. Returns their number.
int rg_times_beside(rg_rows a, rg_rows b, bool gpu, rg_estimate *half);
// Pieces of work of b per piece of a; 1 if the work is equal or the file does not say.
double rg_more_work(const rg_row *a, const rg_row *b);
// The fixed time of a job in ns, independent of the number of particles (part p of its shape): the intercept of the line
// through this time and that of the fewest particles, from rows of spec with the same shape otherwise. NaN if only one number
// was timed.
double rg_fixed_ns(rg_rows, const char *spec, const rg_row *);

// The numbers in column `number` of the table rows whose column `key` is `value` (repeats of a run) and, unless shape is "",
// whose column `shape` is `shape`. Free with rg_samples_free.
rg_samples rg_table_numbers(const rg_tsv *, const char *key, const char *value, const char *shape, const char *number);

// Least squares through the origin, y = slope_through_origin x, and free, y = intercept + slope x; NaN if n is too small.
typedef struct rg_line {
    int n;
    double slope_through_origin, slope, intercept, intercept_error; // standard error of the intercept
    double residual;                                                // rms distance from the free line
} rg_line;
rg_line rg_line_fit(const double *x, const double *y, int n);
