// SPDX-License-Identifier: MIT
// average.c: regather average: aligns and averages subtomograms until convergence (Garcia et al. 2014, Algorithm 3), with any
// variant of align3d.
#include "../../base/symmetry.h"
#include "../../base/memory.h"
#include "../../base/summary.h"
#include "../pipeline/ranks.h"
#include "../../base/log.h"
#include "average.h"

enum { COARSEST = 32 };
static const double STILL_DEG = 0.2, STILL_PX = 0.05;

static const rg_option options[] = {
    {"out", "AVG.mrc", "the average; AVG.poses.tsv (.star, .tbl), AVG.iterations.tsv and AVG.svg go beside it",
        RG_TO(aj_average, out), .endings = ".mrc .map",
        .beside = ".poses.tsv .poses.star .poses.tbl .iterations.tsv .svg?gnuplot .errors.tsv?truth _half1.mrc?half-maps "
                  "_half2.mrc?half-maps .fsc.tsv?half-maps .fsc.svg?half-maps?gnuplot",
        .required = true},
    {"reference", "V.mrc", "the first reference", RG_TO(aj_average, reference_path), .otherwise = "the first subtomogram"},
    {"wedge", "DEG", "the subtomograms come from tilt series from -DEG to DEG about y; 90: no missing wedge",
        RG_TO(aj_average, wedge_deg), 1, 90, "90", "degrees"},
    {"half-maps", NULL, "write AVG_half1.mrc and AVG_half2.mrc, of the odd and the even particles, and AVG.fsc.tsv",
        RG_TO(aj_average, half_maps)},
    {"shift", "PX", "search shifts from -PX to PX along every axis, at most half a side", RG_TO(aj_average, shift_px), 0, 1e6L,
        "5", "voxels"},
    {"step", "DEG", "step of the grid of all rotations", RG_TO(aj_average, step_deg), 2, 60, .unit = "degrees",
        .otherwise = "2 pixels at a quarter of the smallest size"},
    {"everywhere", "N", "iterations that try all rotations; later ones start from the pose before",
        RG_TO(aj_average, everywhere), 1, 1000, "2"},
    {"iterations", "N", "at most", RG_TO(aj_average, iterations), 1, 1000, "10"},
    {"band-pass", "LOW,HIGH", "filter before: Gaussian of LOW minus Gaussian of HIGH; 0 leaves either out",
        RG_TO(aj_average, band_px), 0, 1e6L, "1,0", "voxels"},
    {"mask-radius", "PX", "the reference is 0 outside a sphere of this radius, its edge a cosine, at most half a side",
        RG_TO(aj_average, mask_radius_px), 1, 1e6L, .unit = "voxels", .otherwise = "0.4 sides"},
    {"truth", "FILE", "known poses, as `regather phantom subtomograms` writes them: AVG.errors.tsv has the errors",
        RG_TO(aj_average, truth_path)},
    {"no-fine", NULL, "leave out the optimiser of the last stage, which needs NLopt", RG_TO(aj_average, no_fine)},
    RG_OPTIONS_OF(rg_computing_options, aj_average, computing),
    {0},
};

static const char help[] =
    "Reads cubic volumes of one size, one in each MRC file, and finds for each the pose in which it matches the\n"
    "reference best: a feature at v of the average lies at c + A (v - c) + shift in the particle, with A = Rz(psi)\n"
    "Ry(tilt) Rz(rot) as in RELION (whose origin is -shift) and c = floor(side / 2) on every axis. The average\n"
    "becomes the next reference, until the median particle turns by at most 0.2 degrees and moves by at most 0.05\n"
    "voxels, or --iterations are done; the output says which. Without --reference, map and poses are in the frame\n"
    "of the first subtomogram.\n\n"
    "All rotations are tried on reduced volumes, of a side of 17 to 32, with all shifts by FFT. The best candidates\n"
    "climb from size to size with halved steps. At full size NLopt's BOBYQA ends when no parameter moves a voxel by\n"
    "more than 0.01. The score is Pearson's correlation. With --wedge it covers the frequencies that both have, and\n"
    "the average is the sum of the transforms divided by the number of particles that have each frequency.\n\n"
    "AVG.poses.star has the poses in RELION 3.1's format, AVG.poses.tbl in Dynamo's: a row of 35 numbers a particle\n"
    "with tag, aligned and averaged 1, shift, tdrot tilt narot (ZXZ), correlation, and --wedge as the range of\n"
    "tilts about y.\n\n"
    "--truth: the errors are taken after the one rotation between the frames of the poses and of the truth.\n\n"
    "The half maps come from one alignment against one reference, so their FSC is an upper bound. The seconds of\n"
    "each stage are printed. Files are written whole or not at all.";

// ---- the command line ----------------------------------------------------------------------------------------------------

static int check_side(const char *path, int64_t side, int64_t found) {
    return found == side
        ? RG_GOOD
        : rg_fail(RG_USAGE, "%s: expected %" PRId64 " voxels a side as in the first volume, found %" PRId64, path, side, found);
}

// Checks all input files before the work.
static int check_files(aj_average *job) {
    rg_volume v;
    job->n = job->given.word.n;
    job->path = job->given.word.item;
    int code = rg_volume_size(job->path[0], &v);
    if (code != RG_GOOD) return code;
    job->side = v.side;
    job->voxel_A = v.voxel_A;
    for (int64_t i = 1; i <= job->n && code == RG_GOOD; i++) {
        const char *path = i < job->n ? job->path[i] : job->reference_path;
        code = path ? rg_volume_size(path, &v) : RG_GOOD;
        if (path && code == RG_GOOD) code = check_side(path, job->side, v.side);
    }
    if (code != RG_GOOD) return code;
    if (job->side < 16)
        return rg_fail(RG_USAGE, "%s: expected volumes of at least 16 voxels a side, found %" PRId64, job->path[0], job->side);
    if (job->n < 2 && job->half_maps)
        return rg_fail(RG_USAGE, "average: expected at least two subtomograms for half maps, found one");
    return RG_GOOD;
}

static int check_numbers(aj_average *job) {
    const double half = (double)job->side / 2;
    int code = rg_option_within("shift", &job->shift_px, 5, 0, half);
    if (code == RG_GOOD) code = rg_option_within("mask-radius", &job->mask_radius_px, 0.4 * (double)job->side, 1, half);
    if (code == RG_GOOD) code = aj_band_pass_check(job->band_px, half);
    if (code != RG_GOOD) return code;
    job->low_px = job->band_px[0];
    job->high_px = job->band_px[1];
    job->wedge[0] = sin(job->wedge_deg * M_PI / 180);
    job->wedge[1] = cos(job->wedge_deg * M_PI / 180);
    const int64_t side[3] = {job->side, job->side, job->side};
    aj_pyramid_size(&job->reference, side, COARSEST);
    double smallest = (double)job->reference.side[job->reference.levels - 1][0];
    return rg_option_within("step", &job->step_deg, 180 / M_PI * 2 / (0.25 * smallest), 2, 60);
}

static int read_input(aj_average *job) {
    int gpus;
    job->command = job->given.line;
    job->device = rg_ranks_device(job->given.device);
    job->threads = rg_given_threads(&job->given);
    job->fine = !job->no_fine;
    job->from_particle = !job->reference_path;
    int code = rg_computing_variant(&job->computing, "align3d", &job->asked);
    if (code == RG_GOOD) code = rg_computing_gpus(&job->computing, 1, &gpus);
    if (code == RG_GOOD) code = check_files(job);
    if (code == RG_GOOD && job->truth_path) {
        job->truth = rg_alloc((size_t)job->n * sizeof *job->truth);
        code = rg_poses_read(job->truth_path, job->n, job->truth);
    }
    return code == RG_GOOD ? check_numbers(job) : code;
}

// ---- the work ------------------------------------------------------------------------------------------------------------

int aj_volume_read(const char *path, int64_t side, rg_volume *v) {
    int code = rg_volume_read(path, v);
    if (code != RG_GOOD) return code;
    code = check_side(path, side, v->side);
    if (code == RG_GOOD && !aj_normalise(side * side * side, v->value, 1))
        code = rg_fail(
            RG_USAGE, "%s: expected a volume, found the constant %g, whose correlation is undefined", path, v->value[0]);
    if (code != RG_GOOD) free(v->value);
    return code;
}

// Filters a volume, masks it with a sphere, and makes its levels.
static void prepare(const aj_average *job, const float *volume, double radius_px, aj_pyramid *p) {
    memcpy(p->v[0], volume, (size_t)(job->side * job->side * job->side) * sizeof *volume);
    aj_band_pass(p->side[0], job->low_px, job->high_px, p->v[0], job->threads);
    aj_sphere(job->side, radius_px, p->v[0]);
    aj_normalise(job->side * job->side * job->side, p->v[0], job->threads);
    aj_pyramid_fill(p, job->threads);
}

// The particle's own sphere reaches to the box's faces, so that a rotation does not change its energy.
static int load_particle(aj_average *job, int64_t i) {
    rg_volume v;
    double began_s = rg_seconds();
    int code = aj_volume_read(job->path[i], job->side, &v);
    if (code != RG_GOOD) return code;
    prepare(job, v.value, (double)job->side * (0.5 - 1.0 / 12), &job->particle);
    free(v.value);
    job->read_s += rg_seconds() - began_s;
    return RG_GOOD;
}

static void matrix_of(const rg_pose *p, double a[9]) { rg_particle_matrix(p->rot_deg, p->tilt_deg, p->psi_deg, a); }

// Measures how far each pose moved, apart from a common motion: if all poses turn by q and move by t, A' = A Q, shift' = shift
// + A t, the average is the same.
void aj_change(int64_t n, const rg_pose *before, const rg_pose *now, double *turned_deg, double *moved_px) {
    double q[9], a[9], b[9], turned[9], t[3] = {0};
    aj_common_rotation(n, before, now, q);
    for (int64_t i = 0; i < n; i++) {
        matrix_of(&before[i], a);
        for (int k = 0; k < 9; k++) t[k % 3] += a[k] * (now[i].shift_px[k / 3] - before[i].shift_px[k / 3]) / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        matrix_of(&before[i], a);
        matrix_of(&now[i], b);
        gr_multiply(a, q, turned);
        for (int k = 0; k < 3; k++) {
            const double left =
                before[i].shift_px[k] + a[3 * k] * t[0] + a[3 * k + 1] * t[1] + a[3 * k + 2] * t[2] - now[i].shift_px[k];
            sum += left * left;
        }
        turned_deg[i] = rg_rotation_apart_deg(turned, b);
        moved_px[i] = sqrt(sum);
    }
}

static int take_spectra(aj_average *job, int64_t first, int64_t past) {
    int code = RG_GOOD;
    for (int64_t i = first; i < past && code == RG_GOOD; i++)
        if (!job->spectra.has_particle[i]) {
            code = load_particle(job, i);
            if (code == RG_GOOD) aj_spectra_particle(job, i);
        }
    return code;
}

typedef struct aj_posed {
    rg_pose pose;
    double correlation;
} aj_posed;

// Aligns particles first .. past - 1 to the reference.
static int align_piece(
    aj_average *job, int64_t first, int64_t past, aj_posed *found, const rg_deal *deal, rg_progress *progress) {
    bool all = job->done < job->everywhere;
    RG_FREED rg_pose *start = rg_alloc((size_t)((past - first) * AJ_KEPT) * sizeof *start);
    RG_FREED int64_t *kept = rg_alloc((size_t)(past - first) * sizeof *kept);
    int code = take_spectra(job, first, past);
    double began_s = rg_seconds();
    if (all && code == RG_GOOD) aj_grid(job, first, past, start, kept);
    job->grid_s += rg_seconds() - began_s;
    for (int64_t i = first; i < past && code == RG_GOOD; i++) {
        rg_pose candidate[AJ_KEPT + 1];
        int64_t n = all ? kept[i - first] : 0;
        for (int64_t k = 0; k < n; k++) {
            candidate[k] = start[(i - first) * AJ_KEPT + k];
            for (int axis = 0; axis < 3; axis++)
                candidate[k].shift_px[axis] = ldexp(candidate[k].shift_px[axis], job->reference.levels - 1);
        }
        if (job->done > 0) candidate[n++] = job->pose[i];
        code = load_particle(job, i);
        began_s = rg_seconds();
        if (code == RG_GOOD) code = aj_pose_refine(job, i, n, candidate, all, &found[i].pose, &found[i].correlation);
        job->refine_s += rg_seconds() - began_s;
        rg_progress_at(progress, (double)(job->done * job->n + deal->done + i - first + 1));
    }
    return code;
}

// Aligns all particles; all processes then have all poses. A piece that tries all rotations turns the reference itself, so
// pieces are not too small.
static int align_all(aj_average *job, rg_progress *progress) {
    int64_t pieces = 4 * rg_ranks(), first, past;
    RG_FREED aj_posed *found = rg_alloc((size_t)job->n * sizeof *found);
    rg_deal deal = {.n = job->n, .record = found, .bytes = sizeof *found};
    deal.least = job->done < job->everywhere ? (job->n + pieces - 1) / pieces : 1;
    int code = RG_GOOD;
    rg_deal_begin(&deal);
    while (code == RG_GOOD && rg_deal_next(&deal, &first, &past)) {
        code = align_piece(job, first, past, found, &deal, progress);
        if (code == RG_GOOD) rg_deal_done(&deal, first, past, NULL);
    }
    code = rg_deal_end(&deal, code);
    if (code == RG_GOOD) rg_ranks_share(found, (size_t)job->n * sizeof *found);
    rg_pose *before = rg_alloc((size_t)job->n * sizeof *before);
    double *turned = rg_alloc((size_t)(2 * job->n) * sizeof *turned), *moved = turned + job->n, sum = 0;
    memcpy(before, job->pose, (size_t)job->n * sizeof *before);
    for (int64_t i = 0; i < job->n && code == RG_GOOD; i++) {
        job->pose[i] = found[i].pose;
        job->correlation[i] = found[i].correlation;
        sum += found[i].correlation;
    }
    aj_change(job->n, before, job->pose, turned, moved);
    free(before);
    double *change = job->change[job->done];
    change[0] = aj_median(job->n, turned);
    change[1] = aj_median(job->n, moved);
    change[2] = sum / (double)job->n;
    free(turned);
    return code;
}

static void use_as_reference(aj_average *job, const float *volume) {
    prepare(job, volume, job->mask_radius_px, &job->reference);
    aj_spectra_reference(job);
}

static int first_reference(aj_average *job) {
    rg_volume v;
    int code = aj_volume_read(job->from_particle ? job->path[0] : job->reference_path, job->side, &v);
    if (code != RG_GOOD) return code;
    use_as_reference(job, v.value);
    free(v.value);
    // Each process reads its share of the particles, so that a bad file is found before the work.
    return take_spectra(job, job->n * rg_rank / rg_ranks(), job->n * (rg_rank + 1) / rg_ranks());
}

// Makes the next reference, in the first process: all particles count, in order.
static int average_all(aj_average *job) {
    size_t voxels = (size_t)(job->side * job->side * job->side);
    int code = rg_rank == 0 ? aj_map(job) : RG_GOOD;
    if (code == RG_GOOD) rg_ranks_share(job->map.value, voxels * sizeof *job->map.value);
    if (code == RG_GOOD) use_as_reference(job, job->map.value);
    return code;
}

static int iterate(aj_average *job) {
    rg_progress progress;
    int code = first_reference(job);
    rg_progress_begin(&progress, "average", "alignments", (double)(job->iterations * job->n));
    while (code == RG_GOOD && job->done < job->iterations && !job->converged) {
        code = align_all(job, &progress);
        double began_s = rg_seconds();
        if (code == RG_GOOD) code = average_all(job);
        job->from_particle = false;
        if (code != RG_GOOD) break;
        job->map_s += rg_seconds() - began_s;
        const double *change = job->change[job->done++];
        if (!rg_quiet)
            fprintf(stderr,
                "average: iteration %" PRId64 ": median turn %.2f degrees, median move %.3f px, mean correlation "
                "%.4f\n",
                job->done, change[0], change[1], change[2]);
        job->converged = job->done > 1 && change[0] <= STILL_DEG && change[1] <= STILL_PX;
        rg_ranks_share(&job->converged, sizeof job->converged); // as computed by the first process
    }
    rg_progress_end(&progress);
    return code;
}

// Volumes in flight, the transforms of the smallest level (of at most COARSEST voxels a side), the table of the grid.
static double need(const void *of, int64_t side) {
    const aj_average *job = of;
    const double voxels = (double)side * (double)side * (double)side, m = fmin((double)side, COARSEST);
    return 4 * voxels * (2 * 8.0 / 7 + 4 + 3 * (job->half_maps ? 3 : 1) + 3) + 8 * m * m * (m / 2 + 1) * (double)job->n +
        8 * (double)aj_grid_size(job->step_deg) * (double)job->n;
}

static int memory_allows(const aj_average *job) {
    if (rg_dry_run) {
        rg_plan("subtomograms", "%" PRId64 " of %" PRId64 "^3 voxels", job->n, job->side);
        rg_plan_memory("memory", need(job, job->side), rg_memory_free(), need, job, "a side of");
    }
    return rg_memory_allows(
        rg_memory_free(), need, job, job->side, "a side of", "%" PRId64 " volumes of %" PRId64 "^3 voxels", job->n, job->side);
}

static int work(aj_average *job) {
    size_t bytes = (size_t)(job->side * job->side * job->side) * sizeof(float), n = (size_t)job->n;
    const int64_t side[3] = {job->side, job->side, job->side};
    aj_pyramid_make(&job->reference, side, COARSEST);
    aj_pyramid_make(&job->particle, side, COARSEST);
    job->map = (rg_volume){job->side, job->voxel_A, rg_alloc(bytes)};
    for (int h = 0; h < 2 && job->half_maps; h++) job->half[h] = (rg_volume){job->side, job->voxel_A, rg_alloc(bytes)};
    job->pose = rg_alloc(n * sizeof *job->pose);
    job->correlation = rg_alloc(n * sizeof *job->correlation);
    job->change = rg_alloc((size_t)job->iterations * sizeof *job->change);
    aj_spectra_make(&job->spectra, job->reference.side[job->reference.levels - 1][0], job->n);
    int code = aj_pose_make(job);
    if (code == RG_GOOD && !rg_quiet)
        fprintf(stderr,
            "average: %" PRId64 " volume%s of %" PRId64 "^3 voxels, %" PRId64 " rotations of %.3g degrees, variant "
            "%s on %s\n",
            job->n, rg_plural(job->n), job->side, aj_grid_size(job->step_deg), job->step_deg, job->scorer[0].frame.entry->name,
            job->scorer[0].frame.device->name);
    if (code == RG_GOOD) rg_ranks_say("average");
    if (code == RG_GOOD) code = iterate(job);
    return code == RG_GOOD && rg_rank == 0 ? aj_average_write(job) : code;
}

static void free_job(aj_average *job) {
    for (int k = 0; k < job->reference.levels; k++) aj_scorer_free(&job->scorer[k]);
    aj_pyramid_free(&job->reference);
    aj_pyramid_free(&job->particle);
    aj_spectra_free(&job->spectra);
    free(job->map.value);
    free(job->half[0].value);
    free(job->half[1].value);
    free(job->pose);
    free(job->truth);
    free(job->correlation);
    free(job->change);
}

static int run(void *typed) {
    aj_average *job = typed;
    double began_s = rg_seconds();
    int code = read_input(job);
    for (int h = 0; h < 3 && code == RG_GOOD && rg_rank == 0; h++) {
        RG_FREED char *half =
            h > 0 && job->half_maps ? rg_path_beside(job->out, "", h == 1 ? "_half1.mrc" : "_half2.mrc") : NULL;
        code = rg_file_can_write(h == 0 ? job->out : half);
    }
    if (code == RG_GOOD) code = memory_allows(job);
    if (code == RG_GOOD && rg_dry_run) code = aj_pose_plan(job);
    if (code == RG_GOOD && !rg_dry_run) code = work(job);
    if (code == RG_GOOD && !rg_dry_run) {
        static const char *const stage[] = {"read", "grid", "refine", "map", "whole"};
        const double seconds[] = {job->read_s, job->grid_s, job->refine_s, job->map_s, rg_seconds() - began_s};
        printf("%s after %" PRId64 " iteration%s\n", job->converged ? "converged" : "not converged", job->done,
            rg_plural(job->done));
        aj_print_stages(RG_COUNT(stage), stage, seconds);
    }
    free_job(job);
    return code;
}

const rg_command rg_cmd_average = {
    .name = "average",
    .words = "SUBTOMOGRAM...",
    .summary = "subtomograms aligned in all rotations and averaged until nothing moves",
    .help = help,
    .option = options,
    .bytes = sizeof(aj_average),
    .run = run,
    .job = true,
    .page = true,
    .one_process = true,
};
