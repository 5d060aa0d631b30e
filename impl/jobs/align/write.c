// SPDX-License-Identifier: MIT
// write.c: writes the tables of transforms, their plot, and the aligned series.
#include "../../base/plot.h"
#include "../../base/summary.h"
#include "../../../data/formats/mrc.h"
#include "align.h"

static bool is_linear(const aj_align *job) { return job->pair.affine || !isnan(job->axis_deg); }

// Writes errors of all images but the first. The error of a shift or a linear map is its largest entry's.
static int write_errors(const aj_align *job) {
    static const char *const quantity[] = {"rotation_deg", "shift_px", "scale", "linear"};
    int64_t n = job->series.n - 1;
    double *room = rg_alloc((size_t)(4 * n) * sizeof *room), *error[4] = {room, room + n, room + 2 * n, room + 3 * n};
    for (int64_t i = 0; i < n; i++) {
        const rg_similarity found = rg_affine_similarity(&job->step[i + 1]), truth = rg_affine_similarity(&job->truth[i + 1]);
        error[0][i] = fabs(remainder(found.rotation_deg - truth.rotation_deg, 360));
        error[1][i] = fmax(fabs(found.shift_x_px - truth.shift_x_px), fabs(found.shift_y_px - truth.shift_y_px));
        error[2][i] = fabs(found.scale - truth.scale);
        for (int k = 0; k < 4; k++) error[3][i] = fmax(error[3][i], fabs(job->step[i + 1].a[k] - job->truth[i + 1].a[k]));
    }
    RG_FREED char *path = rg_path_beside(job->out, "", ".errors.tsv");
    int code = aj_write_errors(path, job->command, is_linear(job) ? 4 : 3, quantity, n, error);
    free(room);
    return code;
}

static int plot(const aj_align *job) {
    RG_FREED char *svg = rg_path_beside(job->out, "", ".svg");
    rg_plot plot = {0};
    rg_plot_path(&plot, "DATA", job->out);
    rg_plot_text(&plot, "X", job->tilt_deg ? "tilt_deg" : "image");
    return rg_plot_draw(&plot, "align.gp", svg);
}

// ---- for other programs ----------------------------------------------------------------------------------------------------

// Transforms each image into the frame of the tomogram, whose y is the tilt axis, as if the specimen had been tilted about it
// and nothing else had happened. All go through the image nearest to 0 degrees. frame: on entry the transforms onto the first
// image, with rows counted upwards; on return those into the tomogram's frame.
static void frames_of(const aj_align *job, rg_affine *frame) {
    const double axis_deg = aj_axis_up_deg(job, job->axis_deg);
    int64_t level = 0;
    for (int64_t i = 1; i < job->series.n; i++)
        if (fabs(job->tilt_deg[i]) < fabs(job->tilt_deg[level])) level = i;
    const rg_affine back = rg_affine_inverse(&frame[level]), turn = rg_affine_of(&(rg_similarity){-axis_deg, 0, 0, 1});
    for (int64_t i = 0; i < job->series.n; i++) {
        const rg_affine shrink = rg_tilt_stretch(axis_deg, job->tilt_deg[level], job->tilt_deg[i]);
        rg_affine to = rg_affine_then(&frame[i], &back);
        to = rg_affine_then(&to, &shrink);
        frame[i] = rg_affine_then(&to, &turn);
    }
}

static int write_geometry(const aj_align *job) {
    const bool tilted = !isnan(job->axis_deg);
    RG_FREED rg_affine *frame = rg_alloc((size_t)job->series.n * sizeof *frame);
    int code = RG_GOOD;
    for (int64_t i = 0; i < job->series.n; i++)
        frame[i] = job->series.rows_down ? rg_affine_flip_rows(&job->whole[i], job->series.height) : job->whole[i];
    if (tilted) frames_of(job, frame);
    if (job->xf) code = rg_xf_write(job->xf, job->series.n, frame, job->series.width, job->series.height);
    if (code == RG_GOOD && job->xf && tilted) {
        RG_FREED char *tlt = rg_path_beside(job->xf, "", ".tlt");
        code = rg_tilts_write(tlt, job->series.n, job->tilt_deg);
    }
    if (code == RG_GOOD && job->tomogram.path) code = aj_tomogram_write(job, frame);
    return code;
}

int aj_write_tables(const aj_align *job) {
    const char *convention = is_linear(job) ? "a feature at p stands at c + [a11 a12; a21 a22] (p - c) + shift in"
                                            : "a feature at p stands at c + scale Rot(rotation) (p - c) + shift in";
    RG_FREED char *axis =
        isnan(job->axis_deg) ? rg_print("%s", "") : rg_print("# tilt axis: %.9g degrees\n", aj_axis_up_deg(job, job->axis_deg));
    RG_FREED char *head =
        rg_print("# command: %s\n# %" PRId64 " images of %" PRId64 " x %" PRId64 " pixels, variant %s\n%s# %s the image "
                 "before\n",
            job->command, job->series.n, job->series.width, job->series.height, job->pair.scorer[0].frame.entry->name, axis,
            convention);
    RG_FREED char *whole_head = rg_print("# command: %s\n# %s image 1\n", job->command, convention);
    RG_FREED char *whole = rg_path_beside(job->out, "", ".cumulative.tsv");
    int code = rg_transforms_write(job->out, head, job->series.n, job->step,
        (rg_transform_columns){job->correlation, job->tilt_deg, is_linear(job), job->edge});
    if (code == RG_GOOD)
        code = rg_transforms_write(whole, whole_head, job->series.n, job->whole,
            (rg_transform_columns){.tilt_deg = job->tilt_deg, .linear = is_linear(job)});
    if (code == RG_GOOD && job->truth) code = write_errors(job);
    if (code == RG_GOOD && (job->xf || job->tomogram.path)) code = write_geometry(job);
    if (code == RG_GOOD) code = plot(job);
    return code;
}

// Pixels outside the image become its mean: the rule `zero` about the mean.
static int align_image(aj_align *job, int64_t i, float *image, float *moved) {
    const int64_t side[3] = {job->series.width, job->series.height, 1}, n = side[0] * side[1];
    float matrix[6];
    int code = rg_series_read(&job->series, i, false, image);
    if (code != RG_GOOD) return code;
    double mean = aj_mean(n, image, job->threads);
#pragma omp parallel for num_threads(job->threads)
    for (int64_t p = 0; p < n; p++) image[p] = (float)(image[p] - mean);
    aj_matrix(&job->whole[i], matrix);
    code = aj_warp(&job->pair.warp, side, AF_ZERO, job->threads, image, 1, matrix, moved);
#pragma omp parallel for num_threads(job->threads)
    for (int64_t p = 0; p < n; p++) moved[p] = (float)(moved[p] + mean);
    return code;
}

void aj_flip_rows(const aj_align *job, float *image) {
    const int64_t width = job->series.width, height = job->series.height;
    for (int64_t y = 0; y < height / 2; y++)
        for (int64_t x = 0; x < width; x++) {
            float *a = &image[y * width + x], *b = &image[(height - 1 - y) * width + x], kept = *a;
            *a = *b;
            *b = kept;
        }
}

int aj_write_aligned(aj_align *job) {
    rg_mrc_out out;
    int64_t n = job->series.width * job->series.height;
    rg_progress progress;
    int code = rg_mrc_write_begin(
        &out, job->aligned, job->series.width, job->series.height, job->series.n, RG_MRC_FLOAT32, job->series.pixel_A, false);
    if (code != RG_GOOD) return code;
    rg_mrc_write_room(&out);
    float *image = rg_alloc((size_t)n * sizeof *image), *moved = rg_alloc((size_t)n * sizeof *moved);
    rg_progress_begin(&progress, "aligned series", "images", (double)job->series.n);
    for (int64_t i = 0; i < job->series.n && code == RG_GOOD; i++) {
        code = align_image(job, i, image, moved);
        if (job->series.rows_down) aj_flip_rows(job, moved);
        if (code == RG_GOOD) code = rg_mrc_write_section(&out, moved);
        rg_progress_at(&progress, (double)(i + 1));
    }
    rg_progress_end(&progress);
    free(image);
    free(moved);
    return rg_mrc_write_end(&out, code);
}

// ---- the job's page --------------------------------------------------------------------------------------------------------

// Shows the mean of up to SHOWN images, evenly spaced, before and after alignment: features sharp in one blur in the other.
static int show_images(aj_align *job) {
    enum { SHOWN = 8 };
    const int64_t n = job->series.n, pixels = job->series.width * job->series.height, shown = n < SHOWN ? n : SHOWN;
    float *image = rg_alloc((size_t)(4 * pixels) * sizeof *image), *moved = image + pixels,
          *mean[2] = {moved + pixels, moved + 2 * pixels};
    int code = RG_GOOD;
    for (int64_t k = 0; k < shown && code == RG_GOOD; k++) {
        const int64_t i = shown > 1 ? k * (n - 1) / (shown - 1) : 0;
        code = rg_series_read(&job->series, i, false, image);
        for (int64_t p = 0; p < pixels && code == RG_GOOD; p++) mean[0][p] += image[p];
        code = code == RG_GOOD ? align_image(job, i, image, moved) : code;
        for (int64_t p = 0; p < pixels && code == RG_GOOD; p++) mean[1][p] += moved[p];
    }
    for (int after = 0; after < 2 && code == RG_GOOD; after++) {
        RG_FREED char *title =
            rg_print("The mean of %" PRId64 " images %s", shown, after ? "as they are aligned" : "as they came");
        rg_summary_picture(&(rg_drawn_picture){
            .is = {title, "Evenly from the first to the last; what all of them have in common is sharp when they are aligned.",
                after ? "the mean of aligned images in grey" : "the mean of images as they came, in grey", "x (pixels)",
                "y (pixels)"},
            .width = job->series.width,
            .height = job->series.height,
            .value = mean[after],
            .step = 1,
            .down = true});
    }
    free(image);
    return code;
}

int aj_show(aj_align *job) {
    enum { SHIFT_X, SHIFT_Y, ROTATION, SCALE, CORRELATION, AT, QUANTITIES };
    static const char *const name[] = {"shift x", "shift y"};
    const int64_t n = job->series.n;
    double *of[QUANTITIES], *sorted, most = 0;
    if (!rg_summary_wanted()) return RG_GOOD;
    RG_FREED double *room = rg_alloc((size_t)((QUANTITIES + 1) * n) * sizeof *room);
    for (int k = 0; k < QUANTITIES; k++) of[k] = room + k * n;
    sorted = room + QUANTITIES * n;
    for (int64_t i = 0; i < n; i++) {
        const rg_similarity s = rg_affine_similarity(&job->step[i]);
        of[SHIFT_X][i] = s.shift_x_px;
        of[SHIFT_Y][i] = s.shift_y_px;
        of[ROTATION][i] = s.rotation_deg;
        of[SCALE][i] = s.scale;
        of[CORRELATION][i] = sorted[i] = job->correlation[i];
        of[AT][i] = job->tilt_deg ? job->tilt_deg[i] : (double)(i + 1);
        most = fmax(most, hypot(s.shift_x_px, s.shift_y_px));
    }
    int64_t worst = n > 1 ? 1 : 0;
    for (int64_t i = 1; i < n; i++) worst = job->correlation[i] < job->correlation[worst] ? i : worst;
    rg_summary_found("Of one image to the next the specimen shifts by up to %.2f pixels.", most);
    if (n > 1)
        rg_summary_found("Correlation with the image before: median %.4f, least %.4f at image %" PRId64 ", which is the one "
                         "to look at first.",
            aj_median(n - 1, sorted + 1), job->correlation[worst], worst + 1);
    if (!job->truth)
        rg_summary_found("How far the transforms are off, a series without a known truth does not say: `regather phantom "
                         "tilt` makes one like it "
                         "whose errors `--truth` tells.");
    rg_summary_did("series", "%" PRId64 " images of %" PRId64 " x %" PRId64 " pixels, %s model", n, job->series.width,
        job->series.height, job->model ? "affine" : "similarity");
    rg_summary_did(
        "variant", "align2d:%s on %s", job->pair.scorer[0].frame.entry->name, job->pair.scorer[0].frame.device->name);
    const char *x = job->tilt_deg ? "tilt (degrees)" : "image";
    rg_drawn_curves c = {.is = {"Shift against the image before", "", "both shifts of every image", x, "shift (pixels)"},
        .n = n - 1,
        .at = of[AT] + 1,
        .curves = 2,
        .name = name,
        .value = (const double *[]){of[SHIFT_X] + 1, of[SHIFT_Y] + 1}}; // the first image has no predecessor
    rg_summary_curves(&c);
    c.curves = 1;
    for (int k = ROTATION; k <= CORRELATION; k++) {
        static const char *const what[][2] = {{"Rotation against the image before", "rotation (degrees)"},
            {"Scale against the image before", "scale"}, {"Correlation with the image before", "correlation"}};
        c.is.title = what[k - ROTATION][0];
        c.is.alt = c.is.title;
        c.is.y = what[k - ROTATION][1];
        c.value = (const double *[]){of[k] + 1};
        rg_summary_curves(&c);
    }
    return rg_summary_affords(16.0 * (double)job->series.width * (double)job->series.height) ? show_images(job) : RG_GOOD;
}
