// SPDX-License-Identifier: MIT
// test_refine_more.c: what refine finds beside poses; runs that were stopped go on; several GPUs give what one gives; input
// that no mode of FREALIGN can take.
#include "../../../data/formats/mrc.h"
#include "../test_frealign.h"
#include "test_nlopt.h"

// 12 images of 96 pixels for the CPU, 13 of 24 for the emulated GPU.
FIXTURE(make_phantoms)
{
    if (test_dir_make(state) != 0) return -1;
    rg_quiet = true;
    if (RUN(phantom, "phantom particles --shape d7 --box 96 --images 12 --sigma 1.2 --ctf --snr 2 --shift 2 --out %s",
            test_dir) != RG_GOOD)
        return -1;
    return RUN(phantom, "phantom particles --shape d7 --box 24 --images 13 --sigma 1 --ctf --snr 1 --shift 1 --out %s/small",
        test_dir);
}

// The particles with all defoci and the pixel size changed.
static void put_spoilt(const char *name, double defocus_A, double pixel_A)
{
    rg_particles p;
    assert_int_equal(rg_particles_open(&p, in_dir("particles.star")), RG_GOOD);
    for (int64_t i = 0; i < p.n; i++) {
        p.row[i].ctf.defocus_u_A += defocus_A;
        p.row[i].ctf.defocus_v_A += defocus_A;
    }
    p.pixel_A = pixel_A;
    write_poses(in_dir(name), &p, "particles.mrcs");
    rg_particles_close(&p);
}

TEST(test_defocus)
{
    rg_particles truth, found;
    put_spoilt("defocus.star", 500, 258.0 / 96);
    assert_int_equal(RUN(refine,
                         "refine %s/defocus.star --reference %s/map.mrc --device cpu --high 6 --also defocus "
                         "--out %s/new.star",
                         test_dir, test_dir, test_dir),
        RG_GOOD);
    assert_int_equal(rg_particles_open(&truth, in_dir("particles.star")), RG_GOOD);
    assert_int_equal(rg_particles_open(&found, in_dir("new.star")), RG_GOOD);
    double off = 0;
    for (int64_t i = 0; i < truth.n; i++) {
        off += fabs(found.row[i].ctf.defocus_u_A - truth.row[i].ctf.defocus_u_A) / (double)truth.n;
        assert_true(fabs(found.row[i].ctf.defocus_u_A - found.row[i].ctf.defocus_v_A -
                        (truth.row[i].ctf.defocus_u_A - truth.row[i].ctf.defocus_v_A)) < 0.01);
    }
    if (!(off < 150)) print_message("off by %.0f A on average\n", off);
    assert_true(off < 150); // it was 500 A
    rg_particles_close(&truth);
    rg_particles_close(&found);
}

// The middle 96^3 of a map of 98^3, in which the particle is 98/96 times as large.
static void cut_map(const char *from, const char *to)
{
    rg_mrc in;
    rg_mrc_out out;
    float section[98 * 98], cut[96 * 96];
    assert_int_equal(rg_mrc_open(&in, from), RG_GOOD);
    assert_int_equal(rg_mrc_write_begin(&out, to, 96, 96, 96, RG_MRC_FLOAT32, 258.0 / 98, true), RG_GOOD);
    for (int64_t z = 0; z < 96; z++) {
        assert_int_equal(rg_mrc_section(&in, z + 1, section), RG_GOOD);
        for (int i = 0; i < 96 * 96; i++) cut[i] = section[(i / 96 + 1) * 98 + i % 96 + 1];
        assert_int_equal(rg_mrc_write_section(&out, cut), RG_GOOD);
    }
    assert_int_equal(rg_mrc_write_commit(&out), RG_GOOD);
    rg_mrc_close(&in);
}

TEST(test_magnification)
{
    double found;
    assert_int_equal(
        RUN(phantom, "phantom particles --shape d7 --box 98 --images 1 --sigma 1.225 --out %s/large", test_dir), RG_GOOD);
    cut_map(in_dir("large/map.mrc"), in_dir("cut.mrc"));
    put_spoilt("pixel.star", 0, 258.0 / 98);
    assert_int_equal(RUN(refine,
                         "refine %s/pixel.star --reference %s/cut.mrc --device cpu --high 6 --also magnification "
                         "--out %s/new.star",
                         test_dir, test_dir, test_dir),
        RG_GOOD);
    const char *said = strstr(output, "magnification\t");
    assert_non_null(said);
    assert_int_equal(sscanf(said, "magnification\t%lf", &found), 1);
    if (!(fabs(found - 98.0 / 96) < 0.003)) print_message("magnification %.5f\n", found);
    assert_true(fabs(found - 98.0 / 96) < 0.003);
}

// A particle never ends lower with more starts, and some end higher when they began 25 degrees off.
TEST(test_restarts)
{
    rg_particles p;
    double score[2];
    assert_int_equal(rg_particles_open(&p, in_dir("particles.star")), RG_GOOD);
    spoil(&p, 25, 0);
    write_poses(in_dir("far.star"), &p, "particles.mrcs");
    rg_particles_close(&p);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(RUN(refine,
                             "refine %s/far.star --reference %s/map.mrc --device cpu --high 12 --restarts %d "
                             "--restart-angle 30 --out %s/new.star",
                             test_dir, test_dir, 7 * i, test_dir),
            RG_GOOD);
        assert_int_equal(sscanf(output, "mean score\t%lf", &score[i]), 1);
    }
    assert_true(score[1] > score[0] + 1);
}

// ---- stopped and resumed -------------------------------------------------------------------------------------------------

// The stack, with image `flat` (from 0) constant; -1: none. Last changed `at` seconds after 1970.
static void copy_stack(const char *to, int64_t flat, time_t at)
{
    static float section[96 * 96];
    const struct timespec time[2] = {{.tv_sec = at}, {.tv_sec = at}};
    rg_mrc in;
    rg_mrc_out out;
    assert_int_equal(rg_mrc_open(&in, in_dir("particles.mrcs")), RG_GOOD);
    assert_int_equal(rg_mrc_write_begin(&out, in_dir(to), 96, 96, 12, RG_MRC_FLOAT32, 258.0 / 96, false), RG_GOOD);
    for (int64_t z = 0; z < 12; z++) {
        assert_int_equal(rg_mrc_section(&in, z, section), RG_GOOD);
        for (int i = 0; i < 96 * 96 && z == flat; i++) section[i] = 1;
        assert_int_equal(rg_mrc_write_section(&out, section), RG_GOOD);
    }
    assert_int_equal(rg_mrc_write_commit(&out), RG_GOOD);
    rg_mrc_close(&in);
    assert_int_equal(utimensat(AT_FDCWD, in_dir(to), time, 0), 0);
}

// stop.star, with its first two rows the other way round or not.
static void write_stop(bool turned)
{
    rg_particles p;
    assert_int_equal(rg_particles_open(&p, in_dir("particles.star")), RG_GOOD);
    rg_particle first = p.row[0];
    if (turned) {
        p.row[0] = p.row[1];
        p.row[1] = first;
    }
    write_poses(in_dir("stop.star"), &p, "stop.mrcs");
    rg_particles_close(&p);
}

static void assert_same(const char *name, const char *text, size_t n, const char *until)
{
    size_t m = 0;
    char *now = get_file(in_dir(name), &m), *a = until ? strstr(now, until) : now;
    const char *b = until ? strstr(text, until) : text;
    assert_non_null(a);
    assert_non_null(b);
    assert_true(n - (size_t)(b - text) == m - (size_t)(a - now));
    assert_string_equal(a, b);
    free(now);
}

#define STOPPED "refine %s/stop.star --reference %s/map.mrc --device cpu --high 9 --batch 2 --out %s/stopped.star"
#define GO(more) RUN(refine, STOPPED more, test_dir, test_dir, test_dir)

// A run that ends at image 10 of 12 leaves 8 particles behind; the rest gives what one whole run gives, bit for bit, and so do
// the sums over all of them.
TEST(test_resume)
{
    size_t n = 0, rings = 0, bytes = 0;
    write_stop(false);
    copy_stack("stop.mrcs", -1, 1000);
    assert_refused(GO(" --resume"), "stopped.star.part, found none");
    assert_int_equal(GO(""), RG_GOOD);
    char *whole = get_file(in_dir("stopped.star"), &n), *whole_rings = get_file(in_dir("stopped_rings.tsv"), &rings);
    char *said = rg_print("%s", strstr(output, "mean coefficient"));
    assert_int_equal(access(in_dir("stopped.star.part"), F_OK), -1); // nothing is left behind
    unlink(in_dir("stopped.star"));
    copy_stack("stop.mrcs", 9, 1000);
    assert_refused(GO(""), "image 10: expected a picture");
    assert_int_equal(access(in_dir("stopped.star"), F_OK), -1);
    copy_stack("stop.mrcs", -1, 1000);
    assert_refused(GO(" --tolerance 0.2 --resume"), "another command");
    assert_refused(GO(""), "go on with --resume");
    char *part = get_file(in_dir("stopped.star.part"), &bytes);
    FILE *f = fopen(in_dir("stopped.star.part"), "a"); // what a kill in the middle of a line leaves
    fputs("11\t1.5\t2", f);
    fclose(f);
    assert_int_equal(GO(" --resume"), RG_GOOD);
    assert_non_null(strstr(output, "resumed\t8 particles"));
    assert_non_null(strstr(output, "mean coefficient"));
    assert_true(strncmp(strstr(output, "mean coefficient"), said, strcspn(said, "(")) == 0); // and evaluations a pose
    assert_same("stopped.star", whole, n, NULL);
    assert_same("stopped_rings.tsv", whole_rings, rings, "ring\t");
    // A batch whose end is missing is computed again.
    put_file("stopped.star.part", part, bytes - 3);
    assert_int_equal(GO(" --resume"), RG_GOOD);
    assert_non_null(strstr(output, "resumed\t6 particles"));
    assert_same("stopped.star", whole, n, NULL);
    assert_same("stopped_rings.tsv", whole_rings, rings, "ring\t");
    put_file("kept.part", part, bytes);
    free(part);
    free(said);
    free(whole);
    free(whole_rings);
}

// What is no longer what it was, and what is no result: refused, the finished rows kept.
TEST(test_resume_refused)
{
    size_t n = 0;
    char *part = get_file(in_dir("kept.part"), &n), *bad;
    put_file("stopped.star.part", part, n);
    write_stop(true);
    assert_refused(GO(" --resume"), "have changed since");
    write_stop(false);
    copy_stack("stop.mrcs", -1, 2000);
    assert_refused(GO(" --resume"), "have changed since");
    copy_stack("stop.mrcs", -1, 1000);
    assert_same("stopped.star.part", part, n, NULL);
    static const struct {
        const char *from, *to, *words;
    } change[] = {{"\n1\t", "\n0\t", "every row once"}, {"\n1\t", "\n1\tnan", "line 6: expected a row"},
        {"\n1\t", "\n1\t1e999", "line 6: expected a row"}, {"\n1\t", "\n12\t", "line 6: expected a row"},
        {"\n1\t", "\n-1\t", "line 6: expected a row"}, {"batch\t2\t", "batch\t3\t", "line 7: expected the sums"},
        {"batch\t2\t", "batch\t2.\t", "line 7: expected the sums"}, {"# regather", "# what I ", "expected finished"}};
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        const char *at = strstr(part, change[i].from);
        assert_non_null(at);
        bad = rg_print("%.*s%s%s", (int)(at - part), part, change[i].to, at + strlen(change[i].from));
        put_text(in_dir("stopped.star.part"), bad);
        assert_refused(GO(" --resume"), change[i].words);
        assert_same("stopped.star.part", bad, strlen(bad), NULL);
        free(bad);
    }
    // Nothing finished: a first run, with --resume and without it.
    put_file("stopped.star.part", "", 0);
    assert_int_equal(GO(" --resume"), RG_GOOD);
    put_file("stopped.star.part", part, (size_t)(strstr(part, "batch") - part));
    assert_int_equal(GO(""), RG_GOOD);
    assert_null(strstr(output, "resumed"));
    free(part);
}

// ---- several GPUs --------------------------------------------------------------------------------------------------------

TEST(test_gpus_alike)
{
    static const char *const command[] = {
        "refine --high 22 --tolerance 0.5", "search --sym D7 --angle 45 --best 1 --max-evaluations 3"};
    for (int i = 0; i < 2; i++) {
        size_t n[2];
        char *text[2];
        for (int gpus = 1; gpus <= 3; gpus += 2) {
            char *words = rg_print("%s %s/small/particles.star --reference %s/small/map.mrc --device host --gpus %d "
                                   "--out %s/small/gpus.star",
                command[i], test_dir, test_dir, gpus, test_dir);
            assert_int_equal(run_command(i ? &rg_cmd_search : &rg_cmd_refine, words, output), RG_GOOD);
            text[gpus / 2] = get_file(in_dir("small/gpus.star"), &n[gpus / 2]);
            free(words);
        }
        assert_true(n[0] == n[1]);
        assert_memory_equal(text[0], text[1], n[0]);
        free(text[0]);
        free(text[1]);
    }
}

// Maps of 2, 4 and 6 GPUs, which add in other orders, and of more GPUs than rows.
TEST(test_gpus_map)
{
    static float one[24 * 24 * 24], other[24 * 24 * 24];
    static const int gpus[] = {1, 2, 4, 6, 14};
    for (int i = 0; i < RG_COUNT(gpus); i++) {
        rg_mrc map;
        float *to = i ? other : one;
        double off = 0, size = 0;
        assert_int_equal(RUN(reconstruct,
                             "reconstruct %s/small/particles.star --method frealign --sym D7 --device host "
                             "--gpus %d --out %s/small/gpus.mrc",
                             test_dir, gpus[i], test_dir),
            RG_GOOD);
        assert_int_equal(rg_mrc_open(&map, in_dir("small/gpus.mrc")), RG_GOOD);
        for (int64_t z = 0; z < 24; z++) assert_int_equal(rg_mrc_section(&map, z, to + z * 24 * 24), RG_GOOD);
        rg_mrc_close(&map);
        for (int e = 0; e < 24 * 24 * 24 && i; e++) {
            off += (one[e] - other[e]) * (one[e] - other[e]);
            size += one[e] * one[e];
        }
        assert_true(!i || (off > 0 && sqrt(off / size) < 1e-5)); // rounding, and nothing else
    }
#define MAP "reconstruct %s/small/particles.star --method frealign --out x.mrc "
    assert_refused(RUN(reconstruct, MAP "--device host --gpus 3", test_dir), "expected an even number");
    assert_refused(RUN(reconstruct, MAP "--device cpu --gpus 2", test_dir), "--gpus: ctfapply:simd runs on the CPU");
}

// ---- input that cannot be taken ------------------------------------------------------------------------------------------

TEST(test_reference)
{
#define SMALL "refine %s/particles.star --reference %s/small/map.mrc --device cpu --high 22 --out %s/new.star "
    // The same field of view at another sampling is resampled; with another pixel size it is another field of view.
    assert_int_equal(RUN(refine, SMALL, test_dir, test_dir, test_dir), RG_GOOD);
    assert_true(errors_of(in_dir("new.star"), in_dir("particles.star"), "D7").median_deg < 3);
    // Written to another folder, the file still leads to its stack, which stands beside the first one.
    assert_int_equal(mkdir(in_dir("elsewhere"), 0777), 0);
    assert_int_equal(RUN(refine,
                         "refine %s/particles.star --reference %s/small/map.mrc --device cpu --high 22 "
                         "--out %s/elsewhere/new.star",
                         test_dir, test_dir, test_dir),
        RG_GOOD);
    rg_particles p;
    assert_int_equal(rg_particles_open(&p, in_dir("elsewhere/new.star")), RG_GOOD);
    rg_particles_close(&p);
    unlink(in_dir("elsewhere/new.star"));
    unlink(in_dir("elsewhere/new_rings.tsv"));
    unlink(in_dir("elsewhere/new_stages.tsv"));
    unlink(in_dir("elsewhere/new.star.log"));
    assert_int_equal(rmdir(in_dir("elsewhere")), 0);
    assert_refused(RUN(refine, SMALL "--reference-pixel 9", test_dir, test_dir, test_dir), "216.0 A wide, the images 258.0 A");
    assert_refused(
        RUN(refine, "refine %s/particles.star --reference %s/particles.mrcs --device cpu --out x.star", test_dir, test_dir),
        "expected a cubic map");
}

// Every mode says the same of the same fault.
TEST(test_refused)
{
    static const struct {
        const char *optics, *row, *words;
    } bad[] = {
        {"_rlnDefocusU\n_rlnDefocusV\n_rlnDefocusAngle\n_rlnVoltage\n_rlnSphericalAberration\n_rlnAmplitudeContrast\n",
            "0 0 7 200 2 0.07", "expected a defocus, found 0"},
        {"_rlnDefocusU\n_rlnDefocusV\n_rlnDefocusAngle\n_rlnVoltage\n_rlnAmplitudeContrast\n", "9000 9000 7 200 0.07",
            "expected a column _rlnSphericalAberration, found none"},
        {"_rlnDefocusU\n_rlnDefocusV\n_rlnDefocusAngle\n_rlnVoltage\n_rlnSphericalAberration\n_rlnAmplitudeContrast\n",
            "9000 8000 7 200 2 0.07", "flat.mrcs: image 1: expected a picture, found 3"},
    };
    rg_mrc_out out;
    float flat[96 * 96];
    for (int i = 0; i < 96 * 96; i++) flat[i] = 3;
    assert_int_equal(rg_mrc_write_begin(&out, in_dir("flat.mrcs"), 96, 96, 2, RG_MRC_FLOAT32, 258.0 / 96, false), RG_GOOD);
    for (int i = 0; i < 2; i++) assert_int_equal(rg_mrc_write_section(&out, flat), RG_GOOD);
    assert_int_equal(rg_mrc_write_commit(&out), RG_GOOD);
    for (int i = 0; i < RG_COUNT(bad); i++) {
        char *text = rg_print("data_\nloop_\n_rlnImageName\n_rlnAngleRot\n_rlnAngleTilt\n_rlnAnglePsi\n%s"
                              "1@flat.mrcs 1 2 3 %s\n2@flat.mrcs 1 2 3 %s\n",
            bad[i].optics, bad[i].row, bad[i].row);
        put_text(in_dir("bad.star"), text);
        free(text);
#define ON_BAD "%s/bad.star --device cpu --out %s/bad_out"
        assert_refused(
            RUN(refine, "refine " ON_BAD ".star --reference %s/map.mrc", test_dir, test_dir, test_dir), bad[i].words);
        assert_refused(
            RUN(search, "search " ON_BAD ".star --reference %s/map.mrc", test_dir, test_dir, test_dir), bad[i].words);
        assert_refused(RUN(reconstruct, "reconstruct " ON_BAD ".mrc --method frealign", test_dir, test_dir), bad[i].words);
    }
    put_file("short.par", "1 1 2 3 4 5 10000 1 9000 8000 7 66\n", 35);
    put_file("zero.par", "1 1 2 3 4 5 10000 1 0 0 7 66\n2 1 2 3 4 5 10000 1 0 0 7 66\n", 58);
#define ON_PAR(name, stack) name ".par --stack %s/" stack ".mrcs --pixel 2.6875 --device cpu --out %s/bad_out"
    assert_refused(RUN(refine, "refine %s/" ON_PAR("short", "particles") ".star --reference %s/map.mrc", test_dir, test_dir,
                       test_dir, test_dir),
        "expected 12 rows");
    assert_refused(
        RUN(reconstruct, "reconstruct %s/" ON_PAR("short", "particles") ".mrc --method frealign", test_dir, test_dir, test_dir),
        "expected 12 rows");
    assert_refused(
        RUN(refine, "refine %s/" ON_PAR("zero", "flat") ".star --reference %s/map.mrc", test_dir, test_dir, test_dir, test_dir),
        "expected a defocus, found 0");
#define GOOD "refine %s/particles.star --reference %s/map.mrc --device cpu --out %s/bad_out.star "
    assert_refused(RUN(refine, GOOD "--step 2", test_dir, test_dir, test_dir), "--step goes with --optimiser bobyqa only");
    assert_refused(RUN(refine, GOOD "--also beam", test_dir, test_dir, test_dir), "expected defocus or magnification");
    assert_refused(RUN(refine, GOOD "--also defocus --restarts 2", test_dir, test_dir, test_dir), "no room for --restarts");
    assert_int_not_equal(access(in_dir("bad_out.star"), F_OK), 0);
    assert_int_not_equal(access(in_dir("bad_out.mrc"), F_OK), 0);
}

TESTS_WITH_NLOPT(make_phantoms, test_dir_remove)
