// SPDX-License-Identifier: MIT
// plan.c: chooses the cases that a variant must pass, cheap and different ones first, and computes their coverage.
//
// First come the standard parameters at the few smallest shapes and at that of the smoke test, with one thread and with
// several. The last of these cases has more threads than a table of fixed size holds, however many processors there are. Then
// come combinations of parameters at smaller shapes, so that every value occurs that the variant accepts, one shape of every
// kind, and some shapes drawn from the seed. Then come the standard parameters at every check shape by increasing work, and
// between them combinations until every pair of values has occurred; then combinations at small check shapes, each time at
// another one. plan.first cases run whatever the budget; work, never a clock, decides how many of the others run. Sizes at
// which code takes another path (threshold.c) are among the first, so that no budget omits them.
#include "checker.h"
#include "../../impl/base/core.h"

enum {
    THREADS = 3,
    MANY_THREADS = 67,
    TABLES_THREADS = 513 /* above a table of 2^9 */,
    COMBINATIONS = 64,
    POOL = 4096,
    GRID_CASES = 100,
    VALUES_MAX = 16,
    SMALLEST = 4
};
static const double SMALL_WORK = 3e6;
static const double EMULATED_BYTES = 1 << 17, EMULATED_WORK = 1e5; // of a shape that every variant runs

typedef int64_t combination[RG_PARAMS_MAX];

typedef struct maker {
    rg_plan *plan;
    const rg_algo *algo;
    const rg_variant *variant;
    const rg_narrow *narrow;
    bool emulated;
    combination *chosen;                    // [0] is the standard one
    int n_chosen, valued, paired;           // up to `valued`, each has a value that those before lack; up to `paired`, a pair
    const rg_shape **small, **all, **cheap; // check shapes by increasing work
    int n_small, n_all, n_cheap;
} maker;

static void add(maker *m, const rg_shape *shape, const int64_t *param, int threads) {
    rg_plan *plan = m->plan;
    for (int i = 0; i < plan->n; i++) {
        const rg_case *c = &plan->item[i];
        if (!c->brief && !c->patterns && c->threads == threads && !memcmp(c->shape.n, shape->n, sizeof shape->n) &&
            !memcmp(c->param, param, (size_t)m->variant->n_params * sizeof *param))
            return; // already planned
    }
    plan->item = rg_grow(plan->item, plan->n, sizeof *plan->item);
    rg_case *c = &plan->item[plan->n++];
    *c = (rg_case){.shape = *shape, .threads = threads};
    memcpy(c->param, param, (size_t)m->variant->n_params * sizeof *param);
}

static int several(const rg_variant *v) { return v->flags & RG_THREADED ? THREADS : 1; }

static void add_both(maker *m, const rg_shape *shape, const int64_t *param) {
    add(m, shape, param, m->narrow->threads ? m->narrow->threads : 1);
    if (!m->narrow->threads && several(m->variant) > 1) add(m, shape, param, several(m->variant));
}

static void add_one(maker *m, const rg_shape *shape, const int64_t *param) {
    add(m, shape, param, m->narrow->threads ? m->narrow->threads : several(m->variant));
}

static bool refused(const maker *m, const rg_shape *shape, const int64_t *param) {
    return !m->narrow->no_refuse &&
        ((m->algo->invalid && m->algo->invalid(shape)) || (m->variant->refuse && m->variant->refuse(shape, param)));
}

// ---- combinations of parameters ------------------------------------------------------------------------------------------

static double grid_size(const rg_variant *v) {
    double size = 1;
    for (int k = 0; k < v->n_params; k++) size *= v->param[k].n_values;
    return size;
}

// Combination number `index` of the whole grid.
static void pick(const rg_variant *v, uint64_t index, int64_t *param) {
    for (int k = 0; k < v->n_params; k++) {
        param[k] = v->param[k].value[index % (uint64_t)v->param[k].n_values];
        index /= (uint64_t)v->param[k].n_values;
    }
}

static int value_index(const rg_param *p, int64_t value) {
    int i = 0;
    while (i < p->n_values - 1 && p->value[i] != value) i++;
    return i < VALUES_MAX ? i : VALUES_MAX - 1;
}

typedef struct pairs {
    bool met[RG_PARAMS_MAX][VALUES_MAX][RG_PARAMS_MAX][VALUES_MAX]; // [k][i][k][i]: a single value
} pairs;

enum { VALUE = 1000 }; // the gain of a new value; a new pair gains 1

// The gain of a combination: the values and pairs of values in it that have not occurred yet.
static int fresh(const rg_variant *v, pairs *p, const int64_t *param, bool note) {
    int n = 0;
    for (int k = 0; k < v->n_params; k++)
        for (int l = k; l < v->n_params; l++) {
            bool *met = &p->met[k][value_index(&v->param[k], param[k])][l][value_index(&v->param[l], param[l])];
            n += *met ? 0 : k == l ? VALUE : 1;
            *met |= note;
        }
    return n;
}

static void count_fresh(rg_coverage *c, int n) {
    c->values += n / VALUE;
    c->pairs += n % VALUE;
}

// The shape at which a combination is tried: a check shape of about a tenth of the smoke test's work, a different one each
// turn, so that kinds vary, too; else a smoke shape; else any small one. NULL: refused at all.
static const rg_shape *place_of(const maker *m, const int64_t *param, int turn) {
    for (int i = 0; i < m->n_cheap; i++)
        if (!refused(m, m->cheap[(turn + i) % m->n_cheap], param)) return m->cheap[(turn + i) % m->n_cheap];
    for (int i = 0; i < m->algo->n_smoke_shapes; i++)
        if (!refused(m, &m->algo->smoke_shape[i], param)) return &m->algo->smoke_shape[i];
    for (int i = m->n_small; i-- > 0;)
        if (!refused(m, m->small[i], param)) return m->small[i];
    return NULL;
}

// Chooses from the whole grid, or from a random part of a very large one that has every value: the combination with the largest
// gain, until every pair has occurred; then any others, while there is room.
static void choose(maker *m, uint64_t seed) {
    const rg_variant *v = m->variant;
    const double size = grid_size(v);
    const bool whole = size <= POOL;
    int n = 0, single = 0;
    RG_FREED combination *pool = rg_alloc((size_t)(POOL + RG_PARAMS_MAX * 64) * sizeof *pool);
    for (int k = 0; k < v->n_params && !whole; k++)
        for (int i = 0; i < v->param[k].n_values && single < RG_PARAMS_MAX * 64; i++, single++) {
            rg_params_standard(v, pool[n]);
            pool[n++][k] = v->param[k].value[i];
        }
    for (uint64_t i = 0; i < (whole ? (uint64_t)size : POOL); i++) pick(v, whole ? i : rg_bits(seed, i), pool[n++]);
    m->chosen = rg_alloc(COMBINATIONS * sizeof *m->chosen);
    m->n_chosen = 1;
    rg_params_standard(v, m->chosen[0]);
    RG_FREED pairs *met = rg_alloc(sizeof *met);
    *met = (pairs){0};
    fresh(v, met, m->chosen[0], true);
    for (int i = 0; i < n;)
        if (!memcmp(pool[i], m->chosen[0], (size_t)v->n_params * sizeof **pool) || !place_of(m, pool[i], 0))
            memcpy(pool[i], pool[--n], sizeof *pool);
        else
            i++;
    pairs *possible = rg_alloc(sizeof *possible);
    *possible = (pairs){0};
    for (int i = -1; i < n; i++) count_fresh(&m->plan->all, fresh(v, possible, i < 0 ? m->chosen[0] : pool[i], true));
    free(possible);
    while (n && m->n_chosen < COMBINATIONS) {
        int best = (int)(rg_bits(seed, (uint64_t)m->n_chosen) % (uint64_t)n), gain = fresh(v, met, pool[best], false);
        for (int i = 0; i < n; i++) {
            const int new = fresh(v, met, pool[i], false);
            if (new > gain) best = i, gain = new;
        }
        m->valued += gain >= VALUE;
        m->paired += gain > 0;
        fresh(v, met, pool[best], true);
        memcpy(m->chosen[m->n_chosen++], pool[best], sizeof *pool);
        memcpy(pool[best], pool[--n], sizeof *pool);
    }
}

// ---- coverage ------------------------------------------------------------------------------------------------------------

// Whether case i is the first to run at its shape (dim < 0) or with its value of that dimension.
static bool is_first(const rg_plan *plan, const bool *ran, int i, int dim) {
    const int64_t *n = plan->item[i].shape.n;
    for (int j = 0; j < i; j++) {
        const int64_t *other = plan->item[j].shape.n;
        if (ran[j] && (dim < 0 ? !memcmp(other, n, sizeof plan->item[j].shape.n) : other[dim] == n[dim])) return false;
    }
    return true;
}

// Counts the shapes and words of the cases that ran. The caller counts values and pairs of parameters.
static void count_shapes(const rg_plan *plan, const rg_algo *algo, const bool *ran, rg_coverage *c) {
    for (int i = 0; i < plan->n; i++) {
        if (!ran[i]) continue;
        c->cases++;
        c->shapes += is_first(plan, ran, i, -1);
        for (int d = 0; d < RG_DIMS && algo->dim[d] && algo->dim_text; d++) {
            char word[32];
            c->kinds += algo->dim_text(d, plan->item[i].shape.n[d], word) && is_first(plan, ran, i, d);
        }
    }
}

// ---- the plan ------------------------------------------------------------------------------------------------------------

static const rg_algo *sorted; // for the comparison function

static int by_work(const void *a, const void *b) {
    const rg_shape *const s = *(const rg_shape *const *)a, *const t = *(const rg_shape *const *)b;
    const double d = sorted->work(s) - sorted->work(t);
    return d != 0 ? (d > 0) - (d < 0) : (s > t) - (s < t);
}

static void sort_shapes(maker *m) {
    m->n_all = m->algo->n_check_shapes;
    m->all = rg_alloc((size_t)m->n_all * sizeof *m->all);
    for (int i = 0; i < m->n_all; i++) m->all[i] = &m->algo->check_shape[i];
    sorted = m->algo;
    qsort(m->all, (size_t)m->n_all, sizeof *m->all, by_work);
    m->small = m->all;
    while (m->n_small < m->n_all && m->algo->work(m->all[m->n_small]) <= SMALL_WORK) m->n_small++;
    const double tenth = m->algo->work(&m->algo->smoke_shape[0]) / 10;
    m->cheap = m->all;
    for (int i = 0; i < m->n_all; i++) {
        m->cheap += m->algo->work(m->all[i]) < tenth / 4;
        m->n_cheap += m->algo->work(m->all[i]) >= tenth / 4 && m->algo->work(m->all[i]) <= 2 * tenth;
    }
}

// Adds every word of a dimension (a kind, a rule, a turn), at one of the cheapest shapes that have it.
static void add_kinds(maker *m) {
    enum { STEPPED_KINDS = 4 };
    int stepped = 0;
    for (int d = 0; d < RG_DIMS && m->algo->dim[d] && m->algo->dim_text; d++)
        for (int i = 0; i < m->n_all; i++) {
            char word[32];
            bool met = !m->algo->dim_text(d, m->all[i]->n[d], word) || refused(m, m->all[i], m->chosen[0]);
            for (int j = 0; j < m->plan->n && !met; j++) met = m->plan->item[j].shape.n[d] == m->all[i]->n[d];
            int last = i; // the largest of the cheap ones with this word, not an image of one pixel
            for (int j = i; j < m->n_all && m->algo->work(m->all[j]) <= m->algo->work(&m->algo->smoke_shape[0]) / 10; j++)
                if (m->all[j]->n[d] == m->all[i]->n[d] && !refused(m, m->all[j], m->chosen[0])) last = j;
            if (met) continue;
            add_one(m, m->all[last], m->chosen[0]);
            m->plan->item[m->plan->n - 1].brief = true;
            m->plan->item[m->plan->n - 1].steps = stepped++ < STEPPED_KINDS;
        }
}

// ---- drawn shapes ----------------------------------------------------------------------------------------------------------

// Whether dimension d has few values, with words (a kind, a rule): these are not changed. If it has words for many (a turn in
// degrees), one is drawn between the smallest and the largest of the check shapes.
static bool few_words(const maker *m, int d, int64_t *least, int64_t *most) {
    enum { FEW = 32 };
    bool words = false;
    char word[32];
    *least = *most = m->all[0]->n[d];
    for (int i = 0; i < m->n_all; i++) {
        *least = m->all[i]->n[d] < *least ? m->all[i]->n[d] : *least;
        *most = m->all[i]->n[d] > *most ? m->all[i]->n[d] : *most;
        words |= m->algo->dim_text && m->algo->dim_text(d, m->all[i]->n[d], word);
    }
    if (!words) *least = *most = 0;
    return words && *most - *least < FEW;
}

// Draws sizes within 40 % of those of a check shape, with at most four times its work.
static bool draw_shape(const maker *m, const rg_shape *from, uint64_t seed, rg_shape *shape) {
    for (int attempt = 0; attempt < 256; attempt++) {
        *shape = *from;
        for (int d = 0; d < RG_DIMS && m->algo->dim[d]; d++) {
            const uint64_t bits = rg_bits(seed, (uint64_t)(attempt * RG_DIMS + d)) >> 32;
            int64_t least, most;
            if (bits >> 31 || few_words(m, d, &least, &most)) // half of the dimensions keep their value
                continue;
            if (most > least)
                shape->n[d] = least + (int64_t)(bits % (uint64_t)(most - least + 1));
            else
                shape->n[d] += (int64_t)(bits % (uint64_t)(2 * (2 * from->n[d] / 5) + 3)) - (2 * from->n[d] / 5 + 1);
        }
        if (memcmp(shape->n, from->n, sizeof shape->n) && !(m->algo->invalid && m->algo->invalid(shape)) &&
            m->algo->work(shape) <= 4 * m->algo->work(from))
            return true;
    }
    return false;
}

static void add_drawn(maker *m, uint64_t seed) {
    enum { DRAWN = 4, DRAWN_EMULATED = 2 };
    const rg_shape **from = m->emulated && m->n_cheap ? m->cheap : m->small;
    const int n_from = m->emulated && m->n_cheap ? m->n_cheap : m->n_small;
    for (int i = 0; i < (m->emulated ? DRAWN_EMULATED : DRAWN) && n_from; i++) {
        rg_shape shape;
        const uint64_t bits = rg_bits(~seed, (uint64_t)i);
        const int before = m->plan->n;
        if (draw_shape(m, from[bits % (uint64_t)n_from], bits, &shape)) add_one(m, &shape, m->chosen[0]);
        if (m->plan->n > before) m->plan->item[before].brief = m->plan->item[before].steps = m->plan->item[before].drawn = true;
    }
}

static void add_brief(maker *m, int c) {
    add_one(m, place_of(m, m->chosen[c], c), m->chosen[c]);
    m->plan->item[m->plan->n - 1].brief = true;
}

bool rg_starts_program(const rg_variant *v) {
    const char *needs = v->needs ? v->needs : "";
    return strstr(needs, "octave") || strstr(needs, "numpy");
}

static void add_threshold(void *of, const rg_case *c) {
    maker *m = of;
    const int before = m->plan->n;
    double bytes = 0;
    for (int k = 0; k < m->algo->n_args; k++)
        bytes += (double)m->algo->arg[k].count(&c->shape) * (double)rg_type_bytes(m->algo->arg[k].type(&c->shape));
    const bool small = bytes <= EMULATED_BYTES && m->algo->work(&c->shape) <= EMULATED_WORK;
    if (!c->any)
        add_both(m, &c->shape, c->param);
    else if (m->emulated ? small : !rg_starts_program(m->variant))
        add(m, &c->shape, c->param, m->narrow->threads ? m->narrow->threads : before % 2 ? several(m->variant) : 1);
    for (int i = before; i < m->plan->n; i++) {
        m->plan->item[i].patterns = c->patterns;
        m->plan->item[i].any = c->any;
    }
}

static void plan_all(maker *m, const rg_entry *entry, uint64_t seed) {
    sort_shapes(m);
    choose(m, seed);
    for (int i = 0; i < m->n_all && i < SMALLEST; i++) add_both(m, m->all[i], m->chosen[0]);
    const int smoke = m->plan->n;
    add_both(m, &m->algo->smoke_shape[0], m->chosen[0]);
    if (!m->narrow->threads && several(m->variant) > 1) add(m, &m->algo->smoke_shape[0], m->chosen[0], MANY_THREADS);
    if (!m->narrow->threads && several(m->variant) > 1) {
        const int before = m->plan->n;
        add(m, &m->algo->smoke_shape[0], m->chosen[0], TABLES_THREADS);
        m->plan->item[before].any = true;
        m->plan->item[before].patterns = 1u << RG_RANDOM;
    }
    for (int i = smoke; i < m->plan->n && !m->emulated; i++) m->plan->item[i].steps = true;
    int c = 1;
    while (c <= m->valued) add_brief(m, c++);
    add_kinds(m);
    if (m->narrow->thresholds != RG_NO_THRESHOLDS) rg_thresholds(entry, false, add_threshold, m);
    add_drawn(m, seed);
    m->plan->first = m->plan->n;
    for (int i = 0; i < m->n_all; i++) {
        add_both(m, m->all[i], m->chosen[0]);
        for (int k = 0; k < 2 && c <= m->paired; k++) add_brief(m, c++);
    }
    const int most = (m->n_chosen - 1) * m->n_small, grid = most < GRID_CASES ? most : GRID_CASES;
    for (int g = 0; g < grid; g++) { // all combinations in turn, in each round at other shapes
        const int which = g % (m->n_chosen - 1), round = g / (m->n_chosen - 1);
        add_one(m, m->small[(which * 7 + round) % m->n_small], m->chosen[1 + which]);
    }
    bool *possible = rg_alloc((size_t)m->plan->n * sizeof *possible);
    for (int i = 0; i < m->plan->n; i++) possible[i] = !refused(m, &m->plan->item[i].shape, m->plan->item[i].param);
    count_shapes(m->plan, m->algo, possible, &m->plan->all);
    free(possible);
    free(m->all);
    free(m->chosen);
}

void rg_plan_make(rg_plan *plan, const rg_entry *entry, const rg_narrow *narrow, uint64_t seed) {
    combination param = {0};
    *plan = (rg_plan){0};
    maker m = {.plan = plan, .algo = entry->algo, .variant = entry->variant, .narrow = narrow, .emulated = entry->emulated};
    if (!narrow->shape && !narrow->smoke && !narrow->param) {
        if (narrow->thresholds == RG_ALL || narrow->thresholds == RG_NO_THRESHOLDS) {
            plan_all(&m, entry, seed);
            return;
        }
        rg_thresholds(entry, narrow->thresholds == RG_DEEP, add_threshold, &m);
        plan->first = plan->n;
        return;
    }
    rg_params_standard(m.variant, param);
    if (narrow->param) memcpy(param, narrow->param, (size_t)m.variant->n_params * sizeof *param);
    const rg_shape *shape = narrow->shape ? narrow->shape : narrow->smoke ? m.algo->smoke_shape : m.algo->check_shape;
    const int n_shapes = narrow->shape ? 1 : narrow->smoke ? m.algo->n_smoke_shapes : m.algo->n_check_shapes;
    for (int i = 0; i < n_shapes; i++) add_both(&m, &shape[i], param);
    for (int i = 0; i < plan->n; i++) plan->item[i].steps = narrow->shape != NULL;
    plan->first = plan->n;
}

unsigned rg_patterns_of(const rg_entry *e, const rg_case *c, unsigned asked) {
    if (c->patterns && !asked) return c->patterns;
    const unsigned all = asked ? asked : (1u << RG_PATTERNS) - 1, steps = c->steps && !asked ? 1u << RG_STEPS : 0;
    return (e->emulated && c->brief && !asked ? 1u << RG_RANDOM : all) | steps;
}

rg_coverage rg_plan_coverage(const rg_plan *plan, const rg_entry *entry, const bool *ran) {
    rg_coverage c = {0};
    RG_FREED pairs *met = rg_alloc(sizeof *met);
    *met = (pairs){0};
    count_shapes(plan, entry->algo, ran, &c);
    for (int i = 0; i < plan->n; i++)
        if (ran[i]) count_fresh(&c, fresh(entry->variant, met, plan->item[i].param, true));
    return c;
}

void rg_plan_free(rg_plan *plan) {
    free(plan->item);
    *plan = (rg_plan){0};
}
