// SPDX-License-Identifier: MIT
#include "stats.h"

#include <math.h>
#include <stdbool.h>

// P(|T| <= t) for whole degrees of freedom, by its finite sum (Abramowitz and Stegun 26.7.3 and 26.7.4).
static double student_within(double t, int freedom) {
    const double angle = atan(t / sqrt(freedom)), c = cos(angle) * cos(angle);
    const bool odd = freedom % 2;
    double term = odd ? cos(angle) : 1, sum = freedom > 1 ? term : 0;
    for (int k = odd ? 3 : 2; k < freedom; k += 2) sum += term *= c * (k - 1) / k;
    return odd ? 2 / M_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
}

double rg_student(double p, int freedom) {
    double low = 0, high = 1;
    while (student_within(high, freedom) < 2 * p - 1) high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(student_within(middle, freedom) < 2 * p - 1 ? &low : &high) = middle;
    }
    return high;
}

static double itself(double x) { return x; }

static double mean_of(const double *value, int n, double (*of)(double), double *mean) {
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++) sum += of(value[i]);
    *mean = sum / n;
    for (int i = 0; i < n; i++) squares += (of(value[i]) - *mean) * (of(value[i]) - *mean);
    return squares / (n - 1) / n;
}

double rg_mean(const double *value, int n, double *mean) { return mean_of(value, n, itself, mean); }

double rg_log_mean(const double *value, int n, double *mean) { return mean_of(value, n, log, mean); }

void rg_variance_add(rg_variance *v, double variance, int freedom) {
    v->sum += variance;
    v->squares += variance * variance / freedom;
}

void rg_variance_add_known(rg_variance *v, double variance) { v->sum += variance; }

double rg_half_interval(const rg_variance *v, double error) {
    if (!(v->sum > 0)) return v->sum;                               // 0 or NaN
    const double freedom = fmin(v->sum * v->sum / v->squares, 1e6); // beyond that Student's t is the normal distribution
    return rg_student(1 - error / 2, (int)fmax(freedom + 1e-9, 1)) * sqrt(v->sum); // of one mean it is whole but for rounding
}
