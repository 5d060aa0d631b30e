// SPDX-License-Identifier: MIT
// source.c: see source.h.
#include "source.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>

static void hash_file(const char *path, char text[64])
{
    FILE *f = fopen(path, "rb");
    uint64_t hash = 0xCBF29CE484222325u;
    for (int c; f && (c = getc(f)) != EOF;)
        hash = (hash ^ (uint64_t)c) * 0x100000001B3u;
    if (f && !ferror(f))
        snprintf(text, 64, "fnv1a %016" PRIx64, hash);
    if (f)
        fclose(f);
}

void rg_entry_source(const rg_entry *e, char text[64])
{
    Dl_info info;
    snprintf(text, 64, "unknown (not in the list of this build)");
    for (const rg_source *s = rg_sources; s->variant; s++)
        if (s->variant == e->variant)
            snprintf(text, 64, "sha256 %s", s->sha256);
    if (e->origin == RG_PLUGGED_IN && dladdr(e->variant, &info) && info.dli_fname)
        hash_file(info.dli_fname, text);
}
