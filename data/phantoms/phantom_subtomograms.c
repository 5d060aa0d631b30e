// SPDX-License-Identifier: MIT
// phantom_subtomograms.c: makes volumes of the asymmetric particle of blobs.h at random poses, with noise and a missing wedge:
// input with an exact truth for `regather average`.
//
// A volume is the map turned and shifted by its pose (transforms.h), evaluated from its parts, plus white noise. The wedge of
// its transform that a tilt series about y from -W to W misses, |kz| > |kx| tan W, is then set to 0. The first volume has the
// pose of the map, so that an average that begins with it is in the map's frame.
#include "blobs.h"
#include "noise.h"
#include "../../impl/base/symmetry.h"
#include "phantom.h"
#include "../formats/transforms.h"
#include "../geometry/volume.h"
#include "../geometry/wedge.h"

typedef struct phantom {
    rg_given given;
    int64_t side, images;
    rg_blob blob[RG_ASYMMETRIC_BLOBS];
    double pixel_A, sigma_px, shift_px, snr, noise_sd, wedge_deg; // snr 0: no noise; wedge 90: no wedge is missing
    const char *folder;
} phantom;

static const rg_option options[] = {
    {"out", "DIR", "the folder for the files, made when missing", RG_TO(phantom, folder), .required = true},
    {"box", "N", "side of the volumes", RG_TO(phantom, side), 8, 1024, "90", "voxels"},
    {"images", "N", "how many", RG_TO(phantom, images), 1, 9999, "20"},
    {"pixel", "A", "size of a voxel", RG_TO(phantom, pixel_A), 1e-3L, 1e6L, "1.5", "Angstrom"},
    {"sigma", "PX", "standard deviation of a Gaussian", RG_TO(phantom, sigma_px), 0.4L, 1024, .otherwise = "box / 40",
        .unit = "voxels"},
    {"shift", "PX", "shifts lie within +-PX on every axis", RG_TO(phantom, shift_px), 0, 1024, "3", "voxels"},
    {"wedge", "DEG", "the tilt series went from -DEG to DEG about y; 90: no missing wedge", RG_TO(phantom, wedge_deg), 1, 90,
        "60", "degrees"},
    {"snr", "S", "add white noise, its variance that of the map over S; 0: none", RG_TO(phantom, snr), 0, 1e12L, "1"},
    {0},
};

static double uniform(const phantom *p, int64_t i, int which) {
    return rg_uniform(p->given.seed + 0x5AB70, (uint64_t)(8 * i + which));
}

// Rounds as the table does, so that the volume matches the numbers that are read.
static double six_digits(double v) { return round(v * 1e6) / 1e6; }

static rg_pose pose_of(const phantom *p, int64_t i) {
    if (i == 0) return (rg_pose){0};
    rg_pose pose = {six_digits(360 * uniform(p, i, 0) - 180), six_digits(180 / M_PI * acos(1 - 2 * uniform(p, i, 1))),
        six_digits(360 * uniform(p, i, 2) - 180), {0}};
    for (int axis = 0; axis < 3; axis++) pose.shift_px[axis] = six_digits(p->shift_px * (2 * uniform(p, i, 3 + axis) - 1));
    return pose;
}

static void render(const phantom *p, const rg_blob *blob, double *volume) {
    RG_FREED double *factors = rg_blobs_factors(RG_ASYMMETRIC_BLOBS, blob, p->side);
#pragma omp parallel for
    for (int64_t z = 0; z < p->side; z++)
        rg_blobs_section(RG_ASYMMETRIC_BLOBS, blob, factors, p->side, z, volume + z * p->side * p->side);
}

static void make_volume(const phantom *p, int64_t i, const rg_pose *pose, double *volume) {
    rg_blob moved[RG_ASYMMETRIC_BLOBS];
    double a[9];
    rg_particle_matrix(pose->rot_deg, pose->tilt_deg, pose->psi_deg, a);
    for (int b = 0; b < RG_ASYMMETRIC_BLOBS; b++) {
        const double *at = p->blob[b].at;
        moved[b] = p->blob[b];
        for (int axis = 0; axis < 3; axis++)
            moved[b].at[axis] = a[3 * axis] * at[0] + a[3 * axis + 1] * at[1] + a[3 * axis + 2] * at[2] + pose->shift_px[axis];
    }
    render(p, moved, volume);
    if (p->noise_sd > 0) rg_add_noise(p->noise_sd, p->given.seed, i, p->side * p->side * p->side, volume);
    if (p->wedge_deg < 90) rg_wedge_remove(p->side, p->wedge_deg, volume);
}

// The variance of the map over the whole box, over the signal-to-noise ratio.
static double noise_of(const phantom *p, const double *map) {
    double sum = 0, squares = 0, n = (double)(p->side * p->side * p->side);
    for (int64_t i = 0; i < p->side * p->side * p->side; i++) {
        sum += map[i];
        squares += map[i] * map[i];
    }
    return sqrt((squares / n - sum / n * sum / n) / p->snr);
}

static int write_volume(const phantom *p, const char *name, const double *volume) {
    int64_t voxels = p->side * p->side * p->side;
    rg_volume out = {p->side, p->pixel_A, rg_alloc((size_t)voxels * sizeof(float))};
    for (int64_t i = 0; i < voxels; i++) out.value[i] = (float)volume[i];
    RG_FREED char *path = rg_print("%s/%s", p->folder, name);
    int code = rg_volume_write(path, &out);
    free(out.value);
    return code;
}

static char *name_of(int64_t i) { return rg_print("subtomogram_%04" PRId64 ".mrc", i + 1); }

static int write_all(phantom *p, double *volume) {
    RG_FREED rg_pose *pose = rg_alloc((size_t)p->images * sizeof *pose);
    RG_FREED char **name = rg_alloc((size_t)p->images * sizeof *name);
    rg_progress progress;
    render(p, p->blob, volume);
    p->noise_sd = p->snr > 0 ? noise_of(p, volume) : 0;
    int code = write_volume(p, "map.mrc", volume);
    rg_progress_begin(&progress, "subtomograms", "volumes", (double)p->images);
    for (int64_t i = 0; i < p->images; i++) name[i] = name_of(i);
    for (int64_t i = 0; i < p->images && code == RG_GOOD; i++) {
        pose[i] = pose_of(p, i);
        make_volume(p, i, &pose[i], volume);
        code = write_volume(p, name[i], volume);
        rg_progress_at(&progress, (double)(i + 1));
    }
    rg_progress_end(&progress);
    RG_FREED char *path = rg_print("%s/truth.tsv", p->folder);
    RG_FREED char *head =
        rg_print("# command: %s\n# boxes of %" PRId64 "^3 voxels, standard deviation of the noise %.9g before the "
                 "wedge, seed %" PRIu64 "\n",
            p->given.line, p->side, p->noise_sd, p->given.seed);
    if (code == RG_GOOD) code = rg_poses_write(path, head, p->images, (const char *const *)name, pose, NULL);
    for (int64_t i = 0; i < p->images; i++) free(name[i]);
    return code;
}

// A volume in double precision, and its transform or the written values.
static double need(const void *of, int64_t side) {
    const phantom *p = of;
    return (double)side * (double)side * (8 * (double)side + (p->wedge_deg < 90 ? 8 * (double)side + 16 : 4 * (double)side));
}

static void plan(const phantom *p) {
    static const char *const name[] = {"map.mrc", "truth.tsv"};
    RG_FREED char *what = rg_print("%" PRId64 " volume%s of %" PRId64 "^3 voxels", p->images, rg_plural(p->images), p->side);
    rg_phantom_plan(p->folder, what, need(p, p->side), need, p, "--box", RG_COUNT(name), name);
    for (int64_t i = 0; i < p->images; i++) {
        RG_FREED char *volume = name_of(i), *path = rg_print("%s/%s", p->folder, volume);
        rg_plan_file(path);
    }
}

static int run(void *typed) {
    phantom *p = typed;
    int code = rg_memory_allows(rg_memory_free(), need, p, p->side, "--box", "volumes of %" PRId64 "^3 voxels", p->side);
    if (code == RG_GOOD) code = rg_make_folder(p->folder);
    if (code == RG_GOOD && rg_dry_run) plan(p);
    if (code != RG_GOOD || rg_dry_run) return code;
    rg_blobs_asymmetric(p->side, isnan(p->sigma_px) ? (double)p->side / 40 : p->sigma_px, p->given.seed, p->blob);
    RG_FREED double *volume = rg_alloc((size_t)(p->side * p->side * p->side) * sizeof *volume);
    return write_all(p, volume);
}

const rg_command rg_phantom_subtomograms = {
    .name = "phantom subtomograms",
    .words = "",
    .summary = "volumes of one particle at known poses, with a missing wedge, for average",
    .help =
        "DIR/subtomogram_0001.mrc.., truth.tsv (the poses, as `regather average` writes them) and map.mrc.\n"
        "The asymmetric particle at random poses, the first as the map stands, plus white noise, then without the frequencies\n"
        "|kz| > |kx| tan DEG.",
    .option = options,
    .bytes = sizeof(phantom),
    .run = run,
    .job = true,
    .one_process = true,
    .of = &rg_cmd_phantom,
};
