// SPDX-License-Identifier: MIT
// hash.h: whole files by XXH64 (Y. Collet, the xxHash specification, seed 0), by several threads at once; FNV-1a of a little.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A file of up to so many bytes has its plain XXH64, as xxhsum -H1 prints it; a larger one the XXH64 of its pieces' hashes, 8
// bytes each, lowest first: pieces are read side by side, so that a log does not take as long as a job.
static const int64_t RG_HASH_PIECE = (int64_t)1 << 28;

typedef struct rg_hashed {
    const char *path;
    int64_t bytes;
    uint64_t hash;
    bool unread; // it could not be read to this end
} rg_hashed;
void rg_hash_files(rg_hashed *, size_t n, int threads);
// From now on so many threads, which run only where a processor has nothing else to do, hash the files that this command has
// read so far; rg_hash_files takes from them what has not changed since, and keeps what it hashes of them itself. 0 threads:
// that alone. At the command's end: rg_hash_end. The paths have to stay until then.
void rg_hash_begin(int threads);
void rg_hash_end(void);
uint64_t rg_hash(const void *data, size_t bytes);

// FNV-1a of 64 bits (Fowler, Noll and Vo), gone on with from what came before: what files and rows are told apart by.
#define RG_FNV1A UINT64_C(0xCBF29CE484222325) // of nothing
uint64_t rg_fnv1a(uint64_t before, const void *data, size_t bytes);

// ---- sha256.c -----------------------------------------------------------------------------------------------------------

// SHA-256 (FIPS 180-4), for files that are handed around between people who need not trust each other.
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
