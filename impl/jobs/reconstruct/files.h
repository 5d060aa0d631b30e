// SPDX-License-Identifier: MIT
// files.h: maps from the memory of a device to their files, none of which stands at its name before all are written.
#pragma once

#include "../../../data/formats/mrc.h"
#include "../../../data/formats/particles.h"
#include "../pipeline/pipeline.h"

enum { RC_PIECES = 2, RC_MAPS = 3 };

// A map on its way: a thread takes the file's room, then writes one piece while the other is copied from the device.
typedef struct rc_file {
    rg_mrc_out out;
    int64_t side, sections, next, n; // a piece has; of the one that is written
    void *piece[RC_PIECES], *at;     // pinned
    pthread_t thread, flusher;
    bool is_writing, is_flushing;
    int threads, code;
} rc_file;

typedef struct rc_files {
    rc_file file[RC_MAPS];
    int n, added;
} rc_files;

// Opens a file for the next map, of side^3 voxels, at `out` with the suffix before its ending, and begins to take its room while
// the map is made. RG_GOOD, or one line and a code; rc_files_end has to follow.
int rc_files_open(rc_files *, const char *out, const char *suffix, int64_t side, double pixel_A, int threads);
// map: in the member's memory; to the files in the order in which they were opened. RG_GOOD, or one line and a code.
int rc_files_add(rc_files *, pl_member *, const float *map);
// All get their names, or with a bad code none. The code, or one line and another.
int rc_files_end(rc_files *, pl_member *, int code);
// What the job's page and its last screen show of maps that are written: what is next, sections, views, and the correlation of the halves, of OUT_fsc.tsv where
// it is, else computed of OUT_half1 and OUT_half2, when they are no larger than a page may take time for.
struct rc_run;
void rc_show(const struct rc_run *, const char *variant);
