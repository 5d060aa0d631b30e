// SPDX-License-Identifier: MIT
// align.c: regather align: aligns a tilt series image by image (Garcia et al. 2014, Algorithms 1 and 2), with any variant of
// align2d.
#include "../../../data/formats/mrc.h"
#include "../../base/log.h"
#include "../../base/memory.h"
#include "../../base/summary.h"
#include "align.h"
#include "../pipeline/ranks.h"

enum { COARSEST = 128 };

static const rg_option options[] = {
    {"out", "TRANSFORMS.tsv", "the table of transforms; TRANSFORMS.cumulative.tsv and TRANSFORMS.svg go beside it",
        RG_TO(aj_align, out), .endings = ".tsv", .beside = ".cumulative.tsv .errors.tsv?truth .svg?gnuplot", .required = true},
    {"aligned", "SERIES.mrc", "write the series too, every image brought onto the first", RG_TO(aj_align, aligned),
        .endings = ".mrc .mrcs .st .ali", .beside = ""},
    {"rotation", "DEG", "search rotations from -DEG to DEG", RG_TO(aj_align, turn_deg), 0, 180, "10", "degrees"},
    {"shift", "PX", "search shifts from -PX to PX along x and y", RG_TO(aj_align, pair.range.shift_px), 0, 1e6L,
        .unit = "pixels", .otherwise = "300, at most a third of the shorter side"},
    {"model", "similarity|affine",
        "what is searched: rotation, shift and magnification, or the six numbers of an affine transform",
        RG_TO(aj_align, model), 0, 0, "similarity"},
    {"stretch", "S", "search stretches by up to S, and 1/S across, along any direction", RG_TO(aj_align, pair.range.stretch), 1,
        2, "1.1", .needs = "model=affine"},
    {"scale", "LOW:HIGH", "search magnifications from LOW to HIGH; one number is both", RG_TO(aj_align, pair.range.scale),
        0.25L, 4, "0.9:1.2"},
    {"band-pass", "LOW,HIGH", "filter before: Gaussian of LOW minus Gaussian of HIGH; 0 leaves either out",
        RG_TO(aj_align, band_px), 0, 1e6L, "1.5,0", "pixels"},
    {"mask", "IMAGE", "leave out the pixels at which this image is 0 or less: they take the mean of the others",
        RG_TO(aj_align, mask_path)},
    {"outside", "zero|edge|ignore", "pixels from outside the image: the mean, the nearest one, or none", // AF_ZERO ..
        RG_TO(aj_align, outside), 0, 0, "ignore"},
    {"tilts", "FILE", "angles of a .rawtlt or .tlt file: a column tilt_deg, and the abscissa of the plot",
        RG_TO(aj_align, tilts)},
    {"tilt-axis", "DEG|search",
        "stretch every image across the tilt axis, by the cosines' ratio of two neighbours, before what is "
        "searched; the axis in degrees from +y, which goes up, towards -x, as IMOD counts; search finds it",
        RG_TO(aj_align, axis), .needs = "tilts"},
    {"xf", "FILE.xf",
        "write IMOD's transforms too; with --tilt-axis they leave the tilt's shrinking as it is, bring the axis to y and "
        "all images to the one nearest to 0 degrees, and FILE.tlt goes beside",
        RG_TO(aj_align, xf), .endings = ".xf", .beside = ".tlt?tilt-axis"},
    RG_OPTIONS_OF(aj_tomogram_options, aj_align, tomogram),
    {"truth", "FILE", "known transforms, as `regather phantom tilt` writes them: TRANSFORMS.errors.tsv has the errors",
        RG_TO(aj_align, truth_path)},
    {"no-fine", NULL, "leave out the optimiser of the last stage, which needs NLopt", RG_TO(aj_align, no_fine)},
    RG_OPTIONS_OF(rg_computing_options, aj_align, computing),
    {0},
};

static const char help[] =
    "Reads an MRC stack, or PNG, PGM and TIFF images of one size in the given order. For each image it finds the\n"
    "transform that brings it onto the one before: a feature at pixel p = (column, row) of image i lies at\n"
    "    c + scale Rot(rotation) (p - c) + shift,    Rot(t) = [[cos t, -sin t], [sin t, cos t]]\n"
    "in image i-1, with c = (floor(width/2), floor(height/2)). The first row is the identity. Rows go up in MRC\n"
    "files and down in PNG, PGM and TIFF. The tables count rows as the file does; --xf, --tilt-axis, --tomogram and\n"
    "--aligned count them upwards in either file, as IMOD and RELION do.\n\n"
    "The transform maximises the correlation (Pearson's, of the filtered images) over rotation, shift and\n"
    "magnification. The search starts on reduced images, of 64 to 128 pixels along the longer side: all rotations and\n"
    "magnifications of the range in steps of 1.5 pixels, and all shifts by FFT. The best candidates climb from size\n"
    "to size with halved steps. At full size NLopt's BOBYQA finishes: it is restarted from its answer until that\n"
    "gains nothing, and ends when no parameter moves a pixel by more than 0.002. With --outside ignore, the\n"
    "correlation covers the overlap, which must be at least a quarter of the image.\n\n"
    "A tilted specimen shrinks across the tilt axis. With --tilts and --tilt-axis the known part of this is taken\n"
    "out, and the table holds the product of the known stretch and the transform found. --tilt-axis search fits\n"
    "the axis on the eight pairs with the largest stretch and prints it with its standard error over these. --model\n"
    "affine searches two more stretches, whether angles are known or not. --tomogram writes what RELION 4 reads,\n"
    "with CTF values from --mdoc or options. Columns a11 a12 a21 a22 then hold the linear map A of p - c; rotation\n"
    "and scale are those of A = scale Rot(rotation) U, with U symmetric and of determinant 1.\n\n"
    "A fixed pattern (of the camera, or a mask's edge) wins over a moving specimen. --band-pass removes broad\n"
    "patterns (HIGH) and fine ones (LOW), --mask known ones.\n\n"
    "The columns are image rotation_deg shift_x_px shift_y_px scale correlation [tilt_deg] [a11 a12 a21 a22] edge.\n"
    "edge names the ranges at whose end the transform lies (\"-\": none); the best one may lie beyond. The cumulative\n"
    "table brings each image onto the first. The seconds of each stage are printed. Files are written whole or not\n"
    "at all.";

static int check_ranges(aj_align *job) {
    double shorter = (double)(job->series.width < job->series.height ? job->series.width : job->series.height);
    aj_ranges *range = &job->pair.range;
    int code = rg_option_within("shift", &range->shift_px, fmin(300, floor(shorter / 3)), 0, shorter - 1);
    if (code == RG_GOOD && range->scale[0] > range->scale[1])
        code = rg_fail(RG_USAGE, "--scale: expected LOW:HIGH with LOW <= HIGH, found %g:%g", range->scale[0], range->scale[1]);
    if (code == RG_GOOD) code = aj_band_pass_check(job->band_px, shorter);
    range->rotation_deg[0] = -job->turn_deg;
    range->rotation_deg[1] = job->turn_deg;
    job->low_px = job->band_px[0];
    job->high_px = job->band_px[1];
    return code;
}

// Requires known angles: a flat specimen seen from the side has no information.
static int check_axis(aj_align *job) {
    enum { STEEPEST_DEG = 85 };
    char *end;
    job->axis_deg = job->axis_error_deg = NAN;
    if (!job->axis) return RG_GOOD;
    for (int64_t i = 0; i < job->n_tilts; i++)
        if (fabs(job->tilt_deg[i]) > STEEPEST_DEG)
            return rg_fail(RG_USAGE, "%s: --tilt-axis: expected angles from -%d to %d degrees, found %g of image %" PRId64,
                job->tilts, STEEPEST_DEG, STEEPEST_DEG, job->tilt_deg[i], i + 1);
    if (strcmp(job->axis, "search") == 0) return RG_GOOD;
    job->axis_deg = aj_axis_up_deg(job, strtod(job->axis, &end));
    return end != job->axis && !*end && fabs(job->axis_deg) <= 360
        ? RG_GOOD
        : rg_fail(RG_USAGE, "--tilt-axis: expected search or an angle from -360 to 360 degrees, found \"%s\"", job->axis);
}

static int read_mask(aj_align *job, const char *path) {
    rg_series mask;
    int64_t n = job->series.width * job->series.height, kept = 0;
    int code = rg_series_open(&mask, 1, &path);
    if (code != RG_GOOD) return code;
    if (mask.n != 1 || mask.width != job->series.width || mask.height != job->series.height)
        code = rg_fail(RG_USAGE,
            "%s: expected one image of %" PRId64 " x %" PRId64 " pixels for --mask, found %" PRId64 " of %" PRId64
            " x %" PRId64,
            path, job->series.width, job->series.height, mask.n, mask.width, mask.height);
    if (code == RG_GOOD) {
        job->mask = rg_alloc((size_t)n * sizeof *job->mask);
        code = rg_series_read(&mask, 0, false, job->mask);
        if (code == RG_GOOD) rg_mrc_mask_bytes(job->mask, n);
        if (code == RG_GOOD && mask.rows_down != job->series.rows_down) aj_flip_rows(job, job->mask);
    }
    for (int64_t i = 0; i < n && code == RG_GOOD; i++) {
        job->mask[i] = job->mask[i] > 0;
        kept += job->mask[i] > 0;
    }
    if (code == RG_GOOD && kept < n / 4)
        code = rg_fail(
            RG_USAGE, "%s: expected a mask that keeps a quarter of the pixels, found %" PRId64 " of %" PRId64, path, kept, n);
    rg_series_close(&mask);
    return code;
}

static int read_input(aj_align *job) {
    const char *first = job->given.word.item[0];
    job->command = job->given.line;
    job->device = rg_ranks_device(job->given.device);
    job->threads = job->pair.threads = rg_given_threads(&job->given);
    job->pair.fine = !job->no_fine;
    job->pair.affine = job->model == 1;
    job->pair.outside = job->outside;
    int code = rg_series_open(&job->series, job->given.word.n, job->given.word.item);
    if (code == RG_GOOD && job->series.n < 2)
        code = rg_fail(RG_USAGE, "%s: expected a series of at least two images, found one", first);
    if (code == RG_GOOD && (job->series.width < 16 || job->series.height < 16))
        code = rg_fail(RG_USAGE, "%s: expected images of at least 16 x 16 pixels, found %" PRId64 " x %" PRId64, first,
            job->series.width, job->series.height);
    if (code == RG_GOOD) code = check_ranges(job);
    if (code == RG_GOOD && job->tilts) code = rg_tilts_read(job->tilts, &job->n_tilts, &job->tilt_deg);
    if (code == RG_GOOD && job->tilts && job->n_tilts != job->series.n)
        code = rg_fail(
            RG_USAGE, "%s: expected %" PRId64 " angles, one an image, found %" PRId64, job->tilts, job->series.n, job->n_tilts);
    if (code == RG_GOOD) code = check_axis(job);
    if (code == RG_GOOD) code = aj_tomogram_check(job);
    if (code == RG_GOOD && job->truth_path) {
        job->truth = rg_alloc((size_t)job->series.n * sizeof *job->truth);
        code = rg_transforms_read(job->truth_path, job->series.n, job->truth);
    }
    return code == RG_GOOD && job->mask_path ? read_mask(job, job->mask_path) : code;
}

// ---- the work ------------------------------------------------------------------------------------------------------------

// Sets pixels outside the mask to the mean of the others.
static void apply_mask(const aj_align *job, float *image) {
    int64_t n = job->series.width * job->series.height;
    double sum = 0, kept = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += job->mask[i] > 0 ? image[i] : 0;
        kept += job->mask[i];
    }
    for (int64_t i = 0; i < n; i++)
        if (!(job->mask[i] > 0)) image[i] = (float)(sum / kept);
}

int aj_load(aj_align *job, int64_t i, aj_pyramid *p) {
    double began_s = rg_seconds();
    int64_t n = job->series.width * job->series.height;
    int code = rg_series_read(&job->series, i, true, p->v[0]);
    job->read_s += rg_seconds() - began_s;
    began_s = rg_seconds();
    if (code == RG_GOOD) {
        // Scaled first: a sum of squares of large values would lose the digits of small ones.
        aj_normalise(n, p->v[0], job->threads);
        if (job->mask) apply_mask(job, p->v[0]);
        aj_band_pass(p->side[0], job->low_px, job->high_px, p->v[0], job->threads);
        if (job->mask) apply_mask(job, p->v[0]);
        if (!aj_normalise(n, p->v[0], job->threads))
            code = rg_fail(RG_USAGE, "%s: image %" PRId64 " is constant after mask and filter: its correlation is undefined",
                job->series.image[i].path, job->series.image[i].place.page + 1);
        aj_pyramid_fill(p, job->threads);
    }
    job->filter_s += rg_seconds() - began_s;
    return code;
}

// Aligns image i to image i - 1, for the pairs of one piece, images first .. past - 1.
static int align_piece(
    aj_align *job, aj_pyramid *p, int64_t first, int64_t past, aj_found *found, const rg_deal *deal, rg_progress *progress) {
    int code = aj_load(job, first, &p[first % 2]);
    for (int64_t i = first + 1; i <= past && code == RG_GOOD; i++) {
        code = aj_load(job, i, &p[i % 2]);
        double began_s = rg_seconds();
        job->pair.stretch =
            isnan(job->axis_deg) ? rg_affine_identity : rg_tilt_stretch(job->axis_deg, job->tilt_deg[i], job->tilt_deg[i - 1]);
        if (code == RG_GOOD) code = aj_pair_align(&job->pair, &p[(i + 1) % 2], &p[i % 2], 0, &found[i - 1]);
        job->align_s += rg_seconds() - began_s;
        rg_progress_at(progress, (double)(deal->done + i - first + 1));
    }
    return code;
}

static int align_all(aj_align *job, aj_pyramid *p) {
    rg_progress progress;
    int64_t pairs = job->series.n - 1, first, past;
    RG_FREED aj_found *found = rg_alloc((size_t)pairs * sizeof *found);
    rg_deal deal = {.n = pairs, .least = 1, .record = found, .bytes = sizeof *found};
    int code = RG_GOOD;
    rg_progress_begin(&progress, "align", "images", (double)job->series.n);
    rg_deal_begin(&deal);
    while (code == RG_GOOD && rg_deal_next(&deal, &first, &past)) {
        code = align_piece(job, p, first, past, found, &deal, &progress);
        if (code == RG_GOOD) rg_deal_done(&deal, first, past, NULL);
    }
    code = rg_deal_end(&deal, code);
    job->step[0] = job->whole[0] = rg_affine_identity;
    job->correlation[0] = 1;
    job->edge[0] = aj_edge_name(0);
    for (int64_t i = 1; i <= pairs; i++) {
        job->step[i] = found[i - 1].step;
        job->correlation[i] = found[i - 1].correlation;
        job->edge[i] = aj_edge_name(found[i - 1].edge);
        job->whole[i] = rg_affine_then(&job->step[i], &job->whole[i - 1]);
    }
    rg_progress_end(&progress);
    return code;
}

// Two pyramids, on the CPU a second time in the scorers, and an image that is read or filtered. The aligned series has two
// images and their targets; the page an image, its target, and the means of both.
static double need(const void *of, int64_t width) {
    const aj_align *job = of;
    const double height = (double)job->series.height / (double)job->series.width * (double)width;
    const double images = 4 * 4.0 / 3 + (job->mask ? 2 : 1) + (job->aligned ? 4 : 0) + (rg_summary_wanted() ? 4 : 0);
    return 4 * images * (double)width * height;
}

static int memory_allows(const aj_align *job) {
    if (rg_dry_run) {
        rg_plan("images", "%" PRId64 " of %" PRId64 " x %" PRId64 " pixels, %s model", job->series.n, job->series.width,
            job->series.height, job->model ? "affine" : "similarity");
        rg_plan_memory("memory", need(job, job->series.width), rg_memory_free(), need, job, "a width of");
    }
    return rg_memory_allows(rg_memory_free(), need, job, job->series.width, "a width of",
        "images of %" PRId64 " x %" PRId64 " pixels", job->series.width, job->series.height);
}

// Runs on the first process, which shares the result.
static int find_axis(aj_align *job, aj_pyramid p[2]) {
    const double began_s = rg_seconds();
    if (!job->axis || !isnan(job->axis_deg)) return RG_GOOD;
    int code = rg_rank == 0 ? aj_axis_search(job, p) : RG_GOOD;
    if (code == RG_GOOD) rg_ranks_share(&job->axis_deg, sizeof job->axis_deg);
    job->axis_s = rg_seconds() - began_s;
    return code;
}

static int work(aj_align *job, const char *asked) {
    const int64_t side[3] = {job->series.width, job->series.height, 1};
    aj_pyramid p[2];
    size_t n = (size_t)job->series.n;
    job->step = rg_alloc(n * sizeof *job->step);
    job->whole = rg_alloc(n * sizeof *job->whole);
    job->correlation = rg_alloc(n * sizeof *job->correlation);
    job->edge = rg_alloc(n * sizeof *job->edge);
    for (int i = 0; i < 2; i++) aj_pyramid_make(&p[i], side, COARSEST);
    int code = aj_pair_make(&job->pair, &p[0], job->device, asked, job->aligned || rg_summary_wanted());
    if (code == RG_GOOD && !rg_quiet)
        fprintf(stderr, "align: %" PRId64 " images of %" PRId64 " x %" PRId64 " pixels, %d size%s, variant %s on %s\n",
            job->series.n, side[0], side[1], p[0].levels, rg_plural(p[0].levels), job->pair.scorer[0].frame.entry->name,
            job->pair.scorer[0].frame.device->name);
    if (code == RG_GOOD) rg_ranks_say("align");
    if (code == RG_GOOD) code = find_axis(job, p);
    if (code == RG_GOOD) code = align_all(job, p);
    double began_s = rg_seconds();
    if (code == RG_GOOD && job->aligned && rg_rank == 0) code = aj_write_aligned(job);
    if (code == RG_GOOD && rg_rank == 0) code = aj_write_tables(job);
    if (code == RG_GOOD && rg_rank == 0) code = aj_show(job);
    job->write_s = rg_seconds() - began_s;
    aj_pair_free(&job->pair);
    for (int i = 0; i < 2; i++) aj_pyramid_free(&p[i]);
    return code;
}

static void say_edges(const aj_align *job) {
    int64_t n = 0, first = 0;
    for (int64_t i = job->series.n - 1; i >= 0; i--)
        if (strcmp(job->edge[i], "-") != 0) {
            n++;
            first = i;
        }
    if (n)
        rg_warn("%" PRId64 " of %" PRId64 " images end at the edge of a searched range, the first image %" PRId64
                " (%s): see the "
                "column edge, and widen --rotation, --shift, --scale or --stretch",
            n, job->series.n, first + 1, job->edge[first]);
}

static int run(void *typed) {
    aj_align *job = typed;
    const char *variant;
    int gpus;
    double began_s = rg_seconds();
    int code = rg_computing_variant(&job->computing, "align2d", &variant);
    if (code == RG_GOOD) code = rg_computing_gpus(&job->computing, 1, &gpus);
    if (code == RG_GOOD) code = read_input(job);
    if (code == RG_GOOD && rg_rank == 0) code = rg_file_can_write(job->out);
    for (int i = 0; i < 3 && code == RG_GOOD && rg_rank == 0; i++)
        code = rg_file_can_write((const char *const[]){job->aligned, job->xf, job->tomogram.path}[i]);
    if (code == RG_GOOD) code = memory_allows(job);
    if (code == RG_GOOD && rg_dry_run) {
        aj_pyramid p;
        aj_pyramid_size(&p, (const int64_t[3]){job->series.width, job->series.height, 1}, COARSEST);
        code = aj_pair_plan(&job->pair, &p, job->device, variant, job->aligned || rg_summary_wanted());
    }
    const bool works = code == RG_GOOD && !rg_dry_run;
    if (works) code = work(job, variant);
    if (works && code == RG_GOOD) say_edges(job);
    if (works && code == RG_GOOD) {
        static const char *const stage[] = {"read", "filter", "align", "write", "whole"};
        const double seconds[] = {job->read_s, job->filter_s, job->align_s, job->write_s, rg_seconds() - began_s};
        aj_print_stages(RG_COUNT(stage), stage, seconds);
    }
    if (code == RG_GOOD && job->axis_pairs)
        rg_summary_found("The tilt axis stands at %.2f +- %.2f degrees, from %" PRId64 " pair%s.",
            aj_axis_up_deg(job, job->axis_deg), job->axis_error_deg, job->axis_pairs, rg_plural(job->axis_pairs));
    if (code == RG_GOOD && job->axis_pairs)
        printf("tilt axis\t%.2f +- %.2f degrees, from %" PRId64 " pair%s in %.1f s\n", aj_axis_up_deg(job, job->axis_deg),
            job->axis_error_deg, job->axis_pairs, rg_plural(job->axis_pairs), job->axis_s);
    rg_series_close(&job->series);
    free(job->tilt_deg);
    free(job->tomogram.image);
    free(job->truth);
    free(job->mask);
    free(job->step);
    free(job->whole);
    free(job->correlation);
    free(job->edge);
    return code;
}

const rg_command rg_cmd_align = {
    .name = "align",
    .words = "SERIES.mrc|IMAGE...",
    .summary = "rotation, shift and scale, or an affine transform, of each image of a series against the one before",
    .help = help,
    .option = options,
    .bytes = sizeof(aj_align),
    .run = run,
    .job = true,
    .page = true,
    .one_process = true,
};
