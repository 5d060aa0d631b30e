// SPDX-License-Identifier: MIT
// trace.c: runs a variant with one input on at a time, and judges every pair of input and output.
//
// It runs as the checker does: a worker process, guarded and poisoned buffers, a check of the inputs afterwards (examine.c).
// The first run has no input on; the difference of a later run from it is what its input reached. For a linear algorithm that
// is its column.
#include "trace.h"
#include "../../impl/base/core.h"
#include <sys/mman.h>

const char *const rg_trace_word_name[RG_TRACE_WORDS] = {"right", "missing", "doubled", "misplaced", "weight"};

static const size_t SHARED_BYTES = (size_t)1 << 30; // reserved; pages are allocated when touched
static rg_show *shared;                             // followed by the list of inputs and the answers

int rg_trace_open(void) {
    if (shared) return RG_GOOD;
    void *p = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return rg_fail(RG_LACKS, "trace: no %zu bytes of address space: %s", SHARED_BYTES, strerror(errno));
    shared = p;
    return RG_GOOD;
}

static bool is_output(const rg_algo *algo, int k) { return algo->arg[k].direction != RG_IN; }

static size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

// Whether the answers of n inputs fit.
static bool lay_out(const rg_algo *algo, const rg_shape *shape, rg_pattern pattern, int64_t n) {
    size_t at = 0, head = aligned(sizeof *shared) + aligned((size_t)n * sizeof(int64_t));
    *shared = (rg_show){.pattern = pattern, .n = n};
    for (int k = 0; k < algo->n_args; k++)
        if (is_output(algo, k)) {
            const size_t bytes = aligned((size_t)algo->arg[k].count(shape) * rg_type_bytes(algo->arg[k].type(shape)));
            shared->found_at[k] = at;
            shared->expected_at[k] = at + bytes;
            at += 2 * bytes;
        }
    shared->answer_bytes = at;
    shared->input = (int64_t *)((char *)shared + aligned(sizeof *shared));
    shared->answer = (char *)shared + head;
    return head < SHARED_BYTES && at <= (SHARED_BYTES - head) / (size_t)n;
}

static char *answer(int64_t j) { return shared->answer + (size_t)j * shared->answer_bytes; }
static void *found_of(int64_t j, int k) { return answer(j) + shared->found_at[k]; }
static void *expected_of(int64_t j, int k) { return answer(j) + shared->expected_at[k]; }

// ---- verdicts ------------------------------------------------------------------------------------------------------------

typedef struct column {
    rg_type type;
    int64_t n;
    const void *found, *expected, *found_0, *expected_0; // the last two NULL for answer 0
} column;

// The outputs of input number `found`, with those expected of input number `expected`.
static column column_of(const rg_trace_how *how, int64_t found, int64_t expected, int k) {
    const rg_arg *arg = &how->entry->algo->arg[k];
    return (column){.type = arg->type(&how->shape),
        .n = arg->count(&how->shape),
        .found = found_of(found, k),
        .expected = expected_of(expected, k),
        .found_0 = found ? found_of(0, k) : NULL,
        .expected_0 = expected ? expected_of(0, k) : NULL};
}

static double weight_at(const column *c, int64_t e) {
    return rg_value_at(c->type, c->found, e) - (c->found_0 ? rg_value_at(c->type, c->found_0, e) : 0);
}
static double expected_at(const column *c, int64_t e) {
    return rg_value_at(c->type, c->expected, e) - (c->expected_0 ? rg_value_at(c->type, c->expected_0, e) : 0);
}
static double allowed_at(const column *c, int64_t e, const rg_tolerance *tolerance) {
    const double with_0 = c->expected_0 ? rg_value_at(c->type, c->expected_0, e) : 0;
    return rg_allowed(tolerance, rg_value_at(c->type, c->expected, e)) + (with_0 != 0 ? rg_allowed(tolerance, with_0) : 0);
}

// Whether a wrong value at e is the value expected of another output. Values near the tolerance would match by chance.
static bool belongs_elsewhere(const column *c, int64_t e, double weight, double allowed) {
    if (fabs(weight) <= 20 * allowed) return false;
    for (int64_t other = 0; other < c->n; other++)
        if (other != e && fabs(expected_at(c, other) - weight) <= 1e-6 * fabs(weight)) return true;
    return false;
}

// Whether an input's whole response has moved: at least a quarter of the weight is lost at some outputs and gained at others.
static bool has_moved(const column *c) {
    double lost = 0, gained = 0, expected = 0;
    for (int64_t e = 0; e < c->n; e++) {
        const double more = fabs(weight_at(c, e)) - fabs(expected_at(c, e));
        *(more < 0 ? &lost : &gained) += fabs(more);
        expected += fabs(expected_at(c, e));
    }
    return lost >= 0.25 * expected && gained >= 0.25 * expected && expected > 0; // false where any is NaN
}

static void judge(const column *c, const rg_tolerance *tolerance, bool moved, rg_trace_pair *p) {
    const double allowed = allowed_at(c, p->output, tolerance), w = p->weight, e = p->expected;
    if (fabs(w - e) <= allowed)
        p->word = RG_W_RIGHT;
    else if (rg_is_poison(c->type, c->found, p->output) || isnan(w) || (fabs(w) <= allowed && fabs(w + e) > allowed))
        p->word = RG_W_MISSING;
    else if ((p->turned = fabs(w + e) <= allowed))
        p->word = RG_W_WEIGHT;
    else if (fabs(e) <= allowed || moved)
        p->word = RG_W_MISPLACED;
    else if (fabs(w - 2 * e) <= 2 * allowed)
        p->word = RG_W_DOUBLED;
    else
        p->word = belongs_elsewhere(c, p->output, w, allowed) ? RG_W_MISPLACED : RG_W_WEIGHT;
}

static void add(rg_pairs *pairs, const rg_trace_pair *p) {
    pairs->pair = rg_grow(pairs->pair, pairs->n, sizeof *p);
    pairs->pair[pairs->n++] = *p;
}

static void judge_answer(const rg_trace_how *how, int64_t j, rg_pairs *pairs) {
    const rg_algo *algo = how->entry->algo;
    const rg_tolerance tolerance = rg_tolerance_of(how->entry, &how->shape, how->param);
    for (int k = 0; k < algo->n_args; k++) {
        if (!is_output(algo, k)) continue;
        const column c = column_of(how, j, j, k);
        const bool moved = has_moved(&c);
        for (int64_t e = 0; e < c.n; e++) {
            rg_trace_pair p = {
                .input = shared->input[j], .which = k, .output = e, .weight = weight_at(&c, e), .expected = expected_at(&c, e)};
            if (p.weight == 0 && p.expected == 0) continue;
            judge(&c, &tolerance, moved, &p);
            if (p.word != RG_W_RIGHT || (j > 0 && p.expected != 0)) // without an input on, only wrong weights are kept
                add(pairs, &p);
        }
    }
}

// ---- inputs mistaken for others ---------------------------------------------------------------------------------------------

// Whether input j has the response expected of input `other`; *any: it is not zero.
static bool reaches_that_of(const rg_trace_how *how, int64_t j, int64_t other, const rg_tolerance *tolerance, bool *any) {
    *any = false;
    for (int k = 0; k < how->entry->algo->n_args; k++) {
        const column c = column_of(how, j, other, k);
        for (int64_t e = 0; is_output(how->entry->algo, k) && e < c.n; e++) {
            if (!(fabs(weight_at(&c, e) - expected_at(&c, e)) <= 2 * allowed_at(&c, e, tolerance))) return false;
            *any |= fabs(expected_at(&c, e)) > 100 * allowed_at(&c, e, tolerance);
        }
    }
    return true;
}

// Writes the step from a wrong input j to the input whose response it has; "": there is none.
static void step_of(const rg_trace_how *how, int64_t j, const rg_tolerance *tolerance, char text[64]) {
    const rg_algo *algo = how->entry->algo;
    rg_place from, to;
    text[0] = 0;
    for (int64_t other = 1; other < shared->done && !text[0]; other++) {
        bool any;
        if (other == j || !reaches_that_of(how, j, other, tolerance, &any) || !any) continue;
        rg_place_of(algo, &how->shape, rg_traced_argument(algo), shared->input[j], &from);
        rg_place_of(algo, &how->shape, rg_traced_argument(algo), shared->input[other], &to);
        rg_place_step(&from, &to, text);
    }
}

void rg_trace_stand_in(const rg_trace_how *how, rg_pairs *pairs) {
    enum { STEPS = 16, INPUTS = 400 }; // every input is compared with every other
    const rg_tolerance tolerance = rg_tolerance_of(how->entry, &how->shape, how->param);
    char step[STEPS][64] = {""}, text[64];
    int64_t count[STEPS] = {0}, wrong = 0;
    for (int64_t j = 1; j < shared->done && shared->done <= INPUTS; j++) {
        bool any;
        int i = 0;
        if (reaches_that_of(how, j, j, &tolerance, &any)) continue;
        wrong++;
        step_of(how, j, &tolerance, text);
        while (i < STEPS - 1 && count[i] && strcmp(step[i], text) != 0) i++;
        memcpy(step[i], text, sizeof text);
        count[i]++;
    }
    for (int i = 0; i < STEPS; i++)
        if (2 * count[i] > wrong) memcpy(pairs->stands_for, step[i], sizeof step[i]);
}

// ---- runs ----------------------------------------------------------------------------------------------------------------

static int64_t list_inputs(const rg_trace_how *how, const rg_filter *inputs, int64_t *to) {
    const rg_algo *algo = how->entry->algo;
    const int which = rg_traced_argument(algo);
    const int64_t count = algo->arg[which].count(&how->shape);
    int64_t n = 0;
    for (int64_t e = 0; e < count; e++)
        if (rg_filter_has(inputs, algo, &how->shape, which, e)) to[n++] = e;
    return n;
}

static bool any_output(const rg_trace_how *how, const rg_filter *outputs) {
    const rg_algo *algo = how->entry->algo;
    for (int k = 0; k < algo->n_args; k++)
        for (int64_t e = 0; is_output(algo, k) && e < algo->arg[k].count(&how->shape); e++)
            if (rg_filter_has(outputs, algo, &how->shape, k, e)) return true;
    return false;
}

static int none_there(const rg_trace_how *how, const char *option, int which) {
    const rg_arg *arg = &how->entry->algo->arg[which];
    rg_place first, last;
    rg_place_of(how->entry->algo, &how->shape, which, 0, &first);
    rg_place_of(how->entry->algo, &how->shape, which, arg->count(&how->shape) - 1, &last);
    return rg_fail(
        RG_USAGE, "%s: expected places of %s from %s to %s, found none there", option, arg->name, first.text, last.text);
}

static rg_verdict run_all(const rg_trace_how *how) {
    return rg_show_case(how->entry, &how->shape, how->param, how->threads, shared, &how->options);
}

int rg_trace_run(const rg_trace_how *how, const rg_filter *inputs, const rg_filter *outputs, rg_pairs *pairs) {
    const rg_algo *algo = how->entry->algo;
    const int which = rg_traced_argument(algo);
    RG_FREED int64_t *list = rg_alloc((size_t)(algo->arg[which].count(&how->shape) + 1) * sizeof *list);
    const int64_t n = list_inputs(how, inputs, list);
    *pairs = (rg_pairs){.algo = algo, .shape = how->shape, .n_inputs = n};
    int code = n ? RG_GOOD : none_there(how, "--input", which);
    if (!code && !any_output(how, outputs)) {
        int k = 0;
        while (!is_output(algo, k)) k++;
        code = none_there(how, "--output", k);
    }
    if (!code && !lay_out(algo, &how->shape, RG_ONE_HOT, n + 1))
        code = rg_fail(RG_USAGE,
            "trace: the outputs of %lld inputs need %.1f GiB, at most %.0f are kept: choose a smaller "
            "--shape or fewer inputs with --input",
            (long long)n, (double)n * (double)shared->answer_bytes / 0x1p30, (double)SHARED_BYTES / 0x1p30);
    if (!code) {
        shared->input[0] = -1;
        memcpy(shared->input + 1, list, (size_t)n * sizeof *list);
        pairs->ran = run_all(how);
        pairs->all = shared->done == shared->n;
        for (int64_t j = 0; j < shared->done; j++) judge_answer(how, j, pairs);
        rg_pairs_keep(pairs, outputs);
    }
    return code;
}

rg_verdict rg_trace_object(const rg_trace_how *how, void *found[RG_ARGS_MAX], void *expected[RG_ARGS_MAX]) {
    const rg_algo *algo = how->entry->algo;
    rg_verdict v = {.status = RG_FAIL, .reason = "the object's outputs are too large"};
    if (!lay_out(algo, &how->shape, RG_OBJECT, 1)) return v;
    shared->input[0] = -1;
    v = run_all(how);
    for (int k = 0; k < algo->n_args; k++)
        if (is_output(algo, k)) {
            found[k] = found_of(0, k);
            expected[k] = expected_of(0, k);
        }
    return v;
}

// ---- results ---------------------------------------------------------------------------------------------------------------

void rg_pairs_free(rg_pairs *pairs) {
    free(pairs->pair);
    *pairs = (rg_pairs){0};
}

void rg_pairs_count(const rg_pairs *pairs, int64_t count[RG_TRACE_WORDS]) {
    memset(count, 0, RG_TRACE_WORDS * sizeof *count);
    for (int64_t i = 0; i < pairs->n; i++) count[pairs->pair[i].word]++;
}

// RG_W_RIGHT, or the verdict of most faults. A weight missing at one place and found at another counts as misplaced twice.
static rg_trace_word word_of(const rg_pairs *pairs) {
    int64_t count[RG_TRACE_WORDS];
    rg_trace_word word = RG_W_RIGHT;
    rg_pairs_count(pairs, count);
    const int64_t both = count[RG_W_MISSING] < count[RG_W_MISPLACED] ? count[RG_W_MISSING] : count[RG_W_MISPLACED];
    count[RG_W_MISSING] -= both;
    count[RG_W_MISPLACED] += both;
    for (int w = 1; w < RG_TRACE_WORDS; w++)
        if (count[w] > (word ? count[word] : 0)) word = (rg_trace_word)w;
    return word;
}

const char *rg_pairs_verdict(const rg_pairs *pairs) {
    const rg_trace_word word = word_of(pairs);
    if (!pairs->all) return "not all were run";
    return word == RG_W_RIGHT && pairs->ran.status != RG_PASS ? "not clean" : rg_trace_word_name[word];
}

const rg_trace_pair *rg_pairs_first(const rg_pairs *pairs) {
    const rg_trace_pair *with_none = NULL;
    for (int64_t i = 0; i < pairs->n; i++) {
        const rg_trace_pair *p = &pairs->pair[i];
        if (p->word != RG_W_RIGHT && p->input >= 0) return p;
        if (p->word != RG_W_RIGHT && !with_none) with_none = p;
    }
    return with_none;
}
