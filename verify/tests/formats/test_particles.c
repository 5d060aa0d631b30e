// SPDX-License-Identifier: MIT
// test_particles.c: particle sets, the CTF and the phantom's Gaussians against what follows from their definitions.
#include "../../../data/phantoms/blobs.h"
#include "../../../data/formats/particles.h"
#include "../../../impl/base/symmetry.h"
#include "../test.h"
#include "../test_data.h"

#include <complex.h>

// A stack of `images` images of nx x ny pixels, value 100 * image + pixel.
static void put_stack(const char *name, int64_t nx, int64_t ny, int64_t images, double voxel_A) {
    rg_mrc_out out;
    RG_FREED float *section = rg_alloc((size_t)(nx * ny) * sizeof *section);
    assert_int_equal(rg_mrc_write_begin(&out, in_dir(name), nx, ny, images, RG_MRC_FLOAT32, voxel_A, false), RG_GOOD);
    for (int64_t z = 0; z < images; z++) {
        for (int64_t i = 0; i < nx * ny; i++) section[i] = (float)(100 * z + i);
        assert_int_equal(rg_mrc_write_section(&out, section), RG_GOOD);
    }
    assert_int_equal(rg_mrc_write_commit(&out), RG_GOOD);
}

static int open_text(const char *text, rg_particles *p) { return rg_particles_open(p, put_file("p.star", text, strlen(text))); }

static int code_of(const char *text) {
    rg_particles p;
    int code = open_text(text, &p);
    if (code == RG_GOOD) rg_particles_close(&p);
    return code;
}

#define POSES "_rlnImageName\n_rlnAngleRot\n_rlnAngleTilt\n_rlnAnglePsi\n"

TEST(test_relion_31) {
    RG_ENDS(rg_particles_close) rg_particles p;
    float image[9];
    put_stack("a.mrcs", 3, 3, 3, 1);
    put_stack("b.mrcs", 3, 3, 1, 1);
    assert_int_equal(open_text("data_optics\nloop_\n_rlnOpticsGroup\n_rlnVoltage\n_rlnSphericalAberration\n"
                               "_rlnAmplitudeContrast\n"
                               "_rlnImagePixelSize\n7 300 2.7 0.1 2.5\n3 200 1.4 0.07 2.5\n\ndata_particles\nloop_\n" POSES
                               "_rlnOpticsGroup\n_rlnOriginXAngst\n_rlnOriginYAngst\n_rlnOriginX\n_rlnDefocusU\n_rlnDefocusV\n"
                               "_rlnDefocusAngle\n3@a.mrcs 1 2 3 7 5 -2.5 99 10000 9000 30\n"
                               "000001@b.mrcs 4 5 6 3 0 0 99 20000 19000 40\n2@a.mrcs 1 2 3 7 0 0 0 1 1 1\n"
                               "1@a.mrcs 0 0 0 7 0 0 0 1 1 1\n",
                         &p),
        RG_GOOD);
    assert_true(p.n == 4 && p.n_stacks == 2 && p.side == 3 && p.pixel_A == 2.5 && !p.lacks_ctf);
    assert_true(p.row[0].origin_x_px == 2 && p.row[0].origin_y_px == -1 && p.row[1].origin_x_px == 0);
    assert_true(p.row[0].rot_deg == 1 && p.row[0].tilt_deg == 2 && p.row[0].psi_deg == 3 && p.row[0].image == 2);
    assert_true(p.row[0].ctf.voltage_kV == 300 && p.row[1].ctf.voltage_kV == 200 && p.row[1].ctf.amplitude_contrast == 0.07);
    assert_true(p.row[0].ctf.defocus_v_A == 9000 && p.row[0].ctf.scale == 1 && p.row[0].ctf.b_factor_A2 == 0);
    assert_int_equal(rg_particles_image(&p, 0, image), RG_GOOD);
    assert_true(image[4] == 204);
    assert_int_equal(rg_particles_image(&p, 1, image), RG_GOOD);
    assert_true(image[4] == 4);
    assert_int_equal(rg_particles_image(&p, 3, image), RG_GOOD);
    assert_true(image[8] == 8);
}

TEST(test_relion_30) {
    rg_particles p;
    put_stack("c.mrcs", 3, 3, 1, 0);
    // 5 um at 20,000 times magnification are 2.5 A.
    assert_int_equal(open_text("data_\nloop_\n" POSES "_rlnMagnification\n_rlnDetectorPixelSize\n_rlnOriginX\n_rlnOriginY\n"
                               "1@old/folder/c.mrcs 1 2 3 20000 5 0.5 -4\n",
                         &p),
        RG_GOOD);
    assert_true(fabs(p.pixel_A - 2.5) < 1e-12 && p.row[0].origin_x_px == 0.5 && p.row[0].origin_y_px == -4);
    assert_string_equal(p.lacks_ctf, "rlnDefocusU");
    rg_particles_close(&p);
    // Without a magnification RELION uses 10,000.
    assert_int_equal(open_text("data_images\nloop_\n" POSES "_rlnDetectorPixelSize\nc.mrcs 1 2 3 13.1\n", &p), RG_GOOD);
    assert_true(fabs(p.pixel_A - 13.1) < 1e-12);
    rg_particles_close(&p);
    put_stack("d.mrcs", 3, 3, 1, 3.5);
    assert_int_equal(open_text("data_\nloop_\n" POSES "d.mrcs 1 2 3\nd.mrcs 1 2 4\n", &p), RG_GOOD);
    assert_true(fabs(p.pixel_A - 3.5) < 1e-6);
    rg_particles_close(&p);
}

// The suffixes of RELION and Xmipp that give the format of a file; a file name may also contain a colon.
TEST(test_suffix) {
    rg_particles p;
    put_stack("a.mrc", 3, 3, 2, 0);
    put_stack("b:c.mrcs", 3, 3, 1, 0);
    assert_int_equal(open_text("data_\nloop_\n" POSES "000001@a.mrc:mrcs 1 2 3\n2@a.mrc:mrcs 1 2 3\n1@b:c.mrcs 1 2 3\n"
                               "1@a.mrc:mrc 1 2 3\n",
                         &p),
        RG_GOOD);
    assert_true(p.n == 4 && p.n_stacks == 3 && p.row[1].image == 1);
    assert_string_equal(p.stack[0].path, in_dir("a.mrc"));
    rg_particles_close(&p);
    assert_refused(code_of("data_\nloop_\n" POSES "1@d.mrc:mrcs 1 2 3\n"), "line 7: expected the stack \"d.mrc:mrcs\" here");
}

// RELION's names of blocks, and the flags of an optics group for the processing of its images.
TEST(test_blocks_and_flags) {
    rg_particles p;
    put_stack("a.mrcs", 3, 3, 1, 2);
    catch_stderr();
    int code = open_text("data_model_general\n\n_rlnVersion 1\n\ndata_model_class_1\nloop_\n" POSES "1@a.mrcs 1 2 3\n", &p);
    const char *said = caught();
    assert_int_equal(code, RG_GOOD);
    assert_non_null(strstr(said, "data_model_class_1 is taken, the block that has _rlnImageName"));
    assert_true(p.n == 1 && p.row[0].psi_deg == 3);
    assert_int_equal(rg_particles_plain(&p), RG_GOOD);
    rg_particles_close(&p);
    static const char *const column[] = {"rlnCtfDataAreCtfPremultiplied", "rlnCtfDataArePhaseFlipped"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(open_text(fmt("data_optics\nloop_\n_rlnOpticsGroup\n_%s\n1 1\n\ndata_particles\nloop_\n" POSES
                                       "_rlnOpticsGroup\n1@a.mrcs 1 2 3 1\n",
                                       column[i]),
                             &p),
            RG_GOOD);
        assert_true(p.premultiplied == !i && p.phase_flipped == i);
        assert_refused(rg_particles_plain(&p), column[i]);
        rg_particles_close(&p);
    }
}

// Images missing at the end get one warning only, because subsets of a stack are common.
TEST(test_row_too_few) {
    put_stack("a.mrcs", 3, 3, 130, 0);
    catch_stderr();
    int code = code_of("data_\nloop_\n" POSES "1@a.mrcs 1 2 3\n130@a.mrcs 1 2 3\n");
    const char *said = caught();
    assert_int_equal(code, RG_GOOD);
    assert_non_null(strstr(said, "2 rows; 128 images of its stacks have no row and are left out, the first is image 2 of "));
}

TEST(test_not_finite) {
    put_stack("a.mrcs", 3, 3, 2, 0);
    size_t n = 0;
    RG_FREED char *bytes = get_file(in_dir("a.mrcs"), &n);
    const float nan = NAN, huge = 2e15f;
    memcpy(bytes + 1024 + 4 * (9 + 5), &nan, 4);
    put_file("nan.mrcs", bytes, n);
    memcpy(bytes + 1024 + 4 * (9 + 5), &huge, 4);
    put_file("huge.mrcs", bytes, n);
    rg_particles p;
    float image[9];
    assert_int_equal(open_text("data_\nloop_\n" POSES "1@nan.mrcs 1 2 3\n2@nan.mrcs 1 2 3\n", &p), RG_GOOD);
    assert_int_equal(rg_particles_image(&p, 0, image), RG_GOOD);
    assert_refused(
        rg_particles_image(&p, 1, image), "image 2: expected finite values within +-1e+15, found nan at column 2, row 1");
    rg_particles_close(&p);
    assert_int_equal(open_text("data_\nloop_\n" POSES "2@huge.mrcs 1 2 3\n", &p), RG_GOOD);
    assert_refused(rg_particles_image(&p, 0, image), "expected finite values within +-1e+15, found 2e+15 at column 2, row 1");
    rg_particles_close(&p);
}

// ---- orientation ---------------------------------------------------------------------------------------------------------

TEST(test_matrix) {
    double a[9], t[9];
    rg_particle_matrix(90, 0, 0, a); // the image's x axis lies along the map's y
    assert_true(fabs(a[1] - 1) < 1e-15 && fabs(a[3] + 1) < 1e-15 && fabs(a[8] - 1) < 1e-15);
    rg_particle_matrix(0, 90, 0, a); // tilt: the viewing direction, row 3, goes from z to x
    assert_true(fabs(a[6] - 1) < 1e-15 && fabs(a[2] + 1) < 1e-15);
    // FREALIGN's M, of which A is the transpose: first column (cf ct cp - sf sp, sf ct cp + cf sp, -st cp), third (st cf,
    // st sf, ct).
    double f = 0.3, h = 1.1, p = -2.2;
    rg_particle_matrix(f * 180 / M_PI, h * 180 / M_PI, p * 180 / M_PI, a);
    const double row1[3] = {
        cos(f) * cos(h) * cos(p) - sin(f) * sin(p), sin(f) * cos(h) * cos(p) + cos(f) * sin(p), -sin(h) * cos(p)};
    const double row3[3] = {sin(h) * cos(f), sin(h) * sin(f), cos(h)};
    for (int i = 0; i < 3; i++) assert_true(fabs(a[i] - row1[i]) < 1e-14 && fabs(a[6 + i] - row3[i]) < 1e-14);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            t[3 * i + j] = a[3 * i] * a[3 * j] + a[3 * i + 1] * a[3 * j + 1] + a[3 * i + 2] * a[3 * j + 2] - (i == j);
    for (int i = 0; i < 9; i++) assert_true(fabs(t[i]) < 1e-14);
}

// ---- CTF -----------------------------------------------------------------------------------------------------------------

TEST(test_ctf) {
    // The wavelengths of the textbooks: 0.0197, 0.0251 and 0.0370 A at 300, 200 and 100 kV.
    assert_true(fabs(rg_electron_wavelength_A(300) - 0.01968749) < 1e-8);
    assert_true(fabs(rg_electron_wavelength_A(200) - 0.02507934) < 1e-8);
    assert_true(fabs(rg_electron_wavelength_A(100) - 0.03701436) < 1e-8);
    rg_ctf_of of = {.voltage_kV = 300,
        .cs_mm = 2.7,
        .amplitude_contrast = 0.1,
        .defocus_u_A = 20000,
        .defocus_v_A = 15000,
        .defocus_angle_deg = 30,
        .scale = 1};
    rg_ctf ctf = rg_ctf_make(&of);
    assert_true(fabs(rg_ctf_at(&ctf, 0, 0) - 0.1) < 1e-15); // protein bright
    // Along the angle the defocus is U, across it V; w1 sin + w2 cos is FREALIGN's form, with its sign turned.
    for (int across = 0; across < 2; across++)
        for (double g = 0.01; g < 0.4; g += 0.037) {
            double angle = (30 + 90 * across) * M_PI / 180, wave = rg_electron_wavelength_A(300), df = across ? 15000 : 20000;
            double chi = -M_PI * wave * g * g * df + M_PI / 2 * 2.7e7 * wave * wave * wave * g * g * g * g;
            double expected = -(sqrt(1 - 0.01) * sin(chi) - 0.1 * cos(chi));
            assert_true(fabs(rg_ctf_at(&ctf, g * cos(angle), g * sin(angle)) - expected) < 1e-12);
        }
    of.phase_shift_deg = 90;
    of.b_factor_A2 = -80;
    of.scale = 0.5;
    ctf = rg_ctf_make(&of);
    assert_true(fabs(rg_ctf_at(&ctf, 0, 0) - 0.5 * cos(asin(0.1))) < 1e-15);
    rg_ctf undamped = ctf;
    undamped.damping = 0;
    assert_true(fabs(rg_ctf_at(&ctf, 0.1, 0.2) / rg_ctf_at(&undamped, 0.1, 0.2) - exp(-80.0 / 4 * 0.05)) < 1e-12);
}

// ---- the phantom ---------------------------------------------------------------------------------------------------------

// Transform of `values` on side^dims points about the centre, at an integer frequency, by direct summation.
static double complex transform_at(const double *values, int dims, int64_t side, const int64_t f[3]) {
    double complex sum = 0;
    int64_t planes = dims == 3 ? side : 1, c = side / 2;
    for (int64_t z = 0; z < planes; z++)
        for (int64_t y = 0; y < side; y++)
            for (int64_t x = 0; x < side; x++) {
                double turn = (double)(f[0] * (x - c) + f[1] * (y - c) + (dims == 3 ? f[2] * (z - c) : 0)) / (double)side;
                sum += values[(z * side + y) * side + x] * cexp(-2 * M_PI * I * turn);
            }
    return sum;
}

// The transform of the sum of Gaussians at a frequency r in cycles a pixel, from its closed form.
static double complex exact(int n, const rg_blob *blob, const double r[3]) {
    double complex sum = 0;
    for (int b = 0; b < n; b++) {
        double s = blob[b].sigma, rr = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
        double phase = r[0] * blob[b].at[0] + r[1] * blob[b].at[1] + r[2] * blob[b].at[2];
        sum +=
            blob[b].amplitude * pow(s * sqrt(2 * M_PI), 3) * exp(-2 * M_PI * M_PI * s * s * rr) * cexp(-2 * M_PI * I * phase);
    }
    return sum;
}

TEST(test_blobs_exact) {
    for (int64_t side = 12; side <= 13; side++) {
        rg_blob blob[RG_ASYMMETRIC_BLOBS];
        double *map = rg_alloc((size_t)(side * side * side) * sizeof *map), a[9];
        RG_FREED double *image = rg_alloc((size_t)(side * side) * sizeof *image);
        rg_blobs_asymmetric(side, 0.8, 5, blob);
        RG_FREED double *factors = rg_blobs_factors(RG_ASYMMETRIC_BLOBS, blob, side);
        for (int64_t z = 0; z < side; z++) rg_blobs_section(RG_ASYMMETRIC_BLOBS, blob, factors, side, z, map + z * side * side);
        rg_particle_matrix(20, 50, -70, a);
        rg_blobs_image(RG_ASYMMETRIC_BLOBS, blob, a, (double[2]){1.25, -0.5}, side, side / 2, image);
        double scale = cabs(exact(RG_ASYMMETRIC_BLOBS, blob, (double[3]){0, 0, 0}));
        for (int64_t y = -5; y <= 5; y++)
            for (int64_t x = -5; x <= 5; x++) {
                double n = (double)side, p[2] = {(double)x / n, (double)y / n};
                // A^T (p, 0)
                const double r[3] = {a[0] * p[0] + a[3] * p[1], a[1] * p[0] + a[4] * p[1], a[2] * p[0] + a[5] * p[1]};
                double complex shift = cexp(2 * M_PI * I * (1.25 * p[0] - 0.5 * p[1]));
                double complex found = transform_at(image, 2, side, (int64_t[3]){x, y, 0});
                assert_true(cabs(found - shift * exact(RG_ASYMMETRIC_BLOBS, blob, r)) < 1e-9 * scale);
                found = transform_at(map, 3, side, (int64_t[3]){x, y, (x + y) / 2});
                assert_true(cabs(found - exact(RG_ASYMMETRIC_BLOBS, blob, (double[3]){p[0], p[1], (double)((x + y) / 2) / n})) <
                    1e-9 * scale);
            }
        free(map);
    }
}

// The number of parts at the place to which an operator of the group, generated elsewhere, moves another of the same amplitude.
static int parts_met(const char *name, const rg_blob *blob, int n, int *operators) {
    gr_symmetry group;
    int matched = 0;
    assert_null(gr_symmetry_make(&group, name));
    for (int g = 0; g < group.n; g++)
        for (int b = 0; b < n; b++) {
            const double *m = group.matrix[g], *c = blob[b].at;
            double v[3] = {m[0] * c[0] + m[1] * c[1] + m[2] * c[2], m[3] * c[0] + m[4] * c[1] + m[5] * c[2],
                m[6] * c[0] + m[7] * c[1] + m[8] * c[2]};
            for (int d = 0; d < n; d++)
                matched += fabs(v[0] - blob[d].at[0]) + fabs(v[1] - blob[d].at[1]) + fabs(v[2] - blob[d].at[2]) < 1e-9 &&
                    blob[b].amplitude == blob[d].amplitude;
        }
    *operators = group.n;
    return matched;
}

// The operators of I1 permute the icosahedral parts, those of I2 do not; D7's permute those of the barrel, D14's do not.
TEST(test_blobs_symmetric) {
    static const char *const name[] = {"I1", "I2", "D7", "D14"};
    for (int i = 0; i < 4; i++) {
        rg_blob blob[RG_D7_BLOBS];
        int n = i < 2 ? RG_ICOSAHEDRAL_BLOBS : RG_D7_BLOBS, operators;
        if (i < 2)
            rg_blobs_icosahedral(100, 1, blob);
        else
            rg_blobs_d7(100, 1, 3, blob);
        int matched = parts_met(name[i], blob, n, &operators);
        assert_true(i % 2 ? matched < operators * n : matched == operators * n);
    }
}

TESTS(test_dir_make, test_dir_remove)
