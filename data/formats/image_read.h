// SPDX-License-Identifier: MIT
// image_read.h: what the readers behind image.h share. Private to data/image*.c.
#pragma once

#include "image.h"
#include "../../impl/base/malformed.h"

typedef struct rg_image_in {
    FILE *file;
    int64_t bytes; // of the whole file
    const char *path;
    int64_t page;
    const rg_grey_range *range;
    const rg_image_place *place; // of the page; NULL or at 0: it has to be found
    rg_image_place **places;     // of all that are counted; NULL: nobody asks
} rg_image_in;

// Photograph number n is the nth of `frames` at this byte.
void rg_image_note(const rg_image_in *, int64_t n, int64_t at, int64_t nth, int64_t frames);

// Each reads photograph in->page into *image, when image is not NULL, and counts them into *pages.
int rg_read_png(const rg_image_in *, int64_t *pages, rg_image *image);
// What rg_read_png does: by libdeflate where it can, which then has set *code; else by libpng.
bool rg_png_by_deflate(const rg_image_in *, rg_image *, int *code);
int rg_png_by_libpng(const rg_image_in *, rg_image *);
enum { RG_DEFLATE_MOST = 1032 }; // bytes that deflate makes out of one
int rg_read_pnm(const rg_image_in *, int64_t *pages, rg_image *image);
int rg_read_tiff(const rg_image_in *, int64_t *pages, rg_image *image);

// Checks the sides and takes the memory: a sum of 16-bit products over 2^31 pixels is the largest that 64 signed bits hold.
// `least_bytes`: the smallest file that could hold such a picture in this format, so that a small file with large numbers in
// its header takes no memory. RG_GOOD, or one line and RG_USAGE.
int rg_image_take(const rg_image_in *, int64_t at, double width, double height, int bits, double least_bytes, rg_image *);
// Samples (`channels` of them a pixel: grey, grey+alpha, RGB, RGB+alpha) into grey row y; samples are 8-bit or native 16-bit.
void rg_image_grey_row(rg_image *, int64_t y, const void *samples, int channels);
// Values of row y: into an image of 32 bits as they are; into one of 16 bits by the range, where it is given; else as they are,
// which have to be whole and from 0 to 255 or 65535. RG_GOOD, or one line and RG_USAGE.
int rg_image_value_row(const rg_image_in *, rg_image *, int64_t y, const float *values);
// Brings whole grey values to 16 bits by the range, where it is given.
void rg_image_spread(const rg_image_in *, rg_image *);
static inline uint32_t rg_luma(uint32_t r, uint32_t g, uint32_t b) { return (299 * r + 587 * g + 114 * b + 500) / 1000; }
