// SPDX-License-Identifier: MIT
// gpu.c: processes a share of the particles on one GPU. Chunks of images that are read ahead are copied on one stream, each to
// its own place of a batch, and transformed on a second stream into one of two sets of inputs. When a set is full, a third
// stream inserts it and adds the result to the sums. Insertion may fill the GPU with blocks that stay to its end, so that
// transforms wait for it: by then the next batch has been copied whole, and its transforms follow each other without a gap.
#include "reconstruct.h"
#include "../../runtime/predicted.h"
#include "../../runtime/search.h"
#include "device.h"

// Images in flight; a chunk is the same place of every batch.
typedef struct chunk {
    void *begun, *copied, *prepared; // events
    pl_slot *slot;                   // NULL once it is copied
    int64_t images;                  // 0 once they are prepared
} chunk;

typedef struct inputs {
    float *image, *ctf;
    void *begun, *inserted, *added; // events
    bool is_running;
    int trial; // trial whose parameters it has, -1: the best of all
    int64_t images;
} inputs;

// State of one GPU; one pass over the rows of one half.
typedef struct gpu_pipe {
    rc_job *job;
    pl_member *member;
    const rg_device *device;
    const rc_device_steps *steps;
    rg_search search; // of the best parameters, while trials are left
    bool searching;
    int code;
    int half;
    const int64_t *param;                   // of the next call
    int64_t rows, batch, chunks, per_batch; // images of a batch, chunks of all and of a batch
    pl_feed feed;
    chunk *chunk;         // per_batch of them
    void *part[GR_PARTS]; // in the GPU's memory
    float *picture;       // of a batch, like the next two
    double *origin;
    rg_ctf *ctf;
    float *rotation[GR_TURNS];
    void *copying, *preparing; // streams
    rc_lane *lane;
    inputs inputs[2];
    rg_frame frame; // of a call; owns the scratch of all calls
    double *square; // of each row
    void *zero;     // event that marks time 0
    void **event;   // all of them, to be freed
    int64_t events;
    double until_ms[PL_STAGES];
} gpu_pipe;

const rc_device_steps *rc_steps(const rg_device *device) {
#if HAVE_CUDA
    return device->is_emulated ? &rc_steps_emulated : &rc_steps_gpu;
#else
    (void)device;
    return &rc_steps_emulated;
#endif
}

// Records an error of a device call. Returns whether there is none so far.
static bool good(gpu_pipe *p, const char *doing, int error) {
    if (error != RG_OK && p->code == RG_GOOD) p->code = rg_device_failed(p->device, p->job->entry->name, doing, error);
    return p->code == RG_GOOD;
}

// ---- times ---------------------------------------------------------------------------------------------------------------

// The emulated GPU is synchronous and has no times.
static int mark(const gpu_pipe *p, void *event, void *stream) {
    return p->device->is_emulated ? RG_OK : p->device->event_record(event, stream);
}

// Waits for `to`, and adds the time since `from` during which no earlier chunk was in this stage: stages of chunks overlap.
static bool lap(gpu_pipe *p, pl_stage stage, void *from, void *to) {
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

// The chunk's images are on the GPU, so its slot is released.
static bool retire_copy(gpu_pipe *p, chunk *c) {
    pl_slot *s = c->slot;
    if (!s) return true;
    c->slot = NULL;
    const bool fine = lap(p, PL_COPY, c->begun, c->copied);
    pl_feed_release(&p->feed, s);
    return fine;
}

static bool retire_chunk(gpu_pipe *p, chunk *c) {
    const int64_t images = c->images;
    if (!images) return true;
    c->images = 0;
    const bool fine = retire_copy(p, c) && lap(p, PL_PREPARE, c->copied, c->prepared);
    pl_team_progress(&p->job->team, images);
    return fine;
}

static int upload(gpu_pipe *p, const pl_slot *s, int64_t at, float *rotation) {
    const rc_job *job = p->job;
    int64_t pixels = job->particles.side * job->particles.side, count = s->n;
    int (*put)(void *, const void *, size_t, void *) = p->device->upload_on;
    int code = put(p->picture + at * pixels, s->part[GR_PICTURES], (size_t)(count * pixels) * sizeof(float), p->copying);
    if (code == RG_OK) code = put(p->origin + 2 * at, s->part[GR_ORIGINS], (size_t)(2 * count) * sizeof(double), p->copying);
    if (code == RG_OK)
        code = put(rotation, s->part[GR_ROTATIONS], (size_t)(9 * count * job->n_operators) * sizeof(float), p->copying);
    if (code == RG_OK && job->ctf) code = put(p->ctf + at, s->part[GR_CTFS], (size_t)count * sizeof(rg_ctf), p->copying);
    return code;
}

static bool send(gpu_pipe *p, chunk *c, pl_slot *s, const inputs *in) {
    const rc_job *job = p->job;
    const rc_device_steps *steps = p->steps;
    const int64_t stored = gr_pixels(job->k), first = s->batch * job->chunk, at = first % p->batch, batch = first / p->batch;
    const float *picture = p->picture + at * job->particles.side * job->particles.side;
    float *image = in->image + 2 * at * stored;
    int code = mark(p, c->begun, p->copying);
    if (code == RG_OK) code = upload(p, s, at, p->rotation[batch % GR_TURNS] + 9 * at * job->n_operators);
    if (code == RG_OK) code = mark(p, c->copied, p->copying);
    if (code == RG_OK && in->is_running && at == 0) // the insertion that has this set
        code = p->device->stream_wait(p->preparing, in->added);
    if (code == RG_OK) code = p->device->stream_wait(p->preparing, c->copied);
    if (code == RG_OK) code = steps->transforms(p->lane, picture, p->origin + 2 * at, s->n, job->invert, image);
    if (code == RG_OK && job->ctf)
        code = steps->ctfs(p->preparing, job->k, p->ctf + at, s->n, rc_applied(&job->particles), image, in->ctf + at * stored,
            p->square + first);
    if (code == RG_OK) code = mark(p, c->prepared, p->preparing);
    c->slot = s;
    c->images = s->n;
    return good(p, "preparing images", code);
}

// ---- a batch -------------------------------------------------------------------------------------------------------------

// Prepares the call of this many images. Calls share scratch and volume, so a new one waits for the last.
static bool frame(gpu_pipe *p, const int64_t *param, int64_t images, void *const arg[RG_ARGS_MAX]) {
    const rg_shape shape = rc_shape(p->job, images);
    const size_t params = (size_t)p->job->entry->variant->n_params * sizeof *param;
    const bool stands = p->frame.entry && p->frame.shape.n[GR_IMAGES] == images && memcmp(p->frame.param, param, params) == 0;
    if (!stands) {
        if (!good(p, "inserting", p->device->sync())) return false;
        const double since_s = rg_seconds();
        int code = rg_frame_borrow(&p->frame, p->job->entry, p->device, &shape, param, 1, arg);
        code = code ? code : rg_frame_prepare(&p->frame);
        good(p, p->frame.doing, code);
        pl_lap(p->member, PL_SETUP, since_s);
    }
    memcpy(p->frame.arg, arg, sizeof p->frame.arg);
    return p->code == RG_GOOD;
}

static bool retire_batch(gpu_pipe *p, inputs *in) {
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

// Arguments of the insertion of this batch from these inputs.
static void arguments(const gpu_pipe *p, const inputs *in, int64_t batch, void *arg[RG_ARGS_MAX]) {
    memset(arg, 0, RG_ARGS_MAX * sizeof *arg);
    arg[GR_IMAGE] = in->image;
    arg[GR_CTF] = in->ctf;
    arg[GR_ROTATION] = p->rotation[batch % GR_TURNS];
    arg[GR_G] = p->part[GR_P_G];
    arg[GR_W] = p->part[GR_P_W];
}

// Returns the next configuration to try, -1: none. Skips those that need more scratch than there is.
static int next_trial(gpu_pipe *p) {
    const rg_shape shape = rc_shape(p->job, p->batch);
    int trial;
    while ((trial = rg_search_next(&p->search)) >= 0 &&
        rg_frame_scratch(p->job->entry, &shape, p->search.config[trial]) > p->frame.scratch.bytes)
        rg_search_tell(&p->search, trial, INFINITY);
    return trial;
}

// Chooses the parameters of the next batch. Every configuration computes the same sums, so trials waste no work. A trial ends
// before the next begins, so that nothing runs beside it.
static bool next_batch(gpu_pipe *p, inputs *in, int64_t batch, int64_t count) {
    const rg_search *search = &p->search;
    void *arg[RG_ARGS_MAX];
    bool fine = true;
    arguments(p, in, batch, arg);
    p->param = p->job->param;
    if (p->searching) {
        fine = retire_batch(p, in) && retire_batch(p, in == p->inputs ? in + 1 : in - 1);
        in->trial = count == p->batch ? next_trial(p) : -1;
        const int chosen = in->trial >= 0 ? in->trial : search->best;
        p->param = chosen >= 0 ? search->config[chosen] : p->job->param;
    }
    return fine && (count < p->batch || frame(p, p->param, count, arg));
}

static bool insert(gpu_pipe *p, inputs *in, int64_t batch, int64_t images, const void *prepared) {
    void *arg[RG_ARGS_MAX];
    const int64_t voxels = gr_voxels(p->job->k);
    rg_buffer *sum = rc_sum_of(&p->job->run, p->member->index, p->half);
    rg_frame *f = &p->frame;
    arguments(p, in, batch, arg);
    if (!retire_batch(p, in) || !frame(p, p->param, images, arg)) return false;
    void *stream = f->call.stream;
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

static bool one_chunk(gpu_pipe *p, int64_t i) {
    const int64_t batch = i / p->per_batch, left = p->rows - batch * p->batch;
    const int64_t images = left < p->batch ? left : p->batch;
    inputs *in = &p->inputs[batch % 2];
    chunk *c = &p->chunk[i % p->per_batch];
    pl_slot *s = NULL;
    if (i % p->per_batch == 0 && !next_batch(p, in, batch, images)) return false;
    bool fine = retire_chunk(p, c) && (i < GR_LANES || retire_copy(p, &p->chunk[(i - GR_LANES) % p->per_batch]));
    if (fine) p->code = pl_feed_next(&p->feed, &s);
    if (!s || !send(p, c, s, in)) return false;
    return (i + 1) % p->per_batch != 0 && i + 1 < p->chunks ? true : insert(p, in, batch, images, c->prepared);
}

static bool finish(gpu_pipe *p) {
    double *square = rg_alloc((size_t)p->rows * sizeof *square), *ctf2 = &p->job->ctf2[2 * p->member->index + p->half];
    bool fine = true;
    for (int64_t i = 0; i < p->per_batch && fine; i++) fine = retire_chunk(p, &p->chunk[(p->chunks + i) % p->per_batch]);
    const int64_t batches = (p->rows + p->batch - 1) / p->batch;
    for (int i = 0; i < 2 && fine; i++) // in order, because lap needs that
        fine = retire_batch(p, &p->inputs[(batches + i) % 2]);
    fine = fine && good(p, "inserting", p->device->sync());
    if (fine && p->job->ctf)
        fine = good(p, "copying", p->device->download(square, p->square, (size_t)p->rows * sizeof *square));
    for (int64_t i = 0; i < p->rows && fine && p->job->ctf; i++) *ctf2 += square[i];
    free(square);
    return fine;
}

// ---- scratch -------------------------------------------------------------------------------------------------------------

// `owned` takes slots in proportion to its samples: 52 GB at 420 pixels under 60 operators, beside a volume of 3.6 GB. The cost
// of a call besides its samples is passes over the volume, to clear or store it and to add it to the sums. Slots of four
// volumes make that small. For small volumes it weighs more, and a GiB does no harm.
enum { SCRATCH_VOLUMES = 4 };
static const double SCRATCH_SMALL = 0x1p30;

double rc_scratch_most(const rc_job *job) {
    const double volumes = SCRATCH_VOLUMES * 12.0 * (double)gr_voxels(job->k);
    return volumes > SCRATCH_SMALL ? volumes : SCRATCH_SMALL;
}

static size_t scratch_with(const rc_job *job, int64_t images, int64_t rows, const int64_t *param) {
    const rg_shape whole = rc_shape(job, images), last = rc_shape(job, rows % images);
    const size_t of_whole = rg_frame_scratch(job->entry, &whole, param);
    const size_t of_last = images < rows && rows % images ? rg_frame_scratch(job->entry, &last, param) : 0;
    return of_whole > of_last ? of_whole : of_last;
}

size_t rc_scratch_of(const rc_job *job, int64_t images, int64_t rows) {
    const rg_shape shape = rc_shape(job, images);
    size_t most = scratch_with(job, images, rows, job->param);
    rg_search s;
    if (!job->trials || rg_search_begin(&s, job->entry->variant, &shape, RG_SEARCH_LOCAL, job->trials, 1)) return most;
    for (int i = 0; i < s.n; i++) {
        const size_t other = scratch_with(job, images, rows, s.config[i]);
        most = other > most && (double)other <= rc_scratch_most(job) ? other : most;
    }
    rg_search_end(&s);
    return most;
}

// ---- setup ---------------------------------------------------------------------------------------------------------------

// Allocates all of its memory; parts of 0 bytes are not used.
static void make_parts(gpu_pipe *p) {
    const rc_job *job = p->job;
    size_t bytes[GR_PARTS];
    rc_parts_of(job, p->batch, p->rows, bytes);
    for (int i = 0; i < GR_PARTS && p->code == RG_GOOD; i++)
        if (bytes[i]) good(p, "making its buffers", p->device->alloc(&p->part[i], bytes[i], rc_part_name[i]));
    if (p->code == RG_GOOD)
        good(p, p->frame.doing, rg_frame_reserve(&p->frame, p->device, rc_scratch_of(job, p->batch, p->rows)));
    if (p->code != RG_GOOD) return;
    p->picture = p->part[GR_P_PICTURES];
    p->origin = p->part[GR_P_ORIGINS];
    p->ctf = p->part[GR_P_TERMS];
    p->square = p->part[GR_P_SQUARES];
    for (int r = 0; r < GR_TURNS; r++)
        p->rotation[r] = (float *)((char *)p->part[GR_P_ROTATIONS] + (size_t)r * rc_set_bytes(job, GR_ROTATION, p->batch));
    for (int i = 0; i < 2; i++) {
        p->inputs[i].image = (float *)((char *)p->part[GR_P_IMAGES] + (size_t)i * rc_set_bytes(job, GR_IMAGE, p->batch));
        p->inputs[i].ctf = (float *)((char *)p->part[GR_P_CTFS] + (size_t)i * rc_set_bytes(job, GR_CTF, p->batch));
    }
}

static void *event(gpu_pipe *p) {
    void *made = NULL;
    if (p->code == RG_GOOD && good(p, "making its events", p->device->event_make(&made))) {
        p->event = rg_grow(p->event, p->events, sizeof *p->event);
        p->event[p->events++] = made;
    }
    return made;
}

static void make_chunks(gpu_pipe *p) {
    p->chunk = rg_alloc((size_t)p->per_batch * sizeof *p->chunk);
    for (int64_t i = 0; i < p->per_batch; i++)
        p->chunk[i] = (chunk){.begun = event(p), .copied = event(p), .prepared = event(p)};
}

static void make(gpu_pipe *p) {
    const rc_job *job = p->job;
    make_chunks(p);
    make_parts(p);
    if (p->code == RG_GOOD) good(p, "making its streams", p->device->stream_urgent(&p->copying));
    if (p->code == RG_GOOD) good(p, "making its streams", p->device->stream_urgent(&p->preparing));
    for (int i = 0; i < 2; i++) {
        p->inputs[i].begun = event(p);
        p->inputs[i].inserted = event(p);
        p->inputs[i].added = event(p);
    }
    p->zero = event(p);
    if (p->code == RG_GOOD)
        good(p, "planning the transforms",
            p->steps->lane_make(&p->lane, job->particles.side, job->padded, job->k, p->part[GR_P_ROOM], p->preparing));
    if (p->code == RG_GOOD) good(p, "timing", mark(p, p->zero, p->copying));
}

static void unmake(gpu_pipe *p) {
    rg_frame_free(&p->frame);
    while (p->events > 0) p->device->event_free(p->event[--p->events]);
    free(p->event);
    free(p->chunk);
    p->steps->lane_free(p->lane);
    for (int i = 0; i < GR_PARTS; i++)
        if (p->part[i]) p->device->release(p->part[i]);
    if (p->copying) p->device->stream_free(p->copying);
    if (p->preparing) p->device->stream_free(p->preparing);
    memset(p->inputs, 0, sizeof p->inputs);
    memset(p->until_ms, 0, sizeof p->until_ms);
    memset(p->part, 0, sizeof p->part);
    p->chunk = NULL;
    p->event = NULL;
    p->lane = NULL;
    p->per_batch = 0;
    p->copying = p->preparing = p->zero = NULL;
}

// Processes the rows of one half. Images are read during the setup.
static void pass(gpu_pipe *p, const int64_t *row) {
    p->batch = p->job->batch < p->rows ? p->job->batch : p->rows;
    p->chunks = (p->rows + p->job->chunk - 1) / p->job->chunk;
    p->per_batch = (p->batch + p->job->chunk - 1) / p->job->chunk;
    p->code = pl_feed_begin(&p->feed, p->member, row, p->rows, p->job->chunk, rc_slots(p->job));
    double since_s = rg_seconds();
    if (p->code == RG_GOOD) make(p);
    pl_lap(p->member, PL_SETUP, since_s);
    bool fine = p->code == RG_GOOD;
    for (int64_t c = 0; c < p->chunks && fine; c++) fine = one_chunk(p, c);
    fine = fine && finish(p);
    const int ended = p->device->sync(); // because copies may still read the slots
    good(p, "inserting", ended);
    since_s = rg_seconds();
    unmake(p);
    pl_lap(p->member, PL_SETUP, since_s);
}

// Reports the best configuration to the user and to the table of stages.
static void tell_best(const gpu_pipe *p) {
    const rg_search *s = &p->search;
    char best[192];
    int first = rg_search_find(s, p->job->param);
    if (s->best < 0 || p->member->index > 0) return;
    rg_params_print(s->variant, s->config[s->best], best);
    snprintf(p->job->tuned, sizeof p->job->tuned, "best of %d configuration%s tried: %s, %.4f ms an image; without tuning %.4f",
        s->tried, rg_plural(s->tried), best, s->cost[s->best], first >= 0 ? s->cost[first] : NAN);
}

int rc_insert_on_gpu(pl_member *m, void *context) {
    rc_job *job = context;
    gpu_pipe p = {.job = job, .member = m, .device = m->device, .steps = rc_steps(m->device)};
    const rg_needs needs = rc_gpu_needs(job, job->batch);
    rg_predict(m->device, &needs);
    p.code = rc_make_sums(&job->run, m, 0, job->run.halves);
    rg_shape shape = rc_shape(job, job->batch);
    p.searching = job->trials > 0 && !rg_search_begin(&p.search, job->entry->variant, &shape, RG_SEARCH_LOCAL, job->trials, 1);
    int64_t *row[2] = {NULL, NULL}; // the feed may read these until it ends
    for (p.half = 0; p.half < job->run.halves && p.code == RG_GOOD; p.half++) {
        row[p.half] = rc_rows(job, p.half, m->index, job->team.n, &p.rows);
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
