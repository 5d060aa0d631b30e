// SPDX-License-Identifier: MIT
// job_insert.c: on the host, particles in batches through the variant; its sums are added up here. Odd and even rows go in
// separate batches when half maps are asked for. A batch is filled chunk by chunk: while one chunk is prepared by all threads,
// one of them reads the next.
#include "reconstruct.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Images of a chunk as they are read.
typedef struct chunk {
    int64_t at, count; // images at .. at + count - 1 of the batch
    float *picture;
    double ctf2;
} chunk;

// One batch on its way.
typedef struct inserter {
    gr_job *job;
    gr_prepare prepare;
    rg_frame frame;
    chunk chunk[2];      // in turn: being read, being prepared
    int64_t first, step; // row of the batch's image 0, and from one image to the next
} inserter;

// Buffers for a batch of this many images, unless they are there already.
static int ready(inserter *in, int64_t images)
{
    gr_job *job = in->job;
    rg_shape shape = gr_shape(job, images);
    int code = rg_frame_make(&in->frame, job->entry, job->device, &shape, job->param, job->threads);
    if (code == RG_OK)
        code = rg_frame_prepare(&in->frame);
    return rg_frame_failed(&in->frame, NULL, code);
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

// For each operator S, M = S A^T.
void gr_rotations(const gr_job *job, const rg_particle *q, float *out)
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

void gr_progress(gr_job *job, int64_t images)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    job->done += images;
    rg_progress_at(&job->progress, (double)job->done);
    pthread_mutex_unlock(&lock);
}

// ---- filling a batch -----------------------------------------------------------------------------------------------------

static int read_chunk(inserter *in, chunk *c)
{
    gr_job *job = in->job;
    int64_t pixels = job->particles.side * job->particles.side;
    double since_s = rg_seconds();
    int code = RG_GOOD;
    for (int64_t i = 0; i < c->count && code == RG_GOOD; i++)
        code = rg_particles_image(&job->particles, in->first + (c->at + i) * in->step, c->picture + i * pixels);
    gr_lap(job, GR_READ, since_s);
    return code;
}

static void prepare_image(inserter *in, chunk *c, int64_t i)
{
    const gr_job *job = in->job;
    int64_t pixels = job->particles.side * job->particles.side, stored = gr_pixels(job->k), at = c->at + i;
    const rg_particle *q = &job->particles.row[in->first + at * in->step];
    gr_prepare_image(&in->prepare, c->picture + i * pixels, q->origin_x_px, q->origin_y_px, job->invert,
                     (float *)in->frame.arg[GR_IMAGE] + at * stored * 2);
    gr_rotations(job, q, (float *)in->frame.arg[GR_ROTATION] + at * job->n_operators * 9);
    if (job->ctf) {
        float *ctf = (float *)in->frame.arg[GR_CTF] + at * stored;
        double ctf2 = gr_prepare_ctf(&in->prepare, &q->ctf, job->particles.pixel_A, ctf);
#pragma omp atomic
        c->ctf2 += ctf2;
    }
}

// Step s reads chunk s and prepares chunk s - 1.
static int fill(inserter *in, gr_sums *sums, int64_t count)
{
    gr_job *job = in->job;
    int64_t chunks = (count + job->chunk - 1) / job->chunk;
    int code = RG_GOOD;
    for (int64_t s = 0; s <= chunks && code == RG_GOOD; s++) {
        chunk *next = &in->chunk[s % 2], *now = &in->chunk[(s + 1) % 2];
        int64_t at = s * job->chunk, prepared = s ? now->count : 0;
        double since_s = rg_seconds();
        *next = (chunk){.at = at, .count = count - at < job->chunk ? count - at : job->chunk, .picture = next->picture};
#pragma omp parallel num_threads(job->threads)
#pragma omp single
        {
#pragma omp task if (job->threads > 1)
            code = s < chunks ? read_chunk(in, next) : RG_GOOD;
#pragma omp taskloop grainsize(1) if (job->threads > 1)
            for (size_t i = 0; i < (size_t)prepared; i++) // a signed counter makes clang warn
                prepare_image(in, now, (int64_t)i);
        }
        if (s) {
            sums->ctf2 += now->ctf2;
            gr_lap(job, GR_PREPARE, since_s);
            gr_progress(job, prepared);
        }
    }
    return code;
}

// ---- running it ----------------------------------------------------------------------------------------------------------

static void take(inserter *in, gr_sums *sums)
{
    gr_job *job = in->job;
    int64_t voxels = gr_voxels(job->k);
    const float *g = in->frame.arg[GR_G], *w = in->frame.arg[GR_W];
    double since_s = rg_seconds();
#pragma omp parallel for num_threads(job->threads)
    for (int64_t i = 0; i < voxels; i++) {
        sums->g[2 * i] += g[2 * i];
        sums->g[2 * i + 1] += g[2 * i + 1];
        sums->w[i] += w[i];
    }
    gr_lap(job, GR_ADD, since_s);
}

static int run_batch(inserter *in)
{
    gr_job *job = in->job;
    double since_s = rg_seconds();
    int code = rg_frame_run(&in->frame);
    gr_lap(job, GR_INSERT, since_s);
    return rg_frame_failed(&in->frame, "inserting", code);
}

static int insert_rows(inserter *in, gr_sums *sums, gr_rows rows)
{
    gr_job *job = in->job;
    for (int64_t begin = 0; begin < rows.count; begin += job->batch) {
        int64_t count = rows.count - begin < job->batch ? rows.count - begin : job->batch;
        in->first = rows.first + begin * rows.step;
        in->step = rows.step;
        int code = ready(in, count);
        if (code == RG_GOOD)
            code = fill(in, sums, count);
        if (code == RG_GOOD)
            code = run_batch(in);
        if (code != RG_GOOD)
            return code;
        take(in, sums);
    }
    return RG_GOOD;
}

static int on_host(gr_job *job)
{
    inserter in = {.job = job};
    size_t voxels = (size_t)gr_voxels(job->k), pixels = (size_t)(job->particles.side * job->particles.side);
    int code = RG_GOOD;
    for (int c = 0; c < 2; c++)
        in.chunk[c].picture = rg_alloc((size_t)job->chunk * pixels * sizeof(float));
    gr_prepare_make(&in.prepare, job->particles.side, job->padded, job->k);
    for (int h = 0; h < job->halves && code == RG_GOOD; h++) {
        job->sums[h].g = rg_alloc(2 * voxels * sizeof(float));
        job->sums[h].w = rg_alloc(voxels * sizeof(float));
        code = insert_rows(&in, &job->sums[h], gr_rows_of(job, h, 0, 1));
    }
    rg_frame_free(&in.frame);
    gr_prepare_free(&in.prepare);
    for (int c = 0; c < 2; c++)
        free(in.chunk[c].picture);
    return code;
}

int gr_insert(gr_job *job)
{
    double since_s = rg_seconds();
    rg_progress_begin(&job->progress, "reconstruct", "images", (double)(job->past - job->first));
    int code = job->gpus ? gr_gpus_insert(job) : on_host(job);
    rg_progress_end(&job->progress);
    for (int h = 0; h < job->halves; h++)
        for (int64_t y = -job->k; y <= job->k; y++) // of one disc: 2 (stored in the circle) - the column x = 0
            job->sums[h].disc_pixels += (double)(2 * gr_row(job->k, y) - 1) * (double)gr_rows_of(job, h, 0, 1).count;
    code = gr_ranks_agree(job, code);
    if (code == RG_GOOD && job->ranks > 1)
        code = gr_ranks_sum(job);
    job->region_s = rg_seconds() - since_s;
    return code;
}

void gr_job_free(gr_job *job)
{
    gr_gpus_free(job);
    for (int h = 0; h < 2; h++) {
        free(job->sums[h].g);
        free(job->sums[h].w);
        job->sums[h] = (gr_sums){0};
    }
    rg_particles_close(&job->particles);
}
