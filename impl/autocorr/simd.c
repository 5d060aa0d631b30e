// SPDX-License-Identifier: MIT
// simd.c: exact integer sums with AVX2 or AVX-512 VNNI, blocked over offsets, on one core or all (digest L4, L12).
//
// Both images are copied into strips of one vector's width: a unchanged, b in rows of two vectors, so that a load at any X0
// stays in its row. The rows of a strip are contiguous, whatever the width of the image. Outside the image the copies are zero,
// so that the inner loop (simd_block.h) needs no borders. A task computes up to 12 consecutive Y0 and 32 X0 and, where there
// are few offsets for many cores, only a part of the rows. It adds its sums to the output and, by symmetry, to the opposite
// ones.
//
// Products. 8 bits, AVX-512: vpdpbusd multiplies unsigned by signed bytes, so b is stored as b - 128, and 128 times the sum of
// a over the rows and strips used is added at the end, from a table of prefix sums. 8 bits, AVX2: both widened to 16 bits for
// vpmaddwd. 16 bits: a split in its two bytes, b stored as b - 32768, for vpdpwssd or vpmaddwd: two instead of one.
//
// Bound: the rate of those instructions (RG_I8_MAD, RG_I16_MAD), less two loads a row besides its 12 products.
// Measured: data/machines/h100-16xeon.tsv.
#include "../runtime/cpu.h"
#include "index.h"
#include <immintrin.h>
#include <string.h>

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

// Row u of simd_block.h; `break` leaves its endless loop.
#define ROW(u)                                                                                                                 \
    if (u < K) {                                                                                                               \
        if (a == end) break;                                                                                                   \
        window[u] = LOAD(b);                                                                                                   \
        VEC pixels = LOAD(a), upper = planes == 2 ? LOAD(a + BYTES) : pixels;                                                  \
        UNROLL for (int j = 0; j < K; j++) {                                                                                   \
            VEC row = window[(u - j + K) % K];                                                                                 \
            low[j] = planes == 2 ? ADD_WORD_PRODUCTS(low[j], pixels, row) : ADD_BYTE_PRODUCTS(low[j], pixels, row);            \
            if (planes == 2) high[j] = ADD_WORD_PRODUCTS(high[j], upper, row);                                                 \
        }                                                                                                                      \
        a += planes * BYTES;                                                                                                   \
        b += 2 * BYTES;                                                                                                        \
    }

typedef void block_fn(const uint8_t *a, const uint8_t *b, int64_t rows, int64_t *totals);

// ---- AVX-512 VNNI --------------------------------------------------------------------------------------------------------

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define NAME(x) avx512_##x
#define VEC __m512i
#define BYTES 64
#define LANES64 8
#define LOAD(p) _mm512_loadu_si512(p)
#define ZERO() _mm512_setzero_si512()
#define ADD_BYTE_PRODUCTS(sum, a, b) _mm512_dpbusd_epi32(sum, a, b)
#define ADD_WORD_PRODUCTS(sum, a, b) _mm512_dpwssd_epi32(sum, a, b)
#define WIDEN(v)                                                                                                               \
    _mm512_add_epi64(_mm512_cvtepi32_epi64(_mm512_castsi512_si256(v)), _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(v, 1)))
#define SHIFT8(v) _mm512_slli_epi64(v, 8)
#define ADD64(x, y) _mm512_add_epi64(x, y)
#define LOAD64(p) _mm512_loadu_si512(p)
#define STORE64(p, v) _mm512_storeu_si512(p, v)
#include "simd_block.h"

// clang-format takes macros without semicolons for the begin of a declaration.
// clang-format off
NARROW(1) NARROW(2) NARROW(3) NARROW(4) NARROW(5) NARROW(6) NARROW(7) NARROW(8) NARROW(9) NARROW(10) NARROW(11) NARROW(12)
WIDE(1) WIDE(2) WIDE(3) WIDE(4) WIDE(5) WIDE(6) WIDE(7) WIDE(8)

static block_fn *const avx512_narrow[] = {
    avx512_narrow1,
    avx512_narrow2,
    avx512_narrow3,
    avx512_narrow4,
    avx512_narrow5,
    avx512_narrow6,
    avx512_narrow7,
    avx512_narrow8,
    avx512_narrow9,
    avx512_narrow10,
    avx512_narrow11,
    avx512_narrow12,
};
static block_fn *const avx512_wide[] = {
    avx512_wide1,
    avx512_wide2,
    avx512_wide3,
    avx512_wide4,
    avx512_wide5,
    avx512_wide6,
    avx512_wide7,
    avx512_wide8,
};
// clang-format on

#undef TARGET
#undef NAME
#undef VEC
#undef BYTES
#undef LANES64
#undef LOAD
#undef ZERO
#undef ADD_BYTE_PRODUCTS
#undef ADD_WORD_PRODUCTS
#undef WIDEN
#undef SHIFT8
#undef ADD64
#undef LOAD64
#undef STORE64

// ---- AVX2 ----------------------------------------------------------------------------------------------------------------

#define TARGET __attribute__((target("avx2")))
#define NAME(x) avx2_##x
#define VEC __m256i
#define BYTES 32
#define LANES64 4
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define ZERO() _mm256_setzero_si256()
#define ADD_WORD_PRODUCTS(sum, a, b) _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
#define ADD_BYTE_PRODUCTS ADD_WORD_PRODUCTS // copying has widened the bytes
#define WIDEN(v)                                                                                                               \
    _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(v)), _mm256_cvtepi32_epi64(_mm256_extracti128_si256(v, 1)))
#define SHIFT8(v) _mm256_slli_epi64(v, 8)
#define ADD64(x, y) _mm256_add_epi64(x, y)
#define LOAD64(p) _mm256_loadu_si256((const __m256i *)(p))
#define STORE64(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#include "simd_block.h"

// clang-format off
NARROW(1) NARROW(2) NARROW(3) NARROW(4) NARROW(5) NARROW(6) WIDE(1) WIDE(2) WIDE(3) WIDE(4)

static block_fn *const avx2_narrow[] = {avx2_narrow1, avx2_narrow2, avx2_narrow3, avx2_narrow4, avx2_narrow5, avx2_narrow6};
static block_fn *const avx2_wide[] = {avx2_wide1, avx2_wide2, avx2_wide3, avx2_wide4};
// clang-format on

// ---- the four ways -------------------------------------------------------------------------------------------------------

enum { MOST = 12, GROUP = 32, LANES = 8, L2_SHARE = 5 << 18 }; // of a part of a and b: 1.25 MiB of an L2 of 1 or 2 MiB

typedef struct way {
    int vector_bytes, lane_bytes, planes; // of a strip; of a pixel in it; vectors that one row of a takes
    int most;                             // offsets Y0 in a block
    int rows;                             // that a 32-bit lane can sum, or fewer to fit in the cache
    int bias;                             // subtracted from b
    int lanes64;
    rg_resource instruction;
    block_fn *const *block; // [K - 1]
} way;

// Rows. A lane gains at most 4 * 255 * 128 in a row (AVX-512, 8 bits), 2 * 255 * 255 (AVX2), 2 * 255 * 32768 (16 bits).
enum { NARROW_ROWS = 512, WIDE_ROWS = 128 };
_Static_assert(INT64_C(4) * 255 * 128 * NARROW_ROWS <= INT32_MAX, "8 bits, vpdpbusd");
_Static_assert(INT64_C(2) * 255 * 255 * NARROW_ROWS <= INT32_MAX, "8 bits, vpmaddwd");
_Static_assert(INT64_C(2) * 255 * 32768 * WIDE_ROWS <= INT32_MAX, "16 bits");

static const way ways[2][2] = {
    {{32, 2, 1, 6, NARROW_ROWS, 0, 4, RG_I16_MAD, avx2_narrow}, {32, 2, 2, 4, WIDE_ROWS, 32768, 4, RG_I16_MAD, avx2_wide}},
    {{64, 1, 1, 12, NARROW_ROWS, 128, 8, RG_I8_MAD, avx512_narrow},
        {64, 2, 2, 8, WIDE_ROWS, 32768, 8, RG_I16_MAD, avx512_wide}},
};

static const way *choose(const rg_shape *s, const int64_t *param) {
    int wide = (s->n[AC_KIND] & AC_16BIT) != 0;
    return &ways[param[0] == 512 || (param[0] == 0 && rg_cpu_has("avx512vnni"))][wide];
}

// ---- the copies ----------------------------------------------------------------------------------------------------------

typedef struct layout {
    const way *way;
    int64_t width, height, r, rx, ry; // rx, ry: largest offsets with an overlap
    int64_t pixels;                   // of a strip
    int64_t strips, pad, columns;     // strips of a; pixels before column 0 of b; strips of b
    int64_t y0, n_y0, blocks;         // first offset, number of offsets, number of blocks
    int cross;
    uint8_t *a, *b;  // a[strip][y][plane], b[column][MOST - 1 + y][2 vectors]
    int64_t *before; // before[y][strip]: sum of a over rows < y and strips < strip
    size_t bytes;
} layout;

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
static int64_t clamp(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }
static int64_t b_rows(const layout *p) { return p->height + 2 * (p->way->most - 1); }

static layout lay_out(const rg_shape *s, const int64_t *param, void *scratch) {
    layout p = {.way = choose(s, param), .width = s->n[AC_WIDTH], .height = s->n[AC_HEIGHT], .r = s->n[AC_R]};
    p.cross = (s->n[AC_KIND] & AC_CROSS) != 0;
    p.rx = least(p.r, p.width - 1);
    p.ry = least(p.r, p.height - 1);
    p.pixels = p.way->vector_bytes / p.way->lane_bytes;
    p.strips = (p.width + p.pixels - 1) / p.pixels;
    p.pad = (p.rx + p.pixels - 1) / p.pixels * p.pixels;
    p.columns = p.strips + 2 * p.pad / p.pixels;
    p.y0 = p.cross ? -p.ry : 0;
    p.n_y0 = p.ry - p.y0 + 1;
    p.blocks = (p.n_y0 + p.way->most - 1) / p.way->most;
    size_t a_bytes = (size_t)(p.strips * p.height * p.way->planes * p.way->vector_bytes);
    size_t b_bytes = (size_t)(p.columns * b_rows(&p) * 2 * p.way->vector_bytes);
    if (scratch) { // otherwise only the sizes are needed
        p.a = scratch;
        p.b = p.a + a_bytes;
        p.before = (int64_t *)(p.b + b_bytes);
    }
    p.bytes = a_bytes + b_bytes + (size_t)((p.height + 1) * (p.strips + 1)) * sizeof(int64_t);
    return p;
}

// n pixels from column x of a row, as lanes of b: minus the bias, which is the top bit.
TARGET static void put_b(const way *w, const void *row, int wide, int64_t x, int64_t n, uint8_t *to) {
    const uint8_t *narrow = (const uint8_t *)row + x;
    const uint16_t *words = (const uint16_t *)row + x;
    uint16_t *lanes = (uint16_t *)to, bias = (uint16_t)w->bias;
    if (w->lane_bytes == 1)
        for (int64_t i = 0; i < n; i++) to[i] = narrow[i] ^ 128;
    else if (!wide)
        for (int64_t i = 0; i < n; i++) lanes[i] = narrow[i];
    else
        for (int64_t i = 0; i < n; i++) lanes[i] = words[i] ^ bias;
}

// The same as lanes of a; returns their sum.
TARGET static int64_t put_a(const way *w, const void *row, int wide, int64_t x, int64_t n, uint8_t *to) {
    const uint8_t *narrow = (const uint8_t *)row + x;
    const uint16_t *words = (const uint16_t *)row + x;
    uint16_t *lanes = (uint16_t *)to, *upper = (uint16_t *)(to + w->vector_bytes);
    uint32_t sum = 0; // of at most 64 pixels
    if (!wide)
        for (int64_t i = 0; i < n; i++) sum += narrow[i];
    else
        for (int64_t i = 0; i < n; i++) sum += words[i];
    if (w->lane_bytes == 1)
        memcpy(to, narrow, (size_t)n);
    else if (!wide)
        for (int64_t i = 0; i < n; i++) lanes[i] = narrow[i];
    else
        for (int64_t i = 0; i < n; i++) lanes[i] = words[i] & 255, upper[i] = words[i] >> 8;
    return sum;
}

static void copy_a(const layout *p, const void *image, int64_t strip) {
    const way *w = p->way;
    const int wide = w->planes == 2;
    const int64_t x = strip * p->pixels, n = least(p->pixels, p->width - x), bytes = w->planes * w->vector_bytes;
    uint8_t *to = p->a + strip * p->height * bytes;
    for (int64_t y = 0; y < p->height; y++, to += bytes) {
        if (n < p->pixels) memset(to, 0, (size_t)bytes);
        const void *row = (const uint8_t *)image + y * p->width * (wide ? 2 : 1);
        p->before[(y + 1) * (p->strips + 1) + strip + 1] = put_a(w, row, wide, x, n, to);
    }
}

static void copy_b(const layout *p, const void *image, int64_t column) {
    const way *w = p->way;
    const int wide = w->planes == 2;
    const int64_t start = column * p->pixels - p->pad, margin = w->most - 1, bytes = 2 * w->vector_bytes;
    const int64_t first = clamp(-start, 0, 2 * p->pixels), past = clamp(p->width - start, first, 2 * p->pixels);
    uint8_t *to = p->b + column * b_rows(p) * bytes;
    for (int64_t y = -margin; y < p->height + margin; y++, to += bytes) {
        int inside = y >= 0 && y < p->height;
        if (!inside || first > 0 || past < 2 * p->pixels)
            for (int i = 0; i < bytes; i++) to[i] = w->lane_bytes == 1 ? 128 : i % 2 ? (uint8_t)(w->bias >> 8) : 0;
        if (!inside) continue;
        const void *row = (const uint8_t *)image + y * p->width * (wide ? 2 : 1);
        put_b(w, row, wide, start + first, past - first, to + first * w->lane_bytes);
    }
}

static void sum_up(const layout *p) {
    const int64_t pitch = p->strips + 1;
    memset(p->before, 0, (size_t)pitch * sizeof *p->before);
    for (int64_t y = 1; y <= p->height; y++) {
        int64_t *row = p->before + y * pitch, line = row[0] = 0;
        for (int64_t s = 1; s < pitch; s++) {
            line += row[s];
            row[s] = line + row[s - pitch];
        }
    }
}

// ---- a task --------------------------------------------------------------------------------------------------------------

// Range of strips of a that have a partner at X0.
static int64_t first_strip(const layout *p, int64_t x0) { return ac_first(x0) / p->pixels; }
static int64_t past_strip(const layout *p, int64_t x0) { return (ac_past(p->width, x0) + p->pixels - 1) / p->pixels; }

// Adds the totals of rows low .. high - 1 of a, and their bias, to the sums at (x0, y0) .. (x0, y0 + k - 1).
static void add_sums(
    const layout *p, int64_t x0, int64_t y0, int k, int64_t low, int64_t high, const int64_t *totals, int64_t *sums) {
    const int64_t pitch = p->strips + 1, *top = p->before + low * pitch, *end = p->before + high * pitch;
    const int64_t s0 = first_strip(p, x0), s1 = past_strip(p, x0);
    const int64_t bias = p->way->bias * (end[s1] - top[s1] - end[s0] + top[s0]);
    for (int j = 0; j < k; j++) {
        int64_t sum = bias, e = ac_element(p->r, x0, y0 + j);
        for (int i = 0; i < p->way->lanes64; i++) sum += totals[j * p->way->lanes64 + i];
#pragma omp atomic
        sums[e] += sum;
        if (p->cross || y0 + j == 0) continue;
#pragma omp atomic
        sums[ac_mirror(p->r, e)] += sum;
    }
}

// Offsets y0 .. y0 + k - 1, x0 .. x0 + n - 1, and one part of the rows of a that have a partner at any of them.
static void task(const layout *p, int64_t y0, int k, int64_t x0, int64_t n, int64_t part, int64_t parts, int64_t *sums) {
    const way *w = p->way;
    const int64_t top = ac_first(y0), rows = ac_past(p->height, y0 + k - 1) - top;
    const int64_t low = top + rows * part / parts, high = top + rows * (part + 1) / parts;
    const int64_t a_bytes = w->planes * w->vector_bytes, b_bytes = 2 * w->vector_bytes;
    int64_t totals[GROUP][MOST * LANES];
    memset(totals, 0, (size_t)n * sizeof totals[0]);
    for (int64_t s = 0; s < p->strips; s++) {
        for (int64_t y = low; y < high; y += w->rows) {
            const uint8_t *a = p->a + (s * p->height + y) * a_bytes;
            for (int64_t i = 0; i < n; i++) {
                if (s < first_strip(p, x0 + i) || s >= past_strip(p, x0 + i)) continue;
                const int64_t at = s * p->pixels + p->pad - (x0 + i), row = y - y0 + w->most - 1;
                const uint8_t *b = p->b + (at / p->pixels * b_rows(p) + row) * b_bytes + at % p->pixels * w->lane_bytes;
                w->block[k - 1](a, b, least(w->rows, high - y), totals[i]);
            }
        }
    }
    for (int64_t i = 0; i < n; i++) add_sums(p, x0 + i, y0, k, low, high, totals[i], sums);
}

static int run(rg_call *call) {
    const layout plan = lay_out(call->shape, call->param, call->scratch), *p = &plan;
    const way *w = p->way;
    const void *a = call->arg[AC_A], *b = p->cross ? call->arg[AC_B] : a;
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    memset(sums, 0, (size_t)(ac_side(p->r) * ac_side(p->r)) * sizeof *sums);
    // Eight tasks a thread, so that the last one does not run alone for long; parts of at least 256 rows. All offsets of one
    // part of the rows precede the next part, so that a and b of the part stay in the core's L2; otherwise every task would
    // stream them from L3.
    const int64_t side = ac_side(p->rx), wanted = 8 * call->threads;
    const int64_t group = clamp(p->blocks * side / wanted, 1, GROUP), groups = (side + group - 1) / group;
    const int64_t tasks = p->blocks * groups,
                  bytes = p->strips * p->height * w->planes * w->vector_bytes + p->columns * b_rows(p) * 2 * w->vector_bytes;
    const int64_t balance = call->threads == 1 ? 1 : 1 + wanted / tasks, fit = (bytes + L2_SHARE - 1) / L2_SHARE;
    const int64_t parts = clamp(balance > fit ? balance : fit, 1, 1 + p->height / 256);
#pragma omp parallel num_threads(call->threads)
    {
#pragma omp for nowait
        for (int64_t s = 0; s < p->strips; s++) copy_a(p, a, s);
#pragma omp for
        for (int64_t c = 0; c < p->columns; c++) copy_b(p, b, c);
#pragma omp single
        sum_up(p);
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < tasks * parts; t++) {
            const int64_t part = t / tasks, x = t % groups * group, block = t % tasks / groups;
            const int64_t y0 = block * p->n_y0 / p->blocks, past = (block + 1) * p->n_y0 / p->blocks;
            task(p, p->y0 + y0, (int)(past - y0), x - p->rx, least(group, side - x), part, parts, sums);
        }
    }
    return RG_OK;
}

static const char *refuse(const rg_shape *s, const int64_t *param) {
    (void)s;
    return param[0] == 512 && !rg_cpu_has("avx512vnni") ? "isa=512 needs avx512vnni" : NULL;
}

static size_t scratch(const rg_shape *s, const int64_t *param) { return lay_out(s, param, NULL).bytes; }

// The executed instructions: whole strips, and the few rows at the ends where only some offsets of a block have a partner.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    const layout plan = lay_out(s, param, NULL), *p = &plan;
    double vectors = 0, rows = 0;
    for (int64_t x0 = -p->rx; x0 <= p->rx; x0++) vectors += (double)(past_strip(p, x0) - first_strip(p, x0));
    for (int64_t i = 0; i < p->blocks; i++) {
        const int64_t y0 = p->y0 + i * p->n_y0 / p->blocks, past = p->y0 + (i + 1) * p->n_y0 / p->blocks;
        rows += (double)((past - y0) * (ac_past(p->height, past - 1) - ac_first(y0)));
    }
    c->amount[p->way->instruction] = vectors * rows * p->way->planes * (double)p->pixels;
}

static const int64_t isa_values[] = {0, 2, 512};
static const rg_param params[] = {{"isa", isa_values, RG_COUNT(isa_values), 0, "0 best here, 2 AVX2, 512 AVX-512 VNNI"}};

RG_VARIANT(autocorr_simd) = {
    RG_VARIANT_OF("autocorr", "simd", RG_SIMD, RG_HOST,
        "SIMD integer products into registers for up to 12 offsets at a time; any number of cores"),
    .needs = "avx2",
    .flags = RG_THREADED,
    RG_PARAMS(params),
    .refuse = refuse,
    .scratch = scratch,
    .cost = cost,
    .run = run,
};
