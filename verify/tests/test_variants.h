// SPDX-License-Identifier: MIT
// test_variants.h: for the tests of algorithms: problems, and calls of every variant for the CPU.
#pragma once

#include "../../impl/base/core.h"
#include "../../impl/runtime/table.h"
#include "test.h"

typedef struct problem {
    const rg_algo *algo;
    rg_shape shape;
    void *arg[RG_ARGS_MAX];
} problem;

static inline size_t argument_bytes(const problem *p, int i) {
    return (size_t)p->algo->arg[i].count(&p->shape) * rg_type_bytes(p->algo->arg[i].type(&p->shape));
}

static inline problem problem_make(const char *algo, rg_shape shape, rg_pattern pattern) {
    problem p = {.algo = rg_algo_find(algo), .shape = shape};
    assert_non_null(p.algo);
    assert_null(p.algo->invalid(&p.shape));
    for (int i = 0; i < p.algo->n_args; i++) p.arg[i] = rg_alloc(argument_bytes(&p, i) + 1);
    p.algo->fill(&p.shape, pattern, p.arg);
    return p;
}

static inline void problem_free(problem *p) {
    for (int i = 0; i < p->algo->n_args; i++) free(p->arg[i]);
}

// A whole call, with outputs set to NaN before it.
static inline void run(const rg_variant *v, const int64_t *param, int threads, problem *p) {
    const size_t scratch = v->scratch ? v->scratch(&p->shape, param) : 0;
    for (int i = 0; i < p->algo->n_args; i++)
        if (p->algo->arg[i].direction == RG_OUT) memset(p->arg[i], 0xFF, argument_bytes(p, i));
    rg_call call = {&p->shape, param, p->arg, aligned_alloc(256, (scratch + 511) / 256 * 256), NULL, threads, NULL};
    if (v->prepare) assert_int_equal(v->prepare(&call), RG_OK);
    assert_int_equal(v->run(&call), RG_OK);
    if (v->finish) v->finish(&call);
    free(call.scratch);
}

// Runs every variant of the CPU available on this machine, with every value of its first parameter that it accepts; asserts a
// least number.
typedef void with_variant(const rg_variant *, const int64_t *param, problem *, const void *context);
static int variants_least = 1;
static inline void each_variant(problem *p, with_variant *f, const void *context) {
    int ran = 0;
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, p->algo->name, "cpu"));) {
        const rg_variant *v = e->variant;
        if (v->space != RG_HOST || rg_unavailable(e)) continue;
        for (int i = 0; i < (v->n_params ? v->param[0].n_values : 1); i++) {
            int64_t param[RG_PARAMS_MAX] = {0};
            rg_params_standard(v, param);
            if (v->n_params) param[0] = v->param[0].value[i];
            if (v->refuse && v->refuse(&p->shape, param)) continue;
            f(v, param, p, context);
            ran++;
        }
    }
    assert_true(ran >= variants_least);
}
