// SPDX-License-Identifier: MIT
// score.h: archives of several machines against each other: times, joules, money, and how sure that is.
//
// Of job j with weight w_j on machine m, t_mj is the median of the runs that count. S_m = exp(sum w_j log(ref_j / t_mj)), the
// weighted geometric mean of how much faster than the reference machine; T_m = sum w_j t_mj, the seconds of a job of the mix;
// J_m its joules. log S_m has the variance sum w_j^2 v_mj + SESSION^2, v_mj the variance of the mean of the logarithms of the
// runs; intervals are Student's t with the freedom of Welch and Satterthwaite, SESSION counting as known.
//
// Money over the years: price + support - residual + electricity PUE (busy + idle energy), the machine being busy for
// `utilisation` of all hours at J_m / T_m watts. An hour's work has 3600 / T_m jobs.
#pragma once

#include "archive.h"

#include "../../impl/base/options.h"
#include "../stats/stats.h"

enum { RG_MACHINES_MOST = 24, RG_WHATS_MOST = 2 * RG_JOBS_MOST + 16 };
// Standard deviation of one archive from the next on one machine, of the logarithm: clocks, temperature and placement, which
// all runs of an archive share. An assumption (bench/RULES.md), not a measurement.
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
    double score, low, high, variance, seconds, joules, best; // best: the chance to be the fastest
    bool upper;                                               // of a job at least, joules are the cap times the time
    const char *joules_are;   // the source of all jobs' joules, "upper estimate", "several sources" or "none"
    int rank, findings;       // of audit, which computes nothing again here
    char finding[RG_FINDING]; // the first
    double price, support, residual, idle_W, cap_W;  // NaN without costs
    double energy_busy, energy_idle, total, per_job; // money
} rg_machine_score;
typedef struct rg_score {
    const rg_workload *workload;
    const rg_costs *costs; // NULL: none
    int n;
    rg_machine_score machine[RG_MACHINES_MOST];
    double reference_s[RG_JOBS_MOST];
    const char *reference; // label or name of that machine
} rg_score;

// The jobs of one archive, and the weighted sum of their medians, which is added to *seconds. RG_GOOD, or one line and
// RG_USAGE: wrong runs, or too few that count.
int rg_job_scores(const rg_archive *, const rg_workload *, rg_job_score *, double *seconds);
// Of log S, or of the difference of two where b is given.
rg_variance rg_score_variance(const rg_workload *, const rg_job_score *a, const rg_job_score *b);
// Money of one machine, with other electricity and utilisation than the file has.
void rg_score_money(const rg_score *, rg_machine_score *, double electricity, double utilisation);
double rg_score_log(const rg_score *, const rg_machine_score *, const double *weight); // sum w_j log(ref_j / t_mj)
// "Not of one revision (A 0123, B 4567): ...": programs, inputs or divisions that are not those of all archives; "": none; malloc'ed.
char *rg_score_unlike(const rg_score *);

// score_write.c: tables, figures and page in a folder. RG_GOOD, or one line and RG_USAGE.
int rg_score_write(const rg_score *, const char *folder, const char *command);
