// SPDX-License-Identifier: MIT
// test.h: cmocka with what its header needs, and tests that enter themselves into their program's list.
#pragma once

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#include <cmocka.h>
}
#else
#include <cmocka.h>
#endif

enum { TESTS_MAX = 64 };
static __attribute__((unused)) struct CMUnitTest all_tests[TESTS_MAX]; // cmocka passes over those without a name
static __attribute__((unused)) int n_tests;

// A test is TEST(what_holds) { ... }. Those of a program run in the order of their lines, by which constructors are sorted.
#define TEST(name) TEST_BETWEEN(name, NULL, NULL)

// The same with cmocka's functions before and after it.
#define TEST_BETWEEN(name, set_up, tear_down)                                                                                  \
    static void name(void **state);                                                                                            \
    __attribute__((constructor(1000 + __LINE__))) static void enter_##name(void)                                               \
    {                                                                                                                          \
        const struct CMUnitTest test = cmocka_unit_test_setup_teardown(name, set_up, tear_down);                               \
        if (n_tests == TESTS_MAX) abort();                                                                                     \
        all_tests[n_tests++] = test;                                                                                           \
    }                                                                                                                          \
    static void name(__attribute__((unused)) void **state)

// A function before or after the tests of a program, or one of them; 0 when it could do what they need.
#define FIXTURE(name) static __attribute__((unused)) int name(__attribute__((unused)) void **state)

// main() runs them all, after one fixture and before another where TESTS names them, either of which may be NULL. A program with a
// main() of its own defines OWN_MAIN before it includes this.
static __attribute__((unused)) CMFixtureFunction before_all, after_all;
#define RUN_TESTS(set_up, tear_down) cmocka_run_group_tests(all_tests, set_up, tear_down)
#define TESTS(set_up, tear_down)                                                                                               \
    __attribute__((constructor(1000))) static void enter_fixtures(void) { before_all = set_up, after_all = tear_down; }
#ifndef OWN_MAIN
int main(void) { return RUN_TESTS(before_all, after_all); }
#endif

// Text by printf's rules. It lasts until sixteen more were made.
__attribute__((unused, format(printf, 1, 2))) static const char *fmt(const char *format, ...)
{
    static char *made[16];
    static int turn;
    va_list list;
    turn = (turn + 1) % 16;
    free(made[turn]);
    va_start(list, format);
    if (vasprintf(&made[turn], format, list) < 0) abort();
    va_end(list);
    return made[turn];
}
