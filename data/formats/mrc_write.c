// SPDX-License-Identifier: MIT
#include "mrc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 1024 };

uint16_t rg_float_to_half(float f)
{
    uint16_t sign = signbit(f) ? 0x8000 : 0;
    double size = fabs((double)f);
    if (isnan(f))
        return (uint16_t)(sign | 0x7E00);
    if (size >= 65520) // half way between the largest half, 65504, and the next power of two
        return (uint16_t)(sign | 0x7C00);
    if (size < ldexp(1, -14))
        return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(size, 24)));
    int exponent = ilogb(size);
    uint32_t fraction = (uint32_t)nearbyint(ldexp(size, 10 - exponent)); // 1024..2048; 2048 carries into the exponent
    return (uint16_t)(sign | (((uint32_t)(exponent + 15) << 10) + (fraction - 1024)));
}

int rg_mrc_write_begin(rg_mrc_out *m, const char *path, int64_t nx, int64_t ny, int64_t nz, int mode, double voxel_A,
                       bool is_volume)
{
    *m = (rg_mrc_out){.nx = nx, .ny = ny, .nz = nz, .mode = mode, .voxel_A = voxel_A, .is_volume = is_volume};
    int code = rg_file_open(&m->file, path);
    if (code != RG_GOOD)
        return code;
    m->line = rg_alloc((size_t)nx * (size_t)rg_mrc_mode_bytes(mode));
    static const char blank[HEADER];
    // Blocks that are there already are filled in two thirds of the time (ext4); where that is refused, they come as always.
    fallocate(fileno(m->file.stream), 0, 0, HEADER + nx * ny * nz * rg_mrc_mode_bytes(mode));
    fwrite(blank, 1, HEADER, m->file.stream); // the statistics are known only at the end; errors show at commit
    return RG_GOOD;
}

static bool fits(int mode, double v)
{
    double low = mode == RG_MRC_INT8 ? -128 : mode == RG_MRC_INT16 ? -32768 : 0;
    double high = mode == RG_MRC_INT8 ? 127 : mode == RG_MRC_INT16 ? 32767 : 65535;
    return mode == RG_MRC_FLOAT32 || mode == RG_MRC_FLOAT16 || (v >= low && v <= high && v == floor(v));
}

static void put_value(rg_mrc_out *m, int64_t x, float v)
{
    if (m->mode == RG_MRC_INT8) {
        m->line[x] = (unsigned char)(int8_t)v;
    } else {
        uint16_t half = m->mode == RG_MRC_FLOAT16 ? rg_float_to_half(v) : (uint16_t)(int32_t)v;
        memcpy(m->line + 2 * x, &half, 2);
    }
}

// The value that a reader will find.
static double stored_as(int mode, float v) { return mode == RG_MRC_FLOAT16 ? rg_half_to_float(rg_float_to_half(v)) : v; }

// Sums of values, eight of them side by side, so that additions need not wait for one another.
typedef struct values_sums {
    double low[8], high[8], sum[8], square[8];
} values_sums;

static inline void count_value(values_sums *s, int k, double v, double shift)
{
    s->low[k] = v < s->low[k] ? v : s->low[k];
    s->high[k] = v > s->high[k] ? v : s->high[k];
    s->sum[k] += v - shift;
    s->square[k] += (v - shift) * (v - shift);
}

static void count_values(values_sums *s, const rg_mrc_out *m, const float *section)
{
    const int64_t n = m->nx * m->ny, as_they_are = m->mode == RG_MRC_FLOAT32 ? n / 8 * 8 : 0;
    for (int k = 0; k < 8; k++) {
        s->low[k] = s->high[k] = m->shift;
        s->sum[k] = s->square[k] = 0;
    }
    for (int64_t i = 0; i < as_they_are; i += 8)
        for (int k = 0; k < 8; k++)
            count_value(s, k, section[i + k], m->shift);
    for (int64_t i = as_they_are; i < n; i++)
        count_value(s, (int)(i % 8), stored_as(m->mode, section[i]), m->shift);
}

static void add_values(rg_mrc_out *m, const values_sums *s)
{
    for (int k = 0; k < 8; k++) {
        m->minimum = s->low[k] < m->minimum ? s->low[k] : m->minimum;
        m->maximum = s->high[k] > m->maximum ? s->high[k] : m->maximum;
        m->sum += s->sum[k];
        m->sum_of_squares += s->square[k];
    }
}

static int convert(rg_mrc_out *m, const float *section)
{
    for (int64_t y = 0; y < m->ny; y++) {
        const float *row = section + y * m->nx;
        for (int64_t x = 0; x < m->nx; x++) {
            if (!fits(m->mode, row[x]))
                return rg_fail(RG_USAGE, "%s: the value %g at column %" PRId64 ", row %" PRId64 " has no place in mode %d",
                               m->file.path, row[x], x, y, m->mode);
            put_value(m, x, row[x]);
        }
        fwrite(m->line, (size_t)rg_mrc_mode_bytes(m->mode), (size_t)m->nx, m->file.stream);
    }
    return RG_GOOD;
}

int rg_mrc_write_sections(rg_mrc_out *m, const float *section, int64_t n, int threads)
{
    const int64_t plane = m->nx * m->ny;
    int code = RG_GOOD;
    if (m->values == 0)
        m->shift = m->minimum = m->maximum = stored_as(m->mode, section[0]);
    values_sums *s = rg_alloc((size_t)n * sizeof *s);
#pragma omp parallel for num_threads(threads) if (n > 1 && threads > 1)
    for (int64_t z = 0; z < n; z++)
        count_values(&s[z], m, section + z * plane);
    for (int64_t z = 0; z < n; z++)
        add_values(m, &s[z]);
    free(s);
    if (m->mode == RG_MRC_FLOAT32)
        fwrite(section, sizeof *section, (size_t)(n * plane), m->file.stream);
    for (int64_t z = 0; z < n && m->mode != RG_MRC_FLOAT32 && code == RG_GOOD; z++)
        code = convert(m, section + z * plane);
    m->values += n * plane;
    return code;
}

int rg_mrc_write_section(rg_mrc_out *m, const float *section) { return rg_mrc_write_sections(m, section, 1, 1); }

static void put_int(unsigned char *header, int n, int32_t v) { memcpy(header + 4 * (n - 1), &v, 4); }

static void put_float(unsigned char *header, int n, double v)
{
    float f = (float)v;
    memcpy(header + 4 * (n - 1), &f, 4);
}

static void make_header(const rg_mrc_out *m, unsigned char *h)
{
    const int64_t side[3] = {m->nx, m->ny, m->nz};
    const uint16_t one = 1;
    unsigned char stamp = *(const unsigned char *)&one == 1 ? 0x44 : 0x11;
    for (int i = 0; i < 3; i++) {
        put_int(h, 1 + i, (int32_t)side[i]);
        put_int(h, 8 + i, i == 2 && !m->is_volume ? 1 : (int32_t)side[i]); // MZ 1 marks a stack of images
        put_float(h, 11 + i, (i == 2 && !m->is_volume ? 1 : (double)side[i]) * m->voxel_A);
        put_float(h, 14 + i, 90);
        put_int(h, 17 + i, 1 + i);
    }
    double mean = m->sum / (double)m->values, variance = m->sum_of_squares / (double)m->values - mean * mean;
    put_int(h, 4, m->mode);
    put_float(h, 20, m->minimum);
    put_float(h, 21, m->maximum);
    put_float(h, 22, m->shift + mean);
    put_int(h, 23, m->is_volume);
    put_int(h, 28, 20140); // NVERSION: MRC2014, first edition
    memcpy(h + 208, "MAP ", 4);
    h[212] = stamp;
    h[213] = stamp == 0x44 ? 0x44 : 0x11;
    put_float(h, 55, sqrt(variance > 0 ? variance : 0));
    put_int(h, 56, 1);
    memset(h + 224, ' ', 80);
    const char *label = "regather " RG_VERSION;
    memcpy(h + 224, label, strlen(label));
}

int rg_mrc_write_commit(rg_mrc_out *m)
{
    unsigned char header[HEADER] = {0};
    if (m->values != m->nx * m->ny * m->nz) {
        int code = rg_fail(RG_USAGE, "%s: %" PRId64 " values written, %" PRId64 " announced", m->file.path, m->values,
                           m->nx * m->ny * m->nz);
        rg_mrc_write_abandon(m);
        return code;
    }
    make_header(m, header);
    free(m->line);
    m->line = NULL;
    if (fseeko(m->file.stream, 0, SEEK_SET) == 0) // on failure the stream's error is found by rg_file_commit
        fwrite(header, 1, HEADER, m->file.stream);
    return rg_file_commit(&m->file);
}

void rg_mrc_write_abandon(rg_mrc_out *m)
{
    free(m->line);
    m->line = NULL;
    rg_file_abandon(&m->file);
}
