// SPDX-License-Identifier: MIT
// write.c: writes the average, its halves and their FSC, the poses, the course of the iterations.
#include "../../base/plot.h"
#include "../../base/summary.h"
#include "../../../data/geometry/fsc.h"
#include "../../base/symmetry.h"
#include "../../../data/formats/star.h"
#include "average.h"

void aj_common_rotation(int64_t n, const rg_pose *found, const rg_pose *truth, double q[9]) {
    double a[9], b[9];
    memset(q, 0, 9 * sizeof *q);
    for (int64_t i = 0; i < n; i++) {
        rg_particle_matrix(found[i].rot_deg, found[i].tilt_deg, found[i].psi_deg, a);
        rg_particle_matrix(truth[i].rot_deg, truth[i].tilt_deg, truth[i].psi_deg, b);
        for (int k = 0; k < 9; k++)
            for (int j = 0; j < 3; j++) q[k] += a[3 * j + k / 3] * b[3 * j + k % 3] / (double)n;
    }
    // The rotation nearest to that mean: q becomes the mean of q and its inverse transpose until it converges (Higham 1986).
    for (int again = 0; again < 40; again++) {
        const double c[9] = {q[4] * q[8] - q[5] * q[7], q[5] * q[6] - q[3] * q[8], q[3] * q[7] - q[4] * q[6],
            q[2] * q[7] - q[1] * q[8], q[0] * q[8] - q[2] * q[6], q[1] * q[6] - q[0] * q[7], q[1] * q[5] - q[2] * q[4],
            q[2] * q[3] - q[0] * q[5], q[0] * q[4] - q[1] * q[3]};
        double det = q[0] * c[0] + q[1] * c[1] + q[2] * c[2];
        for (int i = 0; i < 9 && fabs(det) > 0; i++) q[i] = (q[i] + c[i] / det) / 2;
    }
}

static int write_errors(const aj_average *job) {
    static const char *const quantity[] = {"rotation_deg", "shift_px"};
    double *room = rg_alloc((size_t)(2 * job->n) * sizeof *room), *error[2] = {room, room + job->n};
    double q[9], a[9], b[9], turned[9];
    aj_common_rotation(job->n, job->pose, job->truth, q);
    for (int64_t i = 0; i < job->n; i++) {
        const rg_pose *found = &job->pose[i], *truth = &job->truth[i];
        double sum = 0;
        rg_particle_matrix(found->rot_deg, found->tilt_deg, found->psi_deg, a);
        rg_particle_matrix(truth->rot_deg, truth->tilt_deg, truth->psi_deg, b);
        gr_multiply(a, q, turned);
        for (int axis = 0; axis < 3; axis++)
            sum += (found->shift_px[axis] - truth->shift_px[axis]) * (found->shift_px[axis] - truth->shift_px[axis]);
        error[0][i] = rg_rotation_apart_deg(turned, b);
        error[1][i] = sqrt(sum);
    }
    RG_FREED char *path = rg_path_beside(job->out, "", ".errors.tsv");
    int code = aj_write_errors(path, job->command, 2, quantity, job->n, error);
    free(room);
    return code;
}

static int write_halves(const aj_average *job) {
    static const char *const ending[2] = {"_half1.mrc", "_half2.mrc"};
    int code = RG_GOOD;
    size_t voxels = (size_t)(job->side * job->side * job->side);
    float *masked[2];
    RG_FREED double *fsc = rg_alloc((size_t)(job->side / 2 + 1) * sizeof *fsc);
    for (int h = 0; h < 2; h++) {
        RG_FREED char *path = rg_path_beside(job->out, "", ending[h]);
        if (code == RG_GOOD) code = rg_volume_write(path, &job->half[h]);
        masked[h] = rg_alloc(voxels * sizeof *masked[h]);
        memcpy(masked[h], job->half[h].value, voxels * sizeof *masked[h]);
        aj_sphere(job->side, job->mask_radius_px, masked[h]);
    }
    rg_fsc(job->side, masked[0], masked[1], fsc);
    double voxel_A = job->voxel_A > 0 ? job->voxel_A : 1;
    RG_FREED char *path = rg_path_beside(job->out, "", ".fsc.tsv");
    if (code == RG_GOOD) code = rg_fsc_write(path, job->command, job->side, voxel_A, fsc, 0, NULL, NULL);
    rg_fsc_show("the half maps (of one alignment: an upper bound)", job->side, voxel_A, fsc);
    RG_FREED char *words = rg_fsc_words(job->side, voxel_A, fsc, 0.143);
    if (code == RG_GOOD) printf("FSC of halves = 0.143\t%s\n", words);
    free(masked[0]);
    free(masked[1]);
    return code;
}

static int write_poses(const aj_average *job) {
    RG_FREED char *path = rg_path_beside(job->out, "", ".poses.tsv");
    RG_FREED char *head =
        rg_print("# command: %s\n# a feature at v of the average stands at c + A (v - c) + shift in the particle,\n"
                 "# A = Rz(psi) Ry(tilt) Rz(rot); variant %s\n",
            job->command, job->scorer[0].frame.entry->name);
    return rg_poses_write(path, head, job->n, job->path, job->pose, job->correlation);
}

// The halves become RELION's random subsets.
static int write_relion(const aj_average *job) {
    static const char *const optics[] = {
        "rlnOpticsGroup", "rlnOpticsGroupName", "rlnImagePixelSize", "rlnImageSize", "rlnImageDimensionality"};
    static const char *const row[] = {"rlnImageName", "rlnOpticsGroup", "rlnAngleRot", "rlnAngleTilt", "rlnAnglePsi",
        "rlnOriginXAngst", "rlnOriginYAngst", "rlnOriginZAngst", "rlnRandomSubset"};
    rg_file file;
    const double voxel_A = job->voxel_A > 0 ? job->voxel_A : 1;
    bool written = true;
    int code = rg_file_open_beside(&file, job->out, "", ".poses.star");
    if (code != RG_GOOD) return code;
    fprintf(file.stream, "# command: %s\n", job->command);
    rg_star_write_head(file.stream, "optics", RG_COUNT(optics), optics);
    fprintf(file.stream, "1 opticsGroup1 %.9g %" PRId64 " 3\n", voxel_A, job->side);
    rg_star_write_head(file.stream, "particles", RG_COUNT(row), row);
    for (int64_t i = 0; i < job->n && written; i++) {
        const rg_pose *p = &job->pose[i];
        const double value[6] = {p->rot_deg, p->tilt_deg, p->psi_deg, -p->shift_px[0] * voxel_A, -p->shift_px[1] * voxel_A,
            -p->shift_px[2] * voxel_A};
        char text[6][32];
        const char *cell[RG_COUNT(row)] = {job->path[i], "1", [8] = i % 2 ? "2" : "1"};
        for (int k = 0; k < 6; k++) {
            snprintf(text[k], sizeof text[k], "%.6f", value[k]);
            cell[2 + k] = text[k];
        }
        written = rg_star_write_row(file.stream, RG_COUNT(cell), cell);
    }
    if (written) return rg_file_commit(&file);
    rg_file_abandon(&file);
    return rg_fail(RG_USAGE, "%s: the name of a subtomogram has quotes that STAR cannot hold", job->out);
}

// For passive rotations A = Rz(psi) Ry(tilt) Rz(rot) is Rz(tdrot) Rx(tilt) Rz(narot) with tdrot = psi - 90, narot = rot + 90.
// The shift is the place of the centre in the particle, for both.
static int write_dynamo(const aj_average *job) {
    enum { COLUMNS = 35 };
    rg_file file;
    int code = rg_file_open_beside(&file, job->out, "", ".poses.tbl");
    for (int64_t i = 0; i < job->n && code == RG_GOOD; i++) {
        const rg_pose *p = &job->pose[i];
        const double row[COLUMNS] = {(double)(i + 1), 1, 1, p->shift_px[0], p->shift_px[1], p->shift_px[2], p->psi_deg - 90,
            p->tilt_deg, p->rot_deg + 90, job->correlation[i], [12] = job->wedge_deg < 90, [13] = -job->wedge_deg,
            job->wedge_deg};
        for (int k = 0; k < COLUMNS; k++) fprintf(file.stream, "%.7g%c", row[k], k + 1 < COLUMNS ? ' ' : '\n');
    }
    return code == RG_GOOD ? rg_file_commit(&file) : code;
}

static int write_iterations(const aj_average *job) {
    rg_file file;
    RG_FREED char *path = rg_path_beside(job->out, "", ".iterations.tsv"), *svg = rg_path_beside(job->out, "", ".svg");
    int code = rg_file_open(&file, path);
    if (code == RG_GOOD) {
        fprintf(file.stream, "# command: %s\niteration\tmedian_turn_deg\tmedian_move_px\tmean_correlation\n", job->command);
        for (int64_t i = 0; i < job->done; i++)
            fprintf(
                file.stream, "%" PRId64 "\t%.9g\t%.9g\t%.9g\n", i + 1, job->change[i][0], job->change[i][1], job->change[i][2]);
        code = rg_file_commit(&file);
    }
    if (code == RG_GOOD) {
        rg_plot plot = {0};
        rg_plot_path(&plot, "DATA", path);
        code = rg_plot_draw(&plot, "average.gp", svg);
    }
    return code;
}

// Adds the main results to the job's page.
static void show(const aj_average *job) {
    const int64_t n = job->n;
    const double *last = job->change[job->done - 1];
    double *of[3], sum = 0, square = 0;
    if (!rg_summary_wanted()) return;
    RG_FREED double *room = rg_alloc((size_t)(3 * job->done) * sizeof *room);
    for (int64_t i = 0; i < n; i++) {
        sum += job->correlation[i];
        square += job->correlation[i] * job->correlation[i];
    }
    const double mean = sum / (double)n, spread = sqrt(fmax(0, square / (double)n - mean * mean));
    rg_summary_found("%s after %" PRId64 " iteration%s: in the last one the median particle turned by %.2g degrees and moved "
                     "by %.2g voxels, "
                     "which is how far its pose is settled, not how far it is right.",
        job->converged ? "The average stands still" : "The average has not come to rest", job->done, rg_plural(job->done),
        last[0], last[1]);
    rg_summary_found("Correlation of a particle with the average: %.4f, standard deviation over %" PRId64 " particles %.4f.",
        mean, n, spread);
    if (!job->half_maps)
        rg_summary_found("How fine it is, one average does not say: `--half-maps` makes two, whose correlation does.");
    rg_summary_did("subtomograms", "%" PRId64 " of %" PRId64 "^3 voxels of %g A, missing wedge beyond %g degrees", n, job->side,
        job->voxel_A, job->wedge_deg);
    rg_summary_did("variant", "align3d:%s on %s", job->scorer[0].frame.entry->name, job->scorer[0].frame.device->name);
    rg_volume_show(&job->map, "the average");
    for (int k = 0; k < 3; k++) {
        of[k] = room + k * job->done;
        for (int64_t i = 0; i < job->done; i++) of[k][i] = job->change[i][k];
    }
    rg_summary_curves(&(rg_drawn_curves){.is = {"How poses settle", "Median over particles, against the iteration before.",
                                             "median turn and move of each iteration", "iteration", "change (degrees, voxels)"},
        .n = job->done,
        .curves = 2,
        .name = (const char *[]){"turn", "move"},
        .value = (const double *[]){of[0], of[1]}});
    rg_summary_histogram(&(rg_drawn){"Correlations of the particles", "Each with the average; strays stand apart.",
                             "how many particles have which correlation", "correlation", "particles"},
        n, job->correlation);
    rg_summary_directions(n, &job->pose->rot_deg, &job->pose->tilt_deg, sizeof *job->pose);
}

int aj_average_write(const aj_average *job) {
    int code = rg_volume_write(job->out, &job->map);
    if (code == RG_GOOD) code = write_poses(job);
    if (code == RG_GOOD) code = write_relion(job);
    if (code == RG_GOOD) code = write_dynamo(job);
    if (code == RG_GOOD) code = write_iterations(job);
    if (code == RG_GOOD && job->truth) code = write_errors(job);
    if (code == RG_GOOD) show(job);
    if (code == RG_GOOD && job->half_maps) code = write_halves(job);
    return code;
}
