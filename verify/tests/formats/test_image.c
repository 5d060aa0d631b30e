// SPDX-License-Identifier: MIT
// test_image.c: photographs of every format against bytes laid out by hand, and the errors for files that are not photographs.
#include "../../../data/formats/image_read.h"
#include "../../../data/formats/mrc.h"
#include "../../../impl/suite.h"
#include "../test.h"
#include "../test_data.h"

#if HAVE_PNG
#include <png.h>
#endif
#if HAVE_TIFF
#include <tiffio.h>
#endif

static const rg_grey_range no_range = {0};

static int pixel_at(const rg_image *image, int64_t i) {
    return image->bits == 8 ? ((const uint8_t *)image->pixel)[i] : ((const uint16_t *)image->pixel)[i];
}

// Reads a file and compares it with n expected grey values.
static void expect_image(const char *path, int64_t width, int64_t height, int bits, const int *grey) {
    RG_ENDS(rg_image_free) rg_image image;
    assert_int_equal(rg_image_read(path, 0, &no_range, &image), RG_GOOD);
    assert_true(image.width == width && image.height == height && image.bits == bits);
    for (int64_t i = 0; i < width * height; i++) assert_int_equal(pixel_at(&image, i), grey[i]);
}
#define EXPECT(path, w, h, bits, ...) expect_image(path, w, h, bits, (const int[]){__VA_ARGS__})
#define TEXT(name, text) put_file(name, text, sizeof(text) - 1)

static int read_code(const char *path) {
    rg_image image;
    int code = rg_image_read(path, 0, &no_range, &image);
    if (code == RG_GOOD) rg_image_free(&image);
    return code;
}

TEST(test_pnm) {
    EXPECT(TEXT("a.pgm", "P5\n2 2\n255\n\x00\x01\xFE\xFF"), 2, 2, 8, 0, 1, 254, 255);
    EXPECT(TEXT("a.png", "P5 2 1 65535 \x01\x02\xFF\xFE"), 2, 1, 16, 0x0102, 0xFFFE); // the name does not matter
    EXPECT(TEXT("a.pgm", "P5 1 1 1023\n\x03\xFF"), 1, 1, 16, 1023);
    EXPECT(TEXT("a.pgm", "P2 # a comment\n3 # three\n1\n255\n10\t20\n 255"), 3, 1, 8, 10, 20, 255);
    EXPECT(TEXT("a.pgm", "P2 2 1 300 0 300"), 2, 1, 16, 0, 300);
    // 0.299 * 255 = 76.245, 0.587 * 255 = 149.685, 0.114 * 255 = 29.07.
    EXPECT(TEXT("a.ppm", "P6 4 1 255\n\xFF\0\0\0\xFF\0\0\0\xFF\xFF\xFF\xFF"), 4, 1, 8, 76, 150, 29, 255);
    // 0.299 * 5 = 1.495; (0.299 + 0.587 + 0.114) * 10 = 10; 0.587 * 500 = 293.5 is rounded up.
    EXPECT(TEXT("a.ppm", "P3 3 1 500 5 0 0 10 10 10 0 500 0"), 3, 1, 16, 1, 10, 294);
}

TEST(test_writers) {
    uint8_t grey8[6] = {0, 1, 2, 253, 254, 255};
    uint16_t grey16[6] = {0, 1, 256, 0x1234, 0xFF00, 65535};
    const rg_image image[2] = {{3, 2, 8, grey8}, {3, 2, 16, grey16}};
    for (int png = 0; png <= rg_image_can_write_png(); png++) {
        int (*write)(const char *, const rg_image *) = png ? rg_image_write_png : rg_image_write_pgm;
        assert_int_equal(write(in_dir("w8"), &image[0]) + write(in_dir("w16"), &image[1]), RG_GOOD);
        EXPECT(in_dir("w8"), 3, 2, 8, 0, 1, 2, 253, 254, 255);
        EXPECT(in_dir("w16"), 3, 2, 16, 0, 1, 256, 0x1234, 0xFF00, 65535);
    }
    assert_refused(rg_image_write_pgm(in_dir("no/such/folder"), &image[0]), "cannot write here");
}

#if HAVE_PNG
static void write_filtered(
    const char *path, int w, int h, int depth, int colour, int interlace, int filters, const unsigned char *row) {
    static const png_color palette[256] = {{255, 0, 0}, {0, 255, 0}, {10, 20, 30}};
    FILE *f = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, f);
    png_set_IHDR(png, info, (png_uint_32)w, (png_uint_32)h, depth, colour, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
        PNG_FILTER_TYPE_DEFAULT);
    if (colour == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 1 << depth);
    if (filters) png_set_filter(png, 0, filters);
    png_write_info(png, info);
    for (int pass = png_set_interlace_handling(png); pass > 0; pass--)
        for (int y = 0; y < h; y++) png_write_row(png, row + (size_t)y * png_get_rowbytes(png, info));
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(f);
}

static void write_png(const char *path, int w, int h, int depth, int colour, int interlace, const unsigned char *row) {
    write_filtered(path, w, h, depth, colour, interlace, 0, row);
}

TEST(test_png) {
    const char *path = in_dir("d.png");
    write_png(path, 8, 1, 1, PNG_COLOR_TYPE_GRAY, 0, (const unsigned char *)"\xA5");
    EXPECT(path, 8, 1, 8, 255, 0, 255, 0, 0, 255, 0, 255);
    write_png(path, 2, 1, 4, PNG_COLOR_TYPE_GRAY, 0, (const unsigned char *)"\x1F");
    EXPECT(path, 2, 1, 8, 17, 255);
    write_png(path, 2, 1, 16, PNG_COLOR_TYPE_GRAY, 0, (const unsigned char *)"\x01\x02\xFE\xFF");
    EXPECT(path, 2, 1, 16, 0x0102, 0xFEFF);
    write_png(path, 2, 1, 8, PNG_COLOR_TYPE_RGB, 0, (const unsigned char *)"\xFF\0\0\0\xFF\0");
    EXPECT(path, 2, 1, 8, 76, 150);
    write_png(path, 1, 1, 16, PNG_COLOR_TYPE_RGB, 0, (const unsigned char *)"\xFF\xFF\0\0\0\0");
    EXPECT(path, 1, 1, 16, 19595); // 0.299 * 65535 = 19594.965
    write_png(path, 2, 1, 8, PNG_COLOR_TYPE_RGB_ALPHA, 0, (const unsigned char *)"\x0A\x0A\x0A\0\x64\x64\x64\xFF");
    EXPECT(path, 2, 1, 8, 10, 100); // alpha 0 or 255: ignored
    write_png(path, 2, 1, 8, PNG_COLOR_TYPE_GRAY_ALPHA, 0, (const unsigned char *)"\x07\0\x09\x80");
    EXPECT(path, 2, 1, 8, 7, 9);
    write_png(path, 3, 1, 8, PNG_COLOR_TYPE_PALETTE, 0, (const unsigned char *)"\0\1\2");
    EXPECT(path, 3, 1, 8, 76, 150, 18); // 0.299 * 10 + 0.587 * 20 + 0.114 * 30 = 18.15
    write_png(path, 3, 3, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_ADAM7, (const unsigned char *)"\1\2\3\4\5\6\7\10\11");
    EXPECT(path, 3, 3, 8, 1, 2, 3, 4, 5, 6, 7, 8, 9);
}

// Writes the checksum of the chunk that begins here.
static void seal(unsigned char *chunk) {
    const size_t length = (size_t)chunk[0] << 24 | (size_t)chunk[1] << 16 | (size_t)chunk[2] << 8 | chunk[3];
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 4; i < 8 + length; i++) {
        crc ^= chunk[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    for (int i = 0; i < 4; i++) chunk[8 + length + (size_t)i] = (unsigned char)(~crc >> (24 - 8 * i));
}

// Whether libdeflate reads it; then libpng must read the same.
static bool by_deflate(const char *path) {
    RG_ENDS(rg_image_free) rg_image a = {0}, b = {0};
    rg_image_in in = {.path = path, .range = &no_range};
    int code = RG_GOOD;
    assert_int_equal(rg_input_open(path, &in.file, &in.bytes), RG_GOOD);
    rg_silent = true;
    const bool read = rg_png_by_deflate(&in, &a, &code);
    const int by_libpng = rg_png_by_libpng(&in, &b);
    rg_silent = false;
    fclose(in.file);
    if (!read) return false;
    assert_int_equal(code, by_libpng);
    if (code != RG_GOOD) return true;
    assert_true(a.width == b.width && a.height == b.height && a.bits == b.bits);
    assert_memory_equal(a.pixel, b.pixel, (size_t)(a.width * a.height * (a.bits / 8)));
    return true;
}

// Every kind of PNG with every filter: more than 16 KiB, because libpng writes a smaller window below that.
TEST(test_png_two_ways) {
    enum { WIDTH = 131, HEIGHT = 140 };
    static const int filter[] = {
        PNG_FILTER_NONE, PNG_FILTER_SUB, PNG_FILTER_UP, PNG_FILTER_AVG, PNG_FILTER_PAETH, PNG_ALL_FILTERS};
    RG_FREED unsigned char *row = rg_alloc(HEIGHT * WIDTH * 8);
    for (int i = 0; i < HEIGHT * WIDTH * 8; i++)
        row[i] = (unsigned char)(i * 3 + (i / WIDTH) * (i / WIDTH) / 7 + (int)(rg_bits(3, (uint64_t)i) >> 61));
    for (int colour = 0; colour <= 6; colour++)
        for (int depth = 1; depth <= 16; depth *= 2)
            for (int f = 0; f < RG_COUNT(filter) * 2; f++) {
                const bool palette = colour == PNG_COLOR_TYPE_PALETTE, whole = depth >= 8 && colour != PNG_COLOR_TYPE_PALETTE;
                if (colour == 1 || colour == 5 || (depth < 8 && colour && !palette) || (palette && depth == 16)) continue;
                write_filtered(in_dir("k.png"), WIDTH, HEIGHT, depth, colour, f % 2, filter[f / 2], row);
                if (HAVE_DEFLATE) assert_int_equal(by_deflate(in_dir("k.png")), whole && !(f % 2));
            }
}

// A PNG of 8-bit grey whose stream is one stored block, followed by `behind` bytes; each row's bytes follow its filter.
static const char *put_stored(const unsigned char *rows, int width, int height, int behind) {
    const unsigned n = (unsigned)((width + 1) * height), stream = n + 11 + (unsigned)behind;
    RG_FREED unsigned char *file = rg_alloc(57 + stream);
    uint32_t low = 1, high = 0;
    for (unsigned i = 0; i < n; i++) {
        low = (low + rows[i]) % 65521;
        high = (high + low) % 65521;
    }
    memcpy(file, "\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR\0\0\0\0\0\0\0\0\x08\0\0\0\0", 29);
    file[19] = (unsigned char)width;
    file[23] = (unsigned char)height;
    const unsigned char head[] = {0, 0, (unsigned char)(stream >> 8), (unsigned char)stream, 'I', 'D', 'A', 'T', 0x78, 1, 1,
        (unsigned char)n, (unsigned char)(n >> 8), (unsigned char)~n, (unsigned char)(~n >> 8)};
    memcpy(file + 33, head, sizeof head);
    memcpy(file + 33 + sizeof head, rows, n);
    const unsigned char sum[] = {
        (unsigned char)(high >> 8), (unsigned char)high, (unsigned char)(low >> 8), (unsigned char)low};
    memcpy(file + 33 + sizeof head + n, sum, sizeof sum);
    memcpy(file + 45 + stream, "\0\0\0\0IEND", 8);
    for (int chunk = 0; chunk < 3; chunk++) seal(file + (chunk == 0 ? 8 : chunk == 1 ? 33 : 45 + stream));
    return put_file("s.png", file, 57 + stream);
}

// Cases that only zlib and libpng refuse or warn about: a sixth filter, bytes after the stream.
TEST(test_png_strange_two_ways) {
    enum { WIDTH = 130, HEIGHT = 140 };
    RG_FREED unsigned char *rows = rg_alloc((WIDTH + 1) * HEIGHT);
    if (!HAVE_DEFLATE) return;
    for (int i = 0; i < (WIDTH + 1) * HEIGHT; i++) // every filter after every other
        rows[i] = (unsigned char)(rg_bits(4, (uint64_t)(i % (WIDTH + 1) ? i : i / (WIDTH + 1))) % (i % (WIDTH + 1) ? 256 : 5));
    assert_true(by_deflate(put_stored(rows, WIDTH, HEIGHT, 0)));
    assert_false(by_deflate(put_stored(rows, WIDTH, HEIGHT, 1)));
    rows[(WIDTH + 1) * 70] = 5;
    assert_false(by_deflate(put_stored(rows, WIDTH, HEIGHT, 0)));
}

// A wrong bit in every seventh byte, with the chunk's checksum unchanged and corrected; and files cut short.
TEST(test_png_damaged_two_ways) {
    enum { WIDTH = 131, HEIGHT = 140 };
    RG_FREED unsigned char *row = rg_alloc(HEIGHT * WIDTH);
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        row[i] = (unsigned char)((i % WIDTH) * 2 + (int)(rg_bits(3, (uint64_t)i / 9) >> 62));
    write_filtered(in_dir("g.png"), WIDTH, HEIGHT, 8, PNG_COLOR_TYPE_GRAY, 0, PNG_ALL_FILTERS, row);
    size_t n = 0;
    RG_FREED unsigned char *whole = (unsigned char *)get_file(in_dir("g.png"), &n);
    if (!HAVE_DEFLATE) return;
    assert_true(by_deflate(in_dir("g.png")));
    for (size_t i = 8; i < n; i += i < 80 || i > n - 20 ? 1 : 7) {
        unsigned char *chunk = whole + (i < 33 ? 8 : 33);
        const bool in_length = whole + i < chunk + 4;
        for (int sealed = 0; sealed < 2 - in_length; sealed++)
            for (int undo = 0; undo < 2; undo++) {
                whole[i] ^= (unsigned char)(1 << i % 8);
                if (sealed) seal(chunk);
                if (!undo) by_deflate(put_file("h.png", whole, n));
            }
        assert_false(by_deflate(put_file("h.png", whole, i)));
    }
    memcpy(whole + 41, "\x18\x19", 2); // a window of 512 bytes; the stream refers to bytes before it
    seal(whole + 33);
    assert_false(by_deflate(put_file("h.png", whole, n)));
}

TEST(test_png_damaged) {
    size_t n = 0;
    write_png(in_dir("e.png"), 3, 3, 8, PNG_COLOR_TYPE_GRAY, 0, (const unsigned char *)"\1\2\3\4\5\6\7\10\11");
    RG_FREED char *whole = get_file(in_dir("e.png"), &n);
    for (size_t cut = 0; cut < n; cut++) { // each truncation gives one line
        char words[64];
        snprintf(words, sizeof words, cut < 4 ? "at byte 0: expected a PNG" : "f.png: at byte %zu: expected a", cut);
        if (cut >= 4 && cut < n - 4) // libpng reads whole fields, so that all bytes were read
            assert_refused(read_code(put_file("f.png", whole, cut)), words);
        else
            assert_refused(read_code(put_file("f.png", whole, cut)), "f.png: at byte");
    }
    whole[40] ^= 1; // inside IDAT or its length: the checksum is wrong
    assert_refused(read_code(put_file("f.png", whole, n)), "expected a whole PNG picture, found: ");
    // 40,000 x 40,000 pixels in a hundred bytes, with a right checksum: no memory is allocated for them.
    const unsigned char bomb[] = "\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR\0\0\x9C\x40\0\0\x9C\x40\x08\0\0\0\0";
    unsigned char file[200] = {0};
    memcpy(file, bomb, sizeof bomb - 1);
    seal(file + 8);
    memcpy(file + sizeof bomb + 3, "\0\0\0\x10IDAT", 8);
    assert_refused(read_code(put_file("f.png", file, sizeof file)), "at byte 200: expected at least 1550388 bytes");
}
#endif

#if HAVE_TIFF
static void tiff_page(
    TIFF *t, int w, int h, int bits, int channels, int photometric, int format, int compression, const void *row) {
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, w);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, h);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, channels);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, photometric);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, format);
    TIFFSetField(t, TIFFTAG_COMPRESSION, compression);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    for (int y = 0; y < h; y++) {
        unsigned char line[64]; // libtiff swaps the bytes of the caller's row in files of the other byte order
        size_t n = (size_t)w * (size_t)channels * (size_t)bits / 8;
        memcpy(line, (const char *)row + (size_t)y * n, n);
        TIFFWriteScanline(t, line, (uint32_t)y, 0);
    }
    TIFFWriteDirectory(t);
}

TEST(test_tiff) {
    const char *path = in_dir("t.tif"), *mode[2] = {"wl", "wb"};
    const uint8_t grey[6] = {0, 5, 100, 200, 254, 255};
    const uint16_t deep[4] = {0, 300, 0x1234, 65535};
    const float real[3] = {-1, 0, 3};
    for (int order = 0; order < 2; order++) {
        TIFF *t = TIFFOpen(path, mode[order]);
        tiff_page(t, 3, 2, 8, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_UINT, COMPRESSION_LZW, grey);
        tiff_page(t, 2, 2, 16, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_UINT, COMPRESSION_NONE, deep);
        tiff_page(t, 3, 2, 8, 1, PHOTOMETRIC_MINISWHITE, SAMPLEFORMAT_UINT, COMPRESSION_PACKBITS, grey);
        tiff_page(t, 2, 1, 8, 3, PHOTOMETRIC_RGB, SAMPLEFORMAT_UINT, COMPRESSION_ADOBE_DEFLATE, "\xFF\0\0\0\xFF\0");
        tiff_page(t, 3, 1, 32, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_IEEEFP, COMPRESSION_NONE, real);
        TIFFClose(t);
        int64_t pages;
        rg_image image;
        assert_int_equal(rg_image_pages(path, &pages), RG_GOOD);
        assert_int_equal(pages, 5);
        EXPECT(path, 3, 2, 8, 0, 5, 100, 200, 254, 255);
        assert_int_equal(rg_image_read(path, 1, &no_range, &image), RG_GOOD);
        for (int i = 0; i < 4; i++) assert_int_equal(pixel_at(&image, i), deep[i]);
        rg_image_free(&image);
        assert_int_equal(rg_image_read(path, 2, &no_range, &image), RG_GOOD);
        for (int i = 0; i < 6; i++) assert_int_equal(pixel_at(&image, i), 255 - grey[i]);
        rg_image_free(&image);
        assert_int_equal(rg_image_read(path, 3, &no_range, &image), RG_GOOD);
        assert_true(pixel_at(&image, 0) == 76 && pixel_at(&image, 1) == 150);
        rg_image_free(&image);
        assert_refused(rg_image_read(path, 4, &no_range, &image), "--grey-range");
        assert_int_equal(rg_image_read(path, 4, &(rg_grey_range){.given = true, .low = 0, .high = 2}, &image), RG_GOOD);
        assert_true(pixel_at(&image, 0) == 0 && pixel_at(&image, 1) == 0 && pixel_at(&image, 2) == 65535);
        rg_image_free(&image);
        assert_refused(rg_image_read(path, 5, &no_range, &image), "t.tif: page 6 requested, found 5");
    }
    size_t n = 0;
    int64_t count;
    RG_FREED char *whole = get_file(path, &n);
    assert_refused(read_code(put_file("u.tif", whole, 9)), "u.tif: at byte");
    // A file cut anywhere is refused, even if whole pages remain.
    for (size_t cut = n - 1; cut > n / 4; cut -= 7)
        assert_refused(rg_image_pages(put_file("u.tif", whole, cut), &count), "u.tif: at byte");
}

// Signed, long and double values: used unchanged if they are whole and not negative, else scaled by a range; or all as real
// values.
TEST(test_tiff_values) {
    const int8_t int8[3] = {0, 7, 127};
    const int16_t int16[3] = {0, 300, 32767}, below[3] = {-5, 0, 5};
    const int32_t int32[3] = {0, 70, 65535};
    const uint32_t uint32[3] = {0, 70, 65536};
    const double real64[3] = {-1, 0.5, 3};
    const uint16_t untyped[3] = {0, 300, 65535}, half[3] = {0xBC00, 0x3800, 0x4200};
    const char *path = in_dir("v.tif");
    for (int order = 0; order < 2; order++) {
        TIFF *t = TIFFOpen(path, order ? "wb" : "wl");
        tiff_page(t, 3, 1, 8, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_INT, COMPRESSION_NONE, int8);
        tiff_page(t, 3, 1, 16, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_INT, COMPRESSION_LZW, int16);
        tiff_page(t, 3, 1, 16, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_INT, COMPRESSION_NONE, below);
        tiff_page(t, 3, 1, 32, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_INT, COMPRESSION_NONE, int32);
        tiff_page(t, 3, 1, 32, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_UINT, COMPRESSION_NONE, uint32);
        tiff_page(t, 3, 1, 64, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_IEEEFP, COMPRESSION_NONE, real64);
        tiff_page(t, 3, 1, 16, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_VOID, COMPRESSION_NONE, untyped);
        tiff_page(t, 3, 1, 16, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_IEEEFP, COMPRESSION_LZW, half);
        TIFFClose(t);
        static const struct {
            int page, bits;
            rg_grey_range range;
            double pixel[3];
        } good[] = {
            {0, 8, {0}, {0, 7, 127}},
            {1, 16, {0}, {0, 300, 32767}},
            {3, 16, {0}, {0, 70, 65535}},
            {6, 16, {0}, {0, 300, 65535}},
            {0, 16, {.given = true, .low = 0, .high = 127}, {0, 3612, 65535}},
            {2, 16, {.given = true, .low = -5, .high = 5}, {0, 32768, 65535}},
            {4, 16, {.given = true, .low = 0, .high = 140}, {0, 32768, 65535}},
            {5, 16, {.given = true, .low = 0, .high = 1}, {0, 32768, 65535}},
            {1, 32, {.real = true}, {0, 300, 32767}},
            {2, 32, {.real = true}, {-5, 0, 5}},
            {4, 32, {.real = true}, {0, 70, 65536}},
            {5, 32, {.real = true}, {-1, 0.5, 3}},
            {7, 32, {.real = true}, {-1, 0.5, 3}},
            {7, 16, {.given = true, .low = 0, .high = 1}, {0, 32768, 65535}},
        };
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
            RG_ENDS(rg_image_free) rg_image image;
            assert_int_equal(rg_image_read(path, good[i].page, &good[i].range, &image), RG_GOOD);
            assert_int_equal(image.bits, good[i].bits);
            for (int x = 0; x < 3; x++)
                assert_true(
                    good[i].pixel[x] == (image.bits == 32 ? ((const float *)image.pixel)[x] : (float)pixel_at(&image, x)));
        }
        rg_image image;
        assert_refused(rg_image_read(path, 2, &no_range, &image),
            "image 3: expected a whole grey value from 0 to 65535 at column "
            "0, row 0, found -5 (say which values are black and white by --grey-range LOW:HIGH)");
        assert_refused(rg_image_read(path, 4, &no_range, &image), "column 2, row 0, found 65536");
        assert_refused(rg_image_read(path, 5, &no_range, &image), "--grey-range");
        assert_refused(rg_image_read(path, 7, &no_range, &image), "--grey-range");
    }
}

// White at 0: an integer is mirrored within the grey range, else within its type; a float changes sign.
TEST(test_tiff_white_at_0) {
    const uint8_t uint8[2] = {10, 250};
    const uint16_t uint16[2] = {10, 65535};
    const int16_t int16[2] = {-11, -1};
    const float real32[2] = {-2, 0.5F};
    static const struct {
        int page, bits;
        rg_grey_range range;
        double pixel[2];
    } good[] = {
        {0, 8, {0}, {245, 5}},
        {0, 16, {.given = true, .low = 0, .high = 20}, {32768, 0}},
        {0, 8, {.real = true}, {245, 5}},
        {1, 16, {0}, {65525, 0}},
        {1, 16, {.given = true, .low = 0, .high = 40}, {49151, 0}},
        {2, 16, {0}, {10, 0}},
        {2, 16, {.given = true, .low = -11, .high = 9}, {65535, 32768}},
        {2, 32, {.real = true}, {10, 0}},
        {3, 16, {.given = true, .low = -2, .high = 3}, {65535, 32768}},
        {3, 32, {.real = true}, {2, -0.5}},
    };
    for (int order = 0; order < 2; order++) {
        TIFF *t = TIFFOpen(in_dir("m.tif"), order ? "wb" : "wl");
        tiff_page(t, 2, 1, 8, 1, PHOTOMETRIC_MINISWHITE, SAMPLEFORMAT_UINT, COMPRESSION_NONE, uint8);
        tiff_page(t, 2, 1, 16, 1, PHOTOMETRIC_MINISWHITE, SAMPLEFORMAT_UINT, COMPRESSION_LZW, uint16);
        tiff_page(t, 2, 1, 16, 1, PHOTOMETRIC_MINISWHITE, SAMPLEFORMAT_INT, COMPRESSION_NONE, int16);
        tiff_page(t, 2, 1, 32, 1, PHOTOMETRIC_MINISWHITE, SAMPLEFORMAT_IEEEFP, COMPRESSION_NONE, real32);
        TIFFClose(t);
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
            RG_ENDS(rg_image_free) rg_image image;
            assert_int_equal(rg_image_read(in_dir("m.tif"), good[i].page, &good[i].range, &image), RG_GOOD);
            assert_int_equal(image.bits, good[i].bits);
            for (int x = 0; x < 2; x++)
                assert_true(
                    good[i].pixel[x] == (image.bits == 32 ? ((const float *)image.pixel)[x] : (float)pixel_at(&image, x)));
        }
    }
}

// The picture "abc" above "def", with its pixels stored for each Orientation, the position of the first row and column.
TEST(test_tiff_orientation) {
    static const char *const stored[8] = {"abcdef", "cbafed", "fedcba", "defabc", "adbecf", "cfbead", "fcebda", "daebfc"};
    const uint16_t deep[6] = {'c', 'f', 'b', 'e', 'a', 'd'};
    const char *path = in_dir("o.tif");
    for (int o = ORIENTATION_TOPLEFT; o <= ORIENTATION_LEFTBOT; o++) {
        const bool sides = o >= ORIENTATION_LEFTTOP;
        TIFF *t = TIFFOpen(path, "wl");
        TIFFSetField(t, TIFFTAG_ORIENTATION, o);
        tiff_page(
            t, sides ? 2 : 3, sides ? 3 : 2, 8, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_UINT, COMPRESSION_NONE, stored[o - 1]);
        TIFFClose(t);
        catch_stderr();
        const int code = rg_image_pages(path, &(int64_t){0});
        const char *said = caught(); // one warning, for the first
        assert_int_equal(code, RG_GOOD);
        EXPECT(path, 3, 2, 8, 'a', 'b', 'c', 'd', 'e', 'f');
        assert_true(o == ORIENTATION_TOPRIGHT ? strstr(said, "its tag Orientation, 2, says") != NULL : !*said);
    }
    TIFF *t = TIFFOpen(path, "wb");
    TIFFSetField(t, TIFFTAG_ORIENTATION, ORIENTATION_RIGHTTOP);
    tiff_page(t, 2, 3, 16, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_UINT, COMPRESSION_LZW, deep);
    TIFFClose(t);
    EXPECT(path, 3, 2, 16, 'a', 'b', 'c', 'd', 'e', 'f');
}

// ImageJ's format for stacks larger than 4 GiB: a directory for the first image only, followed by the others.
TEST(test_tiff_imagej) {
    TIFF *t = TIFFOpen(in_dir("j.tif"), "wb");
    TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, "ImageJ=1.53t\nimages=300\nslices=300\n");
    tiff_page(t, 3, 1, 8, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_UINT, COMPRESSION_NONE, "abc");
    TIFFClose(t);
    assert_refused(read_code(in_dir("j.tif")),
        "expected the 300 images that its program says it wrote, found 1 directory and too few bytes");
    t = TIFFOpen(in_dir("j.tif"), "wb");
    TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, "ImageJ=1.53t\nimages=1\n");
    tiff_page(t, 3, 1, 8, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_UINT, COMPRESSION_NONE, "abc");
    TIFFClose(t);
    EXPECT(in_dir("j.tif"), 3, 1, 8, 'a', 'b', 'c');
}

// Further pages of a pyramid are smaller copies of its picture, not photographs.
TEST(test_tiff_pyramid) {
    TIFF *t = TIFFOpen(in_dir("y.tif"), "wl");
    tiff_page(t, 3, 2, 8, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_UINT, COMPRESSION_NONE, "abcdef");
    TIFFSetField(t, TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE);
    tiff_page(t, 2, 1, 8, 1, PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_UINT, COMPRESSION_NONE, "ab");
    TIFFClose(t);
    rg_image image;
    EXPECT(in_dir("y.tif"), 3, 2, 8, 'a', 'b', 'c', 'd', 'e', 'f');
    assert_refused(rg_image_read(in_dir("y.tif"), 1, &no_range, &image), "page 2 requested, found 1");
}

// A page of 37 x 21 pixels, `channels` samples a pixel, in strips of 5 rows or tiles of 16 x 32, with 0xAA where the last ones
// extend past the page; planes together or separate.
static void tiff_laid_out(TIFF *t, bool tiled, bool separate, int bits, int channels, int format, int compression) {
    enum { W = 37, H = 21, TW = 16, TH = 32 };
    const int size = bits / 8, planes = separate ? channels : 1, together = channels / planes;
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, W);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, H);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, channels);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, channels < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
    if (channels % 2 == 0) TIFFSetField(t, TIFFTAG_EXTRASAMPLES, 1, &(uint16_t){EXTRASAMPLE_UNASSALPHA});
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, format);
    TIFFSetField(t, TIFFTAG_COMPRESSION, compression);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    if (tiled)
        TIFFSetField(t, TIFFTAG_TILEWIDTH, TW), TIFFSetField(t, TIFFTAG_TILELENGTH, TH);
    else
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 5);
    const int block_w = tiled ? TW : W, block_h = tiled ? TH : 5;
    for (int plane = 0, block = 0; plane < planes; plane++)
        for (int y = 0; y < H; y += block_h)
            for (int x = 0; x < W; x += block_w, block++) {
                unsigned char data[TW * TH * 4 * 4];
                const int rows = tiled || y + block_h <= H ? block_h : H - y;
                memset(data, 0xAA, sizeof data);
                for (int i = 0; i < block_w * rows * together; i++) {
                    const int column = x + i / together % block_w, row = y + i / together / block_w;
                    const uint32_t n = (uint32_t)(row * W + column) * 4 + (uint32_t)(plane + i % together);
                    const uint32_t mixed = n * 2654435761u;
                    const float real = (float)(mixed % 1000);
                    if (column < W && row < H && format == SAMPLEFORMAT_IEEEFP)
                        memcpy(data + i * size, &real, sizeof real);
                    else if (column < W && row < H)
                        memcpy(data + i * size, &mixed, (size_t)size);
                }
                const tmsize_t bytes = (tmsize_t)block_w * rows * together * size;
                const tmsize_t done = tiled ? TIFFWriteEncodedTile(t, (uint32_t)block, data, bytes)
                                            : TIFFWriteEncodedStrip(t, (uint32_t)block, data, bytes);
                assert_true(done == bytes);
            }
    TIFFWriteDirectory(t);
}

TEST(test_tiff_tiles_and_planes) {
    static const struct {
        int bits, channels, format;
    } kind[] = {{8, 1, SAMPLEFORMAT_UINT}, {16, 1, SAMPLEFORMAT_UINT}, {32, 1, SAMPLEFORMAT_IEEEFP}, {16, 2, SAMPLEFORMAT_UINT},
        {8, 3, SAMPLEFORMAT_UINT}, {16, 4, SAMPLEFORMAT_UINT}};
    enum { KINDS = sizeof kind / sizeof *kind };
    const rg_grey_range range = {.given = true, .low = 0, .high = 1000};
    const char *path[4] = {"strips.tif", "tiles.tif", "planes.tif", "tiled_planes.tif"};
    for (int order = 0; order < 2; order++) {
        for (int layout = 0; layout < 4; layout++) {
            TIFF *t = TIFFOpen(in_dir(path[layout]), order ? "wb" : "wl");
            for (int k = 0; k < KINDS; k++)
                tiff_laid_out(t, layout & 1, layout & 2, kind[k].bits, kind[k].channels, kind[k].format,
                    k % 2 ? COMPRESSION_LZW : COMPRESSION_NONE);
            TIFFClose(t);
        }
        for (int k = 0; k < KINDS; k++) {
            const rg_grey_range *taken = kind[k].format == SAMPLEFORMAT_IEEEFP ? &range : &no_range;
            rg_image strips, other;
            assert_int_equal(rg_image_read(in_dir("strips.tif"), k, taken, &strips), RG_GOOD);
            assert_true(strips.width == 37 && strips.height == 21);
            for (int layout = 1; layout < 4; layout++) {
                assert_int_equal(rg_image_read(in_dir(path[layout]), k, taken, &other), RG_GOOD);
                assert_true(other.width == 37 && other.height == 21 && other.bits == strips.bits);
                assert_memory_equal(other.pixel, strips.pixel, (size_t)(37 * 21 * strips.bits / 8));
                rg_image_free(&other);
            }
            rg_image_free(&strips);
        }
    }
    // No memory is allocated for a tile larger than the file.
    TIFF *t = TIFFOpen(in_dir("huge.tif"), "wb");
    char four[4] = {0};
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, 3), TIFFSetField(t, TIFFTAG_IMAGELENGTH, 2);
    TIFFSetField(t, TIFFTAG_TILEWIDTH, 1 << 15), TIFFSetField(t, TIFFTAG_TILELENGTH, 1 << 15);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 8), TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    assert_true(TIFFWriteEncodedTile(t, 0, four, 4) == 4);
    TIFFClose(t);
    assert_refused(read_code(in_dir("huge.tif")), "expected tiles that the file can hold, found 32768 x 32768 pixels");
    size_t n = 0;
    RG_FREED char *whole = get_file(in_dir("tiles.tif"), &n);
    for (size_t cut = n - 1; cut > n / 4; cut -= 97)
        assert_refused(rg_image_read(put_file("u.tif", whole, cut), KINDS - 1, &no_range, &(rg_image){0}), "u.tif: at byte");
}
#endif

static const char *write_mrc(int mode, const float *value) {
    rg_mrc_out out;
    assert_int_equal(rg_mrc_write_begin(&out, in_dir("m.mrc"), 3, 1, 2, mode, 0, false), RG_GOOD);
    assert_int_equal(rg_mrc_write_section(&out, value) + rg_mrc_write_section(&out, value + 3), RG_GOOD);
    assert_int_equal(rg_mrc_write_commit(&out), RG_GOOD);
    return in_dir("m.mrc");
}

TEST(test_mrc) {
    const float whole[6] = {0, 7, 127, 1, 2, 3}, negative[6] = {0, 7, 127, 1, -2, 3};
    int64_t pages;
    rg_image image;
    EXPECT(write_mrc(RG_MRC_INT8, whole), 3, 1, 8, 0, 7, 127);
    EXPECT(write_mrc(RG_MRC_INT16, whole), 3, 1, 16, 0, 7, 127);
    EXPECT(write_mrc(RG_MRC_UINT16, whole), 3, 1, 16, 0, 7, 127);
    assert_int_equal(rg_image_pages(in_dir("m.mrc"), &pages), RG_GOOD);
    assert_int_equal(pages, 2);
    assert_int_equal(rg_image_read(in_dir("m.mrc"), 1, &no_range, &image), RG_GOOD);
    assert_true(pixel_at(&image, 0) == 1 && pixel_at(&image, 2) == 3);
    rg_image_free(&image);
    assert_refused(read_code(write_mrc(RG_MRC_FLOAT32, whole)), "at byte 12: expected whole grey values");
    write_mrc(RG_MRC_INT16, negative);
    EXPECT(in_dir("m.mrc"), 3, 1, 16, 0, 7, 127); // section 0 has no negative value
    assert_refused(rg_image_read(in_dir("m.mrc"), 1, &no_range, &image),
        "image 2: expected a whole grey value from 0 to 65535 at column 1, row 0, found -2");
    const float real[6] = {-1, 0.5f, 3, 0, 1, 2};
    write_mrc(RG_MRC_FLOAT32, real);
    assert_int_equal(rg_image_read(in_dir("m.mrc"), 0, &(rg_grey_range){.given = true, .low = 0, .high = 1}, &image), RG_GOOD);
    assert_true(pixel_at(&image, 0) == 0 && pixel_at(&image, 1) == 32768 && pixel_at(&image, 2) == 65535); // 32767.5 rounds up
    rg_image_free(&image);
    const float broken[6] = {0, NAN, 0, 0, 0, 0};
    write_mrc(RG_MRC_FLOAT32, broken);
    assert_refused(rg_image_read(in_dir("m.mrc"), 0, &(rg_grey_range){.given = true, .low = 0, .high = 1}, &image),
        "column 1, row 0, found NaN");
}

TESTS(test_dir_make, test_dir_remove)
