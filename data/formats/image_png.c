// SPDX-License-Identifier: MIT
// image_png.c: reads PNG by libpng. Its errors return by longjmp and become the one line; its warnings are not printed.
#include "image_read.h"

bool rg_image_can_write_png(void) { return HAVE_PNG; }

#if !HAVE_PNG

int rg_read_png(const rg_image_in *in, int64_t *pages, rg_image *image) {
    (void)pages, (void)image;
    return rg_fail(RG_USAGE, "%s: is a PNG file, and this program was built without libpng (see regather doctor)", in->path);
}

int rg_image_write_png(const char *path, const rg_image *image) {
    (void)image;
    return rg_fail(RG_USAGE, "%s: no PNG can be written, this program was built without libpng (see regather doctor)", path);
}

#else

#include <png.h>

// State that must survive the longjmp is here, not in locals.
typedef struct png_work {
    const rg_image_in *in;
    int64_t at; // bytes read so far
    char message[160];
    png_structp png;
    png_infop info;
    unsigned char *sample;
    png_bytep *row;
    int channels;
} png_work;

static void on_error(png_structp png, png_const_charp text) {
    png_work *w = png_get_error_ptr(png);
    snprintf(w->message, sizeof w->message, "%s", text);
    longjmp(png_jmpbuf(png), 1);
}

static void on_warning(png_structp png, png_const_charp text) { (void)png, (void)text; }

static void on_read(png_structp png, png_bytep to, size_t n) {
    png_work *w = png_get_io_ptr(png);
    size_t got = fread(to, 1, n, w->in->file);
    w->at += (int64_t)got;
    if (got != n) png_error(png, "the end of the file");
}

static void free_work(png_work *w) {
    if (w->png) png_destroy_read_struct(&w->png, &w->info, NULL);
    free(w->sample);
    free(w->row);
}

// Reads the header, and converts to grey, grey+alpha, RGB or RGB+alpha of 8 or native 16 bits. May longjmp.
static int read_info(png_work *w, rg_image *image) {
    const uint16_t one = 1;
    png_read_info(w->png, w->info);
    double width = png_get_image_width(w->png, w->info), height = png_get_image_height(w->png, w->info);
    int depth = png_get_bit_depth(w->png, w->info), colour = png_get_color_type(w->png, w->info);
    if (colour == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(w->png);
    else if (depth < 8)
        png_set_expand_gray_1_2_4_to_8(w->png);
    if (depth == 16 && *(const unsigned char *)&one == 1) png_set_swap(w->png);
    png_set_interlace_handling(w->png);
    double samples = width * height * depth / 8.0 * png_get_channels(w->png, w->info);
    int code = rg_image_take(w->in, 16, width, height, depth == 16 ? 16 : 8, samples / RG_DEFLATE_MOST, image);
    png_read_update_info(w->png, w->info);
    w->channels = png_get_channels(w->png, w->info);
    return code;
}

static int decode(png_work *w, rg_image *image) {
    if (setjmp(png_jmpbuf(w->png)))
        return rg_malformed(w->in->path, w->at, "expected a whole PNG picture, found: %s", w->message);
    int code = read_info(w, image);
    if (code != RG_GOOD) return code;
    size_t line = png_get_rowbytes(w->png, w->info), rows = (size_t)image->height;
    w->sample = rg_alloc(line * rows);
    w->row = rg_alloc(rows * sizeof *w->row);
    for (size_t y = 0; y < rows; y++) w->row[y] = w->sample + y * line;
    png_read_image(w->png, w->row);
    png_read_end(w->png, NULL);
    for (int64_t y = 0; y < image->height; y++) rg_image_grey_row(image, y, w->row[y], w->channels);
    return RG_GOOD;
}

static uint32_t word(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

// Bypasses the stream, which would read a block again for each of the many pixel chunks; a stream in memory has no file.
static bool read_at(const rg_image_in *in, int64_t at, unsigned char to[12]) {
    const int fd = fileno(in->file);
    return fd >= 0 ? pread(fd, to, 12, (off_t)at) == 12
                   : fseeko(in->file, (off_t)at, SEEK_SET) == 0 && fread(to, 1, 12, in->file) == 12;
}

// Chunk by chunk: a file may hold an animation, of which libpng reads the first picture, and bytes behind its end. What is
// malformed is left to libpng.
static int count(const rg_image_in *in) {
    unsigned char chunk[12];
    uint32_t frames = 1;
    int64_t at = 8;
    do {
        if (!read_at(in, at, chunk)) return RG_GOOD;
        if (!memcmp(chunk + 4, "acTL", 4)) frames = word(chunk + 8);
        at += 12 + (int64_t)word(chunk);
    } while (memcmp(chunk + 4, "IEND", 4));
    if (frames > 1)
        return rg_malformed(
            in->path, 8, "expected one picture, found an animation of %u; save them as single pictures", frames);
    if (in->bytes > at)
        rg_warn("%s: %lld bytes after the end of its picture are ignored", in->path, (long long)(in->bytes - at));
    return RG_GOOD;
}

int rg_png_by_libpng(const rg_image_in *in, rg_image *image) {
    png_work w = {.in = in};
    rewind(in->file);
    w.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &w, on_error, on_warning);
    if (w.png) w.info = png_create_info_struct(w.png);
    if (!w.info) {
        free_work(&w);
        return rg_fail(RG_LACKS, "%s: libpng %s cannot be started", in->path, PNG_LIBPNG_VER_STRING);
    }
    png_set_user_limits(w.png, 0x7FFFFFFF, 0x7FFFFFFF); // rg_image_take has the limit
    png_set_read_fn(w.png, &w, on_read);
    int code = decode(&w, image);
    free_work(&w);
    return code;
}

int rg_read_png(const rg_image_in *in, int64_t *pages, rg_image *image) {
    int code;
    *pages = 1;
    if (!image) return count(in);
    if (!rg_png_by_deflate(in, image, &code)) code = rg_png_by_libpng(in, image);
    if (code == RG_GOOD) rg_image_spread(in, image);
    return code;
}

static int encode(png_work *w, FILE *stream, const char *path, const rg_image *image) {
    const uint16_t one = 1;
    if (setjmp(png_jmpbuf(w->png))) return rg_fail(RG_USAGE, "%s: not written: %s", path, w->message);
    png_init_io(w->png, stream);
    png_set_IHDR(w->png, w->info, (png_uint_32)image->width, (png_uint_32)image->height, image->bits, PNG_COLOR_TYPE_GRAY,
        PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(w->png, 3); // photographs with noise gain nothing from more
    png_write_info(w->png, w->info);
    if (image->bits == 16 && *(const unsigned char *)&one == 1) png_set_swap(w->png);
    for (int64_t y = 0; y < image->height; y++)
        png_write_row(w->png, (png_const_bytep)image->pixel + y * image->width * (image->bits / 8));
    png_write_end(w->png, NULL);
    return RG_GOOD;
}

int rg_image_write_png(const char *path, const rg_image *image) {
    rg_file file;
    png_work w = {0};
    int code = rg_file_open(&file, path);
    if (code != RG_GOOD) return code;
    w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &w, on_error, on_warning);
    if (w.png) w.info = png_create_info_struct(w.png);
    code = w.info ? encode(&w, file.stream, path, image) : rg_fail(RG_LACKS, "%s: libpng cannot be started", path);
    png_destroy_write_struct(&w.png, &w.info);
    return rg_file_end(&file, code);
}

#endif
