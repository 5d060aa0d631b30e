// SPDX-License-Identifier: MIT
// test_align_real.c: the job align against images of other laboratories whose shifts another program found, where they are at
// hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test_align.h"

#define TILT2D "../shared/data/tilt2d/"
#define T1 TILT2D "T1_real_hiv_tilts_4/tilt_stack.mrc"
#define T3 TILT2D "T3_real_xray_91/projections_"
#define T4 TILT2D "T4_iss_unstabilised_series/p5e5s21_20x_raw.mrc"
#define T5 TILT2D "T5_leginon_5_shifted/simimages_130000_bin2.mrc"
#define T6 TILT2D "T6_leginon_pair_int16/test"
#define T8 TILT2D "T8_piv_2320x1725_pair/piv_test17_07_08.mrc"

// Shifts (y, x) of image 2, 3, .. found by another program; `first`: against the first image instead of the one before.
static void assert_shifts(const char *words, int n, double (*shift)[2], bool first, double within)
{
    rg_tsv t;
    assert_int_equal(align(words), RG_GOOD);
    assert_int_equal(rg_tsv_read(in_dir(first ? "t.cumulative.tsv" : "t.tsv"), &t), RG_GOOD);
    for (int i = 0; i < n; i++) {
        rg_similarity s = row_of(&t, i + 1);
        print_message("%.*s row %d: shift (%.2f, %.2f), known (%.2f, %.2f)\n", 40, strrchr(words, '/') + 1, i + 2, s.shift_y_px,
                      s.shift_x_px, shift[i][0], shift[i][1]);
        assert_near(s.shift_y_px, shift[i][0], within);
        assert_near(s.shift_x_px, shift[i][1], within);
    }
    rg_tsv_free(&t);
}

#define SHIFTS_ONLY " --rotation 0 --scale 1:1"

static void test_t1(void **state)
{
    (void)state;
    SKIP_WITHOUT(T1);
    assert_shifts(T1 SHIFTS_ONLY " --band-pass 3,12", 3, (double[][2]){{-22.1, 0}, {0, -0.1}, {23.8, 0.1}}, false, 0.7);
}

static void test_t4(void **state)
{
    (void)state;
    SKIP_WITHOUT(T4);
    assert_shifts(T4 SHIFTS_ONLY, 6, (double[][2]){{-3.9, -10.2}, {-14.9, -7.2}, {-21.0, -8.6}, {-32.7, -11.4}, {-17.9, -16.8},
                                                   {-15.5, -62.9}}, true, 1.5);
}

static void test_t5(void **state)
{
    (void)state;
    SKIP_WITHOUT(T5);
    static double known[][2] = {{-17.6, 11.5}, {-8.3, -18.1}, {18.6, -10.7}, {9.5, 19.0}};
    assert_shifts(T5 SHIFTS_ONLY " --shift 60", 4, known, true, 1.2);
}

static void test_t6(void **state)
{
    (void)state;
    SKIP_WITHOUT(T6 "1.mrc");
    assert_shifts(T6 "1.mrc " T6 "2.mrc --rotation 2 --scale 0.98:1.02", 1, (double[][2]){{-25.95, -20.9}}, false, 0.1);
}

static void test_t8(void **state)
{
    (void)state;
    SKIP_WITHOUT(T8);
    assert_shifts(T8 " --shift 40" SHIFTS_ONLY, 1, (double[][2]){{0, 0}}, false, 0.15);
}

// Neighbours of 91 X-ray projections: about a third of a pixel apart along x, nothing along y. The original has NaN.
static void test_t3(void **state)
{
    (void)state;
    SKIP_WITHOUT(T3 "f32.mrc");
    rg_tsv t;
    double most_y = 0, x = 0;
    assert_int_equal(align(T3 "f32.mrc --shift 8 --no-fine" SHIFTS_ONLY), RG_GOOD);
    assert_int_equal(rg_tsv_read(in_dir("t.tsv"), &t), RG_GOOD);
    assert_int_equal(t.n_rows, 91);
    for (int i = 1; i < 91; i++) {
        rg_similarity s = row_of(&t, i);
        most_y = fmax(most_y, fabs(s.shift_y_px));
        x += fabs(s.shift_x_px) / 90;
    }
    print_message("T3: mean |x| %.3f, largest |y| %.3f\n", x, most_y);
    assert_true(most_y < 0.2 && x > 0.1 && x < 0.6);
    rg_tsv_free(&t);
    assert_refused(align(T3 "orig_float16_nan.mrc"), "image 1: expected finite values, found NaN at pixel (0, 0)");
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(test_t1),
        cmocka_unit_test(test_t3),
        cmocka_unit_test(test_t4),
        cmocka_unit_test(test_t5),
        cmocka_unit_test(test_t6),
        cmocka_unit_test(test_t8),
    };
    return cmocka_run_group_tests(test, test_dir_make, test_dir_remove);
}
