// SPDX-License-Identifier: MIT
// test_gridding_kernel.c: the Kaiser-Bessel kernel, its transform and the sums of the error bound, against integrals and sums
// in double precision.
#include "../../../impl/gridding/bound.h"
#include "../../../impl/gridding/squares.h"
#include "../test.h"

// I0 by its integral, (1/M_PI) times that of exp(x cos t) over 0 .. M_PI: the trapezoidal rule converges exponentially.
static double i0(double x) {
    double sum = (exp(x) + exp(-x)) / 2;
    for (int j = 1; j < 64; j++) sum += exp(x * cos(M_PI * j / 64));
    return sum / 64;
}

static double w(double d, double b) { return d > b ? 0 : i0(15 * sqrt(1 - d * d / (b * b))) / i0(15); }

TEST(i0_is_the_integral) {
    assert_true(fabs(gr_i0(0) - 1) < 1e-15);
    for (double x = 0.1; x <= 15; x += 0.1) assert_true(fabs(gr_i0(x) / i0(x) - 1) < 1e-13);
    assert_true(fabs(GR_I0_ALPHA / i0(15) - 1) < 1e-13);
    assert_true(fabs(gr_kernel_exact(0) - 1) < 1e-14 && gr_kernel_exact(1.0000001) == 0);
    assert_true(fabs(gr_kernel_exact(1) * i0(15) - 1) < 1e-13);
}

TEST(polynomial_is_within_its_error) {
    double most = 0, rational = 0;
    for (int i = 0; i <= 200000; i++) {
        const float q = (float)i / 200000;
        most = fmax(most, fabs(gr_kernel(q) - gr_kernel_exact(1 - (double)q)));
        rational = fmax(rational, fabs(gr_rational(q) - gr_kernel_exact(1 - (double)q)));
    }
    print_message("largest error of gr_rational %.2e, allowed %.2e\n", rational, GR_RATIONAL_ERROR);
    assert_true(rational <= GR_RATIONAL_ERROR && rational > 0.9 * GR_RATIONAL_ERROR);
    print_message("largest error of gr_kernel %.2e, allowed %.2e\n", most, GR_KERNEL_ERROR);
    assert_true(most <= GR_KERNEL_ERROR);
    assert_true(most > 0.3 * GR_KERNEL_ERROR); // the stated error is not too large
    assert_true(gr_kernel(0) > 0);
}

static float squares(float t) { return fmaxf(gr_squares(t), 0); }

// The rounding of t is a part of the bound of owned.cu, as that of q is of bound.h.
TEST(squares_are_within_their_error) {
    const double A = GR_SQUARES_A, B = GR_SQUARES_B;
    assert_true(fabs(GR_SQUARES_ROOT - sqrt(A)) < 0x1p-24);
    double most = 0;
    for (int i = 0; i <= 200000; i++) {
        const float t = GR_SQUARES_B + GR_SQUARES_A * ((float)i / 200000), beyond = GR_SQUARES_B * ((float)i / 200000);
        most = fmax(most, fabs(squares(t) - gr_kernel_exact(1 - fmax((t - B) / A, 0))));
        assert_true(squares(beyond) == 0);
    }
    print_message("largest error of gr_squares %.2e, allowed %.2e\n", most, GR_SQUARES_ERROR);
    assert_true(most <= GR_SQUARES_ERROR && most > 0.9 * GR_SQUARES_ERROR);
}

// The nearest element is at most half a step away; a truncated index is off by nearly a step.
TEST(table_is_within_half_a_step) {
    static float table[GR_TABLE];
    gr_table_fill(table);
    assert_true(table[0] == 1 && fabs(table[GR_TABLE - 1] * i0(15) - 1) < 1e-6);
    double most = 0, truncated = 0;
    for (int i = 0; i <= 100000; i++) {
        const float u = (float)i / 100000;
        const double exact = gr_kernel_exact(u), slope = 7.25 * exact + 0.2;
        most = fmax(most, fabs(table[gr_table_index(u)] - exact) / slope);
        truncated = fmax(truncated, fabs(table[(int)(u * (GR_TABLE - 1.0f))] - exact) / slope);
    }
    assert_true(most <= GR_TABLE_ERROR && truncated > 1.5 * GR_TABLE_ERROR);
    assert_int_equal(gr_table_index(0), 0);
    assert_int_equal(gr_table_index(1), GR_TABLE - 1);
}

// integral of w(|v|) cos(2 M_PI R.v) d3v = integral of 4 M_PI d^2 w(d) sin(2 M_PI R d)/(2 M_PI R d) dd, by Simpson's rule.
static double integral(double b, double R) {
    enum { STEPS = 1000 };
    double sum = 0;
    for (int j = 0; j <= STEPS; j++) {
        const double d = b * j / STEPS, x = 2 * M_PI * R * d;
        sum += 4 * M_PI * d * d * w(d, b) * (x == 0 ? 1 : sin(x) / x) * (j == 0 || j == STEPS ? 1 : j % 2 ? 4 : 2);
    }
    return sum * b / STEPS / 3;
}

TEST(transform_is_the_integral) {
    const double radii[] = {0.5, 1.8, 1.9, 3.0};
    for (int i = 0; i < RG_COUNT(radii); i++) {
        const double b = radii[i], most = gr_transform(b, 0), meet = 15 / (2 * M_PI * b);
        for (double R = 0; R < 2; R += 0.125) assert_true(fabs(gr_transform(b, R) - integral(b, R)) < 1e-8 * most);
        for (int step = -20; step <= 20; step++) { // where the closed forms and the series meet
            const double R = meet * (1 + 1e-7 * step);
            assert_true(fabs(gr_transform(b, R) - integral(b, R)) < 1e-8 * most);
        }
    }
}

// The contribution of one image to a voxel, over positions of the voxel in the unit square of pixels and heights above the
// image.
TEST(sums_of_a_voxel_are_below_the_bounds) {
    for (int tenths = 1; tenths <= GR_RADIUS_MAX; tenths++) {
        const double b = tenths / 10.0;
        double pairs = 0, weight = 0, slope = 0;
        for (int place = 0; place < 11 * 11 * 3; place++) {
            const double px = place % 11 / 20.0, py = place / 11 % 11 / 20.0, height = b * (place / 121) / 3;
            double n = 0, sum = 0, steep = 0;
            for (int y = -4; y <= 4; y++)
                for (int x = -4; x <= 4; x++) {
                    const double d = sqrt((x - px) * (x - px) + (y - py) * (y - py) + height * height), step = 1e-5 * b;
                    if (d > b) continue;
                    n++;
                    sum += w(d, b);
                    steep += d + step > b || d < step ? 0 : fabs(w(d + step, b) - w(d - step, b)) / (2 * step);
                }
            pairs = fmax(pairs, n);
            weight = fmax(weight, sum);
            slope = fmax(slope, steep);
        }
        assert_true(pairs <= gr_pairs_most(b));
        assert_true(weight <= gr_weight_most(b));
        assert_true(slope <= gr_slope_most(b));
        if (b >= 1) // no bound is too large
            assert_true(pairs > 0.4 * gr_pairs_most(b) && weight > 0.4 * gr_weight_most(b) && slope > 0.2 * gr_slope_most(b));
    }
}

// The jump at the edge is the one in bound.h, and nothing is left out there: d = b exactly is inside.
TEST(edge_belongs_to_the_kernel) {
    assert_true(fabs(gr_kernel(0) - 1 / i0(15)) <= GR_KERNEL_ERROR);
    assert_true(gr_first(0.5f, 1.5f, -9) == -1 && gr_last(0.5f, 1.5f, 9) == 2);
    assert_true(gr_first(-7.2f, 1.9f, -8) == -8 && gr_last(7.2f, 1.9f, 8) == 8);
}
