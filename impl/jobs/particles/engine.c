// SPDX-License-Identifier: MIT
// engine.c: keeps buffers on the job's device that the routines share, so that particles stay on the device between routines.
#include "particles.h"
#include "../../base/log.h"
#include "../../base/memory.h"
#include "../../runtime/choice.h"

static int make(const fr_engine *e, rg_buffer *b, int64_t floats, const char *what) {
    return pl_failed(e->member, "making its buffers",
        rg_buffer_make(b, e->member->device, (size_t)floats * sizeof(float), sizeof(float), false, what));
}

double fr_engine_work_bytes(const fr_engine *e, int64_t side) {
    if (rg_on_cpu(e->routine[FR_DO_APPLY].entry)) return 4 * (double)fr_grid_floats(side); // FFTW's, with many threads
    return e->member->device ? (double)fr_steps(e->member->device)->work_bytes(side) : 0;
}

void fr_room_reference(fr_room *r, int64_t own, const fr_engine *e) {
    const double voxels = (double)own * (double)own * (double)own;
    r->host_bytes += 4 * voxels;
    if (!rg_on_cpu(e->routine[FR_DO_APPLY].entry)) rg_need(&r->stage, "map", 4 * voxels);
    rg_need(&r->stage, "transform of the map", 4 * (double)fr_grid_floats(own));
    rg_need(&r->stage, "work area of a transform", fr_engine_work_bytes(e, own));
}

// ---- memory --------------------------------------------------------------------------------------------------------------

typedef struct part {
    const char *name;
    rg_buffer *buffer;
    int64_t floats;
} part;
enum { PARTS = 12 };

static void parts_of(fr_engine *e, const fr_room *r, part parts[PARTS]) {
    const int64_t side = r->side, batch = r->batch, stored = fr_stored(side);
    const part all[PARTS] = {{"images", &e->image, batch * side * side}, {"optics", &e->optics, batch * FR_OPTICS},
        {"shifts", &e->shift, 2 * batch}, {"settings", &e->setting, FR_SETTINGS}, {"ssnr", &e->ssnr, side / 2 + 1},
        {"D", &e->d, 2 * batch * stored}, {"X", &e->x, 2 * batch * stored}, {"c", &e->c, batch * stored},
        {"reference", &e->f3, r->reference ? 2 * fr_voxels(side) : 0}, {"poses", &e->pose, batch * r->trials * FR_POSE_FLOATS},
        {"weights", &e->weight, 2 * batch}, {"results", &e->out, r->out}};
    memcpy(parts, all, sizeof all);
}

// Scratch for all calls up to the largest. Fewer particles may need more, as such a call is cut into passes.
static size_t scratch_of(const fr_routine *c, const rg_shape *most) {
    rg_shape s = *most;
    size_t bytes = 0;
    for (s.n[FR_PARTICLES] = 1; s.n[FR_PARTICLES] <= most->n[FR_PARTICLES]; s.n[FR_PARTICLES]++)
        for (s.n[FR_TRIALS] = 1; s.n[FR_TRIALS] <= most->n[FR_TRIALS]; s.n[FR_TRIALS]++) {
            const size_t one = rg_frame_scratch(c->entry, &s, c->param);
            bytes = one > bytes ? one : bytes;
        }
    return bytes;
}

static rg_needs needs_of(const fr_engine *e, const fr_room *r) {
    fr_engine none = *e;
    rg_needs held = r->held, most = {0};
    part parts[PARTS];
    parts_of(&none, r, parts);
    for (int i = 0; i < PARTS; i++)
        rg_need(&held, parts[i].name, (double)rg_buffer_bytes((size_t)parts[i].floats * sizeof(float), sizeof(float)));
    for (int i = 0; i < FR_ROUTINES; i++) {
        const fr_routine *c = &e->routine[i];
        const rg_shape *shape = &r->most[i];
        if (!shape->n[FR_SIDE]) continue;
        rg_need(&held, "scratch", (double)rg_buffer_bytes(scratch_of(c, shape), 256));
        // The texture of the reference that a routine loads before its calls.
        if (c->entry->variant->load) rg_need(&held, "texture", 4 * (double)c->entry->algo->arg[FR_F3].count(shape));
    }
    rg_needs_most(&most, &held, &r->stage);
    return most;
}

// A room and the engine that requests it.
typedef struct asked {
    const fr_engine *engine;
    const fr_room *room;
} asked;

// The same request with another batch or another side.
static fr_room with(const fr_room *r, int64_t size) {
    fr_room other = *r;
    const double ratio = (double)size / (double)r->side, volumes = ratio * ratio * ratio;
    if (r->typed_batch) {
        other.batch = size;
        for (int i = 0; i < FR_ROUTINES; i++)
            if (other.most[i].n[FR_SIDE]) other.most[i].n[FR_PARTICLES] = size;
        return other;
    }
    other.side = size;
    other.host_bytes *= volumes;
    for (int i = 0; i < FR_ROUTINES; i++)
        if (other.most[i].n[FR_SIDE]) {
            other.most[i].n[FR_SIDE] = size;
            other.most[i].n[FR_OUTER] = (int64_t)(ratio * (double)other.most[i].n[FR_OUTER]);
        }
    rg_needs *grows[] = {&other.held, &other.stage};
    for (int g = 0; g < RG_COUNT(grows); g++) {
        grows[g]->bytes *= volumes;
        for (int i = 0; i < grows[g]->n; i++) grows[g]->row[i].bytes *= volumes;
    }
    return other;
}

static double device_need(const void *of, int64_t size) {
    const asked *a = of;
    const fr_room r = with(a->room, size);
    return needs_of(a->engine, &r).bytes;
}

// Images read ahead, and the job's own buffers.
static double host_need(const void *of, int64_t size) {
    const fr_room r = with(((const asked *)of)->room, size);
    return (double)r.batch * (4.0 * FR_SLOTS * (double)r.side * (double)r.side + r.image_bytes) + r.host_bytes;
}

static double whole_need(const void *of, int64_t size) { return device_need(of, size) + host_need(of, size); }

static int64_t size_of(const fr_room *r) { return r->typed_batch ? r->batch : r->side; }
static const char *fits_of(const fr_room *r) { return r->typed_batch ? "--batch" : "a side of"; }

int fr_team_allows(const fr_team *t, const fr_room *r) {
    const rg_entry *entry = t->engine->routine[FR_DO_APPLY].entry;
    const bool on_host = entry->variant->space == RG_HOST || entry->emulated;
    const double there = rg_memory_free() / t->team.n;
    const asked ask = {t->engine, r};
    rg_memory_need *need = on_host ? whole_need : host_need;
    if (rg_dry_run) {
        const rg_particles *p = &t->files->particles;
        const char *share = t->team.n > 1 ? "memory for each GPU" : "memory";
        rg_plan("particles", "%" PRId64 " of %" PRId64 "^2 pixels of %g A, %" PRId64 " at a time", p->n, p->side, p->pixel_A,
            r->batch);
        rg_plan_memory(share, need(&ask, size_of(r)), there, need, &ask, fits_of(r));
        if (!rg_on_cpu(entry)) {
            const rg_needs needs = needs_of(t->engine, r);
            rg_plan("memory of a GPU", "%.3f GiB", needs.bytes / 0x1p30);
            rg_plan_needs("memory of a GPU", &needs);
        }
    }
    return rg_memory_allows(
        there, need, &ask, size_of(r), fits_of(r), "%" PRId64 " images of %" PRId64 " pixels a side", r->batch, r->side);
}

// ---- setup ---------------------------------------------------------------------------------------------------------------

static int device_allows(const fr_engine *e, const fr_room *r) {
    const rg_device *d = e->member->device;
    const asked ask = {e, r};
    double there;
    if (!d->is_gpu) return RG_GOOD;
    const int code = rg_device_free(d, &there);
    if (code != RG_GOOD) return code;
    return rg_memory_allows(there, device_need, &ask, size_of(r), fits_of(r),
        "%" PRId64 " images of %" PRId64 " pixels a side on %s", r->batch, r->side, d->name);
}

int64_t fr_engine_fit(const fr_engine *e, fr_room_of *room_of, const void *of, int64_t batch) {
    const rg_device *d = e->member->device;
    const bool was_silent = rg_silent;
    double there;
    if (!d || !d->is_gpu) return batch;
    rg_silent = true; // fr_engine_size checks again, and reports the reason
    const int code = rg_device_free(d, &there);
    rg_silent = was_silent;
    if (code != RG_GOOD) return batch;
    for (; batch > 1; batch /= 2) {
        const fr_room room = room_of(of, batch);
        if (needs_of(e, &room).bytes + RG_MEMORY_RESERVE <= there) break;
    }
    return batch;
}

int fr_engine_size(fr_engine *e, const fr_room *r) {
    const int64_t side = r->side;
    const double since_s = rg_seconds();
    part parts[PARTS];
    int code = device_allows(e, r), error = RG_OK;
    if (code != RG_GOOD) return code;
    const rg_needs needs = needs_of(e, r);
    rg_predict(e->member->device, &needs);
    parts_of(e, r, parts);
    for (int i = 0; i < PARTS && code == RG_GOOD; i++) code = make(e, parts[i].buffer, parts[i].floats, parts[i].name);
    for (int i = 0; i < FR_ROUTINES && code == RG_GOOD; i++)
        if (r->most[i].n[FR_SIDE]) {
            error = rg_frame_reserve(&e->routine[i].frame, e->member->device, scratch_of(&e->routine[i], &r->most[i]));
            code = pl_failed(e->member, "making its scratch", error);
        }
    if (code != RG_GOOD) return code;
    e->side = side;
    e->batch = r->batch;
    RG_FREED float *ssnr = rg_alloc((size_t)(side / 2 + 1) * sizeof *ssnr);
    for (int64_t k = 1; k <= side / 2; k++) { // FREALIGN's default, without a table of an earlier round
        double fall = (double)k / (double)side * r->setting[0] / (double)side;
        ssnr[k] = (float)exp(-fall * fall);
    }
    error = rg_buffer_put(&e->ssnr, ssnr);
    error = error ? error : rg_buffer_put(&e->setting, r->setting);
    pl_lap(e->member, PL_SETUP, since_s);
    return pl_failed(e->member, "copying the settings", error);
}

int fr_engine_reference(fr_engine *e, int64_t own, const float *volume) {
    const rg_device *d = e->member->device;
    const size_t bytes = (size_t)(own * own * own) * sizeof *volume;
    const double since_s = rg_seconds();
    const bool here = d == rg_device_cpu();
    void *map = NULL, *grid = NULL;
    int error = here ? RG_OK : d->alloc(&map, bytes, "reference's map");
    error = error ? error : d->alloc(&grid, (size_t)fr_grid_floats(own) * sizeof(float), "reference's transform");
    error = error || here ? error : d->upload(map, volume, bytes);
    error = error ? error : fr_steps(d)->reference(own, here ? volume : map, grid, e->side, e->f3.base, e->member->threads);
    if (map) d->release(map);
    if (grid) d->release(grid);
    for (int r = 0; r < FR_ROUTINES; r++) rg_frame_changed(&e->routine[r].frame, FR_F3);
    pl_lap(e->member, PL_REFERENCE, since_s);
    return pl_failed(e->member, "transforming the reference", error);
}

void fr_engine_close(fr_engine *e) {
    pl_feed_end(&e->feed);
    for (int r = 0; r < FR_ROUTINES; r++) rg_frame_free(&e->routine[r].frame);
    rg_buffer *all[] = {
        &e->image, &e->optics, &e->shift, &e->setting, &e->ssnr, &e->d, &e->x, &e->c, &e->f3, &e->pose, &e->weight, &e->out};
    for (int i = 0; i < RG_COUNT(all); i++) rg_buffer_free(all[i]);
}

static int run(fr_engine *e, fr_routine *c, const rg_shape *shape, void *const *arg) {
    const pl_member *m = e->member;
    const char *name = c->entry->algo->name, *why = rg_refusal(c->entry, shape, 1, c->param);
    if (why) return rg_fail(RG_USAGE, "%s:%s: %s", name, c->entry->name, why);
    int error = rg_frame_borrow(&c->frame, c->entry, m->device, shape, c->param, m->threads, arg);
    error = error ? error : rg_frame_run(&c->frame);
    return rg_frame_failed(&c->frame, NULL, error);
}

int fr_engine_run(fr_engine *e, int which, const rg_shape *shape, void *const *arg) {
    const double since_s = rg_seconds();
    int code = run(e, &e->routine[which], shape, arg);
    pl_lap(e->member, (pl_stage)(PL_CALL + which), since_s);
    pl_need(e->member, (pl_stage)(PL_CALL + which), e->routine[which].entry, shape, e->routine[which].param);
    return code;
}

int fr_engine_apply(fr_engine *e, int64_t n, int64_t kind) {
    const rg_shape shape = {
        .n = {[FR_SIDE] = e->side, [FR_PARTICLES] = n, [FR_KIND] = kind & (FR_SQUARED | FR_RINGS), [FR_TRIALS] = 1}};
    void *const arg[] = {
        e->image.base, e->optics.base, e->shift.base, e->setting.base, e->ssnr.base, e->d.base, e->x.base, e->c.base};
    return fr_engine_run(e, FR_DO_APPLY, &shape, arg);
}
