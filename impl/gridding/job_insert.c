// SPDX-License-Identifier: MIT
// job_insert.c: particles in batches through the variant; its sums are added up here. Odd and even rows go in separate batches
// when half maps are asked for.
#include "../../data/particles.h"
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// One batch on its way: the buffers of the call, and where the host writes what goes into them.
typedef struct inserter {
    gr_job *job;
    gr_prepare prepare;
    rg_frame frame;
    bool made;
    rg_shape shape;
    float *input[GR_G]; // image, CTF, (no weights), rotation: the frame's own buffers on the host, else copies
    float *picture;     // images as they are read, `chunk` of them
    int64_t chunk;
    float *g, *w;       // of one batch, on the host
    rg_progress progress;
    int64_t done;
} inserter;

static bool on_host(const gr_job *job) { return job->device == rg_device_cpu(); }

static double lap(gr_job *job, gr_stage stage, double since_s)
{
    double now = rg_seconds();
    job->stage_s[stage] += now - since_s;
    return now;
}

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
    for (int a = 0; a < GR_G && on_host(job); a++)
        in->input[a] = in->frame.arg[a];
    in->g = on_host(job) ? in->frame.arg[GR_G] : in->g;
    in->w = on_host(job) ? in->frame.arg[GR_W] : in->w;
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

// Rows first, first + step, ...: `count` of them read and prepared as images at, at + 1, ... of the batch.
static int fill(inserter *in, gr_sums *sums, int64_t first, int64_t step, int64_t at, int64_t count)
{
    gr_job *job = in->job;
    int64_t pixels = job->particles.side * job->particles.side, stored = gr_pixels(job->k);
    double since_s = rg_seconds(), ctf2 = 0;
    for (int64_t i = 0; i < count; i++) {
        int code = rg_particles_image(&job->particles, first + i * step, in->picture + i * pixels);
        if (code != RG_GOOD)
            return code;
    }
    since_s = lap(job, GR_READ, since_s);
#pragma omp parallel for num_threads(job->threads) schedule(dynamic) reduction(+ : ctf2)
    for (int64_t i = 0; i < count; i++) {
        const rg_particle *q = &job->particles.row[first + i * step];
        gr_prepare_image(&in->prepare, in->picture + i * pixels, q->origin_x_px, q->origin_y_px, job->invert,
                         in->input[GR_IMAGE] + (at + i) * stored * 2);
        if (job->ctf)
            ctf2 += gr_prepare_ctf(&in->prepare, &q->ctf, job->particles.pixel_A, in->input[GR_CTF] + (at + i) * stored);
        rotations(job, q, in->input[GR_ROTATION] + (at + i) * job->n_operators * 9);
    }
    sums->ctf2 += ctf2;
    lap(job, GR_PREPARE, since_s);
    return RG_GOOD;
}

static int move_in(inserter *in)
{
    int code = RG_OK;
    for (int a = 0; a < GR_G && code == RG_OK && !on_host(in->job); a++)
        if (in->frame.buffer[a].bytes)
            code = rg_buffer_put(&in->frame.buffer[a], in->input[a]);
    return code;
}

static int move_out(inserter *in)
{
    if (on_host(in->job))
        return RG_OK;
    int code = rg_buffer_get(&in->frame.buffer[GR_G], in->g);
    return code == RG_OK ? rg_buffer_get(&in->frame.buffer[GR_W], in->w) : code;
}

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

static int run_batch(inserter *in, gr_sums *sums)
{
    gr_job *job = in->job;
    double since_s = rg_seconds();
    int code = move_in(in);
    since_s = lap(job, GR_COPY, since_s);
    if (code == RG_OK)
        code = job->entry->variant->run(&in->frame.call);
    int sticky = job->device->sync();
    since_s = lap(job, GR_INSERT, since_s);
    if (code == RG_OK)
        code = sticky;
    if (code == RG_OK)
        code = move_out(in);
    since_s = lap(job, GR_COPY, since_s);
    if (code != RG_OK)
        return device_failed(job, "inserting", code);
    add(job, sums, in->g, in->w);
    lap(job, GR_ADD, since_s);
    return RG_GOOD;
}

static int insert_rows(inserter *in, gr_sums *sums, int64_t first, int64_t step)
{
    gr_job *job = in->job;
    int64_t rows = (job->particles.n - first + step - 1) / step;
    for (int64_t begin = 0; begin < rows; begin += job->batch) {
        int64_t count = rows - begin < job->batch ? rows - begin : job->batch;
        int code = ready(in, count);
        for (int64_t at = 0; at < count && code == RG_GOOD; at += in->chunk) {
            int64_t some = count - at < in->chunk ? count - at : in->chunk;
            code = fill(in, sums, first + (begin + at) * step, step, at, some);
            rg_progress_at(&in->progress, (double)(in->done + at + some));
        }
        if (code == RG_GOOD)
            code = run_batch(in, sums);
        if (code != RG_GOOD)
            return code;
        in->done += count;
    }
    int64_t k = job->k;
    for (int64_t y = -k; y <= k; y++) // of one disc: 2 (stored in the circle) - the column x = 0
        sums->disc_pixels += (double)(2 * gr_row(k, y) - 1) * (double)rows;
    return RG_GOOD;
}

static void stage_buffers(inserter *in)
{
    const gr_job *job = in->job;
    rg_shape shape = gr_shape(job, job->batch);
    for (int a = 0; a <= GR_W; a++) {
        float *buffer = rg_alloc((size_t)job->algo->arg[a].count(&shape) * sizeof(float));
        if (a < GR_G)
            in->input[a] = buffer;
        else if (a == GR_G)
            in->g = buffer;
        else
            in->w = buffer;
    }
}

int gr_insert(gr_job *job)
{
    inserter in = {.job = job, .chunk = 8 * (int64_t)job->threads};
    int64_t pixels = job->particles.side * job->particles.side, voxels = gr_voxels(job->k);
    for (int h = 0; h < job->halves; h++)
        job->sums[h] = (gr_sums){.g = rg_alloc((size_t)(2 * voxels) * sizeof(float)),
                                 .w = rg_alloc((size_t)voxels * sizeof(float))};
    in.chunk = in.chunk < job->batch ? in.chunk : job->batch;
    in.picture = rg_alloc((size_t)(in.chunk * pixels) * sizeof *in.picture);
    if (!on_host(job))
        stage_buffers(&in);
    gr_prepare_make(&in.prepare, job->particles.side, job->padded, job->k);
    rg_progress_begin(&in.progress, "reconstruct", "images", (double)job->particles.n);
    int code = RG_GOOD;
    for (int h = 0; h < job->halves && code == RG_GOOD; h++)
        code = insert_rows(&in, &job->sums[h], h, job->halves);
    rg_progress_end(&in.progress);
    let_go(&in);
    gr_prepare_free(&in.prepare);
    free(in.picture);
    for (int a = 0; a < GR_G && !on_host(job); a++)
        free(in.input[a]);
    if (!on_host(job)) {
        free(in.g);
        free(in.w);
    }
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
