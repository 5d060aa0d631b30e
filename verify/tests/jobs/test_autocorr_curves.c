// SPDX-License-Identifier: MIT
// test_autocorr_curves.c: rings, peaks and normalisations of the job autocorr against their definitions.
#include "../../../impl/jobs/autocorr/autocorr.h"
#include "../test.h"

// By their definition, from sums that are those of the opposite offsets, or of two photographs, which are not.
TEST(test_rings) {
    enum { R = 40, SIDE = 2 * R + 1 };
    static int64_t sums[SIDE * SIDE];
    static float c2d[SIDE * SIDE];
    ac_areas area[2] = {{0}};
    for (int crossed = 0; crossed < 2; crossed++) {
        int64_t n[R + 1], expected_n[R + 1] = {0};
        double c1d[R + 1], expected[R + 1] = {0};
        const ac_field f = {1000, 1000, R, sums, &area[0], &area[crossed]};
        for (int64_t y = -R; y <= R; y++)
            for (int64_t x = -R; x <= R; x++) {
                const int64_t sum = crossed ? 1 + 7 * (x + R) + 1000 * (y + R) : 1 + x * x + 3 * x * y + 10 * y * y;
                const int64_t ring = (int64_t)floor(sqrt((double)(x * x + y * y)) + 0.5);
                sums[ac_element(R, x, y)] = sum;
                if (ring <= R) {
                    expected[ring] += (double)sum / 3;
                    expected_n[ring]++;
                }
            }
        ac_c1d(&f, AC_RAW, 3, c1d, n);
        ac_c2d(&f, AC_RAW, 3, c2d);
        assert_memory_equal(n, expected_n, sizeof n);
        for (int ring = 0; ring <= R; ring++)
            assert_true(fabs(c1d[ring] - expected[ring] / (double)n[ring]) < 1e-12 * fabs(c1d[ring]));
        for (int i = 0; i < SIDE * SIDE; i++) assert_true(c2d[i] == (float)((double)sums[i] / 3));
        const int64_t first[6] = {1, 8, 12, 16, 32, 28}; // counted on squared paper
        assert_memory_equal(n, first, sizeof first);
    }
}

// White photographs, whose sums exceed 32 bits along a row, a column and both: each centred value is exactly 0.
TEST(test_sums_of_long_sides) {
    static uint16_t white[140000];
    memset(white, 255, sizeof white);
    static const int64_t side[][3] = {{140000, 1, 16}, {1, 140000, 16}, {70000, 2, 16}, {2, 70000, 16}, {140000, 2, 8}};
    for (int i = 0; i < RG_COUNT(side); i++) {
        const int64_t w = side[i][0], h = side[i][1], grey = side[i][2] == 8 ? 255 : 65535;
        const rg_image image = {w, h, (int)side[i][2], white};
        for (int64_t y0 = 0; y0 <= (h > 1); y0++)
            for (int64_t x0 = 0; x0 <= (w > 1); x0++) {
                int64_t sums[9];
                for (int k = 0; k < 9; k++) sums[k] = grey * grey * (w - x0) * (h - y0);
                RG_ENDS(ac_field_free) ac_field f;
                bool defined;
                ac_field_make(&f, &image, NULL, 1, sums);
                assert_true(ac_value(&f, AC_CENTRED, x0, y0, &defined) == 0 && defined);
            }
    }
}

TEST(test_peak) {
    double r, v;
    // -(x - 4.25)^2 around its top, after a minimum at 2.
    const double c[] = {9, -4, -6, -1.5625, -0.0625, -0.5625, -3.0625};
    assert_true(ac_peak(c, 7, 0, &r, &v));
    assert_true(fabs(r - 4.25) < 1e-12 && fabs(v) < 1e-12);
    assert_false(ac_peak(c, 5, 0, &r, &v)); // still rising at the end
    const double falling[] = {5, 4, 3, 3, 2}, rising_end[] = {5, 4, 3, 4, 5}, plateau[] = {5, 1, 4, 4, 0},
                 first_up[] = {1, 5, 2, 3, 1};
    assert_false(ac_peak(falling, 5, 0, &r, &v));
    assert_false(ac_peak(rising_end, 5, 0, &r, &v));
    assert_true(ac_peak(plateau, 5, 0, &r, &v) && fabs(r - 2.5) < 1e-12);
    assert_true(ac_peak(first_up, 5, 0, &r, &v) && r > 2.5 && r < 3.5); // the maximum must come after a minimum
    assert_false(ac_peak(c, 1, 0, &r, &v));
    const double ripple[] = {100, 10, 11, 9, 8, 30, 50, 30, 5}, drop[] = {100, 10, 11, 3, 2, 1};
    assert_true(ac_peak(ripple, 9, 0, &r, &v) && fabs(r - 2) < 0.5);
    const double small = ac_prominence(ripple, 9, r); // up to it the ripple is the peak, and from it on it is not
    assert_true(small > 0 && small < 0.05);
    assert_true(ac_peak(ripple, 9, 0.999 * small, &r, &v) && fabs(r - 2) < 0.5);
    assert_true(ac_peak(ripple, 9, 1.001 * small, &r, &v) && fabs(r - 6) < 1e-12);
    assert_true(ac_prominence(ripple, 9, 6) > 0.05);
    assert_true(ac_peak(ripple, 9, 0.05, &r, &v) && fabs(r - 6) < 1e-12);
    assert_true(ac_peak(drop, 6, 0, &r, &v) && fabs(r - 2) < 0.5); // falls below the minimum at once, a maximum all the same
    assert_false(ac_peak(drop, 6, 0.05, &r, &v));
}

// All three normalisations of a random photograph (and pair), each term of the definitions summed in the simplest way.
TEST(test_normalisations) {
    enum { W = 7, H = 5, R = 6 };
    uint16_t pixel[2][W * H];
    int64_t sums[(2 * R + 1) * (2 * R + 1)];
    for (int i = 0; i < 2 * W * H; i++) pixel[i / (W * H)][i % (W * H)] = (uint16_t)(rg_bits(5, (uint64_t)i) % 60000);
    for (int cross = 0; cross < 2; cross++) {
        const rg_image a = {W, H, 16, pixel[0]}, b = {W, H, 16, pixel[cross]};
        double mean[2] = {0, 0};
        for (int i = 0; i < W * H; i++) {
            mean[0] += pixel[0][i] / (double)(W * H);
            mean[1] += pixel[cross][i] / (double)(W * H);
        }
        for (int pass = 0; pass < 2; pass++) // first the sums, then, knowing them all, the check
            for (int64_t y0 = -R; y0 <= R; y0++)
                for (int64_t x0 = -R; x0 <= R; x0++) {
                    int64_t s = 0, n = 0;
                    double covariance = 0;
                    for (int64_t y = 0; y < H; y++)
                        for (int64_t x = 0; x < W; x++)
                            if (x - x0 >= 0 && x - x0 < W && y - y0 >= 0 && y - y0 < H) {
                                double p = pixel[0][y * W + x], q = pixel[cross][(y - y0) * W + x - x0];
                                s += (int64_t)(p * q);
                                covariance += (p - mean[0]) * (q - mean[1]);
                                n++;
                            }
                    sums[ac_element(R, x0, y0)] = s;
                    if (pass == 0) continue;
                    RG_ENDS(ac_field_free) ac_field f;
                    bool defined;
                    ac_field_make(&f, &a, cross ? &b : NULL, R, sums);
                    assert_true(ac_value(&f, AC_RAW, x0, y0, &defined) == (long double)s && defined);
                    long double overlap = ac_value(&f, AC_OVERLAP, x0, y0, &defined);
                    assert_true(defined == (n > 0) && (!n || fabs((double)(overlap - (long double)s / n)) < 1e-6));
                    long double centred = ac_value(&f, AC_CENTRED, x0, y0, &defined);
                    assert_true(defined == (n > 0) && (!n || fabs((double)centred - covariance / (double)n) < 1e-4));
                }
    }
}
