// SPDX-License-Identifier: MIT
// feed.c: brings images to a device. Reader threads read pieces of about 1 MiB in the order of the rows, all of one batch
// before any of the next, and fill the ring of pinned slots. A piece is always read to its end or to its first bad row, so that
// the reported row is always the same.
#include "pipeline.h"

enum { NO_BATCH = -1 };

static int64_t images_of(const pl_feed *f, int64_t batch) {
    const int64_t left = f->rows - batch * f->each;
    return left < 0 ? 0 : left < f->each ? left : f->each;
}

// Reserves the slot for this batch.
static void keep_for(pl_feed *f, pl_slot *s, int64_t batch) {
    pthread_mutex_lock(&f->lock);
    s->batch = batch;
    s->n = s->left = images_of(f, batch);
    s->row = f->row + batch * f->each;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

// Counts the seconds during which any thread reads.
static void reading(pl_feed *f, int change) {
    const double now_s = rg_seconds();
    if (f->reading > 0) f->member->stage[PL_READ].busy_s += now_s - f->reading_since_s;
    f->reading_since_s = now_s;
    f->reading += change;
}

static void *read_pieces(void *of) {
    pl_feed *f = of;
    const pl_source *from = f->member->team->source;
    void *reader = from->open ? from->open(from->context) : NULL;
    rg_silent = true;
    pthread_mutex_lock(&f->lock);
    while (!f->stop && f->bad < 0 && f->next < f->rows) {
        const int64_t first = f->next, batch = first / f->each, at = first % f->each, left = images_of(f, batch) - at;
        const int64_t n = left < f->piece ? left : f->piece;
        pl_slot *s = &f->slot[batch % f->n_slots];
        int64_t done = 0;
        f->next += n;
        while (!f->stop && s->batch != batch) pthread_cond_wait(&f->changed, &f->lock);
        if (f->stop) break;
        reading(f, 1);
        pthread_mutex_unlock(&f->lock);
        while (done < n && from->read(from->context, reader, f->row[first + done], s->part, at + done) == RG_GOOD) done++;
        pthread_mutex_lock(&f->lock);
        reading(f, -1);
        s->left -= done;
        if (!s->left) f->member->stage[PL_READ].calls++;
        if (done < n) f->bad = f->bad < 0 || first + done < f->bad ? first + done : f->bad;
        if (done < n || !s->left) pthread_cond_broadcast(&f->changed);
    }
    pthread_mutex_unlock(&f->lock);
    if (from->close) from->close(reader);
    return NULL;
}

static void stop(pl_feed *f) {
    if (!f->n_readers) return;
    pthread_mutex_lock(&f->lock);
    f->stop = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    for (int r = 0; r < f->n_readers; r++) pthread_join(f->reader[r], NULL);
    f->n_readers = 0;
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->changed);
}

static int make_slot(pl_feed *f, pl_slot *s) {
    const pl_member *m = f->member;
    for (int p = 0; p < PL_PARTS; p++) {
        const size_t bytes = (size_t)f->each * m->team->source->part_bytes[p];
        int code = bytes ? pl_failed(m, "pinning memory", m->device->pinned(&s->part[p], bytes, "pinned images")) : RG_GOOD;
        if (code != RG_GOOD) return code;
    }
    return RG_GOOD;
}

int pl_feed_begin(pl_feed *f, pl_member *m, const int64_t *row, int64_t rows, int64_t each, int slots) {
    const double since_s = rg_seconds();
    size_t image_bytes = 1;
    stop(f);
    f->member = m;
    f->row = row;
    f->rows = rows;
    f->each = each;
    f->batches = (rows + each - 1) / each;
    f->n_slots = slots;
    f->handed = f->next = 0;
    f->bad = -1;
    f->stop = false;
    for (int p = 0; p < PL_PARTS; p++) image_bytes += m->team->source->part_bytes[p];
    f->piece = ((int64_t)1 << 20) / (int64_t)image_bytes + 1;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    for (int s = 0; s < slots; s++) f->slot[s].batch = NO_BATCH;
    while (f->n_readers < m->threads && f->n_readers < PL_READERS_MAX &&
        pthread_create(&f->reader[f->n_readers], NULL, read_pieces, f) == 0)
        f->n_readers++;
    int code = f->n_readers ? RG_GOOD : rg_fail(RG_LACKS, "no thread that reads could be made");
    for (int s = 0; s < slots && s < f->batches && code == RG_GOOD; s++) { // the first is filled while others are allocated
        code = s < f->n_made ? RG_GOOD : make_slot(f, &f->slot[s]);
        f->n_made += s == f->n_made && code == RG_GOOD;
        if (code == RG_GOOD) keep_for(f, &f->slot[s], s);
    }
    if (code != RG_GOOD) stop(f);
    pl_lap(m, PL_SETUP, since_s);
    return code;
}

int pl_feed_next(pl_feed *f, pl_slot **slot) {
    const int64_t batch = f->handed;
    pl_slot *s = &f->slot[batch % f->n_slots];
    *slot = NULL;
    if (batch >= f->batches) return RG_GOOD;
    pthread_mutex_lock(&f->lock);
    while ((s->batch != batch || s->left) && (f->bad < 0 || f->bad >= (batch + 1) * f->each))
        pthread_cond_wait(&f->changed, &f->lock);
    const bool is_bad = s->batch != batch || s->left;
    if (is_bad) f->member->bad_row = f->row[f->bad];
    pthread_mutex_unlock(&f->lock);
    if (is_bad) return RG_USAGE;
    f->handed++;
    *slot = s;
    return RG_GOOD;
}

void pl_feed_release(pl_feed *f, pl_slot *s) { keep_for(f, s, s->batch + f->n_slots); }

void pl_feed_end(pl_feed *f) {
    stop(f);
    for (int s = 0; s <= f->n_made && s < PL_SLOTS_MAX; s++)
        for (int p = 0; p < PL_PARTS; p++)
            if (f->slot[s].part[p]) f->member->device->unpin(f->slot[s].part[p]);
    *f = (pl_feed){0};
}
