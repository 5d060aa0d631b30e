// SPDX-License-Identifier: MIT
// job_feed.c: images on their way to a device. A thread reads the next batch into pinned memory, with as many helpers as there
// are CPUs for it, while the device works on the one before.
#include "job.h"

#include <math.h>
#include <stdlib.h>

enum { READERS = 16 }; // threads that read for a device, at most

static int64_t images_of(const fr_feed *f, int64_t batch)
{
    const int64_t left = f->rows - batch * f->engine->batch;
    return left < f->engine->batch ? left : f->engine->batch;
}

static int read_image(const fr_files *f, rg_particles *reader, int64_t row, float *image)
{
    const int64_t pixels = f->particles.side * f->particles.side;
    const rg_particle *q = &f->particles.row[row];
    int code = rg_particles_image(reader, row, image);
    for (int64_t p = 1; p < pixels && code == RG_GOOD; p++)
        if (image[p] != image[0])
            return RG_GOOD;
    return code != RG_GOOD ? code : rg_fail(RG_USAGE, "%s: image %lld: expected a picture, found %g everywhere",
                                            f->particles.stack[q->stack].path, (long long)q->image + 1, image[0]);
}

int fr_feed_complain(const fr_files *f, int64_t row)
{
    float *image = rg_alloc((size_t)(f->particles.side * f->particles.side) * sizeof *image);
    rg_particles reader = rg_particles_reader(&f->particles);
    int code = read_image(f, &reader, row, image);
    rg_particles_reader_close(&reader);
    free(image);
    return code != RG_GOOD ? code : rg_fail(RG_USAGE, "%s: row %lld could not be read at first; the file is changing", f->input,
                                            (long long)row + 1);
}

static void *read_batch(void *of)
{
    fr_feed *f = of;
    fr_engine *e = f->engine;
    const int64_t batch = f->taken, n = images_of(f, batch), pixels = e->side * e->side;
    const struct fr_room *to = &f->room[batch % 2];
    const double since_s = rg_seconds(), turn = 2 * 3.14159265358979323846 / (double)e->side;
    int64_t bad = INT64_MAX;
#pragma omp parallel num_threads(e->threads < READERS ? e->threads : READERS) reduction(min : bad)
    {
        rg_particles reader = rg_particles_reader(&f->files->particles);
        rg_silent = true;
#pragma omp for
        for (int64_t i = 0; i < n; i++) {
            const int64_t row = f->row[batch * e->batch + i];
            const rg_particle *q = &f->files->particles.row[row];
            if (read_image(f->files, &reader, row, to->image + i * pixels) != RG_GOOD)
                bad = row < bad ? row : bad;
            fr_optics_of(f->files, row, 0, 1, to->optics + i * FR_OPTICS);
            to->shift[2 * i] = (float)(-q->origin_x_px * turn); // a particle stands at minus its origin
            to->shift[2 * i + 1] = (float)(-q->origin_y_px * turn);
        }
        rg_silent = false;
        rg_particles_reader_close(&reader);
    }
    if (bad < INT64_MAX)
        e->bad_row = bad;
    fr_lap(e, FR_READ, since_s);
    return NULL;
}

static void start(fr_feed *f)
{
    if (f->taken >= f->batches)
        return;
    if (pthread_create(&f->reader, NULL, read_batch, f) != 0)
        exit(rg_fail(RG_LACKS, "no thread that reads could be made"));
    f->is_running = true;
}

static void wait_for(fr_feed *f)
{
    if (f->is_running)
        pthread_join(f->reader, NULL);
    f->is_running = false;
}

int fr_feed_begin(fr_feed *f, fr_engine *e, const fr_files *files, const int64_t *row, int64_t rows)
{
    const size_t images = (size_t)e->batch, pixels = (size_t)(e->side * e->side);
    const double since_s = rg_seconds();
    *f = (fr_feed){.engine = e, .files = files, .row = row, .rows = rows,
                    .batches = (rows + e->batch - 1) / e->batch};
    for (int r = 0; r < 2; r++) {
        f->room[r] = (struct fr_room){e->device->pinned(images * pixels * sizeof(float)),
                                      e->device->pinned(images * FR_OPTICS * sizeof(float)),
                                      e->device->pinned(images * 2 * sizeof(float))};
        if (!f->room[r].image || !f->room[r].optics || !f->room[r].shift)
            return rg_fail(RG_LACKS, "%s: no pinned memory for images", e->device->name);
    }
    fr_lap(e, FR_SETUP, since_s);
    start(f);
    return RG_GOOD;
}

// What ctfapply has no room for: c times exp(-|B| g^2 / 4) of those rows that have a B-factor.
static int damp(fr_feed *f, const int64_t *at, int64_t n)
{
    fr_engine *e = f->engine;
    const int64_t stored = fr_stored(e->side);
    const double width_A = (double)e->side * f->files->particles.pixel_A;
    const rg_particle *row = f->files->particles.row;
    bool any = false;
    for (int64_t i = 0; i < n; i++)
        any = any || row[at[i]].ctf.b_factor_A2 != 0;
    if (!any)
        return RG_GOOD;
    float *c = rg_alloc((size_t)(n * stored) * sizeof *c);
    int error = e->device->download(c, e->c.base, (size_t)(n * stored) * sizeof *c);
#pragma omp parallel for num_threads(e->threads)
    for (int64_t i = 0; i < n; i++) {
        const double b = fabs(row[at[i]].ctf.b_factor_A2) / (4 * width_A * width_A);
        for (int64_t k = 0; k < stored; k++) {
            const int64_t x = fr_i(e->side, k), y = fr_j(e->side, k);
            c[i * stored + k] *= (float)exp(-b * (double)(x * x + y * y));
        }
    }
    error = error ? error : e->device->upload(e->c.base, c, (size_t)(n * stored) * sizeof *c);
    free(c);
    return fr_engine_failed(e, "copying the CTF", error);
}

int fr_feed_next(fr_feed *f, int64_t kind, const int64_t **row, int64_t *n)
{
    fr_engine *e = f->engine;
    wait_for(f);
    *n = 0;
    if (e->bad_row >= 0)
        return RG_USAGE;
    if (f->taken >= f->batches)
        return RG_GOOD;
    const struct fr_room *from = &f->room[f->taken % 2];
    *row = f->row + f->taken * e->batch;
    *n = images_of(f, f->taken++);
    start(f);
    const size_t images = (size_t)*n, pixels = (size_t)(e->side * e->side);
    const double since_s = rg_seconds();
    int error = e->device->upload(e->image.base, from->image, images * pixels * sizeof(float));
    error = error ? error : e->device->upload(e->optics.base, from->optics, images * FR_OPTICS * sizeof(float));
    error = error ? error : e->device->upload(e->shift.base, from->shift, images * 2 * sizeof(float));
    fr_lap(e, FR_COPY, since_s);
    if (error)
        return fr_engine_failed(e, "copying images", error);
    int code = fr_engine_apply(e, *n, kind);
    return code == RG_GOOD ? damp(f, *row, *n) : code;
}

void fr_feed_end(fr_feed *f)
{
    wait_for(f);
    for (int r = 0; r < 2; r++) {
        void *const pinned[] = {f->room[r].image, f->room[r].optics, f->room[r].shift};
        for (int i = 0; i < RG_COUNT(pinned); i++)
            if (pinned[i])
                f->engine->device->unpin(pinned[i]);
    }
}
