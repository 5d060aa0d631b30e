// SPDX-License-Identifier: MIT
// phantom_coarsening.c: photographs of the simulation of coarsening.h, with uneven light and a camera's noise.
#include "../../impl/runtime/cpu.h"
#include "../../impl/suite.h"
#include "coarsening.h"
#include "../formats/image.h"
#include "phantom.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct series {
    rg_coarsening_setup setup;
    int64_t frames;
    double end;
    bool png;
    const char *folder, *command;
} series;

static int take_options(series *s, const rg_cli *cli)
{
    const char *model = rg_cli_text(cli, "model", "H"), *format = rg_cli_text(cli, "format", "png");
    int64_t threads = 1, seed = 1;
    if (strcmp(model, "B") != 0 && strcmp(model, "H") != 0)
        return rg_fail(RG_USAGE, "--model: expected B or H, found \"%s\"", model);
    if (strcmp(format, "png") != 0 && strcmp(format, "pgm") != 0)
        return rg_fail(RG_USAGE, "--format: expected png or pgm, found \"%s\"", format);
    s->png = strcmp(format, "png") == 0;
    if (s->png && !rg_image_can_write_png())
        return rg_fail(RG_LACKS, "this program was built without libpng (see regather doctor); --format pgm needs no library");
    s->setup.model = strcmp(model, "H") == 0 ? RG_MODEL_H : RG_MODEL_B;
    s->setup.amplitude = 0.1;
    // Below 16 pixels no pattern fits; FFTW counts the pixels of a side in an int.
    int code = rg_cli_int(cli, "width", 750, 16, 1 << 20, &s->setup.width);
    if (code == RG_GOOD)
        code = rg_cli_int(cli, "height", 1500, 16, 1 << 20, &s->setup.height);
    if (code == RG_GOOD)
        code = rg_cli_int(cli, "frames", 8, 1, 9999, &s->frames);
    if (code == RG_GOOD)
        code = rg_cli_real(cli, "time", s->setup.model == RG_MODEL_H ? 120 : 16000, 1, 1e9, &s->end);
    if (code == RG_GOOD)
        code = rg_cli_real(cli, "viscosity", 0.25, 1e-3, 1e6, &s->setup.viscosity);
    if (code == RG_GOOD)
        code = rg_cli_int(cli, "threads", rg_cpu_cores(), 1, 4096, &threads);
    if (code == RG_GOOD)
        code = rg_cli_int(cli, "seed", 1, 0, INT64_MAX, &seed);
    s->setup.threads = (int)threads;
    s->setup.seed = (uint64_t)seed;
    return code;
}

// Sum of four uniform deviates, scaled to variance 1: near enough to normal for a camera, bounded, and cheap.
static double noise(uint64_t seed, uint64_t i)
{
    uint64_t bits = rg_bits(seed, i);
    double sum = 0;
    for (int part = 0; part < 4; part++)
        sum += (double)(bits >> 16 * part & 0xFFFF) / 65535 - 0.5;
    return sum * sqrt(3.0);
}

static void expose(const series *s, const float *phi, int64_t frame, rg_image *photo)
{
    double w = (double)photo->width, h = (double)photo->height, corner = (w * w + h * h) / 4;
    uint8_t *pixel = photo->pixel;
    for (int64_t y = 0; y < photo->height; y++)
        for (int64_t x = 0; x < photo->width; x++) {
            int64_t i = y * photo->width + x;
            double dx = (double)x + 0.5 - w / 2, dy = (double)y + 0.5 - h / 2;
            double grey = fmax(0, (128 + 100 * (double)phi[i]) * (1 - 0.02 * (dx * dx + dy * dy) / corner));
            grey += sqrt(4 + grey / 8) * noise(s->setup.seed + (uint64_t)frame * 0x9E3779B97F4A7C15u, (uint64_t)i);
            pixel[i] = (uint8_t)fmin(fmax(floor(grey + 0.5), 0), 255);
        }
}

static void on_step(void *progress, double time) { rg_progress_at(progress, time); }

static int write_frames(const series *s, FILE *times)
{
    rg_coarsening *fluid = rg_coarsening_make(&s->setup);
    rg_image photo = {s->setup.width, s->setup.height, 8, rg_alloc((size_t)(s->setup.width * s->setup.height))};
    double power = s->setup.model == RG_MODEL_H ? 1 : 3;
    int code = RG_GOOD;
    rg_progress progress;
    rg_progress_begin(&progress, "coarsening", "time units", s->end);
    for (int64_t frame = 1; frame <= s->frames && code == RG_GOOD; frame++) {
        double time = s->end * pow((double)frame / (double)s->frames, power);
        rg_coarsening_advance(fluid, time, on_step, &progress);
        expose(s, rg_coarsening_phi(fluid), frame, &photo);
        char *name = rg_print("coarsening_%04" PRId64, frame);
        char *path = rg_print("%s/%s.%s", s->folder, name, s->png ? "png" : "pgm");
        code = s->png ? rg_image_write_png(path, &photo) : rg_image_write_pgm(path, &photo);
        fprintf(times, "%s\t%.17g\n", name, time);
        free(name);
        free(path);
    }
    rg_progress_end(&progress);
    rg_image_free(&photo);
    rg_coarsening_free(fluid);
    return code;
}

int rg_phantom_coarsening(const rg_cli *cli, const char *folder)
{
    series s = {.folder = folder, .command = rg_cli_line(cli)};
    rg_file times;
    int code = take_options(&s, cli);
    if (code == RG_GOOD)
        code = rg_make_folder(folder);
    if (code != RG_GOOD)
        return code;
    char *path = rg_print("%s/times.tsv", folder);
    code = rg_file_open(&times, path);
    free(path);
    if (code != RG_GOOD)
        return code;
    fprintf(times.stream, "# command: %s\n# model %s, %" PRId64 " x %" PRId64 ", seed %" PRIu64 "\nphoto\ttime\n", s.command,
            s.setup.model == RG_MODEL_H ? "H" : "B", s.setup.width, s.setup.height, s.setup.seed);
    code = write_frames(&s, times.stream);
    if (code == RG_GOOD)
        return rg_file_commit(&times);
    rg_file_abandon(&times);
    return code;
}
