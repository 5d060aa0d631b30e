// SPDX-License-Identifier: MIT
// bundle.h: many files in one: a tar (POSIX.1-1988 ustar) of regular files, compressed by gzip.
//
// Why no library for tar: libarchive needs thirteen others (libxml2 and ICU among them), which every kit would have to carry;
// what is written here is one header of 512 bytes a file. zlib compresses.
//
// What is read comes from strangers: it is held in memory and never written to disk; paths are checked all the same, because
// people unpack archives. Refused: absolute paths, "..", ".", empty parts, bytes other than letters, digits and ._+=@-/, the
// same path twice, anything that is no regular file (folders, links, devices), more than RG_BUNDLE_FILES_MOST files or
// RG_BUNDLE_BYTES_MOST bytes, and content of more than RG_BUNDLE_RATIO_MOST times the size of the file (deflate itself cannot
// pass 1032).
#pragma once

#include "core.h"

enum { RG_BUNDLE_FILES_MOST = 2000, RG_BUNDLE_BYTES_MOST = 1 << 28, RG_BUNDLE_RATIO_MOST = 200, RG_BUNDLE_PATH_MOST = 99 };

typedef struct rg_bundled {
    char path[RG_BUNDLE_PATH_MOST + 1];
    char *bytes; // with a 0 behind them
    size_t n;
} rg_bundled;
typedef struct rg_bundle {
    char *path;
    int n;
    rg_bundled *file;
} rg_bundle;

// A gzipped tar into memory. RG_GOOD, or one line, RG_USAGE and nothing to free; RG_LACKS in a build without zlib.
int rg_bundle_read(const char *path, rg_bundle *);
const rg_bundled *rg_bundle_find(const rg_bundle *, const char *path); // NULL: none
void rg_bundle_free(rg_bundle *);

// A file that is written whole or not at all (core.h). Of _begin and _add: RG_GOOD, or one line and a code, after which the
// file is gone. mode: 0644 or 0755.
typedef struct rg_pack {
    rg_file file;
    void *coder;
    const char *failed; // why; NULL: it has not
} rg_pack;
int rg_pack_begin(rg_pack *, const char *path);
int rg_pack_add(rg_pack *, const char *path, const void *bytes, size_t n, int mode);
int rg_pack_add_file(rg_pack *, const char *path, const char *from, int mode);
int rg_pack_commit(rg_pack *);
