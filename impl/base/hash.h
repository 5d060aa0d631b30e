// SPDX-License-Identifier: MIT
// hash.h: whole files by XXH64 (Y. Collet, the xxHash specification, seed 0), by several threads at once.
#ifndef RG_HASH_H
#define RG_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A file of up to so many bytes has its plain XXH64, as xxhsum -H1 prints it; a larger one the XXH64 of its pieces' hashes, 8 bytes
// each, lowest first: pieces are read side by side, so that a log does not take as long as a job.
static const int64_t RG_HASH_PIECE = (int64_t)1 << 28;

typedef struct rg_hashed {
    const char *path;
    int64_t bytes;
    uint64_t hash;
    bool unread; // it could not be read to this end
} rg_hashed;
void rg_hash_files(rg_hashed *, size_t n, int threads);
uint64_t rg_hash(const void *data, size_t bytes);

#endif
