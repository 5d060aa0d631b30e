// SPDX-License-Identifier: MIT
// images.c: brings images to a device.
#include "particles.h"

enum { IMAGE, OPTICS, SHIFT }; // parts of a slot

static int read_image(const fr_files *f, rg_particles *reader, int64_t row, float *image) {
    const int64_t pixels = f->particles.side * f->particles.side;
    const rg_particle *q = &f->particles.row[row];
    int code = rg_particles_image(reader, row, image);
    for (int64_t p = 1; p < pixels && code == RG_GOOD; p++)
        if (image[p] != image[0]) return RG_GOOD;
    return code != RG_GOOD ? code
                           : rg_fail(RG_USAGE, "%s: image %lld: expected a picture, found %g everywhere",
                                 f->particles.stack[q->stack].path, (long long)q->image + 1, image[0]);
}

static int read_row(const void *context, void *reader, int64_t row, void *const part[PL_PARTS], int64_t at) {
    const fr_files *f = context;
    const rg_particle *q = &f->particles.row[row];
    const double turn = 2 * M_PI / (double)f->particles.side;
    float *shift = (float *)part[SHIFT] + 2 * at;
    fr_optics_of(f, row, 0, 1, (float *)part[OPTICS] + at * FR_OPTICS);
    shift[0] = (float)(-q->origin_x_px * turn); // a particle is at minus its origin
    shift[1] = (float)(-q->origin_y_px * turn);
    return read_image(f, reader, row, (float *)part[IMAGE] + at * f->particles.side * f->particles.side);
}

static void *open_reader(const void *context) { return rg_particles_reader(&((const fr_files *)context)->particles); }

pl_source fr_images_source(const fr_files *f) {
    return (pl_source){.path = f->input,
        .context = f,
        .open = open_reader,
        .close = rg_particles_reader_close,
        .read = read_row,
        .part_bytes = {[IMAGE] = (size_t)(f->particles.side * f->particles.side) * sizeof(float),
            [OPTICS] = FR_OPTICS * sizeof(float),
            [SHIFT] = 2 * sizeof(float)}};
}

int fr_images_begin(fr_engine *e, const int64_t *row, int64_t rows) {
    return pl_feed_begin(&e->feed, e->member, row, rows, e->batch, FR_SLOTS);
}

// Multiplies c by exp(-|B| g^2 / 4), which ctfapply lacks, in the rows that have a B-factor.
static int damp(fr_engine *e, const int64_t *at, int64_t n) {
    const int64_t stored = fr_stored(e->side);
    const double width_A = (double)e->side * e->files->particles.pixel_A;
    const rg_particle *row = e->files->particles.row;
    bool any = false;
    for (int64_t i = 0; i < n; i++) any = any || row[at[i]].ctf.b_factor_A2 != 0;
    if (!any) return RG_GOOD;
    RG_FREED float *c = rg_alloc((size_t)(n * stored) * sizeof *c);
    int error = e->member->device->download(c, e->c.base, (size_t)(n * stored) * sizeof *c);
#pragma omp parallel for num_threads(e->member->threads)
    for (int64_t i = 0; i < n; i++) {
        const double b = fabs(row[at[i]].ctf.b_factor_A2) / (4 * width_A * width_A);
        for (int64_t k = 0; k < stored; k++) {
            const int64_t x = fr_i(e->side, k), y = fr_j(e->side, k);
            c[i * stored + k] *= (float)exp(-b * (double)(x * x + y * y));
        }
    }
    error = error ? error : e->member->device->upload(e->c.base, c, (size_t)(n * stored) * sizeof *c);
    return pl_failed(e->member, "copying the CTF", error);
}

int fr_images_next(fr_engine *e, int64_t kind, const int64_t **row, int64_t *n) {
    const rg_device *d = e->member->device;
    const size_t *bytes = e->member->team->source->part_bytes;
    void *const to[] = {e->image.base, e->optics.base, e->shift.base};
    pl_slot *s;
    int error = RG_OK, code = pl_feed_next(&e->feed, &s);
    *n = 0;
    if (code != RG_GOOD || !s) return code;
    *row = s->row;
    *n = s->n;
    const double since_s = rg_seconds();
    for (int p = 0; p < RG_COUNT(to) && !error; p++) error = d->upload(to[p], s->part[p], (size_t)*n * bytes[p]);
    pl_lap(e->member, PL_COPY, since_s);
    pl_feed_release(&e->feed, s);
    if (error) return pl_failed(e->member, "copying images", error);
    code = fr_engine_apply(e, *n, kind);
    return code == RG_GOOD ? damp(e, *row, *n) : code;
}
