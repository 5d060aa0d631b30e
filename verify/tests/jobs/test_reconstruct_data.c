// SPDX-License-Identifier: MIT
// test_reconstruct_data.c: reconstruct on data of other programs and of a microscope, if they are available, against
// independent values, with faults that must change the result.
#include "../test.h"
#include "test_reconstruct.h"

#define R2 "../shared/data/reconstruct/R2_tomodrgn_classE_clean/10076_classE_32"

// Independent values: correlation with the truth 0.915, FSC above 0.89 through shell 15; 0.727 with transposed matrices, 0.334
// with origins of the wrong sign.
TEST(test_r2) {
    SKIP_WITHOUT(R2 ".mrc");
    static edit_rows *const edit[3] = {NULL, transpose, turn_origins};
    double found[3], fsc[17];
    int64_t side;
    RG_FREED float *truth = read_map(R2 ".mrc", &side);
    for (int e = 0; e < 3; e++) {
        rc_job job = {0};
        RG_FREED float *map = map_of(&job, R2 "_clean.star", edit[e], "C1", false);
        found[e] = correlation(map, truth, side * side * side);
        if (!e) rg_fsc(side, map, truth, fsc);
    }
    print_message("R2: correlation %.4f, transposed %.4f, origins turned %.4f; FSC to shell 15 > %.4f\n", found[0], found[1],
        found[2], least(fsc, 15));
    assert_true(found[0] > 0.915 && least(fsc, 15) > 0.89);
    assert_true(fabs(found[1] - 0.727) < 0.05 && fabs(found[2] - 0.334) < 0.05);
}

// Transform of the truth on the padded grid, compared with G/W where five images have weights: too few for a map.
static double agreement(const rc_job *job, const float *truth) {
    int64_t n = job->padded, side = job->particles.side, k = job->k, pitch = n / 2 + 1, c = side / 2;
    fftwf_complex *f = fftwf_alloc_complex((size_t)(n * n * pitch));
    fftwf_plan plan = fftwf_plan_dft_r2c_3d((int)n, (int)n, (int)n, (float *)f, f, FFTW_ESTIMATE);
    memset(f, 0, (size_t)(n * n * pitch) * sizeof *f);
    for (int64_t i = 0; i < side * side * side; i++) {
        int64_t at[3] = {(i % side - c + n) % n, (i / side % side - c + n) % n, (i / side / side - c + n) % n};
        ((float *)f)[(at[2] * n + at[1]) * 2 * pitch + at[0]] = truth[i];
    }
    fftwf_execute(plan);
    const float *sum_g = sum_of(job, 0, GR_G), *sum_w = sum_of(job, 0, GR_W);
    double ab = 0, aa = 0, bb = 0;
    for (int64_t i = 0; i < gr_voxels(k); i++) {
        int64_t x = gr_voxel_x(k, i), y = gr_voxel_y(k, i), z = gr_voxel_z(k, i), r2 = x * x + y * y + z * z;
        if (sum_w[i] < 0.3 || r2 < 9 || 4 * r2 > k * k) continue;
        const float *t = f[((z + n) % n * n + (y + n) % n) * pitch + x];
        double g[2] = {sum_g[2 * i] / sum_w[i], sum_g[2 * i + 1] / sum_w[i]};
        ab += g[0] * t[0] + g[1] * t[1];
        aa += g[0] * g[0] + g[1] * g[1];
        bb += (double)t[0] * t[0] + (double)t[1] * t[1];
    }
    fftwf_destroy_plan(plan);
    fftwf_free(f);
    return ab / sqrt(aa * bb);
}

static void one_pixel_further(rg_particles *p) {
    for (int64_t i = 0; i < p->n; i++) p->row[i].origin_x_px = p->row[i].origin_y_px = -1;
}

#define R1 "../shared/data/reconstruct/R1_aspire_rln65/"

// An odd box of RELION, whose projections are shifted by one pixel in x and y from the map's centre.
TEST(test_r1) {
    SKIP_WITHOUT(R1 "rln_proj_65.star");
    double found[2];
    int64_t side;
    RG_FREED float *truth = read_map(R1 "clean70SRibosome_vol_65p.mrc", &side);
    for (int further = 0; further < 2; further++) {
        RG_ENDS(rc_job_free) rc_job job = {0};
        insert_job(&job, R1 "rln_proj_65.star", further ? one_pixel_further : NULL, "C1", false);
        found[further] = agreement(&job, truth);
    }
    print_message("R1: agreement of transforms %.4f, %.4f without the pixel\n", found[1], found[0]);
    assert_true(found[1] > 0.97 && found[0] < 0.9);
}

#define R3 "../shared/data/reconstruct/R3_real_ribo_tilts_220/sta_testing_bin8.star"

// Real images, 219 rows for 220 of them. Independent values of the FSC of odd and even rows, shells 1 to 7, without a mask. Its
// two subsets are one particle's tilts and five others': they are not comparable halves.
static void by_turns(rg_particles *p) { p->subsets = false; }

TEST(test_r3) {
    static const double known[8] = {1, 0.98, 0.94, 0.93, 0.87, 0.78, 0.60, 0.5};
    double fsc[33];
    SKIP_WITHOUT(R3);
    rc_job job = {.run.halves = 2, .mask_radius_px = 26};
    catch_stderr();
    insert_job(&job, R3, by_turns, "C1", false);
    assert_non_null(strstr(caught(), "219 rows; 1 image of its stacks has no row and is left out, the first is image 220"));
    float *half[2];
    for (int h = 0; h < 2; h++) {
        half[h] = rg_alloc(64 * 64 * 64 * sizeof(float));
        assert_int_equal(rc_make_map(&job.run, h, 0, half[h]), RG_GOOD);
    }
    rg_fsc(64, half[0], half[1], fsc);
    print_message("R3: FSC of odd and even rows");
    for (int s = 1; s <= 7; s++) print_message(" %.3f", fsc[s]);
    print_message("\n");
    for (int s = 1; s <= 7; s++) assert_true(fsc[s] > known[s] - 0.02);
    rc_job_free(&job);
    free(half[0]);
    free(half[1]);
}

#define F4 "../shared/data/frealign/F4_relion_project_ctf_24/"
#define F5 "../shared/data/frealign/F5_sim_ctf_noise_classE_720/10076_classE_32"

// RELION's projections with its CTF test the sign; F5 has the other sign (cryoDRGN's) and noise.
TEST(test_ctf_of_others) {
    SKIP_WITHOUT(F4 "pointmass.mrc");
    static const double known[9] = {1, 0.96, 0.99, 0.96, 0.91, 0.89, 0.67, 0.55, 0.48};
    double fsc[33];
    int64_t side;
    rc_job with = {.ctf = true}, noisy = {.ctf = true, .invert = true, .mask_radius_px = 13};
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
    for (int s = 1; s <= 8; s++) print_message(" %.3f", fsc[s]);
    print_message("\n");
    for (int s = 1; s <= 8; s++) assert_true(fsc[s] > known[s] - 0.02);
    // Whole boxes: this includes noise outside the particle, and in the Nyquist shell, which the map keeps.
    assert_true(correlation(map, truth, side * side * side) > 0.43);
    free(map);
    free(truth);
}

TESTS(test_dir_make, test_dir_remove)
