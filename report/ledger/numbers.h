// SPDX-License-Identifier: MIT
// numbers.h: statistics of what was selected: medians, ratios and rates with their 95 % intervals, lines through points.
#pragma once

#include "rows.h"

typedef struct rg_estimate {
    double value, low, high; // low, high: NaN without an interval
} rg_estimate;
#define RG_NO_ESTIMATE ((rg_estimate){NAN, NAN, NAN})

rg_estimate rg_median_of(const rg_samples *);
rg_estimate rg_ratio_of(const rg_samples *a, const rg_samples *b); // of medians, a / b
// Ratio of the times of two rows, a piece of work each.
rg_estimate rg_time_ratio(const rg_row *a, const rg_row *b);
rg_estimate rg_calls_a_second(const rg_row *);
// Pieces of work of b for one of a: 1 at equal work, and where a file does not say.
double rg_more_work(const rg_row *a, const rg_row *b);
// ns that a job takes whatever its number of particles, the part p of its shape: where the line through this time and that of
// the fewest particles, by a row of spec whose shape is else the same, meets none. NaN where only one number was timed.
double rg_fixed_ns(rg_rows, const char *spec, const rg_row *);

// Numbers of the column `number` of table rows whose column `key` is `value` (repeats of a run), and whose column `shape` is
// `shape` where that is not "". To be freed by rg_samples_free.
rg_samples rg_table_numbers(const rg_tsv *, const char *key, const char *value, const char *shape, const char *number);

// Least squares through the origin, y = slope_through_origin x, and free, y = intercept + slope x; NaN where n is too small.
typedef struct rg_line {
    int n;
    double slope_through_origin, slope, intercept, intercept_error; // standard error of the intercept
    double residual;                                                // rms distance from the free line
} rg_line;
rg_line rg_line_fit(const double *x, const double *y, int n);
