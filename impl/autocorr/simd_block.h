// SPDX-License-Identifier: MIT
// simd_block.h: the inner loop of simd.c, included once for each instruction set, after simd.c has defined its macros (TARGET,
// VEC, LOAD, ...).
//
// Computes K consecutive offsets Y0 = Y .. Y + K - 1 at one X0 and one strip of columns. Row y of a meets the K rows y - Y - j
// of b, which are in a window of K registers where each new row replaces the oldest: two loads feed K (16 bits: 2 K) products.
// After K rows the window is back in its first order. Compilers do not unroll a loop that may end in the middle, so the rows
// are written out; a block uses the first K.
//
// a: `rows` rows of `planes` vectors each, contiguous. b: the row of j = 0 for the first of them, of two vectors, with K - 1
// rows before it. totals: K vectors of 64-bit sums; the block adds to them.
TARGET static inline __attribute__((always_inline)) void NAME(block)(
    const int K, const int planes, const uint8_t *a, const uint8_t *b, int64_t rows, int64_t *totals) {
    VEC window[12], low[12], high[12];
    UNROLL for (int j = 0; j < K; j++) low[j] = high[j] = window[j] = ZERO();
    UNROLL for (int j = 1; j < K; j++) window[K - j] = LOAD(b - j * 2 * BYTES);
    const uint8_t *end = a + rows * planes * BYTES;
    for (;;) {
        ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7) ROW(8) ROW(9) ROW(10) ROW(11)
    }
    UNROLL for (int j = 0; j < K; j++) {
        VEC sum = WIDEN(low[j]);
        if (planes == 2) sum = ADD64(sum, SHIFT8(WIDEN(high[j])));
        STORE64(totals + j * LANES64, ADD64(sum, LOAD64(totals + j * LANES64)));
    }
}

#define NARROW(K)                                                                                                              \
    TARGET static void NAME(narrow##K)(const uint8_t *a, const uint8_t *b, int64_t rows, int64_t *totals) {                    \
        NAME(block)(K, 1, a, b, rows, totals);                                                                                 \
    }
#define WIDE(K)                                                                                                                \
    TARGET static void NAME(wide##K)(const uint8_t *a, const uint8_t *b, int64_t rows, int64_t *totals) {                      \
        NAME(block)(K, 2, a, b, rows, totals);                                                                                 \
    }
