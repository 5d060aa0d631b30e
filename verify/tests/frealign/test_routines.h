// SPDX-License-Identifier: MIT
// test_routines.h: for the tests of FREALIGN's routines: problems, and calls of every variant for the CPU.
#pragma once

#include "../../../impl/base/core.h"
#include "../../../impl/runtime/table.h"
#include "../../../impl/frealign/call.h"
#include "../../../impl/frealign/compare/index.h"
#include "../../../impl/frealign/ctf/index.h"
#include "../../../impl/frealign/insert/index.h"
#include "../../../impl/frealign/turn/index.h"

typedef struct problem {
    const rg_algo *algo;
    rg_shape shape;
    void *arg[RG_ARGS_MAX];
} problem;

static inline problem problem_make(const char *algo, const int64_t n[RG_DIMS], rg_pattern pattern)
{
    problem p = {.algo = rg_algo_find(algo), .shape = {.seed = 7}};
    assert_non_null(p.algo);
    memcpy(p.shape.n, n, sizeof p.shape.n);
    assert_null(p.algo->invalid(&p.shape));
    for (int i = 0; i < p.algo->n_args; i++) p.arg[i] = rg_alloc((size_t)p.algo->arg[i].count(&p.shape) * sizeof(float) + 1);
    p.algo->fill(&p.shape, pattern, p.arg);
    return p;
}

static inline void problem_free(problem *p)
{
    for (int i = 0; i < p->algo->n_args; i++) free(p->arg[i]);
}

static inline void run(const rg_variant *v, problem *p)
{
    int64_t param[RG_PARAMS_MAX] = {0};
    rg_params_standard(v, param);
    const size_t scratch = v->scratch ? v->scratch(&p->shape, param) : 0;
    rg_call call = {&p->shape, param, p->arg, aligned_alloc(256, (scratch + 511) / 256 * 256), NULL, 1, NULL};
    if (v->prepare) assert_int_equal(v->prepare(&call), RG_OK);
    assert_int_equal(v->run(&call), RG_OK);
    if (v->finish) v->finish(&call);
    free(call.scratch);
}

// Every variant of the CPU that this machine has.
typedef void with_variant(const rg_variant *, problem *, void *);
static inline void each_variant(problem *p, with_variant *f, void *context)
{
    int ran = 0;
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, p->algo->name, "cpu"));) {
        if (e->variant->space != RG_HOST || rg_unavailable(e)) continue;
        f(e->variant, p, context);
        ran++;
    }
    assert_true(ran >= 1);
}

static inline fr_call call_of(problem *p)
{
    const rg_call call = {.shape = &p->shape, .arg = p->arg};
    return fr_call_of(&call);
}

// X of particle 0 becomes f S e^{-i s.q} of trial 0: what the routines must find to be their reference. In the band only.
static inline void plant(problem *p)
{
    const fr_call c = call_of(p);
    float *X = p->arg[FR_X];
    memset(X, 0, (size_t)c.stored * 2 * sizeof *X);
    for (int64_t e = 0; e < c.stored; e++) {
        const int64_t i = fr_i(c.side, e), j = fr_j(c.side, e);
        if (!fr_in_band(c.side, i, j, 1, c.outer)) continue;
        const double phase = (double)c.pose[6] * (double)i + (double)c.pose[7] * (double)j, f = fr_factor(&c, c.c[e]);
        float S[2];
        fr_section(&c, c.pose, i, j, S);
        X[2 * e] = (float)(f * (S[0] * cos(phase) + S[1] * sin(phase)));
        X[2 * e + 1] = (float)(f * (S[1] * cos(phase) - S[0] * sin(phase)));
    }
}
