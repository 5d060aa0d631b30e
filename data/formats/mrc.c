// SPDX-License-Identifier: MIT
#include "mrc.h"
#include "../../impl/base/malformed.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/vfs.h>

enum { HEADER = 1024, EM_HEADER = 512, BYTE_AXES = 64, BYTE_NSYMBT = 92, BYTE_IMOD = 152, BYTE_MAP = 208, BYTE_STAMP = 212 };
enum { FAULT_ROOM = 240 };

int rg_mrc_mode_bytes(int mode) {
    return mode == RG_MRC_INT8 || mode == RG_MRC_UINT8                            ? 1
        : mode == RG_MRC_FLOAT32                                                  ? 4
        : mode == RG_MRC_INT16 || mode == RG_MRC_UINT16 || mode == RG_MRC_FLOAT16 ? 2
                                                                                  : 0;
}

float rg_half_to_float(uint16_t h) {
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double value = exponent == 31 ? (fraction ? NAN : INFINITY)
        : exponent                ? ldexp(1024 + fraction, exponent - 25)
                                  : ldexp(fraction, -24);
    return (float)(h >> 15 ? -value : value);
}

uint16_t rg_float_to_half(float f) {
    uint16_t sign = signbit(f) ? 0x8000 : 0;
    double size = fabs((double)f);
    if (isnan(f)) return (uint16_t)(sign | 0x7E00);
    if (size >= 65520) // half way between the largest half, 65504, and the next power of two
        return (uint16_t)(sign | 0x7C00);
    if (size < ldexp(1, -14)) return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(size, 24)));
    int exponent = ilogb(size);
    uint32_t fraction = (uint32_t)nearbyint(ldexp(size, 10 - exponent)); // 1024..2048; 2048 carries into the exponent
    return (uint16_t)(sign | (((uint32_t)(exponent + 15) << 10) + (fraction - 1024)));
}

// ---- reading -------------------------------------------------------------------------------------------------------------

static uint32_t word(const unsigned char *p, bool swapped) {
    uint32_t v;
    memcpy(&v, p, 4);
    return swapped ? __builtin_bswap32(v) : v;
}

// Word n of the header, counted from 1 as in the format's table.
static int32_t int_word(const unsigned char *header, int n, bool swapped) {
    return (int32_t)word(header + 4 * (n - 1), swapped);
}

static float float_word(const unsigned char *header, int n, bool swapped) {
    uint32_t v = word(header + 4 * (n - 1), swapped);
    float f;
    memcpy(&f, &v, 4);
    return f;
}

// IMOD's own words: a stamp, then flags. Besides these two they speak of the extended header, the sign of the origin and the
// rms, of which nothing is used here.
enum { IMOD_SIGNED = 1, IMOD_4_BITS = 16 };
static bool has_imod_flags(const unsigned char *h, bool swapped) {
    return int_word(h, 1 + BYTE_IMOD / 4, swapped) == 1146047817;
}

// The fault of the header in this byte order, or false.
static bool fault(const unsigned char *h, int64_t bytes, bool swapped, int64_t *at, char text[FAULT_ROOM]) {
    static const char *const side[3] = {"columns NX", "rows NY", "sections NZ"};
    for (int i = 0; i < 3; i++) {
        *at = 4 * i;
        if (int_word(h, i + 1, swapped) < 1) {
            snprintf(
                text, FAULT_ROOM, "expected the number of %s to be at least 1, found %d", side[i], int_word(h, i + 1, swapped));
            return true;
        }
    }
    int mode = int_word(h, 4, swapped);
    *at = 12;
    if (mode < 0 || !rg_mrc_mode_bytes(mode)) {
        snprintf(text, FAULT_ROOM, "expected mode 0, 1, 2, 6 or 12, found %d%s", mode,
            mode == 3 || mode == 4 ? " (complex numbers, which no job of this suite takes)"
                : mode == 16       ? " (IMOD's colours)"
                : mode == 101      ? " (4 bits a pixel; newstack -mode 1 of IMOD widens them)"
                                   : "");
        return true;
    }
    *at = BYTE_IMOD + 4;
    if (mode == RG_MRC_INT8 && has_imod_flags(h, swapped) && int_word(h, 2 + BYTE_IMOD / 4, swapped) & IMOD_4_BITS) {
        snprintf(
            text, FAULT_ROOM, "expected a byte a pixel, found IMOD's flag of 4 bits a pixel (newstack -mode 1 widens them)");
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
        snprintf(text, FAULT_ROOM,
            "expected %.16g bytes of data (%d x %d x %.0f, mode %d) after a header of %" PRId64
            ", found the end of the file in section %.0f",
            need, int_word(h, 1, swapped), int_word(h, 2, swapped), sections, mode, HEADER + extended,
            there > 0 ? floor(there / (need / sections)) + 1 : 1);
        return true;
    }
    return false;
}

// The order to try first: that of the machine stamp, else the one in which the mode is the smaller number.
static bool likely_swapped(const unsigned char *h) {
    const uint16_t one = 1;
    bool little_here = *(const unsigned char *)&one == 1;
    if (memcmp(h + BYTE_MAP, "MAP ", 4) == 0 && (h[BYTE_STAMP] == 0x44 || h[BYTE_STAMP] == 0x11))
        return (h[BYTE_STAMP] == 0x44) != little_here;
    uint32_t here = word(h + 12, false), swapped = word(h + 12, true);
    return here == swapped ? word(h, true) < word(h, false) : swapped < here;
}

// EM: byte 0 is the machine (3, 5: big-endian, 6: little-endian), byte 3 the type, then three sides. The size must match the
// file's exactly; an MRC file with this beginning would have more than 2^24 columns.
static bool em_header(const unsigned char *h, int64_t bytes, bool *swapped, int *type) {
    static const int type_bytes[10] = {0, 1, 2, 0, 4, 4, 0, 0, 8, 8};
    const uint16_t one = 1;
    const bool little_here = *(const unsigned char *)&one == 1;
    if (bytes < EM_HEADER || (h[0] != 3 && h[0] != 5 && h[0] != 6) || h[3] > 9 || !type_bytes[h[3]]) return false;
    *swapped = (h[0] == 6) != little_here;
    *type = h[3];
    double values = 1;
    for (int i = 2; i <= 4; i++) values *= int_word(h, i, *swapped) > 0 ? int_word(h, i, *swapped) : 0;
    return values > 0 && values * type_bytes[h[3]] == (double)(bytes - EM_HEADER);
}

static int read_em_header(rg_mrc *m, const unsigned char *h, int type) {
    static const char *const name[10] = {[1] = "bytes", [4] = "32-bit integers", [8] = "complex numbers", [9] = "64-bit reals"};
    if (type != 2 && type != 5)
        return rg_malformed(
            m->path, 3, "expected an EM file of type 2 (int16) or 5 (float32), found type %d (%s)", type, name[type]);
    m->is_em = true;
    m->nx = int_word(h, 2, m->swapped);
    m->ny = int_word(h, 3, m->swapped);
    m->nz = int_word(h, 4, m->swapped);
    m->mode = type == 2 ? RG_MRC_INT16 : RG_MRC_FLOAT32;
    m->space_group = m->nz > 1; // EM does not distinguish stacks from volumes; TOM, PyTom and Dynamo keep volumes in it
    for (int i = 0; i < 3; i++) m->axis[i] = 1 + i;
    m->data_byte = EM_HEADER;
    return RG_GOOD;
}

bool rg_mrc_plausible(const void *header, int64_t bytes) {
    char text[FAULT_ROOM];
    int64_t at;
    if (em_header(header, bytes, &(bool){false}, &(int){0})) return true;
    return bytes >= HEADER &&
        (!fault(header, bytes, false, &at, text) || !fault(header, bytes, true, &at, text) ||
            memcmp((const char *)header + BYTE_MAP, "MAP ", 4) == 0);
}

static double finite_or_zero(double v) { return isfinite(v) && v > 0 ? v : 0; }

static void read_header(rg_mrc *m, const unsigned char *h) {
    m->stamped = memcmp(h + BYTE_MAP, "MAP ", 4) == 0;
    m->nx = int_word(h, 1, m->swapped);
    m->ny = int_word(h, 2, m->swapped);
    m->nz = int_word(h, 3, m->swapped);
    m->mode = int_word(h, 4, m->swapped);
    m->space_group = int_word(h, 23, m->swapped);
    for (int i = 0; i < 3; i++) {
        int grid = int_word(h, 8 + i, m->swapped);
        m->voxel_A[i] = grid > 0 ? finite_or_zero((double)float_word(h, 11 + i, m->swapped) / grid) : 0;
        m->axis[i] = int_word(h, 17 + i, m->swapped);
    }
    m->minimum = float_word(h, 20, m->swapped);
    m->maximum = float_word(h, 21, m->swapped);
    m->mean = float_word(h, 22, m->swapped);
    m->rms = float_word(h, 55, m->swapped);
    // Older files have no flags, and unsigned bytes where the header's maximum is more than a signed one can be.
    const bool is_signed = has_imod_flags(h, m->swapped)
        ? int_word(h, 2 + BYTE_IMOD / 4, m->swapped) & IMOD_SIGNED
        : !(m->minimum >= 0 && m->maximum > INT8_MAX && m->maximum <= UINT8_MAX);
    if (m->mode == RG_MRC_INT8 && !is_signed) m->mode = RG_MRC_UINT8;
    m->data_byte = HEADER + (int64_t)int_word(h, 24, m->swapped);
}

// Columns, rows and sections must run along x, y and z; in some maps of EMDB and of crystallographers they do not. Axes that
// are no permutation were not set.
static int check_axes(const rg_mrc *m) {
    const int *a = m->axis;
    const bool another = a[0] + a[1] + a[2] == 6 && a[0] * a[1] * a[2] == 6 && (a[0] != 1 || a[1] != 2);
    return another ? rg_malformed(m->path, BYTE_AXES,
                         "expected columns, rows and sections along x, y and z (MAPC, MAPR, MAPS "
                         "1 2 3), found %d %d %d; mapmask of CCP4 writes it so with AXIS X Y Z",
                         a[0], a[1], a[2])
                   : RG_GOOD;
}

// True once for each file, as a stack is opened more than once.
static bool is_first_of(const char *path) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char **said;
    static int64_t n;
    bool first = true;
    pthread_mutex_lock(&lock);
    for (int64_t i = 0; i < n && first; i++) first = strcmp(said[i], path) != 0;
    if (first) {
        said = rg_grow(said, n, sizeof *said);
        said[n++] = rg_print("%s", path);
    }
    pthread_mutex_unlock(&lock);
    return first;
}

// Refuses a file with room for another section after the last: NZ or the length of the extended header may be too small.
static int check_rest(const rg_mrc *m, int64_t bytes) {
    const int64_t section = m->nx * m->ny * rg_mrc_mode_bytes(m->mode), end = m->data_byte + m->nz * section;
    if (bytes - end >= section)
        return rg_malformed(m->path, end,
            "expected nothing behind the last of %" PRId64 " section%s, found %" PRId64 " bytes, as of %" PRId64
            " more (alterheader of IMOD sets NZ)",
            m->nz, rg_plural(m->nz), bytes - end, (bytes - end) / section);
    if (bytes > end && is_first_of(m->path))
        rg_warn("%s: %" PRId64 " bytes after its last section are ignored: is the length of its extended header, %" PRId64
                ", right?",
            m->path, bytes - end, m->data_byte - HEADER);
    return RG_GOOD;
}

int rg_mrc_open_stream(rg_mrc *m, FILE *file, int64_t bytes, const char *path) {
    unsigned char header[HEADER];
    char text[FAULT_ROOM];
    int64_t at;
    *m = (rg_mrc){.path = rg_print("%s", path), .file = file};
    rewind(file);
    size_t got = fread(header, 1, HEADER, file);
    int em_type;
    if (em_header(header, bytes, &m->swapped, &em_type)) {
        int code = read_em_header(m, header, em_type);
        if (code == RG_GOOD) m->line = rg_alloc((size_t)m->nx * (size_t)rg_mrc_mode_bytes(m->mode));
        return code;
    }
    const char *other = rg_known_as(header, got);
    if (!other && got && !memchr(header, 0, got)) // which every header has
        other = "text";
    if (other && (got < HEADER || !rg_mrc_plausible(header, bytes)))
        return rg_malformed(path, 0, "expected an MRC or EM file, found %s", other);
    if (got < HEADER)
        return rg_malformed(path, (int64_t)got, "expected an MRC header of %d bytes, found %s", HEADER,
            ferror(file) ? "a read error" : "the end of the file");
    m->swapped = likely_swapped(header);
    if (fault(header, bytes, m->swapped, &at, text) && !fault(header, bytes, !m->swapped, &(int64_t){0}, (char[FAULT_ROOM]){0}))
        m->swapped = !m->swapped;
    if (fault(header, bytes, m->swapped, &at, text)) return rg_malformed(path, at, "%s", text);
    read_header(m, header);
    if (check_axes(m) != RG_GOOD || check_rest(m, bytes) != RG_GOOD) return RG_USAGE;
    m->line = rg_alloc((size_t)m->nx * (size_t)rg_mrc_mode_bytes(m->mode));
    return RG_GOOD;
}

int rg_mrc_open(rg_mrc *m, const char *path) {
    int64_t bytes;
    FILE *file;
    *m = (rg_mrc){0};
    int code = rg_input_open(path, &file, &bytes);
    if (code != RG_GOOD) return code;
    code = rg_mrc_open_stream(m, file, bytes, path);
    m->owns_file = true;
    if (code != RG_GOOD) rg_mrc_close(m);
    return code;
}

static float value_at(const rg_mrc *m, int64_t i) {
    if (m->mode == RG_MRC_UINT8) return (float)m->line[i];
    if (m->mode == RG_MRC_INT8) return (float)(int8_t)m->line[i];
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

int rg_mrc_section(rg_mrc *m, int64_t z, float *section) {
    int64_t line_bytes = m->nx * rg_mrc_mode_bytes(m->mode);
    int64_t at = m->data_byte + z * m->ny * line_bytes;
    if (z < 0 || z >= m->nz)
        return rg_fail(
            RG_USAGE, "%s: section %" PRId64 " requested, found %" PRId64 " section%s", m->path, z, m->nz, rg_plural(m->nz));
    if (fseeko(m->file, at, SEEK_SET) != 0)
        return rg_malformed(m->path, at, "expected section %" PRId64 ", found that the file cannot be positioned there", z);
    // Values that need no conversion are read in one piece, directly to their place.
    bool as_it_is = m->mode == RG_MRC_FLOAT32 && !m->swapped;
    int64_t bytes = as_it_is ? m->ny * line_bytes : line_bytes;
    for (int64_t y = 0; y < m->ny; y += bytes / line_bytes) {
        int64_t got = (int64_t)fread(as_it_is ? (void *)section : m->line, 1, (size_t)bytes, m->file);
        if (got != bytes)
            return rg_malformed(m->path, at + y * line_bytes + got, "expected row %" PRId64 " of section %" PRId64 ", found %s",
                y + got / line_bytes, z, ferror(m->file) ? "a read error" : "the end of the file");
        for (int64_t x = 0; x < m->nx && !as_it_is; x++) section[y * m->nx + x] = value_at(m, x);
    }
    return RG_GOOD;
}

void rg_mrc_mask_bytes(float *value, int64_t n) {
    bool stored[2] = {false, false};
    for (int64_t i = 0; i < n; i++) {
        if (value[i] != INT8_MIN && value[i] != INT8_MIN + 1) return;
        stored[value[i] != INT8_MIN] = true;
    }
    for (int64_t i = 0; i < n && stored[0] && stored[1]; i++) value[i] -= INT8_MIN;
}

double rg_mrc_voxel_A(const rg_mrc *m, bool is_volume) {
    static const double EQUAL = 1e-3;           // half a voxel over 500
    static atomic_flag said = ATOMIC_FLAG_INIT; // one warning for many files of one microscope
    const double *v = m->voxel_A;
    bool unequal = false;
    for (int i = 1; i < (is_volume ? 3 : 2); i++) unequal |= v[0] > 0 && v[i] > 0 && fabs(v[i] - v[0]) > EQUAL * v[0];
    if (!unequal || atomic_flag_test_and_set(&said)) return v[0];
    if (is_volume)
        rg_warn("%s: expected cubic voxels, found %g x %g x %g A; %g A is used for all sides", m->path, v[0], v[1], v[2], v[0]);
    else
        rg_warn("%s: expected square pixels, found %g x %g A; %g A is used for both sides", m->path, v[0], v[1], v[0]);
    return v[0];
}

void rg_mrc_close(rg_mrc *m) {
    if (m->owns_file && m->file) fclose(m->file);
    free(m->path);
    free(m->line);
    *m = (rg_mrc){0};
}

// ---- writing -------------------------------------------------------------------------------------------------------------

int rg_mrc_write_begin(
    rg_mrc_out *m, const char *path, int64_t nx, int64_t ny, int64_t nz, int mode, double voxel_A, bool is_volume) {
    *m = (rg_mrc_out){.nx = nx, .ny = ny, .nz = nz, .mode = mode, .voxel_A = voxel_A, .is_volume = is_volume};
    int code = rg_file_open(&m->file, path);
    if (code != RG_GOOD) return code;
    m->line = rg_alloc((size_t)nx * (size_t)rg_mrc_mode_bytes(mode));
    static const char blank[HEADER];
    fwrite(blank, 1, HEADER, m->file.stream); // the statistics are known only at the end; errors show at commit
    return RG_GOOD;
}

static size_t bytes_of(const rg_mrc_out *m) { return HEADER + (size_t)(m->nx * m->ny * m->nz * rg_mrc_mode_bytes(m->mode)); }

// Allocates the file's blocks, which are then filled in two thirds of the time (ext4). A file in memory is also mapped, so that
// several threads can fill it, while writes to one file wait for each other. Elsewhere, a mapped file would end the program
// when the disk fills up.
void rg_mrc_write_room(rg_mrc_out *m) {
    const int fd = fileno(m->file.stream);
    struct statfs on;
    if (fallocate(fd, 0, 0, (off_t)bytes_of(m)) != 0 || m->mode != RG_MRC_FLOAT32 || fstatfs(fd, &on) != 0 ||
        on.f_type != TMPFS_MAGIC)
        return;
    void *at = mmap(NULL, bytes_of(m), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    m->mapped = at == MAP_FAILED ? NULL : at;
}

static void unmap(rg_mrc_out *m) {
    if (m->mapped) munmap(m->mapped, bytes_of(m));
    m->mapped = NULL;
}

static bool fits(int mode, double v) {
    double low = mode == RG_MRC_INT8 ? -128 : mode == RG_MRC_INT16 ? -32768 : 0;
    double high = mode == RG_MRC_INT8 ? 127 : mode == RG_MRC_INT16 ? 32767 : 65535;
    return mode == RG_MRC_FLOAT32 || mode == RG_MRC_FLOAT16 || (v >= low && v <= high && v == floor(v));
}

static void put_value(rg_mrc_out *m, int64_t x, float v) {
    if (m->mode == RG_MRC_INT8) {
        m->line[x] = (unsigned char)(int8_t)v;
    } else {
        uint16_t half = m->mode == RG_MRC_FLOAT16 ? rg_float_to_half(v) : (uint16_t)(int32_t)v;
        memcpy(m->line + 2 * x, &half, 2);
    }
}

// The value as it will be read.
static double stored_as(int mode, float v) { return mode == RG_MRC_FLOAT16 ? rg_half_to_float(rg_float_to_half(v)) : v; }

// Sums values in eight accumulators, so that additions do not wait for one another.
typedef struct values_sums {
    double low[8], high[8], sum[8], square[8];
} values_sums;

static inline void count_value(values_sums *s, int k, double v, double shift) {
    s->low[k] = v < s->low[k] ? v : s->low[k];
    s->high[k] = v > s->high[k] ? v : s->high[k];
    s->sum[k] += v - shift;
    s->square[k] += (v - shift) * (v - shift);
}

static void count_values(values_sums *s, const rg_mrc_out *m, const float *section) {
    const int64_t n = m->nx * m->ny, as_they_are = m->mode == RG_MRC_FLOAT32 ? n / 8 * 8 : 0;
    for (int k = 0; k < 8; k++) {
        s->low[k] = s->high[k] = m->shift;
        s->sum[k] = s->square[k] = 0;
    }
    for (int64_t i = 0; i < as_they_are; i += 8)
        for (int k = 0; k < 8; k++) count_value(s, k, section[i + k], m->shift);
    for (int64_t i = as_they_are; i < n; i++) count_value(s, (int)(i % 8), stored_as(m->mode, section[i]), m->shift);
}

static void add_values(rg_mrc_out *m, const values_sums *s) {
    for (int k = 0; k < 8; k++) {
        m->minimum = s->low[k] < m->minimum ? s->low[k] : m->minimum;
        m->maximum = s->high[k] > m->maximum ? s->high[k] : m->maximum;
        m->sum += s->sum[k];
        m->sum_of_squares += s->square[k];
    }
}

static int convert(rg_mrc_out *m, const float *section) {
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

int rg_mrc_write_sections(rg_mrc_out *m, const float *section, int64_t n, int threads) {
    const int64_t plane = m->nx * m->ny;
    int code = RG_GOOD;
    if (m->values == 0) m->shift = m->minimum = m->maximum = stored_as(m->mode, section[0]);
    values_sums *s = rg_alloc((size_t)n * sizeof *s);
#pragma omp parallel for num_threads(threads) if (n > 1 && threads > 1)
    for (int64_t z = 0; z < n; z++) {
        count_values(&s[z], m, section + z * plane);
        if (m->mapped)
            memcpy(m->mapped + HEADER + (size_t)(m->values + z * plane) * sizeof *section, section + z * plane,
                (size_t)plane * sizeof *section);
    }
    for (int64_t z = 0; z < n; z++) add_values(m, &s[z]);
    free(s);
    if (m->mode == RG_MRC_FLOAT32 && !m->mapped) fwrite(section, sizeof *section, (size_t)(n * plane), m->file.stream);
    for (int64_t z = 0; z < n && m->mode != RG_MRC_FLOAT32 && code == RG_GOOD; z++) code = convert(m, section + z * plane);
    m->values += n * plane;
    return code;
}

int rg_mrc_write_section(rg_mrc_out *m, const float *section) { return rg_mrc_write_sections(m, section, 1, 1); }

static void put_int(unsigned char *header, int n, int32_t v) { memcpy(header + 4 * (n - 1), &v, 4); }

static void put_float(unsigned char *header, int n, double v) {
    float f = (float)v;
    memcpy(header + 4 * (n - 1), &f, 4);
}

static void make_header(const rg_mrc_out *m, unsigned char *h) {
    const int64_t side[3] = {m->nx, m->ny, m->nz};
    const uint16_t one = 1;
    unsigned char stamp = *(const unsigned char *)&one == 1 ? 0x44 : 0x11;
    const double voxel_A = (double)(float)((double)m->nx * m->voxel_A) / (double)m->nx; // as it will be read
    for (int i = 0; i < 3; i++) {
        put_int(h, 1 + i, (int32_t)side[i]);
        put_int(h, 8 + i, i == 2 && !m->is_volume ? 1 : (int32_t)side[i]); // MZ 1 marks a stack of images
        put_float(h, 11 + i, (i == 2 && !m->is_volume ? 1 : (double)side[i]) * voxel_A);
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
    memcpy(h + BYTE_MAP, "MAP ", 4);
    h[BYTE_STAMP] = stamp;
    h[BYTE_STAMP + 1] = stamp == 0x44 ? 0x44 : 0x11;
    put_float(h, 55, sqrt(variance > 0 ? variance : 0));
    put_int(h, 56, 1);
    memset(h + 224, ' ', 80);
    char label[81];
    const int length = snprintf(label, sizeof label, "regather " RG_VERSION ", revision %s", rg_revision());
    memcpy(h + 224, label, length < 80 ? (size_t)length : 80);
}

int rg_mrc_write_commit(rg_mrc_out *m) {
    unsigned char header[HEADER] = {0};
    if (m->values != m->nx * m->ny * m->nz) {
        int code = rg_fail(
            RG_USAGE, "%s: %" PRId64 " values written, %" PRId64 " announced", m->file.path, m->values, m->nx * m->ny * m->nz);
        rg_mrc_write_abandon(m);
        return code;
    }
    if (m->values > 1 && m->minimum == m->maximum) rg_warn("%s: is %g everywhere", m->file.path, m->minimum);
    make_header(m, header);
    unmap(m);
    free(m->line);
    m->line = NULL;
    if (fseeko(m->file.stream, 0, SEEK_SET) == 0) // on failure the stream's error is found by rg_file_commit
        fwrite(header, 1, HEADER, m->file.stream);
    return rg_file_commit(&m->file);
}

void rg_mrc_write_abandon(rg_mrc_out *m) {
    unmap(m);
    free(m->line);
    m->line = NULL;
    rg_file_abandon(&m->file);
}

int rg_mrc_write_end(rg_mrc_out *m, int code) {
    if (code == RG_GOOD) return rg_mrc_write_commit(m);
    rg_mrc_write_abandon(m);
    return code;
}
