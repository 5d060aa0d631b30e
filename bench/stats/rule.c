// SPDX-License-Identifier: MIT
#include "rule.h"
#include "stats.h"

#include "../../impl/base/core.h"

const int rg_duel_look[RG_DUEL_LOOKS] = {5, 7, 10, 14, 20, 28, RG_DUEL_PROCESSES_MOST};

bool rg_pair_kept(const rg_pair *p) {
    const double refill_ns = 5e4, share = 0.005;
    return p->held[0] == p->held[1] &&
        refill_ns * fabs((double)(p->preempted[0] - p->preempted[1])) <=
        share * fmin(p->calls[0] * p->ns[0], p->calls[1] * p->ns[1]);
}

double rg_process_ratio(const rg_pair *pair, int n, int *kept) {
    RG_FREED double *ratio = rg_alloc((size_t)(n + 1) * sizeof *ratio);
    *kept = 0;
    for (int i = 0; i < n; i++)
        if (rg_pair_kept(&pair[i])) ratio[(*kept)++] = log(pair[i].ns[1] / pair[i].ns[0]);
    return rg_median(ratio, *kept);
}

rg_ratio rg_duel_ratio(const double *log_ratio, int n) {
    if (n < 2) return (rg_ratio){n ? exp(log_ratio[0]) : NAN, 0, INFINITY};
    double mean;
    rg_variance v = {0};
    rg_variance_add(&v, rg_mean(log_ratio, n, &mean), n - 1);
    const double half = rg_half_interval(&v, RG_DUEL_ERROR / RG_DUEL_LOOKS);
    return (rg_ratio){exp(mean), exp(mean - half), exp(mean + half)};
}

rg_change rg_duel_judge(const double *log_ratio, int n, double gate, rg_ratio *ratio) {
    *ratio = rg_duel_ratio(log_ratio, n);
    for (int i = 0; i < RG_DUEL_LOOKS; i++)
        if (n == rg_duel_look[i]) return rg_gate_judge(ratio, gate);
    return RG_UNDECIDED;
}
