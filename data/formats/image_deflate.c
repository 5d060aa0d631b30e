// SPDX-License-Identifier: MIT
// image_deflate.c: reads the usual PNG files of cameras and programs, with whole bytes per sample and not interlaced, by
// libdeflate in one call. Other, unusual or damaged files are left to libpng, which alone reports errors.
#include "image_read.h"

#if !HAVE_DEFLATE

bool rg_png_by_deflate(const rg_image_in *in, rg_image *image, int *code) {
    (void)in, (void)image, (void)code;
    return false;
}

#else

#include "../../impl/suite.h"

#include <libdeflate.h>

typedef struct picture {
    uint32_t width, height;
    int depth, channels;
    size_t line; // bytes of a row, after its filter byte
} picture;

static uint32_t word(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool read_head(const unsigned char *file, picture *p) {
    static const int channels[] = {1, 0, 3, 0, 2, 0, 4};
    if (memcmp(file + 8, "\0\0\0\rIHDR", 8) || libdeflate_crc32(0, file + 12, 17) != word(file + 29)) return false;
    *p = (picture){word(file + 16), word(file + 20), file[24], file[25] < RG_COUNT(channels) ? channels[file[25]] : 0, 0};
    p->line = (size_t)p->width * (size_t)(p->channels * p->depth / 8);
    return p->channels && (p->depth == 8 || p->depth == 16) && !memcmp(file + 26, "\0\0\0", 3) && p->width - 1 < INT32_MAX &&
        p->height - 1 < INT32_MAX;
}

// Chunks that change no pixel, and for whose contents libpng at most warns; it accepts none as large as MOST.
static bool is_idle(const unsigned char *type, uint32_t length) {
    enum { MOST = 1 << 20 };
    static const char known[] = "bKGD cHRM eXIf gAMA iCCP iTXt pHYs sBIT sRGB tEXt tIME zTXt";
    for (const char *k = known; k < known + sizeof known - 1; k += 5)
        if (!memcmp(type, k, 4)) return length < MOST;
    return false;
}

// Moves the pixels' stream to the file's first byte and returns its length; 0 if a chunk is unusual.
static size_t gather(unsigned char *file, size_t bytes, size_t raw) {
    size_t n = 0;
    bool past = false;
    for (size_t at = 33; bytes - at >= 12;) {
        const uint32_t length = word(file + at);
        const unsigned char *type = file + at + 4;
        if (length > bytes - at - 12 || libdeflate_crc32(0, type, 4 + (size_t)length) != word(type + 4 + length)) return 0;
        if (!memcmp(type, "IEND", 4)) return length ? 0 : n;
        at += 12 + (size_t)length;
        if (memcmp(type, "IDAT", 4)) {
            if (!is_idle(type, length)) return 0;
            past = n > 0;
        } else {
            if (past || length > raw + 12) return 0;
            memmove(file + n, type + 4, length);
            n += length;
        }
    }
    return 0;
}

// ---- filters -------------------------------------------------------------------------------------------------------------

// The one of left, above and corner, their common neighbour, that is nearest to left + above - corner; ties in this order. That
// is the corner if it lies in the middle third between the other two, else the farther of these: a short chain of dependences.
static unsigned char nearest(int left, int above, int corner) {
    const int low = left < above ? left : above, high = left < above ? above : left, at = 3 * corner - (left + above);
    const int other = high <= at ? low : corner;
    return (unsigned char)(at <= low ? high : other);
}

static int guess(int filter, int left, int above, int corner) {
    return filter == 3 ? (left + above) / 2 : nearest(left, above, corner);
}

// Filters 3 and 4, which need the previous byte: channel by channel, so that it stays in a register; `next` (NULL: none)
// follows one pixel later, so that one row is computed while the other waits.
static inline void restore_two(int filter, int filter_of_next, unsigned char *row, const unsigned char *above,
    unsigned char *next, size_t line, size_t step) {
    for (size_t channel = 0; channel < step; channel++) {
        unsigned char left = 0, corner = 0, left_of_next = 0, corner_of_next = 0;
        for (size_t i = channel; i < line + step; i += step) {
            const unsigned char over_next = left;
            if (i < line) {
                row[i] = left = (unsigned char)(row[i] + guess(filter, left, above[i], corner));
                corner = above[i];
            }
            if (i < step || !next) continue;
            left_of_next = (unsigned char)(next[i - step] + guess(filter_of_next, left_of_next, over_next, corner_of_next));
            next[i - step] = left_of_next;
            corner_of_next = over_next;
        }
    }
}

// Restores a row, or two at once; returns how many, 0: unknown filter.
static uint32_t restore_rows(unsigned char *row, const unsigned char *above, unsigned char *next, size_t line, size_t step) {
    const int filter = row[-1];
    if (filter == 1)
        for (size_t i = step; i < line; i++) row[i] = (unsigned char)(row[i] + row[i - step]);
    if (filter == 2)
        for (size_t i = 0; i < line; i++) row[i] = (unsigned char)(row[i] + above[i]);
    if (filter < 3) return 1;
    if (filter > 4) return 0;
    if (next && next[-1] != 3 && next[-1] != 4) next = NULL;
    if (!next || filter != next[-1])
        restore_two(filter, next ? next[-1] : 0, row, above, next, line, step);
    else if (filter == 3) // a constant for the compiler
        restore_two(3, 3, row, above, next, line, step);
    else
        restore_two(4, 4, row, above, next, line, step);
    return next ? 2 : 1;
}

static bool restore(unsigned char *raw, const picture *p, rg_image *image) {
    const size_t step = (size_t)(p->channels * p->depth / 8);
    RG_FREED uint16_t *room = rg_alloc(p->line); // nothing, above the first row; then samples, which lie anywhere in `raw`
    const unsigned char *above = (const unsigned char *)room;
    for (uint32_t y = 0, done; y < p->height; y += done) {
        unsigned char *row = raw + y * (p->line + 1) + 1;
        done = restore_rows(row, above, y + 1 < p->height ? row + p->line + 1 : NULL, p->line, step);
        if (!done) return false;
        above = row + (done - 1) * (p->line + 1);
    }
    for (uint32_t y = 0; y < p->height; y++) {
        const unsigned char *row = raw + y * (p->line + 1) + 1;
        for (size_t i = 0; i < (p->depth == 16 ? p->line / 2 : 0); i++) room[i] = (uint16_t)(row[2 * i] << 8 | row[2 * i + 1]);
        rg_image_grey_row(image, y, p->depth == 16 ? (const void *)room : row, p->channels);
    }
    return true;
}

static bool inflate_whole(const unsigned char *stream, size_t bytes, unsigned char *raw, size_t raw_bytes) {
    enum { LARGEST_WINDOW = 0x78 }; // libpng refuses a stream that reaches further back than its first byte says
    size_t used = 0;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    const bool whole = d && stream[0] == LARGEST_WINDOW &&
        libdeflate_zlib_decompress_ex(d, stream, bytes, raw, raw_bytes, &used, NULL) == LIBDEFLATE_SUCCESS && used == bytes;
    if (d) libdeflate_free_decompressor(d);
    return whole;
}

bool rg_png_by_deflate(const rg_image_in *in, rg_image *image, int *code) {
    enum { HEAD = 33, AROUND = 1 << 16 };
    unsigned char head[HEAD];
    picture p;
    rewind(in->file);
    if (in->bytes < HEAD || fread(head, 1, HEAD, in->file) != HEAD || !read_head(head, &p)) return false;
    const double samples = (double)p.line * (double)p.height, raw_bytes = samples + (double)p.height;
    if (raw_bytes > 0x1p40 || (double)in->bytes > 2 * raw_bytes + AROUND) return false;
    const size_t bytes = (size_t)in->bytes, n_raw = (size_t)raw_bytes;
    RG_FREED unsigned char *file = rg_alloc(bytes);
    memcpy(file, head, HEAD);
    if (fread(file + HEAD, 1, bytes - HEAD, in->file) != bytes - HEAD) return false;
    const size_t n = gather(file, bytes, n_raw);
    if (!n) return false;
    *code = rg_image_take(in, 16, p.width, p.height, p.depth, samples / RG_DEFLATE_MOST, image);
    if (*code != RG_GOOD) return true;
    RG_FREED unsigned char *raw = rg_alloc(n_raw);
    if (inflate_whole(file, n, raw, n_raw) && restore(raw, &p, image)) return true;
    rg_image_free(image);
    return false;
}

#endif
