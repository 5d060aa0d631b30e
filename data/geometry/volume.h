// SPDX-License-Identifier: MIT
// volume.h: reads and writes a cubic map of an MRC file as a whole.
#pragma once

#include <stdint.h>

typedef struct rg_volume {
    int64_t side;
    double voxel_A; // 0: unknown
    float *value;   // side^3, x fastest; malloc'ed
} rg_volume;

// Reads the map. RG_GOOD; or one line, no values, and RG_USAGE: unreadable, not a cube, a value that is not finite; or
// RG_LACKS: too large.
int rg_volume_read(const char *path, rg_volume *);
// Reads side and voxel only, from the header.
int rg_volume_size(const char *path, rg_volume *);
// Writes a file, whole or not at all. RG_GOOD, or one line and RG_USAGE.
int rg_volume_write(const char *path, const rg_volume *);
// Returns the correlation of two maps of one size, NaN if one is flat; by least squares b is scale a + offset.
double rg_volume_fit(const rg_volume *a, const rg_volume *b, double *scale, double *offset);
// Adds the three central sections to the job's page; what: "the map".
void rg_volume_show(const rg_volume *, const char *what);
