// SPDX-License-Identifier: MIT
// image.h: grey photographs of 8 or 16 bits from PNG, PGM/PPM, TIFF (strips, tiles, planes) and MRC files. The content decides
// the format, not the name.
//
// Grey values are kept as stored: a PGM of maximum 1023 gives 0..1023 in 16 bits, without stretching or gamma. Grey of 1, 2 or
// 4 bits is scaled to 8 bits (v * 255 / (2^bits - 1), a whole number). Colour becomes Rec. 601 luma in exact integers, (299 R +
// 587 G + 114 B + 500) div 1000, that is rounded to nearest with halves up, in the file's bits. An alpha channel is ignored; a
// second grey channel without a stated meaning is a photograph of its own. TIFF with white at 0 is inverted: v becomes low +
// high - v of the grey range, else of its type's range; a float becomes its negative. TIFF is turned by its tag Orientation,
// with a warning, because not all programs do that. Signed integers and those of 32 bits are accepted if all lie between 0 and
// 65535. Other integers and all floating-point files need a grey range, which, once given, applies to every file: value v
// becomes round(65535 (v - low) / (high - low)), clamped. A caller can instead ask for the real values unchanged.
#pragma once

#include "../../impl/base/core.h"

typedef struct rg_image {
    int64_t width, height;
    int bits;    // 8 or 16; 32: real values, if the caller asked for them and the file has them
    void *pixel; // uint8_t, uint16_t or float, row by row, malloc'ed
} rg_image;

typedef struct rg_grey_range {
    bool given;
    double low, high;
    bool real; // keep values that are not grey, and all of MRC files, in 32 bits
} rg_grey_range;

// The place of a photograph in its file. `page` is enough; the other fields, from rg_image_places, save the walk through the
// pages before it.
typedef struct rg_image_place {
    int64_t page;            // from 0
    int64_t at, nth, frames; // byte of its directory or data; its index among the `frames` pictures there
} rg_image_place;

// Counts the photographs of a file: sections of an MRC stack, pictures of a TIFF or raw PGM/PPM file, else 1. RG_GOOD, or one
// line and RG_USAGE, also if enough bytes are left over for one more.
int rg_image_pages(const char *path, int64_t *pages);
int rg_image_places(const char *path, int64_t *pages, rg_image_place **); // also their places, malloc'ed
// Reads photograph `page` (from 0). RG_GOOD, or one line and RG_USAGE: a malformed file (file, byte, expected, found), a format
// that this build lacks, values that need a range. The caller owns the pixels only after RG_GOOD.
int rg_image_read(const char *path, int64_t page, const rg_grey_range *, rg_image *);
int rg_image_read_place(const char *path, const rg_image_place *, const rg_grey_range *, rg_image *);
// The same from a stream of `bytes` bytes; path is for messages. pages and image may be NULL.
int rg_image_from_stream(
    FILE *, int64_t bytes, const char *path, int64_t page, const rg_grey_range *, int64_t *pages, rg_image *);
void rg_image_free(rg_image *);

// Writes a grey PNG (needs libpng) or PGM, whole or not at all. RG_GOOD, or one line and RG_USAGE.
int rg_image_write_png(const char *path, const rg_image *);
int rg_image_write_pgm(const char *path, const rg_image *);
bool rg_image_can_write_png(void);
