// SPDX-License-Identifier: MIT
// simd_plane.h: half planes and their images in place, restricted to a band and a mask: columns of the band, rows of the mask's
// disc. simd_columns.h has the transforms.
//
// A plane has `side` rows of `pitch` complex numbers; as an image, row y holds pixels in its first `side` floats. Rows beyond
// the mask are never transformed: there the image is the mean of the edge, which affects only coefficient (0, 0), and that is
// in no band. So instead of e in + (1-e) mean the image becomes e (in - mean), which is 0 there; callers that need that
// coefficient add the mean to it.
#ifndef RG_FREALIGN_SIMD_PLANE_H
#define RG_FREALIGN_SIMD_PLANE_H

#include "simd_columns.h"
#include "simd_section.h"
#include <fftw3.h>
#include <stdlib.h>
#include <string.h>

typedef struct fr_space {
    int64_t side, pitch, columns; // columns of the band: 0 .. columns-1
    fr_columns column;            // and row
    float R;                      // the radius of the mask or the disc, NaN before the first; it is the same for all poses
    // The mask: e by row |y| and column, the disc's extent in rows, and for each row the first |x| on the edge and the one
    // after the last.
    float *mask;
    int64_t rows, *edge_first, *edge_past;
} fr_space;

RG_HD int64_t fr_pitch(int64_t side) {
    const int64_t pitch = (fr_width(side) + FR_COLUMNS_AT_ONCE - 1) / FR_COLUMNS_AT_ONCE * FR_COLUMNS_AT_ONCE;
    return pitch % 64 == 0 ? pitch + FR_COLUMNS_AT_ONCE : pitch; // else a column would use few sets of the cache
}
RG_HD size_t fr_plane_floats(int64_t side) { return (size_t)(2 * side * fr_pitch(side)); }
// Cleared, because columns beyond the last one are transformed with it.
static inline float *fr_planes(int64_t side, int many) {
    const size_t floats = (size_t)many * fr_plane_floats(side);
    float *plane = fftwf_alloc_real(floats);
    return plane ? memset(plane, 0, floats * sizeof *plane) : NULL;
}

static inline int fr_space_make(fr_space *s, int64_t side, int64_t columns) {
    memset(s, 0, sizeof *s);
    s->side = side;
    s->pitch = fr_pitch(side);
    s->columns = columns;
    s->R = NAN;
    const int made = fr_columns_make(&s->column, side);
    // FFTW_ESTIMATE throughout: a plan chosen by timing would give results that differ from run to run.
    s->mask = fftwf_alloc_real((size_t)((side / 2 + 1) * side));
    s->edge_first = fftwf_malloc((size_t)(side + 2) * sizeof *s->edge_first);
    s->edge_past = s->edge_first + side / 2 + 1;
    return made == RG_OK && s->mask && s->edge_first ? RG_OK : RG_E_STATE;
}

static inline void fr_space_free(fr_space *s) {
    fr_columns_free(&s->column);
    fftwf_free(s->mask);
    fftwf_free(s->edge_first);
}

// The mask of radius R about the corner, by rows |y| = 0 .. rows-1.
static inline void fr_space_mask(fr_space *s, float R) {
    const int64_t half = s->side / 2;
    if (s->R == R) return;
    s->R = R;
    s->rows = 0;
    for (int64_t y = 0; y <= half; y++) {
        int64_t first = 0, past = 0;
        for (int64_t x = 0; x <= half; x++) {
            const int64_t rr = x * x + y * y;
            const int edge = fr_on_edge(R, rr);
            const float e = fr_mask(R, rr);
            if (!edge && e == 1) first = past = x + 1;
            if (edge) past = x + 1;
            s->mask[y * s->side + x % s->side] = e;
            if (x > 0) s->mask[y * s->side + s->side - x] = e;
        }
        s->edge_first[y] = first;
        s->edge_past[y] = past;
        if (past > 0) s->rows = y + 1;
    }
}

// The disc of sigma2 instead of the mask: edge_past[|y|] columns |x| of row y.
static inline void fr_space_disc(fr_space *s, float R) {
    const int64_t half = s->side / 2;
    if (s->R == R) return;
    s->R = R;
    s->rows = 0;
    for (int64_t y = 0; y <= half; y++) {
        s->edge_past[y] = 0;
        while (s->edge_past[y] <= half && fr_in_disc(R, s->edge_past[y] * s->edge_past[y] + y * y)) s->edge_past[y]++;
        if (s->edge_past[y]) s->rows = y + 1;
    }
}

// Row y = -rows+1 .. rows-1 in memory; -side/2 is visited once, as side/2.
RG_HD float *fr_row(const fr_space *s, float *plane, int64_t y) { return plane + 2 * (y < 0 ? y + s->side : y) * s->pitch; }
RG_HD int64_t fr_rows_from(const fr_space *s) { return s->rows > s->side / 2 ? -s->side / 2 + 1 : s->rows ? 1 - s->rows : 0; }

static inline void fr_rows(const fr_space *s, float *plane, int forth) {
    float *row[FR_SIDE_MAX];
    int n = 0;
    for (int64_t y = fr_rows_from(s); y < s->rows; y++) row[n++] = fr_row(s, plane, y);
    fr_rows_run(&s->column, row, n, (int)s->columns, forth);
}

static inline void fr_back(const fr_space *s, float *plane) {
    fr_columns_run(&s->column, plane, s->pitch, s->columns, 0);
    fr_rows(s, plane, 0);
}

// The sum of the pixels of a row with |x| from first to past-1, and their number.
static inline double fr_edge_sum(const float *row, int64_t side, int64_t first, int64_t past, double *n) {
    double sum = 0;
    for (int64_t x = first; x < past && x < side / 2; x++, ++*n) sum += row[x];
    for (int64_t x = first > 1 ? first : 1; x < past; x++, ++*n) sum += row[side - x];
    return sum;
}

// Returns the edge's mean before the division by the number of pixels.
FR_AVX2 static inline float fr_mask_rows(const fr_space *s, float *plane) {
    double sum = 0, n = 0;
    for (int64_t y = fr_rows_from(s); y < s->rows; y++) {
        const int64_t first = s->edge_first[llabs(y)], past = s->edge_past[llabs(y)];
        sum += fr_edge_sum(fr_row(s, plane, y), s->side, first, past, &n);
    }
    const float mean = n > 0 ? (float)(sum / n) : 0, scale = 1 / ((float)s->side * (float)s->side);
    for (int64_t y = fr_rows_from(s); y < s->rows; y++) {
        float *row = fr_row(s, plane, y);
        const float *e = s->mask + llabs(y) * s->side;
        for (int64_t x = 0; x < s->side; x++) row[x] = scale * e[x] * (row[x] - mean);
    }
    return mean;
}

static inline void fr_forth(const fr_space *s, float *plane) {
    fr_rows(s, plane, 1);
    for (int64_t y = s->rows; y < s->side + fr_rows_from(s); y++)
        memset(fr_row(s, plane, y), 0, (size_t)s->columns * 2 * sizeof(float));
    fr_columns_run(&s->column, plane, s->pitch, s->columns, 1);
}

#endif
