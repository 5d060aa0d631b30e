// SPDX-License-Identifier: MIT
// test_compare.c: when an element passes, the words for a fault, and that the reference agrees with sums done by hand.
#include "../../../reference/reference.h"
#include "../../checker/checker.h"
#include "../../../impl/base/core.h"
#include "../test.h"

static bool passes_f64(double found, double expected, rg_tolerance t) {
    rg_tally tally = {0};
    return rg_element_passes(RG_F64, &found, &expected, 0, &t, &tally);
}

static bool passes_i64(int64_t found, int64_t expected, rg_tolerance t) {
    rg_tally tally = {0};
    return rg_element_passes(RG_I64, &found, &expected, 0, &t, &tally);
}

static const rg_tolerance exact = {RG_EXACT, 0, 0, ""}, tenth = {RG_BOUND, 0.125, 0, ""}, relative = {RG_BOUND, 0, 0.125, ""};

TEST(nan_never_passes) {
    const rg_tolerance anything = {RG_BOUND, INFINITY, INFINITY, ""};
    assert_false(passes_f64(NAN, 1, tenth));
    assert_false(passes_f64(NAN, 1, anything));
    assert_false(passes_f64(1, NAN, anything));
    assert_false(passes_f64(NAN, NAN, anything));
    assert_false(passes_f64(NAN, NAN, exact));
    assert_false(passes_f64(1e300, INFINITY, relative));
    assert_false(passes_f64(-INFINITY, INFINITY, relative));
    assert_true(passes_f64(INFINITY, INFINITY, tenth));
    const rg_tolerance no_bound = {RG_BOUND, NAN, 0, ""};
    assert_false(passes_f64(1, 1, no_bound));
}

TEST(bounds_are_inclusive) {
    assert_true(passes_f64(1.125, 1, tenth));
    assert_false(passes_f64(nextafter(1.125, 2), 1, tenth));
    assert_true(passes_f64(-9, -8, relative));
    assert_false(passes_f64(-9.5, -8, relative));
    assert_false(passes_f64(nextafter(1, 2), 1, exact));
    assert_false(passes_f64(-0.0, 0.0, exact));
}

TEST(integers_stay_integers) {
    const int64_t big = INT64_C(1) << 53;
    const rg_tolerance none = {RG_BOUND, 0, 0, ""}, one = {RG_BOUND, 1, 0, ""};
    assert_false(passes_i64(big + 1, big, exact));
    assert_false(passes_i64(big + 1, big, none));
    assert_true(passes_i64(big + 1, big, one));
    assert_false(passes_i64(big + 2, big, one));
    assert_false(passes_i64(INT64_MIN, INT64_MAX, one));
    assert_false(passes_i64(-1, INT64_MAX, one));
    assert_true(passes_i64(INT64_MAX, INT64_MAX, exact));
}

TEST(the_largest_error_is_kept) {
    const double found[] = {1, 2.5, NAN, 4, 4.5}, expected[] = {1, 2, 3, 4, 5};
    rg_tally tally = {0};
    int64_t wrong;
    assert_int_equal(rg_first_fault(RG_F64, found, expected, 5, &tenth, &tally, &wrong), 1);
    assert_int_equal(wrong, 3);
    assert_true(isinf(tally.error));
    tally = (rg_tally){0};
    assert_int_equal(rg_first_fault(RG_F64, found, expected, 2, &relative, &tally, &wrong), 1);
    assert_true(tally.error == 0.5 && tally.tol == 0.25);
    assert_int_equal(rg_first_fault(RG_F64, expected, expected, 5, &exact, &tally, &wrong), -1);
    assert_int_equal(wrong, 0);
    // 100.2 passes with a larger error than 1.15, which fails: the failure is reported.
    const double near[] = {100.2, 1.15}, right[] = {100, 1};
    const rg_tolerance both = {RG_BOUND, 0.1, 0.002, "both"};
    tally = (rg_tally){0};
    assert_int_equal(rg_first_fault(RG_F64, near, right, 2, &both, &tally, &wrong), 1);
    assert_true(tally.error < 0.2 && tally.error > tally.tol);
}

TEST(faults_are_described) {
    const rg_algo *algo = rg_algo_find("autocorr");
    const rg_shape shape = {{4, 3, 1, 0}, 1};
    int64_t expected[9] = {10, 11, 12, 13, 14, 15, 16, 17, 18}, found[9], previous[9];
    char text[240];
    memcpy(found, expected, sizeof found);
    memcpy(previous, expected, sizeof previous);
    found[5] = -1;
    rg_fault_print(algo, &shape, 2, 5, found, expected, NULL, &exact, text, sizeof text);
    assert_non_null(strstr(text, "sums(X0=1,Y0=0) was never written, expected 15"));
    found[5] = 12;
    rg_fault_print(algo, &shape, 2, 5, found, expected, NULL, &exact, text, sizeof text);
    assert_non_null(strstr(text, "is 12, expected 15; that is right for (X0=1,Y0=-1)"));
    previous[5] = 12;
    rg_fault_print(algo, &shape, 2, 5, found, expected, previous, &exact, text, sizeof text);
    assert_non_null(strstr(text, "the answer to the inputs before these"));
    // += on an output that was not cleared: integers are too small by 1, reals are still NaN.
    for (int i = 0; i < 9; i++) found[i] = expected[i] - 1;
    rg_fault_print(algo, &shape, 2, 0, found, expected, NULL, &exact, text, sizeof text);
    assert_non_null(strstr(text, "is 9, expected 10; all are one too small, as if added to before they were set"));
    found[8] = 18;
    rg_fault_print(algo, &shape, 2, 0, found, expected, NULL, &exact, text, sizeof text);
    assert_null(strstr(text, "too small"));
    const rg_algo *real = rg_algo_find("affine2d");
    int out = 0;
    while (real->arg[out].direction != RG_OUT) out++;
    const rg_shape *first = &real->check_shape[0];
    const size_t n = (size_t)real->arg[out].count(first);
    assert_int_equal(real->arg[out].type(first), RG_F32);
    RG_FREED float *right = rg_alloc(n * sizeof *right), *sum = rg_alloc(n * sizeof *sum);
    memset(sum, RG_POISON, n * sizeof *sum);
    for (size_t i = 0; i < n; i++) sum[i] += right[i] = 1;
    rg_fault_print(real, first, out, 0, sum, right, NULL, &exact, text, sizeof text);
    assert_non_null(strstr(text, "was never written, or added to before it was set, expected 1"));
    // With a bound, the error is reported.
    sum[0] = right[0] + 0.5f;
    rg_fault_print(real, first, out, 0, sum, right, NULL, &tenth, text, sizeof text);
    assert_non_null(strstr(text, "is 1.5, expected 1, off by 0.5 where 0.125 is allowed"));
}

// a = 1 2 3 / 4 5 6, b = 1 0 0 / 0 0 2: S(X0, Y0) by hand, X0 to the right and Y0 down.
TEST(the_reference_is_eq_1) {
    uint8_t a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 0, 0, 0, 2};
    uint16_t bright[] = {65535, 65535, 65535, 65535, 65535, 65535};
    int64_t sums[25], some[2];
    const int64_t chosen[] = {8, 1};
    void *arg[] = {a, b, sums};
    rg_ref_autocorr(&(rg_shape){{3, 2, 1, 1}, 1}, arg);
    // b(0,0) = 1 meets a(X0, Y0), b(2,1) = 2 meets a(2 + X0, 1 + Y0).
    const int64_t cross[] = {2 * 2, 2 * 3, 0, 2 * 5, 1 + 2 * 6, 2, 0, 4, 5};
    assert_memory_equal(sums, cross, sizeof cross);
    rg_ref_autocorr_at(&(rg_shape){{3, 2, 1, 1}, 1}, arg, 2, chosen, 2, some);
    assert_int_equal(some[0], 5);
    assert_int_equal(some[1], 6);
    rg_ref_autocorr(&(rg_shape){{3, 2, 2, 0}, 1}, arg);
    assert_int_equal(sums[12], 1 + 4 + 9 + 16 + 25 + 36);
    assert_int_equal(sums[13], 2 * 1 + 3 * 2 + 5 * 4 + 6 * 5);
    assert_int_equal(sums[2 * 5 + 4], 3 * 1 + 6 * 4);
    assert_int_equal(sums[3 * 5 + 1], 4 * 2 + 5 * 3);
    assert_int_equal(sums[0], 0); // Y0 = -2: no row has a partner
    arg[0] = bright;
    rg_ref_autocorr(&(rg_shape){{3, 2, 0, 2}, 1}, arg);
    assert_true(sums[0] == INT64_C(6) * 65535 * 65535);
}
