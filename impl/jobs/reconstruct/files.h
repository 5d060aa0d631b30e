// SPDX-License-Identifier: MIT
// files.h: writes maps from the memory of a device to files. No file gets its name before all are written.
#pragma once

#include "../../../data/formats/mrc.h"
#include "../../../data/formats/particles.h"
#include "../pipeline/pipeline.h"

enum { RC_PIECES = 2, RC_MAPS = 3 };

// A map being written: a thread reserves the file's space, then writes one piece while the next is copied from the device.
typedef struct rc_file {
    rg_mrc_out out;
    int64_t side, sections, next, n; // sections of a piece; of the one being written
    void *piece[RC_PIECES], *at;     // pinned
    pthread_t thread, flusher;
    bool is_writing, is_flushing;
    int threads, code;
} rc_file;

typedef struct rc_files {
    rc_file file[RC_MAPS];
    int n, added;
} rc_files;

// Opens a file for the next map, of side^3 voxels, at `out` with the suffix before its extension, and reserves its space while
// the map is computed. RG_GOOD, or one line and a code; call rc_files_end in either case.
int rc_files_open(rc_files *, const char *out, const char *suffix, int64_t side, double pixel_A, int threads);
// Writes a map from the member's memory to the next file, in the order of opening. RG_GOOD, or one line and a code.
int rc_files_add(rc_files *, pl_member *, const float *map);
// Gives all files their names or, with a bad code, none. Returns the code, or another one after one line.
int rc_files_end(rc_files *, pl_member *, int code);
// Adds the written maps to the job's page and last screen: next steps, sections, views, and the correlation of the halves, from
// OUT_fsc.tsv if it exists, else computed from OUT_half1 and OUT_half2 if they are small enough for the time of a page.
struct rc_run;
void rc_show(const struct rc_run *, const char *variant);
