// SPDX-License-Identifier: MIT
// test_mrc.c: the MRC reader and writer against headers laid out by hand from the format's table.
#include "../../../data/formats/mrc.h"
#include "../../../impl/base/malformed.h"
#include "../test.h"
#include "../test_data.h"

#if HAVE_ZLIB
#include <zlib.h>
#endif

// Writes a header of nx x ny x nz in the given byte order, which declares `extended` bytes.
static void lay_header(
    unsigned char *h, bool big, int32_t nx, int32_t ny, int32_t nz, int32_t mode, int32_t extended, bool stamp) {
    const int32_t value[] = {nx, ny, nz, mode};
    memset(h, 0, 1024);
    for (int i = 0; i < 5; i++) {
        int32_t v = i < 4 ? value[i] : extended;
        unsigned char *at = h + (i < 4 ? 4 * i : 92);
        for (int b = 0; b < 4; b++) at[big ? 3 - b : b] = (unsigned char)((uint32_t)v >> 8 * b);
    }
    if (stamp) {
        memcpy(h + 208, "MAP ", 4);
        h[212] = h[213] = big ? 0x11 : 0x44;
    }
}

TEST(test_half) {
    assert_true(rg_half_to_float(0x3C00) == 1 && rg_half_to_float(0xC000) == -2 && rg_half_to_float(0x7BFF) == 65504);
    assert_true(rg_half_to_float(0x0001) == ldexpf(1, -24) && rg_half_to_float(0x0400) == ldexpf(1, -14));
    for (unsigned h = 0; h < 65536; h++) {
        float f = rg_half_to_float((uint16_t)h);
        if (isnan(f))
            assert_true(isnan(rg_half_to_float(rg_float_to_half(f))));
        else
            assert_int_equal(rg_float_to_half(f), h);
    }
    assert_int_equal(rg_float_to_half(1 + ldexpf(1, -11)), 0x3C00);     // tie: to even
    assert_int_equal(rg_float_to_half(1 + 3 * ldexpf(1, -11)), 0x3C02); // tie: to even, upwards
    assert_int_equal(rg_float_to_half(65519), 0x7BFF);
    assert_int_equal(rg_float_to_half(65520), 0x7C00);
    assert_int_equal(rg_float_to_half(2047.9f), 0x6800); // the fraction carries into the exponent
}

TEST(test_byte_orders) {
    for (int big = 0; big < 2; big++)
        for (int stamp = 0; stamp < 2; stamp++)
            for (int extended = 0; extended <= 100; extended += 100) {
                unsigned char file[1024 + 100 + 12];
                const int16_t value[6] = {1, -2, 300, 4, 5, -32768};
                float section[3];
                lay_header(file, big, 3, 1, 2, 1, extended, stamp);
                memset(file + 1024, 0xEE, 100);
                for (int i = 0; i < 6; i++)
                    for (int b = 0; b < 2; b++)
                        file[1024 + extended + 2 * i + (big ? 1 - b : b)] = (unsigned char)((uint16_t)value[i] >> 8 * b);
                RG_ENDS(rg_mrc_close) rg_mrc m;
                assert_int_equal(rg_mrc_open(&m, put_file("a.mrc", file, 1024 + (size_t)extended + 12)), RG_GOOD);
                assert_true(m.nx == 3 && m.ny == 1 && m.nz == 2 && m.mode == 1 && m.stamped == stamp);
                assert_int_equal(rg_mrc_section(&m, 1, section), RG_GOOD);
                assert_true(section[0] == 4 && section[1] == 5 && section[2] == -32768);
                assert_int_equal(rg_mrc_section(&m, 0, section), RG_GOOD);
                assert_true(section[0] == 1 && section[1] == -2 && section[2] == 300);
            }
}

// With IMOD's stamp in words 39 and 40, "IMOD" and flags, bit 0 of the flags says whether bytes of mode 0 are signed.
TEST(test_imod_bytes) {
    for (int flags = 0; flags < 2; flags++) {
        unsigned char file[1024 + 4];
        float section[4];
        RG_ENDS(rg_mrc_close) rg_mrc m;
        lay_header(file, false, 4, 1, 1, 0, 0, true);
        memcpy(file + 152, "IMOD", 4);
        file[156] = (unsigned char)flags;
        memcpy(file + 1024, (unsigned char[]){0, 127, 128, 255}, 4);
        assert_int_equal(rg_mrc_open(&m, put_file("a.rec", file, sizeof file)), RG_GOOD);
        assert_int_equal(rg_mrc_section(&m, 0, section), RG_GOOD);
        assert_true(section[1] == 127 && section[2] == (flags ? -128 : 128) && section[3] == (flags ? -1 : 255));
    }
}

// Without that stamp bytes are signed, as in MRC2014, unless the header's minimum and maximum are in the unsigned range.
TEST(test_bytes_without_flags) {
    static const struct {
        float minimum, maximum, last;
    } header[] = {{0, 0, -1}, {-128, 127, -1}, {0, 127, -1}, {0, 255, 255}, {3, 128, 255}, {-5, 255, -1}, {0, 1000, -1}};
    for (size_t i = 0; i < sizeof header / sizeof *header; i++) {
        unsigned char file[1024 + 4];
        float section[4];
        RG_ENDS(rg_mrc_close) rg_mrc m;
        lay_header(file, false, 4, 1, 1, 0, 0, true);
        memcpy(file + 76, &header[i].minimum, 4);
        memcpy(file + 80, &header[i].maximum, 4);
        memcpy(file + 1024, (unsigned char[]){0, 127, 128, 255}, 4);
        assert_int_equal(rg_mrc_open(&m, put_file("a.mrc", file, sizeof file)), RG_GOOD);
        assert_int_equal(rg_mrc_section(&m, 0, section), RG_GOOD);
        assert_true(section[1] == 127 && section[3] == header[i].last);
    }
}

// A header of 512 bytes: machine (6: little-endian, 3: big-endian), type in byte 3, sides; then the data.
static void put_em(const char *name, int machine, int type, size_t data_bytes) {
    unsigned char file[512 + 64] = {[0] = (unsigned char)machine, [3] = (unsigned char)type};
    const int16_t value[6] = {1, -2, 300, 4, 5, -32768};
    for (int i = 0; i < 3; i++) file[4 + 4 * i + (machine == 6 ? 0 : 3)] = (unsigned char)(i == 0 ? 3 : i == 1 ? 1 : 2);
    for (int i = 0; i < 6; i++)
        for (int b = 0; b < 2; b++)
            file[512 + 2 * i + (machine == 6 ? b : 1 - b)] = (unsigned char)((uint16_t)value[i] >> 8 * b);
    put_file(name, file, 512 + data_bytes);
}

TEST(test_em) {
    rg_mrc m;
    float section[3];
    for (int machine = 3; machine <= 6; machine += 3) {
        put_em("a.em", machine, 2, 12);
        assert_int_equal(rg_mrc_open(&m, in_dir("a.em")), RG_GOOD);
        assert_true(m.is_em && m.nx == 3 && m.ny == 1 && m.nz == 2 && m.voxel_A[0] == 0);
        assert_int_equal(rg_mrc_section(&m, 1, section), RG_GOOD);
        assert_true(section[0] == 4 && section[1] == 5 && section[2] == -32768);
        rg_mrc_close(&m);
    }
    put_em("a.em", 6, 5, 24);
    assert_int_equal(rg_mrc_open(&m, in_dir("a.em")), RG_GOOD);
    assert_true(m.mode == RG_MRC_FLOAT32);
    rg_mrc_close(&m);
    put_em("a.em", 6, 8, 48);
    assert_refused(
        rg_mrc_open(&m, in_dir("a.em")), "expected an EM file of type 2 (int16) or 5 (float32), found type 8 (complex");
    put_em("a.em", 6, 2, 13); // one byte too many: not a known format
    assert_refused(rg_mrc_open(&m, in_dir("a.em")), "expected an MRC header");
}

#if HAVE_ZLIB
static void put_gzip(const char *name, const void *bytes, size_t n) {
    gzFile f = gzopen(in_dir(name), "wb");
    assert_int_equal(gzwrite(f, bytes, (unsigned)n), (int)n);
    gzclose(f);
}

TEST(test_gzip) {
    unsigned char file[1024 + 12];
    float section[3];
    rg_mrc m;
    lay_header(file, false, 3, 1, 2, 1, 0, true);
    memcpy(file + 1024, (int16_t[]){1, 2, 3, 4, 5, 6}, 12);
    put_gzip("a.mrc.gz", file, sizeof file);
    assert_int_equal(rg_mrc_open(&m, in_dir("a.mrc.gz")), RG_GOOD);
    assert_int_equal(rg_mrc_section(&m, 1, section), RG_GOOD);
    assert_true(section[0] == 4 && section[2] == 6);
    assert_int_equal(rg_mrc_section(&m, 0, section), RG_GOOD);
    assert_true(section[0] == 1);
    rg_mrc_close(&m);
    size_t n = 0;
    RG_FREED char *packed = get_file(in_dir("a.mrc.gz"), &n);
    assert_refused(rg_mrc_open(&m, put_file("cut.mrc.gz", packed, n - 12)), "expected a whole file of gzip, found it damaged");
    packed[n - 6] ^= 1; // of the checksum
    assert_refused(rg_mrc_open(&m, put_file("bad.mrc.gz", packed, n)), "expected a whole file of gzip, found it damaged");
    RG_FREED char *text;
    int64_t bytes;
    put_gzip("a.star.gz", "data_\n", 6);
    assert_int_equal(rg_input_text(in_dir("a.star.gz"), 100, &text, &bytes), RG_GOOD);
    assert_true(bytes == 6 && strcmp(text, "data_\n") == 0);
}
#endif

// Other formats that users have: the error names the format and a tool that converts it.
TEST(test_other_formats) {
    static const struct {
        const char *bytes;
        size_t n;
        const char *words;
    } other[] = {
        {"\x89HDF\r\n\x1a\n", 8, "found an HDF5 file; e2proc3d.py IN.hdf OUT.mrc"},
        {"\x93NUMPY\1\0", 8, "csparc2star.py of pyem"},
        {"\xFF\xD8\xFF\xE0", 4, "found a JPEG picture"},
        {"PK\3\4", 4, "found a zip archive"},
    };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        char *text;
        int64_t bytes;
        rg_mrc m;
        const char *path = put_file("a.dat", other[i].bytes, other[i].n);
        assert_refused(rg_mrc_open(&m, path), other[i].words);
        assert_refused(rg_input_text(path, 100, &text, &bytes), other[i].words);
    }
}

TEST(test_refusals) {
    unsigned char file[1024 + 64] = {0};
    RG_ENDS(rg_mrc_close) rg_mrc m;
    lay_header(file, false, 4, 2, 1, 4, 0, true);
    assert_refused(
        rg_mrc_open(&m, put_file("a.mrc", file, sizeof file)), "at byte 12: expected mode 0, 1, 2, 6 or 12, found 4");
    lay_header(file, false, 4, 5, 1, 2, 0, true);
    assert_refused(rg_mrc_open(&m, put_file("a.mrc", file, sizeof file)), "at byte 1088: expected 80 bytes of data");
    lay_header(file, false, 4, -5, 1, 2, 0, true);
    assert_refused(rg_mrc_open(&m, put_file("a.mrc", file, sizeof file)), "at byte 4: expected the number of rows");
    lay_header(file, false, 2, 2, 1, 2, -8, true);
    assert_refused(
        rg_mrc_open(&m, put_file("a.mrc", file, sizeof file)), "at byte 92: expected the length of the extended header");
    lay_header(file, false, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 2, 0, true); // more than 2^63 bytes
    assert_refused(rg_mrc_open(&m, put_file("a.mrc", file, sizeof file)), "found the end of the file");
    assert_refused(rg_mrc_open(&m, put_file("a.mrc", file, 1023)), "at byte 1023: expected an MRC header");
    assert_refused(rg_mrc_open(&m, test_dir), "is a directory");
    memset(file, 'x', sizeof file);
    assert_refused(rg_mrc_open(&m, put_file("a.mrc", file, sizeof file)), "at byte 0: expected an MRC or EM file, found text");
    assert_refused(rg_mrc_open(&m, put_file("a.mrc", file, 5)), "at byte 0: expected an MRC or EM file, found text");
    assert_refused(
        rg_mrc_open(&m, put_file("a.mrc", file, 0)), "at byte 0: expected an MRC header of 1024 bytes, found the end");
    lay_header(file, false, 4, 4, 1, 2, 0, true);
    assert_int_equal(rg_mrc_open(&m, put_file("a.mrc", file, sizeof file)), RG_GOOD);
    assert_refused(rg_mrc_section(&m, 1, (float[16]){0}), "section 1");
}

// at_once: all sections in one call, to a file whose space is allocated first.
static int write_one(const char *path, int mode, const float *value, int64_t nz, bool at_once) {
    rg_mrc_out out;
    int code = rg_mrc_write_begin(&out, path, 3, 2, nz, mode, 2.5, nz > 1);
    if (code == RG_GOOD && at_once) rg_mrc_write_room(&out);
    for (int64_t z = 0; z < nz && code == RG_GOOD; z += at_once ? nz : 1)
        code = rg_mrc_write_sections(&out, value + 6 * z, at_once ? nz : 1, 2);
    return rg_mrc_write_end(&out, code);
}

TEST(test_round_trip) {
    const float value[12] = {0, 1, 2, 3, 100, 127, 7, 7, 7, 7, 7, 7};
    const int mode[] = {0, 1, 2, 6, 12}, bytes[] = {1, 2, 4, 2, 2};
    for (int i = 0; i < 5; i++) {
        size_t n;
        float found[12];
        RG_ENDS(rg_mrc_close) rg_mrc m;
        assert_int_equal(write_one(in_dir("w.mrc"), mode[i], value, 2, false), RG_GOOD);
        RG_FREED char *file = get_file(in_dir("w.mrc"), &n);
        assert_int_equal(n, 1024 + 12 * bytes[i]);
        assert_memory_equal(file + 208, "MAP ", 4);
        assert_int_equal(write_one(in_dir("w.mrc"), mode[i], value, 2, true), RG_GOOD);
        RG_FREED char *same = get_file(in_dir("w.mrc"), &n);
        assert_int_equal(n, 1024 + 12 * bytes[i]);
        assert_memory_equal(file, same, n);
        assert_int_equal(rg_mrc_open(&m, in_dir("w.mrc")), RG_GOOD);
        assert_int_equal(rg_mrc_section(&m, 0, found) + rg_mrc_section(&m, 1, found + 6), RG_GOOD);
        assert_memory_equal(found, value, sizeof value);
        // By hand: sum 275, sum of squares 0+1+4+9+10000+16129+6*49 = 26437.
        assert_true(m.minimum == 0 && m.maximum == 127 && fabs(m.mean - 275 / 12.0) < 1e-5);
        assert_true(fabs(m.rms - sqrt(26437 / 12.0 - 275.0 * 275 / 144)) < 1e-4);
        assert_true(fabs(m.voxel_A[0] - 2.5) < 1e-6 && fabs(m.voxel_A[2] - 2.5) < 1e-6 && m.space_group == 1);
    }
}

// In /dev/shm, where the file is mapped.
TEST(test_in_memory) {
    const float value[12] = {0, 1, 2, 3, 100, 127, 7, 7, 7, 7, 7, 7};
    size_t n[2];
    if (access("/dev/shm", W_OK)) skip();
    RG_FREED char *path = rg_print("/dev/shm/regather-test-%d.mrc", getpid());
    assert_int_equal(write_one(in_dir("w.mrc"), 2, value, 2, false), RG_GOOD);
    assert_int_equal(write_one(path, 2, value, 2, true), RG_GOOD);
    char *file[2] = {get_file(in_dir("w.mrc"), &n[0]), get_file(path, &n[1])};
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(file[0], file[1], n[0]);
    unlink(path);
    free(file[0]);
    free(file[1]);
}

TEST(test_nothing_half_written) {
    const float fraction[6] = {0.5f}, large[6] = {40000};
    rg_mrc_out out;
    assert_refused(write_one(in_dir("none.mrc"), 1, fraction, 1, false), "has no place in mode 1");
    assert_refused(write_one(in_dir("none.mrc"), 1, large, 1, false), "the value 40000 at column 0, row 0");
    assert_int_equal(rg_mrc_write_begin(&out, in_dir("none.mrc"), 3, 2, 2, 2, 0, true), RG_GOOD);
    assert_int_equal(rg_mrc_write_section(&out, fraction), RG_GOOD);
    assert_refused(rg_mrc_write_commit(&out), "6 values written, 12 announced");
    assert_int_equal(access(in_dir("none.mrc"), F_OK), -1);
    assert_int_not_equal(system(fmt("ls %s | grep -q part", test_dir)), 0);
}

// Unusual files of EMDB: other axes, which are refused, and sides known from another source.
TEST(test_real_files) {
    const char *path = "../shared/data/format_quirks/EMD-3197.map", *other = "../shared/data/format_quirks/EMD-3001.map";
    RG_ENDS(rg_mrc_close) rg_mrc m;
    double sum = 0;
    if (access(path, R_OK) != 0 || access(other, R_OK) != 0) {
        print_message("skipped: %s is not here\n", path);
        skip();
    }
    assert_refused(rg_mrc_open(&m, other), "found 3 1 2");
    assert_int_equal(rg_mrc_open(&m, path), RG_GOOD);
    assert_true(m.nx == 20 && m.ny == 20 && m.nz == 20 && m.voxel_A[0] > 0);
    RG_FREED float *section = rg_alloc((size_t)(m.nx * m.ny) * sizeof *section);
    for (int64_t z = 0; z < m.nz; z++) {
        assert_int_equal(rg_mrc_section(&m, z, section), RG_GOOD);
        for (int64_t k = 0; k < m.nx * m.ny; k++) sum += section[k];
    }
    assert_true(fabs(sum / (20. * 20 * 20) - m.mean) <= 1e-4 * (fabs(m.maximum) + fabs(m.minimum)));
}

TESTS(test_dir_make, test_dir_remove)
