// SPDX-License-Identifier: MIT
#include "source.h"

#include "../base/hash.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void hash_file(const char *path, char text[64]) {
    FILE *f = fopen(path, "rb");
    uint64_t hash = RG_FNV1A;
    char block[1 << 14];
    for (size_t n; f && (n = fread(block, 1, sizeof block, f)) > 0;) hash = rg_fnv1a(hash, block, n);
    if (f && !ferror(f)) snprintf(text, 64, "fnv1a %016" PRIx64, hash);
    if (f) fclose(f);
}

void rg_entry_source(const rg_entry *e, char text[64]) {
    Dl_info info;
    snprintf(text, 64, "unknown (not in the list of this build)");
    for (const rg_source *s = rg_sources; s->variant; s++)
        if (s->variant == e->variant) snprintf(text, 64, "sha256 %s", s->sha256);
    if (e->origin == RG_PLUGGED_IN && dladdr(e->variant, &info) && info.dli_fname) hash_file(info.dli_fname, text);
}

void rg_job_source_of(const char *command, char text[64]) {
    snprintf(text, 64, "unknown (no job of this build)");
    for (const rg_job_source *s = rg_job_sources; s->command; s++)
        if (!strcmp(s->command, command)) snprintf(text, 64, "sha256 %s", s->sha256);
}
