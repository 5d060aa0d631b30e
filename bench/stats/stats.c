// SPDX-License-Identifier: MIT
// stats.c: computes quantiles, and intervals of medians and of their ratios, over processes and within one.
#include "stats.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"

enum { REPLICATES = 2000 };

static double *sorted_copy(const double *sample, int n) {
    double *sorted = rg_alloc((size_t)n * sizeof *sorted);
    memcpy(sorted, sample, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, rg_ascending);
    return sorted;
}

double rg_median(double *value, int n) {
    if (n < 1) return NAN;
    qsort(value, (size_t)n, sizeof *value, rg_ascending);
    return rg_quantile(value, n, 0.5);
}

double rg_quantile(const double *sorted, int n, double p) {
    double at = p * (n - 1);
    int i = (int)floor(at);
    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

bool rg_median_ranks(int n, double inflation, int *low, int *high) {
    // The largest k with P(Binomial(n, 1/2) < k) <= 2.5 %: the median lies between the k-th and the (n + 1 - k)-th sample.
    int k = 0;
    double below = 0;
    while (k < n / 2) {
        below += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * M_LN2);
        if (below > 0.025) break;
        k++;
    }
    if (k < 1) return false;
    double half = ((n + 1) / 2.0 - k) * inflation;
    *low = (int)floor((n + 1) / 2.0 - half);
    *high = n + 1 - *low;
    return *low >= 1;
}

// Correlation of successive samples, computed on ranks so that one outlier does not decide it; `rank` holds 0..n-1 in time
// order.
static double lag_correlation(const int *rank, int n) {
    if (n < 8) return 0;
    double mean = (n - 1) / 2.0, variance = 0, covariance = 0;
    for (int i = 0; i < n; i++) variance += (rank[i] - mean) * (rank[i] - mean);
    for (int i = 0; i + 1 < n; i++) covariance += (rank[i] - mean) * (rank[i + 1] - mean);
    return covariance / variance;
}

typedef struct ranked {
    int n;
    double *sorted;
    int *rank; // of the i-th sample taken; equal samples have equal ranks
    double correlation, tick;
} ranked;

static ranked rank_samples(const double *sample, int n) {
    ranked r = {.n = n, .sorted = sorted_copy(sample, n), .rank = rg_alloc((size_t)n * sizeof *r.rank), .tick = INFINITY};
    for (int i = 0; i < n; i++) {
        double *first = bsearch(&sample[i], r.sorted, (size_t)n, sizeof *r.sorted, rg_ascending);
        while (first > r.sorted && first[-1] == *first) first--;
        r.rank[i] = (int)(first - r.sorted);
    }
    for (int i = 0; i + 1 < n; i++)
        if (r.sorted[i + 1] > r.sorted[i]) r.tick = fmin(r.tick, r.sorted[i + 1] - r.sorted[i]);
    bool constant = isinf(r.tick);
    // All samples are equal: the only known resolution is that times are kept with seven digits.
    if (constant) r.tick = 1e-6 * fabs(r.sorted[n / 2]);
    r.correlation = constant ? 0 : lag_correlation(r.rank, n);
    return r;
}

static void ranked_free(ranked *r) {
    free(r->sorted);
    free(r->rank);
}

// The medians of the processes, malloc'ed.
static double *process_medians(const rg_samples *s) {
    double *median = rg_alloc((size_t)s->processes * sizeof *median);
    for (int p = 0; p < s->processes; p++) {
        const int first = p ? s->past[p - 1] : 0, n = s->past[p] - first;
        RG_FREED double *sorted = sorted_copy(s->ns + first, n);
        median[p] = rg_quantile(sorted, n, 0.5);
    }
    return median;
}

static void interval_over_processes(const rg_samples *samples, rg_summary *s) {
    double *median = process_medians(samples), mean;
    rg_variance v = {0};
    rg_variance_add(&v, rg_log_mean(median, samples->processes, &mean), samples->processes - 1);
    free(median);
    const double half = rg_half_interval(&v, 0.05);
    if (!isfinite(half)) return;
    s->low = fmin(exp(mean - half), s->median);
    s->high = fmax(exp(mean + half), s->median);
}

static void interval_of_ranks(const ranked *r, rg_summary *s) {
    // An AR(1) series of correlation c has as much information on its centre as n (1 - c)/(1 + c) independent samples.
    double c = fmin(fmax(r->correlation, 0), 0.95);
    int low, high;
    if (rg_median_ranks(r->n, sqrt((1 + c) / (1 - c)), &low, &high)) {
        s->low = r->sorted[low - 1];
        s->high = r->sorted[high - 1];
    }
}

void rg_summarise(const rg_samples *samples, rg_summary *s) {
    const int n = samples->n;
    *s = (rg_summary){.n = n, .min = NAN, .q1 = NAN, .median = NAN, .q3 = NAN, .max = NAN, .low = -INFINITY, .high = INFINITY};
    if (n < 1) return;
    RG_ENDS(ranked_free) ranked r = rank_samples(samples->ns, n);
    s->min = r.sorted[0];
    s->q1 = rg_quantile(r.sorted, n, 0.25);
    s->median = rg_quantile(r.sorted, n, 0.5);
    s->q3 = rg_quantile(r.sorted, n, 0.75);
    s->max = r.sorted[n - 1];
    if (samples->processes > 1) {
        interval_over_processes(samples, s);
    } else {
        s->correlation = r.correlation;
        interval_of_ranks(&r, s);
    }
}

double rg_relative_width(const rg_summary *s) {
    double width = (s->high - s->low) / 2 / s->median;
    return isnan(width) ? INFINITY : width;
}

double rg_row_width(const rg_row *row) {
    RG_ENDS(rg_samples_free) rg_samples samples = rg_row_samples(row);
    rg_summary summary;
    rg_summarise(&samples, &summary);
    return 2 * rg_relative_width(&summary);
}

int rg_block_length(int n, double correlation) {
    double c = fmin(fmax(correlation, 0), 0.95), root = cbrt(n);
    double length = fmax(root, pow(2 * c / (1 - c * c), 2.0 / 3) * root);
    int most = n / 3 > 1 ? n / 3 : 1;
    return length < most ? (int)ceil(length) : most;
}

// One replicate: blocks of successive samples from random places (the end joined to the beginning) until n are drawn; their
// median.
static double replicate(const ranked *r, int block, uint64_t seed, uint64_t *draw, int *count) {
    memset(count, 0, (size_t)r->n * sizeof *count);
    for (int taken = 0; taken < r->n;) {
        int at = (int)(rg_bits(seed, (*draw)++) % (uint64_t)r->n);
        for (int i = 0; i < block && taken < r->n; i++, taken++) count[r->rank[(at + i) % r->n]]++;
    }
    int seen = 0, lower = (r->n - 1) / 2, upper = r->n / 2;
    double low = 0;
    for (int i = 0;; i++) {
        if (seen <= lower && lower < seen + count[i]) low = r->sorted[i];
        seen += count[i];
        if (upper < seen) return (low + r->sorted[i]) / 2;
    }
}

// For two sets of independent times.
static void welch_interval(const double *a, int na, const double *b, int nb, rg_ratio *result) {
    double mean_a, mean_b;
    rg_variance v = {0};
    rg_variance_add(&v, rg_log_mean(a, na, &mean_a), na - 1);
    rg_variance_add(&v, rg_log_mean(b, nb, &mean_b), nb - 1);
    const double half = rg_half_interval(&v, 0.05);
    if (!isfinite(mean_a - mean_b + half)) return;
    *result = (rg_ratio){exp(mean_a - mean_b), exp(mean_a - mean_b - half), exp(mean_a - mean_b + half)};
}

static void welch_over_processes(const rg_samples *a, const rg_samples *b, rg_ratio *result) {
    RG_FREED double *of_a = process_medians(a), *of_b = process_medians(b);
    welch_interval(of_a, a->processes, of_b, b->processes, result);
}

static void bootstrap_interval(const ranked *a, const ranked *b, uint64_t seed, rg_ratio *result) {
    RG_FREED int *count = rg_alloc((size_t)(a->n > b->n ? a->n : b->n) * sizeof *count);
    RG_FREED double *ratio = rg_alloc(REPLICATES * sizeof *ratio);
    int block_a = rg_block_length(a->n, a->correlation), block_b = rg_block_length(b->n, b->correlation);
    uint64_t draw = 0;
    for (int i = 0; i < REPLICATES; i++) {
        double above = replicate(a, block_a, seed, &draw, count);
        ratio[i] = above / replicate(b, block_b, seed, &draw, count);
    }
    qsort(ratio, REPLICATES, sizeof *ratio, rg_ascending);
    result->low = rg_quantile(ratio, REPLICATES, 0.025);
    result->high = rg_quantile(ratio, REPLICATES, 0.975);
}

rg_ratio rg_ratio_of_medians(const rg_samples *a, const rg_samples *b, uint64_t seed) {
    rg_ratio result = {0, 0, INFINITY};
    if (a->n < 1 || b->n < 1) return result;
    RG_ENDS(ranked_free) ranked ra = rank_samples(a->ns, a->n), rb = rank_samples(b->ns, b->n);
    double ma = rg_quantile(ra.sorted, a->n, 0.5), mb = rg_quantile(rb.sorted, b->n, 0.5);
    double half_tick = ra.tick / 2 / ma + rb.tick / 2 / mb;
    result.ratio = ma / mb;
    if (a->n > 1 && b->n > 1) {
        if (a->processes > 1 && b->processes > 1)
            welch_over_processes(a, b, &result);
        else if (a->n < 6 || b->n < 6)
            welch_interval(a->ns, a->n, b->ns, b->n, &result);
        else
            bootstrap_interval(&ra, &rb, seed, &result);
        result.low *= 1 - fmin(half_tick, 1);
        result.high *= 1 + half_tick;
    }
    return result;
}
