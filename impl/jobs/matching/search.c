// SPDX-License-Identifier: MIT
// search.c: refines candidates in lock step, a batch of transforms per step; then calls the optimiser.
#include "matching.h"

#if HAVE_NLOPT
#include <nlopt.h>
#endif

int aj_score(aj_scorer *s, const aj_space *space, int64_t n, aj_candidate *c) {
    int numbers = af_numbers(s->dims);
    RG_FREED float *matrix = rg_alloc((size_t)(n * numbers) * sizeof *matrix);
    RG_FREED double *rho = rg_alloc((size_t)n * sizeof *rho);
    for (int64_t i = 0; i < n; i++) space->matrix(space->data, c[i].base, c[i].u, matrix + i * numbers);
    int code = aj_scorer_run(s, n, matrix, rho);
    for (int64_t i = 0; i < n && code == RG_GOOD; i++)
        c[i].score = space->score ? space->score(space->data, c[i].base, c[i].u, rho[i]) : rho[i];
    return code;
}

static int by_score(const void *a, const void *b) {
    double x = ((const aj_candidate *)a)->score, y = ((const aj_candidate *)b)->score;
    return (x < y) - (x > y);
}

void aj_sort(int64_t n, aj_candidate *c) { qsort(c, (size_t)n, sizeof *c, by_score); }

static double within(const aj_space *space, int k, double u) { return fmin(fmax(u, space->low[k]), space->high[k]); }

// Moves the candidate by step along parameter k, within its range.
static aj_candidate moved(const aj_space *space, const aj_candidate *c, int k, double step) {
    aj_candidate to = *c;
    to.u[k] = within(space, k, c->u[k] + step);
    return to;
}

// Moves to the top of the parabola through the scores at u - step, u and u + step, at most one step; to the better side if it
// has no top.
static double top(double before, double here, double after, double step) {
    double bend = before - 2 * here + after;
    if (bend < 0) return fmax(-1, fmin(1, 0.5 * (before - after) / bend)) * step;
    return after > before ? step : before > after ? -step : 0;
}

// One round: `around` holds 2 dims neighbours of each candidate, then the top of its parabolas.
static int round_of(aj_scorer *s, const aj_space *space, int64_t n, aj_candidate *c, aj_candidate *around, double step) {
    int each = 2 * space->dims;
    aj_candidate *tip = around + n * each;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < space->dims; k++) {
            around[i * each + 2 * k] = moved(space, &c[i], k, -step);
            around[i * each + 2 * k + 1] = moved(space, &c[i], k, step);
        }
    int code = aj_score(s, space, n * each, around);
    for (int64_t i = 0; i < n && code == RG_GOOD; i++) {
        tip[i] = c[i];
        for (int k = 0; k < space->dims; k++) {
            const aj_candidate *side = &around[i * each + 2 * k];
            tip[i].u[k] = within(space, k, c[i].u[k] + top(side[0].score, c[i].score, side[1].score, step));
        }
    }
    if (code == RG_GOOD) code = aj_score(s, space, n, tip);
    for (int64_t i = 0; i < n && code == RG_GOOD; i++) {
        for (int k = 0; k < each; k++)
            if (around[i * each + k].score > c[i].score) c[i] = around[i * each + k];
        if (tip[i].score > c[i].score) c[i] = tip[i];
    }
    return code;
}

int aj_climb(aj_scorer *s, const aj_space *space, int64_t n, aj_candidate *c, double step, double least) {
    aj_candidate *around = rg_alloc((size_t)(n * (2 * space->dims + 1)) * sizeof *around);
    int code = aj_score(s, space, n, c);
    for (; step >= least && code == RG_GOOD; step /= 2)
        for (int again = 0; again < 2 && code == RG_GOOD; again++) // a second time, in case the first moved by a whole step
            code = round_of(s, space, n, c, around, step);
    free(around);
    aj_sort(n, c);
    return code;
}

int64_t aj_distinct(const aj_space *space, int64_t n, aj_candidate *c, int64_t most,
    double (*distance)(const void *data, const aj_candidate *, const aj_candidate *), double apart) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n && kept < most; i++) {
        bool is_new = true;
        for (int64_t k = 0; k < kept && is_new; k++) is_new = distance(space->data, &c[i], &c[k]) >= apart;
        if (is_new) c[kept++] = c[i];
    }
    return kept;
}

// ---- NLopt ---------------------------------------------------------------------------------------------------------------

#if HAVE_NLOPT
typedef struct polishing {
    aj_scorer *scorer;
    const aj_space *space;
    aj_candidate best;
    int code;
    nlopt_opt opt;
} polishing;

static double objective(unsigned n, const double *u, double *gradient, void *data) {
    polishing *p = data;
    aj_candidate c = {.base = p->best.base};
    (void)gradient;
    memcpy(c.u, u, n * sizeof *u);
    p->code = aj_score(p->scorer, p->space, 1, &c);
    if (p->code != RG_GOOD) {
        nlopt_force_stop(p->opt);
        return -1;
    }
    if (c.score > p->best.score) p->best = c;
    return c.score;
}

int aj_polish(aj_scorer *s, const aj_space *space, aj_candidate *c, double step, double least) {
    double u[AJ_DIMS], low[AJ_DIMS], high[AJ_DIMS], first[AJ_DIMS];
    polishing p = {s, space, *c, aj_score(s, space, 1, c), nlopt_create(NLOPT_LN_BOBYQA, (unsigned)space->dims)};
    if (p.code == RG_GOOD) {
        // At most four steps: the climb before has found the maximum. BOBYQA needs room for two; a parameter without it is
        // fixed.
        for (int k = 0; k < space->dims; k++) {
            u[k] = c->u[k];
            low[k] = within(space, k, u[k] - 4 * step);
            high[k] = within(space, k, u[k] + 4 * step);
            first[k] = step;
            if (high[k] - low[k] < 2 * step) low[k] = high[k] = u[k];
        }
        p.best = *c;
        nlopt_set_max_objective(p.opt, objective, &p);
        nlopt_set_lower_bounds(p.opt, low);
        nlopt_set_upper_bounds(p.opt, high);
        nlopt_set_initial_step(p.opt, first);
        nlopt_set_xtol_abs1(p.opt, least);
        nlopt_set_maxeval(p.opt, 300);
        double value;
        nlopt_optimize(p.opt, u, &value); // whatever ends it, the best point seen is kept
        *c = p.best;
    }
    nlopt_destroy(p.opt);
    return p.code;
}
#else
int aj_polish(aj_scorer *s, const aj_space *space, aj_candidate *c, double step, double least) {
    (void)s, (void)space, (void)c, (void)step, (void)least;
    return rg_fail(RG_LACKS,
        "the fine stage needs NLopt, without which this program was built: apt-get install libnlopt-dev, "
        "then make; --no-fine leaves that stage out");
}
#endif
