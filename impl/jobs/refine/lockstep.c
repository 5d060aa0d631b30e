// SPDX-License-Identifier: MIT
#include "lockstep.h"
#include "../../base/core.h"
#include "../../suite.h"

#include <link.h>
#include <pthread.h>

#if HAVE_NLOPT
#include <nlopt.h>

static const struct {
    const char *name;
    nlopt_algorithm algorithm;
} optimisers[] = {{"praxis", NLOPT_LN_PRAXIS}, {"bobyqa", NLOPT_LN_BOBYQA}};

static int find(const char *name)
{
    for (int i = 0; i < RG_COUNT(optimisers); i++)
        if (strcmp(optimisers[i].name, name) == 0) return i;
    return -1;
}

const char *fr_optimiser_unknown(const char *name) { return find(name) >= 0 ? NULL : "expected praxis or bobyqa"; }

typedef struct lockstep {
    const fr_minimiser *how;
    int64_t problems, waiting, running; // waiting: of the running, how many wait for a value
    uint64_t step;                      // grows when the answers of a batch are there
    int stop;                           // the code that ends it all
    double *x, *value;
    bool *requested;
    pthread_mutex_t lock;
    pthread_cond_t all_wait, answered;
} lockstep;

typedef struct problem {
    lockstep *all;
    int64_t i, evaluations;
    double *best;
    double least;
    nlopt_opt opt;
    pthread_t thread;
} problem;

static double objective(unsigned n, const double *x, double *gradient, void *data)
{
    problem *p = data;
    lockstep *all = p->all;
    (void)gradient;
    pthread_mutex_lock(&all->lock);
    for (unsigned d = 0; d < n; d++) all->x[p->i * n + d] = x[d] * all->how->unit[d];
    all->requested[p->i] = true;
    uint64_t step = all->step;
    if (++all->waiting == all->running) pthread_cond_signal(&all->all_wait);
    while (all->step == step) pthread_cond_wait(&all->answered, &all->lock);
    double value = all->value[p->i];
    int stop = all->stop;
    pthread_mutex_unlock(&all->lock);
    p->evaluations++;
    if (stop != RG_OK) nlopt_force_stop(p->opt);
    if (value < p->least || p->evaluations == 1) { // NLopt's own answer may be a later, worse point
        p->least = value;
        for (unsigned d = 0; d < n; d++) p->best[d] = x[d] * all->how->unit[d];
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
    for (unsigned d = 0; d < n; d++) x[d] = p->best[d] / how->unit[d];
    nlopt_optimize(p->opt, x, &least);
    nlopt_destroy(p->opt);
    pthread_mutex_lock(&all->lock);
    all->running--;
    if (all->waiting == all->running) pthread_cond_signal(&all->all_wait);
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

static void serve(lockstep *all, int64_t *steps, fr_evaluate evaluate, void *context)
{
    pthread_mutex_lock(&all->lock);
    for (;;) {
        while (all->waiting < all->running) pthread_cond_wait(&all->all_wait, &all->lock);
        if (!all->running) break;
        if (all->stop == RG_OK) {
            all->stop = evaluate(context, all->problems, all->x, all->requested, all->value);
            ++*steps;
        }
        memset(all->requested, 0, (size_t)all->problems * sizeof *all->requested);
        all->waiting = 0;
        all->step++;
        pthread_cond_broadcast(&all->answered);
    }
    pthread_mutex_unlock(&all->lock);
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
    lockstep all = {.how = how, .problems = problems, .running = problems};
    problem *p = rg_alloc((size_t)problems * sizeof *p);
    pthread_attr_t attributes;
    *steps = 0;
    if (find(how->optimiser) < 0) return free(p), RG_E_LIBRARY;
    all.x = rg_alloc(n * sizeof *all.x);
    all.value = rg_alloc((size_t)problems * sizeof *all.value);
    all.requested = rg_alloc((size_t)problems * sizeof *all.requested);
    memcpy(all.x, x, n * sizeof *x);
    pthread_mutex_init(&all.lock, NULL);
    pthread_cond_init(&all.all_wait, NULL);
    pthread_cond_init(&all.answered, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    for (int64_t i = 0; i < problems; i++) {
        p[i] = (problem){.all = &all, .i = i, .best = x + i * how->dimensions, .least = INFINITY};
        if (pthread_create(&p[i].thread, &attributes, work, &p[i]) != 0)
            rg_end(RG_LACKS, "no threads for %d minimisations at a time", (int)problems);
    }
    serve(&all, steps, evaluate, context);
    for (int64_t i = 0; i < problems; i++) {
        pthread_join(p[i].thread, NULL);
        value[i] = p[i].least;
        evaluations[i] = p[i].evaluations;
    }
    pthread_attr_destroy(&attributes);
    pthread_cond_destroy(&all.answered);
    pthread_cond_destroy(&all.all_wait);
    pthread_mutex_destroy(&all.lock);
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
