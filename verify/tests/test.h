// SPDX-License-Identifier: MIT
// test.h: cmocka with the headers that it needs, and tests that add themselves to their program's list.
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
static __attribute__((unused)) struct CMUnitTest all_tests[TESTS_MAX]; // cmocka skips entries without a name
static __attribute__((unused)) int n_tests;

// A test is TEST(what_holds) { ... }. Tests run in the order of their lines, by which constructors are sorted.
#define TEST(name) TEST_BETWEEN(name, NULL, NULL)

// The same with cmocka's functions before and after the test.
#define TEST_BETWEEN(name, set_up, tear_down)                                                                                  \
    static void name(void **state);                                                                                            \
    __attribute__((constructor(1000 + __LINE__))) static void enter_##name(void) {                                             \
        const struct CMUnitTest test = cmocka_unit_test_setup_teardown(name, set_up, tear_down);                               \
        if (n_tests == TESTS_MAX) abort();                                                                                     \
        all_tests[n_tests++] = test;                                                                                           \
    }                                                                                                                          \
    static void name(__attribute__((unused)) void **state)

// A function that runs before or after a program's tests, or one of them; 0: success.
#define FIXTURE(name) static __attribute__((unused)) int name(__attribute__((unused)) void **state)

// main() runs all tests, with the fixtures of TESTS before and after them; either may be NULL. A program with another main()
// defines OWN_MAIN before it includes this.
static __attribute__((unused)) CMFixtureFunction before_all, after_all;
#define RUN_TESTS(set_up, tear_down) cmocka_run_group_tests(all_tests, set_up, tear_down)
#define TESTS(set_up, tear_down)                                                                                               \
    __attribute__((constructor(1000))) static void enter_fixtures(void) { before_all = set_up, after_all = tear_down; }
#ifndef OWN_MAIN
int main(void) { return RUN_TESTS(before_all, after_all); }
#endif

// Text by printf's rules, valid until 16 later calls.
__attribute__((unused, format(printf, 1, 2))) static const char *fmt(const char *format, ...) {
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
