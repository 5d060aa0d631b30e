// SPDX-License-Identifier: MIT
// plan.c: which cases a variant has to pass.
//
// The standard parameters at every shape of the algorithm, with one thread and, where the variant uses them, with several. Then
// the grid of its parameters at the small shapes: all of it, or when that is too much every value of every parameter and a
// random choice of the other combinations, at shapes spread over the list; plan.capped says so.
#include "checker.h"
#include "../../impl/base/core.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, COMBINATIONS = 64, GRID_CASES = 600 };
static const double SMALL_WORK = 3e6;

static void add(rg_plan *plan, const rg_shape *shape, const int64_t *param, int threads)
{
    plan->item = realloc(plan->item, (size_t)(plan->n + 1) * sizeof *plan->item);
    if (!plan->item)
        exit(rg_fail(RG_LACKS, "out of memory"));
    rg_case *c = &plan->item[plan->n++];
    *c = (rg_case){.shape = *shape, .threads = threads};
    memcpy(c->param, param, sizeof c->param);
}

typedef int64_t combination[RG_PARAMS_MAX];

typedef struct grid {
    combination item[COMBINATIONS];
    int n;
} grid;

static void grid_add(grid *g, const rg_variant *v, const int64_t *param)
{
    combination standard = {0};
    rg_params_standard(v, standard);
    bool known = memcmp(standard, param, (size_t)v->n_params * sizeof *param) == 0 || g->n == COMBINATIONS;
    for (int i = 0; i < g->n && !known; i++)
        known = memcmp(g->item[i], param, (size_t)v->n_params * sizeof *param) == 0;
    if (!known)
        memcpy(g->item[g->n++], param, sizeof(combination));
}

static double grid_size(const rg_variant *v)
{
    double size = 1;
    for (int k = 0; k < v->n_params; k++)
        size *= v->param[k].n_values;
    return size;
}

// Combination number `index` of the whole grid.
static void pick(const rg_variant *v, uint64_t index, int64_t *param)
{
    for (int k = 0; k < v->n_params; k++) {
        param[k] = v->param[k].value[index % (uint64_t)v->param[k].n_values];
        index /= (uint64_t)v->param[k].n_values;
    }
}

// Every value of every parameter first, so that a cap never hides one; then the rest.
static void grid_make(grid *g, const rg_variant *v, uint64_t seed)
{
    g->n = 0;
    for (int k = 0; k < v->n_params; k++)
        for (int i = 0; i < v->param[k].n_values; i++) {
            combination param = {0};
            rg_params_standard(v, param);
            param[k] = v->param[k].value[i];
            grid_add(g, v, param);
        }
    const double size = grid_size(v);
    for (uint64_t i = 0; i < (size <= COMBINATIONS ? (uint64_t)size : 4 * COMBINATIONS); i++) {
        combination param = {0};
        pick(v, size <= COMBINATIONS ? i : rg_bits(seed, i), param);
        grid_add(g, v, param);
    }
}

static int several(const rg_variant *v, int threads) { return threads ? threads : v->flags & RG_THREADED ? THREADS : 1; }

static void add_grid(rg_plan *plan, const rg_entry *entry, int threads, uint64_t seed)
{
    const rg_algo *algo = entry->algo;
    const rg_variant *v = entry->variant;
    grid g;
    grid_make(&g, v, seed);
    int small = 0;
    for (int i = 0; i < algo->n_check_shapes; i++)
        small += algo->work(&algo->check_shape[i]) <= SMALL_WORK;
    if (!g.n || !small)
        return;
    const int room = GRID_CASES / g.n, step = (small + room - 1) / room;
    int seen = 0, used = 0;
    for (int i = 0; i < algo->n_check_shapes; i++) {
        if (algo->work(&algo->check_shape[i]) > SMALL_WORK || seen++ % step)
            continue;
        used++;
        for (int c = 0; c < g.n; c++)
            add(plan, &algo->check_shape[i], g.item[c], several(v, threads));
    }
    if (step > 1 || grid_size(v) > g.n + 1)
        snprintf(plan->capped, sizeof plan->capped, "%d of %.0f parameter combinations, at %d of %d shapes", g.n + 1,
                 grid_size(v), used, algo->n_check_shapes);
}

void rg_plan_make(rg_plan *plan, const rg_entry *entry, const rg_narrow *narrow, uint64_t seed)
{
    const rg_variant *v = entry->variant;
    combination param = {0};
    *plan = (rg_plan){0};
    rg_params_standard(v, param);
    if (narrow->param)
        memcpy(param, narrow->param, (size_t)v->n_params * sizeof *param);
    const rg_algo *a = entry->algo;
    const rg_shape *shape = narrow->shape ? narrow->shape : narrow->smoke ? a->smoke_shape : a->check_shape;
    const int n_shapes = narrow->shape ? 1 : narrow->smoke ? a->n_smoke_shapes : a->n_check_shapes;
    for (int i = 0; i < n_shapes; i++) {
        const rg_shape *at = &shape[i % 2 ? n_shapes - 1 - i / 2 : i / 2]; // from both ends: the smallest and the largest soon
        add(plan, at, param, narrow->threads ? narrow->threads : 1);
        if (!narrow->threads && several(v, 0) > 1)
            add(plan, at, param, several(v, 0));
    }
    if (!narrow->shape && !narrow->smoke && !narrow->param)
        add_grid(plan, entry, narrow->threads, seed);
}

void rg_plan_free(rg_plan *plan)
{
    free(plan->item);
    *plan = (rg_plan){0};
}
