// SPDX-License-Identifier: MIT
// curve.c: computes C2D, C1D, R_max and the half-width from exact sums, which stay whole numbers until one division at the end.
#include "autocorr.h"

const char *const ac_norm_name[3] = {"raw", "overlap", "centred"};

// The sum of this many 16-bit pixels fits in 32 bits.
enum { PART = 65536 };

// Adds pixels from i on to their columns; returns their sum. bits is passed by value, so that both loops are vectorised.
static uint32_t add_pixels(const void *pixel, int bits, int64_t i, int64_t n, uint32_t *column) {
    uint32_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t x = 0; x < n; x++) {
        const uint32_t grey = bits == 8 ? ((const uint8_t *)pixel)[i + x] : ((const uint16_t *)pixel)[i + x];
        column[x] += grey;
        sum += grey;
    }
    return sum;
}

static ac_areas *areas_make(const rg_image *image) {
    const int64_t w = image->width, h = image->height;
    ac_areas *s = rg_alloc(sizeof *s);
    *s = (ac_areas){.image = image,
        .column = rg_alloc((size_t)(w + 1) * sizeof *s->column),
        .row = rg_alloc((size_t)(h + 1) * sizeof *s->row)};
    RG_FREED uint32_t *part = rg_alloc((size_t)w * sizeof *part);
    for (int64_t y = 0; y < h; y++) {
        s->row[y + 1] = s->row[y];
        for (int64_t x = 0; x < w; x += PART)
            s->row[y + 1] += add_pixels(image->pixel, image->bits, y * w + x, w - x < PART ? w - x : PART, part + x);
        for (int64_t x = 0; x < w && (y % PART == PART - 1 || y == h - 1); x++) {
            s->column[x + 1] += part[x];
            part[x] = 0;
        }
    }
    for (int64_t x = 0; x < w; x++) s->column[x + 1] += s->column[x];
    return s;
}

// corner[y * (width + 1) + x] is the sum of the pixels above and left of corner (x, y).
static void make_corners(ac_areas *s) {
    const int64_t w = s->image->width, pitch = w + 1;
    s->corner = rg_alloc((size_t)(pitch * (s->image->height + 1)) * sizeof *s->corner);
    for (int64_t y = 0; y < s->image->height; y++) {
        uint64_t line = 0;
        for (int64_t x = 0; x < w; x++) {
            line += ac_grey(s->image, y * w + x);
            s->corner[(y + 1) * pitch + x + 1] = s->corner[y * pitch + x + 1] + line;
        }
    }
}

static void areas_free(ac_areas *s) {
    free(s->column);
    free(s->row);
    free(s->corner);
    free(s);
}

void ac_field_make(ac_field *f, const rg_image *a, const rg_image *b, int64_t r, const int64_t *sums) {
    *f = (ac_field){a->width, a->height, r, sums, areas_make(a), NULL};
    f->b = b ? areas_make(b) : f->a;
}

void ac_field_free(ac_field *f) {
    if (f->b != f->a) areas_free(f->b);
    areas_free(f->a);
    *f = (ac_field){0};
}

// The half-width needs only whole rows and columns; the corners take eight times the photograph's bytes.
static uint64_t rectangle(ac_areas *s, int64_t x0, int64_t x1, int64_t y0, int64_t y1) {
    const int64_t pitch = s->image->width + 1;
    if (y0 == 0 && y1 == s->image->height) return s->column[x1] - s->column[x0];
    if (x0 == 0 && x1 == s->image->width) return s->row[y1] - s->row[y0];
    if (!s->corner) make_corners(s);
    return s->corner[y1 * pitch + x1] - s->corner[y0 * pitch + x1] - s->corner[y1 * pitch + x0] + s->corner[y0 * pitch + x0];
}

// P^2 N times the covariance: P^2 S - P (B A' + A B') + N A B. A, B are the totals of the photographs, A', B' those of their
// overlapping parts, P their pixels. Each term is below 2^126 (P < 2^31, 16-bit pixels, S < 2^63).
static long double centred(const ac_field *f, int64_t x0, int64_t y0, __int128 s, __int128 n) {
    int64_t w = f->width, h = f->height;
    int64_t xa = ac_first(x0), xb = ac_past(w, x0), ya = ac_first(y0), yb = ac_past(h, y0);
    __int128 p = (__int128)w * h;
    __int128 total_a = rectangle(f->a, 0, w, 0, h), total_b = rectangle(f->b, 0, w, 0, h);
    __int128 part_a = rectangle(f->a, xa, xb, ya, yb);
    __int128 part_b = rectangle(f->b, xa - x0, xb - x0, ya - y0, yb - y0);
    __int128 scaled = p * p * s - p * (total_b * part_a + total_a * part_b) + n * total_a * total_b;
    return (long double)scaled / ((long double)(p * p) * (long double)n);
}

long double ac_value(const ac_field *f, ac_norm norm, int64_t x0, int64_t y0, bool *defined) {
    int64_t s = f->sums[ac_element(f->r, x0, y0)];
    int64_t n = (ac_past(f->width, x0) - ac_first(x0)) * (ac_past(f->height, y0) - ac_first(y0));
    *defined = norm == AC_RAW || n > 0;
    if (!*defined) return 0;
    return norm == AC_RAW ? (long double)s : norm == AC_OVERLAP ? (long double)s / (long double)n : centred(f, x0, y0, s, n);
}

long double ac_unit(const ac_field *f, ac_norm norm, char why[120]) {
    bool defined;
    long double unit = ac_value(f, norm, 0, 0, &defined);
    if (unit > 0) return unit;
    snprintf(why, 120, "%s",
        norm == AC_CENTRED ? "the (co)variance of the grey values is not positive, so C2D does not exist"
                           : "the sum at offset (0, 0) is 0, so C2D does not exist");
    return 0;
}

// The value at an offset equals that at the opposite one, unless there are two photographs.
static bool is_mirrored(const ac_field *f) { return f->b == f->a; }

// Multiplies by the reciprocal, which may change the last bit of a product, but none of the 24 kept ones noticeably.
void ac_c2d(const ac_field *f, ac_norm norm, long double unit, float *c2d) {
    const long double scale = 1 / unit;
    const int64_t r = f->r;
    if (norm == AC_RAW)
        for (int64_t i = 0; i < ac_side(r) * ac_side(r); i++) c2d[i] = (float)((double)f->sums[i] * (double)scale);
    else
        for (int64_t y0 = is_mirrored(f) ? 0 : -r; y0 <= r; y0++)
            for (int64_t x0 = -r; x0 <= r; x0++) {
                bool defined;
                const int64_t i = ac_element(r, x0, y0);
                c2d[i] = (float)(ac_value(f, norm, x0, y0, &defined) * scale);
                if (is_mirrored(f)) c2d[ac_mirror(r, i)] = c2d[i];
            }
}

// The sum of the values at (x0, y0) and (-x0, y0), first <= x0 < past, and, in *n, how many are defined. Raw ones stay whole.
static long double of_pairs(const ac_field *f, ac_norm norm, int64_t y0, int64_t first, int64_t past, int64_t *n) {
    const int64_t *row = f->sums + ac_element(f->r, 0, y0);
    long double sum = 0;
    __int128 whole = 0;
    *n = norm == AC_RAW ? 2 * (past - first) - (first == 0) : 0;
    for (int64_t x = first; norm == AC_RAW && x < past; x++) whole += (__int128)row[x] + (x ? row[-x] : 0);
    for (int64_t x = first; norm != AC_RAW && x < past; x++)
        for (int64_t x0 = x; x0 >= -x; x0 -= x ? 2 * x : 1) {
            bool defined;
            sum += ac_value(f, norm, x0, y0, &defined); // 0 where it is not defined
            *n += defined;
        }
    return norm == AC_RAW ? (long double)whole : sum;
}

// A ring has (ring - 1/2)^2 <= square < (ring + 1/2)^2, in integers.
void ac_c1d(const ac_field *f, ac_norm norm, long double unit, double *c1d, int64_t *n) {
    const int64_t r = f->r;
    RG_FREED long double *sum = rg_alloc((size_t)(r + 1) * sizeof *sum);
    for (int64_t ring = 0; ring <= r; ring++) n[ring] = 0;
    for (int64_t y0 = is_mirrored(f) ? 0 : -r; y0 <= r; y0++)
        for (int64_t first = 0, past = 0, ring = llabs(y0); ring <= r; ring++, first = past) {
            int64_t found;
            const int times = is_mirrored(f) && y0 > 0 ? 2 : 1;
            while (past * past + y0 * y0 <= ring * ring + ring) past++;
            sum[ring] += times * of_pairs(f, norm, y0, first, past, &found);
            n[ring] += times * found;
        }
    for (int64_t ring = 0; ring <= r; ring++) c1d[ring] = n[ring] ? (double)(sum[ring] / unit / (long double)n[ring]) : NAN;
}

bool ac_peak(const double *c, int64_t count, double prominence, double *position, double *value) {
    int64_t i = 1, low, top;
    while (i < count && c[i] >= c[i - 1]) // up to the first descent
        i++;
    for (low = top = i; i < count; i++) {
        double rise = prominence * (c[0] - c[low]);
        if (c[top] > c[low] + rise && c[i] < c[top] - rise) break;
        if (c[i] <= c[low])
            low = top = i; // deeper: earlier rises were ripples
        else if (c[i] >= c[top])
            top = i;
    }
    if (i >= count) return false;
    double left = c[top - 1], right = c[top + 1];
    double bend = left - 2 * c[top] + right, shift = 0.5 * (left - right) / bend; // bend < 0: left <= top and right < top
    *position = (double)top + shift;
    *value = c[top] - 0.25 * (left - right) * shift;
    return true;
}

double ac_prominence(const double *c, int64_t count, double position) {
    const int64_t top = (int64_t)floor(position + 0.5);
    double before = c[0], behind = c[top];
    for (int64_t i = 1; i < top; i++) before = fmin(before, c[i]);
    for (int64_t i = top + 1; i < count && c[i] <= c[top]; i++) behind = fmin(behind, c[i]);
    return (c[top] - fmax(before, behind)) / (c[0] - before);
}

double ac_half_width(const ac_field *f) {
    char why[120];
    long double unit = ac_unit(f, AC_CENTRED, why);
    double before = 1;
    for (int64_t lag = 1; unit > 0 && lag <= f->r; lag++) {
        bool has_x, has_y;
        long double x = ac_value(f, AC_CENTRED, lag, 0, &has_x), y = ac_value(f, AC_CENTRED, 0, lag, &has_y);
        double now = (double)((x + y) / 2 / unit);
        if (!has_x || !has_y) break;
        if (now <= 0.5) return (double)(lag - 1) + (before - 0.5) / (before - now);
        before = now;
    }
    return NAN;
}
