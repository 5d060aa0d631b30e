// SPDX-License-Identifier: MIT
// fuzz.h: for fuzz targets. A target is LLVMFuzzerTestOneInput(bytes, n): for any bytes, a reader returns RG_GOOD, or RG_USAGE
// with nothing to free; what was read can be written, is read back as the same, and is written again as the same bytes. Here
// its name is fuzz_FILE and driver.c calls it, on files damaged from a seed: `make fuzz TIME=60`; runs.tsv has past runs.
#pragma once

#include "../../impl/base/core.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static inline void fuzz_expect(bool right) {
    if (!right) abort();
}

static inline void fuzz_put(int file, const void *bytes, size_t n) {
    fuzz_expect(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, bytes, n, 0) == (ssize_t)n);
}

// The bytes as a file without a name, the same one in every call.
static inline const char *fuzz_path(const void *bytes, size_t n) {
    static int file = -1;
    static char path[40];
    if (file < 0) {
        file = memfd_create("fuzzed", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    fuzz_put(file, bytes, n);
    return path;
}

// A path in a folder of this process, in memory if possible, removed by its last user; a file left there is removed first.
static char fuzz_folder[64];

static inline void fuzz_remove_folder(void) {
    DIR *all = opendir(fuzz_folder);
    for (struct dirent *entry; all && (entry = readdir(all));)
        if (unlinkat(dirfd(all), entry->d_name, 0) != 0) unlinkat(dirfd(all), entry->d_name, AT_REMOVEDIR);
    if (all) closedir(all);
    rmdir(fuzz_folder);
}

static inline const char *fuzz_out(const char *name) {
    static char path[4][128];
    static int turn;
    char *const folder = fuzz_folder;
    if (!*folder) {
        snprintf(folder, sizeof fuzz_folder, "%s/regather-fuzz-%d", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
            (int)getpid());
        fuzz_expect(mkdir(folder, 0700) == 0 || access(folder, W_OK) == 0);
        atexit(fuzz_remove_folder);
    }
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    unlink(path[turn]);
    return path[turn];
}

// The whole file and a 0 after it; malloc'ed.
static inline char *fuzz_get(const char *path, size_t *n) {
    struct stat facts;
    int file = open(path, O_RDONLY);
    fuzz_expect(file >= 0 && fstat(file, &facts) == 0);
    char *bytes = rg_alloc((size_t)facts.st_size + 1);
    *n = (size_t)facts.st_size;
    fuzz_expect(read(file, bytes, *n) == (ssize_t)*n);
    close(file);
    return bytes;
}

static inline void fuzz_same_files(const char *a, const char *b) {
    size_t n, m;
    char *of_a = fuzz_get(a, &n), *of_b = fuzz_get(b, &m);
    fuzz_expect(n == m && memcmp(of_a, of_b, n) == 0);
    free(of_a);
    free(of_b);
}
