// SPDX-License-Identifier: MIT
// job_feed.c: images on their way to a device. A thread reads the next batches into pinned memory, with as many helpers as there
// are CPUs for it, while the device works on the one before: at 500 x 500 reading takes as long as an insertion under 14
// operators, so that with one batch ahead each waited for the other a third of the time.
#include "refine.h"

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

static void read_batch(fr_feed *f, int64_t batch)
{
    fr_engine *e = f->engine;
    const int64_t n = images_of(f, batch), pixels = e->side * e->side;
    struct fr_room *to = &f->room[batch % FR_ROOMS];
    const double turn = 2 * 3.14159265358979323846 / (double)e->side;
    int64_t bad = INT64_MAX;
#pragma omp parallel num_threads(e->threads < READERS ? e->threads : READERS) reduction(min : bad)
    {
        rg_particles reader = rg_particles_reader(&f->files->particles);
        rg_silent = true;
#pragma omp for schedule(dynamic, 1)
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
    to->bad_row = bad < INT64_MAX ? bad : -1;
    pthread_mutex_lock(&f->lock);
    f->read = batch + 1;
    pthread_cond_signal(&f->change);
    pthread_mutex_unlock(&f->lock);
}

// The reader is one thread for all batches, so that its helpers stay, too.
static void *read_all(void *of)
{
    fr_feed *f = of;
    for (int64_t batch = 0; batch < f->batches; batch++) {
        pthread_mutex_lock(&f->lock);
        while (batch >= f->copied + FR_ROOMS && !f->stop)
            pthread_cond_wait(&f->change, &f->lock);
        const bool stop = f->stop;
        pthread_mutex_unlock(&f->lock);
        if (stop)
            break;
        const double since_s = rg_seconds();
        read_batch(f, batch);
        fr_lap(f->engine, FR_READ, since_s);
    }
    return NULL;
}

static void finish(fr_feed *f)
{
    if (!f->is_running)
        return;
    pthread_mutex_lock(&f->lock);
    f->stop = true;
    pthread_cond_signal(&f->change);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->reader, NULL);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->change);
    f->is_running = false;
}

static bool make_room(const fr_engine *e, struct fr_room *r)
{
    const size_t images = (size_t)e->batch, pixels = (size_t)(e->side * e->side);
    if (!r->image)
        *r = (struct fr_room){e->device->pinned(images * pixels * sizeof(float)),
                              e->device->pinned(images * FR_OPTICS * sizeof(float)),
                              e->device->pinned(images * 2 * sizeof(float)), -1};
    return r->image && r->optics && r->shift;
}

int fr_feed_begin(fr_feed *f, fr_engine *e, const fr_files *files, const int64_t *row, int64_t rows)
{
    const double since_s = rg_seconds();
    finish(f);
    f->engine = e;
    f->files = files;
    f->row = row;
    f->rows = rows;
    f->batches = (rows + e->batch - 1) / e->batch;
    f->read = f->taken = f->copied = 0;
    f->stop = false;
    for (int r = 0; r < FR_ROOMS && r < f->batches; r++)
        if (!make_room(e, &f->room[r]))
            return rg_fail(RG_LACKS, "%s: no pinned memory for images", e->device->name);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->change, NULL);
    if (pthread_create(&f->reader, NULL, read_all, f) != 0)
        exit(rg_fail(RG_LACKS, "no thread that reads could be made"));
    f->is_running = true;
    fr_lap(e, FR_SETUP, since_s);
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
    *n = 0;
    if (f->taken >= f->batches)
        return RG_GOOD;
    pthread_mutex_lock(&f->lock);
    while (f->read <= f->taken)
        pthread_cond_wait(&f->change, &f->lock);
    pthread_mutex_unlock(&f->lock);
    const struct fr_room *from = &f->room[f->taken % FR_ROOMS];
    e->bad_row = from->bad_row;
    if (e->bad_row >= 0)
        return RG_USAGE;
    *row = f->row + f->taken * e->batch;
    *n = images_of(f, f->taken++);
    const size_t images = (size_t)*n, pixels = (size_t)(e->side * e->side);
    const double since_s = rg_seconds();
    int error = e->device->upload(e->image.base, from->image, images * pixels * sizeof(float));
    error = error ? error : e->device->upload(e->optics.base, from->optics, images * FR_OPTICS * sizeof(float));
    error = error ? error : e->device->upload(e->shift.base, from->shift, images * 2 * sizeof(float));
    fr_lap(e, FR_COPY, since_s);
    pthread_mutex_lock(&f->lock);
    f->copied = f->taken;
    pthread_cond_signal(&f->change);
    pthread_mutex_unlock(&f->lock);
    if (error)
        return fr_engine_failed(e, "copying images", error);
    int code = fr_engine_apply(e, *n, kind);
    return code == RG_GOOD ? damp(f, *row, *n) : code;
}

void fr_feed_end(fr_feed *f)
{
    finish(f);
    for (int r = 0; r < FR_ROOMS; r++) {
        void *const pinned[] = {f->room[r].image, f->room[r].optics, f->room[r].shift};
        for (int i = 0; i < RG_COUNT(pinned); i++)
            if (pinned[i])
                f->engine->device->unpin(pinned[i]);
    }
}
