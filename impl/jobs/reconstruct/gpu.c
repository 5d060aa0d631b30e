// SPDX-License-Identifier: MIT
// gpu.c: a share of the particles through one GPU. Chunks of images that are read ahead are copied on one stream, each to its
// own place of a batch, transformed on a second one into one of two sets of inputs, and when a set is full, a third one
// inserts it and adds the result to the sums. Insertion may fill the GPU with blocks that stay to its end, so that transforms
// wait for it: by then the next batch has been copied whole, and its transforms follow each other without a gap.
#include "reconstruct.h"
#include "../../runtime/search.h"
#include "device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Images under way; it stands for the same place of every batch.
typedef struct chunk {
    void *begun, *copied, *prepared; // events
    pl_slot *slot;                   // until it is copied
    int64_t images;                  // until they are prepared; 0: none
} chunk;

typedef struct inputs {
    float *arg[GR_G];
    void *begun, *inserted, *added; // events
    bool is_running;
    int trial; // whose parameters it has, -1: the best of all
    int64_t images;
} inputs;

enum { ROTATIONS = 3 }; // sets of them: they are copied while the two insertions before may not have ended

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
    int64_t rows, batch, chunks, per_batch; // images of a batch, chunks of all and of a batch
    pl_feed feed;
    chunk *chunk;   // per_batch of them
    float *picture; // of a batch, as the next two
    double *origin;
    rg_ctf *ctf;
    float *rotation[ROTATIONS];
    void *copying, *preparing, *room; // streams; of the transforms
    gr_lane *lane;
    inputs inputs[2];
    rg_frame frame, last; // of a whole batch; of the rows that are left
    double *square;       // of each row, in the GPU's memory
    void *zero;           // event that times are counted from
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
    if (error != RG_OK && p->code == RG_GOOD) p->code = rg_device_failed(p->device, p->job->entry->name, doing, error);
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
    if (p->device->is_emulated) return p->code == RG_GOOD;
    int code = p->device->event_ms(p->zero, to, &ended);
    if (code == RG_OK) code = p->device->event_ms(p->zero, from, &begun);
    begun = begun > p->until_ms[stage] ? begun : p->until_ms[stage];
    p->member->stage[stage].busy_s += ended > begun ? 1e-3 * (ended - begun) : 0;
    p->until_ms[stage] = ended > begun ? ended : begun;
    return good(p, "waiting for it", code);
}

// ---- a chunk -------------------------------------------------------------------------------------------------------------

// Its images are on the GPU: others may be read.
static bool retire_copy(pipe *p, chunk *c)
{
    pl_slot *s = c->slot;
    if (!s) return true;
    c->slot = NULL;
    const bool fine = lap(p, PL_COPY, c->begun, c->copied);
    pl_feed_release(&p->feed, s);
    return fine;
}

static bool retire_chunk(pipe *p, chunk *c)
{
    const int64_t images = c->images;
    if (!images) return true;
    c->images = 0;
    const bool fine = retire_copy(p, c) && lap(p, PL_PREPARE, c->copied, c->prepared);
    pl_team_progress(&p->job->team, images);
    return fine;
}

static int upload(pipe *p, const pl_slot *s, int64_t at, float *rotation)
{
    const gr_job *job = p->job;
    int64_t pixels = job->particles.side * job->particles.side, count = s->n;
    int (*put)(void *, const void *, size_t, void *) = p->device->upload_on;
    int code = put(p->picture + at * pixels, s->part[GR_PICTURES], (size_t)(count * pixels) * sizeof(float), p->copying);
    if (code == RG_OK) code = put(p->origin + 2 * at, s->part[GR_ORIGINS], (size_t)(2 * count) * sizeof(double), p->copying);
    if (code == RG_OK)
        code = put(rotation, s->part[GR_ROTATIONS], (size_t)(9 * count * job->n_operators) * sizeof(float), p->copying);
    if (code == RG_OK && job->ctf) code = put(p->ctf + at, s->part[GR_CTFS], (size_t)count * sizeof(rg_ctf), p->copying);
    return code;
}

static bool send(pipe *p, chunk *c, pl_slot *s, const inputs *in)
{
    const gr_job *job = p->job;
    const gr_device_steps *steps = p->steps;
    const int64_t stored = gr_pixels(job->k), first = s->batch * job->chunk, at = first % p->batch, batch = first / p->batch;
    const float *picture = p->picture + at * job->particles.side * job->particles.side;
    float *image = in->arg[GR_IMAGE] + 2 * at * stored;
    int code = mark(p, c->begun, p->copying);
    if (code == RG_OK) code = upload(p, s, at, p->rotation[batch % ROTATIONS] + 9 * at * job->n_operators);
    if (code == RG_OK) code = mark(p, c->copied, p->copying);
    if (code == RG_OK && in->is_running && at == 0) // the insertion that has this set
        code = p->device->stream_wait(p->preparing, in->added);
    if (code == RG_OK) code = p->device->stream_wait(p->preparing, c->copied);
    if (code == RG_OK) code = steps->transforms(p->lane, picture, p->origin + 2 * at, s->n, job->invert, image);
    if (code == RG_OK && job->ctf)
        code = steps->ctfs(p->preparing, job->k, p->ctf + at, s->n, gr_applied(&job->particles), image,
            in->arg[GR_CTF] + at * stored, p->square + first);
    if (code == RG_OK) code = mark(p, c->prepared, p->preparing);
    c->slot = s;
    c->images = s->n;
    return good(p, "preparing images", code);
}

// ---- a batch -------------------------------------------------------------------------------------------------------------

// The call of a whole batch; its own inputs are the first of the two sets.
static bool frame(pipe *p, const int64_t *param)
{
    gr_job *job = p->job;
    rg_shape shape = gr_shape(job, p->batch);
    size_t params = (size_t)job->entry->variant->n_params * sizeof *param;
    if (p->frame.made && memcmp(p->frame.param, param, params) == 0) return true;
    if (!good(p, "inserting", p->device->sync())) return false;
    double since_s = rg_seconds();
    int code = rg_frame_make(&p->frame, job->entry, p->device, &shape, param, 1);
    for (int a = 0; a < GR_G; a++) p->inputs[0].arg[a] = p->frame.buffer[a].base;
    code = code ? code : rg_frame_prepare(&p->frame);
    good(p, p->frame.doing, code);
    pl_lap(p->member, PL_SETUP, since_s);
    return p->code == RG_GOOD;
}

// The same of fewer images, with the sums of the whole one.
static bool frame_of_last(pipe *p, int64_t images, void *const arg[GR_G])
{
    const rg_shape shape = gr_shape(p->job, images);
    void *all[RG_ARGS_MAX] = {[GR_G] = p->frame.arg[GR_G], [GR_W] = p->frame.arg[GR_W]};
    const double since_s = rg_seconds();
    memcpy(all, arg, GR_G * sizeof *arg);
    int code = rg_frame_borrow(&p->last, p->job->entry, p->device, &shape, p->frame.param, 1, all);
    code = code ? code : rg_frame_prepare(&p->last);
    good(p, p->last.doing, code);
    pl_lap(p->member, PL_SETUP, since_s);
    return p->code == RG_GOOD;
}

static bool retire_batch(pipe *p, inputs *in)
{
    rg_search *search = &p->search;
    bool is_running = in->is_running;
    double ms = INFINITY;
    in->is_running = false;
    if (!is_running) return true;
    if (!lap(p, PL_INSERT, in->begun, in->inserted) || !lap(p, PL_ADD, in->inserted, in->added)) return false;
    if (p->searching && in->trial >= 0) {
        int code = p->device->is_emulated ? RG_OK : p->device->event_ms(in->begun, in->inserted, &ms);
        rg_search_tell(search, in->trial, ms / (double)in->images);
        return good(p, "waiting for it", code);
    }
    return true;
}

// The parameters of the next batch. Every configuration computes the same sums, so that trials are no work lost; one is over
// before the next begins, so that nothing beside it is in its time.
static bool next_batch(pipe *p, inputs *in, int64_t count)
{
    rg_search *search = &p->search;
    bool fine = true;
    if (!p->searching) return frame(p, p->job->param);
    fine = retire_batch(p, in) && retire_batch(p, in == p->inputs ? in + 1 : in - 1);
    in->trial = count == p->batch ? rg_search_next(search) : -1;
    int chosen = in->trial >= 0 ? in->trial : search->best;
    return fine && frame(p, chosen >= 0 ? search->config[chosen] : p->job->param);
}

static bool insert(pipe *p, inputs *in, int64_t batch, int64_t images, const void *prepared)
{
    void *stream = p->frame.call.stream, *arg[GR_G];
    const int64_t voxels = gr_voxels(p->job->k);
    rg_buffer *sum = gr_sum_of(p->job, p->member->index, p->half);
    for (int a = 0; a < GR_G; a++) arg[a] = a == GR_ROTATION ? p->rotation[batch % ROTATIONS] : in->arg[a];
    const bool whole = images == p->batch;
    rg_frame *f = whole ? &p->frame : &p->last;
    if (!retire_batch(p, in) || (!whole && !frame_of_last(p, images, arg))) return false;
    memcpy(f->arg, arg, sizeof arg);
    if (!whole) stream = f->call.stream;
    int code = p->device->stream_wait(stream, rg_unconst(prepared));
    code = code ? code : mark(p, in->begun, stream);
    code = code ? code : rg_frame_start(f);
    code = code ? code : mark(p, in->inserted, stream);
    code = code ? code : pl_add(p->member, stream, 2 * voxels, f->arg[GR_G], sum[0].base);
    code = code ? code : pl_add(p->member, stream, voxels, f->arg[GR_W], sum[1].base);
    code = code ? code : mark(p, in->added, stream);
    in->is_running = true;
    in->images = images;
    pl_need(p->member, PL_INSERT, p->job->entry, &f->shape, f->param);
    return good(p, "inserting", code);
}

static bool one_chunk(pipe *p, int64_t i)
{
    const int64_t batch = i / p->per_batch, left = p->rows - batch * p->batch;
    const int64_t images = left < p->batch ? left : p->batch;
    inputs *in = &p->inputs[batch % 2];
    chunk *c = &p->chunk[i % p->per_batch];
    pl_slot *s = NULL;
    if (i % p->per_batch == 0 && !next_batch(p, in, images)) return false;
    bool fine = retire_chunk(p, c) && (i < GR_LANES || retire_copy(p, &p->chunk[(i - GR_LANES) % p->per_batch]));
    if (fine) p->code = pl_feed_next(&p->feed, &s);
    if (!s || !send(p, c, s, in)) return false;
    return (i + 1) % p->per_batch != 0 && i + 1 < p->chunks ? true : insert(p, in, batch, images, c->prepared);
}

static bool finish(pipe *p)
{
    double *square = rg_alloc((size_t)p->rows * sizeof *square), *ctf2 = &p->job->ctf2[2 * p->member->index + p->half];
    bool fine = true;
    for (int64_t i = 0; i < p->per_batch && fine; i++) fine = retire_chunk(p, &p->chunk[(p->chunks + i) % p->per_batch]);
    const int64_t batches = (p->rows + p->batch - 1) / p->batch;
    for (int i = 0; i < 2 && fine; i++) // in their order, as laps are taken
        fine = retire_batch(p, &p->inputs[(batches + i) % 2]);
    fine = fine && good(p, "inserting", p->device->sync());
    if (fine && p->job->ctf)
        fine = good(p, "copying", p->device->download(square, p->square, (size_t)p->rows * sizeof *square));
    for (int64_t i = 0; i < p->rows && fine && p->job->ctf; i++) *ctf2 += square[i];
    free(square);
    return fine;
}

// ---- making it -----------------------------------------------------------------------------------------------------------

static void *on_device(pipe *p, size_t bytes, const char *what)
{
    void *at = NULL;
    if (p->code == RG_GOOD) good(p, "making its buffers", p->device->alloc(&at, bytes ? bytes : 1, what));
    return at;
}

static void *event(pipe *p)
{
    void *made = NULL;
    if (p->code == RG_GOOD) good(p, "making its events", p->device->event_make(&made));
    return made;
}

static void make_chunks(pipe *p)
{
    p->chunk = rg_alloc((size_t)p->per_batch * sizeof *p->chunk);
    for (int64_t i = 0; i < p->per_batch; i++)
        p->chunk[i] = (chunk){.begun = event(p), .copied = event(p), .prepared = event(p)};
}

static void make_transforms(pipe *p)
{
    const gr_job *job = p->job;
    const int64_t side = job->particles.side;
    const size_t n = (size_t)p->batch;
    if (p->code == RG_GOOD) good(p, "making its streams", p->device->stream_urgent(&p->copying));
    if (p->code == RG_GOOD) good(p, "making its streams", p->device->stream_urgent(&p->preparing));
    p->room = on_device(p, p->steps->lane_room(side, job->padded, job->chunk), "padded images");
    p->picture = on_device(p, n * (size_t)(side * side) * sizeof(float), "images");
    p->origin = on_device(p, n * 2 * sizeof(double), "origins");
    p->ctf = on_device(p, job->ctf ? n * sizeof(rg_ctf) : 0, "ctfs");
    for (int r = 0; r < ROTATIONS; r++)
        p->rotation[r] = on_device(p, n * (size_t)(9 * job->n_operators) * sizeof(float), "rotations");
    if (p->code == RG_GOOD)
        good(p, "planning the transforms", p->steps->lane_make(&p->lane, side, job->padded, job->k, p->room, p->preparing));
}

static void make(pipe *p)
{
    const gr_job *job = p->job;
    rg_shape most = gr_shape(job, p->batch);
    make_chunks(p);
    make_transforms(p);
    for (int i = 0; i < 2; i++) {
        p->inputs[i].begun = event(p);
        p->inputs[i].inserted = event(p);
        p->inputs[i].added = event(p);
    }
    for (int a = 0; a < GR_G && most.n[GR_IMAGES] < p->rows; a++)
        p->inputs[1].arg[a] = a == GR_ROTATION
            ? NULL
            : on_device(p, (size_t)job->algo->arg[a].count(&most) * sizeof(float), job->algo->arg[a].name);
    p->square = on_device(p, (size_t)p->rows * sizeof *p->square, "squares of ctfs");
    p->zero = event(p);
    if (p->code == RG_GOOD) good(p, "timing", mark(p, p->zero, p->copying));
}

static void free_event(const pipe *p, void *event)
{
    if (event) p->device->event_free(event);
}

static void unmake(pipe *p)
{
    rg_frame_free(&p->last);
    rg_frame_free(&p->frame);
    for (int64_t i = 0; p->chunk && i < p->per_batch; i++) {
        free_event(p, p->chunk[i].begun);
        free_event(p, p->chunk[i].copied);
        free_event(p, p->chunk[i].prepared);
    }
    free(p->chunk);
    p->steps->lane_free(p->lane);
    void *const held[] = {p->room, p->picture, p->origin, p->ctf, p->rotation[0], p->rotation[1], p->rotation[2], p->square};
    for (int h = 0; h < RG_COUNT(held); h++)
        if (held[h]) p->device->release(held[h]);
    for (int i = 0; i < 2; i++) {
        free_event(p, p->inputs[i].begun);
        free_event(p, p->inputs[i].inserted);
        free_event(p, p->inputs[i].added);
    }
    for (int a = 0; a < GR_G; a++)
        if (p->inputs[1].arg[a]) p->device->release(p->inputs[1].arg[a]);
    void *const stream[] = {p->copying, p->preparing};
    for (int i = 0; i < RG_COUNT(stream); i++)
        if (stream[i]) p->device->stream_free(stream[i]);
    free_event(p, p->zero);
    memset(p->inputs, 0, sizeof p->inputs);
    memset(p->rotation, 0, sizeof p->rotation);
    memset(p->until_ms, 0, sizeof p->until_ms);
    p->chunk = NULL;
    p->lane = NULL;
    p->per_batch = 0;
    p->room = p->copying = p->preparing = p->zero = NULL;
    p->picture = NULL;
    p->origin = p->square = NULL;
    p->ctf = NULL;
}

// The rows of one half. Images are read while the rest is made.
static void pass(pipe *p, const int64_t *row)
{
    p->batch = p->job->batch < p->rows ? p->job->batch : p->rows;
    p->chunks = (p->rows + p->job->chunk - 1) / p->job->chunk;
    p->per_batch = (p->batch + p->job->chunk - 1) / p->job->chunk;
    p->code = pl_feed_begin(&p->feed, p->member, row, p->rows, p->job->chunk, gr_slots(p->job));
    double since_s = rg_seconds();
    if (p->code == RG_GOOD) make(p);
    pl_lap(p->member, PL_SETUP, since_s);
    bool fine = p->code == RG_GOOD;
    for (int64_t c = 0; c < p->chunks && fine; c++) fine = one_chunk(p, c);
    fine = fine && finish(p);
    const int ended = p->device->sync(); // copies may still read what the slots hold
    good(p, "inserting", ended);
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
    if (s->best < 0 || p->member->index > 0) return;
    rg_params_print(s->variant, s->config[s->best], best);
    snprintf(p->job->tuned, sizeof p->job->tuned, "best of %d configuration%s tried: %s, %.4f ms an image; without tuning %.4f",
        s->tried, rg_s(s->tried), best, s->cost[s->best], first >= 0 ? s->cost[first] : NAN);
}

int gr_insert_on_gpu(pl_member *m, void *context)
{
    gr_job *job = context;
    pipe p = {.job = job, .member = m, .device = m->device, .steps = gr_steps(m->device)};
    p.code = gr_make_sums(job, m);
    rg_shape shape = gr_shape(job, job->batch);
    p.searching = job->trials > 0 && !rg_search_begin(&p.search, job->entry->variant, &shape, RG_SEARCH_LOCAL, job->trials, 1);
    int64_t *row[2] = {NULL, NULL}; // which the feed may read to its end
    for (p.half = 0; p.half < job->halves && p.code == RG_GOOD; p.half++) {
        row[p.half] = gr_rows(job, p.half, m->index, job->team.n, &p.rows);
        if (p.rows) pass(&p, row[p.half]);
    }
    pl_feed_end(&p.feed);
    free(row[0]);
    free(row[1]);
    if (p.searching) {
        tell_best(&p);
        rg_search_end(&p.search);
    }
    return p.code;
}
