// SPDX-License-Identifier: MIT
// insert.c: particles in batches through the variant, odd and even rows apart when half maps are wanted; here on the host,
// gpu.c on GPUs. A batch is filled chunk by chunk: while one is prepared by all threads, the next is read.
#include "../pipeline/ranks.h"
#include "reconstruct.h"

#include <stdlib.h>
#include <string.h>

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

// ---- reading -------------------------------------------------------------------------------------------------------------

static void *open_reader(const void *context)
{
    rg_particles *reader = rg_alloc(sizeof *reader);
    *reader = rg_particles_reader(&((const gr_job *)context)->particles);
    return reader;
}

static void close_reader(void *reader)
{
    rg_particles_reader_close(reader);
    free(reader);
}

static int read_image(const void *context, void *reader, int64_t row, void *const part[PL_PARTS], int64_t at)
{
    const gr_job *job = context;
    const rg_particle *q = &job->particles.row[row];
    const double step = 1 / ((double)job->padded * job->particles.pixel_A);
    double *origin = part[GR_ORIGINS];
    int code = rg_particles_image(reader, row, (float *)part[GR_PICTURES] + at * job->particles.side * job->particles.side);
    rotations(job, q, (float *)part[GR_ROTATIONS] + at * job->n_operators * 9);
    origin[2 * at] = q->origin_x_px;
    origin[2 * at + 1] = q->origin_y_px;
    if (job->ctf)
        ((rg_ctf *)part[GR_CTFS])[at] = gr_ctf_in_steps(&q->ctf, step);
    return code;
}

// ---- on the host ---------------------------------------------------------------------------------------------------------

// A batch on its way.
typedef struct inserter {
    gr_job *job;
    pl_member *member;
    gr_prepare prepare;
    rg_frame frame;
    pl_feed feed;
} inserter;

// Buffers for a batch of this many images, unless they are there already.
static int ready(inserter *in, int64_t images)
{
    const gr_job *job = in->job;
    const double since_s = rg_seconds();
    const rg_shape shape = gr_shape(job, images);
    int code = rg_frame_make(&in->frame, job->entry, in->member->device, &shape, job->param, job->threads);
    code = code ? code : rg_frame_prepare(&in->frame);
    pl_lap(in->member, PL_SETUP, since_s);
    return rg_frame_failed(&in->frame, NULL, code);
}

// A chunk becomes images at .. of the batch.
static void prepare(inserter *in, const pl_slot *s, int64_t at, double *ctf2)
{
    const gr_job *job = in->job;
    const int64_t pixels = job->particles.side * job->particles.side, stored = gr_pixels(job->k);
    const double since_s = rg_seconds();
    double *square = rg_alloc((size_t)s->n * sizeof *square);
    memcpy((float *)in->frame.arg[GR_ROTATION] + at * job->n_operators * 9, s->part[GR_ROTATIONS],
           (size_t)(s->n * job->n_operators * 9) * sizeof(float));
#pragma omp parallel for num_threads(job->threads) schedule(dynamic, 1)
    for (int64_t i = 0; i < s->n; i++) {
        const double *origin = (const double *)s->part[GR_ORIGINS] + 2 * i;
        gr_prepare_image(&in->prepare, (const float *)s->part[GR_PICTURES] + i * pixels, origin[0], origin[1], job->invert,
                         (float *)in->frame.arg[GR_IMAGE] + 2 * (at + i) * stored);
        if (job->ctf)
            square[i] = gr_prepare_ctf(&in->prepare, &job->particles.row[s->row[i]].ctf, job->particles.pixel_A,
                                       gr_applied(&job->particles), (float *)in->frame.arg[GR_IMAGE] + 2 * (at + i) * stored,
                                       (float *)in->frame.arg[GR_CTF] + (at + i) * stored);
    }
    for (int64_t i = 0; i < s->n; i++)
        *ctf2 += square[i];
    free(square);
    pl_lap(in->member, PL_PREPARE, since_s);
}

static int fill(inserter *in, int64_t count, double *ctf2)
{
    int code = ready(in, count);
    pl_slot *s;
    for (int64_t at = 0, n = 0; at < count && code == RG_GOOD; at += n) {
        code = pl_feed_next(&in->feed, &s);
        if (code != RG_GOOD)
            break;
        n = s->n;
        prepare(in, s, at, ctf2);
        pl_team_progress(&in->job->team, n);
        pl_feed_release(&in->feed, s);
    }
    return code;
}

static int run_batch(inserter *in, rg_buffer sum[2])
{
    const gr_job *job = in->job;
    const double since_s = rg_seconds();
    int code = rg_frame_failed(&in->frame, "inserting", rg_frame_run(&in->frame));
    pl_lap(in->member, PL_INSERT, since_s);
    const double add_s = rg_seconds();
    pl_add(in->member, NULL, 2 * gr_voxels(job->k), in->frame.arg[GR_G], sum[0].base);
    pl_add(in->member, NULL, gr_voxels(job->k), in->frame.arg[GR_W], sum[1].base);
    pl_lap(in->member, PL_ADD, add_s);
    return code;
}

static int insert_rows(inserter *in, int half)
{
    gr_job *job = in->job;
    int64_t rows, *row = gr_rows(job, half, 0, 1, &rows);
    int code = rows ? pl_feed_begin(&in->feed, in->member, row, rows, job->chunk, gr_slots(job)) : RG_GOOD;
    for (int64_t begin = 0; begin < rows && code == RG_GOOD; begin += job->batch) {
        code = fill(in, rows - begin < job->batch ? rows - begin : job->batch, &job->ctf2[half]);
        if (code == RG_GOOD)
            code = run_batch(in, gr_sum_of(job, 0, half));
    }
    free(row);
    return code;
}

static int on_host(pl_member *m, void *context)
{
    gr_job *job = context;
    inserter in = {.job = job, .member = m};
    int code = gr_make_sums(job, m);
    gr_prepare_make(&in.prepare, job->particles.side, job->padded, job->k);
    for (int h = 0; h < job->halves && code == RG_GOOD; h++)
        code = insert_rows(&in, h);
    pl_feed_end(&in.feed);
    rg_frame_free(&in.frame);
    gr_prepare_free(&in.prepare);
    return code;
}

// ---- on all devices ------------------------------------------------------------------------------------------------------

int gr_make_sums(gr_job *job, pl_member *m)
{
    const size_t bytes = (size_t)gr_voxels(job->k) * sizeof(float);
    const double since_s = rg_seconds();
    int error = RG_OK;
    for (int i = 0; i < 2 * job->halves && !error; i++) {
        rg_buffer *b = gr_sum_of(job, m->index, 0) + i;
        error = rg_buffer_make(b, m->device, i % 2 ? bytes : 2 * bytes, sizeof(float), false);
        error = error ? error : m->device->fill(b->base, 0, b->bytes);
    }
    pl_lap(m, PL_SETUP, since_s);
    return error ? rg_fail(RG_LACKS, "%s: no memory for the sums", m->device->name) : RG_GOOD;
}

int gr_insert(gr_job *job)
{
    const double since_s = rg_seconds();
    pl_team *t = &job->team;
    const size_t pixels = (size_t)(job->particles.side * job->particles.side);
    job->source = (pl_source){.path = job->particles.path, .context = job, .open = open_reader, .close = close_reader,
                              .read = read_image,
                              .part_bytes = {[GR_PICTURES] = pixels * sizeof(float),
                                             [GR_ROTATIONS] = (size_t)job->n_operators * 9 * sizeof(float),
                                             [GR_ORIGINS] = 2 * sizeof(double), [GR_CTFS] = sizeof(rg_ctf)}};
    t->source = &job->source;
    job->sum = rg_alloc((size_t)t->n * GR_SUMS * sizeof *job->sum);
    job->ctf2 = rg_alloc((size_t)t->n * 2 * sizeof *job->ctf2);
    rg_progress_begin(&t->progress, "reconstruct", "images", (double)(job->past - job->first));
    int code = pl_team_run(t, gr_on_gpu(job) ? gr_insert_on_gpu : on_host, job);
    rg_progress_end(&t->progress);
    if (code == RG_GOOD)
        code = pl_merge(t, job->sum, GR_SUMS);
    for (int i = 2; i < 2 * t->n; i++)
        job->ctf2[i % 2] += job->ctf2[i];
    if (code == RG_GOOD)
        rg_ranks_sum(job->ctf2, 2);
    t->region_s = rg_seconds() - since_s;
    return code;
}

static int release_sums(pl_member *m, void *context)
{
    gr_job *job = context;
    for (int i = 0; i < GR_SUMS && job->sum; i++)
        rg_buffer_free(&job->sum[GR_SUMS * m->index + i]);
    return RG_GOOD;
}

void gr_job_free(gr_job *job)
{
    if (job->sum)
        pl_team_run(&job->team, release_sums, job);
    free(job->sum);
    free(job->ctf2);
    job->sum = NULL;
    job->ctf2 = NULL;
    pl_team_close(&job->team);
    rg_particles_close(&job->particles);
}
