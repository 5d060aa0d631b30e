// SPDX-License-Identifier: MIT
// engine.c: buffers on the job's device that the routines share, so that particles stay where they are between routines.
#include "particles.h"
#include "../../base/log.h"
#include "../../base/memory.h"
#include "../../runtime/choice.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int make(const fr_engine *e, rg_buffer *b, int64_t floats, const char *what)
{
    return pl_failed(e->member, "making its buffers",
        rg_buffer_make(b, e->member->device, (size_t)floats * sizeof(float), sizeof(float), false, what));
}

void fr_room_reference(fr_room *r, int64_t own)
{
    const double voxels = (double)own * (double)own * (double)own;
    r->host_bytes += 4 * voxels;
    r->device_bytes += 4 * (voxels + (double)fr_grid_floats(own));
}

// What is asked for, with another batch or another side.
static fr_room with(const fr_room *r, int64_t size)
{
    fr_room other = *r;
    const double ratio = (double)size / (double)r->side, volumes = ratio * ratio * ratio;
    if (r->typed_batch) {
        other.batch = size;
        return other;
    }
    other.side = size;
    other.device_bytes *= volumes;
    other.host_bytes *= volumes;
    return other;
}

// Images, D, X, c, and X and c of the particles that an optimiser still holds; poses; the reference; what routines give.
static double device_need(const void *of, int64_t size)
{
    const fr_room r = with(of, size);
    const double stored = (double)fr_stored(r.side), image = (double)r.side * (double)r.side + 8 * stored;
    return 4 *
        ((double)r.batch * (image + (double)(FR_POSE_FLOATS * r.trials)) + (double)r.out +
            (r.reference ? 2 * (double)fr_voxels(r.side) : 0)) +
        r.device_bytes;
}

// Images that are read ahead, and what the job keeps there.
static double host_need(const void *of, int64_t size)
{
    const fr_room r = with(of, size);
    return (double)r.batch * (4.0 * FR_SLOTS * (double)r.side * (double)r.side + r.image_bytes) + r.host_bytes;
}

static double whole_need(const void *of, int64_t size) { return device_need(of, size) + host_need(of, size); }

static int64_t size_of(const fr_room *r) { return r->typed_batch ? r->batch : r->side; }
static const char *fits_of(const fr_room *r) { return r->typed_batch ? "--batch" : "a side of"; }

int fr_team_allows(const fr_team *t, const fr_room *r)
{
    const rg_entry *entry = t->engine->does[FR_DO_APPLY].entry;
    const bool on_host = entry->variant->space == RG_HOST || entry->emulated;
    const double there = rg_memory_free() / t->team.n;
    rg_memory_need *need = on_host ? whole_need : host_need;
    if (rg_dry_run) {
        const rg_particles *p = &t->files->particles;
        const char *share = t->team.n > 1 ? "memory for each GPU" : "memory";
        rg_plan("particles", "%" PRId64 " of %" PRId64 "^2 pixels of %g A, %" PRId64 " at a time", p->n, p->side, p->pixel_A,
            r->batch);
        rg_plan_memory(share, need(r, size_of(r)), there, need, r, fits_of(r));
        if (!on_host) rg_plan("memory of a GPU", "%.3f GiB", device_need(r, size_of(r)) / 0x1p30);
    }
    return rg_memory_allows(
        there, need, r, size_of(r), fits_of(r), "%" PRId64 " images of %" PRId64 " pixels a side", r->batch, r->side);
}

static int device_allows(const rg_device *d, const fr_room *r)
{
    rg_device_facts facts;
    if (!d->is_gpu) return RG_GOOD;
    const int error = d->facts(&facts);
    if (error) return rg_device_failed(d, d->name, "its free memory", error);
    return rg_memory_allows((double)facts.free_bytes, device_need, r, size_of(r), fits_of(r),
        "%" PRId64 " images of %" PRId64 " pixels a side on %s", r->batch, r->side, d->name);
}

int fr_engine_size(fr_engine *e, const fr_room *r)
{
    const int64_t side = r->side, batch = r->batch, pixels = side * side, stored = fr_stored(side);
    const int64_t nodes = r->reference ? 2 * fr_voxels(side) : 0;
    const double since_s = rg_seconds();
    int code = device_allows(e->member->device, r);
    if (code != RG_GOOD) return code;
    const struct {
        const char *what;
        rg_buffer *buffer;
        int64_t floats;
    } need[] = {{"images", &e->image, batch * pixels}, {"optics", &e->optics, batch * FR_OPTICS},
        {"shifts", &e->shift, 2 * batch}, {"settings", &e->setting, FR_SETTINGS}, {"ssnr", &e->ssnr, side / 2 + 1},
        {"D", &e->d, 2 * batch * stored}, {"X", &e->x, 2 * batch * stored}, {"c", &e->c, batch * stored},
        {"reference", &e->f3, nodes}, {"poses", &e->pose, batch * r->trials * FR_POSE_FLOATS},
        {"weights", &e->weight, 2 * batch}, {"results", &e->out, r->out}};
    for (int i = 0; i < RG_COUNT(need) && code == RG_GOOD; i++) code = make(e, need[i].buffer, need[i].floats, need[i].what);
    if (code != RG_GOOD) return code;
    e->side = side;
    e->batch = batch;
    float *ssnr = rg_alloc((size_t)(side / 2 + 1) * sizeof *ssnr);
    for (int64_t k = 1; k <= side / 2; k++) { // FREALIGN's, where no table of an earlier round is there
        double fall = (double)k / (double)side * r->setting[0] / (double)side;
        ssnr[k] = (float)exp(-fall * fall);
    }
    int error = rg_buffer_put(&e->ssnr, ssnr);
    error = error ? error : rg_buffer_put(&e->setting, r->setting);
    free(ssnr);
    pl_lap(e->member, PL_SETUP, since_s);
    return pl_failed(e->member, "copying the settings", error);
}

int fr_engine_reference(fr_engine *e, int64_t own, const float *volume)
{
    const rg_device *d = e->member->device;
    const size_t bytes = (size_t)(own * own * own) * sizeof *volume;
    const double since_s = rg_seconds();
    void *map = NULL, *grid = NULL;
    int error = d->alloc(&map, bytes, "reference's map");
    error = error ? error : d->alloc(&grid, (size_t)fr_grid_floats(own) * sizeof(float), "reference's transform");
    error = error ? error : d->upload(map, volume, bytes);
    error = error ? error : fr_steps(d)->reference(own, map, grid, e->side, e->f3.base, e->member->threads);
    if (map) d->release(map);
    if (grid) d->release(grid);
    for (int r = 0; r < FR_DOES; r++) rg_frame_changed(&e->does[r].frame, FR_F3);
    pl_lap(e->member, PL_REFERENCE, since_s);
    return pl_failed(e->member, "transforming the reference", error);
}

void fr_engine_close(fr_engine *e)
{
    pl_feed_end(&e->feed);
    for (int r = 0; r < FR_DOES; r++) rg_frame_free(&e->does[r].frame);
    rg_buffer *all[] = {
        &e->image, &e->optics, &e->shift, &e->setting, &e->ssnr, &e->d, &e->x, &e->c, &e->f3, &e->pose, &e->weight, &e->out};
    for (int i = 0; i < RG_COUNT(all); i++) rg_buffer_free(all[i]);
}

static int run(fr_engine *e, fr_routine *c, const rg_shape *shape, void *const *arg)
{
    const pl_member *m = e->member;
    const char *name = c->entry->algo->name, *why = rg_refusal(c->entry, shape, 1, c->param);
    if (why) return rg_fail(RG_USAGE, "%s:%s: %s", name, c->entry->name, why);
    int error = rg_frame_borrow(&c->frame, c->entry, m->device, shape, c->param, m->threads, arg);
    error = error ? error : rg_frame_run(&c->frame);
    return rg_frame_failed(&c->frame, NULL, error);
}

int fr_engine_run(fr_engine *e, int which, const rg_shape *shape, void *const *arg)
{
    const double since_s = rg_seconds();
    int code = run(e, &e->does[which], shape, arg);
    pl_lap(e->member, (pl_stage)(PL_CALL + which), since_s);
    pl_need(e->member, (pl_stage)(PL_CALL + which), e->does[which].entry, shape, e->does[which].param);
    return code;
}

int fr_engine_apply(fr_engine *e, int64_t n, int64_t kind)
{
    const rg_shape shape = {
        .n = {[FR_SIDE] = e->side, [FR_PARTICLES] = n, [FR_KIND] = kind & (FR_SQUARED | FR_RINGS), [FR_TRIALS] = 1}};
    void *const arg[] = {
        e->image.base, e->optics.base, e->shift.base, e->setting.base, e->ssnr.base, e->d.base, e->x.base, e->c.base};
    return fr_engine_run(e, FR_DO_APPLY, &shape, arg);
}
