// SPDX-License-Identifier: MIT
// phantom_tilt.c: makes a series of images of one flat, unlimited specimen, each under a known similarity transform of the one
// before, with noise: input with an exact truth for `regather align`.
//
// The specimen is a sum of Gaussians: one per cell of 24 x 24 pixels of image 0, with a place, a width (1.5 to 8 pixels) and a
// height that the cell's number decides, and one of 16 to 64 pixels per cell of 192 x 192. Every image is evaluated from them
// at its own pixels, so nothing is interpolated.
#include "../formats/mrc.h"
#include "noise.h"
#include "phantom.h"
#include "../formats/transforms.h"

typedef struct series {
    rg_given given;
    int64_t width, height, images; // height 0: the width
    double rotation_deg, shift_px, scale, snr, noise_sd, pixel_A, axis_deg, tilts_deg[2];
    const char *folder;
    rg_affine *step; // of image i into image i - 1
} series;

// Cells of one kind of feature.
typedef struct lattice {
    double cell_px, least_sigma_px, most_sigma_px, height;
} lattice;
static const lattice lattices[] = {{24, 1.5, 8, 1}, {192, 16, 64, 0.7}};

static const rg_option options[] = {
    {"out", "DIR", "the folder for the files, made when missing", RG_TO(series, folder), .required = true},
    {"width", "W", "of an image", RG_TO(series, width), 16, 1 << 15, "1024", "pixels"},
    {"height", "H", "of an image", RG_TO(series, height), 16, 1 << 15, .otherwise = "the width", .unit = "pixels"},
    {"images", "N", "how many", RG_TO(series, images), 1, 9999, "41"},
    {"pixel", "A", "size of a pixel", RG_TO(series, pixel_A), 1e-3L, 1e6L, "1.5", "Angstrom"},
    {"rotation", "DEG", "rotations from image to image lie within +-DEG", RG_TO(series, rotation_deg), 0, 180, "2", "degrees"},
    {"shift", "PX", "shifts from image to image lie within +-PX on every axis", RG_TO(series, shift_px), 0, 1e4L, "20",
        "pixels"},
    {"scale", "S", "magnifications from image to image lie within 1/S and S", RG_TO(series, scale), 1, 2, "1.01"},
    {"snr", "S", "add white noise, its variance that of the first image over S; 0: none", RG_TO(series, snr), 0, 1e12L, "1"},
    {"tilt-axis", "DEG",
        "tilt the specimen about this axis, counted from +y towards -x: what lies across it shrinks by the cosine",
        RG_TO(series, axis_deg), -180, 180, .unit = "degrees", .otherwise = "none, every image shows it untilted"},
    {"tilts", "FIRST:LAST", "nominal angles of series.rawtlt, evenly from the first image to the last",
        RG_TO(series, tilts_deg), -85, 85, "-60:60", "degrees"},
    {0},
};

// Rounds as the table does, so that the images match the numbers that are read.
static double nine_digits(double v) {
    char text[40];
    snprintf(text, sizeof text, "%.9g", v);
    return strtod(text, NULL);
}

// Rounds as the file does.
static double tilt_of(const series *s, int64_t i) {
    const double at = s->images > 1 ? (double)i / (double)(s->images - 1) : 0.5;
    return round(100 * (s->tilts_deg[0] + at * (s->tilts_deg[1] - s->tilts_deg[0]))) / 100;
}

static rg_affine step_of(const series *s, int64_t i) {
    double u[4];
    for (int k = 0; k < 4; k++) u[k] = 2 * rg_uniform(s->given.seed + 0x71177, (uint64_t)(4 * i + k)) - 1;
    if (i == 0) return rg_affine_identity;
    rg_affine step = rg_affine_of(&(rg_similarity){nine_digits(s->rotation_deg * u[0]), nine_digits(s->shift_px * u[1]),
        nine_digits(s->shift_px * u[2]), nine_digits(pow(s->scale, u[3]))});
    if (isnan(s->axis_deg)) return step;
    const rg_affine stretch = rg_tilt_stretch(s->axis_deg, tilt_of(s, i), tilt_of(s, i - 1));
    return rg_affine_then(&stretch, &step);
}

// ---- one image -----------------------------------------------------------------------------------------------------------

// Adds a Gaussian about p: height exp(-|A (q - p)|^2 / (2 sigma^2)) at pixel q, A the image's map into the specimen, cut off at
// 6 sigma, where it is 1.5e-8 of its height. across: room for `width` values, used where A is a similarity.
static void add_blob(
    const series *s, const double p[2], const double a[4], double sigma, double height, double *across, double *image) {
    const double xx = a[0] * a[0] + a[2] * a[2], yy = a[1] * a[1] + a[3] * a[3], xy = a[0] * a[1] + a[2] * a[3];
    const double det = xx * yy - xy * xy, reach_x = 6 * sigma * sqrt(yy / det), reach_y = 6 * sigma * sqrt(xx / det);
    const double fall = 1 / (2 * sigma * sigma);
    const bool apart = isnan(s->axis_deg); // then xx = yy and xy = 0, and the Gaussian is one of x times one of y
    int64_t x0 = (int64_t)fmax(0, ceil(p[0] - reach_x)), x1 = (int64_t)fmin((double)s->width - 1, floor(p[0] + reach_x));
    int64_t y0 = (int64_t)fmax(0, ceil(p[1] - reach_y)), y1 = (int64_t)fmin((double)s->height - 1, floor(p[1] + reach_y));
    if (x0 > x1 || y0 > y1) return;
    for (int64_t i = x0; i <= x1 && apart; i++) across[i] = exp(-xx * ((double)i - p[0]) * ((double)i - p[0]) * fall);
    for (int64_t j = y0; j <= y1; j++) {
        const double y = (double)j - p[1], h = apart ? height * exp(-yy * y * y * fall) : height;
        for (int64_t i = x0; i <= x1; i++) {
            const double x = (double)i - p[0];
            image[j * s->width + i] += h * (apart ? across[i] : exp(-(xx * x * x + 2 * xy * x * y + yy * y * y) * fall));
        }
    }
}

// The specimen's rectangle that this image may show, in pixels of image 0 from its centre.
static void region(const series *s, const rg_affine *to_first, double margin, double low[2], double high[2]) {
    const double corner[2] = {(double)s->width / 2 + 1, (double)s->height / 2 + 1};
    low[0] = low[1] = INFINITY;
    high[0] = high[1] = -INFINITY;
    for (int k = 0; k < 4; k++) {
        double p[2] = {k & 1 ? corner[0] : -corner[0], k & 2 ? corner[1] : -corner[1]};
        rg_affine_apply(to_first, p, p);
        for (int axis = 0; axis < 2; axis++) {
            low[axis] = fmin(low[axis], p[axis] - margin);
            high[axis] = fmax(high[axis], p[axis] + margin);
        }
    }
}

static void add_lattice(const series *s, int which, const rg_affine *to_first, double *across, double *image) {
    const lattice *l = &lattices[which];
    rg_affine from_first = rg_affine_inverse(to_first);
    double low[2], high[2], centre[2] = {(double)(s->width / 2), (double)(s->height / 2)};
    region(s, to_first, 6 * l->most_sigma_px, low, high);
    for (int64_t v = (int64_t)floor(low[1] / l->cell_px); (double)v * l->cell_px <= high[1]; v++)
        for (int64_t u = (int64_t)floor(low[0] / l->cell_px); (double)u * l->cell_px <= high[0]; u++) {
            uint64_t cell = ((uint64_t)(u + (1 << 24)) << 28 | (uint64_t)(v + (1 << 24))) * 8 + 4 * (uint64_t)which;
            double p[2] = {l->cell_px * ((double)u + rg_uniform(s->given.seed, cell)),
                l->cell_px * ((double)v + rg_uniform(s->given.seed, cell + 1))};
            double shape = rg_uniform(s->given.seed, cell + 2),
                   height = l->height * (2 * rg_uniform(s->given.seed, cell + 3) - 1);
            double sigma = l->least_sigma_px * pow(l->most_sigma_px / l->least_sigma_px, shape);
            rg_affine_apply(&from_first, p, p);
            p[0] += centre[0];
            p[1] += centre[1];
            add_blob(s, p, to_first->a, sigma, height, across, image);
        }
}

static void make_image(const series *s, int64_t i, const rg_affine *to_first, double *across, double *image) {
    memset(image, 0, (size_t)(s->width * s->height) * sizeof *image);
    for (int which = 0; which < (int)(sizeof lattices / sizeof lattices[0]); which++)
        add_lattice(s, which, to_first, across, image);
    if (s->noise_sd > 0) rg_add_noise(s->noise_sd, s->given.seed, i, s->width * s->height, image);
}

// One level of noise for all images: the variance of image 0, without noise, over the signal-to-noise ratio.
static double noise_of(const series *s) {
    int64_t n = s->width * s->height;
    double *image = rg_alloc((size_t)(n + s->width) * sizeof *image), sum = 0, squares = 0;
    make_image(s, 0, &rg_affine_identity, image + n, image);
    for (int64_t j = 0; j < n; j++) {
        sum += image[j];
        squares += image[j] * image[j];
    }
    free(image);
    return sqrt((squares - sum * sum / (double)n) / (double)n / s->snr);
}

// ---- the files -----------------------------------------------------------------------------------------------------------

static int write_images(const series *s, const rg_affine *to_first) {
    RG_FREED char *path = rg_print("%s/series.mrc", s->folder);
    int64_t n = s->width * s->height, batch = s->given.cores;
    rg_mrc_out out;
    rg_progress progress;
    int code = rg_mrc_write_begin(&out, path, s->width, s->height, s->images, RG_MRC_FLOAT32, s->pixel_A, false);
    if (code != RG_GOOD) return code;
    double *image = rg_alloc((size_t)(batch * (n + s->width)) * sizeof *image);
    float *section = rg_alloc((size_t)n * sizeof *section);
    rg_progress_begin(&progress, "tilt", "images", (double)s->images);
    for (int64_t first = 0; first < s->images && code == RG_GOOD; first += batch) {
        int64_t count = s->images - first < batch ? s->images - first : batch;
#pragma omp parallel for schedule(dynamic)
        for (int64_t i = 0; i < count; i++)
            make_image(s, first + i, &to_first[first + i], image + batch * n + i * s->width, image + i * n);
        for (int64_t i = 0; i < count && code == RG_GOOD; i++) {
            for (int64_t j = 0; j < n; j++) section[j] = (float)image[i * n + j];
            code = rg_mrc_write_section(&out, section);
        }
        rg_progress_at(&progress, (double)(first + count));
    }
    rg_progress_end(&progress);
    free(section);
    free(image);
    return rg_mrc_write_end(&out, code);
}

static int write_truth(const series *s) {
    RG_FREED char *path = rg_print("%s/truth.tsv", s->folder);
    RG_FREED char *head =
        rg_print("# command: %s\n# %" PRId64 " image%s of %" PRId64 " x %" PRId64 " pixels, standard deviation of the "
                 "noise %.9g, seed %" PRIu64 "\n",
            s->given.line, s->images, rg_plural(s->images), s->width, s->height, s->noise_sd, s->given.seed);
    return rg_transforms_write(path, head, s->images, s->step, (rg_transform_columns){.linear = !isnan(s->axis_deg)});
}

static int write_tilts(const series *s) {
    RG_FREED double *tilt_deg = rg_alloc((size_t)s->images * sizeof *tilt_deg);
    RG_FREED char *path = rg_print("%s/series.rawtlt", s->folder);
    for (int64_t i = 0; i < s->images; i++) tilt_deg[i] = tilt_of(s, i);
    return rg_tilts_write(path, s->images, tilt_deg);
}

// An image in double precision for each core, and one as written.
static double need(const void *of, int64_t width) {
    const series *s = of;
    const double images = (double)(s->images < s->given.cores ? s->images : s->given.cores);
    return (double)width * ((double)s->height / (double)s->width * (double)width + 1) * (8 * images + 4);
}

static int run(void *typed) {
    series *s = typed;
    s->height = s->height ? s->height : s->width;
    int code = rg_memory_allows(
        rg_memory_free(), need, s, s->width, "--width", "images of %" PRId64 " x %" PRId64 " pixels", s->width, s->height);
    if (code == RG_GOOD) code = rg_make_folder(s->folder);
    if (code == RG_GOOD && rg_dry_run) {
        static const char *const name[] = {"series.mrc", "series.rawtlt", "truth.tsv"};
        RG_FREED char *what = rg_print(
            "%" PRId64 " image%s of %" PRId64 " x %" PRId64 " pixels", s->images, rg_plural(s->images), s->width, s->height);
        rg_phantom_plan(s->folder, what, need(s, s->width), need, s, "--width", RG_COUNT(name), name);
    }
    if (code != RG_GOOD || rg_dry_run) return code;
    s->step = rg_alloc((size_t)s->images * sizeof *s->step);
    RG_FREED rg_affine *to_first = rg_alloc((size_t)s->images * sizeof *to_first);
    for (int64_t i = 0; i < s->images; i++) {
        s->step[i] = step_of(s, i);
        to_first[i] = i ? rg_affine_then(&s->step[i], &to_first[i - 1]) : s->step[i];
    }
    s->noise_sd = s->snr > 0 ? noise_of(s) : 0;
    code = write_images(s, to_first);
    if (code == RG_GOOD) code = write_tilts(s);
    if (code == RG_GOOD) code = write_truth(s);
    free(s->step);
    return code;
}

const rg_command rg_phantom_tilt = {
    .name = "phantom tilt",
    .words = "",
    .summary = "a series of images, each under a known similarity transform of the one before, for align",
    .help =
        "DIR/series.mrc, truth.tsv (the transforms, as `regather align` writes them) and series.rawtlt. A flat\n"
        "specimen without end, a sum of Gaussians 1.5 to 64 pixels wide, is evaluated at the pixels of each image: nothing is\n"
        "interpolated. The angles of series.rawtlt are names, as the specimen is flat and seen from above, unless --tilt-axis\n"
        "tilts it by them.",
    .option = options,
    .bytes = sizeof(series),
    .run = run,
    .job = true,
    .one_process = true,
    .of = &rg_cmd_phantom,
};
