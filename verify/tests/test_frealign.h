// SPDX-License-Identifier: MIT
// test_frealign.h: for tests of FREALIGN's modes: phantoms, poses that are wrong by known amounts, errors modulo a group.
#ifndef RG_TEST_FREALIGN_H
#define RG_TEST_FREALIGN_H

#include "../../data/formats/particles.h"
#include "../../impl/base/symmetry.h"
#include "../../impl/suite.h"
#include "test_command.h"
#include "test_data.h"

#include <math.h>

extern const rg_command rg_cmd_phantom, rg_cmd_refine, rg_cmd_search, rg_cmd_reconstruct, rg_cmd_fsc;

static char output[OUTPUT_MAX];

// Runs `command` with the words of the format, where %s stands for the test's folder.
#define RUN(command, ...) run_words(&rg_cmd_##command, rg_print(__VA_ARGS__))
static inline int run_words(const rg_command *command, char *words)
{
    int code = run_command(command, words, output);
    free(words);
    return code;
}

static inline void write_poses(const char *path, const rg_particles *p, const char *stack)
{
    FILE *f = fopen(path, "w");
    fputs(
        "data_particles\nloop_\n_rlnImageName\n_rlnAngleRot\n_rlnAngleTilt\n_rlnAnglePsi\n_rlnOriginXAngst\n_rlnOriginYAngst\n"
        "_rlnDefocusU\n_rlnDefocusV\n_rlnDefocusAngle\n_rlnVoltage\n_rlnSphericalAberration\n_rlnAmplitudeContrast\n"
        "_rlnImagePixelSize\n",
        f);
    for (int64_t i = 0; i < p->n; i++) {
        const rg_particle *q = &p->row[i];
        fprintf(f, "%d@%s %.6f %.6f %.6f %.6f %.6f %.3f %.3f %.3f %g %g %g %.9g\n", (int)q->image + 1, stack, q->rot_deg,
            q->tilt_deg, q->psi_deg, q->origin_x_px * p->pixel_A, q->origin_y_px * p->pixel_A, q->ctf.defocus_u_A,
            q->ctf.defocus_v_A, q->ctf.defocus_angle_deg, q->ctf.voltage_kV, q->ctf.cs_mm, q->ctf.amplitude_contrast,
            p->pixel_A);
    }
    fclose(f);
}

// Turns every particle by `degrees` about an axis of its own (by the angles of a rotation after M) and moves it by `px`.
static inline void spoil(rg_particles *p, double degrees, double px)
{
    const double degree = M_PI / 180;
    for (int64_t i = 0; i < p->n; i++) {
        double a[9], turn[9], m[9], u[3], length = 0, c = cos(degrees * degree), s = sin(degrees * degree);
        for (int k = 0; k < 3; k++) {
            u[k] = (double)(rg_bits(77, (uint64_t)(4 * i + k)) >> 40) - 0x1p23;
            length += u[k] * u[k];
        }
        for (int k = 0; k < 3; k++) u[k] /= sqrt(length);
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++)
                turn[3 * r + k] = (1 - c) * u[r] * u[k] + (r == k ? c : ((k - r + 3) % 3 == 1 ? -s : s) * u[3 - r - k]);
        rg_particle *q = &p->row[i];
        rg_particle_matrix(q->rot_deg, q->tilt_deg, q->psi_deg, a);
        gr_multiply(a, turn, m);
        q->tilt_deg = acos(m[8]) / degree;
        q->rot_deg = atan2(m[7], m[6]) / degree;
        q->psi_deg = atan2(m[5], -m[2]) / degree;
        double direction = 2 * M_PI * (double)(rg_bits(78, (uint64_t)i) >> 11) * 0x1p-53;
        q->origin_x_px += px * cos(direction);
        q->origin_y_px += px * sin(direction);
    }
}

static inline int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

typedef struct errors {
    double median_deg, worst_deg, median_A, worst_A;
} errors;

// Of the poses in a file against the true ones, after the operator of the group that brings each nearest.
static inline errors errors_of(const char *found_path, const char *truth_path, const char *group_name)
{
    rg_particles found, truth;
    gr_symmetry group;
    errors e;
    assert_null(gr_symmetry_make(&group, group_name));
    assert_int_equal(rg_particles_open(&found, found_path), RG_GOOD);
    assert_int_equal(rg_particles_open(&truth, truth_path), RG_GOOD);
    assert_true(found.n <= truth.n);
    double *deg = rg_alloc((size_t)found.n * sizeof *deg), *A = rg_alloc((size_t)found.n * sizeof *A);
    for (int64_t i = 0; i < found.n; i++) {
        double a[9], b[9], turned[9], best = -3;
        rg_particle_matrix(found.row[i].rot_deg, found.row[i].tilt_deg, found.row[i].psi_deg, a);
        rg_particle_matrix(truth.row[i].rot_deg, truth.row[i].tilt_deg, truth.row[i].psi_deg, b);
        for (int g = 0; g < group.n; g++) {
            gr_multiply(a, group.matrix[g], turned);
            double trace = 0;
            for (int k = 0; k < 9; k++) trace += turned[k] * b[k];
            best = trace > best ? trace : best;
        }
        deg[i] = acos(fmin(1, (best - 1) / 2)) * 57.29577951308232;
        A[i] = truth.pixel_A *
            hypot(found.row[i].origin_x_px - truth.row[i].origin_x_px, found.row[i].origin_y_px - truth.row[i].origin_y_px);
    }
    qsort(deg, (size_t)found.n, sizeof *deg, by_size);
    qsort(A, (size_t)found.n, sizeof *A, by_size);
    e = (errors){deg[found.n / 2], deg[found.n - 1], A[found.n / 2], A[found.n - 1]};
    free(A);
    free(deg);
    rg_particles_close(&found);
    rg_particles_close(&truth);
    return e;
}

#endif
