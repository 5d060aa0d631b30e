// SPDX-License-Identifier: MIT
// stats.h: summaries, ratios and intervals of times.
//
// Whatever changes between processes (addresses, plans, clocks, neighbours) affects all samples of a process alike: a process
// is one observation, however many samples it has. With samples of two or more processes an interval is Student's t on the
// logarithms of the medians of the processes, and Welch's for two sets. Its coverage is right from few processes on, of unequal
// spread too (Ibragimov and Mueller 2010, J. Business & Economic Statistics 28:453). A bootstrap that resamples five processes
// covers some 85 % instead of 95 %: it cannot draw a process further out than those seen (Cameron, Gelbach and Miller 2008,
// Rev. Economics and Statistics 90:414).
//
// Samples of one process are in the order of measurement. Successive ones are correlated (the clock, the temperature and the
// neighbours change slowly), so intervals that assume independence are too narrow. An interval of one process does not predict
// the next one.
#pragma once

#include "../../data/formats/result.h"
#include "../../impl/base/core.h"

typedef struct rg_summary {
    int n;
    double min, q1, median, q3, max;
    double low, high;   // 95 % interval of the median; -inf and inf: too few samples or processes
    double correlation; // of successive samples of one process, 0: unknown
} rg_summary;

double rg_median(double *value, int n); // sorts the n values; NaN: n is 0
// The p-quantile of n > 0 sorted values, linear between neighbours (type 7 of Hyndman and Fan 1996).
double rg_quantile(const double *sorted, int n, double p);

// The ranks (from 1) of the order statistics that enclose the median with 95 %, from the binomial distribution; false for n <
// 6. `inflation` >= 1 widens the interval as if only n / inflation^2 samples were independent.
bool rg_median_ranks(int n, double inflation, int *low, int *high);

void rg_summarise(const rg_samples *, rg_summary *);
static inline rg_samples rg_one_process(const double *ns, int n) {
    return (rg_samples){n, 1, rg_unconst(ns), NULL};
} // not to be freed

// Half the interval of the median over the median; inf: no interval.
double rg_relative_width(const rg_summary *);
double rg_row_width(const rg_row *); // the whole interval of a row's samples over their median, as `stop` reports it

// The ratio of medians a / b with its 95 % interval. If both sides have two or more processes, over processes. Else, whatever
// their number, by a circular block bootstrap of both sets; with fewer than 6 samples on a side, by Welch's interval of the
// difference of logarithms (times assumed log-normal). Ratio and interval come from one estimator: means of logarithms for
// Welch's, else medians. The interval never has width 0: the clock ticks, so each end is moved out by half a tick (the least
// distance between different samples).
typedef struct rg_ratio {
    double ratio, low,
        high; // low 0 and high inf: a side has one sample; ratio 0 too: a side is empty
} rg_ratio;
rg_ratio rg_ratio_of_medians(const rg_samples *a, const rg_samples *b, uint64_t seed);

// The block length for n samples of this lag-1 correlation (Carlstein 1986 for AR(1); never below n^(1/3)).
int rg_block_length(int n, double correlation);

// ---- gate.c -------------------------------------------------------------------------------------------------------------

// The verdicts that compare and duel share for "is the new one slower", and the gate that decides them.

// BROKEN: it passed before, but no longer does. The last two apply to files.
typedef enum { RG_SAME, RG_FASTER, RG_SLOWER, RG_UNDECIDED, RG_BROKEN, RG_ONLY_A, RG_ONLY_B, RG_CHANGES } rg_change;
extern const char *const rg_change_name[RG_CHANGES];   // "SAME", "FASTER", "SLOWER", "UNSURE", "BROKEN", "only in A", ...
extern const char *const rg_change_colour[RG_CHANGES]; // for rg_colour()

// "5%" or "0.05". RG_GOOD, or one line and RG_USAGE.
int rg_gate_read(const char *text, double *gate);
// Rows of one process each do not show what changes between processes. Their interval is moved out by the difference found
// between equal kernels (3 % on an H200 for kernels of 10 us in equal buffers at other places, as bench --self-test found).
#define RG_ONE_PROCESS 0.03
void rg_ratio_widen(rg_ratio *);
// Judges the interval of new / old: SLOWER if all of it lies above 1 + gate, FASTER below 1 / (1 + gate), SAME between the two.
rg_change rg_gate_judge(const rg_ratio *, double gate);

// ---- student.c ----------------------------------------------------------------------------------------------------------

// Intervals of means of few values, by Student's t; for sums of means with different variances, by Welch's degrees of freedom.

// The p-quantile, 0.5 < p < 1, of Student's t with `freedom` degrees of freedom.
double rg_student(double p, int freedom);

// Returns the variance of the mean of n > 1 values.
double rg_mean(const double *value, int n, double *mean);
// The same for their logarithms; NaN if a value is not above 0.
double rg_log_mean(const double *value, int n, double *mean);

// The variance of a sum of independent means, each with the degrees of freedom of its estimate (Welch 1947, Biometrika 34:28;
// Satterthwaite 1946, Biometrics Bulletin 2:110). Starts as {0}.
typedef struct rg_variance {
    double sum, squares;
} rg_variance;
void rg_variance_add(rg_variance *, double variance, int freedom);
void rg_variance_add_known(rg_variance *, double variance); // not estimated: infinite freedom
// Half the width of the interval that misses the truth in the share `error` of all cases; 0 without variance, NaN if it is not
// a number.
double rg_half_interval(const rg_variance *, double error);
