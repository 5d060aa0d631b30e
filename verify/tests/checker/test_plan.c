// SPDX-License-Identifier: MIT
// test_plan.c: the cases that verify plans, and those too large for any machine; verify/cases/verify.tsv has the command.
#include "../../checker/checker.h"
#include "../../../impl/base/tsv.h"
#include "../../../impl/runtime/command.h"
#include "../test.h"

static const int64_t few[] = {1, 2, 3}, many[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
static const rg_param small_grid[] = {{"a", few, 3, 2, ""}, {"b", few, 3, 1, ""}};
static const rg_param large_grid[] = {{"a", many, 10, 0, ""}, {"b", many, 10, 5, ""}, {"c", many, 10, 9, ""}};

static rg_entry entry_of(rg_variant *v, const rg_param *param, int n, uint32_t flags) {
    *v = (rg_variant){.abi = RG_ABI,
        .bytes = sizeof *v,
        .algo = "autocorr",
        .name = "planned",
        .param = param,
        .n_params = n,
        .flags = flags};
    return (rg_entry){.algo = rg_algo_find("autocorr"), .variant = v, .name = "planned"};
}

static int cases_with(const rg_plan *p, int param, int64_t value) {
    int n = 0;
    for (int i = 0; i < p->n; i++) n += p->item[i].param[param] == value;
    return n;
}

// The number of cases from thresholds of all variants, except those of many threads.
static int of_all(const rg_plan *p) {
    int n = 0;
    for (int i = 0; i < p->n; i++) n += p->item[i].any && p->item[i].threads <= 3;
    return n;
}

// Each bound has a reason, which is printed beside a slack above 30.
TEST(every_bound_has_a_reason) {
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, "", "cpu"));) {
        int64_t param[RG_PARAMS_MAX];
        rg_params_standard(e->variant, param);
        for (int i = 0; i < e->algo->n_check_shapes; i++) {
            const rg_tolerance t = rg_tolerance_of(e, &e->algo->check_shape[i], param);
            if (!t.reason || strlen(t.reason) < 8)
                fail_msg("%s:%s: a bound of %g + %g |x| without a reason", e->algo->name, e->name, t.absolute, t.relative);
        }
    }
}

// The same seed draws the same shapes, valid and different from the check shapes; another seed draws others.
TEST(shapes_are_drawn_from_the_seed) {
    const rg_algo *known = NULL;
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, "", "cpu"));) {
        rg_plan p[3];
        const rg_narrow all = {0};
        if (e->algo == known) continue; // the same for all variants of an algorithm
        known = e->algo;
        int drawn = 0, same = 0;
        for (int i = 0; i < 3; i++) rg_plan_make(&p[i], e, &all, i < 2 ? 7 : 8);
        assert_int_equal(p[0].n, p[1].n);
        for (int k = 0; k < p[0].n; k++) {
            const rg_case *c = &p[0].item[k];
            assert_memory_equal(c->shape.n, p[1].item[k].shape.n, sizeof c->shape.n);
            if (!c->drawn) continue;
            drawn++;
            assert_true(!e->algo->invalid || !e->algo->invalid(&c->shape));
            assert_true(c->steps && k < p[0].first);
            for (int i = 0; i < e->algo->n_check_shapes; i++)
                assert_true(memcmp(c->shape.n, e->algo->check_shape[i].n, sizeof c->shape.n));
            same += k < p[2].n && p[2].item[k].drawn && !memcmp(c->shape.n, p[2].item[k].shape.n, sizeof c->shape.n);
        }
        if (drawn < 1 || drawn > 4) fail_msg("%s:%s: %d shapes drawn", e->algo->name, e->name, drawn);
        assert_true(same < drawn);
        for (int i = 0; i < 3; i++) rg_plan_free(&p[i]);
    }
}

TEST(plans_cover_shapes_and_threads) {
    rg_variant v;
    rg_entry e = entry_of(&v, NULL, 0, RG_THREADED);
    const rg_narrow all = {0}, two = {.threads = 2};
    rg_plan p;
    rg_plan_make(&p, &e, &all, 1);
    const int beside = 5 + of_all(&p); // the shape of the smoke test, four drawn ones, and those for all variants
    assert_int_equal(p.all.shapes, e.algo->n_check_shapes + beside);
    for (int i = 0; i < e.algo->n_check_shapes; i++) {
        int found[2] = {0, 0};
        for (int k = 0; k < p.n; k++)
            if (memcmp(p.item[k].shape.n, e.algo->check_shape[i].n, sizeof p.item[k].shape.n) == 0)
                found[p.item[k].threads > 1]++;
        assert_true(found[0] >= 1 && found[1] >= 1);
    }
    rg_plan_free(&p);
    rg_plan_make(&p, &e, &two, 1);
    assert_int_equal(p.all.shapes, e.algo->n_check_shapes + beside);
    for (int i = 0; i < p.n; i++) assert_int_equal(p.item[i].threads, 2);
    rg_plan_free(&p);
}

TEST(plans_cover_parameters) {
    rg_variant v;
    rg_entry e = entry_of(&v, small_grid, 2, 0);
    const rg_narrow all = {0};
    rg_plan p;
    rg_plan_make(&p, &e, &all, 1);
    int pairs = 0;
    for (int64_t a = 1; a <= 3; a++)
        for (int64_t b = 1; b <= 3; b++)
            for (int i = 0; i < p.n; i++)
                if (p.item[i].param[0] == a && p.item[i].param[1] == b) {
                    pairs++;
                    break;
                }
    assert_int_equal(pairs, 9);
    assert_int_equal(p.all.values, 6);
    assert_int_equal(p.all.pairs, 9);
    rg_plan_free(&p);
    e = entry_of(&v, large_grid, 3, 0);
    rg_plan_make(&p, &e, &all, 1);
    assert_true(p.n < 1000);
    assert_int_equal(p.all.values, 30);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 10; i++) assert_true(cases_with(&p, k, many[i]) > 0);
    rg_plan_free(&p);
}

// Every value of a parameter and every kind occurs at a shape that is not the largest, before any budget; the coverage counts
// what was left out.
TEST(plans_begin_with_what_is_cheap_and_different) {
    rg_variant v;
    rg_entry e = entry_of(&v, large_grid, 3, 0);
    const rg_narrow all = {0};
    RG_ENDS(rg_plan_free) rg_plan p;
    rg_plan_make(&p, &e, &all, 1);
    assert_true(p.first - of_all(&p) < 40);
    RG_FREED bool *ran = calloc((size_t)p.n, sizeof *ran);
    for (int i = 0; i < p.first; i++) ran[i] = true;
    const rg_coverage first = rg_plan_coverage(&p, &e, ran);
    assert_int_equal(first.values, p.all.values);
    assert_int_equal(first.kinds, p.all.kinds);
    assert_int_equal(first.cases, p.first);
    assert_true(first.shapes < p.all.shapes && first.pairs < p.all.pairs);
    for (int i = 0; i < p.n; i++) ran[i] = true;
    const rg_coverage whole = rg_plan_coverage(&p, &e, ran);
    assert_int_equal(whole.shapes, p.all.shapes);
    assert_int_equal(whole.cases, p.all.cases);
    for (int i = 0; i < p.n; i++) ran[i] = i < p.first && !p.item[i].brief; // without the combinations chosen for their values
    assert_true(rg_plan_coverage(&p, &e, ran).values < p.all.values);
}

// SHARED_INT = 1 is refused with the standard PRECOMP_INT = 2: every value is planned with others that are accepted.
static const char *only_together(const rg_shape *s, const int64_t *param) {
    return (void)s, param[0] == 3 && param[1] != 2 ? "3 only with 2" : param[0] == 2 && param[1] == 2 ? "2 never with 2" : NULL;
}

TEST(plans_find_places_for_values_refused_alone) {
    rg_variant v;
    rg_entry e = entry_of(&v, small_grid, 2, 0);
    v.refuse = only_together;
    const rg_narrow all = {0};
    RG_ENDS(rg_plan_free) rg_plan p;
    rg_plan_make(&p, &e, &all, 1);
    bool met = false;
    for (int i = 0; i < p.first; i++) met |= p.item[i].param[0] == 3 && p.item[i].param[1] == 2;
    assert_true(met);
    assert_int_equal(p.all.values, 6);
    assert_int_equal(p.all.pairs, 6);
}

// Every row of verify/thresholds.tsv has readable cells, existing variants, and valid shapes that none of them refuses. Sizes
// for every run are among the first of the plan, with the row's inputs only; long ones are in no plan.
static void count_case(void *of, const rg_case *c) {
    int *n = of;
    assert_true(c->patterns != 0);
    ++*n;
}

static bool planned(const rg_plan *p, const int dim[3], const int64_t value[3]) {
    for (int i = 0; i < p->n; i++) {
        const int64_t *n = p->item[i].shape.n;
        if (n[dim[0]] == value[0] && n[dim[1]] == value[1] && n[dim[2]] == value[2]) return true;
    }
    return false;
}

// Every three numbers of gridding's row of triples, in which every shape is valid, occur together.
TEST(every_three_numbers_meet) {
    static const int64_t number[5][5] = {{3, 5, 7}, {1, 2, 3}, {1, 2}, {5, 19, 30}, {0, 1, 2, 3}};
    static const int count[5] = {3, 3, 2, 3, 4};
    const rg_narrow cheap = {.thresholds = RG_CHEAP};
    RG_ENDS(rg_plan_free) rg_plan p;
    int met = 0;
    rg_plan_make(&p, rg_entry_next(NULL, "gridding:naive_scatter", "cpu"), &cheap, 1);
    for (int a = 0; a < 5; a++)
        for (int b = a + 1; b < 5; b++)
            for (int c = b + 1; c < 5; c++)
                for (int i = 0; i < count[a] * count[b] * count[c]; i++, met++) {
                    const int64_t of[3] = {
                        number[a][i % count[a]], number[b][i / count[a] % count[b]], number[c][i / count[a] / count[b]]};
                    if (!planned(&p, (int[3]){a, b, c}, of))
                        fail_msg("no shape with %d, %d, %d", (int)of[0], (int)of[1], (int)of[2]);
                }
    assert_int_equal(met, 18 + 27 + 36 + 18 + 24 + 36 + 18 + 24 + 36 + 24);
}

// Inputs that differ in a single number can be made at every shape, also the smallest, in which none may change.
TEST(one_number_changes_at_every_shape) {
    rg_problem_store_open();
    const rg_algo *known = NULL;
    size_t most_exchanged = 2;
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, "", "cpu"));) {
        if (e->algo == known) continue;
        assert_int_equal(most_exchanged, 2); // in the algorithm before, at some shape
        most_exchanged = 0;
        known = e->algo;
        for (int i = 0; i < known->n_check_shapes; i += i < 3 ? 1 : 9)
            for (int k = 0; k < known->n_args; k++) {
                const rg_arg *a = &known->arg[k];
                rg_shape s = known->check_shape[i], before = s;
                const size_t width = rg_type_bytes(a->type(&s)), n = (size_t)a->count(&s);
                if (a->direction != RG_IN || !n) continue;
                s.seed = 2;
                before.seed = 1;
                RG_FREED unsigned char *was = calloc(n, width), *other = calloc(n, width);
                memcpy(was, rg_problem_make(known, &s, RG_RANDOM)->initial[k], n * width);
                memcpy(other, rg_problem_make(known, &before, RG_RANDOM)->initial[k], n * width);
                const unsigned char *now = rg_problem_make(known, &s, RG_ELEMENT(k, 0))->initial[k];
                size_t changed = 0;
                for (size_t at = 0; at < n * width; at += width) changed += memcmp(was + at, now + at, width) != 0;
                size_t exchanged = 0;
                now = rg_problem_make(known, &s, RG_EXCHANGED)->initial[k];
                for (size_t at = 0; at < n * width; at += width) exchanged += memcmp(was + at, now + at, width) != 0;
                if (exchanged != 0 && exchanged != 2)
                    fail_msg("%s, shape %d: %zu exchanged of %s", known->name, i, exchanged, a->name);
                most_exchanged = exchanged > most_exchanged ? exchanged : most_exchanged;
                if (changed > 12 || !changed != !memcmp(was, other, n * width)) // a record has at most 12
                    fail_msg("%s, shape %d: %zu of %zu numbers of %s", known->name, i, changed, n, a->name);
                rg_problem_make(known, &s, RG_TWINS);
            }
    }
}

TEST(thresholds_are_planned) {
    RG_ENDS(rg_tsv_free) rg_tsv t;
    const rg_narrow all = {0}, none = {.thresholds = RG_NO_THRESHOLDS}, deep = {.thresholds = RG_DEEP};
    char *path = rg_share_path("verify/thresholds.tsv"), name[64];
    assert_int_equal(rg_tsv_read(path, &t), RG_GOOD);
    assert_true(t.n_rows > 20);
    for (int row = 0; row < t.n_rows; row++) {
        const char *words = rg_tsv_cell(&t, row, "variants"), *when = rg_tsv_cell(&t, row, "when");
        assert_true(strcmp(when, "check") == 0 || strcmp(when, "deep") == 0 || strcmp(when, "triples") == 0);
        assert_true(*rg_tsv_cell(&t, row, "what") && *rg_tsv_cell(&t, row, "above") && *rg_tsv_cell(&t, row, "why"));
        for (int used; *words != '*' && sscanf(words, " %63s%n", name, &used) == 1; words += used) {
            RG_FREED char *pattern = rg_print("%s:%s", rg_tsv_cell(&t, row, "algo"), name);
            const rg_entry *e = rg_entry_next(NULL, pattern, "gpu");
            assert_non_null(e);
            int64_t param[RG_PARAMS_MAX];
            char why[160];
            assert_true(rg_params_parse(e->variant, rg_tsv_cell(&t, row, "params"), param, why));
            for (int k = 0; k < 3; k++) {
                const char *cell = rg_tsv_cell(&t, row, k == 0 ? "below" : k == 1 ? "at" : "above");
                rg_shape shape;
                if (!*cell) continue;
                assert_true(rg_shape_parse(e->algo, cell, &shape, why));
                if (e->algo->invalid) assert_null(e->algo->invalid(&shape));
                if (e->variant->refuse) assert_null(e->variant->refuse(&shape, param));
            }
        }
    }
    const rg_entry *e = rg_entry_next(NULL, "autocorr:gather", "gpu");
    int cheap = 0, long_ones = 0;
    rg_thresholds(e, false, count_case, &cheap);
    rg_thresholds(e, true, count_case, &long_ones);
    assert_true(cheap > 5 && long_ones > 0);
    RG_ENDS(rg_plan_free) rg_plan with, without, alone;
    rg_plan_make(&with, e, &all, 1);
    rg_plan_make(&without, e, &none, 1);
    rg_plan_make(&alone, e, &deep, 1);
    assert_int_equal(with.first, without.first + cheap);
    assert_int_equal(with.n, without.n + cheap);
    assert_int_equal(alone.n, long_ones);
    free(path);
}

static size_t endless(const rg_shape *shape, const int64_t *param) {
    (void)shape;
    (void)param;
    return (size_t)1 << 45;
}

// More scratch memory than any machine has: the verdict gives its size.
TEST(a_scratch_without_end_is_said) {
    const rg_entry *known = rg_entry_next(NULL, "autocorr:naive", "cpu");
    rg_variant v = *known->variant;
    rg_entry e = *known;
    v.scratch = endless;
    e.variant = &v;
    const rg_verify_options how = {.seed = 1};
    const rg_verdict said = rg_verify_case(&e, &(rg_shape){{7, 5, 3, 0}, 1}, (int64_t[RG_PARAMS_MAX]){0}, 1, &how);
    assert_int_equal(said.status, RG_FAIL);
    assert_non_null(strstr(said.reason, "making the buffers, 3.28e+04 GiB with its scratch: out of memory"));
    rg_verify_end();
}

// More than a GiB of arguments: one run with sampled outputs; more than the memory: skipped, with both numbers.
TEST(large_cases_are_sampled_or_skipped) {
    const rg_entry *e = rg_entry_next(NULL, "affine2d:naive", "cpu");
    rg_shape s = {{16, 16, 1 << 22, 0, 0}, 1};
    assert_true(rg_is_large(e, &s));
    s.n[2] = 1;
    assert_false(rg_is_large(e, &s));
    s = (rg_shape){{1024, 1024, 1 << 20, 0, 0}, 1}; // 4 TiB
    const rg_verify_options how = {.seed = 1};
    const rg_verdict v = rg_verify_case(e, &s, (int64_t[RG_PARAMS_MAX]){0}, 1, &how);
    assert_int_equal(v.status, RG_SKIP);
    assert_non_null(strstr(v.reason, "needs 4096"));
    assert_non_null(strstr(v.reason, "GiB are free"));
    rg_verify_end();
}
