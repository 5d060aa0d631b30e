// SPDX-License-Identifier: MIT
// series.h: a series of images of one size as floats: sections of MRC stacks, or pictures of TIFF, PNG and PGM files, in the
// order of the given files; read image by image. Signed and real values of MRC and TIFF files are kept.
//
// Rows go up in MRC files and down in pictures. The reader keeps the file's order; a writer for IMOD and RELION, which read a
// picture from its last row up, must turn the rows.
#pragma once

#include "image.h"

typedef struct rg_series_image {
    const char *path; // the caller's text
    rg_image_place place;
    int is_mrc;
} rg_series_image;

typedef struct rg_series {
    int64_t n, width, height;
    double pixel_A; // of the first file, 0: unknown
    int rows_down;  // pictures
    rg_series_image *image;
} rg_series;

// Checks every file. RG_GOOD, or one line and RG_USAGE: unreadable, images of different sizes, MRC files beside pictures, or an
// MRC file that holds a stack of volumes, or a volume: space group 1 and a cube (real stacks often have space group 1, which
// alone says nothing).
int rg_series_open(rg_series *, int64_t n_paths, const char *const *path);
void rg_series_close(rg_series *);
// Reads image i. RG_GOOD, or one line and RG_USAGE: a value that is not finite, or, with `varies`, all values equal.
int rg_series_read(const rg_series *, int64_t i, int varies, float *image);
