// SPDX-License-Identifier: MIT
// hash.c: XXH64 of files, in pieces.
#include "hash.h"
#include "core.h"

#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>

enum { STRIPE = 32, BLOCK = 1 << 20, THREADS_MOST = 64 };
#define P1 0x9E3779B185EBCA87u
#define P2 0xC2B2AE3D27D4EB4Fu
#define P3 0x165667B19E3779F9u
#define P4 0x85EBCA77C2B2AE63u
#define P5 0x27D4EB2F165667C5u

static uint64_t turned(uint64_t v, int by) { return v << by | v >> (64 - by); }
static uint64_t mixed(uint64_t sum, uint64_t word) { return turned(sum + word * P2, 31) * P1; }

static uint64_t word_at(const unsigned char *at, int bytes) {
    uint64_t word = 0;
    memcpy(&word, at, (size_t)bytes); // x86: lowest byte first
    return word;
}

// Four sums of whole stripes.
typedef struct lanes {
    uint64_t v[4];
} lanes;

static const lanes BEGIN = {{P1 + P2, P2, 0, -P1}};

static void add_stripes(lanes *l, const unsigned char *at, size_t bytes) {
    lanes s = *l;
    for (size_t i = 0; i < bytes; i += STRIPE)
        for (int k = 0; k < 4; k++) s.v[k] = mixed(s.v[k], word_at(at + i + 8 * k, 8));
    *l = s;
}

// Adds the bytes after the last whole stripe. bytes: the total.
static uint64_t finish(const lanes *l, uint64_t bytes, const unsigned char *rest) {
    uint64_t h = P5;
    const unsigned char *end = rest + bytes % STRIPE;
    if (bytes >= STRIPE) {
        h = turned(l->v[0], 1) + turned(l->v[1], 7) + turned(l->v[2], 12) + turned(l->v[3], 18);
        for (int k = 0; k < 4; k++) h = (h ^ mixed(0, l->v[k])) * P1 + P4;
    }
    h += bytes;
    for (; end - rest >= 8; rest += 8) h = turned(h ^ mixed(0, word_at(rest, 8)), 27) * P1 + P4;
    if (end - rest >= 4) {
        h = turned(h ^ word_at(rest, 4) * P1, 23) * P2 + P3;
        rest += 4;
    }
    for (; rest < end; rest++) h = turned(h ^ *rest * P5, 11) * P1;
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}

uint64_t rg_hash(const void *data, size_t bytes) {
    lanes l = BEGIN;
    const size_t whole = bytes - bytes % STRIPE;
    add_stripes(&l, data, whole);
    return finish(&l, bytes, (const unsigned char *)data + whole);
}

// ---- files ---------------------------------------------------------------------------------------------------------------

typedef struct file {
    rg_hashed is;
    struct timespec changed;    // time of the file's last change
    size_t pieces, taken, left; // taken: started, in order; left: not finished
    uint64_t *hash;
    bool asked; // a caller waits for it
} file;

// Files whose pieces are hashed by any free thread.
typedef struct hashing {
    file *file;
    size_t n, first; // first: all before it are taken
    bool stop;
    pthread_mutex_t lock;
    pthread_cond_t done; // signals that a file is done
    pthread_t thread[THREADS_MOST];
    int threads;
} hashing;

static hashing *ahead; // hashes the files that this command has read; NULL: none

static void add_file(hashing *h, const char *path, int64_t bytes, const struct timespec *changed) {
    const size_t pieces = bytes > 0 ? (size_t)((bytes + RG_HASH_PIECE - 1) / RG_HASH_PIECE) : 1;
    h->file = rg_grow(h->file, (int64_t)h->n, sizeof *h->file);
    h->file[h->n++] = (file){.is = {.path = path, .bytes = bytes},
        .changed = *changed,
        .pieces = pieces,
        .left = pieces,
        .hash = rg_alloc(pieces * sizeof(uint64_t))};
}

// Returns false if the file ends early or hashing is to stop.
static bool hash_piece(const hashing *h, const rg_hashed *f, int64_t from, unsigned char *block, uint64_t *hash) {
    const int64_t left = f->bytes - from, bytes = left < RG_HASH_PIECE ? left : RG_HASH_PIECE;
    lanes l = BEGIN;
    size_t got = 0;
    FILE *in = fopen(f->path, "rb");
    bool good = in && fseeko(in, (off_t)from, SEEK_SET) == 0;
    if (in) setvbuf(in, NULL, _IONBF, 0);
    for (int64_t at = 0; good && at < bytes; at += BLOCK) {
        const size_t wanted = bytes - at < BLOCK ? (size_t)(bytes - at) : BLOCK;
        got = __atomic_load_n(&h->stop, __ATOMIC_RELAXED) ? 0 : fread(block, 1, wanted, in);
        good = got == wanted;
        add_stripes(&l, block, got - got % STRIPE);
    }
    if (in) fclose(in);
    *hash = good ? finish(&l, (uint64_t)bytes, block + got - got % STRIPE) : 0;
    return good;
}

static file *next_file(hashing *h, bool asked) {
    while (h->first < h->n && h->file[h->first].taken == h->file[h->first].pieces) h->first++;
    for (size_t i = h->first; i < h->n && !__atomic_load_n(&h->stop, __ATOMIC_RELAXED); i++)
        if (h->file[i].taken < h->file[i].pieces && (h->file[i].asked || !asked)) return &h->file[i];
    return NULL;
}

// Hashes pieces until none is left; asked: only those of files that a caller waits for.
static void take_pieces(hashing *h, bool asked) {
    RG_FREED unsigned char *block = rg_alloc(BLOCK);
    pthread_mutex_lock(&h->lock);
    for (file *f; (f = next_file(h, asked));) {
        const size_t p = f->taken++;
        pthread_mutex_unlock(&h->lock);
        const bool good = hash_piece(h, &f->is, (int64_t)p * RG_HASH_PIECE, block, &f->hash[p]);
        pthread_mutex_lock(&h->lock);
        f->is.unread |= !good;
        if (--f->left == 0) {
            f->is.hash = f->pieces == 1 ? f->hash[0] : rg_hash(f->hash, f->pieces * sizeof *f->hash);
            pthread_cond_broadcast(&h->done);
        }
    }
    pthread_mutex_unlock(&h->lock);
}

static void end(hashing *h) {
    for (int t = 0; t < h->threads; t++) pthread_join(h->thread[t], NULL);
    for (size_t i = 0; i < h->n; i++) free(h->file[i].hash);
    free(h->file);
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->done);
}

// The entry of this file, hashed or queued, if it has not changed since; else NULL. It is looked for from `place` on.
static file *file_ahead(const rg_hashed *f, size_t place, struct timespec *changed) {
    struct stat facts = {0};
    stat(f->path, &facts);
    *changed = facts.st_mtim;
    for (size_t i = 0; ahead && i < ahead->n; i++) {
        file *a = &ahead->file[(place + i) % ahead->n];
        if (!strcmp(a->is.path, f->path) && a->is.bytes == f->bytes && !memcmp(&a->changed, changed, sizeof *changed)) return a;
    }
    return NULL;
}

void rg_hash_files(rg_hashed *f, size_t n, int threads) {
    hashing own = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};
    file **from = rg_alloc((n + 1) * sizeof(file *));
    struct timespec changed;
    if (ahead) pthread_mutex_lock(&ahead->lock);
    for (size_t i = 0; i < n; i++)
        if ((from[i] = file_ahead(&f[i], i, &changed)))
            from[i]->asked = true;
        else
            add_file(&own, f[i].path, f[i].bytes, &changed);
    if (ahead) pthread_mutex_unlock(&ahead->lock);
#pragma omp parallel num_threads(threads)
    {
        if (ahead) take_pieces(ahead, true);
        take_pieces(&own, false);
    }
    for (size_t i = 0, k = 0; i < n; i++) {
        const file *a = from[i] ? from[i] : &own.file[k++];
        if (from[i]) pthread_mutex_lock(&ahead->lock);
        while (a->left) pthread_cond_wait(&ahead->done, &ahead->lock);
        if (from[i]) pthread_mutex_unlock(&ahead->lock);
        f[i].hash = a->is.hash;
        f[i].unread = a->is.unread;
    }
    free(from);
    end(&own);
}

// ---- in the background ---------------------------------------------------------------------------------------------------

static void *look_ahead(void *of) {
    pthread_setschedparam(pthread_self(), SCHED_IDLE, &(struct sched_param){0}); // may fail
    take_pieces(of, false);
    return NULL;
}

static void add_input(void *of, const char *path, bool written) {
    struct stat facts;
    if (!written && stat(path, &facts) == 0) add_file(of, path, facts.st_size, &facts.st_mtim);
}

void rg_hash_begin(int threads) {
    if (ahead) return;
    ahead = rg_alloc(sizeof *ahead);
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->done, NULL);
    rg_files_each(add_input, ahead);
    while (ahead->threads < threads && ahead->threads < THREADS_MOST &&
        pthread_create(&ahead->thread[ahead->threads], NULL, look_ahead, ahead) == 0)
        ahead->threads++;
}

void rg_hash_end(void) {
    if (!ahead) return;
    __atomic_store_n(&ahead->stop, true, __ATOMIC_RELAXED);
    end(ahead);
    free(ahead);
    ahead = NULL;
}

uint64_t rg_fnv1a(uint64_t before, const void *data, size_t bytes) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++) before = (before ^ byte[i]) * UINT64_C(0x100000001B3);
    return before;
}
