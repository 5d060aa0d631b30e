// SPDX-License-Identifier: MIT
// sums.c: the sums of all devices into those of the first. Of n devices, i + 2^k gives its sums to i < 2^k, 2^k falling from
// the largest below n to 1. So a sum that only devices of one parity have stays on that parity until the last step moves it.
#include "pipeline.h"
#include "ranks.h"

#include <stdlib.h>
#include "add.h"

int pl_add(const pl_member *m, void *stream, int64_t n, const float *from, float *to)
{
    if (!m->device->is_gpu) {
#pragma omp parallel for num_threads(m->threads)
        for (int64_t i = 0; i < n; i++)
            to[i] += from[i];
        return RG_OK;
    }
#if HAVE_CUDA
    if (!m->device->is_emulated)
        return pl_add_gpu(stream, n, from, to);
#endif
    return pl_add_emulated(stream, n, from, to);
}

// A piece at a time, so that a device needs no room for another's sum.
static int add_from(const pl_member *m, const rg_buffer *from, rg_buffer *to)
{
    const size_t most = (size_t)1 << 28, piece = to->bytes < most ? to->bytes : most;
    void *room = m->device->alloc(piece);
    int error = room ? RG_OK : RG_E_STATE;
    for (size_t at = 0; at < to->bytes && !error; at += piece) {
        const size_t bytes = to->bytes - at < piece ? to->bytes - at : piece;
        error = m->device->move(room, (const char *)from->base + at, bytes);
        error = error ? error : pl_add(m, NULL, (int64_t)(bytes / sizeof(float)), room, (float *)((char *)to->base + at));
        error = error ? error : m->device->sync();
    }
    if (room)
        m->device->release(room);
    return error;
}

static int take_over(const pl_member *m, const rg_buffer *from, rg_buffer *to)
{
    int error = rg_buffer_make(to, m->device, from->bytes, sizeof(float), false);
    return error ? error : m->device->move(to->base, from->base, from->bytes);
}

typedef struct merging {
    rg_buffer *sum;
    int parts, apart;
} merging;

static int merge_pair(pl_member *m, void *context)
{
    const merging *g = context;
    const int other = m->index + g->apart;
    const double since_s = rg_seconds();
    int error = RG_OK;
    if (m->index >= g->apart || other >= m->team->n)
        return RG_GOOD;
    for (int p = 0; p < g->parts && !error; p++) {
        rg_buffer *from = &g->sum[other * g->parts + p], *to = &g->sum[m->index * g->parts + p];
        if (from->base)
            error = to->base ? add_from(m, from, to) : take_over(m, from, to);
    }
    pl_lap(m, PL_MERGE, since_s);
    return pl_failed(m, "adding another device's sums", error);
}

// In the thread of the first member.
static int merge_processes(pl_member *m, rg_buffer *sum, int parts)
{
    const double since_s = rg_seconds();
    int error = RG_OK;
    for (int p = 0; p < parts && !error && rg_ranks() > 1; p++) {
        if (!sum[p].base)
            continue;
        float *values = m->device->is_gpu ? rg_alloc(sum[p].bytes) : sum[p].base;
        error = m->device->is_gpu ? rg_buffer_get(&sum[p], values) : RG_OK;
        if (!error)
            rg_ranks_sum(values, (int64_t)(sum[p].bytes / sizeof *values));
        if (m->device->is_gpu && !error && rg_rank == 0)
            error = rg_buffer_put(&sum[p], values);
        if (m->device->is_gpu)
            free(values);
    }
    if (rg_ranks() > 1)
        pl_lap(m, PL_MERGE, since_s);
    return pl_failed(m, "copying the sums", error);
}

int pl_merge(pl_team *t, rg_buffer *sum, int parts)
{
    merging g = {sum, parts, 1};
    int code = RG_GOOD;
    while (2 * g.apart < t->n)
        g.apart *= 2;
    for (; t->n > 1 && g.apart && code == RG_GOOD; g.apart /= 2)
        code = pl_team_run(t, merge_pair, &g);
    return code == RG_GOOD ? merge_processes(t->member, sum, parts) : code;
}
