// SPDX-License-Identifier: MIT
// test_average_parts.c: the parts of the job average: poses, the wedge and the grid of rotations against their definitions.
#include "../../../data/phantoms/blobs.h"
#include "../../../data/phantoms/noise.h"
#include "../../../impl/base/symmetry.h"
#include "../../../data/geometry/wedge.h"
#include "../../../impl/gpu/ledger.h"
#include "../../../impl/jobs/average/average.h"
#include "../../../impl/jobs/matching/matching.h"
#include "../../../impl/base/core.h"
#include "../../../data/geometry/volume.h"
#include "../../../impl/affine/index.h"
#include "../test.h"
#include "../test_command.h"
#include "../test_data.h"

extern const rg_command rg_cmd_average;
static char printed[OUTPUT_MAX];

static double uniform(int i) { return rg_uniform(77, (uint64_t)i); }

TEST(test_pose_angles) {
    for (int i = 0; i < 200; i++) {
        double tilt = i % 4 == 0 ? 0 : i % 4 == 1 ? 180 : 180 * uniform(3 * i), a[9], b[9];
        rg_pose pose;
        rg_particle_matrix(360 * uniform(3 * i + 1) - 180, tilt, 360 * uniform(3 * i + 2) - 180, a);
        rg_pose_angles(a, &pose);
        rg_particle_matrix(pose.rot_deg, pose.tilt_deg, pose.psi_deg, b);
        assert_true(rg_rotation_apart_deg(a, b) < 1e-5);
        assert_true(i % 4 > 1 || pose.rot_deg == 0);
    }
    double a[9], b[9];
    rg_particle_matrix(10, 0, 0, a);
    rg_particle_matrix(0, 0, 12.5, b);
    assert_true(fabs(rg_rotation_apart_deg(a, b) - 2.5) < 1e-9);
    rg_particle_matrix(0, 180, 0, b);
    assert_true(fabs(rg_rotation_apart_deg(a, b) - 180) < 1e-5);
}

// Poses rotated from one frame to another, with errors: the rotation is found, and the errors remain.
TEST(test_common_rotation) {
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

// cos(2 pi (kx x + kz z) / n) is kept or removed, depending on its side of the border |kz| = |kx| tan W.
TEST(test_wedge) {
    static const struct {
        int64_t kx, kz;
        bool seen; // by tilts to 60 degrees: tan 60 = 1.73
    } wave[] = {{0, 0, true}, {3, 0, true}, {0, 3, false}, {3, 5, true}, {3, 6, false}, {2, 3, true}, {2, 4, false},
        {-3, 5, true}, {-3, 6, false}, {8, 8, true}, {0, 8, false}};
    enum { SIDE = 16 };
    static double v[SIDE * SIDE * SIDE];
    for (int w = 0; w < RG_COUNT(wave); w++) {
        double most = 0, unit = 2 * M_PI / SIDE;
        for (int i = 0; i < SIDE * SIDE * SIDE; i++)
            v[i] = cos(unit * (double)(wave[w].kx * (i % SIDE) + wave[w].kz * (i / SIDE / SIDE)));
        rg_wedge_remove(SIDE, 60, v);
        for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
            double was = cos(unit * (double)(wave[w].kx * (i % SIDE) + wave[w].kz * (i / SIDE / SIDE)));
            most = fmax(most, fabs(v[i] - (wave[w].seen ? was : 0)));
        }
        assert_true(most < 1e-12);
        const double wedge[2] = {sin(M_PI / 3), 0.5};
        double share = rg_wedge_share((double)wave[w].kx, (double)wave[w].kz, wedge);
        assert_true(share >= 0 && share <= 1 && (wave[w].seen ? share >= 0.5 : share <= 0.5));
    }
    assert_true(isinf(rg_wedge_tangent(90)) && fabs(rg_wedge_tangent(45) - 1) < 1e-12);
}

// Every rotation has one of the grid near it.
TEST(test_grid_covers) {
    enum { SIDE = 24, N = 1 };
    aj_average job = {.n = N, .side = SIDE, .shift_px = 2, .wedge_deg = 90, .step_deg = 20, .threads = 2};
    const int64_t side[3] = {SIDE, SIDE, SIDE};
    int64_t n = aj_grid_size(20);
    assert_in_range(n, 1900, 2600); // 8 pi^2 / step^3 = 1857
    // A rotated reference as particle: the best of the grid is within a step, and its shift is the one applied.
    rg_blob blob[RG_ASYMMETRIC_BLOBS], moved[RG_ASYMMETRIC_BLOBS];
    double a[9], b[9], *section = rg_alloc(SIDE * SIDE * sizeof *section);
    rg_pose found[AJ_KEPT];
    int64_t kept;
    aj_pyramid_make(&job.reference, side, 32);
    aj_pyramid_make(&job.particle, side, 32);
    aj_spectra_make(&job.spectra, SIDE, N);
    rg_blobs_asymmetric(SIDE, 1.5, 4, blob);
    for (int trial = 0; trial < 3; trial++) {
        rg_particle_matrix(300 * uniform(900 + trial), 160 * uniform(910 + trial), 300 * uniform(920 + trial), a);
        for (int k = 0; k < RG_ASYMMETRIC_BLOBS; k++) {
            moved[k] = blob[k];
            for (int axis = 0; axis < 3; axis++) {
                const double *row = a + 3 * axis, *at = blob[k].at;
                moved[k].at[axis] = row[0] * at[0] + row[1] * at[1] + row[2] * at[2] + (axis == 0 ? 1 : axis == 1 ? -2 : 0);
            }
        }
        for (int which = 0; which < 2; which++) {
            RG_FREED double *factors = rg_blobs_factors(RG_ASYMMETRIC_BLOBS, which ? moved : blob, SIDE);
            for (int64_t z = 0; z < SIDE; z++) {
                rg_blobs_section(RG_ASYMMETRIC_BLOBS, which ? moved : blob, factors, SIDE, z, section);
                for (int i = 0; i < SIDE * SIDE; i++)
                    (which ? job.particle.v[0] : job.reference.v[0])[z * SIDE * SIDE + i] = (float)section[i];
            }
        }
        aj_spectra_particle(&job, 0);
        aj_spectra_reference(&job);
        aj_grid(&job, 0, N, found, &kept);
        assert_int_equal(kept, AJ_KEPT);
        double nearest = 180, shift = 0;
        for (int k = 0; k < 3; k++) {
            rg_particle_matrix(found[k].rot_deg, found[k].tilt_deg, found[k].psi_deg, b);
            if (rg_rotation_apart_deg(a, b) < nearest) {
                nearest = rg_rotation_apart_deg(a, b);
                shift = hypot(hypot(found[k].shift_px[0] - 1, found[k].shift_px[1] + 2), found[k].shift_px[2]);
            }
        }
        print_message("nearest of the best three: %.1f degrees, shift off by %.1f\n", nearest, shift);
        assert_true(nearest < 20 && shift < 1.5);
    }
    aj_spectra_free(&job.spectra);
    aj_pyramid_free(&job.reference);
    aj_pyramid_free(&job.particle);
    free(section);
}

// A common rotation of the average changes nothing: all poses rotated by Rz and shifted by t with it, one by 3 degrees more.
TEST(test_common_motion) {
    enum { N = 12 };
    rg_pose before[N], now[N];
    double turned[N], moved[N];
    const double t[3] = {0.7, -0.4, 1.1};
    for (int i = 0; i < N; i++) {
        double a[9];
        before[i] =
            (rg_pose){360 * uniform(7 * i), 180 * uniform(7 * i + 1), 360 * uniform(7 * i + 2), {uniform(7 * i + 3), 0, 2}};
        now[i] = before[i];
        now[i].rot_deg += 25;
        rg_particle_matrix(before[i].rot_deg, before[i].tilt_deg, before[i].psi_deg, a);
        for (int k = 0; k < 9; k++) now[i].shift_px[k / 3] += a[k] * t[k % 3];
    }
    aj_change(N, before, now, turned, moved);
    for (int i = 0; i < N; i++) assert_true(turned[i] < 1e-4 && moved[i] < 1e-9);
    now[5].psi_deg += 3;
    now[5].shift_px[1] += 0.5;
    aj_change(N, before, now, turned, moved);
    assert_true(turned[5] > 2.5 && turned[5] < 3 && moved[5] > 0.4 && moved[5] < 0.5);
    assert_true(turned[0] < 0.5 && moved[0] < 0.1);
}

// Average takes minutes on an emulated GPU: only its scorers, a transform a call and several, with and without a texture.
TEST(test_memory_of_scorers) {
    static const struct {
        int64_t side;
        const char *variant;
    } of[] = {{20, "batch"}, {48, "batch"}, {70, "batch_mixed"}, {70, "batch_texture"}};
    for (int s = 0; s < RG_COUNT(of); s++) {
        const aj_levels how = {.dims = 3, .threads = 1, .batch = 8, .fine = true, .device = "host", .asked = of[s].variant};
        const rg_device *device = rg_device_emulated();
        aj_scorer scorer[AJ_LEVELS] = {{.dims = 0}};
        aj_pyramid p;
        rg_needs needs;
        int64_t batch;
        aj_pyramid_size(&p, (const int64_t[3]){of[s].side, of[s].side, of[s].side}, 32);
        assert_int_equal(aj_scorers_fit(&how, &p, &batch, &needs, &device), RG_GOOD);
        rg_ledger_begin(device);
        assert_int_equal(aj_scorers_make(scorer, &how, &p), RG_GOOD);
        const double taken = (double)rg_ledger_peak(device);
        print_message(
            "%10.0f bytes of %10.0f predicted: align3d:%s of %d^3\n", taken, needs.bytes, of[s].variant, (int)of[s].side);
        assert_true(taken <= needs.bytes && needs.bytes <= 1.1 * taken);
        for (int l = 0; l < p.levels; l++) aj_scorer_free(&scorer[l]);
        assert_int_equal(rg_ledger_taken(device), 0);
    }
}

// ---- a whole job -----------------------------------------------------------------------------------------------------------

#define S4 "../shared/data/subtomo3d/S4_emd3420_64/emd_3420_b4.mrc"

// A real map, rotated and shifted here.
TEST(test_s4) {
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
    assert_int_equal(run_command(&rg_cmd_average,
                         fmt("average %s --reference " S4 " --iterations 1 --everywhere 1 --quiet --threads 1 --out %s",
                             in_dir("turned.mrc"), in_dir("avg.mrc")),
                         printed),
        RG_GOOD);
    assert_int_equal(rg_tsv_read(in_dir("avg.poses.tsv"), &t), RG_GOOD);
    rg_particle_matrix(rg_tsv_number(&t, 0, "rot_deg"), rg_tsv_number(&t, 0, "tilt_deg"), rg_tsv_number(&t, 0, "psi_deg"), b);
    print_message("S4: %.3f degrees, shift (%.3f, %.3f, %.3f)\n", rg_rotation_apart_deg(a, b),
        rg_tsv_number(&t, 0, "shift_x_px"), rg_tsv_number(&t, 0, "shift_y_px"), rg_tsv_number(&t, 0, "shift_z_px"));
    assert_true(rg_rotation_apart_deg(a, b) < 0.3 && fabs(rg_tsv_number(&t, 0, "shift_x_px") - 2.5) < 0.1);
    assert_true(fabs(rg_tsv_number(&t, 0, "shift_y_px") + 1.25) < 0.1 && fabs(rg_tsv_number(&t, 0, "shift_z_px") - 0.5) < 0.1);
    rg_tsv_free(&t);
    free(map.value);
    free(turned.value);
}

TESTS(test_dir_make, test_dir_remove)
