// SPDX-License-Identifier: MIT
// hash.h: whole files by XXH64 (Y. Collet, the xxHash specification, seed 0), by several threads at once; FNV-1a of a little.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A file of at most this size has its plain XXH64, as xxhsum -H1 prints it. A larger file has the XXH64 of the hashes of its
// pieces, 8 bytes each, lowest byte first, so that threads read the pieces in parallel.
static const int64_t RG_HASH_PIECE = (int64_t)1 << 28;

typedef struct rg_hashed {
    const char *path;
    int64_t bytes;
    uint64_t hash;
    bool unread; // the file could not be read
} rg_hashed;
void rg_hash_files(rg_hashed *, size_t n, int threads);
// Starts threads of idle priority that hash the files which this command has read so far. rg_hash_files uses their results for
// files that have not changed since, and keeps the hashes that it computes. 0 threads: it only keeps them. Call rg_hash_end at
// the command's end; the paths must stay valid until then.
void rg_hash_begin(int threads);
void rg_hash_end(void);
uint64_t rg_hash(const void *data, size_t bytes);

// FNV-1a of 64 bits (Fowler, Noll and Vo), continued from `before`: the identity of inputs and rows.
#define RG_FNV1A UINT64_C(0xCBF29CE484222325) // of nothing
uint64_t rg_fnv1a(uint64_t before, const void *data, size_t bytes);

// ---- sha256.c -----------------------------------------------------------------------------------------------------------

// SHA-256 (FIPS 180-4), for files that people exchange who need not trust each other.
typedef struct rg_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
} rg_sha256;

void rg_sha256_begin(rg_sha256 *);
void rg_sha256_add(rg_sha256 *, const void *bytes, size_t n);
void rg_sha256_end(rg_sha256 *, char hex[65]);
void rg_sha256_of(const void *bytes, size_t n, char hex[65]);
int rg_sha256_file(const char *path, char hex[65], int64_t *bytes); // RG_GOOD, or one line and RG_USAGE; bytes may be NULL
