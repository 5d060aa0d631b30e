// SPDX-License-Identifier: MIT
// test_reconstruct.h: for test programs of reconstruct: phantoms, jobs up to their sums or maps, and comparisons.
#pragma once

#include "../../../data/geometry/fsc.h"
#include "../../../impl/jobs/reconstruct/reconstruct.h"
#include "../test_command.h"
#include "../test_data.h"

extern const rg_command rg_cmd_reconstruct, rg_cmd_fsc, rg_cmd_phantom;
static char printed[OUTPUT_MAX];

static inline float *read_map(const char *path, int64_t *side) {
    rg_mrc mrc;
    assert_int_equal(rg_mrc_open(&mrc, path), RG_GOOD);
    *side = mrc.nx;
    float *map = rg_alloc((size_t)(mrc.nx * mrc.ny * mrc.nz) * sizeof *map);
    for (int64_t z = 0; z < mrc.nz; z++) assert_int_equal(rg_mrc_section(&mrc, z, map + z * mrc.nx * mrc.ny), RG_GOOD);
    rg_mrc_close(&mrc);
    return map;
}

static inline double correlation(const float *a, const float *b, int64_t n) {
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

// G or W of a half; on the CPU and on emulated GPUs it is in host memory.
static inline float *sum_of(const rc_job *job, int half, int which) { return rc_sum_of(&job->run, 0, half)[which - GR_G].base; }

typedef void edit_rows(rg_particles *);

// Opens, edits and inserts particles, with a plan for one variant.
static inline void insert_job(rc_job *job, const char *star, edit_rows *edit, const char *sym, bool per_operator) {
    job->algo = rg_algo_find("gridding");
    job->padding = job->padding ? job->padding : 2;
    job->radius_tenths = 19;
    job->threads = 2;
    job->f = NAN;
    job->run.halves = job->run.halves ? job->run.halves : 1;
    assert_int_equal(rg_particles_open(&job->particles, star), RG_GOOD);
    if (edit) edit(&job->particles);
    assert_int_equal(rc_set_symmetry(job, sym, per_operator), RG_GOOD);
    assert_int_equal(gr_plan(job, "naive_scatter", "cpu", 0), RG_GOOD);
    assert_int_equal(rc_insert_all(&job->run), RG_GOOD);
}

static inline float *map_of(rc_job *job, const char *star, edit_rows *edit, const char *sym, bool per_operator) {
    insert_job(job, star, edit, sym, per_operator);
    int64_t side = job->particles.side;
    float *map = rg_alloc((size_t)(side * side * side) * sizeof *map);
    assert_int_equal(rc_apply_lattice(job, 0), RG_GOOD);
    assert_int_equal(rc_make_map(&job->run, 0, rc_wiener(job, 0), map), RG_GOOD);
    rc_job_free(job);
    return map;
}

// Faults to be found: angles of the transposed matrix, and origins of the wrong sign.
static inline void transpose(rg_particles *p) {
    for (int64_t i = 0; i < p->n; i++) {
        double rot = p->row[i].rot_deg;
        p->row[i].rot_deg = -p->row[i].psi_deg;
        p->row[i].tilt_deg = -p->row[i].tilt_deg;
        p->row[i].psi_deg = -rot;
    }
}

static inline void turn_origins(rg_particles *p) {
    for (int64_t i = 0; i < p->n; i++) {
        p->row[i].origin_x_px = -p->row[i].origin_x_px;
        p->row[i].origin_y_px = -p->row[i].origin_y_px;
    }
}

static inline const char *phantom(const char *name, const char *options) {
    char *star = rg_print("%s/particles.star", name);
    assert_int_equal(
        run_command(&rg_cmd_phantom, fmt("phantom particles --out %s --quiet %s", in_dir(name), options), printed), RG_GOOD);
    const char *path = in_dir(star);
    free(star);
    return path;
}

// The lowest FSC of shells 1 .. last.
static inline double least(const double *fsc, int64_t last) {
    double low = 1;
    for (int64_t s = 1; s <= last; s++) low = fsc[s] < low ? fsc[s] : low;
    return low;
}

static inline double apart(const float *a, const float *b, int64_t n) // largest difference over the largest value
{
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs((double)a[i] - b[i]));
        largest = fmax(largest, fabs(a[i]));
    }
    assert_true(largest > 0);
    return worst / largest;
}

static inline int reconstruct(const char *words) {
    int code = run_command(&rg_cmd_reconstruct, fmt("reconstruct %s", words), printed);
    return code;
}
