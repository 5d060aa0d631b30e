// SPDX-License-Identifier: MIT
// gpu.c: a share of the particles through one GPU. Chunks of images that are read ahead go in turn over GR_LANES streams, on
// each of which a chunk is copied, padded, transformed and cropped into one of two sets of inputs; when a set is full, another
// stream inserts it and adds the result to the sums. So reading, copies, preparation and insertion go on at the same time;
// kernels that prepare start before those that insert, whose blocks would keep them waiting.
#include "reconstruct.h"
#include "../../runtime/search.h"
#include "device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct lane {
    void *stream, *room;
    gr_lane *steps;
    float *picture;
    double *origin;
    rg_ctf *ctf;
    void *begun, *copied, *prepared; // events
    pl_slot *slot;                   // under way, NULL: none
} lane;

typedef struct inputs {
    float *arg[GR_G];
    void *begun, *inserted, *added; // events
    bool is_running;
    int trial; // whose parameters it has, -1: the best of all
    int64_t images;
} inputs;

// One GPU; one pass over the rows of one half.
typedef struct pipe {
    gr_job *job;
    pl_member *member;
    const rg_device *device;
    const gr_device_steps *steps;
    rg_search search; // of the best parameters, while trials are left
    bool searching;
    int code;
    int half;
    int64_t rows, chunks;
    pl_feed feed;
    lane lane[GR_LANES];
    inputs inputs[2];
    rg_frame frame;
    double *square; // of each row, in the GPU's memory
    void *zero;     // event that times are counted from
    double until_ms[PL_STAGES];
} pipe;

const gr_device_steps *gr_steps(const rg_device *device)
{
#if HAVE_CUDA
    return device->is_emulated ? &gr_steps_emulated : &gr_steps_gpu;
#else
    (void)device;
    return &gr_steps_emulated;
#endif
}

// Whether all is well after a call of the device.
static bool good(pipe *p, const char *doing, int error)
{
    if (error != RG_OK && p->code == RG_GOOD)
        p->code = rg_fail(RG_WRONG, "%s on %s: %s: %s", p->job->entry->name, p->device->name, doing, p->device->error(error));
    return p->code == RG_GOOD;
}

// ---- times ---------------------------------------------------------------------------------------------------------------

// The emulated GPU does everything at once and has no times.
static int mark(const pipe *p, void *event, void *stream)
{
    return p->device->is_emulated ? RG_OK : p->device->event_record(event, stream);
}

// Waits for `to`, and adds the time since `from` that no chunk before was in this stage: several lanes are at once.
static bool lap(pipe *p, pl_stage stage, void *from, void *to)
{
    double begun = 0, ended = 0;
    p->member->stage[stage].calls++;
    if (p->device->is_emulated)
        return p->code == RG_GOOD;
    int code = p->device->event_ms(p->zero, to, &ended);
    if (code == RG_OK)
        code = p->device->event_ms(p->zero, from, &begun);
    begun = begun > p->until_ms[stage] ? begun : p->until_ms[stage];
    p->member->stage[stage].busy_s += ended > begun ? 1e-3 * (ended - begun) : 0;
    p->until_ms[stage] = ended > begun ? ended : begun;
    return good(p, "waiting for it", code);
}

// ---- a chunk on its lane -------------------------------------------------------------------------------------------------

static bool retire_lane(pipe *p, lane *l)
{
    pl_slot *s = l->slot;
    if (!s)
        return true;
    l->slot = NULL;
    const int64_t images = s->n;
    bool fine = lap(p, PL_COPY, l->begun, l->copied) && lap(p, PL_PREPARE, l->copied, l->prepared);
    pl_feed_release(&p->feed, s);
    pl_team_progress(&p->job->team, images);
    return fine;
}

static int upload(pipe *p, const lane *l, const pl_slot *s, float *rotation)
{
    const gr_job *job = p->job;
    int64_t pixels = job->particles.side * job->particles.side, count = s->n;
    int (*put)(void *, const void *, size_t, void *) = p->device->upload_on;
    int code = put(l->picture, s->part[GR_PICTURES], (size_t)(count * pixels) * sizeof(float), l->stream);
    if (code == RG_OK)
        code = put(l->origin, s->part[GR_ORIGINS], (size_t)(2 * count) * sizeof(double), l->stream);
    if (code == RG_OK)
        code = put(rotation, s->part[GR_ROTATIONS], (size_t)(9 * count * job->n_operators) * sizeof(float), l->stream);
    if (code == RG_OK && job->ctf)
        code = put(l->ctf, s->part[GR_CTFS], (size_t)count * sizeof(rg_ctf), l->stream);
    return code;
}

static bool send(pipe *p, lane *l, pl_slot *s, const inputs *in)
{
    const gr_job *job = p->job;
    const gr_device_steps *steps = p->steps;
    int64_t stored = gr_pixels(job->k), first = s->batch * job->chunk, at = first % job->batch;
    int code = mark(p, l->begun, l->stream);
    if (code == RG_OK)
        code = upload(p, l, s, in->arg[GR_ROTATION] + 9 * at * job->n_operators);
    if (code == RG_OK)
        code = mark(p, l->copied, l->stream);
    if (code == RG_OK)
        code = steps->transforms(l->steps, l->picture, l->origin, s->n, job->invert, in->arg[GR_IMAGE] + 2 * at * stored);
    if (code == RG_OK && job->ctf)
        code = steps->ctfs(l->stream, job->k, l->ctf, s->n, gr_applied(&job->particles), in->arg[GR_IMAGE] + 2 * at * stored,
                           in->arg[GR_CTF] + at * stored, p->square + first);
    if (code == RG_OK)
        code = mark(p, l->prepared, l->stream);
    l->slot = s;
    return good(p, "preparing images", code);
}

// ---- a batch -------------------------------------------------------------------------------------------------------------

// The call of a batch of this many images; its own inputs are the first of the two sets.
static bool frame(pipe *p, int64_t count, const int64_t *param)
{
    gr_job *job = p->job;
    rg_shape shape = gr_shape(job, count);
    size_t params = (size_t)job->entry->variant->n_params * sizeof *param;
    if (p->frame.made && p->frame.shape.n[GR_IMAGES] == count && memcmp(p->frame.param, param, params) == 0)
        return true;
    if (!good(p, "inserting", p->device->sync()))
        return false;
    double since_s = rg_seconds();
    int code = rg_frame_make(&p->frame, job->entry, p->device, &shape, param, 1);
    for (int a = 0; a < GR_G; a++)
        p->inputs[0].arg[a] = p->frame.buffer[a].base;
    code = code ? code : rg_frame_prepare(&p->frame);
    good(p, p->frame.doing, code);
    pl_lap(p->member, PL_SETUP, since_s);
    return p->code == RG_GOOD;
}

static bool retire_batch(pipe *p, inputs *in)
{
    rg_search *search = &p->search;
    bool is_running = in->is_running;
    double ms = INFINITY;
    in->is_running = false;
    if (!is_running)
        return true;
    if (!lap(p, PL_INSERT, in->begun, in->inserted) || !lap(p, PL_ADD, in->inserted, in->added))
        return false;
    if (p->searching && in->trial >= 0) {
        int code = p->device->is_emulated ? RG_OK : p->device->event_ms(in->begun, in->inserted, &ms);
        rg_search_tell(search, in->trial, ms / (double)in->images);
        return good(p, "waiting for it", code);
    }
    return true;
}

// The parameters of the next batch. Every configuration computes the same sums, so that trials are no work lost; one is over
// before the next begins, so that nothing beside it is in its time.
static bool next_frame(pipe *p, inputs *in, int64_t count)
{
    rg_search *search = &p->search;
    bool fine = retire_batch(p, in);
    in->trial = -1;
    in->images = count;
    if (!p->searching || !fine)
        return fine && frame(p, count, p->job->param);
    for (int i = 0; i < 2 && fine; i++)
        fine = retire_batch(p, &p->inputs[i]);
    in->trial = count == p->job->batch ? rg_search_next(search) : -1;
    int chosen = in->trial >= 0 ? in->trial : search->best;
    return fine && frame(p, count, chosen >= 0 ? search->config[chosen] : p->job->param);
}

static bool insert(pipe *p, inputs *in)
{
    void *stream = p->frame.call.stream;
    const int64_t voxels = gr_voxels(p->job->k);
    rg_buffer *sum = gr_sum_of(p->job, p->member->index, p->half);
    int code = RG_OK;
    for (int l = 0; l < GR_LANES && code == RG_OK; l++)
        if (p->lane[l].slot)
            code = p->device->stream_wait(stream, p->lane[l].prepared);
    for (int a = 0; a < GR_G; a++)
        p->frame.arg[a] = in->arg[a];
    code = code ? code : mark(p, in->begun, stream);
    code = code ? code : rg_frame_start(&p->frame);
    code = code ? code : mark(p, in->inserted, stream);
    code = code ? code : pl_add(p->member, stream, 2 * voxels, p->frame.arg[GR_G], sum[0].base);
    code = code ? code : pl_add(p->member, stream, voxels, p->frame.arg[GR_W], sum[1].base);
    code = code ? code : mark(p, in->added, stream);
    in->is_running = true;
    pl_need(p->member, PL_INSERT, p->job->entry, &p->frame.shape, p->frame.param);
    return good(p, "inserting", code);
}

static bool one_chunk(pipe *p, int64_t chunk)
{
    int64_t per_batch = p->job->batch / p->job->chunk, batch = chunk / per_batch, left = p->rows - batch * p->job->batch;
    inputs *in = &p->inputs[batch % 2];
    lane *l = &p->lane[chunk % GR_LANES];
    pl_slot *s = NULL;
    if (chunk % per_batch == 0 && !next_frame(p, in, left < p->job->batch ? left : p->job->batch))
        return false;
    if (retire_lane(p, l))
        p->code = pl_feed_next(&p->feed, &s);
    if (!s || !send(p, l, s, in))
        return false;
    return (chunk + 1) % per_batch != 0 && chunk + 1 < p->chunks ? true : insert(p, in);
}

static bool finish(pipe *p)
{
    double *square = rg_alloc((size_t)p->rows * sizeof *square), *ctf2 = &p->job->ctf2[2 * p->member->index + p->half];
    bool fine = true;
    for (int l = 0; l < GR_LANES && fine; l++)
        fine = retire_lane(p, &p->lane[l]);
    for (int i = 0; i < 2 && fine; i++)
        fine = retire_batch(p, &p->inputs[i]);
    fine = fine && good(p, "inserting", p->device->sync());
    if (fine && p->job->ctf)
        fine = good(p, "copying", p->device->download(square, p->square, (size_t)p->rows * sizeof *square));
    for (int64_t i = 0; i < p->rows && fine && p->job->ctf; i++)
        *ctf2 += square[i];
    free(square);
    return fine;
}

// ---- making it -----------------------------------------------------------------------------------------------------------

static void *on_device(pipe *p, size_t bytes)
{
    void *at = p->device->alloc(bytes ? bytes : 1);
    if (!at)
        good(p, "no memory for its buffers", p->device->sync() ? p->device->sync() : RG_E_STATE);
    return at;
}

static void make_lane(pipe *p, lane *l)
{
    const gr_job *job = p->job;
    const gr_device_steps *steps = p->steps;
    size_t n = (size_t)job->chunk, pixels = (size_t)(job->particles.side * job->particles.side);
    *l = (lane){.stream = p->device->stream_urgent(), .begun = p->device->event_make(),
                .copied = p->device->event_make(), .prepared = p->device->event_make()};
    l->room = on_device(p, steps->lane_room(job->padded, job->chunk));
    l->picture = on_device(p, n * pixels * sizeof(float));
    l->origin = on_device(p, n * 2 * sizeof(double));
    l->ctf = on_device(p, n * sizeof(rg_ctf));
    if (p->code == RG_GOOD)
        good(p, "planning the transforms",
             steps->lane_make(&l->steps, job->particles.side, job->padded, job->k, job->chunk, l->room, l->stream));
}

static void make(pipe *p)
{
    const gr_job *job = p->job;
    rg_shape most = gr_shape(job, job->batch < p->rows ? job->batch : p->rows);
    for (int l = 0; l < GR_LANES; l++)
        make_lane(p, &p->lane[l]);
    for (int i = 0; i < 2; i++) {
        p->inputs[i].begun = p->device->event_make();
        p->inputs[i].inserted = p->device->event_make();
        p->inputs[i].added = p->device->event_make();
    }
    for (int a = 0; a < GR_G && most.n[GR_IMAGES] < p->rows; a++)
        p->inputs[1].arg[a] = on_device(p, (size_t)job->algo->arg[a].count(&most) * sizeof(float));
    p->square = on_device(p, (size_t)p->rows * sizeof *p->square);
    p->zero = p->device->event_make();
    if (p->code == RG_GOOD)
        good(p, "timing", mark(p, p->zero, p->lane[0].stream));
}

static void free_event(const pipe *p, void *event)
{
    if (event)
        p->device->event_free(event);
}

static void unmake(pipe *p)
{
    rg_frame_free(&p->frame);
    for (int i = 0; i < GR_LANES; i++) {
        lane *l = &p->lane[i];
        void *const held[] = {l->room, l->picture, l->origin, l->ctf};
        p->steps->lane_free(l->steps);
        for (int h = 0; h < RG_COUNT(held); h++)
            if (held[h])
                p->device->release(held[h]);
        free_event(p, l->begun);
        free_event(p, l->copied);
        free_event(p, l->prepared);
        if (l->stream)
            p->device->stream_free(l->stream);
    }
    for (int i = 0; i < 2; i++) {
        free_event(p, p->inputs[i].begun);
        free_event(p, p->inputs[i].inserted);
        free_event(p, p->inputs[i].added);
    }
    for (int a = 0; a < GR_G; a++)
        if (p->inputs[1].arg[a])
            p->device->release(p->inputs[1].arg[a]);
    if (p->square)
        p->device->release(p->square);
    free_event(p, p->zero);
    memset(p->lane, 0, sizeof p->lane);
    memset(p->inputs, 0, sizeof p->inputs);
    memset(p->until_ms, 0, sizeof p->until_ms);
    p->square = p->zero = NULL;
}

// The rows of one half. Images are read while the rest is made.
static void pass(pipe *p, const int64_t *row)
{
    p->chunks = (p->rows + p->job->chunk - 1) / p->job->chunk;
    p->code = pl_feed_begin(&p->feed, p->member, row, p->rows, p->job->chunk, gr_slots(p->job));
    double since_s = rg_seconds();
    if (p->code == RG_GOOD)
        make(p);
    pl_lap(p->member, PL_SETUP, since_s);
    bool fine = p->code == RG_GOOD;
    for (int64_t c = 0; c < p->chunks && fine; c++)
        fine = one_chunk(p, c);
    fine = fine && finish(p);
    p->device->sync(); // copies may still read what the slots hold
    since_s = rg_seconds();
    unmake(p);
    pl_lap(p->member, PL_SETUP, since_s);
}

// What was found, for the user and for the table of stages.
static void tell_best(const pipe *p)
{
    const rg_search *s = &p->search;
    char best[192];
    int first = rg_search_find(s, p->job->param);
    if (s->best < 0 || p->member->index > 0)
        return;
    rg_params_print(s->variant, s->config[s->best], best);
    snprintf(p->job->tuned, sizeof p->job->tuned, "best of %d configurations tried: %s, %.4f ms an image; without tuning %.4f",
             s->tried, best, s->cost[s->best], first >= 0 ? s->cost[first] : NAN);
}

int gr_insert_on_gpu(pl_member *m, void *context)
{
    gr_job *job = context;
    pipe p = {.job = job, .member = m, .device = m->device, .steps = gr_steps(m->device)};
    p.code = gr_make_sums(job, m);
    rg_shape shape = gr_shape(job, job->batch);
    p.searching = job->trials > 0 && !rg_search_begin(&p.search, job->entry->variant, &shape, RG_SEARCH_LOCAL, job->trials, 1);
    for (p.half = 0; p.half < job->halves && p.code == RG_GOOD; p.half++) {
        int64_t *row = gr_rows(job, p.half, m->index, job->team.n, &p.rows);
        if (p.rows)
            pass(&p, row);
        free(row);
    }
    pl_feed_end(&p.feed);
    if (p.searching) {
        tell_best(&p);
        rg_search_end(&p.search);
    }
    return p.code;
}
