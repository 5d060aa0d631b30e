// SPDX-License-Identifier: MIT
// test_gridding.h: for the test programs of gridding: problems, and calls of the variants for the CPU.
#pragma once

#include "../../../impl/base/core.h"
#include "../../../impl/runtime/table.h"
#include "../../../impl/gridding/bound.h"

static const rg_algo *algo;

// ---- calls ---------------------------------------------------------------------------------------------------------------

typedef struct problem {
    rg_shape shape;
    void *arg[6];
} problem;

static inline problem problem_make(
    int64_t side, int64_t images, int64_t operators, int64_t tenths, int64_t kind, rg_pattern pattern)
{
    problem p = {.shape = {{side, images, operators, tenths, kind}, 7}};
    assert_null(algo->invalid(&p.shape));
    for (int i = 0; i < algo->n_args; i++) p.arg[i] = rg_alloc((size_t)algo->arg[i].count(&p.shape) * sizeof(float) + 1);
    algo->fill(&p.shape, pattern, p.arg);
    return p;
}

static inline void problem_free(problem *p)
{
    for (int i = 0; i < algo->n_args; i++) free(p->arg[i]);
}

static inline void run(const rg_variant *v, const int64_t *param, int threads, problem *p)
{
    const size_t scratch = v->scratch ? v->scratch(&p->shape, param) : 0;
    memset(p->arg[GR_G], 0xFF, (size_t)algo->arg[GR_G].count(&p->shape) * sizeof(float));
    memset(p->arg[GR_W], 0xFF, (size_t)algo->arg[GR_W].count(&p->shape) * sizeof(float));
    rg_call call = {&p->shape, param, p->arg, aligned_alloc(256, (scratch + 511) / 256 * 256), NULL, threads, NULL};
    if (v->prepare) assert_int_equal(v->prepare(&call), RG_OK);
    assert_int_equal(v->run(&call), RG_OK);
    free(call.scratch);
}

// Every variant of the CPU that this machine has, with every value of its first parameter, if any.
typedef void with_variant(const rg_variant *, const int64_t *param, problem *, void *);
static inline void each_variant(problem *p, with_variant *f, void *context)
{
    int ran = 0;
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, "gridding", "cpu"));) {
        if (e->variant->space != RG_HOST || rg_unavailable(e)) continue;
        for (int i = 0; i < (e->variant->n_params ? e->variant->param[0].n_values : 1); i++) {
            int64_t param[RG_PARAMS_MAX] = {0};
            rg_params_standard(e->variant, param);
            if (e->variant->n_params) param[0] = e->variant->param[0].value[i];
            if (e->variant->refuse && e->variant->refuse(&p->shape, param)) continue;
            f(e->variant, param, p, context);
            ran++;
        }
    }
    assert_true(ran >= 4); // two plain variants, each with and without the table
}

static inline const rg_variant *variant(const char *name)
{
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, "gridding", "cpu"));)
        if (strcmp(e->variant->name, name) == 0) return e->variant;
    fail_msg("no variant %s", name);
    return NULL;
}

static inline const float *G_of(const problem *p) { return p->arg[GR_G]; }
static inline const float *W_of(const problem *p) { return p->arg[GR_W]; }
