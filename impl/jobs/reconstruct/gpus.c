// SPDX-License-Identifier: MIT
// job_gpus.c: the job on one or more GPUs of this machine. Rows are dealt in equal blocks, one volume a GPU; the first one adds
// up the volumes of the others, copied from GPU to GPU, and makes the maps. Emulated GPUs take their turns.
#include "stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const gr_device_steps *steps_of(const rg_device *device)
{
#if HAVE_CUDA
    return device->is_emulated ? &gr_steps_emulated : &gr_steps_gpu;
#else
    (void)device;
    return &gr_steps_emulated;
#endif
}

static int failed(const gr_worker *w, const char *doing, int code)
{
    return code == RG_OK ? RG_GOOD : rg_fail(RG_WRONG, "%s: %s: %s", w->device->name, doing, w->device->error(code));
}

// ---- memory --------------------------------------------------------------------------------------------------------------

static double map_bytes(const gr_job *job, int64_t side)
{
    double n = (double)job->padded, half = (double)(side / 2), voxels = (double)side * (double)side * (double)side;
    return 2 * 8 * n * n * (double)(job->padded / 2 + 1) + 8 * (3 * half * half + 1) + 4 * voxels;
}

double gr_gpu_bytes(const gr_job *job, int64_t side, int64_t images)
{
    rg_shape shape = gr_shape(job, images), none = gr_shape(job, 0);
    double frame = (double)rg_frame_bytes(job->entry, &shape, job->param), inputs = 0;
    double volume = 12 * (double)gr_voxels(job->k);
    for (int a = 0; a < GR_G; a++)
        inputs += 4 * (double)(job->algo->arg[a].count(&shape) - job->algo->arg[a].count(&none));
    double room = (double)steps_of(job->device)->lane_room(job->padded, job->chunk);
    double lanes = GR_LANES * (2 * room + (double)job->chunk * (4 * (double)side * (double)side + 72));
    double inserting = frame + inputs + lanes, finishing = volume > map_bytes(job, side) ? volume : map_bytes(job, side);
    return job->halves * volume + (inserting > finishing ? inserting : finishing);
}

double gr_pinned_bytes(const gr_job *job)
{
    double each = 4 * (double)(job->particles.side * job->particles.side) + 36.0 * job->n_operators + 16 + sizeof(rg_ctf);
    return (GR_READERS + GR_LANES) * (double)job->chunk * each;
}

// ---- inserting -----------------------------------------------------------------------------------------------------------

static void *work(void *of)
{
    gr_worker *w = of;
    char name[16], why[200];
    snprintf(name, sizeof name, "gpu%d", w->index);
    if (w->job->gpus > 1 && !w->device->is_emulated) // a GPU belongs to a thread
        w->device = rg_device_open(name, why);
    if (!w->device)
        w->code = rg_fail(RG_LACKS, "%s: %s", name, why);
    else
        gr_stream(w);
    return NULL;
}

static void run_all(gr_job *job)
{
    pthread_t thread[64];
    bool together = job->gpus > 1 && !job->device->is_emulated;
    for (int i = 0; i < job->gpus; i++) {
        if (!together)
            work(&job->worker[i]);
        else if (pthread_create(&thread[i], NULL, work, &job->worker[i]))
            exit(rg_fail(RG_LACKS, "no thread for gpu%d", i));
    }
    for (int i = 0; i < job->gpus && together; i++)
        pthread_join(thread[i], NULL);
}

// The sums of every GPU into those of the first, one after another: the order is always the same.
static int join(gr_job *job)
{
    gr_worker *first = &job->worker[0];
    size_t voxels = (size_t)gr_voxels(job->k);
    float *room = job->gpus > 1 ? first->device->alloc(2 * voxels * sizeof *room) : NULL;
    int code = job->gpus > 1 && !room ? RG_E_STATE : RG_OK;
    for (int i = 0; i < job->gpus; i++)
        for (int h = 0; h < job->halves; h++) {
            gr_worker *w = &job->worker[i];
            job->sums[h].ctf2 += w->ctf2[h];
            for (int part = 0; part < 2 && i > 0 && code == RG_OK; part++) {
                size_t n = part ? voxels : 2 * voxels;
                code = first->device->move(room, part ? w->w[h] : w->g[h], n * sizeof *room);
                if (code == RG_OK)
                    code = first->steps->add(NULL, (int64_t)n, room, part ? first->w[h] : first->g[h]);
                if (code == RG_OK)
                    code = first->device->sync();
            }
        }
    if (room)
        first->device->release(room);
    return failed(first, "adding the sums of the GPUs", code);
}

// The row that comes first of those that could not be read is read again, to say why.
static int complain(gr_job *job)
{
    int64_t row = -1;
    int code = RG_GOOD;
    for (int i = 0; i < job->gpus; i++) {
        const gr_worker *w = &job->worker[i];
        code = w->code > code ? w->code : code;
        row = w->bad_row >= 0 && (row < 0 || w->bad_row < row) ? w->bad_row : row;
    }
    if (row >= 0) {
        float *image = rg_alloc((size_t)(job->particles.side * job->particles.side) * sizeof *image);
        if (rg_particles_image(&job->particles, row, image) == RG_GOOD)
            rg_fail(RG_USAGE, "%s: row %lld could not be read at first; the file is changing", job->particles.path,
                    (long long)row + 1);
        free(image);
    }
    return code;
}

int gr_gpus_insert(gr_job *job)
{
    job->worker = rg_alloc((size_t)job->gpus * sizeof *job->worker);
    for (int i = 0; i < job->gpus; i++) {
        gr_worker *w = &job->worker[i];
        *w = (gr_worker){.job = job, .index = i, .device = job->device, .steps = steps_of(job->device), .bad_row = -1};
        for (int h = 0; h < job->halves; h++)
            w->rows[h] = gr_rows_of(job, h, i, job->gpus);
    }
    run_all(job);
    int code = complain(job);
    for (int i = 0; i < job->gpus; i++) // of several GPUs, the one that was at it longest
        for (int s = 0; s < GR_STAGES; s++)
            if (job->worker[i].stage_s[s] > job->stage_s[s])
                job->stage_s[s] = job->worker[i].stage_s[s];
    double since_s = rg_seconds();
    if (code == RG_GOOD)
        code = join(job);
    gr_lap(job, GR_ADD, since_s);
    return code;
}

// ---- what is done with the sums, on the first GPU ------------------------------------------------------------------------

static int exchange(gr_job *job, bool to_host)
{
    gr_worker *w = &job->worker[0];
    size_t bytes = (size_t)gr_voxels(job->k) * sizeof(float);
    int code = RG_OK;
    for (int h = 0; h < job->halves && code == RG_OK; h++) {
        gr_sums *s = &job->sums[h];
        if (to_host) {
            s->g = s->g ? s->g : rg_alloc(2 * bytes);
            s->w = s->w ? s->w : rg_alloc(bytes);
            code = w->device->download(s->g, w->g[h], 2 * bytes);
            code = code == RG_OK ? w->device->download(s->w, w->w[h], bytes) : code;
        } else {
            code = w->device->upload(w->g[h], s->g, 2 * bytes);
            code = code == RG_OK ? w->device->upload(w->w[h], s->w, bytes) : code;
        }
    }
    return failed(w, "copying the sums", code);
}

int gr_gpus_fetch(gr_job *job) { return exchange(job, true); }
int gr_gpus_put(gr_job *job) { return exchange(job, false); }

int gr_gpus_lattice(gr_job *job, int half)
{
    gr_worker *w = &job->worker[0];
    size_t bytes = (size_t)gr_voxels(job->k) * sizeof(float);
    int operators[24 * 9];
    for (int l = 0; l < job->lattice.n_lattice; l++)
        for (int i = 0; i < 9; i++)
            operators[9 * l + i] = (int)job->symmetry.matrix[job->lattice.lattice[l]][i];
    float *g = w->device->alloc(2 * bytes), *weight = w->device->alloc(bytes);
    int code = g && weight ? RG_OK : RG_E_STATE;
    if (code == RG_OK)
        code = w->steps->lattice(NULL, job->k, operators, job->lattice.n_lattice, w->g[half], w->w[half], g, weight);
    if (code == RG_OK)
        code = w->device->sync();
    w->device->release(code == RG_OK ? w->g[half] : g);
    w->device->release(code == RG_OK ? w->w[half] : weight);
    if (code == RG_OK) {
        w->g[half] = g;
        w->w[half] = weight;
    }
    return failed(w, "applying the operators of the grid", code);
}

int gr_gpus_add_halves(gr_job *job)
{
    gr_worker *w = &job->worker[0];
    int64_t voxels = gr_voxels(job->k);
    int code = w->steps->add(NULL, 2 * voxels, w->g[1], w->g[0]);
    if (code == RG_OK)
        code = w->steps->add(NULL, voxels, w->w[1], w->w[0]);
    return failed(w, "adding the halves", code == RG_OK ? w->device->sync() : code);
}

int gr_gpus_map(gr_job *job, int half, double wiener, float *map)
{
    gr_worker *w = &job->worker[0];
    const rg_device *d = w->device;
    int64_t side = job->particles.side, n;
    double *factor = gr_factors(job, &n);
    size_t bytes = (size_t)(side * side * side) * sizeof *map, factors = (size_t)n * sizeof *factor;
    size_t grid = (size_t)job->padded * (size_t)job->padded * (size_t)(job->padded / 2 + 1) * 2 * sizeof *map;
    float *out = d->alloc(bytes), *room = d->alloc(grid);
    double *table = d->alloc(factors);
    gr_map_call call = {.k = job->k, .padded = job->padded, .side = side, .g = w->g[half], .w = w->w[half], .wiener = wiener,
                        .grid = room, .factor = table, .map = out};
    int code = out && room && table ? d->upload(table, factor, factors) : RG_E_STATE;
    if (code == RG_OK)
        code = w->steps->map(NULL, &call);
    if (code == RG_OK)
        code = d->download(map, out, bytes);
    void *const held[] = {out, room, table};
    for (int i = 0; i < RG_COUNT(held); i++)
        if (held[i])
            d->release(held[i]);
    free(factor);
    return failed(w, "making the map", code);
}

void gr_gpus_free(gr_job *job)
{
    for (int i = 0; i < job->gpus && job->worker; i++)
        for (int h = 0; h < 2; h++) {
            gr_worker *w = &job->worker[i];
            if (w->g[h])
                w->device->release(w->g[h]);
            if (w->w[h])
                w->device->release(w->w[h]);
        }
    free(job->worker);
    job->worker = NULL;
}
