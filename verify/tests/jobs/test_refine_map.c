// SPDX-License-Identifier: MIT
// test_refine_map.c: regather reconstruct --method frealign: the phantom's map comes back to a quarter of the sampling rate,
// the same from the emulated GPU; signs and units on data that others have made.
#include "../../../data/formats/mrc.h"
#include "../../../data/formats/par.h"
#include "../test.h"
#include "../test_frealign.h"

// The column `fsc` of a table, at most n shells.
static int64_t read_fsc(const char *path, double *fsc, int64_t n)
{
    FILE *f = fopen(path, "r");
    char line[512];
    int64_t shells = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        double shell, frequency, resolution, value;
        if (sscanf(line, "%lf %lf %lf %lf", &shell, &frequency, &resolution, &value) == 4 && shells < n) fsc[shells++] = value;
    }
    fclose(f);
    return shells;
}

static void compare_maps(const char *a, const char *b, double *fsc, int64_t shells)
{
    catch_stderr(); // warnings of voxel sizes
    int code = RUN(fsc, "fsc %s %s --out %s/f.tsv", a, b, test_dir);
    caught();
    assert_int_equal(code, RG_GOOD);
    assert_int_equal(read_fsc(in_dir("f.tsv"), fsc, shells), shells);
}

TEST(test_recovery)
{
    double fsc[65], halves[65];
    assert_int_equal(
        RUN(phantom, "phantom particles --shape d7 --box 128 --images 200 --sigma 1.5 --ctf --shift 2 --out %s", test_dir),
        RG_GOOD);
    assert_int_equal(RUN(reconstruct,
                         "reconstruct %s/particles.star --method frealign --sym D7 --half-maps --mass 700 --device cpu "
                         "--out %s/vol.mrc",
                         test_dir, test_dir),
        RG_GOOD);
    compare_maps(in_dir("vol.mrc"), in_dir("map.mrc"), fsc, 65);
    for (int s = 1; s <= 33; s++) // 33 / 128 = 0.26 cycles a pixel
        assert_true(fsc[s] > 0.9);
    assert_int_equal(read_fsc(in_dir("vol_fsc.tsv"), halves, 65), 65);
    compare_maps(in_dir("vol_half1.mrc"), in_dir("vol_half2.mrc"), fsc, 65);
    for (int s = 0; s < 65; s++) assert_true(fabs(fsc[s] - halves[s]) < 1e-5);
    // The scale is that of the density of which the images are projections.
    rg_mrc ours, truth;
    float a[128 * 128], b[128 * 128];
    double ab = 0, bb = 0;
    assert_int_equal(rg_mrc_open(&ours, in_dir("vol.mrc")), RG_GOOD);
    assert_int_equal(rg_mrc_open(&truth, in_dir("map.mrc")), RG_GOOD);
    for (int64_t z = 40; z < 88; z++) {
        assert_int_equal(rg_mrc_section(&ours, z, a), RG_GOOD);
        assert_int_equal(rg_mrc_section(&truth, z, b), RG_GOOD);
        for (int i = 0; i < 128 * 128; i++) {
            ab += (double)a[i] * b[i];
            bb += (double)b[i] * b[i];
        }
    }
    rg_mrc_close(&ours);
    rg_mrc_close(&truth);
    assert_true(ab / bb > 0.85 && ab / bb < 1.05); // f takes some per cent away
}

// Without the operators, or with those of another group, the same 200 images give a worse map: they are used, and turned
// rightly.
TEST(test_symmetry_matters)
{
    double right[65], none[65], wrong[65];
    compare_maps(in_dir("vol.mrc"), in_dir("map.mrc"), right, 65);
    assert_int_equal(
        RUN(reconstruct, "reconstruct %s/particles.star --method frealign --device cpu --out %s/c1.mrc", test_dir, test_dir),
        RG_GOOD);
    compare_maps(in_dir("c1.mrc"), in_dir("map.mrc"), none, 65);
    assert_int_equal(RUN(reconstruct, "reconstruct %s/particles.star --method frealign --sym D3 --device cpu --out %s/d3.mrc",
                         test_dir, test_dir),
        RG_GOOD);
    compare_maps(in_dir("d3.mrc"), in_dir("map.mrc"), wrong, 65);
    assert_true(right[33] > none[33] + 0.02 && none[33] > 0.5 && wrong[20] < 0.7);
}

// The same parameters give the same map on both devices, to Nyquist; in both forms.
TEST(test_devices_agree)
{
    static const char *const preset[] = {"v9", "paper"};
    assert_int_equal(
        RUN(phantom, "phantom particles --shape d7 --box 24 --images 12 --sigma 1 --ctf --snr 1 --shift 1 --out %s/small",
            test_dir),
        RG_GOOD);
    for (int i = 0; i < 2; i++) {
        double fsc[13];
        for (int host = 0; host < 2; host++)
            assert_int_equal(
                RUN(reconstruct,
                    "reconstruct %s/small/particles.star --method frealign --preset %s --sym D7 --device %s --out %s/%d.mrc",
                    test_dir, preset[i], host ? "host" : "cpu", test_dir, host),
                RG_GOOD);
        compare_maps(in_dir("0.mrc"), in_dir("1.mrc"), fsc, 13);
        for (int s = 0; s < 12; s++) assert_true(fsc[s] > 0.99999);
    }
}

// Rows of occupancy 0 take no part; f given is f taken.
TEST(test_par_weights)
{
    rg_particles p;
    rg_par par;
    double fsc[13];
    assert_int_equal(rg_particles_open(&p, in_dir("small/particles.star")), RG_GOOD);
    rg_par_make(&par, 9, p.n);
    for (int64_t i = 0; i < p.n; i++) {
        double *v = par.row[i].value;
        rg_par_set_pose(&par, i, &p.row[i], p.pixel_A);
        v[RG_PAR_DF1] = p.row[i].ctf.defocus_u_A;
        v[RG_PAR_DF2] = p.row[i].ctf.defocus_v_A;
        v[RG_PAR_ANGAST] = p.row[i].ctf.defocus_angle_deg;
        v[RG_PAR_OCC] = i < 8 ? 100 : 0;
        v[RG_PAR_SCORE] = 10 + (double)i;
    }
    assert_int_equal(rg_par_write(in_dir("occ.par"), &par), RG_GOOD);
    p.n = 8;
    write_poses(in_dir("small/eight.star"), &p, "particles.mrcs");
#define PAR                                                                                                                    \
    "reconstruct %s/occ.par --stack %s/small/particles.mrcs --pixel 10.75 --kv 200 --cs 2 --method frealign --sym D7 "         \
    "--device cpu "
    assert_int_equal(RUN(reconstruct, PAR "--f 0.05 --out %s/occ.mrc", test_dir, test_dir, test_dir), RG_GOOD);
    assert_non_null(strstr(output, "f\t0.05 and 0.05"));
    catch_stderr();
    assert_int_equal(
        RUN(reconstruct, "reconstruct %s/small/eight.star --method frealign --f 0.05 --sym D7 --device cpu --out %s/eight.mrc",
            test_dir, test_dir),
        RG_GOOD);
    caught();
    compare_maps(in_dir("occ.mrc"), in_dir("eight.mrc"), fsc, 13);
    for (int s = 0; s < 12; s++) assert_true(fsc[s] > 0.9999); // angles and shifts of .par have two decimals
    assert_int_equal(RUN(reconstruct, PAR "--pbc 0.02 --out %s/pbc.mrc", test_dir, test_dir, test_dir), RG_GOOD);
    compare_maps(in_dir("occ.mrc"), in_dir("pbc.mrc"), fsc, 13);
    assert_true(fsc[10] < 0.99999 && fsc[2] > 0.99); // fine shells are weighted
    p.n = 12;
    rg_particles_close(&p);
    rg_par_free(&par);
}

#define F1 "../shared/data/frealign/F1_real_relion31_5/relion31.star"
#define F4 "../shared/data/frealign/F4_relion_project_ctf_24/"
#define F5 "../shared/data/frealign/F5_sim_ctf_noise_classE_720/10076_classE_32"

TEST(test_others_data)
{
    double fsc[17];
    float section[64 * 64], largest = 0;
    int64_t at[3] = {0, 0, 0};
    rg_mrc map;
    if (access(F5 "_sim.star", R_OK) != 0) {
        print_message("no ../shared/data/frealign here\n");
        skip();
    }
    // RELION's own projections of one point at z, y, x = 32, 32, 49.
    assert_int_equal(
        RUN(reconstruct, "reconstruct " F4 "relion_proj_batch.star --method frealign --device cpu --out %s/f4.mrc", test_dir),
        RG_GOOD);
    assert_int_equal(rg_mrc_open(&map, in_dir("f4.mrc")), RG_GOOD);
    for (int64_t z = 0; z < 64; z++) {
        assert_int_equal(rg_mrc_section(&map, z, section), RG_GOOD);
        for (int64_t i = 0; i < 64 * 64; i++)
            if (section[i] > largest) {
                largest = section[i];
                at[0] = i % 64, at[1] = i / 64, at[2] = z;
            }
    }
    rg_mrc_close(&map);
    assert_true(at[0] == 49 && at[1] == 32 && at[2] == 32);
    // Simulated with CTF, noise and dose weights: the shells that a correct program reaches.
    static const double reached[9] = {0, 0.96, 0.99, 0.96, 0.91, 0.89, 0.67, 0.55, 0.48};
    catch_stderr();
    int code =
        RUN(reconstruct, "reconstruct " F5 "_sim.star --method frealign --invert --device cpu --out %s/f5.mrc", test_dir);
    caught();
    assert_int_equal(code, RG_GOOD);
    compare_maps(in_dir("f5.mrc"), F5 ".mrc", fsc, 17);
    for (int s = 1; s <= 8; s++) assert_true(fsc[s] > reached[s]);
    // Five real particles: they are read, and give a map.
    assert_int_equal(
        RUN(reconstruct, "reconstruct " F1 " --method frealign --invert --resolution 30 --device cpu --out %s/f1.mrc",
            test_dir),
        RG_GOOD);
}

TEST(test_refused)
{
    assert_refused(RUN(reconstruct, "reconstruct %s/particles.star --method bilinear --out x.mrc", test_dir),
        "expected gridding or frealign");
    assert_refused(RUN(reconstruct, "reconstruct %s/particles.star --method frealign --sym E8 --out x.mrc", test_dir), "E8");
    assert_refused(RUN(reconstruct, "reconstruct %s/particles.star --method frealign --pbc 5 --out x.mrc", test_dir),
        "expected a .par file");
    assert_refused(RUN(reconstruct, "reconstruct %s/particles.star --method frealign --resolution 1 --out x.mrc", test_dir),
        "--resolution");
    assert_int_not_equal(access("x.mrc", F_OK), 0);
}

FIXTURE(make_folder) { return rg_quiet = true, test_dir_make(state); }

TESTS(make_folder, test_dir_remove)
