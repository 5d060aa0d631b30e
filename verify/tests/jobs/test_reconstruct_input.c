// SPDX-License-Identifier: MIT
// test_reconstruct_input.c: files that give the same map: modes and byte orders of stacks, a CTF already applied.
#include "../../../data/geometry/volume.h"
#include "../test.h"
#include "test_reconstruct.h"

#include <fftw3.h>

enum { SIDE = 6, IMAGES = 20 };

// Stacks of integers, exact in every mode, the same in every call.
static const char *stack(const char *name, int mode) {
    rg_mrc_out out;
    float section[SIDE * SIDE];
    const char *path = in_dir(name);
    assert_int_equal(rg_mrc_write_begin(&out, path, SIDE, SIDE, IMAGES, mode, 2, false), RG_GOOD);
    for (int64_t i = 0; i < IMAGES; i++) {
        for (int64_t j = 0; j < SIDE * SIDE; j++) section[j] = (float)(rg_bits(4, (uint64_t)(i * SIDE * SIDE + j)) % 64);
        assert_int_equal(rg_mrc_write_section(&out, section), RG_GOOD);
    }
    assert_int_equal(rg_mrc_write_commit(&out), RG_GOOD);
    return path;
}

// The same file in the other byte order.
static void swap_bytes(const char *path, size_t value_bytes) {
    size_t n = 0;
    RG_FREED char *bytes = get_file(path, &n);
    for (size_t at = 0; at < n;) {
        size_t width = at < 1024 ? 4 : value_bytes;
        bool is_text = at >= 208 && at < 1024 && at != 216 && at != 220;
        for (size_t i = 0; i < width / 2 && !is_text; i++) {
            char kept = bytes[at + i];
            bytes[at + i] = bytes[at + width - 1 - i];
            bytes[at + width - 1 - i] = kept;
        }
        at += width;
    }
    bytes[212] = bytes[213] = bytes[212] == 0x44 ? 0x11 : 0x44;
    FILE *f = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static const char *rows(const char *name, const char *stack_name) {
    const char *path = in_dir(name);
    FILE *f = fopen(path, "w");
    fprintf(f, "data_\nloop_\n_rlnImageName\n_rlnAngleRot\n_rlnAngleTilt\n_rlnAnglePsi\n");
    for (int i = 1; i <= IMAGES; i++) fprintf(f, "%d@%s %d %d %d\n", i, stack_name, 37 * i % 360, 53 * i % 180, 71 * i % 360);
    fclose(f);
    return path;
}

// Mode 12 and others, both byte orders: one map.
TEST(test_modes) {
    static const int mode[] = {RG_MRC_FLOAT32, RG_MRC_FLOAT16, RG_MRC_INT16, RG_MRC_UINT16, RG_MRC_INT8};
    RG_FREED float *first = NULL;
    int64_t side, n = SIDE * SIDE * SIDE;
    for (int m = 0; m < RG_COUNT(mode); m++)
        for (int swapped = 0; swapped < 2; swapped++) {
            const char *path = stack("mode.mrcs", mode[m]);
            if (swapped) swap_bytes(path, (size_t)rg_mrc_mode_bytes(mode[m]));
            assert_int_equal(
                reconstruct(fmt("%s --out %s --quiet --variant naive_scatter", rows("m.star", "mode.mrcs"), in_dir("v.mrc"))),
                RG_GOOD);
            float *map = read_map(in_dir("v.mrc"), &side);
            first = first ? first : map;
            assert_memory_equal(map, first, (size_t)n * sizeof *map);
            if (map != first) free(map);
        }
}

// The phantom's stack with every image multiplied by its CTF, or by the CTF's sign, at the frequencies of its own side.
static void apply_ctf(const rg_particles *p, bool sign, const char *name) {
    const int n = (int)p->side, half = n / 2 + 1;
    RG_FREED float *image = rg_alloc((size_t)(n * n) * sizeof *image);
    double *plane = fftw_alloc_real((size_t)(n * 2 * half));
    fftw_complex *f = (fftw_complex *)plane;
    fftw_plan there = fftw_plan_dft_r2c_2d(n, n, plane, f, FFTW_ESTIMATE),
              back = fftw_plan_dft_c2r_2d(n, n, f, plane, FFTW_ESTIMATE);
    rg_particles *reader = rg_particles_reader(p);
    rg_mrc_out out;
    assert_int_equal(rg_mrc_write_begin(&out, in_dir(name), n, n, p->n, RG_MRC_FLOAT32, p->pixel_A, false), RG_GOOD);
    for (int64_t i = 0; i < p->n; i++) {
        const rg_ctf ctf = rg_ctf_make(&p->row[i].ctf);
        assert_int_equal(rg_particles_image(reader, i, image), RG_GOOD);
        for (int e = 0; e < n * n; e++) plane[e / n * 2 * half + e % n] = image[e];
        fftw_execute(there);
        for (int e = 0; e < n * half; e++) {
            const int y = e / half > n / 2 ? e / half - n : e / half;
            const double c = rg_ctf_at(&ctf, e % half / (n * p->pixel_A), y / (n * p->pixel_A)), by = sign ? copysign(1, c) : c;
            f[e][0] *= by / (n * n);
            f[e][1] *= by / (n * n);
        }
        fftw_execute(back);
        for (int e = 0; e < n * n; e++) image[e] = (float)plane[e / n * 2 * half + e % n];
        assert_int_equal(rg_mrc_write_section(&out, image), RG_GOOD);
    }
    assert_int_equal(rg_mrc_write_commit(&out), RG_GOOD);
    rg_particles_reader_close(reader);
    fftw_destroy_plan(there);
    fftw_destroy_plan(back);
    fftw_free(plane);
}

// Sum of c F over f + sum of c^2 is the same whether c was applied to F before or not, on the CPU and on (emulated) GPUs.
TEST(test_ctf_applied) {
    static const char *const column[2] = {"rlnCtfDataAreCtfPremultiplied", "rlnCtfDataArePhaseFlipped"};
    static const char *const device[2] = {"cpu", "host"};
    RG_FREED char *star = rg_print("%s", phantom("applied", "--box 24 --images 40 --sigma 1.5 --ctf"));
    RG_ENDS(rg_particles_close) rg_particles p;
    assert_int_equal(rg_particles_open(&p, star), RG_GOOD);
    assert_int_equal(
        reconstruct(fmt("%s --ctf --padding 1 --device cpu --quiet --out %s", star, in_dir("plain.mrc"))), RG_GOOD);
    rg_volume plain, map;
    assert_int_equal(rg_volume_read(in_dir("plain.mrc"), &plain), RG_GOOD);
    for (int kind = 0; kind < 2; kind++) {
        RG_FREED char *name = rg_print("applied/%s.mrcs", column[kind]), *path = rg_print("%s/%s.star", test_dir, column[kind]);
        apply_ctf(&p, kind, name);
        FILE *f = fopen(path, "w");
        fprintf(f,
            "data_\nloop_\n_rlnImageName\n_rlnAngleRot\n_rlnAngleTilt\n_rlnAnglePsi\n_rlnOriginX\n_rlnOriginY\n"
            "_rlnDefocusU\n_rlnDefocusV\n_rlnDefocusAngle\n_rlnVoltage\n_rlnSphericalAberration\n_rlnAmplitudeContrast\n"
            "_rlnImagePixelSize\n_%s\n",
            column[kind]);
        for (int64_t i = 0; i < p.n; i++) {
            const rg_particle *q = &p.row[i];
            fprintf(f, "%d@%s %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %g %g %g %.17g 1\n", (int)i + 1, name, q->rot_deg,
                q->tilt_deg, q->psi_deg, q->origin_x_px, q->origin_y_px, q->ctf.defocus_u_A, q->ctf.defocus_v_A,
                q->ctf.defocus_angle_deg, q->ctf.voltage_kV, q->ctf.cs_mm, q->ctf.amplitude_contrast, p.pixel_A);
        }
        fclose(f);
        for (int d = 0; d < 2; d++) {
            assert_int_equal(
                reconstruct(fmt("%s --ctf --padding 1 --device %s --quiet --out %s", path, device[d], in_dir("map.mrc"))),
                RG_GOOD);
            assert_int_equal(rg_volume_read(in_dir("map.mrc"), &map), RG_GOOD);
            double most = 0, apart = 0;
            for (int e = 0; e < 24 * 24 * 24; e++) {
                most = fmax(most, fabs(plain.value[e]));
                apart = fmax(apart, fabs(plain.value[e] - map.value[e]));
            }
            // Weights of a GPU are off by up to 6.2e-6 of the largest (GR_SQUARES_ERROR), those of a CPU by 4e-7; 40 images
            // leave voxels that are divided by a few hundredths of that. A CTF applied once too often changes the first digit.
            if (!(apart < 3e-4 * most)) print_message("%s on %s: %g of %g\n", column[kind], device[d], apart, most);
            assert_true(apart < 3e-4 * most);
            free(map.value);
        }
    }
    free(plain.value);
}

TESTS(test_dir_make, test_dir_remove)
