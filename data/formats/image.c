// SPDX-License-Identifier: MIT
#include "image_read.h"
#include "mrc.h"

int rg_image_take(
    const rg_image_in *in, int64_t at, double width, double height, int bits, double least_bytes, rg_image *image) {
    if (!(width >= 1 && height >= 1 && width < 2147483648.0 && height < 2147483648.0 && width * height < 2147483648.0))
        return rg_malformed(in->path, at,
            "expected a width and a height of 1 or more with fewer than 2^31 pixels, found %.0f x %.0f", width, height);
    if (least_bytes > (double)in->bytes)
        return rg_malformed(in->path, in->bytes,
            "expected at least %.0f bytes for %.0f x %.0f pixels, found the end of the file", least_bytes, width, height);
    *image = (rg_image){(int64_t)width, (int64_t)height, bits, NULL};
    image->pixel = rg_alloc((size_t)(width * height) * (size_t)(bits / 8));
    return RG_GOOD;
}

void rg_image_grey_row(rg_image *image, int64_t y, const void *samples, int channels) {
    const uint8_t *s8 = samples;
    const uint16_t *s16 = samples;
    uint8_t *to8 = (uint8_t *)image->pixel + y * image->width;
    uint16_t *to16 = (uint16_t *)image->pixel + y * image->width;
    if (channels == 1) memcpy(image->bits == 8 ? (void *)to8 : to16, samples, (size_t)image->width * (size_t)image->bits / 8);
    for (int64_t x = 0; x < image->width && channels > 1; x++) {
        int64_t i = x * channels;
        if (image->bits == 8)
            to8[x] = channels < 3 ? s8[i] : (uint8_t)rg_luma(s8[i], s8[i + 1], s8[i + 2]);
        else
            to16[x] = channels < 3 ? s16[i] : (uint16_t)rg_luma(s16[i], s16[i + 1], s16[i + 2]);
    }
}

static uint16_t spread(const rg_grey_range *range, double v) {
    return (uint16_t)floor(fmin(fmax(65535 * (v - range->low) / (range->high - range->low), 0), 65535) + 0.5);
}

void rg_image_spread(const rg_image_in *in, rg_image *image) {
    if (!in->range->given) return;
    const int64_t n = image->width * image->height;
    uint16_t *to = rg_alloc((size_t)n * sizeof *to);
    for (int64_t i = 0; i < n; i++)
        to[i] = spread(in->range, image->bits == 8 ? ((uint8_t *)image->pixel)[i] : ((uint16_t *)image->pixel)[i]);
    free(image->pixel);
    image->pixel = to;
    image->bits = 16;
}

int rg_image_value_row(const rg_image_in *in, rg_image *image, int64_t y, const float *values) {
    const rg_grey_range *range = in->range;
    const double most = image->bits == 8 ? UINT8_MAX : UINT16_MAX;
    for (int64_t x = 0, i = y * image->width; x < image->width; x++, i++) {
        const double v = values[x];
        if (image->bits == 32) {
            ((float *)image->pixel)[i] = values[x];
            continue;
        }
        if (isnan(v))
            return rg_fail(RG_USAGE,
                "%s: image %" PRId64 ": expected a number at column %" PRId64 ", row %" PRId64 ", found NaN", in->path,
                in->page + 1, x, y);
        if (!range->given && !(v >= 0 && v <= most && v == floor(v)))
            return rg_fail(RG_USAGE,
                "%s: image %" PRId64 ": expected a whole grey value from 0 to %.0f at column %" PRId64 ", row %" PRId64
                ", found %g (say which values are black and white by --grey-range LOW:HIGH)",
                in->path, in->page + 1, most, x, y, v);
        const uint16_t rounded = range->given ? spread(range, v) : (uint16_t)v;
        if (image->bits == 8)
            ((uint8_t *)image->pixel)[i] = (uint8_t)rounded;
        else
            ((uint16_t *)image->pixel)[i] = rounded;
    }
    return RG_GOOD;
}

void rg_image_note(const rg_image_in *in, int64_t n, int64_t at, int64_t nth, int64_t frames) {
    if (!in->places) return;
    *in->places = rg_grow(*in->places, n, sizeof **in->places);
    (*in->places)[n] = (rg_image_place){n, at, nth, frames};
}

static int read_mrc(const rg_image_in *in, int64_t *pages, rg_image *image) {
    RG_ENDS(rg_mrc_close) rg_mrc m;
    int code = rg_mrc_open_stream(&m, in->file, in->bytes, in->path);
    *pages = m.nz;
    bool is_float = m.mode == RG_MRC_FLOAT32 || m.mode == RG_MRC_FLOAT16;
    if (code == RG_GOOD && is_float && !in->range->given && !in->range->real)
        code = rg_malformed(in->path, 12,
            "expected whole grey values (mode 0, 1 or 6), found floating point (mode %d; say which "
            "values are black and white by --grey-range LOW:HIGH)",
            m.mode);
    if (code == RG_GOOD && image) {
        int bits = in->range->real ? 32 : rg_mrc_mode_bytes(m.mode) == 1 && !in->range->given ? 8 : 16;
        code = rg_image_take(in, 0, (double)m.nx, (double)m.ny, bits, 0, image);
    }
    if (code == RG_GOOD && image) {
        RG_FREED float *section = rg_alloc((size_t)(m.nx * m.ny) * sizeof *section);
        code = rg_mrc_section(&m, in->page, section);
        for (int64_t y = 0; y < m.ny && code == RG_GOOD; y++) code = rg_image_value_row(in, image, y, section + y * m.nx);
    }
    return code;
}

static int read_by_content(const rg_image_in *in, int64_t *pages, rg_image *image) {
    unsigned char head[1024];
    static const unsigned char png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    rewind(in->file);
    size_t got = fread(head, 1, sizeof head, in->file);
    rewind(in->file);
    if (got >= 4 && memcmp(head, png, got < 8 ? got : 8) == 0) return rg_read_png(in, pages, image);
    if (got >= 3 && head[0] == 'P' && strchr("2356", head[1]) && head[1] && strchr(" \t\r\n\v\f#", head[2]))
        return rg_read_pnm(in, pages, image);
    if (got >= 4 &&
        (memcmp(head, "II*\0", 4) == 0 || memcmp(head, "MM\0*", 4) == 0 || memcmp(head, "II+\0", 4) == 0 ||
            memcmp(head, "MM\0+", 4) == 0))
        return rg_read_tiff(in, pages, image);
    if (rg_mrc_plausible(head, in->bytes)) return read_mrc(in, pages, image);
    const char *known = rg_known_as(head, got);
    return rg_malformed(in->path, 0, "expected a PNG, PGM, PPM, TIFF, MRC or EM file, found %s",
        known     ? known
            : got ? rg_quote_bytes(head, got < 12 ? (int)got : 12)
                  : "an empty file");
}

static int read_page(const rg_image_in *in, int64_t *pages, rg_image *image) {
    int64_t count = 0;
    rg_image found = {0};
    int code = read_by_content(in, &count, image ? &found : NULL);
    if (code == RG_GOOD && image && in->page >= count)
        code = rg_fail(RG_USAGE, "%s: page %" PRId64 " requested, found %" PRId64, in->path, in->page + 1, count);
    if (code != RG_GOOD) {
        rg_image_free(&found);
        return code;
    }
    if (pages) *pages = count;
    if (image) *image = found;
    return RG_GOOD;
}

static const rg_grey_range NONE = {0}; // where the caller names none

int rg_image_from_stream(
    FILE *file, int64_t bytes, const char *path, int64_t page, const rg_grey_range *range, int64_t *pages, rg_image *image) {
    return read_page(
        &(rg_image_in){.file = file, .bytes = bytes, .path = path, .page = page, .range = range ? range : &NONE}, pages, image);
}

static int from_path(const char *path, rg_image_in *in, int64_t *pages, rg_image *image) {
    in->path = path;
    int code = rg_input_open(path, &in->file, &in->bytes);
    if (code != RG_GOOD) return code;
    code = read_page(in, pages, image);
    fclose(in->file);
    return code;
}

static const rg_grey_range ANY = {.given = true, .high = 1}; // counting does not need the values

int rg_image_pages(const char *path, int64_t *pages) { return from_path(path, &(rg_image_in){.range = &ANY}, pages, NULL); }

int rg_image_places(const char *path, int64_t *pages, rg_image_place **place) {
    rg_image_in in = {.range = &ANY, .places = place};
    *place = NULL;
    int code = from_path(path, &in, pages, NULL);
    const bool noted = *place;
    for (int64_t i = 0; code == RG_GOOD && i < (noted ? 0 : *pages); i++) rg_image_note(&in, i, 0, 0, 0);
    if (code != RG_GOOD) free(*place);
    if (code != RG_GOOD) *place = NULL;
    return code;
}

int rg_image_read_place(const char *path, const rg_image_place *place, const rg_grey_range *range, rg_image *image) {
    return from_path(path, &(rg_image_in){.page = place->page, .place = place, .range = range ? range : &NONE}, NULL, image);
}

int rg_image_read(const char *path, int64_t page, const rg_grey_range *range, rg_image *image) {
    return rg_image_read_place(path, &(rg_image_place){.page = page}, range, image);
}

void rg_image_free(rg_image *image) {
    free(image->pixel);
    *image = (rg_image){0};
}
