// SPDX-License-Identifier: MIT
// test_align_real.c: the job align against images of other laboratories whose shifts another program found, where they are at
// hand.
#include "../../../data/formats/mrc.h"
#include "../test.h"
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

TEST(test_t1)
{
    SKIP_WITHOUT(T1);
    assert_shifts(T1 SHIFTS_ONLY " --band-pass 3,12", 3, (double[][2]){{-22.1, 0}, {0, -0.1}, {23.8, 0.1}}, false, 0.7);
}

TEST(test_t4)
{
    SKIP_WITHOUT(T4);
    assert_shifts(T4 SHIFTS_ONLY, 6,
        (double[][2]){{-3.9, -10.2}, {-14.9, -7.2}, {-21.0, -8.6}, {-32.7, -11.4}, {-17.9, -16.8}, {-15.5, -62.9}}, true, 1.5);
}

TEST(test_t5)
{
    SKIP_WITHOUT(T5);
    static double known[][2] = {{-17.6, 11.5}, {-8.3, -18.1}, {18.6, -10.7}, {9.5, 19.0}};
    assert_shifts(T5 SHIFTS_ONLY " --shift 60", 4, known, true, 1.2);
}

TEST(test_t6)
{
    SKIP_WITHOUT(T6 "1.mrc");
    assert_shifts(T6 "1.mrc " T6 "2.mrc --rotation 2 --scale 0.98:1.02", 1, (double[][2]){{-25.95, -20.9}}, false, 0.1);
}

TEST(test_t8)
{
    SKIP_WITHOUT(T8);
    assert_shifts(T8 " --shift 40" SHIFTS_ONLY, 1, (double[][2]){{0, 0}}, false, 0.15);
}

// The optimiser of the last stage ends no lower than the climb that --no-fine ends with: on these four it lay 3e-4 below it.
TEST(test_fine_is_not_worse)
{
    SKIP_WITHOUT(T1);
    rg_tsv t;
    double climbed[4];
    for (int fine = 0; fine < 2; fine++) {
        assert_int_equal(align(fine ? T1 " --rotation 3" : T1 " --rotation 3 --no-fine"), RG_GOOD);
        assert_int_equal(rg_tsv_read(in_dir("t.tsv"), &t), RG_GOOD);
        for (int i = 0; i < 4; i++) {
            const double rho = rg_tsv_number(&t, i, "correlation");
            assert_true(!fine || rho > climbed[i] - 1e-5); // both end within some thousandths of a pixel of a top
            climbed[i] = rho;
        }
        rg_tsv_free(&t);
    }
}

// Real tilts without fiducials or angles: six numbers fit no worse than four, and where the images are shifted alone they say so.
TEST(test_affine_is_not_worse)
{
    SKIP_WITHOUT(T1);
    rg_tsv t;
    double similar[4];
    for (int affine = 0; affine < 2; affine++) {
        assert_int_equal(align(affine ? T1 " --rotation 2 --scale 0.97:1.03 --model affine --stretch 1.03"
                                      : T1 " --rotation 2 --scale 0.97:1.03"),
            RG_GOOD);
        assert_int_equal(rg_tsv_read(in_dir("t.tsv"), &t), RG_GOOD);
        for (int i = 0; i < 4; i++) {
            const double rho = rg_tsv_number(&t, i, "correlation");
            assert_true(!affine || rho > similar[i] - 1e-5);
            similar[i] = rho;
            assert_true(!affine || fabs(rg_tsv_number(&t, i, "a12")) < 0.03);
        }
        rg_tsv_free(&t);
    }
}

// The small shift t along x for which a(q) = b(q - t), to first order: what brings b onto a.
static double slope_shift(const int64_t side[3], const float *a, const float *b)
{
    double product = 0, square = 0;
    for (int64_t i = 0; i < side[0] * side[1]; i++) {
        int64_t x = i % side[0];
        if (x == 0 || x == side[0] - 1) continue;
        double slope = ((double)b[i + 1] - b[i - 1]) / 2;
        product -= slope * ((double)a[i] - b[i]);
        square += slope * slope;
    }
    return product / square;
}

// 91 X-ray projections of a body that turns: each lies 0.4 to -0.5 pixels along x from the one before, to the right in the
// first third and to the left afterwards, and nothing along y. The sign is held to the definition: image i is brought onto i - 1.
TEST(test_t3)
{
    SKIP_WITHOUT(T3 "f32.mrc");
    rg_tsv t;
    rg_mrc mrc;
    assert_int_equal(align(T3 "f32.mrc --shift 8 --no-fine" SHIFTS_ONLY), RG_GOOD);
    assert_int_equal(rg_tsv_read(in_dir("t.tsv"), &t), RG_GOOD);
    assert_int_equal(t.n_rows, 91);
    assert_int_equal(rg_mrc_open(&mrc, T3 "f32.mrc"), RG_GOOD);
    const int64_t side[3] = {mrc.nx, mrc.ny, 1}, n = side[0] * side[1];
    float *image = rg_alloc((size_t)(2 * n) * sizeof *image), *neighbour[2] = {image, image + n};
    double first = 0, last = 0;
    for (int i = 0; i < 91; i++) {
        rg_similarity s = row_of(&t, i);
        assert_int_equal(rg_mrc_section(&mrc, i, neighbour[i % 2]), RG_GOOD);
        aj_band_pass(side, 1.5, 0, neighbour[i % 2], 1);
        double expected = i ? slope_shift(side, neighbour[(i + 1) % 2], neighbour[i % 2]) : 0;
        assert_near(s.shift_x_px, expected, 0.05);
        assert_near(s.shift_y_px, 0, 0.2);
        *(i < 20 ? &first : &last) += s.shift_x_px / (i < 20 ? 19 : 71);
    }
    print_message("T3: mean shift along x %.3f of images 2 to 20, %.3f of those after\n", first, last);
    assert_true(first > 0.2 && last < -0.2);
    free(image);
    rg_mrc_close(&mrc);
    rg_tsv_free(&t);
    assert_refused(align(T3 "orig_float16_nan.mrc"), "image 1: expected finite values, found NaN at pixel (0, 0)");
}

TESTS(test_dir_make, test_dir_remove)
