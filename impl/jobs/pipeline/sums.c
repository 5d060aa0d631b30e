// SPDX-License-Identifier: MIT
// sums.c: adds the sums of all devices to those of the first. Of n devices, i + 2^k gives its sums to i < 2^k, with 2^k falling
// from the largest below n to 1. A sum that only devices of one parity have therefore stays on that parity until the last step
// moves it.
#include "pipeline.h"
#include "add.h"
#include "ranks.h"

int pl_add(const pl_member *m, void *stream, int64_t n, const float *from, float *to) {
    if (!m->device->is_gpu) {
#pragma omp parallel for num_threads(m->threads)
        for (int64_t i = 0; i < n; i++) to[i] += from[i];
        return RG_OK;
    }
#if HAVE_CUDA
    if (!m->device->is_emulated) return pl_add_gpu(stream, n, from, to);
#endif
    return pl_add_emulated(stream, n, from, to);
}

enum { PIECE_HERE = 1 << 28 };

double pl_merge_bytes(const pl_team *t, size_t sum_bytes) {
    return t->n == 1 && rg_ranks() == 1 ? 0 : (double)(sum_bytes < PIECE_HERE ? sum_bytes : PIECE_HERE);
}

// Adds piece by piece, so that a device needs no room for another's whole sum.
static int add_from(const pl_member *m, const rg_buffer *from, const rg_buffer *to) {
    const size_t most = PIECE_HERE, piece = to->bytes < most ? to->bytes : most;
    void *room;
    int error = m->device->alloc(&room, piece, "another's sums");
    for (size_t at = 0; at < to->bytes && !error; at += piece) {
        const size_t bytes = to->bytes - at < piece ? to->bytes - at : piece;
        error = m->device->move(room, (const char *)from->base + at, bytes);
        error = error ? error : pl_add(m, NULL, (int64_t)(bytes / sizeof(float)), room, (float *)((char *)to->base + at));
        error = error ? error : m->device->sync();
    }
    if (room) m->device->release(room);
    return error;
}

static int take_over(const pl_member *m, const rg_buffer *from, rg_buffer *to) {
    int error = rg_buffer_make(to, m->device, from->bytes, sizeof(float), false, "sums");
    return error ? error : m->device->move(to->base, from->base, from->bytes);
}

typedef struct merging {
    rg_buffer *sum;
    int parts, apart;
} merging;

static int merge_pair(pl_member *m, void *context) {
    const merging *g = context;
    const int other = m->index + g->apart;
    const double since_s = rg_seconds();
    int error = RG_OK;
    if (m->index >= g->apart || other >= m->team->n) return RG_GOOD;
    for (int p = 0; p < g->parts && !error; p++) {
        rg_buffer *from = &g->sum[other * g->parts + p], *to = &g->sum[m->index * g->parts + p];
        if (from->base) error = to->base ? add_from(m, from, to) : take_over(m, from, to);
    }
    pl_lap(m, PL_MERGE, since_s);
    return pl_failed(m, "adding another device's sums", error);
}

// ---- several processes ---------------------------------------------------------------------------------------------------

// A sum in a GPU's memory that another process of this machine may read, where the driver allows it: a handle of the memory
// block, which is opened from its start, and the sum's offset in it.
typedef struct offer {
    bool is_shared;
    char name[RG_SHARED_NAME];
    size_t lead;
} offer;

enum { PIECE = 1 << 24 }; // bytes of a piece that goes through the host

static int give(const pl_member *m, const rg_buffer *from, void *room, int to) {
    offer o = {.lead = from->lead};
    bool taken;
    int error = RG_OK;
    o.is_shared = rg_ranks_near(to) && m->device->share && m->device->share(from->block, o.name) == RG_OK;
    rg_ranks_send(&o, sizeof o, to);
    rg_ranks_receive(&taken, sizeof taken, to); // once it has been read
    for (size_t at = 0; at < from->bytes && !taken && !error; at += PIECE) {
        const size_t bytes = from->bytes - at < PIECE ? from->bytes - at : PIECE;
        error = m->device->download(room, (const char *)from->base + at, bytes);
        if (!error) rg_ranks_send(room, bytes, to);
    }
    return error;
}

static int add_theirs(const pl_member *m, const rg_buffer *to, void *room, int from) {
    offer o;
    rg_ranks_receive(&o, sizeof o, from);
    char *block = o.is_shared && m->device->open_shared ? m->device->open_shared(o.name) : NULL;
    const bool taken = block;
    int error = RG_OK;
    if (taken) {
        error = add_from(m, &(rg_buffer){.base = block + o.lead, .bytes = to->bytes}, to);
        m->device->close_shared(block);
    }
    rg_ranks_send(&taken, sizeof taken, from);
    void *piece = NULL;
    if (!taken) error = m->device->alloc(&piece, PIECE, "another's sums");
    for (size_t at = 0; at < to->bytes && !taken && !error; at += PIECE) {
        const size_t bytes = to->bytes - at < PIECE ? to->bytes - at : PIECE;
        rg_ranks_receive(room, bytes, from);
        error = m->device->upload(piece, room, bytes);
        error = error ? error : pl_add(m, NULL, (int64_t)(bytes / sizeof(float)), piece, (float *)((char *)to->base + at));
        error = error ? error : m->device->sync();
    }
    if (piece) m->device->release(piece);
    return error;
}

// Runs in the first member's thread: ranks 0 and 1, 2 and 3, ...; then 0 and 2, 4 and 6, ...; then 0 and 4. Processes on the
// CPU and on a GPU do the same, so that a job may mix them.
static int merge_processes(pl_member *m, rg_buffer *sum, int parts) {
    const double since_s = rg_seconds();
    void *room;
    int error = m->device->pinned(&room, PIECE, "pinned sums");
    error = error ? error : m->device->sync(); // completes the offered sum
    for (int p = 0; p < parts && !error; p++)
        for (int step = 1; step < rg_ranks() && rg_rank % step == 0 && sum[p].base && !error; step *= 2)
            if (rg_rank & step)
                error = give(m, &sum[p], room, rg_rank - step);
            else if (rg_rank + step < rg_ranks())
                error = add_theirs(m, &sum[p], room, rg_rank + step);
    if (room) m->device->unpin(room);
    pl_lap(m, PL_MERGE, since_s);
    return pl_failed(m, "adding another process's sums", error);
}

int pl_merge(pl_team *t, rg_buffer *sum, int parts) {
    merging g = {sum, parts, 1};
    int code = RG_GOOD;
    while (2 * g.apart < t->n) g.apart *= 2;
    for (; t->n > 1 && g.apart && code == RG_GOOD; g.apart /= 2) code = pl_team_run(t, merge_pair, &g);
    return code == RG_GOOD && rg_ranks() > 1 ? merge_processes(t->member, sum, parts) : code;
}
