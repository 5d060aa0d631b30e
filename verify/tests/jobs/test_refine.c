// SPDX-License-Identifier: MIT
// test_refine.c: regather refine on the D7 phantom: it finds back what was spoilt, whatever the file format, the batch and the
// device; and says what is wrong with input that it cannot take.
#include "../../../data/formats/par.h"
#include "../test_frealign.h"
#include "test_nlopt.h"

// 16 images of 128 pixels at a signal-to-noise ratio of 1/4, their poses off by 3 degrees and a pixel.
FIXTURE(make_phantom)
{
    rg_particles p;
    if (test_dir_make(state) != 0) return -1;
    rg_quiet = true;
    if (RUN(phantom, "phantom particles --shape d7 --box 128 --images 16 --sigma 1.5 --ctf --snr 0.25 --shift 2 --out %s",
            test_dir) != RG_GOOD)
        return -1;
    if (rg_particles_open(&p, in_dir("particles.star")) != RG_GOOD) return -1;
    spoil(&p, 3, 1);
    write_poses(in_dir("wrong.star"), &p, "particles.mrcs");
    rg_particles_close(&p);
    return 0;
}

#define REFINE(more, ...)                                                                                                      \
    RUN(refine, "refine %s/wrong.star --reference %s/map.mrc --device cpu --high 8 " more, test_dir, test_dir, __VA_ARGS__)

TEST(test_recovery)
{
    errors before = errors_of(in_dir("wrong.star"), in_dir("particles.star"), "D7");
    assert_true(fabs(before.median_deg - 3) < 0.01 && fabs(before.median_A - 258.0 / 128) < 0.01);
    assert_int_equal(REFINE("--out %s/new.star", test_dir), RG_GOOD);
    errors after = errors_of(in_dir("new.star"), in_dir("particles.star"), "D7");
    if (!(after.median_deg < 0.6 && after.median_A < 0.25))
        print_message("median %.2f deg, %.2f A\n", after.median_deg, after.median_A);
    assert_true(after.median_deg < 0.6 && after.median_A < 0.25);
    assert_true(after.worst_deg < 2 && after.worst_A < 1);
    assert_non_null(strstr(output, "evaluations a pose"));
}

// The same bits whatever shares the batch.
TEST(test_batch_does_not_matter)
{
    size_t n, m;
    assert_int_equal(REFINE("--out %s/all.star", test_dir), RG_GOOD);
    assert_int_equal(REFINE("--batch 5 --out %s/five.star", test_dir), RG_GOOD);
    char *all = get_file(in_dir("all.star"), &n), *five = get_file(in_dir("five.star"), &m);
    assert_true(n == m);
    assert_memory_equal(all, five, n);
    free(all);
    free(five);
}

// Needs are those of the particles, in whatever batches: half of them need half. Of the objective, a batch whose particles end
// one after another computes some values for nothing (poses.c, shrink), at most as many as it needs.
TEST(test_needs)
{
    size_t n;
    char *text = get_file(in_dir("wrong.star"), &n), *end = text;
    for (int image = 0; image < 9; image++) end = strchr(end, '@') + 1;
    while (end[-1] != '\n') end--;
    put_file("eight.star", text, (size_t)(end - text));
    free(text);
    assert_int_equal(REFINE("--out %s/a.star", test_dir), RG_GOOD);
    assert_int_equal(REFINE("--batch 1 --out %s/b.star", test_dir), RG_GOOD);
    assert_int_equal(RUN(refine, "refine %s/eight.star --reference %s/map.mrc --device cpu --high 8 --out %s/c.star", test_dir,
                         test_dir, test_dir),
        RG_GOOD);
    static const char *const routine[] = {"\nctfapply:", "\nsigma2:", "\npresb:", "\nccoef:"};
    for (int i = 0; i < RG_COUNT(routine); i++) {
        const double all = need_of("a_stages.tsv", routine[i]);
        assert_true(fabs(need_of("b_stages.tsv", routine[i]) / all - 1) < 2e-3); // four digits are written
        assert_true(fabs(need_of("c_stages.tsv", routine[i]) / all - 0.5) < 2e-3);
    }
    const double together = need_of("a_stages.tsv", "\ncc3m:"), one_by_one = need_of("b_stages.tsv", "\ncc3m:");
    assert_true(together > 0.999 * one_by_one && together < 2 * one_by_one);
}

TEST(test_other_forms)
{
    static const char *const form[] = {"--preset paper --tolerance 0.3", "--optimiser bobyqa --step 0.5 --tolerance 0.03"};
    for (int i = 0; i < RG_COUNT(form); i++) {
        assert_int_equal(REFINE("%s --out %s/other.star", form[i], test_dir), RG_GOOD);
        errors after = errors_of(in_dir("other.star"), in_dir("particles.star"), "D7");
        if (!(after.median_deg < 1 && after.median_A < 0.5))
            print_message("%s: median %.2f deg, %.2f A\n", form[i], after.median_deg, after.median_A);
        assert_true(after.median_deg < 1 && after.median_A < 0.5);
    }
}

// Shifts that all lie near 0 in PARTICLES hold those of the result there, unless they are not to.
TEST(test_prior)
{
    rg_particles p;
    assert_int_equal(rg_particles_open(&p, in_dir("particles.star")), RG_GOOD);
    for (int64_t i = 0; i < p.n; i++) p.row[i].origin_x_px = p.row[i].origin_y_px = i % 2 ? 0.02 : -0.02;
    write_poses(in_dir("centred.star"), &p, "particles.mrcs");
    rg_particles_close(&p);
    double apart_A[2];
    for (int without = 0; without < 2; without++) {
        assert_int_equal(
            RUN(refine, "refine %s/centred.star --reference %s/map.mrc --device cpu --high 8%s --out %s/prior.star", test_dir,
                test_dir, without ? " --no-prior" : "", test_dir),
            RG_GOOD);
        apart_A[without] = errors_of(in_dir("prior.star"), in_dir("particles.star"), "D7").median_A;
    }
    if (!(apart_A[0] > 1.5 && apart_A[1] < 0.5)) print_message("median %.2f A with, %.2f A without\n", apart_A[0], apart_A[1]);
    assert_true(apart_A[0] > 1.5 && apart_A[1] < 0.5);
}

// Noise takes more of the fine rings: without them the score is higher.
TEST(test_b_factor)
{
    double score[3] = {0, 0, 0};
    static const int b_A2[] = {-1000, 0, 1000};
    for (int k = 0; k < 3; k++) {
        rg_par out;
        assert_int_equal(
            RUN(refine,
                "refine %s/particles.star --reference %s/map.mrc --device cpu --high 8 --max-evaluations 1 --b-factor %d "
                "--out %s/b.par",
                test_dir, test_dir, b_A2[k], test_dir),
            RG_GOOD);
        assert_int_equal(rg_par_read(in_dir("b.par"), &out), RG_GOOD);
        for (int64_t i = 0; i < out.n; i++) score[k] += out.row[i].value[RG_PAR_SCORE] / (double)out.n;
        rg_par_free(&out);
    }
    assert_true(score[0] + 1 < score[1] && score[1] + 1 < score[2]);
}

// Rows of a .par file: hundredths of degrees and of A (pixels in version 8).
static void put_par(const char *name, int version, const rg_particles *p)
{
    rg_par par;
    rg_par_make(&par, version, p->n);
    for (int64_t i = 0; i < p->n; i++) {
        double *v = par.row[i].value;
        rg_par_set_pose(&par, i, &p->row[i], p->pixel_A);
        v[RG_PAR_DF1] = p->row[i].ctf.defocus_u_A;
        v[RG_PAR_DF2] = p->row[i].ctf.defocus_v_A;
        v[RG_PAR_ANGAST] = p->row[i].ctf.defocus_angle_deg;
    }
    assert_int_equal(rg_par_write(in_dir(name), &par), RG_GOOD);
    rg_par_free(&par);
}

// Version 8, shifts in pixels, to STAR; version 9, shifts in A, to .par and from there to STAR.
TEST(test_par_files)
{
    const rg_par_optics optics = {258.0 / 128, 200, 2, 0.07};
    rg_particles p;
    assert_int_equal(rg_particles_open(&p, in_dir("wrong.star")), RG_GOOD);
    for (int version = 8; version <= 9; version++) {
        put_par("in.par", version, &p);
        assert_int_equal(
            RUN(refine,
                "refine %s/in.par --stack %s/particles.mrcs --pixel %.9g --kv 200 --cs 2 --amplitude-contrast 0.07 "
                "--reference %s/map.mrc --device cpu --high 8 --out %s/out.%s",
                test_dir, test_dir, p.pixel_A, test_dir, test_dir, version == 8 ? "star" : "par"),
            RG_GOOD);
        if (version == 9) {
            rg_par out;
            rg_particles found;
            assert_int_equal(rg_par_read(in_dir("out.par"), &out), RG_GOOD);
            assert_true(rg_par_version(&out) == 9 && out.n == 16 && out.row[3].value[RG_PAR_SCORE] > 25);
            assert_true(out.row[3].value[RG_PAR_CHANGE] == out.row[3].value[RG_PAR_SCORE]); // it was 0
            assert_int_equal(rg_par_particles(&out, in_dir("particles.mrcs"), &optics, &found), RG_GOOD);
            write_poses(in_dir("out.star"), &found, "particles.mrcs");
            rg_particles_close(&found);
            rg_par_free(&out);
        }
        errors after = errors_of(in_dir("out.star"), in_dir("particles.star"), "D7");
        assert_true(after.median_deg < 0.6 && after.median_A < 0.25);
        unlink(in_dir("out.star"));
    }
    rg_particles_close(&p);
}

// The kernels of the GPU, emulated, score the same poses as those of the CPU.
TEST(test_devices_agree)
{
    static const char *const device[] = {"cpu", "host"};
    double score[2][2];
    assert_int_equal(
        RUN(phantom, "phantom particles --shape d7 --box 24 --images 2 --sigma 1 --ctf --shift 1 --out %s/small", test_dir),
        RG_GOOD);
    for (int d = 0; d < 2; d++) {
        rg_par out;
        assert_int_equal(RUN(refine,
                             "refine %s/small/particles.star --reference %s/small/map.mrc --device %s --max-evaluations 1 "
                             "--out %s/small.par",
                             test_dir, test_dir, device[d], test_dir),
            RG_GOOD);
        assert_int_equal(rg_par_read(in_dir("small.par"), &out), RG_GOOD);
        for (int i = 0; i < 2; i++) score[d][i] = out.row[i].value[RG_PAR_SCORE];
        rg_par_free(&out);
    }
    for (int i = 0; i < 2; i++) assert_true(fabs(score[0][i] - score[1][i]) < 0.011 && score[0][i] > 20);
}

// ---- input that cannot be taken ------------------------------------------------------------------------------------------

static int refine_text(const char *text, const char *more)
{
    put_text(in_dir("bad.star"), text);
    return RUN(refine, "refine %s/bad.star --reference %s/map.mrc --device cpu --out %s/bad_out.star %s", test_dir, test_dir,
        test_dir, more);
}

#define HEAD                                                                                                                   \
    "data_\nloop_\n_rlnImageName\n_rlnAngleRot\n_rlnAngleTilt\n_rlnAnglePsi\n_rlnDefocusU\n_rlnDefocusV\n_rlnDefocusAngle\n"   \
    "_rlnVoltage\n_rlnSphericalAberration\n_rlnAmplitudeContrast\n_rlnImagePixelSize\n"

static void put_images(const char *name, int64_t side, float value, int images)
{
    rg_mrc_out out;
    float *section = rg_alloc((size_t)(side * side) * sizeof *section);
    for (int64_t i = 0; i < side * side; i++) section[i] = value > 0 ? value : (float)(i % 7);
    assert_int_equal(rg_mrc_write_begin(&out, in_dir(name), side, side, images, RG_MRC_FLOAT32, 2, false), RG_GOOD);
    for (int i = 0; i < images; i++) assert_int_equal(rg_mrc_write_section(&out, section), RG_GOOD);
    assert_int_equal(rg_mrc_write_commit(&out), RG_GOOD);
    free(section);
}

static void put_stack(const char *name, int64_t side, float value) { put_images(name, side, value, 1); }

// Scores of fine rings have no sign; the whole coefficient has.
TEST(test_inverted)
{
    assert_refused(REFINE("--invert --out %s/inverted.star", test_dir), "of the reference's contrast, found the other one");
    assert_int_not_equal(access(in_dir("inverted.star"), F_OK), 0);
    assert_int_not_equal(access(in_dir("inverted.star.part"), F_OK), 0);
}

// A .par file has no columns for these, and the score would fall without them: asked before the work.
TEST(test_par_holds_less)
{
    static const struct {
        const char *columns, *row, *words;
    } lost[] = {
        {"_rlnPhaseShift\n", "90", "cannot hold what "},
        {"_rlnPhaseShift\n_rlnCtfBfactor\n_rlnCtfScalefactor\n", "90 5 0.5",
            "_rlnPhaseShift, _rlnCtfBfactor, _rlnCtfScalefactor;"},
        {"_rlnCtfDataAreCtfPremultiplied\n", "1", "no CTF has been applied, found _rlnCtfDataAreCtfPremultiplied 1"},
    };
    put_stack("one.mrcs", 128, 0);
    for (int i = 0; i < RG_COUNT(lost); i++) {
        char *text = rg_print(HEAD "%s1@one.mrcs 1 2 3 9000 8000 7 200 2 0.07 2.015625 %s\n", lost[i].columns, lost[i].row);
        put_text(in_dir("bad.star"), text);
        free(text);
        assert_refused(RUN(refine, "refine %s/bad.star --reference %s/map.mrc --device cpu --out %s/lost.par", test_dir,
                           test_dir, test_dir),
            lost[i].words);
    }
    put_images("two.mrcs", 128, 0, 2);
    const char *volts =
        HEAD "1@two.mrcs 1 2 3 9000 8000 7 200 2 0.07 2.015625\n2@two.mrcs 1 2 3 9000 8000 7 300 2 0.07 2.015625\n";
    put_text(in_dir("bad.star"), volts);
    assert_refused(
        RUN(search, "search %s/bad.star --reference %s/map.mrc --device cpu --out %s/lost.par", test_dir, test_dir, test_dir),
        "different _rlnVoltage; write a STAR file");
    assert_int_not_equal(access(in_dir("lost.par"), F_OK), 0);
}

TEST(test_refused)
{
    put_stack("flat.mrcs", 128, 3);
    put_stack("one.mrcs", 128, 0);
    put_stack("odd.mrcs", 33, 0);
    assert_refused(refine_text(HEAD "1@flat.mrcs 1 2 3 9000 8000 7 200 2 0.07 2.015625\n", ""),
        "flat.mrcs: image 1: expected a picture, found 3");
    assert_refused(refine_text(HEAD "1@odd.mrcs 1 2 3 9000 8000 7 200 2 0.07 2\n", ""), "even side");
    assert_refused(
        refine_text(HEAD "1@one.mrcs 1 2 3 0 0 7 200 2 0.07 2.015625\n", ""), "line 14: expected a defocus, found 0");
    assert_refused(refine_text(HEAD "1@one.mrcs 1 2 3 9000 8000 7 200 2 0.07 2.2\n", ""), "281.6 A");
    assert_refused(
        refine_text("data_\nloop_\n_rlnImageName\n_rlnAngleRot\n_rlnAngleTilt\n_rlnAnglePsi\n1@one.mrcs 1 2 3\n", ""),
        "expected a column _rlnDefocusU, found none");
    assert_refused(refine_text("data_\nloop_\n_rlnImageName\n1@one.mrcs\n", ""), "_rlnAngleRot");
#define ROW HEAD "1@one.mrcs 1 2 3 9000 8000 7 200 2 0.07 2.015625\n"
    assert_refused(refine_text(ROW, "--low 9 --high 8.9"), "leave no ring");
    assert_refused(refine_text(ROW, "--high 3"), "--high");
    assert_refused(refine_text(ROW, "--preset v7"), "expected v9 or paper");
    assert_refused(refine_text(ROW, "--optimiser guess"), "expected praxis or bobyqa");
    assert_refused(refine_text(ROW, "--variant batch"), "expected ctfapply:");
    assert_refused(refine_text(ROW, "--variant cc3m:none"), "none");
    assert_refused(RUN(refine, "refine %s/wrong.star --out x.star", test_dir), "refine: --reference VOL.mrc is needed");
    assert_refused(RUN(refine, "refine %s/wrong.star --reference %s/absent.mrc --device cpu --out x.star", test_dir, test_dir),
        "absent.mrc");
    put_file("a.par", "1 1 2 3 4 5 10000 1 9000 8000 7 66\n", 35);
    assert_refused(RUN(refine, "refine %s/a.par --reference %s/map.mrc --out x.star", test_dir, test_dir), "expected --stack");
    assert_refused(RUN(refine, "refine %s/a.par --stack %s/particles.mrcs --pixel 2 --reference %s/map.mrc --out x.star",
                       test_dir, test_dir, test_dir),
        "expected 16 rows");
    assert_int_not_equal(access(in_dir("bad_out.star"), F_OK), 0);
    assert_int_not_equal(access("x.star", F_OK), 0);
}

TESTS_WITH_NLOPT(make_phantom, test_dir_remove)
