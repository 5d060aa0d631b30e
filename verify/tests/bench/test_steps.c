// SPDX-License-Identifier: MIT
// test_steps.c: simulated series of known truth: how often steps are found where none is, and planted ones where they are.
#include "../../../bench/history/steps.h"
#include "../../../impl/suite.h"
#include "../test.h"

#include <math.h>

enum { RUNS = 30, SERIES = 1000 };

// Normal numbers from a counter (Box and Muller 1958).
static uint64_t draw;
static double uniform(void) { return ((double)(rg_bits(29, draw++) >> 11) + 0.5) / 0x1p53; }
static double normal(void) { return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()); }

// 1 % of noise; `odd` of the runs on a busy day, up to 20 % slower.
static void simulate(double odd, double *value)
{
    for (int i = 0; i < RUNS; i++) value[i] = log(1e6) + 0.01 * normal() + (uniform() < odd ? 0.2 * uniform() : 0);
}

TEST(series_without_a_step_have_none)
{
    static const double odd[] = {0, 0.1, 0.5};
    for (int k = 0; k < RG_COUNT(odd); k++) {
        int alarms = 0;
        for (int i = 0; i < SERIES; i++) {
            double value[RUNS], level[RUNS];
            rg_step step[RUNS];
            simulate(odd[k], value);
            alarms += rg_steps_find(value, RUNS, (uint64_t)i, step, level) > 0;
        }
        // The stated share, and three standard deviations of its count.
        assert_true(alarms <= RG_STEP_ERROR * SERIES + 3 * sqrt(RG_STEP_ERROR * SERIES));
    }
}

// 5 % from a random run on, with 1 % of noise: just that step, at that very run, and its size within the interval.
TEST(a_planted_step_is_found_where_it_is)
{
    int found = 0, covered = 0;
    for (int i = 0; i < SERIES; i++) {
        double value[RUNS], level[RUNS];
        rg_step step[RUNS];
        const int at = 4 + (int)(uniform() * (RUNS - 8));
        simulate(0, value);
        for (int k = at; k < RUNS; k++) value[k] += log(1.05);
        const int n = rg_steps_find(value, RUNS, (uint64_t)i, step, level);
        found += n == 1 && step[0].at == at;
        covered += n >= 1 && step[0].low <= 1.05 && step[0].high >= 1.05;
    }
    assert_true(found >= 0.95 * SERIES);
    assert_true(covered >= 0.93 * SERIES);
}

// A regression of five runs that was mended: two steps.
TEST(a_change_that_was_undone_is_two_steps)
{
    int found = 0;
    for (int i = 0; i < SERIES / 10; i++) {
        double value[RUNS], level[RUNS];
        rg_step step[RUNS];
        simulate(0, value);
        for (int k = 12; k < 17; k++) value[k] += log(1.05);
        found += rg_steps_find(value, RUNS, (uint64_t)i, step, level) == 2 && step[0].at == 12 && step[1].at == 17;
    }
    assert_true(found >= 0.9 * SERIES / 10);
}

TEST(few_runs_and_equal_ones_have_no_step)
{
    double value[12] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, level[12], same[12] = {0};
    rg_step step[12];
    assert_int_equal(rg_steps_find(value + 4, 5, 1, step, level), 0);
    assert_int_equal(rg_steps_find(same, 12, 1, step, level), 0);
    assert_int_equal(rg_steps_find(value, 12, 1, step, level), 1); // without any scatter
    assert_int_equal(step[0].at, 6);
    assert_true(fabs(step[0].ratio - exp(1)) < 1e-9 && step[0].low <= step[0].ratio && step[0].chance <= RG_STEP_ERROR);
    assert_true(level[5] == 0 && level[6] == 1);
    assert_int_equal(rg_steps_find(value, 0, 1, step, level), 0);
}

TESTS(NULL, NULL)
