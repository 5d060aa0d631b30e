// SPDX-License-Identifier: MIT
// test_reconstruct.c: the jobs reconstruct and fsc: each stage against its definition, whole jobs against the phantom's exact
// map and, where it is at hand, against data of other programs, with the faults that must show in the result.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../data/fsc.h"
#include "../impl/gridding/job.h"
#include "test_command.h"
#include "test_data.h"

#include <complex.h>
#include <math.h>

extern const rg_command rg_cmd_reconstruct, rg_cmd_fsc, rg_cmd_phantom;
static const double PI = 3.14159265358979323846;
static char printed[OUTPUT_MAX];

// ---- helpers -------------------------------------------------------------------------------------------------------------

static float *read_map(const char *path, int64_t *side)
{
    rg_mrc mrc;
    assert_int_equal(rg_mrc_open(&mrc, path), RG_GOOD);
    *side = mrc.nx;
    float *map = rg_alloc((size_t)(mrc.nx * mrc.ny * mrc.nz) * sizeof *map);
    for (int64_t z = 0; z < mrc.nz; z++)
        assert_int_equal(rg_mrc_section(&mrc, z, map + z * mrc.nx * mrc.ny), RG_GOOD);
    rg_mrc_close(&mrc);
    return map;
}

static double correlation(const float *a, const float *b, int64_t n)
{
    double ma = 0, mb = 0, ab = 0, aa = 0, bb = 0;
    for (int64_t i = 0; i < n; i++) {
        ma += a[i] / (double)n;
        mb += b[i] / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        ab += (a[i] - ma) * (b[i] - mb);
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
    }
    return ab / sqrt(aa * bb);
}

typedef void edit_rows(rg_particles *);

// Particles open, edited, planned on one variant, and inserted.
static void insert_job(gr_job *job, const char *star, edit_rows *edit, const char *sym, bool per_operator)
{
    job->algo = rg_algo_find("gridding");
    job->padding = 2;
    job->radius_tenths = 19;
    job->threads = 2;
    job->halves = job->halves ? job->halves : 1;
    assert_int_equal(rg_particles_open(&job->particles, star), RG_GOOD);
    if (edit)
        edit(&job->particles);
    assert_int_equal(gr_set_symmetry(job, sym, per_operator), RG_GOOD);
    assert_int_equal(gr_plan(job, "naive_scatter", "cpu"), RG_GOOD);
    assert_int_equal(gr_insert(job), RG_GOOD);
}

static float *map_of(gr_job *job, const char *star, edit_rows *edit, const char *sym, bool per_operator)
{
    insert_job(job, star, edit, sym, per_operator);
    int64_t side = job->particles.side;
    float *map = rg_alloc((size_t)(side * side * side) * sizeof *map);
    gr_apply_lattice(job, &job->sums[0]);
    gr_map(job, &job->sums[0], gr_wiener(job, 0), map);
    gr_job_free(job);
    return map;
}

// Faults that a program could have: angles of the transposed matrix, and origins of the wrong sign.
static void transpose(rg_particles *p)
{
    for (int64_t i = 0; i < p->n; i++) {
        double rot = p->row[i].rot_deg;
        p->row[i].rot_deg = -p->row[i].psi_deg;
        p->row[i].tilt_deg = -p->row[i].tilt_deg;
        p->row[i].psi_deg = -rot;
    }
}

static void turn_origins(rg_particles *p)
{
    for (int64_t i = 0; i < p->n; i++) {
        p->row[i].origin_x_px = -p->row[i].origin_x_px;
        p->row[i].origin_y_px = -p->row[i].origin_y_px;
    }
}

static const char *phantom(const char *name, const char *options)
{
    char *words = rg_print("phantom particles --out %s --quiet %s", in_dir(name), options);
    char *star = rg_print("%s/particles.star", name);
    assert_int_equal(run_command(&rg_cmd_phantom, words, printed), RG_GOOD);
    const char *path = in_dir(star);
    free(words);
    free(star);
    return path;
}

// The lowest FSC of shells 1 .. last.
static double least(const double *fsc, int64_t last)
{
    double low = 1;
    for (int64_t s = 1; s <= last; s++)
        low = fsc[s] < low ? fsc[s] : low;
    return low;
}

#define SKIP_WITHOUT(path)                                 \
    if (access(path, R_OK) != 0) {                         \
        print_message("skipped: %s is not here\n", path);  \
        skip();                                            \
    }

// ---- stages --------------------------------------------------------------------------------------------------------------

// F(p) = sum over the pixels q of image(q) exp(-2 pi i p.(q - c + origin) / P), for even and odd sides and paddings.
static void test_prepare(void **state)
{
    (void)state;
    static const int64_t size[][2] = {{6, 12}, {7, 14}, {7, 7}, {6, 6}, {5, 15}};
    for (int s = 0; s < RG_COUNT(size); s++) {
        int64_t n = size[s][0], padded = size[s][1], k = padded / 2;
        gr_prepare prepare;
        float *image = rg_alloc((size_t)(n * n) * sizeof *image), *out = rg_alloc((size_t)(2 * gr_pixels(k)) * sizeof *out);
        for (int64_t i = 0; i < n * n; i++)
            image[i] = (float)(rg_bits(3, (uint64_t)i) % 1000) / 1000;
        gr_prepare_make(&prepare, n, padded, k);
        gr_prepare_image(&prepare, image, 1.25, -0.5, s == 1, out);
        for (int64_t y = -k; y <= k; y++)
            for (int64_t x = 0; x <= k; x++) {
                double complex sum = 0;
                for (int64_t i = 0; i < n * n; i++) {
                    double u = (double)(i % n - n / 2) + 1.25, v = (double)(i / n - n / 2) - 0.5;
                    sum += image[i] * cexp(-2 * PI * I * ((double)x * u + (double)y * v) / (double)padded);
                }
                const float *found = out + 2 * gr_pixel(k, x, y);
                assert_true(cabs(found[0] + I * found[1] - (s == 1 ? -sum : sum)) < 1e-5 * (double)(n * n));
            }
        gr_prepare_free(&prepare);
        free(image);
        free(out);
    }
}

static void test_ctf_pixels(void **state)
{
    (void)state;
    const int64_t k = 9;
    gr_prepare prepare;
    rg_ctf_of of = {.voltage_kV = 300, .cs_mm = 2.7, .amplitude_contrast = 0.1, .defocus_u_A = 12000, .defocus_v_A = 9000,
                    .defocus_angle_deg = 20, .scale = 1};
    rg_ctf ctf = rg_ctf_make(&of);
    float *out = rg_alloc((size_t)gr_pixels(k) * sizeof *out);
    gr_prepare_make(&prepare, 10, 20, k);
    double found = gr_prepare_ctf(&prepare, &of, 3, out), sum = 0;
    for (int64_t y = -k; y <= k; y++)
        for (int64_t x = -k; x <= k; x++) { // the whole disc, in 20 pixels of 3 A
            double c = rg_ctf_at(&ctf, (double)x / 60, (double)y / 60);
            sum += x * x + y * y <= k * k ? c * c : 0;
            if (x >= 0)
                assert_true(fabs(out[gr_pixel(k, x, y)] - c) < 1e-6);
        }
    assert_true(fabs(found - sum) < 1e-9 * sum);
    gr_prepare_free(&prepare);
    free(out);
}

// Against sums over the shells by the direct transform.
static void test_fsc_direct(void **state)
{
    (void)state;
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
                fa += a[i] * cexp(-2 * PI * I * turn);
                fb += b[i] * cexp(-2 * PI * I * turn);
            }
            for (int d = 0; d < 3; d++)
                u[d] -= 2 * u[d] > n ? n : 0;
            int64_t shell = (int64_t)floor(sqrt((double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])) + 0.5);
            if (shell > n / 2)
                continue;
            sum[shell][0] += creal(fa * conj(fb));
            sum[shell][1] += creal(fa * conj(fa));
            sum[shell][2] += creal(fb * conj(fb));
        }
        rg_fsc(n, a, b, fsc);
        for (int64_t s = 0; s <= n / 2; s++)
            assert_true(fabs(fsc[s] - sum[s][0] / sqrt(sum[s][1] * sum[s][2])) < 1e-12);
        rg_fsc(n, a, a, fsc);
        assert_true(fabs(least(fsc, n / 2) - 1) < 1e-12);
    }
}

// ---- the phantom ---------------------------------------------------------------------------------------------------------

static void whole_job(const char *name, const char *phantom_options, const char *options, double level)
{
    int64_t side, truth_side;
    char *star = rg_print("%s", phantom(name, phantom_options)), *out = rg_print("%s", in_dir("map.mrc"));
    char *words = rg_print("reconstruct %s --out %s --quiet --variant naive_scatter %s", star, out, options);
    char *truth_path = rg_print("%s/map.mrc", in_dir(name));
    assert_int_equal(run_command(&rg_cmd_reconstruct, words, printed), RG_GOOD);
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
    free(words);
    free(star);
    free(out);
    free(truth_path);
}

static void test_phantom(void **state)
{
    (void)state;
    whole_job("even", "--shape asymmetric --box 32 --images 900", "", 0.99);
    whole_job("odd", "--shape asymmetric --box 33 --images 900 --seed 7", "", 0.99);
    whole_job("shell", "--shape icosahedral --box 40 --images 60", "--sym I1", 0.99);
}

// Half maps: files of their names, whose mean is near the whole map, and one row goes to each in turn.
static void test_half_maps(void **state)
{
    (void)state;
    int64_t side;
    char *star = rg_print("%s", phantom("halves", "--shape asymmetric --box 20 --images 400 --snr 1"));
    char *out = rg_print("%s", in_dir("v.mrc"));
    char *words = rg_print("reconstruct %s --out %s --half-maps --quiet --variant naive_scatter", star, out);
    assert_int_equal(run_command(&rg_cmd_reconstruct, words, printed), RG_GOOD);
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
    free(words);
    free(star);
    free(out);
}

// Batches of any size add up to the same sums, and operators of the grid applied afterwards to the same as inserted ones.
static void test_batches_and_lattice(void **state)
{
    (void)state;
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
        batched.halves = 1;
        assert_int_equal(rg_particles_open(&batched.particles, star), RG_GOOD);
        assert_int_equal(gr_set_symmetry(&batched, group[g], false), RG_GOOD);
        assert_int_equal(gr_plan(&batched, "naive_scatter", "cpu"), RG_GOOD);
        batched.batch = 11;
        batched.chunk = 2;
        assert_int_equal(gr_insert(&batched), RG_GOOD);
        assert_int_equal(batched.n_operators, left[g]);
        gr_apply_lattice(&batched, &batched.sums[0]);
        double worst = 0, largest = 0, worst_w = 0, largest_w = 0;
        for (int64_t i = 0; i < gr_voxels(whole.k); i++) {
            worst = fmax(worst, hypot(whole.sums[0].g[2 * i] - batched.sums[0].g[2 * i],
                                      whole.sums[0].g[2 * i + 1] - batched.sums[0].g[2 * i + 1]));
            largest = fmax(largest, fabs(whole.sums[0].g[2 * i]));
            worst_w = fmax(worst_w, fabs(whole.sums[0].w[i] - batched.sums[0].w[i]));
            largest_w = fmax(largest_w, whole.sums[0].w[i]);
        }
        // Float sums of thousands of terms in another order, and G cancels where operators disagree: 3e-5 is seen.
        assert_true(worst < 1e-4 * largest && worst_w < 1e-4 * largest_w && largest > 0);
        assert_true(fabs(gr_wiener(&whole, 0) / gr_wiener(&batched, 0) - 1) < 1e-9);
        gr_job_free(&whole);
        gr_job_free(&batched);
    }
    free(star);
}

// Variants of a device, emulated here: images in chunks through its own memory, sums of three batches, as one on the host.
static void test_device(void **state)
{
    (void)state;
    static const char *const variant[] = {"scatter", "owned"};
    char *star = rg_print("%s", phantom("device", "--shape asymmetric --box 10 --images 22 --ctf"));
    gr_job whole = {.ctf = true};
    insert_job(&whole, star, NULL, "D3", true);
    for (int v = 0; v < RG_COUNT(variant); v++) {
        gr_job job = {.algo = whole.algo, .ctf = true, .padding = 2, .radius_tenths = 19, .threads = 3, .halves = 1};
        assert_int_equal(rg_particles_open(&job.particles, star), RG_GOOD);
        assert_int_equal(gr_set_symmetry(&job, "D3", true), RG_GOOD);
        assert_int_equal(gr_plan(&job, variant[v], "host"), RG_GOOD);
        job.batch = 9;
        job.chunk = 2;
        assert_int_equal(gr_insert(&job), RG_GOOD);
        double worst = 0, largest = 0;
        for (int64_t i = 0; i < 2 * gr_voxels(whole.k); i++) {
            worst = fmax(worst, fabs(whole.sums[0].g[i] - job.sums[0].g[i]));
            largest = fmax(largest, fabs(whole.sums[0].g[i]));
        }
        assert_true(worst < 2e-3 * largest); // the host's weights come from a table of 10,000 values
        gr_job_free(&job);
    }
    gr_job_free(&whole);
    free(star);
}

// f by its definition on every sample: 0.1 operators times the mean of w c^2 over the additions, here of a small job.
static void test_wiener(void **state)
{
    (void)state;
    gr_job job = {.ctf = true};
    insert_job(&job, phantom("wiener", "--shape asymmetric --box 16 --images 40 --ctf"), NULL, "C1", true);
    double total = 0, ball = 4 * PI / 3 * 1.9 * 1.9 * 1.9, pixels = 0;
    int64_t k = job.k;
    for (int64_t i = 0; i < gr_voxels(k); i++) // the half x > 0 stands for two
        total += (gr_voxel_x(k, i) ? 2 : 1) * (double)job.sums[0].w[i];
    for (int64_t y = -k; y <= k; y++)
        for (int64_t x = -k; x <= k; x++)
            pixels += 40 * gr_in_circle(k, x, y);
    assert_true(pixels == job.sums[0].disc_pixels);
    // Additions that fall beyond the volume are few, so that the mean over all agrees to a few per cent.
    assert_true(fabs(gr_wiener(&job, 0) / (0.1 * total / (pixels * ball)) - 1) < 0.1);
    gr_job_free(&job);
}

// With the CTF in the images: weighting by it gives the truth back, and leaving it out does not.
static void test_phantom_ctf(void **state)
{
    (void)state;
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

// ---- data of other programs ----------------------------------------------------------------------------------------------

#define R2 "../shared/data/reconstruct/R2_tomodrgn_classE_clean/10076_classE_32"

// Independent figures: correlation with the truth 0.915, FSC above 0.89 through shell 15; 0.727 with transposed matrices and
// 0.334 with origins of the wrong sign.
static void test_r2(void **state)
{
    (void)state;
    SKIP_WITHOUT(R2 ".mrc");
    static edit_rows *const edit[3] = {NULL, transpose, turn_origins};
    double found[3], fsc[17];
    int64_t side;
    float *truth = read_map(R2 ".mrc", &side);
    for (int e = 0; e < 3; e++) {
        gr_job job = {0};
        float *map = map_of(&job, R2 "_clean.star", edit[e], "C1", false);
        found[e] = correlation(map, truth, side * side * side);
        if (!e)
            rg_fsc(side, map, truth, fsc);
        free(map);
    }
    print_message("R2: correlation %.4f, transposed %.4f, origins turned %.4f; FSC to shell 15 > %.4f\n", found[0], found[1],
                  found[2], least(fsc, 15));
    assert_true(found[0] > 0.915 && least(fsc, 15) > 0.89);
    assert_true(fabs(found[1] - 0.727) < 0.05 && fabs(found[2] - 0.334) < 0.05);
    free(truth);
}

// Transform of the truth on the padded grid, held against G/W where five images left weights: no map can be made of five.
static double agreement(const gr_job *job, const float *truth)
{
    int64_t n = job->padded, side = job->particles.side, k = job->k, pitch = n / 2 + 1, c = side / 2;
    fftwf_complex *f = fftwf_alloc_complex((size_t)(n * n * pitch));
    fftwf_plan plan = fftwf_plan_dft_r2c_3d((int)n, (int)n, (int)n, (float *)f, f, FFTW_ESTIMATE);
    memset(f, 0, (size_t)(n * n * pitch) * sizeof *f);
    for (int64_t i = 0; i < side * side * side; i++) {
        int64_t at[3] = {(i % side - c + n) % n, (i / side % side - c + n) % n, (i / side / side - c + n) % n};
        ((float *)f)[(at[2] * n + at[1]) * 2 * pitch + at[0]] = truth[i];
    }
    fftwf_execute(plan);
    double ab = 0, aa = 0, bb = 0;
    for (int64_t i = 0; i < gr_voxels(k); i++) {
        int64_t x = gr_voxel_x(k, i), y = gr_voxel_y(k, i), z = gr_voxel_z(k, i), r2 = x * x + y * y + z * z;
        if (job->sums[0].w[i] < 0.3 || r2 < 9 || 4 * r2 > k * k)
            continue;
        const float *t = f[((z + n) % n * n + (y + n) % n) * pitch + x];
        double g[2] = {job->sums[0].g[2 * i] / job->sums[0].w[i], job->sums[0].g[2 * i + 1] / job->sums[0].w[i]};
        ab += g[0] * t[0] + g[1] * t[1];
        aa += g[0] * g[0] + g[1] * g[1];
        bb += (double)t[0] * t[0] + (double)t[1] * t[1];
    }
    fftwf_destroy_plan(plan);
    fftwf_free(f);
    return ab / sqrt(aa * bb);
}

static void one_pixel_further(rg_particles *p)
{
    for (int64_t i = 0; i < p->n; i++)
        p->row[i].origin_x_px = p->row[i].origin_y_px = -1;
}

#define R1 "../shared/data/reconstruct/R1_aspire_rln65/"

// An odd box of RELION, whose projections stand one pixel further in x and y than the map's centre would have them.
static void test_r1(void **state)
{
    (void)state;
    SKIP_WITHOUT(R1 "rln_proj_65.star");
    double found[2];
    int64_t side;
    float *truth = read_map(R1 "clean70SRibosome_vol_65p.mrc", &side);
    for (int further = 0; further < 2; further++) {
        gr_job job = {0};
        insert_job(&job, R1 "rln_proj_65.star", further ? one_pixel_further : NULL, "C1", false);
        found[further] = agreement(&job, truth);
        gr_job_free(&job);
    }
    print_message("R1: agreement of transforms %.4f, %.4f without the pixel\n", found[1], found[0]);
    assert_true(found[1] > 0.97 && found[0] < 0.9);
    free(truth);
}

#define R3 "../shared/data/reconstruct/R3_real_ribo_tilts_220/sta_testing_bin8.star"

// Real images, 219 rows for 220 of them. Independent figures of the FSC of odd and even rows, shells 1 to 7, without a mask.
static void test_r3(void **state)
{
    (void)state;
    static const double known[8] = {1, 0.98, 0.94, 0.93, 0.87, 0.78, 0.60, 0.5};
    double fsc[33];
    SKIP_WITHOUT(R3);
    gr_job job = {.halves = 2, .mask_radius_px = 26};
    catch_stderr();
    insert_job(&job, R3, NULL, "C1", false);
    assert_non_null(strstr(caught(), "219 rows; 1 images of its stacks have no row and are left out, the first is image 220"));
    float *half[2];
    for (int h = 0; h < 2; h++) {
        half[h] = rg_alloc(64 * 64 * 64 * sizeof(float));
        gr_map(&job, &job.sums[h], 0, half[h]);
    }
    rg_fsc(64, half[0], half[1], fsc);
    print_message("R3: FSC of odd and even rows");
    for (int s = 1; s <= 7; s++)
        print_message(" %.3f", fsc[s]);
    print_message("\n");
    for (int s = 1; s <= 7; s++)
        assert_true(fsc[s] > known[s] - 0.02);
    gr_job_free(&job);
    free(half[0]);
    free(half[1]);
}

#define F4 "../shared/data/frealign/F4_relion_project_ctf_24/"
#define F5 "../shared/data/frealign/F5_sim_ctf_noise_classE_720/10076_classE_32"

// RELION's own projections with its CTF show the sign; F5 has the other sign (cryoDRGN's) and noise.
static void test_ctf_of_others(void **state)
{
    (void)state;
    SKIP_WITHOUT(F4 "pointmass.mrc");
    static const double known[9] = {1, 0.96, 0.99, 0.96, 0.91, 0.89, 0.67, 0.55, 0.48};
    double fsc[33];
    int64_t side;
    gr_job with = {.ctf = true}, noisy = {.ctf = true, .invert = true, .mask_radius_px = 13};
    float *truth = read_map(F4 "pointmass.mrc", &side), *map = map_of(&with, F4 "relion_proj_batch.star", NULL, "C1", false);
    rg_fsc(side, map, truth, fsc);
    print_message("F4: correlation %.3f\n", correlation(map, truth, side * side * side));
    assert_true(correlation(map, truth, side * side * side) > 0.35 && least(fsc, 10) > 0.7);
    free(map);
    free(truth);
    truth = read_map(F5 ".mrc", &side);
    map = map_of(&noisy, F5 "_sim.star", NULL, "C1", false);
    rg_fsc(side, map, truth, fsc);
    print_message("F5: correlation %.3f, FSC", correlation(map, truth, side * side * side));
    for (int s = 1; s <= 8; s++)
        print_message(" %.3f", fsc[s]);
    print_message("\n");
    for (int s = 1; s <= 8; s++)
        assert_true(fsc[s] > known[s] - 0.02);
    free(map);
    free(truth);
}

// ---- bad input -----------------------------------------------------------------------------------------------------------

static int reconstruct(const char *words)
{
    char *line = rg_print("reconstruct %s", words);
    int code = run_command(&rg_cmd_reconstruct, line, printed);
    free(line);
    return code;
}

static void refused(const char *star, const char *options, const char *reason)
{
    char *words = rg_print("%s --out %s --quiet %s", star, in_dir("none.mrc"), options);
    assert_refused(reconstruct(words), reason);
    assert_int_equal(access(in_dir("none.mrc"), F_OK), -1);
    free(words);
}

static void test_bad_input(void **state)
{
    (void)state;
    char *star = rg_print("%s", phantom("bad", "--box 8 --images 3"));
    refused(star, "--sym Q3", "--sym Q3: ");
    refused(star, "--ctf", "expected a column _rlnDefocusU for --ctf, found none");
    refused(star, "--variant fastest", "fastest");
    refused(star, "--radius 4", "--radius");
    refused(in_dir("bad/map.mrc"), "", "expected text, found a byte 0");
    refused(in_dir("absent.star"), "", "cannot be read");
    static const char row[] = "data_\nloop_\n_rlnImageName\n_rlnAngleRot\n_rlnAngleTilt\n_rlnAnglePsi\n"
                              "bad/particles.mrcs 1 2 3\n";
    const char *one = put_file("one.star", row, strlen(row));
    catch_stderr();
    char *words = rg_print("%s --out %s --quiet --half-maps", one, in_dir("none.mrc"));
    assert_int_equal(reconstruct(words), RG_USAGE);
    assert_non_null(strstr(caught(), "expected at least two rows for half maps, found one"));
    free(words);
    words = rg_print("%s --quiet", star);
    assert_refused(reconstruct(words), "expected PARTICLES.star and --out VOL.mrc");
    free(words);
    words = rg_print("%s --quiet --out %s/absent/v.mrc", star, test_dir);
    assert_refused(reconstruct(words), "cannot write here");
    free(words);
    free(star);
}

static void test_fsc_command(void **state)
{
    (void)state;
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
    words = rg_print("fsc %s %s --out %s --quiet", in_dir("fsc/map.mrc"), in_dir("fsc9/map.mrc"), in_dir("g.tsv"));
    assert_refused(run_command(&rg_cmd_fsc, words, printed), "has 16 voxels a side");
    free(words);
    words = rg_print("fsc %s %s --out %s --quiet", in_dir("fsc/map.mrc"), in_dir("fsc/particles.mrcs"), in_dir("g.tsv"));
    assert_refused(run_command(&rg_cmd_fsc, words, printed), "expected a cubic map, found 16 x 16 x 1");
    free(words);
    assert_int_equal(access(in_dir("g.tsv"), F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(test_prepare),      cmocka_unit_test(test_ctf_pixels),  cmocka_unit_test(test_fsc_direct),
        cmocka_unit_test(test_phantom),      cmocka_unit_test(test_half_maps),   cmocka_unit_test(test_batches_and_lattice),
        cmocka_unit_test(test_wiener),       cmocka_unit_test(test_phantom_ctf), cmocka_unit_test(test_r1),
        cmocka_unit_test(test_r2),           cmocka_unit_test(test_r3),          cmocka_unit_test(test_ctf_of_others),
        cmocka_unit_test(test_bad_input),    cmocka_unit_test(test_fsc_command), cmocka_unit_test(test_device),
    };
    return cmocka_run_group_tests(test, test_dir_make, test_dir_remove);
}
