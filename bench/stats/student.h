// SPDX-License-Identifier: MIT
// student.h: intervals of means of few values, by Student's t and, of sums of means whose variances differ, by Welch's degrees
// of freedom.
#pragma once

// The p-quantile, 0.5 < p < 1, of Student's t with so many degrees of freedom.
double rg_student(double p, int freedom);

// Returns the variance of the mean of n > 1 values.
double rg_mean(const double *value, int n, double *mean);
// The same of their logarithms; NaN when a value is not above 0.
double rg_log_mean(const double *value, int n, double *mean);

// The variance of a sum of independent means, each with the degrees of freedom of its estimate (Welch 1947, Biometrika 34:28;
// Satterthwaite 1946, Biometrics Bulletin 2:110). Starts as {0}.
typedef struct rg_variance {
    double sum, squares;
} rg_variance;
void rg_variance_add(rg_variance *, double variance, int freedom);
void rg_variance_add_known(rg_variance *, double variance); // not estimated: infinite freedom
// Half the interval that misses the truth in the share `error` of all cases; 0 of no variance, NaN of one that is not a number.
double rg_half_interval(const rg_variance *, double error);
