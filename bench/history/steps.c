// SPDX-License-Identifier: MIT
// steps.c: see steps.h.
#include "steps.h"

#include "../timing/stats.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// At most `EXCEEDED` of them may be as good: (EXCEEDED + 1) / (PERMUTATIONS + 1) = RG_STEP_ERROR.
enum { PERMUTATIONS = 1999, EXCEEDED = 19 };

typedef struct search {
    const double *value;
    uint64_t seed, draw;
    rg_step *step;
    int n;
} search;

// Sums of squares that two means explain beyond one, largest over all arcs first..past of n values whose sum is 0. An arc and
// what is left on either side of it have RG_STEP_RUNS values or none. `sum` is room for n + 1.
static double best_arc(const double *x, int n, double *sum, int *first, int *past)
{
    const int least = RG_STEP_RUNS;
    double best = 0;
    sum[0] = 0;
    for (int i = 0; i < n; i++) sum[i + 1] = sum[i] + x[i];
    for (int i = 0; i + 2 * least <= n; i += i ? 1 : least)
        for (int j = i + least; j + least <= n; j++) {
            const double d = sum[j] - sum[i], a = j - i, explained = d * d * n / (a * (n - a));
            if (explained > best) {
                best = explained;
                *first = i;
                *past = j;
            }
        }
    return best;
}

// Share of permutations of x that have an arc as good; more than RG_STEP_ERROR is known early and not counted on (Besag and
// Clifford 1991).
static double chance_of(search *s, double *x, int n, double *sum, double found)
{
    int exceeded = 0, first, past, i = 0;
    for (; i < PERMUTATIONS && exceeded <= EXCEEDED; i++) {
        for (int k = n - 1; k > 0; k--) {
            const int other = (int)(rg_bits(s->seed, s->draw++) % (uint64_t)(k + 1));
            const double kept = x[k];
            x[k] = x[other];
            x[other] = kept;
        }
        exceeded += best_arc(x, n, sum, &first, &past) >= found * (1 - 1e-9);
    }
    return (exceeded + 1.0) / (i + 1);
}

static void add(search *s, int at, double chance) { s->step[s->n++] = (rg_step){.at = at, .chance = chance}; }

static void divide(search *s, int from, int to)
{
    const int n = to - from;
    int first = 0, past = 0;
    double mean = 0, *x = rg_alloc((size_t)(2 * n + 1) * sizeof *x);
    for (int i = 0; i < n; i++) mean += s->value[from + i] / n;
    for (int i = 0; i < n; i++) x[i] = s->value[from + i] - mean;
    const double found = best_arc(x, n, x + n, &first, &past);
    const double chance = found > 0 ? chance_of(s, x, n, x + n, found) : 1;
    free(x);
    if (chance > RG_STEP_ERROR) return;
    if (first) {
        divide(s, from, from + first);
        add(s, from + first, chance);
    }
    divide(s, from + first, from + past);
    add(s, from + past, chance);
    divide(s, from + past, to);
}

// ---- levels --------------------------------------------------------------------------------------------------------------

static double mean_of(const double *x, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++) sum += x[i];
    return sum / (to - from);
}

static int begin_of(const search *s, int k) { return k ? s->step[k - 1].at : 0; }
static int end_of(const search *s, int k, int n) { return k < s->n ? s->step[k].at : n; }

// Standard deviation about all levels.
static double scatter(const search *s, int n)
{
    double squares = 0;
    for (int k = 0; k <= s->n; k++) {
        const double mean = mean_of(s->value, begin_of(s, k), end_of(s, k, n));
        for (int i = begin_of(s, k); i < end_of(s, k, n); i++) squares += (s->value[i] - mean) * (s->value[i] - mean);
    }
    return sqrt(squares / (n - s->n - 1));
}

// The k-th step: the difference of the levels, and what its standard error is in units of the scatter.
static double difference(const search *s, int k, int n, double *unit)
{
    const int from = begin_of(s, k), at = s->step[k].at, to = end_of(s, k + 1, n);
    *unit = sqrt(1.0 / (at - from) + 1.0 / (to - at));
    return mean_of(s->value, at, to) - mean_of(s->value, from, at);
}

// To where it explains most of what stands between its neighbours.
static void place(search *s, int k, int n)
{
    const int from = begin_of(s, k), to = end_of(s, k + 1, n);
    double best = -1;
    for (int at = from + RG_STEP_RUNS; at + RG_STEP_RUNS <= to; at++) {
        const double d = mean_of(s->value, at, to) - mean_of(s->value, from, at);
        const double explained = d * d * (at - from) * (to - at) / (to - from);
        if (explained > best) {
            best = explained;
            s->step[k].at = at;
        }
    }
}

// Drops the least sure step until all that are left are sure enough.
static void prune(search *s, int n)
{
    while (s->n) {
        const double sigma = scatter(s, n), limit = rg_student(1 - RG_STEP_ERROR / 2 / (n - 1), n - s->n - 1);
        double least = INFINITY;
        int weakest = 0;
        for (int k = 0; k < s->n; k++) {
            double unit, t = fabs(difference(s, k, n, &unit));
            t /= sigma * unit; // of times without any scatter inf
            if (t < least) {
                least = t;
                weakest = k;
            }
        }
        if (least >= limit) return;
        memmove(&s->step[weakest], &s->step[weakest + 1], (size_t)(s->n - weakest - 1) * sizeof *s->step);
        s->n--;
    }
}

int rg_steps_find(const double *value, int n, uint64_t seed, rg_step *step, double *level)
{
    search s = {.value = value, .seed = seed, .step = step};
    if (n >= 2 * RG_STEP_RUNS) divide(&s, 0, n);
    for (int k = 0; k < s.n; k++) place(&s, k, n);
    prune(&s, n);
    for (int k = 0; k < s.n; k++) place(&s, k, n);
    const double sigma = s.n ? scatter(&s, n) : 0;
    for (int k = 0; k < s.n; k++) {
        double unit;
        const double d = difference(&s, k, n, &unit), half = rg_student(0.975, n - s.n - 1) * sigma * unit;
        step[k].ratio = exp(d);
        step[k].low = exp(d - half);
        step[k].high = exp(d + half);
    }
    for (int k = 0; k <= s.n; k++)
        for (int i = begin_of(&s, k); i < end_of(&s, k, n); i++) level[i] = mean_of(value, begin_of(&s, k), end_of(&s, k, n));
    return s.n;
}
