// SPDX-License-Identifier: MIT
// test_nlopt.h: for test programs of what needs NLopt: in a build without it their tests are one that is skipped.
#ifndef RG_TEST_NLOPT_H
#define RG_TEST_NLOPT_H

static inline void test_no_nlopt(void **state)
{
    (void)state;
    print_message("no NLopt in this build\n");
    skip();
}
static const struct CMUnitTest without_nlopt[] = {cmocka_unit_test(test_no_nlopt)};

#define run_group_with_nlopt(tests, set_up, tear_down)             \
    (HAVE_NLOPT ? cmocka_run_group_tests(tests, set_up, tear_down) \
                : cmocka_run_group_tests(without_nlopt, NULL, NULL))

#endif
