// SPDX-License-Identifier: MIT
// threads.c: runs every threaded variant of the CPU with a given number of threads, under ThreadSanitizer (threads.sh): at the
// smoke shape with every value of each parameter, at small check shapes with the standard ones. Results are not checked;
// ThreadSanitizer reports races, but not within FFTW.
#include "../../impl/suite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALGO(id) extern const rg_algo rg_algo_##id;
#define HOST(id) extern const rg_variant rg_variant_##id;
#define CUDA(id)
#include "../../impl/variants.def"
#undef ALGO
#undef HOST
#define ALGO(id) &rg_algo_##id,
#define HOST(id)
static const rg_algo *const algos[] = {
#include "../../impl/variants.def"
};
#undef ALGO
#undef HOST
#define ALGO(id)
#define HOST(id) &rg_variant_##id,
static const rg_variant *const variants[] = {
#include "../../impl/variants.def"
};

static const double MOST_WORK = 1e6;
static int runs;

static void *room(size_t bytes) {
    void *p = aligned_alloc(256, (bytes + 511) / 256 * 256);
    if (!p) exit(4);
    return memset(p, 0xFF, bytes);
}

static void run(const rg_algo *a, const rg_variant *v, const rg_shape *shape, const int64_t *param, int threads) {
    void *arg[RG_ARGS_MAX] = {NULL}, *scratch = v->scratch ? room(v->scratch(shape, param) + 1) : NULL;
    if ((a->invalid && a->invalid(shape)) || (v->refuse && v->refuse(shape, param))) {
        free(scratch);
        return;
    }
    for (int k = 0; k < a->n_args; k++)
        arg[k] = room((size_t)a->arg[k].count(shape) * rg_type_bytes(a->arg[k].type(shape)) + 1);
    a->fill(shape, RG_RANDOM, arg);
    rg_call call = {.shape = shape, .param = param, .arg = arg, .scratch = scratch, .threads = threads};
    int code = v->prepare ? v->prepare(&call) : RG_OK;
    code = code || !v->load ? code : v->load(&call);
    for (int i = 0; i < 2 && !code; i++) {
        code = v->clear ? v->clear(&call) : RG_OK;
        code = code ? code : v->run(&call);
        runs++;
    }
    if (v->finish) v->finish(&call);
    for (int k = 0; k < a->n_args; k++) free(arg[k]);
    free(scratch);
    if (code) fprintf(stderr, "%s:%s: returned %d\n", a->name, v->name, code), exit(1);
}

static void all_params(const rg_algo *a, const rg_variant *v, const rg_shape *shape, int threads) {
    int64_t param[RG_PARAMS_MAX];
    for (int k = -1; k < v->n_params; k++)
        for (int i = 0; i < (k < 0 ? 1 : v->param[k].n_values); i++) {
            for (int l = 0; l < v->n_params; l++) param[l] = l == k ? v->param[l].value[i] : v->param[l].standard;
            run(a, v, shape, param, threads);
        }
}

int main(int argc, char **argv) {
    const int threads = argc > 1 ? atoi(argv[1]) : 8;
    const char *only = argc > 2 ? argv[2] : NULL; // ALGO:VARIANT
    int n = 0;
    for (int i = 0; i < RG_COUNT(variants); i++) {
        const rg_variant *v = variants[i];
        const rg_algo *a = NULL;
        char name[96];
        for (int k = 0; k < RG_COUNT(algos); k++) a = strcmp(algos[k]->name, v->algo) ? a : algos[k];
        snprintf(name, sizeof name, "%s:%s", v->algo, v->name);
        if (!(v->flags & RG_THREADED) || (only && strcmp(only, name))) continue;
        rg_shape shape = a->smoke_shape[0];
        shape.seed = 1;
        fprintf(stderr, "%s\n", name);
        all_params(a, v, &shape, threads);
        for (int k = 0; k < a->n_check_shapes; k++) {
            int64_t param[RG_PARAMS_MAX];
            shape = a->check_shape[k];
            shape.seed = 1;
            for (int l = 0; l < v->n_params; l++) param[l] = v->param[l].standard;
            if (a->work(&shape) < MOST_WORK) run(a, v, &shape, param, threads);
        }
        n++;
    }
    printf("%d variants, %d runs, %d threads: no race\n", n, runs, threads);
    return n && runs ? 0 : 1;
}
