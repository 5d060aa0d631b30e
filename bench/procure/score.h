// SPDX-License-Identifier: MIT
// score.h: compares archives of several machines: times, joules, costs, and their uncertainty.
//
// For job j with weight w_j on machine m, t_mj is the median of the runs that count. S_m = exp(sum w_j log(ref_j / t_mj)) is
// the weighted geometric mean of the speed-up over the reference machine; T_m = sum w_j t_mj is the time of a job of the mix;
// J_m its joules. log S_m has the variance sum w_j^2 v_mj + SESSION^2, v_mj the variance of the mean of the logarithms of the
// runs. Intervals are Student's t with the degrees of freedom of Welch and Satterthwaite; SESSION counts as known.
//
// Cost over the years: price + support - residual + electricity PUE (busy + idle energy). The machine is busy for `utilisation`
// of all hours at J_m / T_m watts. An hour of work has 3600 / T_m jobs.
#pragma once

#include "archive.h"

#include "../../impl/base/options.h"
#include "../stats/stats.h"

enum { RG_MACHINES_MOST = 24, RG_WHATS_MOST = 2 * RG_JOBS_MOST + 16 };
// Standard deviation, of the logarithm, between archives of one machine: clocks, temperature and placement, which all runs of
// an archive share. An assumption (bench/RULES.md), not a measurement.
#define RG_SESSION 0.01

typedef struct rg_costs {
    rg_tsv table;
    const char *currency;
    double years, electricity, pue, utilisation;
} rg_costs;

typedef struct rg_job_score {
    int runs;
    double median_s, variance, joules;
    const char *source; // of the joules
} rg_job_score;
typedef struct rg_machine_score {
    rg_archive a;
    rg_job_score job[RG_JOBS_MOST];
    double score, low, high, variance, seconds, joules, best; // best: probability of being the fastest
    bool upper;                                               // for at least one job joules are the power cap times the time
    const char *joules_are;   // the source of all jobs' joules, "upper estimate", "several sources" or "none"
    int rank, findings;       // findings: of audit, without computations
    char finding[RG_FINDING]; // the first
    double price, support, residual, idle_W, cap_W;  // NaN: no costs
    double energy_busy, energy_idle, total, per_job; // money
} rg_machine_score;
typedef struct rg_score {
    const rg_workload *workload;
    const rg_costs *costs; // NULL: none
    int n;
    rg_machine_score machine[RG_MACHINES_MOST];
    double reference_s[RG_JOBS_MOST];
    const char *reference; // label or name of the reference machine
} rg_score;

// Computes the jobs of one archive, and adds the weighted sum of their medians to *seconds. RG_GOOD, or one line and RG_USAGE:
// wrong runs, or too few that count.
int rg_job_scores(const rg_archive *, const rg_workload *, rg_job_score *, double *seconds);
// The variance of log S, or, unless b is NULL, of the difference of two.
rg_variance rg_score_variance(const rg_workload *, const rg_job_score *a, const rg_job_score *b);
// Computes the costs of one machine for this electricity and utilisation instead of the file's.
void rg_score_money(const rg_score *, rg_machine_score *, double electricity, double utilisation);
double rg_score_log(const rg_score *, const rg_machine_score *, const double *weight); // sum w_j log(ref_j / t_mj)
// Names programs, inputs or divisions that differ between archives, "Not of one revision (A 0123, B 4567): ..."; "": none;
// malloc'ed.
char *rg_score_unlike(const rg_score *);

// score_write.c: writes tables, figures and page into a folder. RG_GOOD, or one line and RG_USAGE.
int rg_score_write(const rg_score *, const char *folder, const char *command);
