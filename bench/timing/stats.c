// SPDX-License-Identifier: MIT
// stats.c: quantiles, the interval of a median by order statistics, the interval of a ratio of medians by block bootstrap.

#include "stats.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPLICATES = 2000 };

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double *sorted_copy(const double *sample, int n)
{
    double *sorted = rg_alloc((size_t)n * sizeof *sorted);
    memcpy(sorted, sample, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    return sorted;
}

double rg_quantile(const double *sorted, int n, double p)
{
    double at = p * (n - 1);
    int i = (int)floor(at);
    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

bool rg_median_ranks(int n, double inflation, int *low, int *high)
{
    // The largest k with P(Binomial(n, 1/2) < k) <= 2.5 %: the median lies between the k-th and the (n + 1 - k)-th sample.
    int k = 0;
    double below = 0;
    while (k < n / 2) {
        below += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * M_LN2);
        if (below > 0.025)
            break;
        k++;
    }
    if (k < 1)
        return false;
    double half = ((n + 1) / 2.0 - k) * inflation;
    *low = (int)floor((n + 1) / 2.0 - half);
    *high = n + 1 - *low;
    return *low >= 1;
}

// Correlation of successive samples, computed on ranks so that one outlier does not decide it; `rank` holds 0..n-1 in time
// order.
static double lag_correlation(const int *rank, int n)
{
    if (n < 8)
        return 0;
    double mean = (n - 1) / 2.0, variance = 0, covariance = 0;
    for (int i = 0; i < n; i++)
        variance += (rank[i] - mean) * (rank[i] - mean);
    for (int i = 0; i + 1 < n; i++)
        covariance += (rank[i] - mean) * (rank[i + 1] - mean);
    return covariance / variance;
}

typedef struct ranked {
    int n;
    double *sorted;
    int *rank; // of the i-th sample taken; equal samples have equal ranks
    double correlation, tick;
} ranked;

static ranked rank_samples(const double *sample, int n)
{
    ranked r = {.n = n, .sorted = sorted_copy(sample, n), .rank = rg_alloc((size_t)n * sizeof *r.rank), .tick = INFINITY};
    for (int i = 0; i < n; i++) {
        double *first = bsearch(&sample[i], r.sorted, (size_t)n, sizeof *r.sorted, ascending);
        while (first > r.sorted && first[-1] == *first)
            first--;
        r.rank[i] = (int)(first - r.sorted);
    }
    for (int i = 0; i + 1 < n; i++)
        if (r.sorted[i + 1] > r.sorted[i])
            r.tick = fmin(r.tick, r.sorted[i + 1] - r.sorted[i]);
    bool constant = isinf(r.tick);
    // All samples alike: all that is known of the clock is that times are kept with seven digits.
    if (constant)
        r.tick = 1e-6 * fabs(r.sorted[n / 2]);
    r.correlation = constant ? 0 : lag_correlation(r.rank, n);
    return r;
}

static void ranked_free(ranked *r)
{
    free(r->sorted);
    free(r->rank);
}

void rg_summarise(const double *sample, int n, rg_summary *s)
{
    *s = (rg_summary){.n = n, .min = NAN, .q1 = NAN, .median = NAN, .q3 = NAN, .max = NAN, .low = -INFINITY, .high = INFINITY};
    if (n < 1)
        return;
    ranked r = rank_samples(sample, n);
    s->min = r.sorted[0];
    s->q1 = rg_quantile(r.sorted, n, 0.25);
    s->median = rg_quantile(r.sorted, n, 0.5);
    s->q3 = rg_quantile(r.sorted, n, 0.75);
    s->max = r.sorted[n - 1];
    s->correlation = r.correlation;
    // An AR(1) series of correlation c has as much information on its centre as n (1 - c)/(1 + c) independent samples.
    double c = fmin(fmax(r.correlation, 0), 0.95);
    int low, high;
    if (rg_median_ranks(n, sqrt((1 + c) / (1 - c)), &low, &high)) {
        s->low = r.sorted[low - 1];
        s->high = r.sorted[high - 1];
    }
    ranked_free(&r);
}

double rg_relative_width(const rg_summary *s)
{
    double width = (s->high - s->low) / 2 / s->median;
    return isnan(width) ? INFINITY : width;
}

int rg_block_length(int n, double correlation)
{
    double c = fmin(fmax(correlation, 0), 0.95), root = cbrt(n);
    double length = fmax(root, pow(2 * c / (1 - c * c), 2.0 / 3) * root);
    int most = n / 3 > 1 ? n / 3 : 1;
    return length < most ? (int)ceil(length) : most;
}

// One replicate: blocks of successive samples from random places (the end joined to the beginning) until n are drawn; their
// median.
static double replicate(const ranked *r, int block, uint64_t seed, uint64_t *draw, int *count)
{
    memset(count, 0, (size_t)r->n * sizeof *count);
    for (int taken = 0; taken < r->n;) {
        int at = (int)(rg_bits(seed, (*draw)++) % (uint64_t)r->n);
        for (int i = 0; i < block && taken < r->n; i++, taken++)
            count[r->rank[(at + i) % r->n]]++;
    }
    int seen = 0, lower = (r->n - 1) / 2, upper = r->n / 2;
    double low = 0;
    for (int i = 0;; i++) {
        if (seen <= lower && lower < seen + count[i])
            low = r->sorted[i];
        seen += count[i];
        if (upper < seen)
            return (low + r->sorted[i]) / 2;
    }
}

// P(|T| <= t) for whole degrees of freedom, by its finite sum (Abramowitz and Stegun 26.7.3 and 26.7.4).
static double student_within(double t, int freedom)
{
    const double angle = atan(t / sqrt(freedom)), c = cos(angle) * cos(angle);
    const bool odd = freedom % 2;
    double term = odd ? cos(angle) : 1, sum = freedom > 1 ? term : 0;
    for (int k = odd ? 3 : 2; k < freedom; k += 2)
        sum += term *= c * (k - 1) / k;
    return odd ? 2 / M_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
}

double rg_student(double p, int freedom)
{
    double low = 0, high = 1;
    while (student_within(high, freedom) < 2 * p - 1)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(student_within(middle, freedom) < 2 * p - 1 ? &low : &high) = middle;
    }
    return high;
}

// Mean of the logarithms and the variance of that mean.
static void log_moments(const ranked *r, double *mean, double *variance)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < r->n; i++)
        sum += log(r->sorted[i]);
    *mean = sum / r->n;
    for (int i = 0; i < r->n; i++)
        squares += (log(r->sorted[i]) - *mean) * (log(r->sorted[i]) - *mean);
    *variance = squares / (r->n - 1) / r->n;
}

static void welch_interval(const ranked *a, const ranked *b, rg_ratio *result)
{
    double ma, mb, va, vb;
    log_moments(a, &ma, &va);
    log_moments(b, &mb, &vb);
    double freedom = (va + vb) * (va + vb) / (va * va / (a->n - 1) + vb * vb / (b->n - 1));
    double half = va + vb > 0 ? rg_student(0.975, (int)fmax(freedom, 1)) * sqrt(va + vb) : 0;
    result->low = fmin(exp(ma - mb - half), result->ratio);
    result->high = fmax(exp(ma - mb + half), result->ratio);
}

static void bootstrap_interval(const ranked *a, const ranked *b, uint64_t seed, rg_ratio *result)
{
    int *count = rg_alloc((size_t)(a->n > b->n ? a->n : b->n) * sizeof *count);
    double *ratio = rg_alloc(REPLICATES * sizeof *ratio);
    int block_a = rg_block_length(a->n, a->correlation), block_b = rg_block_length(b->n, b->correlation);
    uint64_t draw = 0;
    for (int i = 0; i < REPLICATES; i++) {
        double above = replicate(a, block_a, seed, &draw, count);
        ratio[i] = above / replicate(b, block_b, seed, &draw, count);
    }
    qsort(ratio, REPLICATES, sizeof *ratio, ascending);
    result->low = rg_quantile(ratio, REPLICATES, 0.025);
    result->high = rg_quantile(ratio, REPLICATES, 0.975);
    free(count);
    free(ratio);
}

rg_ratio rg_ratio_of_medians(const double *a, int na, const double *b, int nb, uint64_t seed)
{
    rg_ratio result = {0, 0, INFINITY};
    if (na < 1 || nb < 1)
        return result;
    ranked ra = rank_samples(a, na), rb = rank_samples(b, nb);
    double ma = rg_quantile(ra.sorted, na, 0.5), mb = rg_quantile(rb.sorted, nb, 0.5);
    double half_tick = ra.tick / 2 / ma + rb.tick / 2 / mb;
    result.ratio = ma / mb;
    if (na > 1 && nb > 1) {
        if (na < 6 || nb < 6)
            welch_interval(&ra, &rb, &result);
        else
            bootstrap_interval(&ra, &rb, seed, &result);
        result.low *= 1 - fmin(half_tick, 1);
        result.high *= 1 + half_tick;
    }
    ranked_free(&ra);
    ranked_free(&rb);
    return result;
}
