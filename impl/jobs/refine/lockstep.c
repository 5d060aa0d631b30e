// SPDX-License-Identifier: MIT
#include "lockstep.h"
#include "../../base/core.h"
#include "../../suite.h"

#if HAVE_NLOPT
#include <nlopt.h>
#include <ucontext.h>

static const struct {
    const char *name;
    nlopt_algorithm algorithm;
} optimisers[] = {{"praxis", NLOPT_LN_PRAXIS}, {"bobyqa", NLOPT_LN_BOBYQA}};

static int find(const char *name) {
    for (int i = 0; i < RG_COUNT(optimisers); i++)
        if (strcmp(optimisers[i].name, name) == 0) return i;
    return -1;
}

const char *fr_optimiser_unknown(const char *name) { return find(name) >= 0 ? NULL : "expected praxis or bobyqa"; }

enum { STACK = 1 << 17, TOUCHED = 1 << 15 }; // of a problem: NLopt keeps its matrices on the heap

// A minimisation on its own stack. It switches out at every evaluation, and back in once the value is there.
typedef struct problem {
    const fr_minimiser *how;
    ucontext_t inside, outside;
    nlopt_opt opt;
    int stop; // the code that ends all minimisations
    bool ended;
    int64_t evaluations;
    double *asked, *best, value, least;
} problem;

static double objective(unsigned n, const double *x, double *gradient, void *data) {
    problem *p = data;
    (void)gradient;
    for (unsigned d = 0; d < n; d++) p->asked[d] = x[d] * p->how->unit[d];
    swapcontext(&p->inside, &p->outside);
    // NLopt's generator is shared by a thread's problems: reseeded from the problem's own evaluations.
    nlopt_srand(p->how->seed + (uint64_t)++p->evaluations);
    if (p->stop != RG_OK) nlopt_force_stop(p->opt);
    if (p->value < p->least || p->evaluations == 1) { // NLopt may return a later, worse point
        p->least = p->value;
        memcpy(p->best, p->asked, n * sizeof *x);
    }
    return p->value;
}

// makecontext passes only ints.
static void work(unsigned high, unsigned low) {
    problem *p = (problem *)((uintptr_t)high << 32 | low); // NOLINT
    const fr_minimiser *how = p->how;
    const unsigned n = (unsigned)how->dimensions;
    double x[FR_DIMENSIONS_MAX], least;
    p->opt = nlopt_create(optimisers[find(how->optimiser)].algorithm, n);
    nlopt_set_min_objective(p->opt, objective, p);
    nlopt_set_initial_step1(p->opt, how->step);
    nlopt_set_xtol_abs1(p->opt, how->tolerance);
    nlopt_set_maxeval(p->opt, (int)how->most_evaluations);
    for (unsigned d = 0; d < n; d++) x[d] = p->best[d] / how->unit[d];
    nlopt_srand(how->seed);
    nlopt_optimize(p->opt, x, &least);
    nlopt_destroy(p->opt);
    p->ended = true;
}

double fr_minimise_bytes(int64_t problems) { return (double)problems * (TOUCHED + sizeof(problem)); }

int fr_minimise(const fr_minimiser *how, int64_t problems, double *x, double *value, int64_t *evaluations, int64_t *steps,
    fr_evaluate evaluate, void *context) {
    *steps = 0;
    if (find(how->optimiser) < 0) return RG_E_LIBRARY;
    const size_t all = (size_t)problems;
    RG_FREED problem *p = rg_alloc(all * sizeof *p);
    RG_FREED char *stack = rg_alloc(all * STACK);
    RG_FREED double *asked = rg_alloc(all * (size_t)how->dimensions * sizeof *asked);
    RG_FREED bool *requested = rg_alloc(all * sizeof *requested);
    for (int64_t i = 0; i < problems; i++) {
        const int64_t at = i * how->dimensions;
        p[i] = (problem){.how = how, .asked = asked + at, .best = x + at, .least = INFINITY};
        getcontext(&p[i].inside);
        p[i].inside.uc_link = &p[i].outside;
        p[i].inside.uc_stack = (stack_t){.ss_sp = stack + i * STACK, .ss_size = STACK};
        makecontext(&p[i].inside, (void (*)(void))work, 2, (unsigned)((uintptr_t)&p[i] >> 32), (unsigned)(uintptr_t)&p[i]);
    }
    for (int stop = RG_OK;;) {
        int64_t running = 0;
        for (int64_t i = 0; i < problems; i++) {
            if (!p[i].ended) {
                p[i].value = value[i];
                p[i].stop = stop;
                swapcontext(&p[i].outside, &p[i].inside);
            }
            requested[i] = !p[i].ended;
            running += requested[i];
        }
        if (!running) {
            for (int64_t i = 0; i < problems; i++) value[i] = p[i].least, evaluations[i] = p[i].evaluations;
            return stop;
        }
        if (stop == RG_OK) {
            stop = evaluate(context, problems, asked, requested, value);
            ++*steps;
        }
    }
}

#else

double fr_minimise_bytes(int64_t problems) { return 0 * (double)problems; }

const char *fr_optimiser_unknown(const char *name) {
    (void)name;
    return "this build has no NLopt (see regather doctor)";
}

int fr_minimise(const fr_minimiser *how, int64_t problems, double *x, double *value, int64_t *evaluations, int64_t *steps,
    fr_evaluate evaluate, void *context) {
    (void)how, (void)problems, (void)x, (void)value, (void)evaluations, (void)steps, (void)evaluate, (void)context;
    return RG_E_LIBRARY;
}

#endif
