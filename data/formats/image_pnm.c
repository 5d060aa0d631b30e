// SPDX-License-Identifier: MIT
// image_pnm.c: reads PGM and PPM, plain (P2, P3) and raw (P5, P6), 8 bits or 16 bits big-endian. A raw file may hold several
// pictures, one after the other.
#include "image_read.h"

#include <ctype.h>

// The next whole number of a header or of a plain picture, after white space and comments. RG_GOOD, or one line and RG_USAGE.
static int next_number(const rg_image_in *in, const char *what, int64_t high, int64_t *value) {
    int c = getc(in->file);
    while (c == '#' || (c != EOF && isspace(c))) {
        if (c == '#')
            while (c != EOF && c != '\n') c = getc(in->file);
        if (c != EOF) c = getc(in->file);
    }
    int64_t at = ftello(in->file) - (c != EOF);
    const char byte = (char)c;
    if (c == EOF || !isdigit(c))
        return rg_malformed(
            in->path, at, "expected %s, found %s", what, c == EOF ? "the end of the file" : rg_quote_bytes(&byte, 1));
    for (*value = 0; c != EOF && isdigit(c); c = getc(in->file)) {
        *value = *value * 10 + (c - '0');
        if (*value > high)
            return rg_malformed(in->path, at, "expected %s of at most %" PRId64 ", found a larger number", what, high);
    }
    if (c != EOF) ungetc(c, in->file);
    return RG_GOOD;
}

static int plain_row(const rg_image_in *in, uint16_t *sample, int64_t n, int64_t maximum) {
    for (int64_t i = 0; i < n; i++) {
        int64_t v;
        int code = next_number(in, "a grey value", maximum, &v);
        if (code != RG_GOOD) return code;
        sample[i] = (uint16_t)v;
    }
    return RG_GOOD;
}

static int raw_row(const rg_image_in *in, uint16_t *sample, int64_t n, int bytes, int64_t maximum) {
    int64_t at = ftello(in->file);
    unsigned char *raw = (unsigned char *)sample + n * (2 - bytes); // 8-bit samples are widened in place, from the front
    size_t got = fread(raw, (size_t)bytes, (size_t)n, in->file);
    if (got != (size_t)n)
        return rg_malformed(in->path, at + (int64_t)got * bytes,
            "expected %" PRId64 " more grey values, found the end of the file", n - (int64_t)got);
    for (int64_t i = 0; i < n; i++) {
        uint16_t v = bytes == 1 ? raw[i] : (uint16_t)(raw[2 * i] << 8 | raw[2 * i + 1]);
        if (v > maximum)
            return rg_malformed(in->path, at + i * bytes, "expected a grey value of at most %" PRId64 ", found %u", maximum, v);
        sample[i] = v;
    }
    return RG_GOOD;
}

static void grey_row(rg_image *image, int64_t y, uint16_t *sample, int channels) {
    if (image->bits == 8)
        for (int64_t i = 0; i < image->width * channels; i++)
            ((uint8_t *)sample)[i] = (uint8_t)sample[i]; // narrowed in place: byte i never overtakes sample i
    rg_image_grey_row(image, y, sample, channels);
}

typedef struct pnm_head {
    bool plain;
    int channels, bytes;                      // of a sample
    int64_t width, height, maximum, at, data; // bytes of the file: of the picture, and behind the maximum
} pnm_head;

// For a raw picture: where the next one is, or the end of the file.
static double next_picture(const pnm_head *h) {
    return (double)h->data + 1 + (double)h->width * (double)h->height * h->channels * h->bytes;
}

static int read_head(const rg_image_in *in, pnm_head *h) {
    char magic[2];
    h->at = ftello(in->file);
    if (fread(magic, 1, 2, in->file) != 2 || magic[0] != 'P' || !strchr("2356", magic[1]) || !magic[1])
        return rg_malformed(in->path, h->at, "expected P2, P3, P5 or P6, or the end of the file, found something else");
    h->plain = magic[1] == '2' || magic[1] == '3';
    h->channels = magic[1] == '3' || magic[1] == '6' ? 3 : 1;
    int code = next_number(in, "the width", INT32_MAX, &h->width);
    if (code == RG_GOOD) code = next_number(in, "the height", INT32_MAX, &h->height);
    if (code == RG_GOOD) code = next_number(in, "the maximum", 65535, &h->maximum);
    h->data = ftello(in->file);
    h->bytes = h->maximum > 255 ? 2 : 1;
    // If lines end in CR LF, both end the header if the picture then fills the rest of the file exactly.
    if (code == RG_GOOD && getc(in->file) == '\r' && getc(in->file) == '\n' && next_picture(h) + 1 == (double)in->bytes)
        h->data++;
    fseeko(in->file, (off_t)h->data, SEEK_SET);
    if (code == RG_GOOD && h->maximum == 0)
        return rg_malformed(in->path, h->data - 1, "expected a maximum from 1 to 65535, found 0");
    return code;
}

static int read_pixels(const rg_image_in *in, const pnm_head *h, rg_image *image) {
    const double samples = (double)h->width * (double)h->height * h->channels;
    const double least = h->plain ? (double)h->data + 2 * samples : next_picture(h); // plain: a digit and a space each
    int code = rg_image_take(in, h->at + 2, (double)h->width, (double)h->height, h->bytes * 8, least, image);
    if (code != RG_GOOD) return code;
    const int space = h->plain ? ' ' : getc(in->file);
    if (space == EOF || !isspace(space))
        return rg_malformed(
            in->path, h->data, "expected one white space after the maximum, found %s", rg_quote_bytes(&(char){(char)space}, 1));
    const int64_t n = h->width * h->channels;
    uint16_t *sample = rg_alloc((size_t)n * sizeof *sample);
    for (int64_t y = 0; y < h->height && code == RG_GOOD; y++) {
        code = h->plain ? plain_row(in, sample, n, h->maximum) : raw_row(in, sample, n, h->bytes, h->maximum);
        if (code == RG_GOOD) grey_row(image, y, sample, h->channels);
    }
    free(sample);
    if (code == RG_GOOD && h->plain && fscanf(in->file, " ") != EOF && getc(in->file) != EOF)
        return rg_malformed(
            in->path, ftello(in->file) - 1, "expected the end of a plain file, which holds one picture, found more");
    if (code == RG_GOOD) rg_image_spread(in, image);
    return code;
}

int rg_read_pnm(const rg_image_in *in, int64_t *pages, rg_image *image) {
    pnm_head head;
    *pages = in->place && in->place->at ? in->page : 0;
    for (double next = *pages ? (double)in->place->at : 0; next < (double)in->bytes; next = next_picture(&head)) {
        if (fseeko(in->file, (off_t)next, SEEK_SET) != 0)
            return rg_malformed(
                in->path, (int64_t)next, "expected the next picture, found that the file cannot be positioned there");
        int space = getc(in->file); // netpbm allows it between pictures
        while (space != EOF && isspace(space)) space = getc(in->file);
        if (space == EOF) break;
        ungetc(space, in->file);
        int code = read_head(in, &head);
        if (code != RG_GOOD) return code;
        rg_image_note(in, (*pages)++, head.at, 0, 1);
        if (image && *pages == in->page + 1) return read_pixels(in, &head, image);
        if (head.plain) break;
        if (!image && next_picture(&head) > (double)in->bytes) break; // read_pixels reports the missing part
    }
    return RG_GOOD;
}

int rg_image_write_pgm(const char *path, const rg_image *image) {
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code != RG_GOOD) return code;
    int64_t n = image->width * image->height;
    fprintf(file.stream, "P5\n%" PRId64 " %" PRId64 "\n%d\n", image->width, image->height, image->bits == 8 ? 255 : 65535);
    if (image->bits == 8)
        fwrite(image->pixel, 1, (size_t)n, file.stream);
    else
        for (int64_t i = 0; i < n; i++) {
            uint16_t v = ((const uint16_t *)image->pixel)[i];
            putc(v >> 8, file.stream);
            putc(v & 255, file.stream);
        }
    return rg_file_commit(&file);
}
