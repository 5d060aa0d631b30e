// SPDX-License-Identifier: MIT
// autocorr.c: eq. 1 of Lu et al. 2009 without its normalisation, in exact 64-bit integers:
//     S(X0, Y0) = sum over all pixels (x, y) of a for which (x - X0, y - Y0) is a pixel of b, of a(x, y) b(x - X0, y - Y0).
// The printed equation drops the shift of the second factor; this is the one that its text and figures mean.
//
// Bound: a product of two 16-bit pixels is below 2^32, so a sum over fewer than 2^31 pixels stays below 2^63.
#include "reference.h"

// Sums the products of n pixels, 2^16 at a time: that many products of 8 bits fit in 32.
static int64_t products_8(const uint8_t *a, const uint8_t *b, int64_t n) {
    int64_t sum = 0;
    for (int64_t from = 0; from < n; from += 65536) {
        const int64_t past = n < from + 65536 ? n : from + 65536;
        uint32_t part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t x = from; x < past; x++) part += (uint32_t)a[x] * b[x];
        sum += part;
    }
    return sum;
}

static int64_t products_16(const uint16_t *a, const uint16_t *b, int64_t n) {
    int64_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t x = 0; x < n; x++) sum += (int64_t)a[x] * b[x];
    return sum;
}

static int64_t sum_at(const rg_shape *s, const void *a, const void *b, int64_t X0, int64_t Y0) {
    const int64_t width = s->n[0], height = s->n[1];
    const int sixteen_bit = (s->n[3] & 2) != 0;
    int64_t sum = 0;
    for (int64_t y = 0; y < height; y++) {
        const int64_t yb = y - Y0;
        if (yb < 0 || yb >= height) continue;
        const int64_t first = X0 > 0 ? X0 : 0, past = X0 > 0 ? width : width + X0; // 0 <= x - X0 < width
        const int64_t of_a = y * width + first, of_b = yb * width + first - X0;
        if (first < past)
            sum += sixteen_bit ? products_16((const uint16_t *)a + of_a, (const uint16_t *)b + of_b, past - first)
                               : products_8((const uint8_t *)a + of_a, (const uint8_t *)b + of_b, past - first);
    }
    return sum;
}

// arg: a, b, sums; b is a itself for an autocorrelation (bit 0 of n[3] clear).
static const void *second(const rg_shape *s, void *const *arg) { return (s->n[3] & 1) ? arg[1] : arg[0]; }

void rg_ref_autocorr(const rg_shape *s, void *const *arg) {
    const int64_t r = s->n[2], side = r + 1 + r;
    int64_t *sums = (int64_t *)arg[2];
#pragma omp parallel for schedule(dynamic)
    for (int64_t row = 0; row < side; row++)
        for (int64_t column = 0; column < side; column++)
            sums[row * side + column] = sum_at(s, arg[0], second(s, arg), column - r, row - r);
}

void rg_ref_autocorr_at(const rg_shape *s, void *const *arg, int which, const int64_t *element, int64_t n, void *out) {
    const int64_t r = s->n[2], side = r + 1 + r;
    int64_t *sums = (int64_t *)out;
    (void)which; // there is one output
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = element[i] / side, column = element[i] - row * side;
        sums[i] = sum_at(s, arg[0], second(s, arg), column - r, row - r);
    }
}
