// SPDX-License-Identifier: MIT
// series.h: a series of images of one size as floats: sections of MRC stacks, or pictures of TIFF, PNG and PGM files, in the order of
// the files named; read image by image. Signed and real values of MRC and TIFF files are taken as they are.
//
// Rows go up in MRC files and down in pictures. They are handed over as the file has them; what is written for IMOD and RELION, which
// read a picture from its last row up, is turned by whoever writes it.
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

// Looks at every file. RG_GOOD, or one line and RG_USAGE: unreadable, images of different sizes, MRC files beside
// pictures, or an MRC file that holds a volume: space group 1 and a cube (real stacks often have space group 1, so that alone says nothing), or a stack of volumes.
int rg_series_open(rg_series *, int64_t n_paths, const char *const *path);
void rg_series_close(rg_series *);
// Image i. RG_GOOD, or one line and RG_USAGE: a value that is no finite number, or all values the same when `varies`.
int rg_series_read(const rg_series *, int64_t i, int varies, float *image);
