// SPDX-License-Identifier: MIT
// test_refine_lockstep.c: minimisations in lock step: right, independent of each other, evaluated together, ended by an error.
#define OWN_MAIN
#include "../../../impl/jobs/refine/lockstep.h"
#include "../../../impl/suite.h"
#include "../test.h"

enum { N = 5, MANY = 40 };

typedef struct bowls {
    int64_t first, calls, asked, fail_at;
} bowls;

// The minimum of problem i.
static double lowest(int64_t i, int d) { return 0.3 * sin(1.7 * (double)i + d); }

static int evaluate(void *context, int64_t problems, const double *x, const bool *asked, double *value) {
    bowls *b = context;
    if (b->fail_at && ++b->calls == b->fail_at) return RG_E_STATE;
    for (int64_t i = 0; i < problems; i++) {
        double v[N], sum = 0;
        b->asked += asked[i];
        for (int d = 0; d < N; d++) v[d] = x[i * N + d] - lowest(b->first + i, d);
        for (int d = 0; d < N; d++) // axes of 1 to 25, rotated against the variables
            sum += (1 + 6 * d) * pow(v[d] + 0.4 * v[(d + 1) % N], 2);
        value[i] = asked[i] ? sum : NAN;
    }
    return RG_OK;
}

static const fr_minimiser standard = {.optimiser = "praxis",
    .dimensions = N,
    .unit = {0.1, 0.1, 0.1, 0.02, 0.02},
    .step = 2,
    .tolerance = 1e-3,
    .most_evaluations = 2000,
    .seed = 1};

TEST(test_finds_the_lowest) {
    static const char *const name[] = {"praxis", "bobyqa"};
    for (int o = 0; o < RG_COUNT(name); o++) {
        double x[MANY * N] = {0}, value[MANY];
        int64_t evaluations[MANY], steps, most = 0, sum = 0;
        bowls b = {0};
        fr_minimiser how = standard;
        how.optimiser = name[o];
        assert_null(fr_optimiser_unknown(name[o]));
        assert_int_equal(fr_minimise(&how, MANY, x, value, evaluations, &steps, evaluate, &b), RG_OK);
        for (int i = 0; i < MANY; i++) {
            for (int d = 0; d < N; d++) assert_true(fabs(x[i * N + d] - lowest(i, d)) < 2e-3);
            assert_true(value[i] < 1e-4);
            most = evaluations[i] > most ? evaluations[i] : most;
            sum += evaluations[i];
        }
        assert_int_equal(steps, most); // together: the slowest decides
        assert_int_equal(b.asked, sum);
        assert_true(most < 500);
    }
}

TEST(test_neighbours_do_not_matter) {
    double x[MANY * N] = {0}, value[MANY], alone[N] = {0}, alone_value;
    int64_t evaluations[MANY], alone_evaluations, steps;
    bowls b = {0}, c = {.first = 17};
    assert_int_equal(fr_minimise(&standard, MANY, x, value, evaluations, &steps, evaluate, &b), RG_OK);
    assert_int_equal(fr_minimise(&standard, 1, alone, &alone_value, &alone_evaluations, &steps, evaluate, &c), RG_OK);
    assert_memory_equal(alone, x + 17 * N, sizeof alone);
    assert_true(alone_value == value[17] && alone_evaluations == evaluations[17]);
}

TEST(test_limits) {
    double x[MANY * N] = {0}, value[MANY];
    int64_t evaluations[MANY], steps;
    bowls b = {.fail_at = 12}, c = {0};
    assert_int_equal(fr_minimise(&standard, MANY, x, value, evaluations, &steps, evaluate, &b), RG_E_STATE);
    assert_int_equal(steps, 12);
    fr_minimiser how = standard;
    how.most_evaluations = 9;
    assert_int_equal(fr_minimise(&how, MANY, x, value, evaluations, &steps, evaluate, &c), RG_OK);
    assert_true(steps >= 9 && steps <= 12); // NLopt checks between the evaluations of a line
    how.optimiser = "guess";
    assert_int_equal(fr_minimise(&how, MANY, x, value, evaluations, &steps, evaluate, &c), RG_E_LIBRARY);
    assert_non_null(fr_optimiser_unknown("guess"));
}

static void no_nlopt(void **state) {
    (void)state;
    print_message("no NLopt in this build\n");
    skip();
}

int main(void) {
    const struct CMUnitTest without[] = {cmocka_unit_test(no_nlopt)};
    return HAVE_NLOPT ? RUN_TESTS(NULL, NULL) : cmocka_run_group_tests(without, NULL, NULL);
}
