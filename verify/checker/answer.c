// SPDX-License-Identifier: MIT
// answer.c: computes the reference's answer to a set of inputs once, for all variants that are compared with it.
#include "verify.h"
#include "../../impl/base/core.h"
#include <time.h>

// Elements of an output that are sampled. Brief: fewer, as an element can be a sum over an image, and each of five processes
// samples.
enum { LEAST = 64, LEAST_BRIEF = 16, MOST = 1000000, GROWTH = 4 };

static bool is_output(const rg_arg *arg) { return arg->direction != RG_IN; }

static size_t bytes_of(const rg_algo *algo, const rg_shape *shape, int which) {
    return (size_t)algo->arg[which].count(shape) * rg_type_bytes(algo->arg[which].type(shape));
}

// Computes every element: reference() in its own memory, with the inputs of arg[].
static void answer_whole(rg_answer *a, const rg_algo *algo, const rg_shape *shape, void *const *arg) {
    void *given[RG_ARGS_MAX];
    for (int k = 0; k < algo->n_args; k++) {
        given[k] = arg[k];
        if (!is_output(&algo->arg[k])) continue;
        given[k] = a->value[k] = rg_alloc(bytes_of(algo, shape, k) + 1);
        a->n[k] = algo->arg[k].count(shape);
        if (algo->arg[k].direction == RG_INOUT) memcpy(a->value[k], arg[k], bytes_of(algo, shape, k));
    }
    algo->reference(shape, given);
}

// ---- corners and edges -----------------------------------------------------------------------------------------------------

enum { AXES = 6, ELEMENTS_AN_EDGE = 4, MARKED_MOST = (1 << AXES) + 2 * AXES * ELEMENTS_AN_EDGE, SCANNED_MOST = 1 << 16 };

// Which coordinates of "(x=3,y=7)" differ between two elements, a bit each.
static unsigned differing(const rg_algo *algo, const rg_shape *shape, int which, int64_t a, int64_t b) {
    char text[2][64] = {"", ""}, *at[2] = {text[0], text[1]};
    unsigned bits = 0;
    algo->where(shape, which, a, text[0]);
    algo->where(shape, which, b, text[1]);
    for (int k = 0; k < 32 && (*at[0] || *at[1]); k++) {
        const size_t n[2] = {strcspn(at[0], ",)"), strcspn(at[1], ",)")};
        bits |= (unsigned)(n[0] != n[1] || memcmp(at[0], at[1], n[0])) << k;
        for (int i = 0; i < 2; i++) at[i] += n[i] + (at[i][n[i]] != 0);
    }
    return bits;
}

// Finds the axes of a dense array from the names of its elements: along axis i, lengths[i] elements, each steps[i] from the
// next. Returns their number; one axis if there are no names.
static int axes_of(const rg_algo *algo, const rg_shape *shape, int which, int64_t *steps, int64_t *lengths) {
    const int64_t n = algo->arg[which].count(shape);
    int axes = 0;
    for (int64_t step = 1; step < n && axes < AXES; axes++) {
        const unsigned along = algo->where ? differing(algo, shape, which, 0, step) : ~0u;
        int64_t length = 2;
        while (algo->where && length * step < n && length < SCANNED_MOST &&
            !(differing(algo, shape, which, 0, length * step) & ~along) && differing(algo, shape, which, 0, length * step))
            length++;
        if (!algo->where || length == SCANNED_MOST || n % (length * step)) length = n / step;
        steps[axes] = step;
        lengths[axes] = length;
        step *= length;
    }
    return axes;
}

// Chooses elements: first the corners, then some on every edge.
static int mark(const rg_algo *algo, const rg_shape *shape, int which, uint64_t seed, int64_t *element) {
    int64_t steps[AXES], lengths[AXES];
    const int axes = axes_of(algo, shape, which, steps, lengths);
    const uint64_t n = (uint64_t)algo->arg[which].count(shape);
    int marked = 0;
    for (int corner = 0; corner < 1 << axes; corner++, marked++) {
        element[marked] = 0;
        for (int a = 0; a < axes; a++) element[marked] += corner >> a & 1 ? (lengths[a] - 1) * steps[a] : 0;
    }
    for (int a = 0; a < axes; a++)
        for (int i = 0; i < 2 * ELEMENTS_AN_EDGE; i++, marked++) {
            const int64_t e = (int64_t)(rg_bits(~seed, (uint64_t)marked) % n), along = e / steps[a] % lengths[a];
            const int64_t there = e + ((i % 2 ? lengths[a] - 1 : 0) - along) * steps[a];
            element[marked] = there < (int64_t)n ? there : (int64_t)n - 1;
        }
    return marked;
}

// ---- some elements ---------------------------------------------------------------------------------------------------------

static double cpu_seconds(void) // of all threads of this process
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The cost of an element differs by orders of magnitude between algorithms and shapes, so it is measured: the number of
// elements grows by GROWTH until the next step would take too long. For a reference of one thread this counts its CPU time, so
// that a busy machine samples as many; for one of several threads wall time, if that is less. Up to half of the elements are
// corners and edges.
static void answer_sampled(
    rg_answer *a, const rg_algo *algo, const rg_shape *shape, void *const *arg, int which, double seconds, uint64_t seed) {
    const int64_t n = algo->arg[which].count(shape), most = n < MOST ? n : MOST;
    double taken_s = 0;
    int64_t marked[MARKED_MOST];
    const int n_marked = n ? mark(algo, shape, which, seed, marked) : 0;
    for (int64_t m = a->brief ? LEAST_BRIEF : LEAST; a->n[which] < most && GROWTH * taken_s <= seconds; m *= GROWTH) {
        const int64_t chosen = m < most ? m : most;
        free(a->element[which]);
        free(a->value[which]);
        int64_t *element = a->element[which] = rg_alloc((size_t)chosen * sizeof *element);
        for (int64_t k = 0; k < chosen; k++)
            element[k] = chosen == n             ? k
                : k < n_marked && k < chosen / 2 ? marked[k]
                                                 : (int64_t)(rg_bits(seed, (uint64_t)k) % (uint64_t)n);
        a->value[which] = rg_alloc((size_t)chosen * rg_type_bytes(algo->arg[which].type(shape)));
        a->n[which] = chosen;
        const double start = rg_seconds(), cpu_start = cpu_seconds();
        algo->reference_at(shape, arg, which, element, chosen, a->value[which]);
        const double wall_s = rg_seconds() - start, cpu_s = cpu_seconds() - cpu_start;
        taken_s = cpu_s < wall_s ? cpu_s : wall_s;
    }
}

void rg_answer_make(rg_answer *a, const rg_algo *algo, const rg_shape *shape, void *const *arg, double seconds, uint64_t seed) {
    *a = (rg_answer){.brief = seconds <= 0};
    int outputs = 0;
    for (int k = 0; k < algo->n_args; k++) outputs += is_output(&algo->arg[k]);
    for (int k = 0; k < algo->n_args && algo->reference_at; k++)
        if (is_output(&algo->arg[k])) answer_sampled(a, algo, shape, arg, k, seconds / outputs, seed);
    if (!algo->reference_at) answer_whole(a, algo, shape, arg);
}

double rg_answer_bytes(const rg_algo *algo, const rg_shape *shape) {
    double bytes = 0;
    for (int k = 0; k < algo->n_args; k++)
        if (is_output(&algo->arg[k])) bytes += algo->reference_at ? MOST * 16.0 : (double)bytes_of(algo, shape, k);
    return bytes;
}

void rg_answer_free(rg_answer *a) {
    for (int k = 0; k < RG_ARGS_MAX; k++) {
        free(a->element[k]);
        free(a->value[k]);
    }
    *a = (rg_answer){0};
}
