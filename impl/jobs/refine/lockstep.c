// SPDX-License-Identifier: MIT
#include "lockstep.h"
#include "../../base/core.h"
#include "../../suite.h"

#include <link.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if HAVE_NLOPT
#include <nlopt.h>

static const struct {
    const char *name;
    nlopt_algorithm algorithm;
} optimisers[] = {
    {"praxis", NLOPT_LN_PRAXIS},
    {"bobyqa", NLOPT_LN_BOBYQA},
};

static int find(const char *name)
{
    for (int i = 0; i < RG_COUNT(optimisers); i++)
        if (strcmp(optimisers[i].name, name) == 0)
            return i;
    return -1;
}

const char *fr_optimiser_unknown(const char *name)
{
    return find(name) >= 0 ? NULL : "expected praxis or bobyqa";
}

// All that run wait for each other's points, then for their values. Answered ones wake each other as a tree, two each: woken by
// one, or all behind one lock, they would begin one after the other.
typedef struct lockstep {
    const fr_minimiser *how;
    int64_t problems;
    _Atomic int64_t running; // of the problems that were answered last, how many have no new point yet
    int stop;                // the code that ends it all
    double *x, *value;
    bool *requested;
    struct problem *problem;
    int64_t answered, *list; // those that were answered last
    sem_t all_wait;
} lockstep;

typedef struct problem {
    lockstep *all;
    int64_t i, evaluations, place; // in the list
    double *best;
    double least;
    nlopt_opt opt;
    pthread_t thread;
    sem_t answered;
} problem;

static void wait_for(sem_t *s)
{
    while (sem_wait(s) != 0)
        ; // interrupted
}

// The problem has a new point, or has ended.
static void arrive(lockstep *all)
{
    if (atomic_fetch_sub(&all->running, 1) == 1)
        sem_post(&all->all_wait);
}

static void wake(const lockstep *all, int64_t place)
{
    if (place < all->answered)
        sem_post(&all->problem[all->list[place]].answered);
}

static double objective(unsigned n, const double *x, double *gradient, void *data)
{
    problem *p = data;
    lockstep *all = p->all;
    (void)gradient;
    for (unsigned d = 0; d < n; d++)
        all->x[p->i * n + d] = x[d] * all->how->unit[d];
    all->requested[p->i] = true;
    arrive(all);
    wait_for(&p->answered);
    wake(all, 2 * p->place + 1);
    wake(all, 2 * p->place + 2);
    const double value = all->value[p->i];
    const int stop = all->stop;
    p->evaluations++;
    if (stop != RG_OK)
        nlopt_force_stop(p->opt);
    if (value < p->least || p->evaluations == 1) { // NLopt's own answer may be a later, worse point
        p->least = value;
        for (unsigned d = 0; d < n; d++)
            p->best[d] = x[d] * all->how->unit[d];
    }
    return value;
}

static void *work(void *data)
{
    problem *p = data;
    lockstep *all = p->all;
    const fr_minimiser *how = all->how;
    unsigned n = (unsigned)how->dimensions;
    double x[FR_DIMENSIONS_MAX], least;
    p->opt = nlopt_create(optimisers[find(how->optimiser)].algorithm, n);
    nlopt_srand(how->seed); // NLopt's generator is this thread's own
    nlopt_set_min_objective(p->opt, objective, p);
    nlopt_set_initial_step1(p->opt, how->step);
    nlopt_set_xtol_abs1(p->opt, how->tolerance);
    nlopt_set_maxeval(p->opt, (int)how->most_evaluations);
    for (unsigned d = 0; d < n; d++)
        x[d] = p->best[d] / how->unit[d];
    nlopt_optimize(p->opt, x, &least);
    nlopt_destroy(p->opt);
    arrive(all);
    return NULL;
}

static void serve(lockstep *all, int64_t *steps, fr_evaluate evaluate, void *context)
{
    for (;;) {
        wait_for(&all->all_wait);
        all->answered = 0;
        for (int64_t i = 0; i < all->problems; i++)
            if (all->requested[i]) {
                all->problem[i].place = all->answered;
                all->list[all->answered++] = i;
            }
        if (!all->answered)
            return;
        if (all->stop == RG_OK) {
            all->stop = evaluate(context, all->problems, all->x, all->requested, all->value);
            ++*steps;
        }
        memset(all->requested, 0, (size_t)all->problems * sizeof *all->requested);
        atomic_store(&all->running, all->answered);
        wake(all, 0);
    }
}

static int add_storage(struct dl_phdr_info *info, size_t bytes, void *sum)
{
    (void)bytes;
    for (int i = 0; i < info->dlpi_phnum; i++)
        *(double *)sum += info->dlpi_phdr[i].p_type == PT_TLS ? (double)info->dlpi_phdr[i].p_memsz : 0;
    return 0;
}

double fr_minimise_bytes(int64_t problems)
{
    double storage = 0x1p15; // what NLopt and its caller touch of a stack
    dl_iterate_phdr(add_storage, &storage);
    return (double)problems * storage;
}

// glibc takes a thread's storage from its stack, and the shared memory of emulated kernels is such storage: half a megabyte.
enum { STACK = 2 << 20 };

int fr_minimise(const fr_minimiser *how, int64_t problems, double *x, double *value, int64_t *evaluations, int64_t *steps,
                fr_evaluate evaluate, void *context)
{
    size_t n = (size_t)(problems * how->dimensions);
    problem *p = rg_alloc((size_t)problems * sizeof *p);
    lockstep all = {.how = how, .problems = problems, .running = problems, .problem = p};
    pthread_attr_t attributes;
    *steps = 0;
    if (find(how->optimiser) < 0)
        return free(p), RG_E_LIBRARY;
    all.x = rg_alloc(n * sizeof *all.x);
    all.value = rg_alloc((size_t)problems * sizeof *all.value);
    all.requested = rg_alloc((size_t)problems * sizeof *all.requested);
    all.list = rg_alloc((size_t)problems * sizeof *all.list);
    memcpy(all.x, x, n * sizeof *x);
    sem_init(&all.all_wait, 0, problems == 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    for (int64_t i = 0; i < problems; i++) {
        p[i] = (problem){.all = &all, .i = i, .best = x + i * how->dimensions, .least = INFINITY};
        sem_init(&p[i].answered, 0, 0);
        if (pthread_create(&p[i].thread, &attributes, work, &p[i]) != 0)
            rg_end(RG_LACKS, "no threads for %d minimisations at a time", (int)problems);
    }
    serve(&all, steps, evaluate, context);
    for (int64_t i = 0; i < problems; i++) {
        pthread_join(p[i].thread, NULL);
        value[i] = p[i].least;
        evaluations[i] = p[i].evaluations;
        sem_destroy(&p[i].answered);
    }
    pthread_attr_destroy(&attributes);
    sem_destroy(&all.all_wait);
    free(all.list);
    free(all.requested);
    free(all.value);
    free(all.x);
    free(p);
    return all.stop;
}

#else

double fr_minimise_bytes(int64_t problems) { return 0 * (double)problems; }

const char *fr_optimiser_unknown(const char *name)
{
    (void)name;
    return "this build has no NLopt (see regather doctor)";
}

int fr_minimise(const fr_minimiser *how, int64_t problems, double *x, double *value, int64_t *evaluations, int64_t *steps,
                fr_evaluate evaluate, void *context)
{
    (void)how, (void)problems, (void)x, (void)value, (void)evaluations, (void)steps, (void)evaluate, (void)context;
    return RG_E_LIBRARY;
}

#endif
