// SPDX-License-Identifier: MIT
// simd_columns_isa.h: the transforms of simd_columns.h in one instruction set, written with ../simd/simd.h.

#define COMPLEX NAME(complex)
#define PASS TARGET static inline __attribute__((always_inline)) void
#define v_shuffle_ps V(shuffle_ps)
#define v_unpacklo_ps V(unpacklo_ps)
#define v_unpackhi_ps V(unpackhi_ps)

typedef struct COMPLEX {
    VEC re, im;
} COMPLEX;

// Multiplies x[] by the twiddle factors of place k: number d of `many` by d k / (many length) turns, where many length is
// `side / stride`.
PASS NAME(turn)(const fr_columns *c, COMPLEX *x, const int many, int at) {
    UNROLL for (int d = 1; d < many; d++) {
        const VEC co = v_set1_ps(c->cos[d * at]), si = v_set1_ps(c->sin[d * at]), re = x[d].re;
        x[d].re = v_fnmadd_ps(x[d].im, si, v_mul_ps(re, co));
        x[d].im = v_fmadd_ps(re, si, v_mul_ps(x[d].im, co));
    }
}

PASS NAME(two)(COMPLEX *x) {
    const COMPLEX a = x[0], b = x[1];
    x[0] = (COMPLEX){v_add_ps(a.re, b.re), v_add_ps(a.im, b.im)};
    x[1] = (COMPLEX){v_sub_ps(a.re, b.re), v_sub_ps(a.im, b.im)};
}

PASS NAME(four)(COMPLEX *x) {
    COMPLEX even[2] = {x[0], x[2]}, odd[2] = {x[1], x[3]};
    NAME(two)(even);
    NAME(two)(odd);
    x[0] = (COMPLEX){v_add_ps(even[0].re, odd[0].re), v_add_ps(even[0].im, odd[0].im)};
    x[2] = (COMPLEX){v_sub_ps(even[0].re, odd[0].re), v_sub_ps(even[0].im, odd[0].im)};
    x[1] = (COMPLEX){v_sub_ps(even[1].re, odd[1].im), v_add_ps(even[1].im, odd[1].re)};
    x[3] = (COMPLEX){v_add_ps(even[1].re, odd[1].im), v_sub_ps(even[1].im, odd[1].re)};
}

// A transform of odd length: sums and differences of pairs, times cosines and sines.
PASS NAME(odd)(const fr_columns *c, COMPLEX *x, const int many, COMPLEX *sum, COMPLEX *difference) {
    const int half = many / 2, step = c->side / many;
    const COMPLEX first = x[0];
    UNROLL for (int k = 0; k < half; k++) {
        const COMPLEX a = x[k + 1], b = x[many - 1 - k];
        sum[k] = (COMPLEX){v_add_ps(a.re, b.re), v_add_ps(a.im, b.im)};
        difference[k] = (COMPLEX){v_sub_ps(a.re, b.re), v_sub_ps(a.im, b.im)};
        x[0] = (COMPLEX){v_add_ps(x[0].re, sum[k].re), v_add_ps(x[0].im, sum[k].im)};
    }
    UNROLL for (int q = 1; q <= half; q++) {
        COMPLEX u = first, v = {v_set1_ps(0), v_set1_ps(0)};
        UNROLL for (int k = 0; k < half; k++) {
            const VEC co = v_set1_ps(c->cos[q * (k + 1) % many * step]), si = v_set1_ps(c->sin[q * (k + 1) % many * step]);
            u = (COMPLEX){v_fmadd_ps(sum[k].re, co, u.re), v_fmadd_ps(sum[k].im, co, u.im)};
            v = (COMPLEX){v_fmadd_ps(difference[k].re, si, v.re), v_fmadd_ps(difference[k].im, si, v.im)};
        }
        x[q] = (COMPLEX){v_sub_ps(u.re, v.im), v_add_ps(u.im, v.re)};
        x[many - q] = (COMPLEX){v_add_ps(u.re, v.im), v_sub_ps(u.im, v.re)};
    }
}

// Joins `many` transforms of `length` numbers, adjacent in the tile, into one.
PASS NAME(pass)(const fr_columns *c, COMPLEX *tile, int length, const int many, COMPLEX *x, COMPLEX *sum, COMPLEX *difference) {
    const int whole = length * many;
    for (int k = 0; k < length; k++)
        for (int at = k; at < c->side; at += whole) {
            UNROLL for (int d = 0; d < many; d++) x[d] = tile[at + d * length];
            if (k) NAME(turn)(c, x, many, c->side / whole * k);
            if (many == 2)
                NAME(two)(x);
            else if (many == 4)
                NAME(four)(x);
            else
                NAME(odd)(c, x, many, sum, difference);
            UNROLL for (int d = 0; d < many; d++) tile[at + d * length] = x[d];
        }
}

#define FIXED(many)                                                                                                            \
    case many: {                                                                                                               \
        COMPLEX x[many], sum[many / 2], difference[many / 2];                                                                  \
        NAME(pass)(c, tile, length, many, x, sum, difference);                                                                 \
        break;                                                                                                                 \
    }

TARGET static void NAME(any)(const fr_columns *c, COMPLEX *tile, int length, int many) {
    COMPLEX x[2 * FR_ODD_MOST], sum[FR_ODD_MOST], difference[FR_ODD_MOST];
    NAME(pass)(c, tile, length, many, x, sum, difference);
}

TARGET static inline void NAME(all)(const fr_columns *c, COMPLEX *tile) {
    for (int f = 0, length = 1; f < c->n; length *= c->factor[f++]) switch (c->factor[f]) {
            FIXED(2)
            FIXED(3)
            FIXED(4)
            FIXED(5)
            FIXED(7)
        default: NAME(any)(c, tile, length, c->factor[f]);
        }
}

// Transforms the columns of one vector, rows `pitch` floats apart. Forward is backward with real and imaginary parts exchanged.
TARGET static void NAME(columns)(const fr_columns *c, float *plane, int64_t pitch, int forth) {
    COMPLEX tile[FR_SIDE_MAX];
    for (int row = 0; row < c->side; row++) {
        const VEC a = v_loadu_ps(plane + row * pitch), b = v_loadu_ps(plane + row * pitch + SIMD_LANES);
        const VEC r = v_shuffle_ps(a, b, 0x88), i = v_shuffle_ps(a, b, 0xdd);
        tile[c->to[row]] = forth ? (COMPLEX){i, r} : (COMPLEX){r, i};
    }
    NAME(all)(c, tile);
    for (int row = 0; row < c->side; row++) {
        const VEC r = forth ? tile[row].im : tile[row].re, i = forth ? tile[row].re : tile[row].im;
        v_storeu_ps(plane + row * pitch, v_unpacklo_ps(r, i));
        v_storeu_ps(plane + row * pitch + SIMD_LANES, v_unpackhi_ps(r, i));
    }
}

// Four numbers from `at` on of every second row, transposed so that each vector has one number of all rows; and the reverse.
PASS NAME(turn_in)(float *const *row, int at, VEC v[4]) {
    float lane[4][SIMD_LANES];
    UNROLL for (int l = 0; l < SIMD_LANES; l += 4) {
        __m128 a = _mm_loadu_ps(row[2 * l] + at), b = _mm_loadu_ps(row[2 * l + 2] + at);
        __m128 c = _mm_loadu_ps(row[2 * l + 4] + at), d = _mm_loadu_ps(row[2 * l + 6] + at);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps(lane[0] + l, a);
        _mm_storeu_ps(lane[1] + l, b);
        _mm_storeu_ps(lane[2] + l, c);
        _mm_storeu_ps(lane[3] + l, d);
    }
    UNROLL for (int k = 0; k < 4; k++) v[k] = v_loadu_ps(lane[k]);
}
PASS NAME(turn_out)(float *const *row, int at, const VEC v[4]) {
    float lane[4][SIMD_LANES];
    UNROLL for (int k = 0; k < 4; k++) v_storeu_ps(lane[k], v[k]);
    UNROLL for (int l = 0; l < SIMD_LANES; l += 4) {
        __m128 a = _mm_loadu_ps(lane[0] + l), b = _mm_loadu_ps(lane[1] + l);
        __m128 c = _mm_loadu_ps(lane[2] + l), d = _mm_loadu_ps(lane[3] + l);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps(row[2 * l] + at, a);
        _mm_storeu_ps(row[2 * l + 2] + at, b);
        _mm_storeu_ps(row[2 * l + 4] + at, c);
        _mm_storeu_ps(row[2 * l + 6] + at, d);
    }
}

// Complex rows to real ones, rows 2 l and 2 l + 1 in lane l. Rows have room for four more numbers.
TARGET static void NAME(rows_back)(const fr_columns *c, float *const *row) {
    COMPLEX tile[FR_SIDE_MAX + 4];
    const int half = c->side / 2;
    for (int k = 0; k <= half; k += 2) {
        VEC a[4], b[4];
        NAME(turn_in)(row, 2 * k, a);
        NAME(turn_in)(row + 1, 2 * k, b);
        for (int j = k; j <= k + 1 && j <= half; j++) {
            const VEC *x = a + 2 * (j - k), *y = b + 2 * (j - k);
            const int alone = j == 0 || j == half; // is its own mate: real
            tile[c->to[j]] = alone ? (COMPLEX){x[0], y[0]} : (COMPLEX){v_sub_ps(x[0], y[1]), v_add_ps(x[1], y[0])};
            if (!alone) tile[c->to[c->side - j]] = (COMPLEX){v_add_ps(x[0], y[1]), v_sub_ps(y[0], x[1])};
        }
    }
    NAME(all)(c, tile);
    for (int i = 0; i < c->side; i += 4) {
        VEC a[4], b[4];
        for (int k = 0; k < 4; k++) {
            const COMPLEX *z = &tile[i + k < c->side ? i + k : 0];
            a[k] = z->re;
            b[k] = z->im;
        }
        NAME(turn_out)(row, i, a);
        NAME(turn_out)(row + 1, i, b);
    }
}

// Real rows to complex ones.
TARGET static void NAME(rows_forth)(const fr_columns *c, float *const *row, int columns) {
    COMPLEX tile[FR_SIDE_MAX];
    const VEC half = v_set1_ps(0.5f);
    for (int i = 0; i < c->side; i += 4) {
        VEC a[4], b[4];
        NAME(turn_in)(row, i, a);
        NAME(turn_in)(row + 1, i, b);
        for (int k = 0; k < 4 && i + k < c->side; k++) tile[c->to[i + k]] = (COMPLEX){b[k], a[k]};
    }
    NAME(all)(c, tile);
    for (int k = 0; k < columns; k += 2) {
        VEC a[4], b[4];
        for (int j = 0; j < 2; j++) {
            const COMPLEX p = tile[k + j], q = tile[(c->side - k - j) % c->side]; // parts exchanged
            a[2 * j] = v_mul_ps(half, v_add_ps(p.im, q.im));
            a[2 * j + 1] = v_mul_ps(half, v_sub_ps(p.re, q.re));
            b[2 * j] = v_mul_ps(half, v_add_ps(p.re, q.re));
            b[2 * j + 1] = v_mul_ps(half, v_sub_ps(q.im, p.im));
        }
        NAME(turn_out)(row, 2 * k, a);
        NAME(turn_out)(row + 1, 2 * k, b);
    }
}

#undef COMPLEX
#undef PASS
#undef FIXED
#undef v_shuffle_ps
#undef v_unpacklo_ps
#undef v_unpackhi_ps
