// SPDX-License-Identifier: MIT
// insert.c: inserts particles in batches with the variant, odd and even rows separately for half maps; here on the host, in
// gpu.c on GPUs. A batch is filled chunk by chunk: while all threads prepare one, the next is read.
#include "../pipeline/ranks.h"
#include "reconstruct.h"

#if HAVE_OPENMP
#include <omp.h>
#else
#define omp_get_thread_num() 0
#endif

int rc_set_symmetry(rc_job *job, const char *name, bool per_operator) {
    const char *why = gr_symmetry_make(&job->symmetry, name);
    if (why) return rg_fail(RG_USAGE, "--sym %s: %s", name, why);
    gr_lattice_make(&job->lattice, &job->symmetry);
    job->use_lattice = !per_operator && job->lattice.n_lattice > 1;
    job->n_operators = job->use_lattice ? job->lattice.n_coset : job->symmetry.n;
    return RG_GOOD;
}

// M = S A^T for each operator S.
static void rotations(const rc_job *job, const rg_particle *q, float *out) {
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

static void *open_reader(const void *context) { return rg_particles_reader(&((const rc_job *)context)->particles); }

static int read_image(const void *context, void *reader, int64_t row, void *const part[PL_PARTS], int64_t at) {
    const rc_job *job = context;
    const rg_particle *q = &job->particles.row[row];
    const double step = 1 / ((double)job->padded * job->particles.pixel_A);
    double *origin = part[GR_ORIGINS];
    int code = rg_particles_image(reader, row, (float *)part[GR_PICTURES] + at * job->particles.side * job->particles.side);
    rotations(job, q, (float *)part[GR_ROTATIONS] + at * job->n_operators * 9);
    origin[2 * at] = q->origin_x_px;
    origin[2 * at + 1] = q->origin_y_px;
    if (job->ctf) ((rg_ctf *)part[GR_CTFS])[at] = rc_ctf_in_steps(&q->ctf, step);
    return code;
}

// ---- on the host ---------------------------------------------------------------------------------------------------------

// A batch in flight. Variants write the sums whole, so the first batch of a half goes straight into the half's sums. Later ones
// are added there by a variant that can; others insert into a volume of their own, which is then added.
typedef struct inserter {
    rc_job *job;
    pl_member *member;
    rc_prepare prepare;
    rg_buffer image, ctf, rotation, later[2];
    rg_frame frame;
    pl_feed feed;
} inserter;

static int make_argument(const inserter *in, rg_buffer *b, int which) {
    const rg_shape shape = rc_shape(in->job, in->job->batch);
    const size_t bytes = (size_t)in->job->algo->arg[which].count(&shape) * sizeof(float);
    return rg_buffer_make(b, in->member->device, bytes, sizeof(float), false, in->job->algo->arg[which].name);
}

static int make_room(inserter *in) {
    const rc_job *job = in->job;
    const double since_s = rg_seconds();
    int code = rc_prepare_make(&in->prepare, job->particles.side, job->padded, job->k, job->threads);
    int error = make_argument(in, &in->image, GR_IMAGE);
    error = error ? error : make_argument(in, &in->ctf, GR_CTF);
    error = error ? error : make_argument(in, &in->rotation, GR_ROTATION);
    pl_lap(in->member, PL_SETUP, since_s);
    return code != RG_GOOD ? code : pl_failed(in->member, "making room for images", error);
}

static void free_room(inserter *in) {
    rg_buffer *all[] = {&in->image, &in->ctf, &in->rotation, &in->later[0], &in->later[1]};
    for (int i = 0; i < RG_COUNT(all); i++) rg_buffer_free(all[i]);
    rc_prepare_free(&in->prepare);
    rg_frame_free(&in->frame);
}

// Turns a chunk into images of the batch, from `at` on.
static void prepare(inserter *in, const pl_slot *s, int64_t at, double *ctf2) {
    const rc_job *job = in->job;
    const int64_t pixels = job->particles.side * job->particles.side, stored = gr_pixels(job->k);
    const double since_s = rg_seconds();
    double *square = rg_alloc((size_t)s->n * sizeof *square);
    float *image = (float *)in->image.base + 2 * at * stored, *ctf = (float *)in->ctf.base + (job->ctf ? at * stored : 0);
    memcpy((float *)in->rotation.base + at * job->n_operators * 9, s->part[GR_ROTATIONS],
        (size_t)(s->n * job->n_operators * 9) * sizeof(float));
#pragma omp parallel for num_threads(job->threads) schedule(dynamic, 1)
    for (int64_t i = 0; i < s->n; i++) {
        const double *origin = (const double *)s->part[GR_ORIGINS] + 2 * i;
        rc_prepare_image(&in->prepare, omp_get_thread_num(), (const float *)s->part[GR_PICTURES] + i * pixels, origin[0],
            origin[1], job->invert, image + 2 * i * stored);
        if (job->ctf)
            square[i] = rc_prepare_ctf(&in->prepare, &job->particles.row[s->row[i]].ctf, job->particles.pixel_A,
                rc_applied(&job->particles), image + 2 * i * stored, ctf + i * stored);
    }
    for (int64_t i = 0; i < s->n; i++) *ctf2 += square[i];
    free(square);
    pl_lap(in->member, PL_PREPARE, since_s);
}

static int fill(inserter *in, int64_t count, double *ctf2) {
    int code = RG_GOOD;
    pl_slot *s;
    for (int64_t at = 0, n = 0; at < count && code == RG_GOOD; at += n) {
        code = pl_feed_next(&in->feed, &s);
        if (code != RG_GOOD) break;
        n = s->n;
        prepare(in, s, at, ctf2);
        pl_team_progress(&in->job->team, n);
        pl_feed_release(&in->feed, s);
    }
    return code;
}

static int make_later(inserter *in) {
    const double since_s = rg_seconds();
    int error = RG_OK;
    for (int i = 0; i < 2 && !error && !in->later[i].base; i++) error = make_argument(in, &in->later[i], GR_G + i);
    pl_lap(in->member, PL_SETUP, since_s);
    return pl_failed(in->member, "making room for sums", error);
}

static int insert(inserter *in, int64_t count, const rg_buffer to[2], bool add) {
    const rc_job *job = in->job;
    const double since_s = rg_seconds();
    const rg_shape shape = rc_shape(job, count);
    rg_frame *f = &in->frame;
    void *const arg[RG_ARGS_MAX] = {[GR_IMAGE] = in->image.base,
        [GR_CTF] = in->ctf.base,
        [GR_ROTATION] = in->rotation.base,
        [GR_G] = to[0].base,
        [GR_W] = to[1].base};
    int code = rg_frame_borrow(f, job->entry, in->member->device, &shape, add ? job->adding : job->param, job->threads, arg);
    code = code ? code : add ? rg_frame_add(f) : rg_frame_run(f);
    pl_lap(in->member, PL_INSERT, since_s);
    pl_need(in->member, PL_INSERT, job->entry, &shape, f->param);
    return rg_frame_failed(f, NULL, code);
}

static int insert_apart(inserter *in, int64_t count, const rg_buffer sum[2]) {
    const int64_t voxels = gr_voxels(in->job->k);
    int code = make_later(in);
    code = code == RG_GOOD ? insert(in, count, in->later, false) : code;
    const double since_s = rg_seconds();
    int error = code == RG_GOOD ? pl_add(in->member, NULL, 2 * voxels, in->later[0].base, sum[0].base) : RG_OK;
    if (code == RG_GOOD && !error) error = pl_add(in->member, NULL, voxels, in->later[1].base, sum[1].base);
    pl_lap(in->member, PL_ADD, since_s);
    return code == RG_GOOD ? pl_failed(in->member, "adding", error) : code;
}

static int insert_rows(inserter *in, int half, const int64_t *row, int64_t rows) {
    rc_job *job = in->job;
    const rg_buffer *sum = rc_sum_of(&job->run, in->member->index, half);
    int code = rows ? pl_feed_begin(&in->feed, in->member, row, rows, job->chunk, rc_slots(job)) : RG_GOOD;
    for (int part = 0; part < 2 && !rows && code == RG_GOOD; part++)
        code = pl_failed(in->member, "clearing the sums", in->member->device->fill(sum[part].base, 0, sum[part].bytes));
    for (int64_t begin = 0; begin < rows && code == RG_GOOD; begin += job->batch) {
        const int64_t count = rows - begin < job->batch ? rows - begin : job->batch;
        code = fill(in, count, &job->ctf2[half]);
        if (code == RG_GOOD) code = begin && !job->adds ? insert_apart(in, count, sum) : insert(in, count, sum, begin > 0);
    }
    return code;
}

static int on_host(pl_member *m, void *context) {
    rc_job *job = context;
    inserter in = {.job = job, .member = m};
    int code = rc_make_sums(&job->run, m, 0, job->run.halves);
    code = code == RG_GOOD ? make_room(&in) : code;
    int64_t *row[2] = {NULL, NULL}, rows; // the feed may read these until it ends
    for (int h = 0; h < job->run.halves && code == RG_GOOD; h++) {
        row[h] = rc_rows(job, h, 0, 1, &rows);
        code = insert_rows(&in, h, row[h], rows);
    }
    pl_feed_end(&in.feed);
    free(row[0]);
    free(row[1]);
    free_room(&in);
    return code;
}

// ---- on all devices ------------------------------------------------------------------------------------------------------

int rc_insert_all(rc_run *run) {
    rc_job *job = (rc_job *)run;
    const double since_s = rg_seconds();
    pl_team *t = &job->team;
    const size_t pixels = (size_t)(job->particles.side * job->particles.side);
    job->source = (pl_source){.path = job->particles.path,
        .context = job,
        .open = open_reader,
        .close = rg_particles_reader_close,
        .read = read_image,
        .part_bytes = {[GR_PICTURES] = pixels * sizeof(float),
            [GR_ROTATIONS] = (size_t)job->n_operators * 9 * sizeof(float),
            [GR_ORIGINS] = 2 * sizeof(double),
            [GR_CTFS] = sizeof(rg_ctf)}};
    t->source = &job->source;
    run->particles = &job->particles;
    run->team = t;
    run->parts = 2;
    run->floats[0] = 2 * gr_voxels(job->k);
    run->floats[1] = gr_voxels(job->k);
    run->cleared = rc_on_gpu(job); // because calls add to them
    job->ctf2 = rg_alloc((size_t)t->n * 2 * sizeof *job->ctf2);
    int code = rc_insert(run, rc_on_gpu(job) ? rc_insert_on_gpu : on_host);
    for (int i = 2; i < 2 * t->n; i++) job->ctf2[i % 2] += job->ctf2[i];
    if (code == RG_GOOD) rg_ranks_sum(job->ctf2, 2);
    t->region_s = rg_seconds() - since_s;
    return code;
}

void rc_job_free(rc_job *job) {
    rc_free_sums(&job->run);
    free(job->ctf2);
    job->ctf2 = NULL;
    pl_team_close(&job->team);
    rg_particles_close(&job->particles);
}
