// SPDX-License-Identifier: MIT
// test_average.c: the job average: whole jobs against known poses and, where they are at hand, against volumes of other
// programs, and bad input.
#include "../../../data/phantoms/blobs.h"
#include "../../../data/geometry/fsc.h"
#include "../../../data/formats/mrc.h"
#include "../../../data/phantoms/noise.h"
#include "../../../impl/base/symmetry.h"
#include "../../../impl/jobs/average/average.h"
#include "../../../impl/affine/index.h"
#include "../test.h"
#include "../test_command.h"
#include "../test_data.h"

#include <math.h>

extern const rg_command rg_cmd_average, rg_cmd_phantom;
static char printed[OUTPUT_MAX];

static double uniform(uint64_t i) { return rg_uniform(77, i); }

// ---- whole jobs ----------------------------------------------------------------------------------------------------------

static int average(const char *words)
{
    int code = run_command(&rg_cmd_average, fmt("average %s --quiet --threads 1 --out %s", words, in_dir("avg.mrc")), printed);
    return code;
}

static void simulate(const char *name, const char *options)
{
    assert_int_equal(
        run_command(&rg_cmd_phantom, fmt("phantom subtomograms --out %s --quiet %s", in_dir(name), options), printed), RG_GOOD);
}

// "DIR/subtomogram_0001.mrc ..", malloc'ed.
static char *particles(const char *name, int n)
{
    char *words = rg_print("%s", "");
    for (int i = 1; i <= n; i++) {
        char *more = rg_print("%s%s%s/subtomogram_%04d.mrc", words, i > 1 ? " " : "", in_dir(name), i);
        free(words);
        words = more;
    }
    return words;
}

static void row_matrix(const rg_tsv *t, int i, double a[9])
{
    rg_particle_matrix(rg_tsv_number(t, i, "rot_deg"), rg_tsv_number(t, i, "tilt_deg"), rg_tsv_number(t, i, "psi_deg"), a);
}

// Median angle and shift of the job's own table of errors, and Q, the frame of the truth in that of the average.
static void pose_errors(const char *truth_path, int n, double *angle_deg, double *shift_px, double q[9])
{
    rg_tsv t;
    rg_pose found[64], truth[64];
    assert_int_equal(rg_poses_read(in_dir("avg.poses.tsv"), n, found), RG_GOOD);
    assert_int_equal(rg_poses_read(truth_path, n, truth), RG_GOOD);
    aj_common_rotation(n, found, truth, q);
    assert_int_equal(rg_tsv_read(in_dir("avg.errors.tsv"), &t), RG_GOOD);
    assert_string_equal(rg_tsv_cell(&t, 0, "quantity"), "rotation_deg");
    *angle_deg = rg_tsv_number(&t, 0, "median");
    *shift_px = rg_tsv_number(&t, 1, "median");
    print_message("pose errors: median %.2f degrees (largest %s), %.3f px (largest %s)\n", *angle_deg,
        rg_tsv_cell(&t, 0, "largest"), *shift_px, rg_tsv_cell(&t, 1, "largest"));
    rg_tsv_free(&t);
}

// Poses turned from one frame to another and away from it: the turn is found, and what each is off remains.
TEST(test_common_rotation)
{
    rg_pose found[5], truth[5];
    double q[9], known[9], a[9], b[9];
    rg_particle_matrix(20, 130, -60, known);
    for (int i = 0; i < 5; i++) {
        truth[i] = (rg_pose){360 * uniform(40 + i), 180 * uniform(50 + i), 360 * uniform(60 + i), {0}};
        rg_particle_matrix(truth[i].rot_deg, truth[i].tilt_deg, truth[i].psi_deg, b);
        for (int k = 0; k < 9; k++) { // A found = A true Q^T
            const double *row = b + k / 3 * 3, *column = known + k % 3 * 3;
            a[k] = row[0] * column[0] + row[1] * column[1] + row[2] * column[2];
        }
        rg_pose_angles(a, &found[i]);
    }
    aj_common_rotation(5, found, truth, q);
    assert_true(rg_rotation_apart_deg(q, known) < 1e-6);
}

// The phantom's map of 48^3 voxels in the average's frame: its parts turned by Q.
static void true_map(const double q[9], float *map)
{
    enum { SIDE = 48 };
    rg_blob blob[RG_ASYMMETRIC_BLOBS];
    double section[SIDE * SIDE];
    rg_blobs_asymmetric(SIDE, SIDE / 40.0, 1, blob);
    for (int b = 0; b < RG_ASYMMETRIC_BLOBS; b++) {
        double at[3] = {blob[b].at[0], blob[b].at[1], blob[b].at[2]};
        for (int axis = 0; axis < 3; axis++)
            blob[b].at[axis] = q[3 * axis] * at[0] + q[3 * axis + 1] * at[1] + q[3 * axis + 2] * at[2];
    }
    double *factors = rg_blobs_factors(RG_ASYMMETRIC_BLOBS, blob, SIDE);
    for (int64_t z = 0; z < SIDE; z++) {
        rg_blobs_section(RG_ASYMMETRIC_BLOBS, blob, factors, SIDE, z, section);
        for (int i = 0; i < SIDE * SIDE; i++) map[z * SIDE * SIDE + i] = (float)section[i];
    }
    free(factors);
}

// Noise of the signal's variance and a missing wedge of 60 degrees, no reference: the bounds of the issue.
TEST(test_wedge_and_noise)
{
    enum { SIDE = 48 };
    double angle, shift, q[9], fsc[SIDE / 2 + 1];
    rg_volume map;
    simulate("noisy", "--box 48 --images 8 --snr 1 --wedge 60");
    char *files = particles("noisy", 8);
    assert_int_equal(average(fmt("%s --wedge 60 --half-maps --truth %s", files, in_dir("noisy/truth.tsv"))), RG_GOOD);
    assert_non_null(strstr(printed, "converged after "));
    assert_null(strstr(printed, "not converged"));
    pose_errors(in_dir("noisy/truth.tsv"), 8, &angle, &shift, q);
    assert_true(angle < 2 && shift < 0.25);
    assert_int_equal(rg_volume_read(in_dir("avg.mrc"), &map), RG_GOOD);
    float *truth = rg_alloc(SIDE * SIDE * SIDE * sizeof *truth);
    true_map(q, truth);
    aj_sphere(SIDE, 0.4 * SIDE, map.value);
    rg_fsc(SIDE, map.value, truth, fsc);
    print_message(
        "FSC of the average with the truth: shell 4 %.3f, 8 %.3f, 12 %.3f, 16 %.3f\n", fsc[4], fsc[8], fsc[12], fsc[16]);
    assert_true(fsc[4] > 0.98 && fsc[8] > 0.95 && fsc[12] > 0.6);
    assert_true(fabs(map.voxel_A - 1.5) < 1e-6);
    static const char *const made[] = {"avg_half1.mrc", "avg_half2.mrc", "avg.fsc.tsv", "avg.poses.tsv", "avg.iterations.tsv"};
    for (int i = 0; i < RG_COUNT(made); i++) assert_int_equal(access(in_dir(made[i]), R_OK), 0);
    free(truth);
    free(map.value);
    free(files);
}

// Little noise, nothing missing, the map as reference: small errors only, and the average is the map.
TEST(test_clean)
{
    double angle, shift, q[9], fsc[17], unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    rg_volume map, truth;
    simulate("clean", "--box 32 --images 5 --snr 100 --wedge 90 --sigma 1.2 --shift 2");
    char *files = particles("clean", 5);
    assert_int_equal(average(fmt("%s --reference %s --iterations 2 --everywhere 1 --truth %s", files, in_dir("clean/map.mrc"),
                         in_dir("clean/truth.tsv"))),
        RG_GOOD);
    pose_errors(in_dir("clean/truth.tsv"), 5, &angle, &shift, q);
    assert_true(angle < 0.5 && shift < 0.06 && rg_rotation_apart_deg(q, unit) < 0.5);
    assert_int_equal(rg_volume_read(in_dir("avg.mrc"), &map), RG_GOOD);
    assert_int_equal(rg_volume_read(in_dir("clean/map.mrc"), &truth), RG_GOOD);
    rg_fsc(32, map.value, truth.value, fsc);
    print_message("FSC with the truth: shell 4 %.4f, 8 %.4f, 12 %.4f\n", fsc[4], fsc[8], fsc[12]);
    assert_true(fsc[4] > 0.995 && fsc[8] > 0.95); // beyond, the parts of the map are weaker than the noise
    free(map.value);
    free(truth.value);
    free(files);
}

// ---- volumes of others ---------------------------------------------------------------------------------------------------

#define S1 "../shared/data/subtomo3d/S1_pytom_known_pose/"
#define S2 "../shared/data/subtomo3d/S2_real_subtomogram_cryocat/"
#define S4 "../shared/data/subtomo3d/S4_emd3420_64/emd_3420_b4.mrc"

// A ribosome of known pose, SNR 1, tilts to 60 degrees, made by another program; and a sphere, which looks like nothing.
// Noise and poses follow from the seed, the header has the size of a voxel.
TEST(test_phantom)
{
    char *file[3];
    size_t n[3];
    for (int i = 0; i < 3; i++) {
        rg_mrc mrc;
        simulate("small", fmt("--box 16 --images 1 --pixel 3.5 --seed %d", 1 + i / 2));
        file[i] = get_file(in_dir("small/subtomogram_0001.mrc"), &n[i]);
        assert_int_equal(rg_mrc_open(&mrc, in_dir("small/subtomogram_0001.mrc")), RG_GOOD);
        assert_true(fabs(rg_mrc_voxel_A(&mrc, true) - 3.5) < 1e-6);
        rg_mrc_close(&mrc);
    }
    assert_int_equal(n[0], 1024 + 4 * 16 * 16 * 16);
    assert_memory_equal(file[0] + 1024, file[1] + 1024, n[0] - 1024);
    assert_memory_not_equal(file[0] + 1024, file[2] + 1024, n[0] - 1024);
    for (int i = 0; i < 3; i++) free(file[i]);
}

TEST(test_s1)
{
    SKIP_WITHOUT(S1 "particle_0.mrc");
    static const double known[9] = {-0.176564566, 0.179312528, -0.967818150, -0.568606069, -0.821184221, -0.048410887,
        -0.803437672, 0.541759626, 0.246950227};
    rg_tsv t;
    double a[9];
    assert_int_equal(average(S1 "particle_0.mrc " S1 "particle_1.mrc --reference " S1 "ribo_ref_100.mrc --wedge 60 "
                                "--band-pass 2,0 --iterations 1 --everywhere 1"),
        RG_GOOD);
    assert_int_equal(rg_tsv_read(in_dir("avg.poses.tsv"), &t), RG_GOOD);
    row_matrix(&t, 0, a);
    double apart = rg_rotation_apart_deg(a, known), rho = rg_tsv_number(&t, 0, "correlation");
    double shift = hypot(
        hypot(rg_tsv_number(&t, 0, "shift_x_px"), rg_tsv_number(&t, 0, "shift_y_px")), rg_tsv_number(&t, 0, "shift_z_px"));
    print_message("S1: %.2f degrees and %.3f px from the known pose, correlation %.3f, of the sphere %.3f\n", apart, shift, rho,
        rg_tsv_number(&t, 1, "correlation"));
    assert_true(apart < 1 && shift < 0.2 && rho > 0.75 && rg_tsv_number(&t, 1, "correlation") < 0.3);
    rg_tsv_free(&t);
}

// A subtomogram with values of 1e12 and the average it belongs to. Another program starts from Rz(psi) Rx(theta) Rz(phi) and
// has its peak at (1, 1, -4); its list of angles goes in steps of 20 degrees.
TEST(test_s2)
{
    SKIP_WITHOUT(S2 "reference_sta_48.mrc");
    const double degree = M_PI / 180, phi = -0.4114 * degree, theta = 10.5956 * degree, psi = 7.5454 * degree;
    double c1 = cos(psi), s1 = sin(psi), c2 = cos(theta), s2 = sin(theta), c3 = cos(phi), s3 = sin(phi), a[9];
    const double known[9] = {c1 * c3 - c2 * s1 * s3, -c1 * s3 - c2 * c3 * s1, s1 * s2, c3 * s1 + c1 * c2 * s3,
        c1 * c2 * c3 - s1 * s3, -c1 * s2, s2 * s3, c3 * s2, c2};
    rg_tsv t;
    assert_int_equal(average(S2 "subtomogram_tomo126_48.mrc --reference " S2 "reference_sta_48.mrc --iterations 1 "
                                "--everywhere 1 --wedge 60 --band-pass 1,8 --mask-radius 18"),
        RG_GOOD);
    assert_int_equal(rg_tsv_read(in_dir("avg.poses.tsv"), &t), RG_GOOD);
    row_matrix(&t, 0, a);
    print_message("S2: %.2f degrees from the known angles, shift (%.2f, %.2f, %.2f), correlation %.3f\n",
        rg_rotation_apart_deg(a, known), rg_tsv_number(&t, 0, "shift_x_px"), rg_tsv_number(&t, 0, "shift_y_px"),
        rg_tsv_number(&t, 0, "shift_z_px"), rg_tsv_number(&t, 0, "correlation"));
    assert_true(rg_rotation_apart_deg(a, known) < 5);
    assert_true(fabs(rg_tsv_number(&t, 0, "shift_x_px") - 1) < 1.6 && fabs(rg_tsv_number(&t, 0, "shift_y_px") - 1) < 1.6);
    assert_true(fabs(rg_tsv_number(&t, 0, "shift_z_px") + 4) < 1.6 && rg_tsv_number(&t, 0, "correlation") > 0.2);
    rg_tsv_free(&t);
}

// A real map, turned and shifted here.
TEST(test_s4)
{
    SKIP_WITHOUT(S4);
    rg_volume map, turned;
    rg_tsv t;
    double a[9], b[9];
    int takes_part;
    assert_int_equal(rg_volume_read(S4, &map), RG_GOOD);
    turned = (rg_volume){64, map.voxel_A, rg_alloc(64 * 64 * 64 * sizeof(float))};
    rg_particle_matrix(33, 71, -140, a);
    for (int i = 0; i < 64 * 64 * 64; i++) {
        double p[3] = {i % 64 - 32 - 2.5, i / 64 % 64 - 32 + 1.25, i / 4096 - 32 - 0.5};
        turned.value[i] = af_sample_3d(map.value, 64, 64, 64, AF_ZERO, (float)(a[0] * p[0] + a[3] * p[1] + a[6] * p[2]),
            (float)(a[1] * p[0] + a[4] * p[1] + a[7] * p[2]), (float)(a[2] * p[0] + a[5] * p[1] + a[8] * p[2]), &takes_part);
    }
    assert_int_equal(rg_volume_write(in_dir("turned.mrc"), &turned), RG_GOOD);
    assert_int_equal(average(fmt("%s --reference " S4 " --iterations 1 --everywhere 1", in_dir("turned.mrc"))), RG_GOOD);
    assert_int_equal(rg_tsv_read(in_dir("avg.poses.tsv"), &t), RG_GOOD);
    row_matrix(&t, 0, b);
    print_message("S4: %.3f degrees, shift (%.3f, %.3f, %.3f)\n", rg_rotation_apart_deg(a, b),
        rg_tsv_number(&t, 0, "shift_x_px"), rg_tsv_number(&t, 0, "shift_y_px"), rg_tsv_number(&t, 0, "shift_z_px"));
    assert_true(rg_rotation_apart_deg(a, b) < 0.3 && fabs(rg_tsv_number(&t, 0, "shift_x_px") - 2.5) < 0.1);
    assert_true(fabs(rg_tsv_number(&t, 0, "shift_y_px") + 1.25) < 0.1 && fabs(rg_tsv_number(&t, 0, "shift_z_px") - 0.5) < 0.1);
    rg_tsv_free(&t);
    free(map.value);
    free(turned.value);
}

// ---- bad input -----------------------------------------------------------------------------------------------------------

static const char *put_volume(const char *name, int64_t side, float constant)
{
    rg_volume v = {side, 1, rg_alloc((size_t)(side * side * side) * sizeof(float))};
    for (int64_t i = 0; i < side * side * side; i++) v.value[i] = constant != 0 ? constant : (float)uniform((uint64_t)i);
    assert_int_equal(rg_volume_write(in_dir(name), &v), RG_GOOD);
    free(v.value);
    return in_dir(name);
}

static void refused(const char *words, const char *reason)
{
    unlink(in_dir("avg.mrc"));
    assert_refused(average(words), reason);
    assert_int_equal(access(in_dir("avg.mrc"), F_OK), -1);
}

TEST(test_bad_input)
{
    char *good = rg_print("%s", put_volume("good.mrc", 16, 0));
    static const struct {
        const char *options, *reason;
    } wrong[] = {{"--half-maps", "expected at least two subtomograms for half maps, found one"}, {"--wedge 91", "--wedge"},
        {"--shift 9", "--shift"}, {"--mask-radius 9", "--mask-radius"}, {"--band-pass 4,2", "--band-pass: expected LOW,HIGH"},
        {"--variant fastest", "fastest"}, {"--truth /dev/null", "/dev/null"}, {"--reference /dev/null", "/dev/null"}};
    for (int i = 0; i < RG_COUNT(wrong); i++) {
        refused(fmt("%s %s", good, wrong[i].options), wrong[i].reason);
    }
    refused(fmt("%s %s", good, put_volume("larger.mrc", 18, 0)), "expected 16 voxels a side as in the first volume, found 18");
    refused(fmt("%s %s", good, put_volume("constant.mrc", 16, 3)), "expected a volume, found the constant");
    refused(put_volume("tiny.mrc", 8, 0), "expected volumes of at least 16 voxels a side, found 8");
    refused(in_dir("absent.mrc"), "absent.mrc");
    float nan_volume[16 * 16];
    rg_mrc_out out;
    for (int i = 0; i < 256; i++) nan_volume[i] = i == 5 ? NAN : 1;
    assert_int_equal(rg_mrc_write_begin(&out, in_dir("nan.mrc"), 16, 16, 16, RG_MRC_FLOAT32, 1, true), RG_GOOD);
    for (int z = 0; z < 16; z++) rg_mrc_write_section(&out, nan_volume);
    assert_int_equal(rg_mrc_write_commit(&out), RG_GOOD);
    refused(in_dir("nan.mrc"), "expected finite values, found");
    free(good);
}

TESTS(test_dir_make, test_dir_remove)
