// SPDX-License-Identifier: MIT
// simd_columns.h: in-place transforms along the columns of a plane of complex numbers, and along its rows from or to real
// numbers, as many at a time as a vector has lanes.
//
// The side is factored into fours and primes. The columns of a vector are copied to a tile, rows in digit-reversed order, real
// and imaginary parts apart; one pass per factor follows, in place, and the tile is copied back. Two rows form one column, the
// second row's numbers times i; they are separated by the symmetry of both, and are transposed by blocks of 4 x 4 on their way.
// An odd factor r takes (r - 1)^2 multiply-adds for r numbers. Twiddle factors are computed in double precision. The
// computation depends on the side alone, in AVX-512 as in AVX2; a library's plan would depend on timing, or be slow.
//
// Bound: a tile of 64 (AVX-512: 128) bytes a row, read and written in the nearest caches once per factor.
#ifndef RG_FREALIGN_SIMD_COLUMNS_H
#define RG_FREALIGN_SIMD_COLUMNS_H

#include "../runtime/cpu.h"
#include "index.h"
#include <stdlib.h>
#include <string.h>

enum { FR_FACTORS = 12, FR_ODD_MOST = FR_SIDE_MAX / 4 }; // the most factors of a side, and the most pairs of an odd factor

typedef struct fr_columns {
    int side, n, factor[FR_FACTORS];
    int *to;          // the tile's row for each number of a transform
    float *cos, *sin; // of 2 pi k / side
} fr_columns;

static inline int fr_columns_make(fr_columns *c, int64_t side) {
    *c = (fr_columns){.side = (int)side, .to = malloc((size_t)side * sizeof *c->to)};
    c->cos = malloc(2 * (size_t)side * sizeof *c->cos);
    if (!c->to || !c->cos) return RG_E_STATE;
    c->sin = c->cos + side;
    int rest = c->side;
    for (int f = 4; rest > 1; f = f == 4 ? 2 : f == 2 ? 3 : f + 2)
        for (; rest % f == 0; rest /= f) c->factor[c->n++] = f;
    for (int row = 0; row < c->side; row++) {
        int from = 0;
        for (int f = 0, left = row, step = c->side; f < c->n; left /= c->factor[f++]) {
            step /= c->factor[f];
            from += left % c->factor[f] * step;
        }
        c->to[from] = row;
        const double angle = 2 * 3.14159265358979323846 * row / c->side;
        c->cos[row] = (float)cos(angle);
        c->sin[row] = (float)sin(angle);
    }
    return RG_OK;
}

static inline void fr_columns_free(fr_columns *c) {
    free(c->to);
    free(c->cos);
}

#define SIMD_LANES 16
#include "../simd/simd.h"
#include "simd_columns_isa.h"
#undef SIMD_LANES
#define SIMD_LANES 8
#include "../simd/simd.h"
#include "simd_columns_isa.h"
#undef SIMD_LANES

enum { FR_COLUMNS_AT_ONCE = 16, FR_ROWS_AT_ONCE = 32 }; // the pitch of a plane is a multiple of the first

// Transforms the first `columns` columns of the plane, rounded up to a multiple of FR_COLUMNS_AT_ONCE; sign of the exponent:
// forth -, back +.
static inline void fr_columns_run(const fr_columns *c, float *plane, int64_t pitch, int64_t columns, int forth) {
    if (rg_cpu_has("avx512"))
        for (int64_t i = 0; i < columns; i += 16) avx512_columns(c, plane + 2 * i, 2 * pitch, forth);
    else
        for (int64_t i = 0; i < columns; i += 8) avx2_columns(c, plane + 2 * i, 2 * pitch, forth);
}

// Transforms `rows` rows between side real numbers and the first side / 2 + 1 complex ones; forth writes `columns` of these.
static inline void fr_rows_run(const fr_columns *c, float *const *row, int rows, int columns, int forth) {
    float spare[FR_SIDE_MAX + 4 * FR_COLUMNS_AT_ONCE], *some[FR_ROWS_AT_ONCE];
    const int wide = rg_cpu_has("avx512"), lanes = wide ? 16 : 8;
    memset(spare, 0, (size_t)(c->side + 4 * FR_COLUMNS_AT_ONCE) * sizeof *spare);
    for (int at = 0; at < rows; at += 2 * lanes) {
        for (int k = 0; k < 2 * lanes; k++) some[k] = at + k < rows ? row[at + k] : spare;
        if (wide && forth)
            avx512_rows_forth(c, some, columns);
        else if (wide)
            avx512_rows_back(c, some);
        else if (forth)
            avx2_rows_forth(c, some, columns);
        else
            avx2_rows_back(c, some);
    }
}

#endif
