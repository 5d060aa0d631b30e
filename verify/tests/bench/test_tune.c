// SPDX-License-Identifier: MIT
// test_tune.c: the space of parameters and the order of the search on made-up costs. The command: verify/cases/bench.tsv.
#include "../../../impl/runtime/search.h"
#include "../../../impl/runtime/table.h"
#include "../../checker/verify.h"
#include "../test.h"

static const int64_t ten[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
static const rg_param params[] = {{"a", ten, 10, 5, ""}, {"b", ten, 10, 5, ""}, {"c", ten, 10, 5, ""}};
static const char *refuse(const rg_shape *s, const int64_t *p) {
    return p[0] > p[1] ? "a must not exceed b" : p[2] == s->n[0] ? "c is taken" : NULL;
}
static const rg_variant variant = {.algo = "sum", .name = "x", .param = params, .n_params = 3, .refuse = refuse};
static const rg_shape shape = {.n = {9}};

// Smallest at (2, 7, 3).
static double bowl(const int64_t *p) { return 1 + fabs((double)p[0] - 2) + fabs((double)p[1] - 7) + fabs((double)p[2] - 3); }

TEST(test_space) {
    rg_search s;
    assert_null(rg_search_begin(&s, &variant, &shape, RG_SEARCH_EXHAUSTIVE, 0, 1));
    assert_int_equal(s.combinations, 1000);
    assert_int_equal(s.n, 55 * 9);
    assert_int_equal(s.refused, 1000 - 55 * 9);
    assert_int_equal(s.n_refusals, 2);
    assert_string_equal(s.refusal[0].reason, "c is taken"); // for a = b = 0, the first
    assert_int_equal(s.refusal[0].count, 55);
    assert_int_equal(s.refusal[1].count, 450);
    for (int i = 0; i < s.n; i++) assert_null(refuse(&shape, s.config[i]));
    rg_search_end(&s);
    const uint64_t some[] = {1 << 4 | 1 << 8, UINT64_MAX, 1 << 1};
    assert_null(rg_search_begin_among(&s, &variant, &shape, RG_SEARCH_EXHAUSTIVE, 0, 1, some));
    assert_int_equal(s.combinations, 20);
    assert_int_equal(s.n, 6 + 2); // b = 4..9 of a = 4, 8 and 9 of 8
    for (int i = 0; i < s.n; i++) assert_true((s.config[i][0] == 4 || s.config[i][0] == 8) && s.config[i][2] == 1);
    rg_search_end(&s);
    const uint64_t refused[] = {1 << 9, 1, 1};
    assert_non_null(rg_search_begin_among(&s, &variant, &shape, RG_SEARCH_EXHAUSTIVE, 0, 1, refused));
    rg_search_end(&s);
}

// Runs a search to its end on bowl(); every configuration at most once.
static void run_search(rg_search *s, rg_search_kind kind, int most, uint64_t seed) {
    assert_null(rg_search_begin(s, &variant, &shape, kind, most, seed));
    for (int i; (i = rg_search_next(s)) >= 0;) {
        assert_true(isnan(s->cost[i]));
        rg_search_tell(s, i, bowl(s->config[i]));
    }
}

TEST(test_exhaustive) {
    rg_search s;
    run_search(&s, RG_SEARCH_EXHAUSTIVE, 0, 1);
    assert_int_equal(s.tried, s.n);
    assert_true(s.cost[s.best] == 1);
    rg_search_end(&s);
    run_search(&s, RG_SEARCH_RANDOM, 0, 1);
    assert_int_equal(s.tried, s.n);
    rg_search_end(&s);
}

// In a tenth of the space a local search reaches the bottom of a bowl, which a random one rarely does.
TEST(test_local) {
    int local = 0, random = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rg_search s;
        run_search(&s, RG_SEARCH_LOCAL, 100, seed);
        assert_int_equal(s.tried, 100);
        local += s.cost[s.best] == 1;
        rg_search_end(&s);
        run_search(&s, RG_SEARCH_RANDOM, 100, seed);
        random += s.cost[s.best] == 1;
        rg_search_end(&s);
    }
    assert_true(local >= 16);
    assert_true(random <= 10);
}

TEST(test_failures) {
    rg_search s;
    assert_null(rg_search_begin(&s, &variant, &shape, RG_SEARCH_LOCAL, 10, 1));
    int first = rg_search_next(&s);
    const int64_t standard[RG_PARAMS_MAX] = {5, 5, 5};
    assert_int_equal(first, rg_search_find(&s, standard)); // never worse than without a search
    for (int i = first; i >= 0; i = rg_search_next(&s)) rg_search_tell(&s, i, INFINITY);
    assert_int_equal(s.tried, 10);
    assert_int_equal(s.best, -1);
    const int64_t no[] = {9, 0, 0};
    assert_int_equal(rg_search_find(&s, no), -1);
    rg_search_end(&s);
}

// ---- one configuration against another ---------------------------------------------------------------------------------------

enum { ELEMENTS = 200000 };
static rg_type real(const rg_shape *s) { return (void)s, RG_F32; }
static int64_t elements(const rg_shape *s) { return (void)s, ELEMENTS; }
static rg_tolerance thousandth(const rg_shape *s) { return (void)s, (rg_tolerance){RG_BOUND, 1e-3, 0, "made up"}; }
static void where(const rg_shape *s, int which, int64_t element, char at[64]) {
    (void)s, (void)which;
    snprintf(at, 64, "(%lld)", (long long)element);
}

TEST(test_alike) {
    static float found[ELEMENTS], right[ELEMENTS];
    const rg_arg args[] = {{"sum", RG_OUT, real, elements}};
    const rg_algo algo = {.name = "sum", .dim = {"n"}, .arg = args, .n_args = 1, .tolerance = thousandth, .where = where};
    const rg_entry entry = {.algo = &algo, .variant = &variant};
    const int64_t param[RG_PARAMS_MAX] = {0};
    void *const a[] = {found}, *const b[] = {right};
    for (int i = 0; i < ELEMENTS; i++) found[i] = right[i] = (float)(i % 100);
    assert_int_equal(rg_compare_alike(&entry, &shape, param, a, b).status, RG_PASS);
    found[77] += 1.5e-3f; // each may be off by a thousandth
    rg_verdict v = rg_compare_alike(&entry, &shape, param, a, b);
    assert_int_equal(v.status, RG_PASS);
    assert_true(v.error > 1.4e-3 && v.error < 1.6e-3);
    found[199999] = NAN;
    found[150001] += 2.5e-3f;
    v = rg_compare_alike(&entry, &shape, param, a, b);
    assert_int_equal(v.status, RG_FAIL);
    assert_non_null(strstr(v.reason, "(150001)")); // the first one, whichever thread finds it
    found[150001] = right[150001];
    assert_int_equal(rg_compare_alike(&entry, &shape, param, a, b).status, RG_FAIL);
}
