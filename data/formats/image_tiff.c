// SPDX-License-Identifier: MIT
// image_tiff.c: TIFF through libtiff, each page a photograph, in strips or tiles, the samples of a pixel together or in planes.
// Its messages become the one line; nothing else is printed.
#include "image_read.h"
#include "mrc.h"

#if !HAVE_TIFF

int rg_read_tiff(const rg_image_in *in, int64_t *pages, rg_image *image)
{
    (void)pages, (void)image;
    return rg_fail(RG_USAGE, "%s: is a TIFF file, and this program was built without libtiff (see regather doctor)", in->path);
}

#else

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

// The client data that libtiff hands back with every read and every message.
typedef struct tiff_work {
    const rg_image_in *in;
    int64_t at;
    char message[200];
} tiff_work;

static tsize_t on_read(thandle_t client, tdata_t to, tsize_t n)
{
    tiff_work *w = client;
    size_t got = fread(to, 1, (size_t)n, w->in->file);
    w->at = ftello(w->in->file);
    return (tsize_t)got;
}

static tsize_t on_write(thandle_t client, tdata_t from, tsize_t n)
{
    (void)client, (void)from, (void)n;
    return 0;
}

static toff_t on_seek(thandle_t client, toff_t offset, int whence)
{
    tiff_work *w = client;
    if (fseeko(w->in->file, (off_t)offset, whence) != 0) return (toff_t)-1;
    w->at = ftello(w->in->file);
    return (toff_t)w->at;
}

static int on_close(thandle_t client)
{
    (void)client; // the stream is the caller's
    return 0;
}

static toff_t on_size(thandle_t client) { return (toff_t)((tiff_work *)client)->in->bytes; }

static void on_message(thandle_t client, const char *module, const char *format, va_list list)
{
    tiff_work *w = client;
    (void)module;
    if (w && !w->message[0]) vsnprintf(w->message, sizeof w->message, format, list);
}

static int damaged(const tiff_work *w, const char *what)
{
    return rg_malformed(w->in->path, w->at, "expected %s, found: %s", what, w->message[0] ? w->message : "the end of the file");
}

typedef struct tiff_page {
    uint32_t width, height;
    uint16_t bits, channels, format, photometric, planar, compression, orientation;
    uint16_t *palette[3];
    bool as_values; // through floats: signed, longer than 16 bits, or real
    bool tiled;
    uint16_t planes;                    // 1: the samples of a pixel stand together
    uint32_t block_width, block_height; // of a tile; of a strip, where there are planes; else of one row
} tiff_page;

// Reads the tags and refuses what has no exact grey value. RG_GOOD, or one line and RG_USAGE.
static int read_tags(TIFF *tiff, const tiff_work *w, tiff_page *p)
{
    *p = (tiff_page){.bits = 1, .channels = 1, .format = SAMPLEFORMAT_UINT, .planar = PLANARCONFIG_CONTIG};
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &p->width) || !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &p->height) ||
        !TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &p->photometric))
        return damaged(w, "the tags ImageWidth, ImageLength and PhotometricInterpretation");
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &p->bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &p->channels);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &p->format);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &p->planar);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &p->compression);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &p->orientation);
    uint32_t kind = 0;
    if (TIFFGetField(tiff, TIFFTAG_SUBFILETYPE, &kind) && kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK))
        return rg_malformed(w->in->path, w->at,
            "expected a photograph on page %" PRId64 ", found a smaller copy or a mask of "
            "another; tiffcp IN.tif,0 OUT.tif takes the first page",
            w->in->page + 1);
    bool grey = p->photometric == PHOTOMETRIC_MINISBLACK || p->photometric == PHOTOMETRIC_MINISWHITE;
    bool colour = p->photometric == PHOTOMETRIC_RGB && (p->channels == 3 || p->channels == 4);
    bool palette = p->photometric == PHOTOMETRIC_PALETTE && p->channels == 1 && p->bits == 8 &&
        TIFFGetField(tiff, TIFFTAG_COLORMAP, &p->palette[0], &p->palette[1], &p->palette[2]);
    p->format = p->format == SAMPLEFORMAT_VOID ? SAMPLEFORMAT_UINT : p->format; // as untyped samples are taken by other readers
    bool real = p->format == SAMPLEFORMAT_IEEEFP && (p->bits == 16 || p->bits == 32 || p->bits == 64);
    bool whole =
        (p->format == SAMPLEFORMAT_UINT || p->format == SAMPLEFORMAT_INT) && (p->bits == 8 || p->bits == 16 || p->bits == 32);
    p->as_values = real || p->format == SAMPLEFORMAT_INT || p->bits == 32;
    if (p->compression != COMPRESSION_NONE && p->compression != COMPRESSION_LZW && p->compression != COMPRESSION_PACKBITS &&
        p->compression != COMPRESSION_ADOBE_DEFLATE && p->compression != COMPRESSION_DEFLATE)
        return rg_malformed(w->in->path, w->at, "expected no compression, LZW, PackBits or Deflate, found scheme %u%s",
            p->compression,
            p->compression >= 65000 && p->compression <= 65002
                ? " (electron events, EER; relion_convert_to_tiff of RELION sums them)"
                : "");
    if (!((grey && p->channels <= 2) || colour || palette) || !(real || whole) || (p->as_values && !(grey && p->channels == 1)))
        return rg_malformed(w->in->path, w->at,
            "expected grey, RGB or palette of 8 or 16 bits, or grey of 32 bits or of floats of 16, 32 or "
            "64, found photometric %u, %u channels, %u bits, sample format %u",
            p->photometric, p->channels, p->bits, p->format);
    if (real && !w->in->range->given && !w->in->range->real)
        return rg_malformed(w->in->path, w->at,
            "expected whole grey values, found floating point (say which values are black and "
            "white by --grey-range LOW:HIGH)");
    p->tiled = TIFFIsTiled(tiff);
    p->planes = p->planar == PLANARCONFIG_SEPARATE ? p->channels : 1;
    p->block_width = p->width;
    p->block_height = 1;
    if (p->tiled &&
        !(TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &p->block_width) && TIFFGetField(tiff, TIFFTAG_TILELENGTH, &p->block_height) &&
            p->block_width && p->block_height))
        return damaged(w, "the tags TileWidth and TileLength");
    if (!p->tiled && p->planes > 1) TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &p->block_height);
    return RG_GOOD;
}

// Palette colours are 16-bit in the file; the 8-bit picture takes their upper bytes.
static void expand_palette(const tiff_page *p, const unsigned char *line, unsigned char *rgb)
{
    for (uint32_t x = 0; x < p->width; x++)
        for (int c = 0; c < 3; c++) rgb[3 * x + (uint32_t)c] = (unsigned char)(p->palette[c][line[x]] >> 8);
}

static void invert_row(rg_image *image, int64_t y)
{
    for (int64_t i = y * image->width; i < (y + 1) * image->width; i++) {
        if (image->bits == 8)
            ((uint8_t *)image->pixel)[i] ^= 0xFF;
        else
            ((uint16_t *)image->pixel)[i] ^= 0xFFFF;
    }
}

static uint32_t at_most(uint32_t a, uint32_t b) { return a < b ? a : b; }

// The rows of the blocks from row y on into `band`, the samples of a pixel together, without what tiles hold beyond the page.
// A strip of planes is read whole, as libtiff unpacks it anew for every row of another plane.
static bool read_band(TIFF *tiff, const tiff_page *p, uint32_t y, unsigned char *block, tmsize_t bytes, unsigned char *band)
{
    if (!p->tiled && p->planes == 1) return TIFFReadScanline(tiff, band, y, 0) >= 0;
    const size_t pixel = (size_t)p->channels * p->bits / 8, part = pixel / p->planes;
    const uint32_t rows = at_most(p->block_height, p->height - y);
    for (uint16_t plane = 0; plane < p->planes; plane++)
        for (uint32_t x = 0, columns; x < p->width; x += columns) {
            columns = at_most(p->block_width, p->width - x);
            if ((p->tiled ? TIFFReadEncodedTile(tiff, TIFFComputeTile(tiff, x, y, 0, plane), block, bytes)
                          : TIFFReadEncodedStrip(tiff, TIFFComputeStrip(tiff, y, plane), block, bytes)) < 0)
                return false;
            const size_t run = p->planes == 1 ? columns : 1;
            for (size_t row = 0; row < rows; row++)
                for (size_t c = 0; c < columns; c += run)
                    memcpy(band + (row * p->width + x + c) * pixel + plane * part, block + (row * p->block_width + c) * part,
                        run * part);
        }
    return true;
}

static float value_of(const tiff_page *p, const void *line, uint32_t x)
{
#define SAMPLE(type) (float)((const type *)line)[x]
    if (p->format == SAMPLEFORMAT_IEEEFP)
        return p->bits == 16 ? rg_half_to_float(((const uint16_t *)line)[x]) : p->bits == 32 ? SAMPLE(float) : SAMPLE(double);
    if (p->format == SAMPLEFORMAT_INT) return p->bits == 8 ? SAMPLE(int8_t) : p->bits == 16 ? SAMPLE(int16_t) : SAMPLE(int32_t);
    return SAMPLE(uint32_t);
#undef SAMPLE
}

// Makes row y of the image of `line`; `room` is for 4 bytes a pixel. RG_GOOD, or one line and RG_USAGE.
static int take_row(const tiff_work *w, const tiff_page *p, rg_image *image, uint32_t y, const unsigned char *line, void *room)
{
    if (p->as_values) {
        float *value = room;
        for (uint32_t x = 0; x < p->width; x++) value[x] = value_of(p, line, x);
        return rg_image_value_row(w->in, image, y, value);
    }
    if (p->palette[0]) expand_palette(p, line, room);
    rg_image_grey_row(image, y, p->palette[0] ? room : line, p->palette[0] ? 3 : p->channels);
    if (p->photometric == PHOTOMETRIC_MINISWHITE) invert_row(image, y);
    return RG_GOOD;
}

static int read_rows(TIFF *tiff, const tiff_work *w, const tiff_page *p, double packing, rg_image *image)
{
    const size_t row_bytes = (size_t)p->width * p->channels * p->bits / 8;
    const tmsize_t bytes = p->tiled ? TIFFTileSize(tiff) : TIFFStripSize(tiff);
    if (bytes <= 0 || (p->tiled && (double)bytes / packing > (double)w->in->bytes))
        return rg_malformed(w->in->path, w->at, "expected %s that the file can hold, found %" PRIu32 " x %" PRIu32 " pixels",
            p->tiled ? "tiles" : "strips", p->block_width, p->block_height);
    const bool blocks = p->tiled || p->planes > 1;
    const uint32_t rows = at_most(p->block_height, p->height);
    unsigned char *block = blocks ? rg_alloc((size_t)bytes) : NULL, *band = rg_alloc(rows * row_bytes);
    void *room = rg_alloc(4 * (size_t)p->width);
    int code = RG_GOOD;
    for (uint32_t y = 0; y < p->height && code == RG_GOOD; y++) {
        if (y % rows == 0 && !read_band(tiff, p, y, block, bytes, band))
            code = damaged(w, blocks ? "a block of pixels" : "a row of pixels");
        else
            code = take_row(w, p, image, y, band + y % rows * row_bytes, room);
    }
    free(block);
    free(band);
    free(room);
    return code;
}

// Turns the rows as the file has them into the picture that its tag Orientation means, which is what the format says and viewers
// show.
static void turn(uint16_t orientation, rg_image *image)
{
    // Of its 1 to 8 less 1: bit 2 turns rows into columns, bit 1 exchanges top and bottom, and one alone of bits 1 and 0 the sides.
    const unsigned o = orientation - 1u;
    const bool swapped = o & 4, bottom = o & 2, right = (o ^ o >> 1) & 1;
    const int64_t width = swapped ? image->height : image->width, height = swapped ? image->width : image->height;
    const size_t size = (size_t)image->bits / 8;
    char *turned = rg_alloc((size_t)(width * height) * size);
    for (int64_t y = 0, i = 0; y < image->height; y++)
        for (int64_t x = 0; x < image->width; x++, i++) {
            const int64_t column = swapped ? y : x, row = swapped ? x : y;
            const int64_t to = (bottom ? height - 1 - row : row) * width + (right ? width - 1 - column : column);
            memcpy(turned + (size_t)to * size, (char *)image->pixel + (size_t)i * size, size);
        }
    free(image->pixel);
    *image = (rg_image){width, height, image->bits, turned};
}

// ImageJ takes the rows as they are: a mask that was drawn there lies otherwise. Said when the pages are counted, since photographs
// are read in threads that say nothing; once, as a camera writes many.
static void say_that_it_turns(TIFF *tiff, const tiff_work *w)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    uint16_t orientation;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
    if (orientation != ORIENTATION_TOPLEFT && !atomic_flag_test_and_set(&said))
        rg_warn("%s: its tag Orientation, %u, says that pixel 0 is not at the upper left: the picture is turned as it says; "
                "programs that do not (ImageJ) show it otherwise. tiffset -s 274 1 FILE makes it 1, which all take alike",
            w->in->path, orientation);
}

static int read_page(TIFF *tiff, tiff_work *w, rg_image *image)
{
    tiff_page p;
    if (w->in->page > 0xFFFF || !TIFFSetDirectory(tiff, (uint16_t)w->in->page)) return damaged(w, "the requested page");
    int code = read_tags(tiff, w, &p);
    // LZW makes at most 4096 / 1.5 bytes out of one, Deflate 1032, PackBits 64.
    double bytes = (double)p.width * p.height * p.channels * p.bits / 8;
    double packing = p.compression == COMPRESSION_NONE ? 1 : 2731;
    const int bits = p.as_values && w->in->range->real ? 32 : p.bits == 8 && !(p.as_values && w->in->range->given) ? 8 : 16;
    if (code == RG_GOOD) code = rg_image_take(w->in, w->at, p.width, p.height, bits, bytes / packing, image);
    if (code == RG_GOOD) code = read_rows(tiff, w, &p, packing, image);
    if (code == RG_GOOD && p.orientation != ORIENTATION_TOPLEFT) turn(p.orientation, image);
    return code;
}

// ImageJ writes of a stack beyond 4 GiB the first directory alone, and in its description how many images follow.
static int all_of_imagej(TIFF *tiff, const tiff_work *w, int64_t pages)
{
    const char *text, *images = NULL;
    if (pages == 1 && TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) && strncmp(text, "ImageJ=", 7) == 0)
        images = strstr(text, "\nimages=");
    const long n = images ? strtol(images + 8, NULL, 10) : 1;
    return n <= 1 ? RG_GOOD
                  : rg_malformed(w->in->path, w->at,
                        "expected a directory of each of ImageJ's %ld images, found 1: it "
                        "leaves them out beyond 4 GiB; save them as an image sequence",
                        n);
}

int rg_read_tiff(const rg_image_in *in, int64_t *pages, rg_image *image)
{
    tiff_work w = {.in = in};
    TIFFSetErrorHandler(NULL);
    TIFFSetWarningHandler(NULL);
    TIFFSetErrorHandlerExt(on_message);
    TIFF *tiff = TIFFClientOpen(in->path, "rm", &w, on_read, on_write, on_seek, on_close, on_size, NULL, NULL);
    if (!tiff) return damaged(&w, "a TIFF header and directory");
    int code = RG_GOOD;
    if (!image) say_that_it_turns(tiff, &w);
    w.message[0] = '\0';
    *pages = TIFFNumberOfDirectories(tiff);
    if (*pages == 0)
        code = damaged(&w, "at least one page");
    else if (w.message[0]) // it counts as far as it can read
        code = damaged(&w, "the directory of the next page");
    if (code == RG_GOOD) code = all_of_imagej(tiff, &w, *pages);
    if (code == RG_GOOD && image) code = read_page(tiff, &w, image);
    TIFFClose(tiff);
    return code;
}

#endif
