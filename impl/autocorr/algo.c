// SPDX-License-Identifier: MIT
// algo.c: the algorithm `autocorr` as data: shapes, inputs, invariants and amounts of work. index.h defines the computation,
// n[] and the arguments. The expected values come from reference/.
#include "../../reference/reference.h"
#include "index.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rg_type pixel_type(const rg_shape *s) { return s->n[AC_KIND] & AC_16BIT ? RG_U16 : RG_U8; }
static rg_type sum_type(const rg_shape *s) { return (void)s, RG_I64; }
static int64_t count_a(const rg_shape *s) { return s->n[AC_WIDTH] * s->n[AC_HEIGHT]; }
static int64_t count_b(const rg_shape *s) { return s->n[AC_KIND] & AC_CROSS ? count_a(s) : 0; }
static int64_t count_sums(const rg_shape *s) { return ac_side(s->n[AC_R]) * ac_side(s->n[AC_R]); }

static const rg_arg args[] = {
    {"a", RG_IN, pixel_type, count_a},
    {"b", RG_IN, pixel_type, count_b},
    {"sums", RG_OUT, sum_type, count_sums},
};

// ---- shapes --------------------------------------------------------------------------------------------------------------

#define CHECK(w, h, r, k)                                                                                                      \
    { {w, h, r, k}, 1 }
enum { AUTO8 = 0, CROSS8 = AC_CROSS, AUTO16 = AC_16BIT, CROSS16 = AC_CROSS | AC_16BIT };

static const rg_shape check_shapes[] = {
    // The smallest: one pixel, one row, one column, offset 0 only.
    CHECK(1, 1, 0, AUTO8),
    CHECK(1, 1, 0, CROSS8),
    CHECK(1, 1, 0, AUTO16),
    CHECK(1, 1, 0, CROSS16),
    CHECK(2, 2, 0, CROSS8),
    CHECK(2, 2, 1, AUTO8),
    CHECK(2, 2, 1, CROSS16),
    CHECK(2, 1, 1, AUTO16),
    CHECK(1, 2, 1, CROSS8),
    CHECK(17, 1, 16, AUTO8),
    CHECK(1, 17, 16, CROSS8),
    CHECK(129, 1, 128, AUTO16),
    CHECK(1, 129, 128, AUTO8),
    CHECK(64, 33, 0, AUTO8),
    CHECK(33, 64, 0, CROSS16),
    // One less, equal, and one more than the variants' blocks: 32, 64 and 128 pixels, rows and offsets.
    CHECK(31, 32, 15, AUTO8),
    CHECK(32, 33, 16, CROSS8),
    CHECK(33, 31, 32, AUTO16),
    CHECK(31, 31, 30, CROSS16),
    CHECK(32, 32, 31, AUTO8),
    CHECK(63, 64, 7, AUTO8),
    CHECK(64, 65, 8, CROSS8),
    CHECK(65, 63, 9, AUTO16),
    CHECK(64, 64, 4, CROSS16),
    CHECK(65, 64, 31, AUTO8),
    CHECK(127, 128, 4, AUTO8),
    CHECK(128, 129, 3, CROSS8),
    CHECK(129, 127, 3, AUTO16),
    CHECK(129, 128, 2, CROSS16),
    CHECK(127, 9, 63, AUTO8),
    CHECK(9, 128, 64, CROSS8),
    CHECK(129, 5, 65, CROSS8),
    // Primes; an offset larger than one side; narrow images both ways; every offset of the plane.
    CHECK(53, 47, 23, AUTO8),
    CHECK(101, 37, 13, CROSS8),
    CHECK(37, 59, 11, AUTO16),
    CHECK(43, 29, 17, CROSS16),
    CHECK(65, 7, 64, AUTO8),
    CHECK(7, 65, 64, CROSS8),
    CHECK(5, 131, 130, AUTO16),
    CHECK(131, 5, 130, CROSS16),
    CHECK(193, 3, 11, AUTO8),
    CHECK(3, 257, 16, CROSS8),
    CHECK(255, 9, 20, AUTO8),
    CHECK(256, 6, 33, CROSS8),
    CHECK(257, 4, 31, AUTO16),
    CHECK(23, 19, 22, AUTO8),
    CHECK(19, 23, 22, CROSS8),
    // More than 33,025 pixels, so that 32-bit sums overflow if all are bright.
    CHECK(257, 131, 2, AUTO8),
    CHECK(257, 131, 1, CROSS8),
    CHECK(263, 257, 1, AUTO8),
};

// The papers' photographs are about 750 x 1500. `quick` divides their sides and offsets by five, so that the slowest variant
// takes seconds at most.
static const rg_bench_shape bench_shapes[] = {
    {{{150, 300, 8, AUTO8}, 1}, RG_QUICK, "Fig 6, a fifth of the side"},
    {{{150, 300, 16, AUTO8}, 1}, RG_QUICK, "Fig 6, a fifth of the side"},
    {{{150, 300, 32, AUTO8}, 1}, RG_QUICK, "Fig 6, a fifth of the side"},
    {{{150, 300, 50, AUTO8}, 1}, RG_QUICK, "Fig 6, a fifth of the side"},
    {{{150, 300, 100, AUTO8}, 1}, RG_QUICK, "Fig 6, a fifth of the side"},
    {{{375, 750, 16, AUTO8}, 1}, RG_QUICK, "half the side"},
    {{{640, 480, 16, AUTO8}, 1}, RG_QUICK, "L11 video"},
    {{{300, 300, 16, CROSS8}, 1}, RG_QUICK, "cross"},
    {{{300, 300, 16, AUTO16}, 1}, RG_QUICK, "16 bit"},
    {{{750, 1500, 10, AUTO8}, 1}, RG_PAPER, "Fig 6"},
    {{{750, 1500, 25, AUTO8}, 1}, RG_PAPER, "Fig 6"},
    {{{750, 1500, 50, AUTO8}, 1}, RG_PAPER, "Fig 6"},
    {{{750, 1500, 100, AUTO8}, 1}, RG_PAPER, "Fig 6"},
    {{{750, 1500, 150, AUTO8}, 1}, RG_PAPER, "Fig 6"},
    {{{750, 1500, 200, AUTO8}, 1}, RG_PAPER, "Fig 6"},
    {{{750, 1500, 250, AUTO8}, 1}, RG_PAPER, "Fig 6"},
    {{{750, 1500, 300, AUTO8}, 1}, RG_PAPER, "Fig 6"},
    {{{640, 480, 16, AUTO8}, 1}, RG_PAPER, "L11 video"},
    {{{750, 1500, 100, CROSS8}, 1}, RG_PAPER, "cross"},
    {{{750, 1500, 100, AUTO16}, 1}, RG_PAPER, "16 bit"},
    {{{2048, 2048, 16, AUTO8}, 1}, RG_LARGE, "2048"},
    {{{2048, 2048, 64, AUTO8}, 1}, RG_LARGE, "2048"},
    {{{2048, 2048, 256, AUTO8}, 1}, RG_LARGE, "2048"},
    {{{4096, 4096, 16, AUTO8}, 1}, RG_LARGE, "4096"},
    {{{4096, 4096, 64, AUTO8}, 1}, RG_LARGE, "4096"},
    {{{4096, 4096, 256, AUTO8}, 1}, RG_LARGE, "4096"},
    {{{4096, 4096, 512, AUTO8}, 1}, RG_LARGE, "4096"},
};

static int64_t largest_pixel(const rg_shape *s) { return s->n[AC_KIND] & AC_16BIT ? 65535 : 255; }

static const char *invalid(const rg_shape *s) {
    int64_t w = s->n[AC_WIDTH], h = s->n[AC_HEIGHT], r = s->n[AC_R], kind = s->n[AC_KIND];
    if (w <= 0 || h <= 0) return "width and height must be positive";
    if (r < 0) return "the largest offset must not be negative";
    if (r >= (w > h ? w : h)) return "the largest offset must be smaller than the longer side";
    if (kind & ~(int64_t)(AC_CROSS | AC_16BIT)) return "unknown bits in kind (1 = cross, 2 = 16 bit)";
    int64_t brightest = largest_pixel(s) * largest_pixel(s);
    if (w > INT64_MAX / brightest / h) return "so many pixels that a sum could overflow 64 bits";
    // 2^30 offsets a side keep (2R+1)^2 elements of 8 bytes within 63 bits.
    if (r >= INT64_C(1) << 29) return "the largest offset must be below 2^29";
    return NULL;
}

// ---- inputs --------------------------------------------------------------------------------------------------------------

static uint32_t pixel_value(const rg_shape *s, rg_pattern pattern, int which, int64_t i) {
    uint32_t top = (uint32_t)largest_pixel(s);
    uint64_t bits = rg_bits(s->seed, (uint64_t)i | (uint64_t)which << 62);
    int64_t x = i % s->n[AC_WIDTH], y = i / s->n[AC_WIDTH];
    // 0, 1, both sides of the sign bit, and the largest: these expose biased, signed and saturating arithmetic.
    const uint32_t extreme[8] = {0, top, 1, top - 1, top / 2, top / 2 + 1, 0, top};
    switch (pattern) {
    case RG_POSITION: // a ramp along both axes, with steps that no block size divides, and another in b
        return 1 + (uint32_t)((uint64_t)(x + (which ? 41 : 37) * y + 11 * which) % (top == 255 ? 251 : 65521));
    case RG_MAXIMUM: return top;
    case RG_EXTREME: return extreme[bits >> 61];
    default: return (uint32_t)(bits >> 40) & top;
    }
}

static void fill(const rg_shape *s, rg_pattern pattern, void *const *arg) {
    for (int which = AC_A; which <= AC_B; which++) {
        int64_t n = args[which].count(s);
        for (int64_t i = 0; i < n; i++) {
            uint32_t value = pixel_value(s, pattern, which, i);
            if (pixel_type(s) == RG_U8)
                ((uint8_t *)arg[which])[i] = (uint8_t)value;
            else
                ((uint16_t *)arg[which])[i] = (uint16_t)value;
        }
    }
}

// ---- what must hold ------------------------------------------------------------------------------------------------------

static rg_tolerance tolerance(const rg_shape *s) {
    (void)s;
    return (rg_tolerance){RG_EXACT, 0, 0, "sums of products of integers, which fit in 64 bits"};
}

static double sum_of_squares(const rg_shape *s, const void *image, int64_t count) {
    double sum = 0; // exact below 2^53; beyond, within 2^-53 of each addend
    for (int64_t i = 0; i < count; i++) {
        double p = pixel_type(s) == RG_U8 ? ((const uint8_t *)image)[i] : ((const uint16_t *)image)[i];
        sum += p * p;
    }
    return sum;
}

// Cauchy-Schwarz: 0 <= S <= |a| |b| for pixels that are not negative. In an autocorrelation S(X0, Y0) = S(-X0, -Y0), and S(0,
// 0) is the sum of squares. Variants whose tolerance is a bound (Fourier transforms of 16-bit images) round, so 2^-44 of the
// largest possible sum is allowed. For 8-bit images below 2^43 / 255^2 = 1.3e8 pixels that is less than one half, hence 0.
static const char *invariant(const rg_shape *s, void *const *arg) {
    static _Thread_local char text[160];
    const int64_t *sums = arg[AC_SUMS], r = s->n[AC_R], count = count_sums(s);
    int cross = (s->n[AC_KIND] & AC_CROSS) != 0;
    double aa = sum_of_squares(s, arg[AC_A], count_a(s));
    double bb = cross ? sum_of_squares(s, arg[AC_B], count_b(s)) : aa;
    double most = cross ? sqrt(aa) * sqrt(bb) * (1 + 0x1p-50) : aa, slack = floor(0x1p-44 * most + 0.5);
    for (int64_t e = 0; e < count; e++) {
        int64_t mirrored = sums[ac_mirror(r, e)];
        const char *fault = (double)sums[e] < -slack                   ? "is negative"
            : !((double)sums[e] <= most + slack)                       ? "exceeds what Cauchy and Schwarz allow"
            : !cross && !(fabs((double)(sums[e] - mirrored)) <= slack) ? "differs from the sum at the opposite offset"
            : !cross && 2 * e + 1 == count && !(fabs((double)sums[e] - aa) <= slack) ? "is not the sum of squares"
                                                                                     : NULL;
        if (!fault) continue;
        snprintf(text, sizeof text, "sums(X0=%" PRId64 ",Y0=%" PRId64 ") = %" PRId64 " %s", ac_x0(r, e), ac_y0(r, e), sums[e],
            fault);
        return text;
    }
    return NULL;
}

static void where(const rg_shape *s, int which, int64_t element, char text[64]) {
    if (which == AC_SUMS)
        snprintf(text, 64, "(X0=%" PRId64 ",Y0=%" PRId64 ")", ac_x0(s->n[AC_R], element), ac_y0(s->n[AC_R], element));
    else
        snprintf(text, 64, "(x=%" PRId64 ",y=%" PRId64 ")", element % s->n[AC_WIDTH], element / s->n[AC_WIDTH]);
}

// The pixels of a side outside [ac_first, ac_past) have no partner; ac_overlaps counts the rest.
static const char *side_fault(int64_t n, int64_t r) {
    int64_t pairs = 0;
    for (int64_t d = -r; d <= r; d++) {
        if (ac_first(d) > ac_past(n, d)) return "ac_past lies before ac_first";
        for (int64_t x = 0; x < n; x++) {
            int partner = x - d >= 0 && x - d < n, inside = x >= ac_first(d) && x < ac_past(n, d);
            if (partner != inside) return "ac_first and ac_past do not bound the overlap";
            pairs += partner;
        }
    }
    return pairs == ac_overlaps(n, r) ? NULL : "ac_overlaps does not count the pairs of a side";
}

static const char *index_fault(const rg_shape *s) {
    int64_t r = s->n[AC_R], expected = 0;
    for (int64_t y0 = -r; y0 <= r; y0++) {
        for (int64_t x0 = -r; x0 <= r; x0++, expected++) { // each element once and in order: bijective
            int64_t e = ac_element(r, x0, y0);
            if (e != expected) return "ac_element leaves out or repeats an element";
            if (ac_x0(r, e) != x0 || ac_y0(r, e) != y0) return "ac_x0, ac_y0 are not the inverse of ac_element";
            if (ac_mirror(r, e) != ac_element(r, -x0, -y0)) return "ac_mirror is not the opposite offset";
        }
    }
    if (expected != count_sums(s)) return "the offsets do not fill sums";
    const char *fault = side_fault(s->n[AC_WIDTH], r);
    return fault ? fault : side_fault(s->n[AC_HEIGHT], r);
}

// ---- amounts -------------------------------------------------------------------------------------------------------------

static double traffic_bytes(const rg_shape *s) {
    return (double)(count_a(s) + count_b(s)) * (double)rg_type_bytes(pixel_type(s)) + 8.0 * (double)count_sums(s);
}

// Multiply-adds that no direct method avoids: one for every pixel pair at every offset. In an autocorrelation opposite offsets
// have the same sum, which counts once; the centre, with width * height pairs, is its own opposite.
static double work(const rg_shape *s) {
    double plane = (double)ac_overlaps(s->n[AC_WIDTH], s->n[AC_R]) * (double)ac_overlaps(s->n[AC_HEIGHT], s->n[AC_R]);
    return s->n[AC_KIND] & AC_CROSS ? plane : (plane + (double)count_a(s)) / 2;
}

// ---- one pixel at a time ---------------------------------------------------------------------------------------------------

// With two photographs, a is dark except for one pixel of grey 1, so that the sum at (X0, Y0) is the pixel of b that met it;
// the values of b encode positions. In an autocorrelation, a is that photograph, and one of its pixels becomes brighter by 1.
static void fill_one(const rg_shape *s, int64_t input, void *const *arg) {
    const int cross = (s->n[AC_KIND] & AC_CROSS) != 0;
    fill(&(rg_shape){.n = {s->n[0], s->n[1], s->n[2], s->n[3]}, .seed = 1}, RG_POSITION, arg);
    if (cross) memset(arg[AC_A], 0, (size_t)count_a(s) * rg_type_bytes(pixel_type(s)));
    if (input < 0) return;
    if (pixel_type(s) == RG_U8)
        ((uint8_t *)arg[AC_A])[input]++;
    else
        ((uint16_t *)arg[AC_A])[input]++;
}

static int centre(const rg_shape *s, int64_t input, int which, int64_t e) {
    (void)input, (void)which;
    return ac_mirror(s->n[AC_R], e) == e;
}
static int half_row(const rg_shape *s, int64_t input, int which, int64_t e) {
    (void)input, (void)which;
    return ac_y0(s->n[AC_R], e) == 0;
}
static int largest_offset(const rg_shape *s, int64_t input, int which, int64_t e) {
    const int64_t r = s->n[AC_R];
    (void)input, (void)which;
    return llabs(ac_x0(r, e)) == r || llabs(ac_y0(r, e)) == r;
}
static int border(const rg_shape *s, int64_t input, int which, int64_t e) {
    const int64_t w = s->n[AC_WIDTH], h = s->n[AC_HEIGHT], x = input % w, y = input / w;
    (void)which, (void)e;
    return input >= 0 && (x == 0 || y == 0 || x == w - 1 || y == h - 1);
}

static const rg_shape trace_shapes[] = {
    CHECK(4, 5, 3, CROSS8),
    CHECK(5, 4, 4, AUTO8),
    CHECK(6, 7, 3, CROSS16),
    CHECK(7, 6, 3, AUTO16),
    CHECK(8, 9, 4, CROSS8),
    CHECK(9, 8, 8, AUTO8),
    CHECK(9, 4, 5, CROSS8),
    CHECK(4, 9, 5, AUTO8),
};
static const rg_trace_case trace_kinds[] = {
    {"offset 0", centre}, {"row Y0 = 0", half_row}, {"largest offsets", largest_offset}, {"border pixels", border}};

static const rg_trace trace = {.argument = AC_A,
    .fill = fill_one,
    .shape = CHECK(9, 7, 4, CROSS8),
    .case_shape = trace_shapes,
    .n_case_shapes = RG_COUNT(trace_shapes),
    .kind = trace_kinds,
    .n_kinds = RG_COUNT(trace_kinds)};

static const rg_shape smoke_shapes[] = {CHECK(65, 33, 16, AUTO8)};

static int dim_text(int dim, int64_t value, char text[32]) {
    static const char *const kind[] = {"plain", "cross", "16bit", "cross+16bit"};
    if (dim == AC_KIND && value >= 0 && value < RG_COUNT(kind)) return snprintf(text, 32, "%s", kind[value]) > 0;
    return 0;
}

RG_ALGO(autocorr) = {
    .name = "autocorr",
    .paper = "Lu 2009",
    .formula = "S(X0,Y0) = sum over x,y of a(x,y) b(x-X0,y-Y0), |X0|,|Y0| <= R",
    .dim = {"w", "h", "r", "k"},
    .dim_name = {"width", "height", "max-offset", "kind"},
    .dim_text = dim_text,
    RG_ALGO_ARRAYS(args, check_shapes, bench_shapes, smoke_shapes),
    .invalid = invalid,
    .fill = fill,
    .reference = rg_ref_autocorr,
    .reference_at = rg_ref_autocorr_at,
    .tolerance = tolerance,
    .invariant = invariant,
    .where = where,
    .index_fault = index_fault,
    .traffic_bytes = traffic_bytes,
    .work = work,
    .rate_unit = "multiply-adds/s",
    // The correlation theorem is preferred to direct sums where these take longer on one core and its rounded sums are as exact
    // as theirs (fftw.c): both take as long at R = 26 of 750 x 1500 with AVX-512 VNNI (data/machines/h100-16xeon.tsv). Small
    // offsets need few products, for which Hopper's matrix units are faster than any transform.
    .order = "tensor_wgmma?r<=60,k<=0 fft tensor_wgmma tensor gather fftw:plan=0?r>=26,k<=1,w<=8192,h<=8192 simd fftw ordered "
             "naive",
    .trace = &trace,
};
