// SPDX-License-Identifier: MIT
// job_slots.c: threads that read images ahead into pinned memory. Each takes the next chunk, waits until the slot kept for it
// is free, and fills it; chunks are handed on in their order.
#include "stream.h"

#include <stdlib.h>

int64_t gr_chunk_images(const gr_slots *p, int64_t chunk)
{
    int64_t each = p->worker->job->chunk, left = p->rows.count - chunk * each;
    return left < each ? left : each;
}

// Images, matrices, origins and CTF of a chunk. A row that cannot be read ends it, unless one before it was found by another.
static void read_chunk(gr_slots *p, rg_particles *file, gr_slot *s, int64_t chunk)
{
    const gr_job *job = p->worker->job;
    int64_t pixels = job->particles.side * job->particles.side, first = chunk * job->chunk;
    double step = 1 / ((double)job->padded * job->particles.pixel_A);
    for (int64_t i = 0; i < gr_chunk_images(p, chunk); i++) {
        int64_t row = p->rows.first + (first + i) * p->rows.step;
        const rg_particle *q = &job->particles.row[row];
        if (rg_particles_image(file, row, s->picture + i * pixels) != RG_GOOD) {
            pthread_mutex_lock(&p->lock);
            p->worker->bad_row = p->worker->bad_row < 0 || row < p->worker->bad_row ? row : p->worker->bad_row;
            pthread_mutex_unlock(&p->lock);
            return;
        }
        gr_rotations(job, q, s->rotation + i * job->n_operators * 9);
        s->origin[2 * i] = q->origin_x_px;
        s->origin[2 * i + 1] = q->origin_y_px;
        if (job->ctf)
            s->ctf[i] = gr_ctf_in_steps(&q->ctf, step);
    }
}

// Seconds during which anyone reads.
static void reading(gr_slots *p, int change)
{
    double now_s = rg_seconds();
    if (p->reading > 0)
        p->worker->stage_s[GR_READ] += now_s - p->reading_since_s;
    p->reading_since_s = now_s;
    p->reading += change;
}

static void *read_chunks(void *of)
{
    gr_slots *p = of;
    rg_particles file = rg_particles_reader(&p->worker->job->particles);
    rg_silent = true;
    pthread_mutex_lock(&p->lock);
    while (!p->stop && p->worker->bad_row < 0 && p->next < p->chunks) {
        int64_t chunk = p->next++;
        gr_slot *s = &p->slot[chunk % p->n];
        while (!p->stop && s->chunk != chunk)
            pthread_cond_wait(&p->changed, &p->lock);
        if (p->stop)
            break;
        reading(p, 1);
        pthread_mutex_unlock(&p->lock);
        read_chunk(p, &file, s, chunk);
        pthread_mutex_lock(&p->lock);
        reading(p, -1);
        s->is_full = true;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    rg_particles_reader_close(&file);
    return NULL;
}

gr_slot *gr_slots_wait(gr_slots *p, int64_t chunk)
{
    gr_slot *s = &p->slot[chunk % p->n];
    pthread_mutex_lock(&p->lock);
    while (p->worker->bad_row < 0 && !(s->is_full && s->chunk == chunk))
        pthread_cond_wait(&p->changed, &p->lock);
    bool is_bad = p->worker->bad_row >= 0;
    pthread_mutex_unlock(&p->lock);
    return is_bad ? NULL : s;
}

void gr_slots_give_back(gr_slots *p, int64_t chunk)
{
    gr_slot *s = &p->slot[chunk % p->n];
    pthread_mutex_lock(&p->lock);
    s->chunk += p->n;
    s->is_full = false;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void make_slot(gr_slots *p, gr_slot *s, int64_t chunk)
{
    const gr_job *job = p->worker->job;
    void *(*pinned)(size_t) = p->worker->device->pinned;
    size_t n = (size_t)job->chunk, pixels = (size_t)(job->particles.side * job->particles.side);
    *s = (gr_slot){.chunk = chunk,
                   .picture = pinned(n * pixels * sizeof(float)),
                   .rotation = pinned(n * 9 * (size_t)job->n_operators * sizeof(float)),
                   .origin = pinned(n * 2 * sizeof(double)),
                   .ctf = pinned(n * sizeof(rg_ctf))};
    if (!s->picture || !s->rotation || !s->origin || !s->ctf)
        p->worker->code = rg_fail(RG_LACKS, "%s: no pinned memory for images", p->worker->device->name);
}

void gr_slots_start(gr_slots *p, gr_worker *worker, gr_rows rows)
{
    const gr_job *job = worker->job;
    int share = job->threads / job->gpus;
    *p = (gr_slots){.worker = worker, .rows = rows, .chunks = (rows.count + job->chunk - 1) / job->chunk};
    p->n_readers = share < 1 ? 1 : share > GR_READERS ? GR_READERS : share;
    p->n = p->n_readers + GR_LANES;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    for (int s = 0; s < p->n && worker->code == RG_GOOD; s++)
        make_slot(p, &p->slot[s], s);
    while (worker->code == RG_GOOD && p->n_running < p->n_readers
           && !pthread_create(&p->reader[p->n_running], NULL, read_chunks, p))
        p->n_running++;
    if (worker->code == RG_GOOD && !p->n_running)
        worker->code = rg_fail(RG_LACKS, "no thread that reads could be made");
}

void gr_slots_stop(gr_slots *p)
{
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    for (int r = 0; r < p->n_running; r++)
        pthread_join(p->reader[r], NULL);
    for (int s = 0; s < p->n; s++) {
        void *const pinned[] = {p->slot[s].picture, p->slot[s].rotation, p->slot[s].origin, p->slot[s].ctf};
        for (int i = 0; i < RG_COUNT(pinned); i++)
            if (pinned[i])
                p->worker->device->unpin(pinned[i]);
    }
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->changed);
}
