// SPDX-License-Identifier: MIT
// hash.c: XXH64 of files, in pieces.
#include "hash.h"
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRIPE = 32, BLOCK = 1 << 20 };
#define P1 0x9E3779B185EBCA87u
#define P2 0xC2B2AE3D27D4EB4Fu
#define P3 0x165667B19E3779F9u
#define P4 0x85EBCA77C2B2AE63u
#define P5 0x27D4EB2F165667C5u

static uint64_t turned(uint64_t v, int by) { return v << by | v >> (64 - by); }
static uint64_t mixed(uint64_t sum, uint64_t word) { return turned(sum + word * P2, 31) * P1; }

static uint64_t word_at(const unsigned char *at, int bytes)
{
    uint64_t word = 0;
    memcpy(&word, at, (size_t)bytes); // x86: lowest byte first
    return word;
}

// Four sums of whole stripes.
typedef struct lanes {
    uint64_t v[4];
} lanes;

static const lanes BEGIN = {{P1 + P2, P2, 0, -P1}};

static void add_stripes(lanes *l, const unsigned char *at, size_t bytes)
{
    lanes s = *l;
    for (size_t i = 0; i < bytes; i += STRIPE)
        for (int k = 0; k < 4; k++)
            s.v[k] = mixed(s.v[k], word_at(at + i + 8 * k, 8));
    *l = s;
}

// What is left behind the stripes, less than one of them; bytes: of all.
static uint64_t finish(const lanes *l, uint64_t bytes, const unsigned char *rest)
{
    uint64_t h = P5;
    const unsigned char *end = rest + bytes % STRIPE;
    if (bytes >= STRIPE) {
        h = turned(l->v[0], 1) + turned(l->v[1], 7) + turned(l->v[2], 12) + turned(l->v[3], 18);
        for (int k = 0; k < 4; k++)
            h = (h ^ mixed(0, l->v[k])) * P1 + P4;
    }
    h += bytes;
    for (; end - rest >= 8; rest += 8)
        h = turned(h ^ mixed(0, word_at(rest, 8)), 27) * P1 + P4;
    if (end - rest >= 4) {
        h = turned(h ^ word_at(rest, 4) * P1, 23) * P2 + P3;
        rest += 4;
    }
    for (; rest < end; rest++)
        h = turned(h ^ *rest * P5, 11) * P1;
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}

uint64_t rg_hash(const void *data, size_t bytes)
{
    lanes l = BEGIN;
    const size_t whole = bytes - bytes % STRIPE;
    add_stripes(&l, data, whole);
    return finish(&l, bytes, (const unsigned char *)data + whole);
}

// False where the file ends before.
static bool hash_piece(const rg_hashed *f, int64_t from, unsigned char *block, uint64_t *hash)
{
    const int64_t left = f->bytes - from, bytes = left < RG_HASH_PIECE ? left : RG_HASH_PIECE;
    lanes l = BEGIN;
    size_t got = 0;
    FILE *file = fopen(f->path, "rb");
    bool good = file && fseeko(file, (off_t)from, SEEK_SET) == 0;
    if (file)
        setvbuf(file, NULL, _IONBF, 0);
    for (int64_t at = 0; good && at < bytes; at += BLOCK) {
        const size_t wanted = bytes - at < BLOCK ? (size_t)(bytes - at) : BLOCK;
        got = fread(block, 1, wanted, file);
        good = got == wanted;
        add_stripes(&l, block, got - got % STRIPE);
    }
    if (file)
        fclose(file);
    *hash = good ? finish(&l, (uint64_t)bytes, block + got - got % STRIPE) : 0;
    return good;
}

void rg_hash_files(rg_hashed *f, size_t n, int threads)
{
    size_t pieces = 0;
    size_t *first = rg_alloc((n + 1) * sizeof *first); // piece of each file; of all
    for (size_t i = 0; i < n; i++, first[i] = pieces)
        pieces += f[i].bytes > 0 ? (size_t)((f[i].bytes + RG_HASH_PIECE - 1) / RG_HASH_PIECE) : 1;
    uint64_t *hash = rg_alloc((pieces + 1) * sizeof *hash);
    size_t *of = rg_alloc((pieces + 1) * sizeof *of);
    for (size_t i = 0; i < n; i++)
        for (size_t p = first[i]; p < first[i + 1]; p++)
            of[p] = i;
#pragma omp parallel num_threads(threads)
    {
        unsigned char *block = rg_alloc(BLOCK);
#pragma omp for schedule(dynamic)
        for (size_t p = 0; p < pieces; p++)
            if (!hash_piece(&f[of[p]], (int64_t)(p - first[of[p]]) * RG_HASH_PIECE, block, &hash[p])) {
#pragma omp atomic write
                f[of[p]].unread = true;
            }
        free(block);
    }
    for (size_t i = 0; i < n; i++) {
        const size_t count = first[i + 1] - first[i];
        f[i].hash = count == 1 ? hash[first[i]] : rg_hash(hash + first[i], count * sizeof *hash);
    }
    free(of);
    free(hash);
    free(first);
}
