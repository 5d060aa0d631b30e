// SPDX-License-Identifier: MIT
// engine.c: buffers on the job's device that the routines share, so that particles stay where they are between routines.
#include "particles.h"
#include "../../runtime/choice.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int make(const fr_engine *e, rg_buffer *b, int64_t floats)
{
    return pl_failed(e->member, "no memory for its buffers",
                            rg_buffer_make(b, e->member->device, (size_t)floats * sizeof(float), sizeof(float), false));
}

int fr_engine_size(fr_engine *e, int64_t side, int64_t batch, int64_t trials, bool reference, int64_t out,
                   const float setting[FR_SETTINGS], double also_bytes)
{
    int64_t pixels = side * side, stored = fr_stored(side), nodes = reference ? 2 * fr_voxels(side) : 0;
    rg_device_facts facts;
    const double since_s = rg_seconds();
    double bytes = 4 * ((double)batch * (double)(pixels + 5 * stored + FR_POSE_FLOATS * trials) + (double)(nodes + out))
                   + also_bytes;
    if (e->member->device->facts(&facts) != RG_OK)
        return rg_fail(RG_LACKS, "the free memory of %s is not known", e->member->device->name);
    if (bytes > (double)facts.free_bytes)
        return rg_fail(RG_LACKS,
                       "%" PRId64 " images of %" PRId64 " pixels a side need %.2f GiB of %s memory, %.2f GiB are free; "
                       "take fewer with --batch",
                       batch, side, bytes / 0x1p30, e->member->device->name, (double)facts.free_bytes / 0x1p30);
    const struct {
        rg_buffer *buffer;
        int64_t floats;
    } need[] = {{&e->image, batch * pixels},
                {&e->optics, batch * FR_OPTICS},
                {&e->shift, 2 * batch},
                {&e->setting, FR_SETTINGS},
                {&e->ssnr, side / 2 + 1},
                {&e->d, 2 * batch * stored},
                {&e->x, 2 * batch * stored},
                {&e->c, batch * stored},
                {&e->f3, nodes},
                {&e->pose, batch * trials * FR_POSE_FLOATS},
                {&e->weight, 2 * batch},
                {&e->out, out}};
    int code = RG_GOOD;
    for (int i = 0; i < RG_COUNT(need) && code == RG_GOOD; i++)
        code = make(e, need[i].buffer, need[i].floats);
    if (code != RG_GOOD)
        return code;
    e->side = side;
    e->batch = batch;
    float *ssnr = rg_alloc((size_t)(side / 2 + 1) * sizeof *ssnr);
    for (int64_t k = 1; k <= side / 2; k++) { // FREALIGN's, where no table of an earlier round is there
        double r = (double)k / (double)side * setting[0] / (double)side;
        ssnr[k] = (float)exp(-r * r);
    }
    int error = rg_buffer_put(&e->ssnr, ssnr);
    error = error ? error : rg_buffer_put(&e->setting, setting);
    free(ssnr);
    pl_lap(e->member, PL_SETUP, since_s);
    return pl_failed(e->member, "copying the settings", error);
}

int fr_engine_reference(fr_engine *e, int64_t own, const float *volume)
{
    const size_t bytes = (size_t)(own * own * own) * sizeof *volume;
    const double since_s = rg_seconds();
    float *map = e->member->device->alloc(bytes), *grid = e->member->device->alloc((size_t)fr_grid_floats(own) * sizeof *grid);
    int error = map && grid ? e->member->device->upload(map, volume, bytes) : RG_E_STATE;
    error = error ? error : fr_steps(e->member->device)->reference(own, map, grid, e->side, e->f3.base, e->member->threads);
    if (map)
        e->member->device->release(map);
    if (grid)
        e->member->device->release(grid);
    for (int r = 0; r < FR_DOES; r++)
        rg_frame_changed(&e->does[r].frame, FR_F3);
    pl_lap(e->member, PL_REFERENCE, since_s);
    return pl_failed(e->member, "transforming the reference", error);
}

void fr_engine_close(fr_engine *e)
{
    pl_feed_end(&e->feed);
    for (int r = 0; r < FR_DOES; r++)
        rg_frame_free(&e->does[r].frame);
    rg_buffer *all[] = {&e->image, &e->optics, &e->shift, &e->setting, &e->ssnr, &e->d,
                        &e->x,     &e->c,      &e->f3,    &e->pose,    &e->weight, &e->out};
    for (int i = 0; i < RG_COUNT(all); i++)
        rg_buffer_free(all[i]);
}

static int run(fr_engine *e, fr_routine *c, const rg_shape *shape, void *const *arg)
{
    const pl_member *m = e->member;
    const char *name = c->entry->algo->name, *why = rg_refusal(c->entry, shape, 1, c->param);
    if (why)
        return rg_fail(RG_USAGE, "%s:%s: %s", name, c->entry->name, why);
    int error = rg_frame_borrow(&c->frame, c->entry, m->device, shape, c->param, m->threads, arg);
    if (error)
        return rg_fail(RG_LACKS, "%s:%s: no %.2f GiB of memory for its scratch", name, c->entry->name,
                       (double)c->frame.scratch.bytes / 0x1p30);
    error = rg_frame_prepare(&c->frame);
    if (error)
        return pl_failed(m, c->frame.doing, error);
    return pl_failed(m, name, rg_frame_run(&c->frame));
}

int fr_engine_run(fr_engine *e, int which, const rg_shape *shape, void *const *arg)
{
    const double since_s = rg_seconds();
    int code = run(e, &e->does[which], shape, arg);
    pl_lap(e->member, PL_CALL + which, since_s);
    return code;
}

int fr_engine_apply(fr_engine *e, int64_t n, int64_t kind)
{
    const rg_shape shape = {
        .n = {[FR_SIDE] = e->side, [FR_PARTICLES] = n, [FR_KIND] = kind & (FR_SQUARED | FR_RINGS), [FR_TRIALS] = 1}};
    void *const arg[] = {e->image.base, e->optics.base, e->shift.base, e->setting.base,
                         e->ssnr.base,  e->d.base,      e->x.base,     e->c.base};
    return fr_engine_run(e, FR_DO_APPLY, &shape, arg);
}
