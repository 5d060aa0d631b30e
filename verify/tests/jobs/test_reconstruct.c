// SPDX-License-Identifier: MIT
// test_reconstruct.c: the jobs reconstruct and fsc: each stage against its definition, whole jobs against the phantom's exact
// map.
#include "../test.h"
#include "test_reconstruct.h"

#include <complex.h>

// ---- stages --------------------------------------------------------------------------------------------------------------

// F(p) = sum over the pixels q of image(q) exp(-2 pi i p.(q - c + origin) / P), for even and odd sides and paddings.
TEST(test_prepare)
{
    static const int64_t size[][2] = {{6, 12}, {7, 14}, {7, 7}, {6, 6}, {5, 15}};
    for (int s = 0; s < RG_COUNT(size); s++) {
        int64_t n = size[s][0], padded = size[s][1], k = padded / 2;
        gr_prepare prepare;
        float *image = rg_alloc((size_t)(n * n) * sizeof *image), *out = rg_alloc((size_t)(2 * gr_pixels(k)) * sizeof *out);
        for (int64_t i = 0; i < n * n; i++) image[i] = (float)(rg_bits(3, (uint64_t)i) % 1000) / 1000;
        assert_int_equal(gr_prepare_make(&prepare, n, padded, k, 2), RG_GOOD);
        gr_prepare_image(&prepare, s % 2, image, 1.25, -0.5, s == 1, out);
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
        gr_prepare_free(&prepare);
        free(image);
        free(out);
    }
}

TEST(test_ctf_pixels)
{
    const int64_t k = 9;
    gr_prepare prepare;
    rg_ctf_of of = {.voltage_kV = 300,
        .cs_mm = 2.7,
        .amplitude_contrast = 0.1,
        .defocus_u_A = 12000,
        .defocus_v_A = 9000,
        .defocus_angle_deg = 20,
        .scale = 1};
    rg_ctf ctf = rg_ctf_make(&of);
    float *out = rg_alloc((size_t)gr_pixels(k) * sizeof *out);
    assert_int_equal(gr_prepare_make(&prepare, 10, 20, k, 1), RG_GOOD);
    double found = gr_prepare_ctf(&prepare, &of, 3, GR_APPLIED_NOT, NULL, out), sum = 0;
    for (int64_t y = -k; y <= k; y++)
        for (int64_t x = -k; x <= k; x++) { // the whole disc, in 20 pixels of 3 A
            double c = rg_ctf_at(&ctf, (double)x / 60, (double)y / 60);
            sum += x * x + y * y <= k * k ? c * c : 0;
            if (x >= 0) assert_true(fabs(out[gr_pixel(k, x, y)] - c) < 1e-6);
        }
    assert_true(fabs(found - sum) < 1e-9 * sum);
    gr_prepare_free(&prepare);
    free(out);
}

// Against sums over the shells by the direct transform.
TEST(test_fsc_direct)
{
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

static void whole_job(const char *name, const char *phantom_options, const char *options, double level)
{
    int64_t side, truth_side;
    char *star = rg_print("%s", phantom(name, phantom_options)), *out = rg_print("%s", in_dir("map.mrc"));
    char *truth_path = rg_print("%s/map.mrc", in_dir(name));
    assert_int_equal(run_command(&rg_cmd_reconstruct,
                         fmt("reconstruct %s --out %s --quiet --variant naive_scatter %s", star, out, options), printed),
        RG_GOOD);
    assert_non_null(strstr(printed, "\ninsert\t"));
    float *map = read_map(out, &side), *truth = read_map(truth_path, &truth_side);
    assert_int_equal(side, truth_side);
    double *fsc = rg_alloc((size_t)(side / 2 + 1) * sizeof *fsc), ab = 0, bb = 0;
    rg_fsc(side, map, truth, fsc);
    print_message("%s %s: lowest FSC to 0.9 Nyquist %.5f\n", name, options, least(fsc, side * 9 / 20));
    assert_true(least(fsc, side * 9 / 20) > level);
    for (int64_t i = 0; i < side * side * side; i++) {
        ab += (double)map[i] * truth[i];
        bb += (double)truth[i] * truth[i];
    }
    assert_true(fabs(ab / bb - 1) < 0.02); // the scale of the density, too
    free(map);
    free(truth);
    free(fsc);
    free(star);
    free(out);
    free(truth_path);
}

TEST(test_phantom)
{
    whole_job("even", "--shape asymmetric --box 32 --images 900", "", 0.99);
    whole_job("odd", "--shape asymmetric --box 33 --images 900 --seed 7", "", 0.99);
    whole_job("shell", "--shape icosahedral --box 40 --images 60", "--sym I1", 0.99);
}

// Half maps: files of their names, whose mean is near the whole map, and one row goes to each in turn.
TEST(test_half_maps)
{
    int64_t side;
    char *star = rg_print("%s", phantom("halves", "--shape asymmetric --box 20 --images 400 --snr 1"));
    char *out = rg_print("%s", in_dir("v.mrc"));
    assert_int_equal(run_command(&rg_cmd_reconstruct,
                         fmt("reconstruct %s --out %s --half-maps --quiet --variant naive_scatter", star, out), printed),
        RG_GOOD);
    float *map = read_map(out, &side);
    float *half[2] = {read_map(in_dir("v_half1.mrc"), &side), read_map(in_dir("v_half2.mrc"), &side)};
    int64_t n = side * side * side;
    for (int h = 0; h < 2; h++) { // a job of its own on every second row
        gr_job job = {0};
        rg_star rows;
        assert_int_equal(rg_star_read(star, &rows), RG_GOOD);
        rg_star_table *t = &rows.table[1];
        for (int64_t i = h; i < t->n_rows; i += 2)
            memmove(t->cell + i / 2 * t->n_columns, t->cell + i * t->n_columns, (size_t)t->n_columns * sizeof *t->cell);
        t->n_rows /= 2;
        char *some = rg_print("%s/some.star", in_dir("halves"));
        assert_int_equal(rg_star_write(some, &rows), RG_GOOD);
        rg_star_free(&rows);
        catch_stderr(); // that half of the images have no row
        float *alone = map_of(&job, some, NULL, "C1", false);
        caught();
        double worst = 0, largest = 0;
        for (int64_t i = 0; i < n; i++) {
            worst = fmax(worst, fabs(alone[i] - half[h][i]));
            largest = fmax(largest, fabs(alone[i]));
        }
        assert_true(worst < 1e-5 * largest);
        free(alone);
        free(some);
    }
    assert_true(correlation(half[0], half[1], n) < correlation(half[0], map, n));
    free(map);
    free(half[0]);
    free(half[1]);
    free(star);
    free(out);
}

// Batches of any size add up to the same sums, and operators of the grid applied afterwards to the same as inserted ones.
TEST(test_batches_and_lattice)
{
    static const char *const group[] = {"C1", "D2", "C4", "O", "I1", "I2", "C3"};
    static const int left[] = {1, 1, 1, 1, 5, 5, 3}; // operators still inserted; none by 120 degrees about z fits the grid
    char *star = rg_print("%s", phantom("small", "--shape asymmetric --box 12 --images 23 --ctf"));
    for (int g = 0; g < RG_COUNT(group); g++) {
        gr_job whole = {.ctf = true}, batched = {.ctf = true};
        insert_job(&whole, star, NULL, group[g], true);
        batched.algo = rg_algo_find("gridding");
        batched.padding = 2;
        batched.radius_tenths = 19;
        batched.threads = 2;
        batched.f = NAN;
        batched.halves = 1;
        assert_int_equal(rg_particles_open(&batched.particles, star), RG_GOOD);
        assert_int_equal(gr_set_symmetry(&batched, group[g], false), RG_GOOD);
        assert_int_equal(gr_plan(&batched, "naive_scatter", "cpu", 0), RG_GOOD);
        batched.batch = 10;
        batched.chunk = 2;
        assert_int_equal(gr_insert(&batched), RG_GOOD);
        assert_int_equal(batched.n_operators, left[g]);
        assert_int_equal(gr_apply_lattice(&batched, 0), RG_GOOD);
        // Float sums of thousands of terms in another order, and G cancels where operators disagree: 3e-5 is seen.
        assert_true(apart(sum_of(&whole, 0, GR_G), sum_of(&batched, 0, GR_G), 2 * gr_voxels(whole.k)) < 1e-4);
        assert_true(apart(sum_of(&whole, 0, GR_W), sum_of(&batched, 0, GR_W), gr_voxels(whole.k)) < 1e-4);
        assert_true(fabs(gr_wiener(&whole, 0) / gr_wiener(&batched, 0) - 1) < 1e-9);
        gr_job_free(&whole);
        gr_job_free(&batched);
    }
    free(star);
}

// f by its definition on every sample: 0.1 operators times the mean of w c^2 over the additions, here of a small job.
TEST(test_wiener)
{
    gr_job job = {.ctf = true};
    insert_job(&job, phantom("wiener", "--shape asymmetric --box 16 --images 40 --ctf"), NULL, "C1", true);
    double total = 0, ball = 4 * M_PI / 3 * 1.9 * 1.9 * 1.9, pixels = 0;
    int64_t k = job.k;
    for (int64_t i = 0; i < gr_voxels(k); i++) // the half x > 0 stands for two
        total += (gr_voxel_x(k, i) ? 2 : 1) * (double)sum_of(&job, 0, GR_W)[i];
    for (int64_t y = -k; y <= k; y++)
        for (int64_t x = -k; x <= k; x++) pixels += 40 * gr_in_circle(k, x, y);
    // Additions that fall beyond the volume are few, so that the mean over all agrees to a few per cent.
    assert_true(fabs(gr_wiener(&job, 0) / (0.1 * total / (pixels * ball)) - 1) < 0.1);
    gr_job_free(&job);
}

// With the CTF in the images: weighting by it gives the truth back, and leaving it out does not.
TEST(test_phantom_ctf)
{
    int64_t side;
    double fsc[2][17];
    char *star = rg_print("%s", phantom("ctf", "--shape asymmetric --box 32 --images 700 --ctf --pixel 6"));
    float *truth = read_map(in_dir("ctf/map.mrc"), &side);
    for (int with = 0; with < 2; with++) {
        gr_job job = {.ctf = with};
        float *map = map_of(&job, star, NULL, "C1", false);
        rg_fsc(side, map, truth, fsc[with]);
        free(map);
    }
    print_message("CTF: lowest FSC to 0.9 Nyquist %.4f, without weighting %.4f\n", least(fsc[1], 14), least(fsc[0], 14));
    assert_true(least(fsc[1], 14) > 0.97 && least(fsc[0], 14) < 0.9);
    free(truth);
    free(star);
}

// 12 of the 60 operators of I1 map the grid onto itself: applied to the sums they spare the insertion of as many images.
TEST(test_every_operator_is_inserted_when_asked)
{
    float *map[2];
    int64_t side = 0;
    phantom("ico", "--box 16 --images 6");
    for (int each = 0; each < 2; each++) {
        const char *out = fmt("%s/i%d.mrc", test_dir, each);
        assert_int_equal(run_command(&rg_cmd_reconstruct,
                             fmt("reconstruct %s --sym I1 --device cpu --quiet %s --out %s", in_dir("ico/particles.star"),
                                 each ? "--per-operator" : "", out),
                             printed),
            RG_GOOD);
        map[each] = read_map(out, &side);
    }
    const double ratio = need_of("i1_stages.tsv", "\ninsert") / need_of("i0_stages.tsv", "\ninsert");
    assert_true(ratio > 11.9 && ratio < 12.1);
    assert_true(correlation(map[0], map[1], side * side * side) > 0.99999);
    free(map[0]), free(map[1]);
}

TEST(test_fsc_command)
{
    phantom("fsc", "--box 16 --images 1 --pixel 2");
    phantom("fsc9", "--box 9 --images 1");
    char *words = rg_print("fsc %s %s --out %s --quiet", in_dir("fsc/map.mrc"), in_dir("fsc/map.mrc"), in_dir("f.tsv"));
    assert_int_equal(run_command(&rg_cmd_fsc, words, printed), RG_GOOD);
    free(words);
    size_t n = 0;
    char *table = get_file(in_dir("f.tsv"), &n);
    assert_non_null(strstr(table, "\nshell\tfrequency\tresolution\tfsc\n0\t0\tinf\t1"));
    assert_non_null(strstr(table, "\n4\t0.125\t8\t")); // shell 4 of 16 pixels of 2 A
    assert_non_null(strstr(table, "\n8\t0.25\t4\t"));
    assert_null(strstr(table, "\n9\t"));
    free(table);
    assert_refused(
        run_command(&rg_cmd_fsc,
            fmt("fsc %s %s --out %s --quiet", in_dir("fsc/map.mrc"), in_dir("fsc9/map.mrc"), in_dir("g.tsv")), printed),
        "has 16 voxels a side");
    words = rg_print("fsc %s %s --out %s --quiet", in_dir("fsc/map.mrc"), in_dir("fsc/particles.mrcs"), in_dir("g.tsv"));
    assert_refused(run_command(&rg_cmd_fsc, words, printed), "cubic map of at least 2 voxels a side, found 16 x 16 x 1");
    free(words);
    assert_int_equal(access(in_dir("g.tsv"), F_OK), -1);
}

TESTS(test_dir_make, test_dir_remove)
