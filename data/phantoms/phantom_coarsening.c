// SPDX-License-Identifier: MIT
// phantom_coarsening.c: makes photographs of the simulation of coarsening.h, with uneven light and camera noise.
#include "coarsening.h"
#include "../formats/image.h"
#include "phantom.h"

typedef struct series {
    rg_given given;
    rg_coarsening_setup setup;
    int64_t frames;
    double end, light;
    enum { PNG, PGM } format;
    const char *folder;
} series;

// Below 16 pixels no pattern fits; FFTW counts the pixels of a side in an int.
static const rg_option options[] = {
    {"out", "DIR", "the folder for the files, made when missing", RG_TO(series, folder), .required = true},
    {"width", "W", "of a photograph", RG_TO(series, setup.width), 16, 1 << 20, "750", "pixels"},
    {"height", "H", "of a photograph", RG_TO(series, setup.height), 16, 1 << 20, "1500", "pixels"},
    {"frames", "N", "photographs", RG_TO(series, frames), 1, 9999, "8"},
    {"model", "B|H", "diffusion only, or with Stokes flow", RG_TO(series, setup.model), 0, 0, "H"},
    {"time", "T", "time of the last photograph", RG_TO(series, end), 1, 1e9L,
        .otherwise = "16000 for model B, 120 for H: R_max near 80 pixels"},
    {"viscosity", "ETA", "of model H", RG_TO(series, setup.viscosity), 1e-3L, 1e6L, "0.25"},
    {"light", "PART", "how much darker the corners are than the middle; 0: even light", RG_TO(series, light), 0, 1, "0.02"},
    {"format", "png|pgm", "of the files", RG_TO(series, format), 0, 0, "png"},
    {0},
};

static int set_up(series *s) {
    if (s->format == PNG && !rg_image_can_write_png())
        return rg_fail(RG_LACKS, "this program was built without libpng (see regather doctor); --format pgm needs no library");
    if (isnan(s->end)) s->end = s->setup.model == RG_MODEL_H ? 120 : 16000;
    s->setup.amplitude = 0.1;
    // A step is some twenty parallel regions. Of fewer pixels a thread each takes microseconds, and on a busy machine the others wait
    // a time slice, a thousand times as long, for a thread that was preempted.
    const int64_t pixels_a_thread = 1 << 16, threads = 1 + s->setup.width * s->setup.height / pixels_a_thread;
    s->setup.threads = (int)fmin((double)threads, rg_given_threads(&s->given));
    s->setup.seed = s->given.seed;
    return RG_GOOD;
}

// Sum of four uniform deviates, scaled to variance 1: near enough to normal for a camera, bounded, and cheap.
static double noise(uint64_t seed, uint64_t i) {
    uint64_t bits = rg_bits(seed, i);
    double sum = 0;
    for (int part = 0; part < 4; part++) sum += (double)(bits >> 16 * part & 0xFFFF) / 65535 - 0.5;
    return sum * sqrt(3.0);
}

static void expose(const series *s, const float *phi, int64_t frame, rg_image *photo) {
    double w = (double)photo->width, h = (double)photo->height, corner = (w * w + h * h) / 4;
    uint8_t *pixel = photo->pixel;
    for (int64_t y = 0; y < photo->height; y++)
        for (int64_t x = 0; x < photo->width; x++) {
            int64_t i = y * photo->width + x;
            double dx = (double)x + 0.5 - w / 2, dy = (double)y + 0.5 - h / 2;
            double grey = fmax(0, (128 + 100 * (double)phi[i]) * (1 - s->light * (dx * dx + dy * dy) / corner));
            grey += sqrt(4 + grey / 8) * noise(s->setup.seed + (uint64_t)frame * 0x9E3779B97F4A7C15u, (uint64_t)i);
            pixel[i] = (uint8_t)fmin(fmax(floor(grey + 0.5), 0), 255);
        }
}

static void on_step(void *progress, double time) { rg_progress_at(progress, time); }

static char *name_of(int64_t frame) { return rg_print("coarsening_%04" PRId64, frame); }
static char *path_of(const series *s, const char *name) {
    return rg_print("%s/%s.%s", s->folder, name, s->format == PNG ? "png" : "pgm");
}

static int write_frames(const series *s, FILE *times) {
    rg_coarsening *fluid = rg_coarsening_make(&s->setup);
    RG_ENDS(rg_image_free)
    rg_image photo = {s->setup.width, s->setup.height, 8, rg_alloc((size_t)(s->setup.width * s->setup.height))};
    double power = s->setup.model == RG_MODEL_H ? 1 : 3;
    int code = RG_GOOD;
    rg_progress progress;
    rg_progress_begin(&progress, "coarsening", "time units", s->end);
    for (int64_t frame = 1; frame <= s->frames && code == RG_GOOD; frame++) {
        double time = s->end * pow((double)frame / (double)s->frames, power);
        rg_coarsening_advance(fluid, time, on_step, &progress);
        expose(s, rg_coarsening_phi(fluid), frame, &photo);
        RG_FREED char *name = name_of(frame), *path = path_of(s, name);
        code = s->format == PNG ? rg_image_write_png(path, &photo) : rg_image_write_pgm(path, &photo);
        fprintf(times, "%s\t%.17g\n", name, time);
    }
    rg_progress_end(&progress);
    rg_coarsening_free(fluid);
    return code;
}

// Fields and transforms of 4 bytes a pixel: 5 of model B, 11 of model H; a photograph.
static double need(const void *of, int64_t width) {
    const series *s = of;
    const double height = (double)s->setup.height / (double)s->setup.width * (double)width;
    return (double)(width + 2) * height * (s->setup.model == RG_MODEL_H ? 4 * 11 + 1 : 4 * 5 + 1);
}

static void plan(const series *s) {
    static const char *const name[] = {"times.tsv"};
    RG_FREED char *what = rg_print("%" PRId64 " photograph%s of %" PRId64 " x %" PRId64 " pixels", s->frames,
        rg_plural(s->frames), s->setup.width, s->setup.height);
    rg_phantom_plan(s->folder, what, need(s, s->setup.width), need, s, "--width", RG_COUNT(name), name);
    for (int64_t frame = 1; frame <= s->frames; frame++) {
        RG_FREED char *photo = name_of(frame), *path = path_of(s, photo);
        rg_plan_file(path);
    }
}

static int run(void *typed) {
    series *s = typed;
    rg_file times;
    int code = set_up(s);
    if (code == RG_GOOD)
        code = rg_memory_allows(rg_memory_free(), need, s, s->setup.width, "--width",
            "photographs of %" PRId64 " x %" PRId64 " pixels", s->setup.width, s->setup.height);
    if (code == RG_GOOD) code = rg_make_folder(s->folder);
    if (code == RG_GOOD && rg_dry_run) plan(s);
    if (code != RG_GOOD || rg_dry_run) return code;
    RG_FREED char *path = rg_print("%s/times.tsv", s->folder);
    code = rg_file_open(&times, path);
    if (code != RG_GOOD) return code;
    fprintf(times.stream, "# command: %s\n# model %s, %" PRId64 " x %" PRId64 ", seed %" PRIu64 "\nphoto\ttime\n",
        s->given.line, s->setup.model == RG_MODEL_H ? "H" : "B", s->setup.width, s->setup.height, s->setup.seed);
    return rg_file_end(&times, write_frames(s, times.stream));
}

const rg_command rg_phantom_coarsening = {
    .name = "phantom coarsening",
    .words = "",
    .summary = "a series of photographs of a phase-separating fluid, for autocorr",
    .help = "8-bit photographs coarsening_0001.. of a fluid that separates into two\n"
            "phases, and times.tsv (photo, time) for `regather autocorr --times`. The order parameter phi follows the\n"
            "Cahn-Hilliard equation on a periodic grid, a pixel being the unit of length; data/phantoms/coarsening.h has the\n"
            "equations.\n"
            "\n"
            "Model B: the length grows as t^(1/3), by diffusion (Lifshitz and Slyozov). Model H: Stokes flow is added, and\n"
            "the length grows in proportion to t while both phases are connected (Siggia). In two dimensions they fall apart\n"
            "in the end and growth slows: at 750 x 1500 R_max is a straight line through the origin from 10 to 85 pixels, in\n"
            "smaller frames it ends sooner. Take R_max of these photographs with --norm overlap or centred: raw sums fall\n"
            "with the overlap and drown shallow maxima.\n"
            "\n"
            "Frames lie at equal steps of length by that law: t_i = T (i/N) for model H, T (i/N)^3 for model B. Photograph:\n"
            "grey = (128 + 100 phi) (1 - LIGHT d^2), d the distance from the middle in half diagonals (uneven light), plus\n"
            "nearly normal noise (four uniform deviates) of variance 4 + grey/8 (camera and photons), rounded, clamped to\n"
            "0..255.\n"
            "\n"
            "The same seed, size and number of threads gives the same files on one machine; elsewhere rounding may differ and\n"
            "the flow amplifies it, so that single photographs differ but the lengths agree.",
    .option = options,
    .bytes = sizeof(series),
    .run = run,
    .job = true,
    .one_process = true,
    .of = &rg_cmd_phantom,
};
