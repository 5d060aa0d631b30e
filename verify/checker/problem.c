// SPDX-License-Identifier: MIT
// problem.c: inputs and right answers, computed once and shared by all workers.
//
// A region of shared memory is made before the first worker. A worker that needs a new problem computes it there, so that the
// reference survives the worker if a wrong kernel kills it. The region is read-only while kernels run, so that none can change
// the answer. When it is full, everything in it is dropped; a problem larger than the region is kept in the worker's own
// memory.
#include "checker.h"
#include "../../impl/base/core.h"
#include <sys/mman.h>

enum { PROBLEMS_MAX = 4096 };

typedef struct region {
    size_t used;
    int n;
    rg_problem item[PROBLEMS_MAX];
} region;

static const size_t REGION_BYTES = (size_t)1 << 30; // reserved; pages are allocated when touched
static region *store;
static rg_problem own; // a problem too large for the region

void rg_problem_store_open(void) {
    if (store) return;
    void *p = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        rg_end(RG_LACKS, "verify: no %zu bytes of address space for the answers of the reference", REGION_BYTES);
    store = p;
    store->used = (sizeof *store + 255) / 256 * 256;
}

static bool is_it(const rg_problem *p, const rg_algo *algo, const rg_shape *shape, rg_pattern pattern) {
    return p->algo == algo && p->pattern == pattern && p->shape.seed == shape->seed &&
        memcmp(p->shape.n, shape->n, sizeof shape->n) == 0;
}

const rg_problem *rg_problem_find(const rg_algo *algo, const rg_shape *shape, rg_pattern pattern) {
    for (int i = 0; i < store->n; i++)
        if (is_it(&store->item[i], algo, shape, pattern)) return &store->item[i];
    return own.algo && is_it(&own, algo, shape, pattern) ? &own : NULL;
}

static size_t arg_bytes(const rg_algo *algo, const rg_shape *shape, int k) {
    return ((size_t)algo->arg[k].count(shape) * rg_type_bytes(algo->arg[k].type(shape)) + 255) / 256 * 256;
}

// Allocates one copy of argument k: in the region if `from` is given, else in the heap.
static void *space(const rg_algo *algo, const rg_shape *shape, int k, char **from) {
    const size_t bytes = arg_bytes(algo, shape, k);
    if (!from) return rg_alloc(bytes + 256);
    void *p = *from;
    *from += bytes;
    return memset(p, 0, bytes);
}

// ---- inputs that are switched on one at a time -----------------------------------------------------------------------------

int rg_traced_argument(const rg_algo *algo) {
    for (int k = 0; k < algo->n_args && !algo->trace; k++)
        if (algo->arg[k].direction != RG_OUT) return k;
    return algo->trace ? algo->trace->argument : 0;
}

// Fills a second set of inputs, to copy some of them.
static void fill_others(const rg_algo *algo, const rg_shape *shape, rg_pattern pattern, void *other[RG_ARGS_MAX]) {
    for (int k = 0; k < algo->n_args; k++) other[k] = rg_alloc(arg_bytes(algo, shape, k) + 1);
    algo->fill(shape, pattern, other);
}

static void free_others(const rg_algo *algo, void *other[RG_ARGS_MAX]) {
    for (int k = 0; k < algo->n_args; k++) free(other[k]);
}

// The default for an algorithm without its own: position-coded inputs of seed 1, with one element of the pattern `maximum`.
static void raise_one(const rg_algo *algo, const rg_shape *shape, int64_t input, void *const *arg) {
    rg_shape s = *shape;
    s.seed = 1;
    const int which = rg_traced_argument(algo);
    const size_t bytes = rg_type_bytes(algo->arg[which].type(&s));
    void *largest[RG_ARGS_MAX];
    algo->fill(&s, RG_POSITION, arg);
    if (input < 0) return;
    fill_others(algo, &s, RG_MAXIMUM, largest);
    memcpy((char *)arg[which] + (size_t)input * bytes, (char *)largest[which] + (size_t)input * bytes, bytes);
    free_others(algo, largest);
}

// ---- inputs that agree with others in some arguments, or in all but one number ---------------------------------------------

// The argument to change.
typedef struct change {
    const rg_algo *algo;
    const rg_shape *shape;
    int k;
    void *now;        // random, from the shape's seed
    const void *then; // random, from the seed before
} change;

// Length of the records of an argument whose numbers are meaningful only together, else 1. A rotation with one number of
// another is no rotation; a transform with one leaves it unclear which pixels take part.
static int64_t record_of(const change *c) {
    static const struct {
        const char *name;
        int numbers;
    } whole[] = {{"rotation", 9}, {"pose", 8}, {"turn", 2}, {"matrix", 6}};
    for (int i = 0; i < RG_COUNT(whole); i++)
        if (!strcmp(c->algo->arg[c->k].name, whole[i].name))
            return i == 3 && strstr(c->algo->name, "3d") ? 12 : whole[i].numbers;
    return 1;
}

// Whether numbers i and j must change together: numbers of a record, a sine and its cosine, and mates in a half plane or half
// space, which have the same magnitude with any seed.
static bool together(const change *c, int64_t i, int64_t j) {
    enum { OPTICS = 6, SINE = 4 };
    const rg_arg *a = &c->algo->arg[c->k];
    const rg_type t = a->type(c->shape);
    if (record_of(c) > 1) return i / record_of(c) == j / record_of(c);
    if (i == j || (!strcmp(a->name, "optics") && i % OPTICS >= SINE && i / 2 == j / 2)) return true;
    return (t == RG_F32 || t == RG_F64) && fabs(rg_value_at(t, c->now, i)) == fabs(rg_value_at(t, c->now, j)) &&
        fabs(rg_value_at(t, c->then, i)) == fabs(rg_value_at(t, c->then, j));
}

static void copy_one(const change *c, void *to, int64_t i, const void *from, int64_t j) {
    const size_t bytes = rg_type_bytes(c->algo->arg[c->k].type(c->shape));
    memcpy((char *)to + (size_t)i * bytes, (const char *)from + (size_t)j * bytes, bytes);
}

// Sets number i, and those that change with it, to the values of the seed before.
static void change_one(const change *c, int64_t i) {
    for (int64_t j = 0; j < c->algo->arg[c->k].count(c->shape); j++)
        if (j != i && together(c, i, j)) copy_one(c, c->now, j, c->then, j);
    copy_one(c, c->now, i, c->then, i); // last, because the others are compared with it
}

// The first number, searched cyclically from a drawn one, that depends on the seed; -1: none.
static int64_t drawn_number(const change *c, int64_t n, uint64_t drawn) {
    const rg_type t = c->algo->arg[c->k].type(c->shape);
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = (int64_t)((drawn + (uint64_t)i) % (uint64_t)n);
        if (rg_value_at(t, c->now, at) != rg_value_at(t, c->then, at)) return at;
    }
    return -1;
}

// Numbers of an item (row, image, particle; the second dimension counts them); 0: the argument has no items.
static int64_t item_of(const change *c) {
    rg_shape more = *c->shape;
    more.n[1] *= 2;
    const int64_t n = c->algo->arg[c->k].count(c->shape);
    return c->shape->n[1] && c->algo->arg[c->k].count(&more) == 2 * n ? n / c->shape->n[1] : 0;
}

// Whether the seed changes number i and no other has to change with it.
static bool is_free(const change *c, int64_t i) {
    const rg_type t = c->algo->arg[c->k].type(c->shape);
    bool alone = rg_value_at(t, c->now, i) != rg_value_at(t, c->then, i);
    for (int64_t j = 0; j < c->algo->arg[c->k].count(c->shape) && alone; j++) alone = j == i || !together(c, i, j);
    return alone;
}

// Exchanges two different numbers at the same place of neighbouring items: the first pair, searched from a drawn number on.
static void exchange(const change *c, uint64_t drawn) {
    const rg_type t = c->algo->arg[c->k].type(c->shape);
    const int64_t item = item_of(c), places = c->algo->arg[c->k].count(c->shape) - item;
    for (int64_t i = 0; item && record_of(c) == 1 && i < places; i++) {
        const int64_t at = (int64_t)((drawn + (uint64_t)i) % (uint64_t)places), other = at + item;
        if (rg_value_at(t, c->now, at) == rg_value_at(t, c->now, other) || !is_free(c, at) || !is_free(c, other)) continue;
        char first[sizeof(double)];
        copy_one(c, first, 0, c->now, at);
        copy_one(c, c->now, at, c->now, other);
        copy_one(c, c->now, other, first, 0);
        return;
    }
}

// Alternately, an item differs from the one before in a drawn number only, or agrees with it in its first number only.
static void make_twins(const change *c) {
    const int64_t n = c->algo->arg[c->k].count(c->shape), item = item_of(c);
    if (item < 2 || record_of(c) > 1) return;
    for (int64_t at = item; at < n; at += item) {
        const bool all = at / item % 2;
        const int64_t alone = at + (all ? (int64_t)(rg_bits(c->shape->seed, (uint64_t)at) % (uint64_t)item) : 0);
        for (int64_t i = 0; i < item; i++)
            if (at + i != alone && all != together(c, alone, at + i)) copy_one(c, c->now, at + i, c->now, at + i - item);
        if (!all) copy_one(c, c->now, alone, c->now, alone - item);
    }
}

static void change_inputs(const rg_algo *algo, const rg_shape *shape, rg_pattern pattern, void *const *arg) {
    rg_shape before = *shape;
    before.seed--;
    void *then[RG_ARGS_MAX];
    algo->fill(shape, RG_RANDOM, arg);
    fill_others(algo, &before, RG_RANDOM, then);
    for (int k = 0; k < algo->n_args; k++) {
        const change c = {algo, shape, k, arg[k], then[k]};
        const int64_t n = algo->arg[k].count(shape);
        const bool is_step = pattern >= RG_STEP(0) && pattern < RG_STEP(RG_ARGS_MAX);
        if (pattern == RG_RENEWED ? algo->steady >> k & 1 : is_step && k > (int)(pattern - RG_STEP(0)))
            memcpy(arg[k], then[k], arg_bytes(algo, shape, k));
        if (algo->arg[k].direction != RG_IN || !n) continue;
        if (pattern == RG_TWINS) make_twins(&c);
        if (pattern == RG_EXCHANGED) exchange(&c, rg_bits(~shape->seed, pattern));
        for (int j = 0; j < 2; j++) {
            const int64_t at = pattern == RG_ELEMENT(k, j) ? drawn_number(&c, n, rg_bits(~shape->seed, pattern)) : -1;
            if (at >= 0) change_one(&c, at);
        }
    }
    free_others(algo, then);
}

static void fill(const rg_algo *algo, const rg_shape *shape, rg_pattern pattern, void *const *arg) {
    const int64_t input = (int64_t)shape->seed - 1;
    if (pattern >= RG_RENEWED)
        change_inputs(algo, shape, pattern, arg);
    else if (pattern == RG_OBJECT)
        algo->trace->fill_object(shape, arg);
    else if (pattern != RG_ONE_HOT)
        algo->fill(shape, pattern, arg);
    else if (algo->trace)
        algo->trace->fill(shape, input, arg);
    else
        raise_one(algo, shape, input, arg);
}

static void compute(rg_problem *p, const rg_algo *algo, const rg_shape *shape, rg_pattern pattern, char *from) {
    void *arg[RG_ARGS_MAX] = {NULL};
    *p = (rg_problem){.algo = algo, .shape = *shape, .pattern = pattern};
    for (int k = 0; k < algo->n_args; k++) {
        if (algo->arg[k].direction != RG_OUT) p->initial[k] = space(algo, shape, k, from ? &from : NULL);
        if (algo->arg[k].direction != RG_IN) p->expected[k] = space(algo, shape, k, from ? &from : NULL);
        arg[k] = algo->arg[k].direction == RG_OUT ? p->expected[k] : p->initial[k];
    }
    fill(algo, shape, pattern, arg);
    for (int k = 0; k < algo->n_args; k++)
        if (algo->arg[k].direction == RG_INOUT) {
            memcpy(p->expected[k], p->initial[k], arg_bytes(algo, shape, k));
            arg[k] = p->expected[k];
        }
    algo->reference(shape, arg);
}

static void own_drop(void) {
    for (int k = 0; own.algo && k < own.algo->n_args; k++) {
        free(own.initial[k]);
        free(own.expected[k]);
    }
    own = (rg_problem){0};
}

const rg_problem *rg_problem_make(const rg_algo *algo, const rg_shape *shape, rg_pattern pattern) {
    mprotect(store, REGION_BYTES, PROT_READ);
    const rg_problem *known = rg_problem_find(algo, shape, pattern);
    if (known) return known;
    size_t bytes = 0;
    for (int k = 0; k < algo->n_args; k++) bytes += arg_bytes(algo, shape, k) * (algo->arg[k].direction == RG_INOUT ? 2 : 1);
    const size_t first = (sizeof *store + 255) / 256 * 256;
    if (bytes > REGION_BYTES - first) {
        own_drop();
        compute(&own, algo, shape, pattern, NULL);
        return &own;
    }
    mprotect(store, REGION_BYTES, PROT_READ | PROT_WRITE);
    if (bytes > REGION_BYTES - store->used || store->n == PROBLEMS_MAX) {
        store->n = 0;
        store->used = first;
    }
    rg_problem *p = &store->item[store->n];
    compute(p, algo, shape, pattern, (char *)store + store->used);
    store->used += bytes;
    store->n++; // not before: a worker that dies above leaves no incomplete problem
    mprotect(store, REGION_BYTES, PROT_READ);
    return p;
}
