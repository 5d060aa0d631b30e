// SPDX-License-Identifier: MIT
// test_nlopt.h: for test programs of what needs NLopt: in a build without it their tests are one that is skipped.
#ifndef RG_TEST_NLOPT_H
#define RG_TEST_NLOPT_H

#include "../test.h"

static inline void test_no_nlopt(void **state)
{
    (void)state;
    print_message("no NLopt in this build\n");
    skip();
}
static const struct CMUnitTest without_nlopt[] = {cmocka_unit_test(test_no_nlopt)};

#define TESTS_WITH_NLOPT(set_up, tear_down)                                                                                    \
    int main(void) { return HAVE_NLOPT ? RUN_TESTS(set_up, tear_down) : cmocka_run_group_tests(without_nlopt, NULL, NULL); }

#endif
