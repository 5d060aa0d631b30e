// SPDX-License-Identifier: MIT
#include "mrc.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 1024, SEND = 32 << 20 }; // bytes: of a header; between a disk's first sight of them

// Of a row, eight values side by side, so that additions need not wait for one another.
typedef struct rg_mrc_sums {
    double low[8], high[8], sum[8], square[8];
} values_sums;

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
    m->threads = 1;
    m->line = rg_alloc((size_t)nx * (size_t)rg_mrc_mode_bytes(mode));
    m->row = rg_alloc((size_t)ny * sizeof *m->row);
    static const char blank[HEADER];
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

static inline void count_value(values_sums *s, int k, double v, double shift)
{
    s->low[k] = v < s->low[k] ? v : s->low[k];
    s->high[k] = v > s->high[k] ? v : s->high[k];
    s->sum[k] += v - shift;
    s->square[k] += (v - shift) * (v - shift);
}

static void count_row(const rg_mrc_out *m, const float *row, values_sums *s)
{
    int64_t x = 0;
    for (int k = 0; k < 8; k++) {
        s->low[k] = m->minimum;
        s->high[k] = m->maximum;
        s->sum[k] = s->square[k] = 0;
    }
    for (; x + 8 <= m->nx && m->mode == RG_MRC_FLOAT32; x += 8)
        for (int k = 0; k < 8; k++)
            count_value(s, k, row[x + k], m->shift);
    for (; x < m->nx; x++)
        count_value(s, (int)(x % 8), stored_as(m->mode, row[x]), m->shift);
}

// Rows side by side, their sums one after the other: the same statistics from any number of threads.
static void count_section(rg_mrc_out *m, const float *section)
{
#pragma omp parallel for num_threads(m->threads) if (m->threads > 1)
    for (int64_t y = 0; y < m->ny; y++)
        count_row(m, section + y * m->nx, &m->row[y]);
    for (int64_t y = 0; y < m->ny; y++)
        for (int k = 0; k < 8; k++) {
            const values_sums *s = &m->row[y];
            m->minimum = s->low[k] < m->minimum ? s->low[k] : m->minimum;
            m->maximum = s->high[k] > m->maximum ? s->high[k] : m->maximum;
            m->sum += s->sum[k];
            m->sum_of_squares += s->square[k];
        }
    m->values += m->nx * m->ny;
}

int rg_mrc_write_section(rg_mrc_out *m, const float *section)
{
    const bool as_it_is = m->mode == RG_MRC_FLOAT32;
    if (m->values == 0)
        m->shift = m->minimum = m->maximum = stored_as(m->mode, section[0]);
    for (int64_t y = 0; y < m->ny && !as_it_is; y++) {
        const float *row = section + y * m->nx;
        for (int64_t x = 0; x < m->nx; x++) {
            if (!fits(m->mode, row[x]))
                return rg_fail(RG_USAGE, "%s: the value %g at column %" PRId64 ", row %" PRId64 " has no place in mode %d",
                               m->file.path, row[x], x, y, m->mode);
            put_value(m, x, row[x]);
        }
        fwrite(m->line, (size_t)rg_mrc_mode_bytes(m->mode), (size_t)m->nx, m->file.stream);
    }
    count_section(m, section);
    if (as_it_is)
        fwrite(section, sizeof *section, (size_t)(m->nx * m->ny), m->file.stream);
    m->unsent += m->nx * m->ny * rg_mrc_mode_bytes(m->mode);
    if (m->unsent >= SEND) {
        rg_file_send(&m->file);
        m->unsent = 0;
    }
    return RG_GOOD;
}

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

static void let_go(rg_mrc_out *m)
{
    free(m->line);
    free(m->row);
    m->line = NULL;
    m->row = NULL;
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
    let_go(m);
    if (fseeko(m->file.stream, 0, SEEK_SET) == 0) // on failure the stream's error is found by rg_file_commit
        fwrite(header, 1, HEADER, m->file.stream);
    return rg_file_commit(&m->file);
}

void rg_mrc_write_abandon(rg_mrc_out *m)
{
    let_go(m);
    rg_file_abandon(&m->file);
}
