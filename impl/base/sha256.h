// SPDX-License-Identifier: MIT
// sha256.h: SHA-256 (FIPS 180-4), for files that are handed around between people who need not trust each other.
#pragma once

#include <stddef.h>
#include <stdint.h>

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
