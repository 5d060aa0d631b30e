// SPDX-License-Identifier: MIT
// job_insert.c: particles in batches through the variant; its sums are added up here. Odd and even rows go in separate batches
// when half maps are asked for. A batch is filled chunk by chunk: while one chunk is prepared by all threads, one of them reads
// the next, and another copies the one before to the device.
#include "../../data/particles.h"
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Images of a chunk on the host: as they are read, and the inputs of the call that are made of them.
typedef struct chunk {
    int64_t at, count; // images at .. at + count - 1 of the batch
    float *picture, *input[GR_G];
    double ctf2;
} chunk;

// One batch on its way.
typedef struct inserter {
    gr_job *job;
    gr_prepare prepare;
    rg_frame frame;
    bool made;
    rg_shape shape;
    chunk chunk[3];   // in turn: being read, being prepared, being copied
    int64_t first, step; // row of the batch's image 0, and from one image to the next
    rg_progress progress;
    int64_t done;
} inserter;

static bool on_host(const gr_job *job) { return job->device == rg_device_cpu(); }

static void lap(gr_job *job, gr_stage stage, double since_s) { job->stage_s[stage] += rg_seconds() - since_s; }

static int device_failed(const gr_job *job, const char *doing, int code)
{
    return rg_fail(RG_WRONG, "%s on %s: %s: %s", job->entry->name, job->device->name, doing, job->device->error(code));
}

static void let_go(inserter *in)
{
    const rg_variant *v = in->job->entry->variant;
    if (in->made) {
        if (v->finish)
            v->finish(&in->frame.call);
        rg_frame_free(&in->frame);
    }
    in->made = false;
}

// Buffers for a batch of this many images, unless they are there already.
static int ready(inserter *in, int64_t images)
{
    gr_job *job = in->job;
    const rg_variant *v = job->entry->variant;
    if (in->made && in->shape.n[GR_IMAGES] == images)
        return RG_GOOD;
    let_go(in);
    in->shape = gr_shape(job, images);
    int code = rg_frame_make(&in->frame, job->algo, v, job->device, &in->shape, job->param, false, job->threads);
    if (code != RG_OK)
        return device_failed(job, "no memory for its buffers", code);
    in->made = true;
    code = v->prepare ? v->prepare(&in->frame.call) : RG_OK;
    if (code != RG_OK)
        return device_failed(job, "it cannot be prepared", code);
    return RG_GOOD;
}

int gr_set_symmetry(gr_job *job, const char *name, bool per_operator)
{
    const char *why = gr_symmetry_make(&job->symmetry, name);
    if (why)
        return rg_fail(RG_USAGE, "--sym %s: %s", name, why);
    gr_lattice_make(&job->lattice, &job->symmetry);
    job->use_lattice = !per_operator && job->lattice.n_lattice > 1;
    job->n_operators = job->use_lattice ? job->lattice.n_coset : job->symmetry.n;
    return RG_GOOD;
}

// Matrices of one particle, one for each operator S that is inserted: M = S A^T.
static void rotations(const gr_job *job, const rg_particle *q, float *out)
{
    double a[9];
    rg_particle_matrix(q->rot_deg, q->tilt_deg, q->psi_deg, a);
    for (int o = 0; o < job->n_operators; o++) {
        const double *s = job->symmetry.matrix[job->use_lattice ? job->lattice.coset[o] : o];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                *out++ = (float)(s[3 * i] * a[3 * j] + s[3 * i + 1] * a[3 * j + 1] + s[3 * i + 2] * a[3 * j + 2]);
    }
}

// ---- filling a batch -----------------------------------------------------------------------------------------------------

static int64_t element_bytes(const inserter *in, int a) // of one image in input a
{
    rg_shape one = gr_shape(in->job, 1);
    return in->job->algo->arg[a].count(&one) * (int64_t)sizeof(float);
}

static int read_chunk(inserter *in, chunk *c)
{
    gr_job *job = in->job;
    int64_t pixels = job->particles.side * job->particles.side;
    double since_s = rg_seconds();
    int code = RG_GOOD;
    for (int64_t i = 0; i < c->count && code == RG_GOOD; i++)
        code = rg_particles_image(&job->particles, in->first + (c->at + i) * in->step, c->picture + i * pixels);
    lap(job, GR_READ, since_s);
    return code;
}

static void prepare_image(inserter *in, chunk *c, int64_t i)
{
    const gr_job *job = in->job;
    int64_t pixels = job->particles.side * job->particles.side, stored = gr_pixels(job->k);
    const rg_particle *q = &job->particles.row[in->first + (c->at + i) * in->step];
    gr_prepare_image(&in->prepare, c->picture + i * pixels, q->origin_x_px, q->origin_y_px, job->invert,
                     c->input[GR_IMAGE] + i * stored * 2);
    rotations(job, q, c->input[GR_ROTATION] + i * job->n_operators * 9);
    if (job->ctf) {
        double ctf2 = gr_prepare_ctf(&in->prepare, &q->ctf, job->particles.pixel_A, c->input[GR_CTF] + i * stored);
#pragma omp atomic
        c->ctf2 += ctf2;
    }
}

// On the host the chunk's inputs are the call's own buffers.
static int copy_chunk(inserter *in, const chunk *c)
{
    gr_job *job = in->job;
    double since_s = rg_seconds();
    int code = RG_OK;
    for (int a = 0; a < GR_G && code == RG_OK && !on_host(job); a++) {
        int64_t each = element_bytes(in, a);
        if (each)
            code = job->device->upload((char *)in->frame.arg[a] + c->at * each, c->input[a], (size_t)(c->count * each));
    }
    lap(job, GR_COPY, since_s);
    return code == RG_OK ? RG_GOOD : device_failed(job, "copying images", code);
}

static void aim(inserter *in, chunk *c, int64_t at, int64_t count)
{
    int64_t left = count - at;
    c->at = at;
    c->count = left < 0 ? 0 : left < in->job->chunk ? left : in->job->chunk;
    c->ctf2 = 0;
    for (int a = 0; a < GR_G && on_host(in->job); a++)
        c->input[a] = (float *)in->frame.arg[a] + at * element_bytes(in, a) / (int64_t)sizeof(float);
}

// Step s reads chunk s, prepares chunk s - 1 and copies chunk s - 2.
static int fill(inserter *in, gr_sums *sums, int64_t count)
{
    gr_job *job = in->job;
    int64_t chunks = (count + job->chunk - 1) / job->chunk;
    int read = RG_GOOD, copied = RG_GOOD;
    for (int64_t s = 0; s < chunks + 2 && read == RG_GOOD && copied == RG_GOOD; s++) {
        chunk *next = &in->chunk[s % 3], *now = &in->chunk[(s + 2) % 3], *before = &in->chunk[(s + 1) % 3];
        bool reads = s < chunks, prepares = s >= 1 && s <= chunks, copies = s >= 2;
        double since_s = rg_seconds();
        if (reads)
            aim(in, next, s * job->chunk, count);
#pragma omp parallel num_threads(job->threads)
#pragma omp single
        {
#pragma omp task if (job->threads > 1)
            read = reads ? read_chunk(in, next) : RG_GOOD;
#pragma omp task if (job->threads > 1)
            copied = copies ? copy_chunk(in, before) : RG_GOOD;
#pragma omp taskloop grainsize(1) if (job->threads > 1)
            for (int64_t i = 0; i < (prepares ? now->count : 0); i++)
                prepare_image(in, now, i);
        }
        if (prepares) {
            sums->ctf2 += now->ctf2;
            lap(job, GR_PREPARE, since_s);
            rg_progress_at(&in->progress, (double)(in->done + now->at + now->count));
        }
    }
    return read != RG_GOOD ? read : copied;
}

// ---- running it ----------------------------------------------------------------------------------------------------------

static void add(const gr_job *job, gr_sums *sums, const float *g, const float *w)
{
    int64_t voxels = gr_voxels(job->k);
#pragma omp parallel for num_threads(job->threads)
    for (int64_t i = 0; i < voxels; i++) {
        sums->g[2 * i] += g[2 * i];
        sums->g[2 * i + 1] += g[2 * i + 1];
        sums->w[i] += w[i];
    }
}

// Its outputs into g and w on the host.
static int fetch(inserter *in, float *g, float *w)
{
    gr_job *job = in->job;
    double since_s = rg_seconds();
    int code = rg_buffer_get(&in->frame.buffer[GR_G], g);
    if (code == RG_OK)
        code = rg_buffer_get(&in->frame.buffer[GR_W], w);
    lap(job, GR_COPY, since_s);
    return code == RG_OK ? RG_GOOD : device_failed(job, "copying the sums", code);
}

// The first batch's outputs are the sums; later ones are added to them.
static int take(inserter *in, gr_sums *sums, bool is_first)
{
    gr_job *job = in->job;
    if (is_first)
        return fetch(in, sums->g, sums->w);
    float *g = in->frame.arg[GR_G], *w = in->frame.arg[GR_W];
    int code = RG_GOOD;
    if (!on_host(job)) {
        g = rg_alloc(in->frame.buffer[GR_G].bytes);
        w = rg_alloc(in->frame.buffer[GR_W].bytes);
        code = fetch(in, g, w);
    }
    double since_s = rg_seconds();
    if (code == RG_GOOD)
        add(job, sums, g, w);
    lap(job, GR_ADD, since_s);
    if (!on_host(job)) {
        free(g);
        free(w);
    }
    return code;
}

static int run_batch(inserter *in)
{
    gr_job *job = in->job;
    double since_s = rg_seconds();
    int code = job->entry->variant->run(&in->frame.call), sticky = job->device->sync();
    lap(job, GR_INSERT, since_s);
    code = code == RG_OK ? sticky : code;
    return code == RG_OK ? RG_GOOD : device_failed(job, "inserting", code);
}

static int insert_rows(inserter *in, gr_sums *sums, int64_t first, int64_t step)
{
    gr_job *job = in->job;
    int64_t rows = (job->particles.n - first + step - 1) / step, k = job->k;
    for (int64_t begin = 0; begin < rows; begin += job->batch) {
        int64_t count = rows - begin < job->batch ? rows - begin : job->batch;
        in->first = first + begin * step;
        in->step = step;
        int code = ready(in, count);
        if (code == RG_GOOD)
            code = fill(in, sums, count);
        if (code == RG_GOOD)
            code = run_batch(in);
        if (code == RG_GOOD)
            code = take(in, sums, begin == 0);
        if (code != RG_GOOD)
            return code;
        in->done += count;
    }
    for (int64_t y = -k; y <= k; y++) // of one disc: 2 (stored in the circle) - the column x = 0
        sums->disc_pixels += (double)(2 * gr_row(k, y) - 1) * (double)rows;
    return RG_GOOD;
}

static void make_chunks(inserter *in)
{
    const gr_job *job = in->job;
    int64_t pixels = job->particles.side * job->particles.side;
    for (int c = 0; c < 3; c++) {
        in->chunk[c].picture = rg_alloc((size_t)(job->chunk * pixels) * sizeof(float));
        for (int a = 0; a < GR_G && !on_host(job); a++)
            in->chunk[c].input[a] = rg_alloc((size_t)(job->chunk * element_bytes(in, a)));
    }
}

static void free_chunks(inserter *in)
{
    for (int c = 0; c < 3; c++) {
        free(in->chunk[c].picture);
        for (int a = 0; a < GR_G && !on_host(in->job); a++)
            free(in->chunk[c].input[a]);
    }
}

int gr_insert(gr_job *job)
{
    inserter in = {.job = job};
    int64_t voxels = gr_voxels(job->k);
    for (int h = 0; h < job->halves; h++)
        job->sums[h] = (gr_sums){.g = rg_alloc((size_t)(2 * voxels) * sizeof(float)),
                                 .w = rg_alloc((size_t)voxels * sizeof(float))};
    make_chunks(&in);
    gr_prepare_make(&in.prepare, job->particles.side, job->padded, job->k);
    rg_progress_begin(&in.progress, "reconstruct", "images", (double)job->particles.n);
    int code = RG_GOOD;
    for (int h = 0; h < job->halves && code == RG_GOOD; h++)
        code = insert_rows(&in, &job->sums[h], h, job->halves);
    rg_progress_end(&in.progress);
    let_go(&in);
    gr_prepare_free(&in.prepare);
    free_chunks(&in);
    return code;
}

void gr_job_free(gr_job *job)
{
    for (int h = 0; h < 2; h++) {
        free(job->sums[h].g);
        free(job->sums[h].w);
        job->sums[h] = (gr_sums){0};
    }
    rg_particles_close(&job->particles);
}
