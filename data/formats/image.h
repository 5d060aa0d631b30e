// SPDX-License-Identifier: MIT
// image.h: grey photographs of 8 or 16 bits from PNG, PGM/PPM, TIFF (strips, tiles, planes) and MRC files, told apart by content,
// not by name.
//
// Grey values are taken as the file has them: a PGM of maximum 1023 gives 0..1023 in 16 bits, nothing is stretched and no gamma
// is applied. Grey of 1, 2 or 4 bits is scaled to 8 bits (v * 255 / (2^bits - 1), a whole number). Colour becomes Rec. 601 luma
// in exact integers, (299 R + 587 G + 114 B + 500) div 1000, that is rounded to nearest with halves up, in the file's bits. An
// alpha channel is left out; a grey channel of no stated meaning is a photograph of its own. TIFF with white at 0 is inverted: v
// becomes low + high - v of the grey range, else of its type's range; a float its negative. TIFF is turned as its tag Orientation
// says, with a warning, since not all programs do that. Signed integers, and those of 32 bits, are taken when all are from 0 to
// 65535. Others and all floating-point files need a grey range, which counts for every file where it is given: value v becomes
// round(65535 (v - low) / (high - low)), clamped; or a caller that takes real values as they are.
#pragma once

#include "../../impl/base/core.h"

typedef struct rg_image {
    int64_t width, height;
    int bits;    // 8 or 16; 32 where real values were asked for and the file has them
    void *pixel; // uint8_t, uint16_t or float, row by row, malloc'ed
} rg_image;

typedef struct rg_grey_range {
    bool given;
    double low, high;
    bool real; // values that are no grey, of MRC files all, are taken as they are, in 32 bits
} rg_grey_range;

// Where a photograph is. Of the file's pages `page` is enough; the rest, from rg_image_places, saves the way through those before.
typedef struct rg_image_place {
    int64_t page;            // from 0
    int64_t at, nth, frames; // byte of its directory, or of the picture itself; which of those there, and how many there are
} rg_image_place;

// How many photographs a file holds: sections of an MRC stack, pictures of a TIFF or raw PGM/PPM file, else 1. RG_GOOD, or one line
// and RG_USAGE: also where bytes are left over that would hold one more.
int rg_image_pages(const char *path, int64_t *pages);
int rg_image_places(const char *path, int64_t *pages, rg_image_place **); // and where each is, malloc'ed
// Photograph `page` (from 0). RG_GOOD, or one line and RG_USAGE: malformed file (file, byte, expected, found), a format this
// build lacks, values that need a range. Nothing is allocated for the caller unless RG_GOOD.
int rg_image_read(const char *path, int64_t page, const rg_grey_range *, rg_image *);
int rg_image_read_place(const char *path, const rg_image_place *, const rg_grey_range *, rg_image *);
// The same from a stream of `bytes` bytes; path is only for messages. pages may be NULL, image may be NULL.
int rg_image_from_stream(
    FILE *, int64_t bytes, const char *path, int64_t page, const rg_grey_range *, int64_t *pages, rg_image *);
void rg_image_free(rg_image *);

// Grey PNG (needs libpng) or PGM, whole or not at all. RG_GOOD, or one line and RG_USAGE.
int rg_image_write_png(const char *path, const rg_image *);
int rg_image_write_pgm(const char *path, const rg_image *);
bool rg_image_can_write_png(void);
