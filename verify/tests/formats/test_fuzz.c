// SPDX-License-Identifier: MIT
// test_fuzz.c: the fuzz targets of fuzz/ on valid files damaged in seeded ways: the same files in every run, each a line of
// refusal or a good read. A crash, an abort of a target or a sanitizer's report ends the program, which is the failure.
#define LLVMFuzzerTestOneInput fuzz_image
#include "../../fuzz/image.c"
#include "../test.h"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_mrc
#include "../../fuzz/mrc.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_result
#include "../../fuzz/result.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_tsv
#include "../../fuzz/tsv.c"
#undef LLVMFuzzerTestOneInput

#include "../../../impl/suite.h"
#include "../test_data.h"

#if HAVE_TIFF
#include <tiffio.h>
#endif

typedef int (*target)(const uint8_t *, size_t);

// One to eight edits: a bit, a byte, a 32-bit number of the kinds that headers fear, a stretch removed, doubled or zeroed,
// a cut.
static size_t damage(uint8_t *bytes, size_t n, size_t room, uint64_t seed)
{
    static const uint32_t feared[] = {0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0x10000, 0xFFFF, 1024, 4};
    uint64_t turn = 0;
    int edits = 1 + (int)(rg_bits(seed, turn++) % 8);
    for (int e = 0; e < edits && n > 8; e++) {
        uint64_t bits = rg_bits(seed, turn++);
        // Half of the edits go to the first 256 bytes, where headers are.
        size_t at = (size_t)((bits >> 8) % (bits & 1 && n > 256 ? 256 : n)), length = (size_t)((bits >> 40) % 64);
        length = at + length > n ? n - at : length;
        switch (bits >> 1 & 7) {
        case 0: bytes[at] ^= (uint8_t)(1u << (bits >> 56 & 7)); break;
        case 1: bytes[at] = (uint8_t)(bits >> 48); break;
        case 2:
        case 3:
            at = at + 4 > n ? n - 4 : at & ~(size_t)3;
            for (int b = 0; b < 4; b++)
                bytes[at + (size_t)b] = (uint8_t)(feared[(bits >> 48) % RG_COUNT(feared)] >> 8 * (bits >> 60 & 1 ? b : 3 - b));
            break;
        case 4: memmove(bytes + at, bytes + at + length, n - at - length), n -= length; break;
        case 5:
            if (n + length <= room)
                memmove(bytes + at + length, bytes + at, n - at), n += length;
            break;
        case 6: memset(bytes + at, 0, length); break;
        default: n = at + 1; break;
        }
    }
    return n;
}

// The file, then damaged copies of it for about `seconds`, at least 50.
static void run_target(target fuzz, const char *path, double seconds, uint64_t seed)
{
    size_t n = 0, runs = 0;
    uint8_t *whole = (uint8_t *)get_file(path, &n), *copy = rg_alloc(n + 1024);
    assert_non_null(whole);
    FILE *kept = stderr;
    stderr = fopen("/dev/null", "w");
    fuzz(whole, n);
    for (double began_s = rg_seconds(); runs < 50 || rg_seconds() - began_s < seconds; runs++) {
        memcpy(copy, whole, n);
        fuzz(copy, damage(copy, n, n + 1024, seed + runs));
    }
    fclose(stderr);
    stderr = kept;
    print_message("%s: %zu damaged copies\n", strrchr(path, '/') + 1, runs);
    free(whole);
    free(copy);
}

static void fill(uint8_t *grey, size_t n)
{
    for (size_t i = 0; i < n; i++)
        grey[i] = (uint8_t)(rg_bits(3, i / 3) >> 9);
}

TEST(test_photographs)
{
    uint8_t grey[40 * 30 * 2];
    fill(grey, sizeof grey);
    for (int bits = 8; bits <= 16; bits += 8) {
        const rg_image image = {40, 30, bits, grey};
        assert_int_equal(rg_image_write_pgm(in_dir("a.pgm"), &image), RG_GOOD);
        run_target(fuzz_image, in_dir("a.pgm"), 0.2, 1);
        if (rg_image_can_write_png()) {
            assert_int_equal(rg_image_write_png(in_dir("a.png"), &image), RG_GOOD);
            run_target(fuzz_image, in_dir("a.png"), 0.7, 1000000);
        }
    }
    const char plain[] = "P2 # plain\n5 4\n255\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 255\n";
    run_target(fuzz_image, put_file("p.pgm", plain, sizeof plain - 1), 0.2, 2000000);
}

#if HAVE_TIFF
TEST(test_tiff)
{
    const int compression[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_PACKBITS, COMPRESSION_ADOBE_DEFLATE};
    uint8_t grey[40 * 30 * 3];
    fill(grey, sizeof grey);
    for (int i = 0; i < 4; i++) {
        int channels = i == 3 ? 3 : 1;
        TIFF *t = TIFFOpen(in_dir("a.tif"), i & 1 ? "wb" : "wl");
        TIFFSetField(t, TIFFTAG_IMAGEWIDTH, 40);
        TIFFSetField(t, TIFFTAG_IMAGELENGTH, 30);
        TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 8);
        TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, channels);
        TIFFSetField(t, TIFFTAG_PHOTOMETRIC, i == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
        TIFFSetField(t, TIFFTAG_COMPRESSION, compression[i]);
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 7);
        for (uint32_t y = 0; y < 30; y++)
            TIFFWriteScanline(t, grey + y * 40 * (uint32_t)channels, y, 0);
        TIFFClose(t);
        run_target(fuzz_image, in_dir("a.tif"), 0.4, 3000000 + 1000000 * (uint64_t)i);
    }
}
#endif

TEST(test_maps)
{
    const int mode[] = {RG_MRC_INT8, RG_MRC_INT16, RG_MRC_FLOAT32, RG_MRC_UINT16, RG_MRC_FLOAT16};
    float value[12 * 9];
    for (int i = 0; i < 12 * 9; i++)
        value[i] = (float)(i % 100);
    for (int i = 0; i < 5; i++) {
        rg_mrc_out out;
        assert_int_equal(rg_mrc_write_begin(&out, in_dir("a.mrc"), 12, 9, 2, mode[i], 1.5, true), RG_GOOD);
        assert_int_equal(rg_mrc_write_section(&out, value) + rg_mrc_write_section(&out, value), RG_GOOD);
        assert_int_equal(rg_mrc_write_commit(&out), RG_GOOD);
        run_target(fuzz_mrc, in_dir("a.mrc"), 0.1, 7000000);
        run_target(fuzz_image, in_dir("a.mrc"), 0.1, 8000000);
    }
}

TEST(test_result_files)
{
    char *text = rg_print("# suite: regather 0.1\n# machine: a machine\n");
    for (int c = 0; c < RG_COLUMNS; c++) {
        char *more = rg_print("%s%s%s", text, c ? "\t" : "", rg_column_name[c]);
        free(text);
        text = more;
    }
    char *whole = rg_print(
        "%s\nautocorr\tnaive\tw4,h4,r1,k0\t-\thost\tkernel\thot\t3\t1\t1\t2\t3\t3\tns\t9\t9\t9\tmultiply-adds/s\tmemory\t0.5"
        "\t0\t0\tPASS\t\t\t\tnone\t100\t0\tinterval\t1;2;3\t\n",
        text);
    run_target(fuzz_result, put_file("r.tsv", whole, strlen(whole)), 0.5, 9000000);
    run_target(fuzz_tsv, in_dir("r.tsv"), 0.3, 11000000);
    free(whole);
    free(text);
}

TESTS(test_dir_make, test_dir_remove)
