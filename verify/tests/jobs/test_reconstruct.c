// SPDX-License-Identifier: MIT
// test_reconstruct.c: the stages of reconstruct and fsc against their definitions; verify/cases/reconstruct.tsv has whole jobs.
#include "../test.h"
#include "test_reconstruct.h"

#include <complex.h>

// ---- stages --------------------------------------------------------------------------------------------------------------

// F(p) = sum over the pixels q of image(q) exp(-2 pi i p.(q - c + origin) / P), for even and odd sides and paddings.
TEST(test_prepare) {
    static const int64_t size[][2] = {{6, 12}, {7, 14}, {7, 7}, {6, 6}, {5, 15}};
    for (int s = 0; s < RG_COUNT(size); s++) {
        int64_t n = size[s][0], padded = size[s][1], k = padded / 2;
        RG_ENDS(rc_prepare_free) rc_prepare prepare;
        RG_FREED float *image = rg_alloc((size_t)(n * n) * sizeof *image),
                       *out = rg_alloc((size_t)(2 * gr_pixels(k)) * sizeof *out);
        for (int64_t i = 0; i < n * n; i++) image[i] = (float)(rg_bits(3, (uint64_t)i) % 1000) / 1000;
        assert_int_equal(rc_prepare_make(&prepare, n, padded, k, 2), RG_GOOD);
        rc_prepare_image(&prepare, s % 2, image, 1.25, -0.5, s == 1, out);
        for (int64_t y = -k; y <= k; y++)
            for (int64_t x = 0; x <= k; x++) {
                double complex sum = 0;
                for (int64_t i = 0; i < n * n; i++) {
                    double u = (double)(i % n - n / 2) + 1.25, v = (double)(i / n - n / 2) - 0.5;
                    sum += image[i] * cexp(-2 * M_PI * I * ((double)x * u + (double)y * v) / (double)padded);
                }
                const float *found = out + 2 * gr_pixel(k, x, y);
                assert_true(cabs(found[0] + I * found[1] - (s == 1 ? -sum : sum)) < 1e-5 * (double)(n * n));
            }
    }
}

TEST(test_ctf_pixels) {
    const int64_t k = 9;
    RG_ENDS(rc_prepare_free) rc_prepare prepare;
    rg_ctf_of of = {.voltage_kV = 300,
        .cs_mm = 2.7,
        .amplitude_contrast = 0.1,
        .defocus_u_A = 12000,
        .defocus_v_A = 9000,
        .defocus_angle_deg = 20,
        .scale = 1};
    rg_ctf ctf = rg_ctf_make(&of);
    RG_FREED float *out = rg_alloc((size_t)gr_pixels(k) * sizeof *out);
    assert_int_equal(rc_prepare_make(&prepare, 10, 20, k, 1), RG_GOOD);
    double found = rc_prepare_ctf(&prepare, &of, 3, GR_APPLIED_NOT, NULL, out), sum = 0;
    for (int64_t y = -k; y <= k; y++)
        for (int64_t x = -k; x <= k; x++) { // the whole disc, in 20 pixels of 3 A
            double c = rg_ctf_at(&ctf, (double)x / 60, (double)y / 60);
            sum += x * x + y * y <= k * k ? c * c : 0;
            if (x >= 0) assert_true(fabs(out[gr_pixel(k, x, y)] - c) < 1e-6);
        }
    assert_true(fabs(found - sum) < 1e-9 * sum);
}

// Against sums over the shells by the direct transform.
TEST(test_fsc_direct) {
    for (int64_t n = 5; n <= 6; n++) {
        float a[216], b[216];
        double fsc[4], sum[4][3] = {{0}};
        for (int64_t i = 0; i < n * n * n; i++) {
            a[i] = (float)(rg_bits(1, (uint64_t)i) % 1000) - 480;
            b[i] = a[i] / 2 + (float)(rg_bits(2, (uint64_t)i) % 1000) - 510;
        }
        for (int64_t f = 0; f < n * n * n; f++) {
            int64_t u[3] = {f % n, f / n % n, f / n / n};
            double complex fa = 0, fb = 0;
            for (int64_t i = 0; i < n * n * n; i++) {
                double turn = (double)(u[0] * (i % n) + u[1] * (i / n % n) + u[2] * (i / n / n)) / (double)n;
                fa += a[i] * cexp(-2 * M_PI * I * turn);
                fb += b[i] * cexp(-2 * M_PI * I * turn);
            }
            for (int d = 0; d < 3; d++) u[d] -= 2 * u[d] > n ? n : 0;
            int64_t shell = (int64_t)floor(sqrt((double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])) + 0.5);
            if (shell > n / 2) continue;
            sum[shell][0] += creal(fa * conj(fb));
            sum[shell][1] += creal(fa * conj(fa));
            sum[shell][2] += creal(fb * conj(fb));
        }
        rg_fsc(n, a, b, fsc);
        for (int64_t s = 0; s <= n / 2; s++) assert_true(fabs(fsc[s] - sum[s][0] / sqrt(sum[s][1] * sum[s][2])) < 1e-12);
        rg_fsc(n, a, a, fsc);
        assert_true(fabs(least(fsc, n / 2) - 1) < 1e-12);
    }
}

// ---- the phantom ---------------------------------------------------------------------------------------------------------

// Batches of any size add up to the same sums, and operators of the grid applied afterwards give the same as inserted ones.
TEST(test_batches_and_lattice) {
    static const char *const group[] = {"C1", "D2", "C4", "O", "I1", "I2", "C3"};
    static const int left[] = {1, 1, 1, 1, 5, 5, 3}; // operators still inserted; C3's rotations do not fit the grid
    RG_FREED char *star = rg_print("%s", phantom("small", "--shape asymmetric --box 12 --images 23 --ctf"));
    for (int g = 0; g < RG_COUNT(group); g++) {
        RG_ENDS(rc_job_free) rc_job whole = {.ctf = true}, batched = {.ctf = true};
        insert_job(&whole, star, NULL, group[g], true);
        batched.algo = rg_algo_find("gridding");
        batched.padding = 2;
        batched.radius_tenths = 19;
        batched.threads = 2;
        batched.f = NAN;
        batched.run.halves = 1;
        assert_int_equal(rg_particles_open(&batched.particles, star), RG_GOOD);
        assert_int_equal(rc_set_symmetry(&batched, group[g], false), RG_GOOD);
        assert_int_equal(gr_plan(&batched, "naive_scatter", "cpu", 0), RG_GOOD);
        batched.batch = 10;
        batched.chunk = 2;
        assert_int_equal(rc_insert_all(&batched.run), RG_GOOD);
        assert_int_equal(batched.n_operators, left[g]);
        assert_int_equal(rc_apply_lattice(&batched, 0), RG_GOOD);
        // Float sums of thousands of terms in another order, and G cancels where operators disagree: 3e-5 occurs.
        assert_true(apart(sum_of(&whole, 0, GR_G), sum_of(&batched, 0, GR_G), 2 * gr_voxels(whole.k)) < 1e-4);
        assert_true(apart(sum_of(&whole, 0, GR_W), sum_of(&batched, 0, GR_W), gr_voxels(whole.k)) < 1e-4);
        assert_true(fabs(rc_wiener(&whole, 0) / rc_wiener(&batched, 0) - 1) < 1e-9);
    }
}

// f by its definition on every sample, in a small job: 0.1 operators times the mean of w c^2 over the additions.
TEST(test_wiener) {
    RG_ENDS(rc_job_free) rc_job job = {.ctf = true};
    insert_job(&job, phantom("wiener", "--shape asymmetric --box 16 --images 40 --ctf"), NULL, "C1", true);
    double total = 0, ball = 4 * M_PI / 3 * 1.9 * 1.9 * 1.9, pixels = 0;
    int64_t k = job.k;
    for (int64_t i = 0; i < gr_voxels(k); i++) // the half x > 0 counts twice
        total += (gr_voxel_x(k, i) ? 2 : 1) * (double)sum_of(&job, 0, GR_W)[i];
    for (int64_t y = -k; y <= k; y++)
        for (int64_t x = -k; x <= k; x++) pixels += 40 * gr_in_circle(k, x, y);
    // Few additions are outside the volume, so that the mean over all agrees to a few per cent.
    assert_true(fabs(rc_wiener(&job, 0) / (0.1 * total / (pixels * ball)) - 1) < 0.1);
}

TESTS(test_dir_make, test_dir_remove)
