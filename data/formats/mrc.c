// SPDX-License-Identifier: MIT
#include "mrc.h"
#include "../../impl/base/malformed.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 1024, BYTE_NSYMBT = 92, BYTE_MAP = 208, BYTE_STAMP = 212, FAULT_ROOM = 240 };

int rg_mrc_mode_bytes(int mode)
{
    return mode == RG_MRC_INT8 ? 1 : mode == RG_MRC_FLOAT32 ? 4 : mode == RG_MRC_INT16 || mode == RG_MRC_UINT16
           || mode == RG_MRC_FLOAT16 ? 2 : 0;
}

float rg_half_to_float(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double value = exponent == 31 ? (fraction ? NAN : INFINITY)
                   : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                  : ldexp(fraction, -24);
    return (float)(h >> 15 ? -value : value);
}

static uint32_t word(const unsigned char *p, bool swapped)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return swapped ? __builtin_bswap32(v) : v;
}

// Word n of the header, counted from 1 as in the format's table.
static int32_t int_word(const unsigned char *header, int n, bool swapped)
{
    return (int32_t)word(header + 4 * (n - 1), swapped);
}

static float float_word(const unsigned char *header, int n, bool swapped)
{
    uint32_t v = word(header + 4 * (n - 1), swapped);
    float f;
    memcpy(&f, &v, 4);
    return f;
}

// What is wrong with the header in this byte order, or false.
static bool fault(const unsigned char *h, int64_t bytes, bool swapped, int64_t *at, char text[FAULT_ROOM])
{
    static const char *const side[3] = {"columns NX", "rows NY", "sections NZ"};
    for (int i = 0; i < 3; i++) {
        *at = 4 * i;
        if (int_word(h, i + 1, swapped) < 1) {
            snprintf(text, FAULT_ROOM, "expected the number of %s to be at least 1, found %d", side[i], int_word(h, i + 1, swapped));
            return true;
        }
    }
    int mode = int_word(h, 4, swapped);
    *at = 12;
    if (!rg_mrc_mode_bytes(mode)) {
        snprintf(text, FAULT_ROOM, "expected mode 0, 1, 2, 6 or 12, found %d%s", mode,
                 mode == 3 || mode == 4 ? " (complex numbers, which no job of this suite takes)" : "");
        return true;
    }
    int64_t extended = int_word(h, 24, swapped);
    *at = BYTE_NSYMBT;
    if (extended < 0) {
        snprintf(text, FAULT_ROOM, "expected the length of the extended header, found %" PRId64, extended);
        return true;
    }
    // Three sides below 2^31 and 4 bytes a value can pass 2^63, so the product is taken in floating point first.
    double need = (double)int_word(h, 1, swapped) * int_word(h, 2, swapped) * int_word(h, 3, swapped) * rg_mrc_mode_bytes(mode);
    double there = (double)(bytes - HEADER - extended), sections = int_word(h, 3, swapped);
    if (need > there) {
        *at = bytes;
        snprintf(text, FAULT_ROOM, "expected %.16g bytes of data (%d x %d x %.0f, mode %d) after a header of %" PRId64
                 ", found the end of the file in section %.0f", need, int_word(h, 1, swapped), int_word(h, 2, swapped),
                 sections, mode, HEADER + extended, there > 0 ? floor(there / (need / sections)) + 1 : 1);
        return true;
    }
    return false;
}

// The order to try first: that of the machine stamp, else the one in which the mode is the smaller number.
static bool likely_swapped(const unsigned char *h)
{
    const uint16_t one = 1;
    bool little_here = *(const unsigned char *)&one == 1;
    if (memcmp(h + BYTE_MAP, "MAP ", 4) == 0 && (h[BYTE_STAMP] == 0x44 || h[BYTE_STAMP] == 0x11))
        return (h[BYTE_STAMP] == 0x44) != little_here;
    uint32_t here = word(h + 12, false), swapped = word(h + 12, true);
    return here == swapped ? word(h, true) < word(h, false) : swapped < here;
}

bool rg_mrc_plausible(const void *header, int64_t bytes)
{
    char text[FAULT_ROOM];
    int64_t at;
    return bytes >= HEADER && (!fault(header, bytes, false, &at, text) || !fault(header, bytes, true, &at, text)
                               || memcmp((const char *)header + BYTE_MAP, "MAP ", 4) == 0);
}

static double finite_or_zero(double v) { return isfinite(v) && v > 0 ? v : 0; }

static void read_header(rg_mrc *m, const unsigned char *h)
{
    m->stamped = memcmp(h + BYTE_MAP, "MAP ", 4) == 0;
    m->nx = int_word(h, 1, m->swapped);
    m->ny = int_word(h, 2, m->swapped);
    m->nz = int_word(h, 3, m->swapped);
    m->mode = int_word(h, 4, m->swapped);
    m->space_group = int_word(h, 23, m->swapped);
    for (int i = 0; i < 3; i++) {
        int grid = int_word(h, 8 + i, m->swapped);
        m->voxel_A[i] = grid > 0 ? finite_or_zero(float_word(h, 11 + i, m->swapped) / grid) : 0;
        m->axis[i] = int_word(h, 17 + i, m->swapped);
    }
    m->minimum = float_word(h, 20, m->swapped);
    m->maximum = float_word(h, 21, m->swapped);
    m->mean = float_word(h, 22, m->swapped);
    m->rms = float_word(h, 55, m->swapped);
    m->data_byte = HEADER + (int64_t)int_word(h, 24, m->swapped);
}

int rg_mrc_open_stream(rg_mrc *m, FILE *file, int64_t bytes, const char *path)
{
    unsigned char header[HEADER];
    char text[FAULT_ROOM];
    int64_t at;
    *m = (rg_mrc){.path = rg_print("%s", path), .file = file};
    rewind(file);
    size_t got = fread(header, 1, HEADER, file);
    if (got < HEADER)
        return rg_malformed(path, (int64_t)got, "expected an MRC header of %d bytes, found the end of the file", HEADER);
    m->swapped = likely_swapped(header);
    if (fault(header, bytes, m->swapped, &at, text)
        && !fault(header, bytes, !m->swapped, &(int64_t){0}, (char[FAULT_ROOM]){0}))
        m->swapped = !m->swapped;
    if (fault(header, bytes, m->swapped, &at, text))
        return rg_malformed(path, at, "%s", text);
    read_header(m, header);
    m->line = rg_alloc((size_t)m->nx * (size_t)rg_mrc_mode_bytes(m->mode));
    return RG_GOOD;
}

int rg_mrc_open(rg_mrc *m, const char *path)
{
    int64_t bytes;
    FILE *file;
    *m = (rg_mrc){0};
    int code = rg_input_open(path, &file, &bytes);
    if (code != RG_GOOD)
        return code;
    code = rg_mrc_open_stream(m, file, bytes, path);
    m->owns_file = true;
    if (code != RG_GOOD)
        rg_mrc_close(m);
    return code;
}

static float value_at(const rg_mrc *m, int64_t i)
{
    if (m->mode == RG_MRC_INT8)
        return (float)(int8_t)m->line[i];
    if (m->mode == RG_MRC_FLOAT32) {
        uint32_t v = word(m->line + 4 * i, m->swapped);
        float f;
        memcpy(&f, &v, 4);
        return f;
    }
    uint16_t v;
    memcpy(&v, m->line + 2 * i, 2);
    v = m->swapped ? __builtin_bswap16(v) : v;
    return m->mode == RG_MRC_INT16 ? (float)(int16_t)v : m->mode == RG_MRC_UINT16 ? (float)v : rg_half_to_float(v);
}

int rg_mrc_section(rg_mrc *m, int64_t z, float *section)
{
    int64_t line_bytes = m->nx * rg_mrc_mode_bytes(m->mode);
    int64_t at = m->data_byte + z * m->ny * line_bytes;
    if (z < 0 || z >= m->nz)
        return rg_fail(RG_USAGE, "%s: section %" PRId64 " asked for, found %" PRId64 " sections", m->path, z, m->nz);
    if (fseeko(m->file, at, SEEK_SET) != 0)
        return rg_malformed(m->path, at, "expected section %" PRId64 ", found that the file cannot be positioned there", z);
    // Values that need no conversion are read in one piece, so that the system copies them straight to their place.
    bool as_it_is = m->mode == RG_MRC_FLOAT32 && !m->swapped;
    int64_t bytes = as_it_is ? m->ny * line_bytes : line_bytes;
    for (int64_t y = 0; y < m->ny; y += bytes / line_bytes) {
        int64_t got = (int64_t)fread(as_it_is ? (void *)section : m->line, 1, (size_t)bytes, m->file);
        if (got != bytes)
            return rg_malformed(m->path, at + y * line_bytes + got, "expected row %" PRId64 " of section %" PRId64 ", found %s",
                                y + got / line_bytes, z, ferror(m->file) ? "a read error" : "the end of the file");
        for (int64_t x = 0; x < m->nx && !as_it_is; x++)
            section[y * m->nx + x] = value_at(m, x);
    }
    return RG_GOOD;
}

void rg_mrc_close(rg_mrc *m)
{
    if (m->owns_file && m->file)
        fclose(m->file);
    free(m->path);
    free(m->line);
    *m = (rg_mrc){0};
}
