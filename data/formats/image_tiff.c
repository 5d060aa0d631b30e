// SPDX-License-Identifier: MIT
// image_tiff.c: reads TIFF by libtiff, in strips or tiles, with the samples of a pixel together or in planes. Its messages
// become the one line; nothing else is printed.
//
// A directory holds one photograph or several: consecutive ones after its data, if MetaMorph (tag UIC2), ImageJ or tifffile
// ("shaped") give their number; and one in each grey sample of a pixel that is not alpha. Smaller copies and masks are skipped.
#include "image_read.h"
#include "mrc.h"
#include "../../impl/suite.h"

#if !HAVE_TIFF

int rg_read_tiff(const rg_image_in *in, int64_t *pages, rg_image *image) {
    (void)pages, (void)image;
    return rg_fail(RG_USAGE, "%s: is a TIFF file, and this program was built without libtiff (see regather doctor)", in->path);
}

#else

#include <tiffio.h>

// The client data that libtiff passes with every read and every message.
typedef struct tiff_work {
    const rg_image_in *in;
    int64_t at;
    int64_t shift;          // added to the pixel offsets of the directory
    int64_t *read, n_reads; // offsets of the reads while directories are searched
    bool little, big;       // lowest byte first; offsets of 8 bytes
    char message[200];
} tiff_work;

// Makes the header name the directory of a page with known place as the first: libtiff reads all directories before another.
static void aim(const tiff_work *w, int64_t from, unsigned char *bytes, size_t n) {
    const int64_t size = w->big ? 8 : 4; // the offset is that long, and begins at that byte
    for (size_t i = 0; i < n; i++) {
        const int64_t k = from + (int64_t)i - size;
        if (k >= 0 && k < size) bytes[i] = (unsigned char)(w->in->place->at >> 8 * (w->little ? k : size - 1 - k));
    }
}

static tsize_t on_read(thandle_t client, tdata_t to, tsize_t n) {
    tiff_work *w = client;
    if (!w->shift) {
        w->read = rg_grow(w->read, w->n_reads, sizeof *w->read);
        w->read[w->n_reads++] = w->at;
    }
    size_t got = fread(to, 1, (size_t)n, w->in->file);
    if (w->in->place && w->in->place->at && w->at < 16) aim(w, w->at, to, got);
    w->at = ftello(w->in->file);
    return (tsize_t)got;
}

static tsize_t on_write(thandle_t client, tdata_t from, tsize_t n) {
    (void)client, (void)from, (void)n;
    return 0;
}

static toff_t on_seek(thandle_t client, toff_t offset, int whence) {
    tiff_work *w = client;
    if (fseeko(w->in->file, (off_t)offset + (whence == SEEK_SET ? w->shift : 0), whence) != 0) return (toff_t)-1;
    w->at = ftello(w->in->file);
    return (toff_t)(w->at - w->shift);
}

static int on_close(thandle_t client) {
    (void)client; // the stream is the caller's
    return 0;
}

static toff_t on_size(thandle_t client) { return (toff_t)((tiff_work *)client)->in->bytes; }

static void on_message(thandle_t client, const char *module, const char *format, va_list list) {
    tiff_work *w = client;
    (void)module;
    if (w && !w->message[0]) vsnprintf(w->message, sizeof w->message, format, list);
}

static int damaged(const tiff_work *w, const char *what) {
    return rg_malformed(w->in->path, w->at, "expected %s, found: %s", what, w->message[0] ? w->message : "the end of the file");
}

typedef struct tiff_page {
    uint32_t width, height;
    uint16_t bits, channels, format, photometric, planar, compression, orientation;
    bool grey;
    int unstated;        // channels of no stated meaning
    uint16_t packed;     // bits of a sample in the file if fewer than 8; `bits` is then 8
    uint16_t pictures;   // number of grey channels that are not alpha; 1 for colours
    uint16_t picture[8]; // their channels
    uint16_t channel;    // the one to read
    int64_t frames;      // one after the other
    uint16_t *palette[3];
    int palette_shift; // to 8 bits
    bool as_values;    // through floats: signed, longer than 16 bits, real, or brought to a grey range
    bool tiled;
    uint16_t planes;                    // 1: the samples of a pixel are contiguous
    uint32_t block_width, block_height; // of a tile; with planes, of a strip; else of one row
} tiff_page;

static bool is_lossless(uint16_t scheme) {
    static const uint16_t known[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_PACKBITS, COMPRESSION_ADOBE_DEFLATE,
        COMPRESSION_DEFLATE, COMPRESSION_LZMA, 50000 /* ZSTD */, COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3,
        COMPRESSION_CCITTFAX4};
    for (int i = 0; i < RG_COUNT(known); i++)
        if (known[i] == scheme) return TIFFIsCODECConfigured(scheme);
    return false;
}

// Finds the channels that are pictures: neither colours nor alpha. A channel without a stated meaning (ExtraSamples 0, or no
// such tag) is not alpha.
static void find_pictures(TIFF *tiff, tiff_page *p) {
    uint16_t n_extra = 0, *extra = NULL;
    if (!TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &n_extra, &extra)) n_extra = 0;
    p->picture[0] = 0;
    p->pictures = 1;
    for (int c = p->grey ? 1 : 3; c < p->channels; c++) {
        const int i = c - (p->channels - n_extra); // index among the last channels
        if (i >= 0 && (extra[i] == EXTRASAMPLE_ASSOCALPHA || extra[i] == EXTRASAMPLE_UNASSALPHA)) continue;
        p->unstated++;
        if (p->grey && p->pictures < RG_COUNT(p->picture)) p->picture[p->pictures++] = (uint16_t)c;
    }
}

// RG_GOOD, or one line and RG_USAGE if there is no exact grey value.
static int refuse(const tiff_work *w, const tiff_page *p) {
    const bool colour = p->photometric == PHOTOMETRIC_RGB && (p->channels == 3 || p->channels == 4);
    const bool real = p->format == SAMPLEFORMAT_IEEEFP && (p->bits == 16 || p->bits == 32 || p->bits == 64);
    const bool whole =
        (p->format == SAMPLEFORMAT_UINT || p->format == SAMPLEFORMAT_INT) && (p->bits == 8 || p->bits == 16 || p->bits == 32);
    if (!is_lossless(p->compression))
        return rg_malformed(w->in->path, w->at, "expected a lossless compression that this libtiff has, found scheme %u%s",
            p->compression,
            p->compression >= 65000 && p->compression <= 65002
                ? " (electron events, EER; relion_convert_to_tiff of RELION sums them)"
                : "");
    if (!(p->grey || colour || p->palette[0]) || !(real || whole) || (p->as_values && !p->grey))
        return rg_malformed(w->in->path, w->at,
            "expected grey of 1, 2, 4, 8, 16 or 32 bits or of floats of 16, 32 or 64, RGB of 8 or 16 bits, or a palette of at most 8, "
            "found photometric %u, %u channels, %u bits, sample format %u%s",
            p->photometric, p->channels, p->packed, p->format, p->tiled && p->packed < 8 ? ", in tiles" : "");
    if (p->unstated && (!p->grey || p->unstated >= RG_COUNT(p->picture)))
        return rg_malformed(w->in->path, w->at, "expected %s, found %d of which tag ExtraSamples says nothing",
            p->grey ? "at most 8 grey channels" : "colours, and of a fourth channel that it is alpha", p->unstated);
    if (real && !w->in->range->given && !w->in->range->real)
        return rg_malformed(w->in->path, w->at,
            "expected whole grey values, found floating point (say which values are black and "
            "white by --grey-range LOW:HIGH)");
    return RG_GOOD;
}

// RG_GOOD, or one line and RG_USAGE.
static int read_tags(TIFF *tiff, const tiff_work *w, tiff_page *p) {
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
    p->grey = p->photometric == PHOTOMETRIC_MINISBLACK || p->photometric == PHOTOMETRIC_MINISWHITE;
    const bool palette = p->photometric == PHOTOMETRIC_PALETTE && p->channels == 1 && p->bits <= 8 &&
        TIFFGetField(tiff, TIFFTAG_COLORMAP, &p->palette[0], &p->palette[1], &p->palette[2]);
    p->format = p->format == SAMPLEFORMAT_VOID ? SAMPLEFORMAT_UINT : p->format; // as other readers treat untyped samples
    p->packed = p->bits;
    p->tiled = TIFFIsTiled(tiff);
    if (p->channels == 1 && !p->tiled && p->format == SAMPLEFORMAT_UINT && (p->bits == 1 || p->bits == 2 || p->bits == 4))
        p->bits = 8;
    p->as_values = p->format != SAMPLEFORMAT_UINT || p->bits == 32 || (p->grey && w->in->range->given && p->packed >= 8);
    for (int c = 0; palette && c < 3; c++) // some programs write colours of 8 bits; libtiff's tools allow for it, too
        for (int i = 0; i < 1 << p->packed; i++)
            if (p->palette[c][i] > UINT8_MAX) p->palette_shift = 8;
    p->planes = p->planar == PLANARCONFIG_SEPARATE ? p->channels : 1;
    p->block_width = p->width;
    p->block_height = 1;
    if (p->tiled &&
        !(TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &p->block_width) && TIFFGetField(tiff, TIFFTAG_TILELENGTH, &p->block_height) &&
            p->block_width && p->block_height))
        return damaged(w, "the tags TileWidth and TileLength");
    if (!p->tiled && p->planes > 1) TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &p->block_height);
    find_pictures(tiff, p);
    return RG_GOOD;
}

// Palette colours are 16-bit in the file; the 8-bit picture takes their upper bytes.
static void expand_palette(const tiff_page *p, const unsigned char *line, unsigned char *rgb) {
    for (uint32_t x = 0; x < p->width; x++)
        for (int c = 0; c < 3; c++) rgb[3 * x + (uint32_t)c] = (unsigned char)(p->palette[c][line[x]] >> p->palette_shift);
}

static void invert_row(rg_image *image, int64_t y) {
    for (int64_t i = y * image->width; i < (y + 1) * image->width; i++) {
        if (image->bits == 8)
            ((uint8_t *)image->pixel)[i] ^= 0xFF;
        else
            ((uint16_t *)image->pixel)[i] ^= 0xFFFF;
    }
}

static uint32_t at_most(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Reads the rows of the blocks from row y on into `band`, the samples of a pixel contiguous, without the parts of tiles beyond
// the page. A strip of planes is read whole, as libtiff would unpack it again for every row of another plane.
static bool read_band(TIFF *tiff, const tiff_page *p, uint32_t y, unsigned char *block, tmsize_t bytes, unsigned char *band) {
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

static float value_of(const tiff_page *p, const void *line, uint32_t x) {
#define SAMPLE(type) (float)((const type *)line)[x]
    if (p->format == SAMPLEFORMAT_IEEEFP)
        return p->bits == 16 ? rg_half_to_float(((const uint16_t *)line)[x]) : p->bits == 32 ? SAMPLE(float) : SAMPLE(double);
    if (p->format == SAMPLEFORMAT_INT) return p->bits == 8 ? SAMPLE(int8_t) : p->bits == 16 ? SAMPLE(int16_t) : SAMPLE(int32_t);
    return p->bits == 8 ? SAMPLE(uint8_t) : p->bits == 16 ? SAMPLE(uint16_t) : SAMPLE(uint32_t);
#undef SAMPLE
}

// Inverts a value of an image with white at 0: within the grey range, if given, else within its type's; negates a float.
static float mirrored(const tiff_work *w, const tiff_page *p, float v) {
    if (w->in->range->given) return (float)(w->in->range->low + w->in->range->high - v);
    return p->format == SAMPLEFORMAT_IEEEFP ? -v
        : p->format == SAMPLEFORMAT_INT     ? -1 - v
                                            : (float)(UINT32_MAX >> (32 - p->bits)) - v;
}

// Unpacks a row's samples of 1, 2 or 4 bits, the first in the highest bits of a byte: palette indices, or grey scaled to 8
// bits.
static void unpack(const tiff_page *p, const unsigned char *line, unsigned char *to) {
    const unsigned most = (1u << p->packed) - 1, times = p->palette[0] ? 1 : UINT8_MAX / most;
    for (uint32_t x = 0; x < p->width; x++) {
        const uint32_t bit = x * p->packed;
        to[x] = (unsigned char)((line[bit / 8] >> (8 - p->packed - bit % 8) & most) * times);
    }
}

// Extracts one channel of a row.
static void pick(const tiff_page *p, const unsigned char *line, unsigned char *to) {
    const size_t size = p->bits / 8;
    for (size_t x = 0; x < p->width; x++) memcpy(to + x * size, line + (x * p->channels + p->channel) * size, size);
}

// Makes row y of the image of `line`; `room` is for 16 bytes a pixel. RG_GOOD, or one line and RG_USAGE.
static int take_row(
    const tiff_work *w, const tiff_page *p, rg_image *image, uint32_t y, const unsigned char *line, char *room) {
    unsigned char *made = (unsigned char *)room + 8 * (size_t)p->width;
    const unsigned char *one = made;
    const bool white = p->photometric == PHOTOMETRIC_MINISWHITE;
    if (p->packed < 8)
        unpack(p, line, made);
    else if (p->grey && p->channels > 1)
        pick(p, line, made);
    else
        one = line;
    if (p->as_values) {
        float *value = (float *)(void *)room;
        for (uint32_t x = 0; x < p->width; x++) value[x] = white ? mirrored(w, p, value_of(p, one, x)) : value_of(p, one, x);
        return rg_image_value_row(w->in, image, y, value);
    }
    if (p->palette[0]) expand_palette(p, one, (unsigned char *)room);
    rg_image_grey_row(image, y, p->palette[0] ? (void *)room : one, p->grey ? 1 : p->palette[0] ? 3 : p->channels);
    if (white) invert_row(image, y);
    return RG_GOOD;
}

static int read_rows(TIFF *tiff, const tiff_work *w, const tiff_page *p, double packing, rg_image *image) {
    const size_t row_bytes = ((size_t)p->width * p->channels * p->packed + 7) / 8;
    const tmsize_t bytes = p->tiled ? TIFFTileSize(tiff) : TIFFStripSize(tiff);
    if (bytes <= 0 || (p->tiled && (double)bytes / packing > (double)w->in->bytes))
        return rg_malformed(w->in->path, w->at, "expected %s that the file can hold, found %" PRIu32 " x %" PRIu32 " pixels",
            p->tiled ? "tiles" : "strips", p->block_width, p->block_height);
    const bool blocks = p->tiled || p->planes > 1;
    const uint32_t rows = at_most(p->block_height, p->height);
    RG_FREED unsigned char *block = blocks ? rg_alloc((size_t)bytes) : NULL, *band = rg_alloc(rows * row_bytes);
    RG_FREED char *room = rg_alloc(16 * (size_t)p->width);
    int code = RG_GOOD;
    for (uint32_t y = 0; y < p->height && code == RG_GOOD; y++) {
        if (y % rows == 0 && !read_band(tiff, p, y, block, bytes, band))
            code = damaged(w, blocks ? "a block of pixels" : "a row of pixels");
        else
            code = take_row(w, p, image, y, band + y % rows * row_bytes, room);
    }
    return code;
}

// Turns the picture according to its tag Orientation, as the format requires and viewers do.
static void turn(uint16_t orientation, rg_image *image) {
    // Orientation - 1: bit 2 exchanges rows and columns, bit 1 top and bottom, and exactly one of bits 1 and 0 left and right.
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

// Warns because ImageJ ignores the tag, so a mask drawn there does not match. Called when pages are counted, since photographs
// are read in silent threads; once, as a camera writes many.
static void say_that_it_turns(TIFF *tiff, const tiff_work *w) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    uint16_t orientation;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
    if (orientation != ORIENTATION_TOPLEFT && !atomic_flag_test_and_set(&said))
        rg_warn("%s: its tag Orientation, %u, says that pixel 0 is not at the upper left: the picture is turned as it says; "
                "programs that do not (ImageJ) show it otherwise. tiffset -s 274 1 FILE makes it 1, which all take alike",
            w->in->path, orientation);
}

// The number of photographs that the directory's program states: one after the other if there is only one directory.
static int64_t stated_frames(TIFF *tiff, const tiff_page *p) {
    enum { UIC2 = 33629 };
    const char *text;
    uint32_t n = 0;
    void *planes;
    if (TIFFGetField(tiff, UIC2, &n, &planes)) return n;
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text)) return 1;
    const char *images = strncmp(text, "ImageJ=", 7) ? NULL : strstr(text, "\nimages=");
    if (images) return strtol(images + 8, NULL, 10);
    double values = strncmp(text, "{\"shape\": [", 11) ? 0 : 1;
    for (const char *at = text + 11; values > 0 && *at && at[-1] != ']';) {
        char *end;
        values *= strtod(at, &end);
        at = end + strspn(end, " ,") + (*end == ']');
        if (end == at) return 1;
    }
    const double frames = values / ((double)p->width * p->height * p->channels);
    return frames >= 1 && frames < INT32_MAX ? (int64_t)frames : 1;
}

// Bytes of the pixels of this directory, from *first on; 0 if they are not contiguous.
static int64_t together(TIFF *tiff, bool tiled, int64_t *first, int64_t *end) {
    const uint32_t n = tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
    int64_t bytes = 0;
    *first = (int64_t)TIFFGetStrileOffset(tiff, 0);
    *end = 0;
    bool joined = true;
    for (uint32_t i = 0; i < n; i++) {
        const int64_t at = (int64_t)TIFFGetStrileOffset(tiff, i), size = (int64_t)TIFFGetStrileByteCount(tiff, i);
        joined &= at == *first + bytes;
        bytes += size;
        *end = at + size > *end ? at + size : *end;
    }
    return joined ? bytes : 0;
}

// Finds picture number in->page: makes its directory the current one and sets the page's frame and channel. Without an image,
// counts all pictures into *pages.
typedef struct tiff_search {
    int64_t pages, full, left, data_end, frame, frame_bytes; // full: directories that are not copies; left: remaining pictures
    int64_t directories;                                     // 0: not counted yet
    bool found;
    bool has_others; // directories below directories, which are ignored
} tiff_search;

// Whether the next directory's photograph directly follows this one's: then each has its own directory.
static bool next_is_behind(TIFF *tiff, int64_t end) {
    const toff_t here = TIFFCurrentDirOffset(tiff);
    const bool behind = TIFFReadDirectory(tiff) && (int64_t)TIFFGetStrileOffset(tiff, 0) == end;
    TIFFSetSubDirectory(tiff, here);
    return behind;
}

static int count_frames(TIFF *tiff, tiff_work *w, tiff_page *p, tiff_search *s) {
    int64_t first, end, bytes = together(tiff, p->tiled, &first, &end);
    const bool known = w->in->place && w->in->place->at;
    const int64_t stated = known ? 1 : stated_frames(tiff, p);
    if (stated > 1 && !s->directories) s->directories = TIFFNumberOfDirectories(tiff);
    const bool raw = p->compression == COMPRESSION_NONE && bytes > 0;
    p->frames = known ? w->in->place->frames : 1;
    if (stated > 1 && (s->directories == 1 || (raw && !next_is_behind(tiff, first + bytes)))) {
        if (raw && (double)first + (double)stated * (double)bytes <= (double)w->in->bytes)
            p->frames = stated;
        else if (s->directories == 1)
            return rg_malformed(w->in->path, w->at,
                "expected the %" PRId64 " images that its program says it wrote, found 1 directory%s", stated,
                raw ? " and too few bytes for them behind it" : "; save them as an image sequence");
    }
    if (p->frames > 1) end = first + p->frames * bytes;
    s->data_end = end > s->data_end ? end : s->data_end;
    s->frame_bytes = bytes;
    return RG_GOOD;
}

// Refuses a file with room for another photograph, which no directory names, after the last pixels.
static int check_rest(const tiff_work *w, const tiff_search *s) {
    int64_t next = w->in->bytes;
    for (int64_t i = 0; i < w->n_reads; i++)
        if (w->read[i] >= s->data_end && w->read[i] < next) next = w->read[i];
    if (s->has_others || s->frame_bytes < 1 || next - s->data_end < s->frame_bytes) return RG_GOOD;
    return rg_malformed(w->in->path, s->data_end,
        "expected nothing behind the last of %" PRId64 " photographs, found %" PRId64
        " bytes that no directory names, as of %" PRId64 " more",
        s->pages, next - s->data_end, (next - s->data_end) / s->frame_bytes);
}

// Refuses files with photographs that are not read: in the depth of a directory, or larger ones below the first, their preview.
static int check_depth(TIFF *tiff, const tiff_work *w, const tiff_page *p, const tiff_search *s) {
    const toff_t here = TIFFCurrentDirOffset(tiff);
    uint32_t depth = 1, width = 0;
    uint16_t n = 0;
    toff_t *offset, below;
    if (TIFFGetField(tiff, TIFFTAG_IMAGEDEPTH, &depth) && depth > 1)
        return rg_malformed(w->in->path, w->at,
            "expected a directory for each photograph, found %" PRIu32 " in the depth of one; save them as pages", depth);
    if (s->full > 1 || !TIFFGetField(tiff, TIFFTAG_SUBIFD, &n, &offset) || !n) return RG_GOOD;
    below = *offset;
    if (TIFFSetSubDirectory(tiff, below)) TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFSetSubDirectory(tiff, here);
    return width <= p->width ? RG_GOOD
                             : rg_malformed(w->in->path, (int64_t)below,
                                   "expected smaller copies below the photograph of %" PRIu32
                                   " columns, found a larger one of %" PRIu32 "; save that as a file of its own",
                                   p->width, width);
}

static int look_through(TIFF *tiff, tiff_work *w, bool count, tiff_page *p, tiff_search *s) {
    const bool known = w->in->place && w->in->place->at;
    s->left = known ? w->in->place->nth : w->in->page;
    if (count && ((s->directories = TIFFNumberOfDirectories(tiff)) == 0 || w->message[0])) // counts up to the first fault
        return damaged(w, "the directory of the next page");
    do {
        uint32_t kind = 0;
        void *others;
        uint16_t n_others;
        s->has_others |= TIFFGetField(tiff, TIFFTAG_SUBIFD, &n_others, &others);
        if (TIFFGetField(tiff, TIFFTAG_SUBFILETYPE, &kind) && kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) {
            int64_t first, end;
            together(tiff, TIFFIsTiled(tiff), &first, &end);
            s->data_end = end > s->data_end ? end : s->data_end;
            continue;
        }
        s->full++;
        int code = read_tags(tiff, w, p);
        if (code == RG_GOOD && count) code = check_depth(tiff, w, p, s);
        if (code == RG_GOOD) code = count_frames(tiff, w, p, s);
        if (code != RG_GOOD) return code;
        if (p->palette[0]) // the palette of the directory read last
            TIFFGetField(tiff, TIFFTAG_COLORMAP, &p->palette[0], &p->palette[1], &p->palette[2]);
        const int64_t here = p->frames * p->pictures;
        for (int64_t k = 0; k < here && count; k++)
            rg_image_note(w->in, s->pages + k, (int64_t)TIFFCurrentDirOffset(tiff), k, p->frames);
        s->pages = known ? w->in->page + 1 : s->pages + here;
        if (!count && s->left < here) {
            s->found = true;
            s->frame = s->left / p->pictures;
            p->channel = p->picture[s->left % p->pictures];
            return refuse(w, p);
        }
        s->left -= here;
    } while (w->message[0] = '\0', TIFFReadDirectory(tiff));
    if (w->message[0]) return damaged(w, "the directory of the next page");
    if (!s->full)
        return rg_malformed(w->in->path, w->at, "expected a photograph, found smaller copies or masks of others alone");
    return count ? check_rest(w, s) : RG_GOOD;
}

static int read_page(TIFF *tiff, tiff_work *w, const tiff_page *p, const tiff_search *s, rg_image *image) {
    // LZW expands a byte to at most 4096 / 1.5 bytes, Deflate to 1032, PackBits to 64; newer schemes have no such bound.
    const double bytes = (double)p->width * p->height * p->channels * p->packed / 8;
    const bool newer = p->compression == COMPRESSION_LZMA || p->compression == 50000 || p->packed == 1;
    const double packing = p->compression == COMPRESSION_NONE ? 1 : newer ? 1 << 17 : 2731;
    const bool real = p->as_values && w->in->range->real, spread = p->as_values && w->in->range->given;
    int code = rg_image_take(w->in, w->at, p->width, p->height,
        real                          ? 32
            : p->bits == 8 && !spread ? 8
                                      : 16,
        bytes / packing, image);
    w->shift = s->frame * s->frame_bytes;
    if (code == RG_GOOD) code = read_rows(tiff, w, p, packing, image);
    if (code == RG_GOOD && !p->as_values) rg_image_spread(w->in, image);
    if (code == RG_GOOD && p->orientation != ORIENTATION_TOPLEFT) turn(p->orientation, image);
    return code;
}

int rg_read_tiff(const rg_image_in *in, int64_t *pages, rg_image *image) {
    tiff_work w = {.in = in, .little = getc(in->file) == 'I'};
    const int low = (getc(in->file), getc(in->file)), high = getc(in->file);
    w.big = low == '+' || high == '+'; // else '*'
    rewind(in->file);
    TIFFSetErrorHandler(NULL);
    TIFFSetWarningHandler(NULL);
    TIFFSetErrorHandlerExt(on_message);
    TIFF *tiff = TIFFClientOpen(in->path, "rm", &w, on_read, on_write, on_seek, on_close, on_size, NULL, NULL);
    if (!tiff) {
        free(w.read);
        return damaged(&w, "a TIFF header and directory");
    }
    tiff_page page;
    tiff_search found = {0};
    if (!image) say_that_it_turns(tiff, &w);
    int code = look_through(tiff, &w, !image, &page, &found);
    *pages = found.pages;
    if (code == RG_GOOD && found.found) code = read_page(tiff, &w, &page, &found, image);
    TIFFClose(tiff);
    free(w.read);
    return code;
}

#endif
