// SPDX-License-Identifier: MIT
// image_read.h: shared by the readers of image.h. Private to data/image*.c.
#pragma once

#include "image.h"
#include "../../impl/base/malformed.h"

typedef struct rg_image_in {
    FILE *file;
    int64_t bytes; // of the whole file
    const char *path;
    int64_t page;
    const rg_grey_range *range;
    const rg_image_place *place; // of the page; NULL or at 0: the reader must find it
    rg_image_place **places;     // receives the places of all pages; may be NULL
} rg_image_in;

// Records that photograph n is the nth of `frames` at this byte.
void rg_image_note(const rg_image_in *, int64_t n, int64_t at, int64_t nth, int64_t frames);

// Each reader reads photograph in->page into *image, unless NULL, and counts the photographs in *pages.
int rg_read_png(const rg_image_in *, int64_t *pages, rg_image *image);
// Parts of rg_read_png. rg_png_by_deflate uses libdeflate and sets *code, or returns false; rg_png_by_libpng reads the rest.
bool rg_png_by_deflate(const rg_image_in *, rg_image *, int *code);
int rg_png_by_libpng(const rg_image_in *, rg_image *);
enum { RG_DEFLATE_MOST = 1032 }; // the largest expansion of deflate: output bytes per input byte
int rg_read_pnm(const rg_image_in *, int64_t *pages, rg_image *image);
int rg_read_tiff(const rg_image_in *, int64_t *pages, rg_image *image);

// Checks the sides and allocates the pixels. A sum of 16-bit products over 2^31 pixels is the largest that fits in 64 signed
// bits. `least_bytes`: the smallest file that can hold such a picture in this format, so that a small file with large numbers
// in its header allocates nothing. RG_GOOD, or one line and RG_USAGE.
int rg_image_take(const rg_image_in *, int64_t at, double width, double height, int bits, double least_bytes, rg_image *);
// Converts samples (`channels` per pixel: grey, grey+alpha, RGB, RGB+alpha) into grey row y. Samples are 8-bit or native
// 16-bit.
void rg_image_grey_row(rg_image *, int64_t y, const void *samples, int channels);
// Converts real values into row y. An image of 32 bits keeps them. One of 16 bits scales them by the range, if given; otherwise
// they must be whole and from 0 to 255 or 65535. RG_GOOD, or one line and RG_USAGE.
int rg_image_value_row(const rg_image_in *, rg_image *, int64_t y, const float *values);
// Scales whole grey values to 16 bits by the range, if given.
void rg_image_spread(const rg_image_in *, rg_image *);
static inline uint32_t rg_luma(uint32_t r, uint32_t g, uint32_t b) { return (299 * r + 587 * g + 114 * b + 500) / 1000; }
