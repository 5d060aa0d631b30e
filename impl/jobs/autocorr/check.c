// SPDX-License-Identifier: MIT
// check.c: checks all sums of a photograph in the time of a few of them. For every s and t,
//     sum over X0, Y0 of S(X0, Y0) s^(X0 + R) t^(Y0 + R) = sum over x, y of a(x, y) B(x, y),
//     B(x, y) = sum over |X0|, |Y0| <= R of b(x - X0, y - Y0) s^(X0 + R) t^(Y0 + R).
// Both sides are polynomials of degree 4R at most. Where a sum is wrong, they agree at 4R / p of all s and t modulo a prime p
// (Schwartz 1980, J. ACM 27, 701), unless p divides the errors. The system's random numbers draw s, t and p once the sums are
// known. Remainders by primes just below 2^31 take two multiplications, and products of two fit in 64-bit vectors; an error
// below 2^61 is a multiple of one of these primes at most.
// Variants that round (Fourier transforms of large photographs of 16 bits) have CHECKS random sums computed again instead.
#include "../../runtime/cpu.h"
#include "../../simd/autovec.h"
#include "autocorr.h"

#include <sys/random.h>

enum { CHECKS = 16, BITS = 31, CHUNK = 1 << 14 }; // a sum of CHUNK remainders times grey values stays below 2^63

// 2^BITS less one of these is a prime.
static const uint32_t below[] = {1, 19, 61, 69, 85, 99, 105, 151, 159, 171, 225, 249, 295, 325, 379, 399, 411, 469, 477, 511,
    525, 571, 579, 589, 595, 615, 619, 697, 699, 705, 711, 727};

// The drawn numbers: p = 2^BITS - c; s and t have inverses modulo p.
typedef struct ac_drawn {
    uint32_t c;
    uint64_t s, t;
} ac_drawn;

// Returns a number congruent to x; below 2^31 + 2^30 if x is below 2^51.
RG_HD uint64_t folded(uint64_t x, uint32_t c) { return (x & (((uint64_t)1 << BITS) - 1)) + (x >> BITS) * c; }

// Returns a number congruent to x < 2^63, below 2^BITS + 2^22.
RG_HD uint64_t reduced(uint64_t x, uint32_t c) { return folded(folded(x, c), c); }

RG_HD uint64_t product(uint64_t x, uint64_t y, uint32_t c) { return reduced((uint64_t)(uint32_t)x * (uint32_t)y, c); }

static uint64_t power(uint64_t x, int64_t n, uint32_t c) {
    uint64_t y = 1;
    for (; n; n >>= 1, x = product(x, x, c))
        if (n & 1) y = product(y, x, c);
    return y;
}

static uint64_t inverse(uint64_t x, uint32_t c) { return power(x, ((int64_t)1 << BITS) - c - 2, c); }

// to[i] = first x^i.
static uint64_t *powers(uint64_t first, uint64_t x, int64_t n, uint32_t c) {
    uint64_t *to = rg_alloc((size_t)n * sizeof *to);
    for (int64_t i = 0; i < n; i++, first = product(first, x, c)) to[i] = first;
    return to;
}

static int draw(void *to, size_t bytes) {
    return getrandom(to, bytes, 0) == (ssize_t)bytes ? RG_GOOD
                                                     : rg_fail(RG_LACKS, "autocorr: the system has no random numbers");
}

// Adds two rows of b, times factors below 2^32, to the sums of columns, which stay below 2^31 + 2^30.
RG_HD void add_rows(
    const rg_image *b, int64_t y, uint64_t by, int64_t y2, uint64_t by2, uint32_t c, uint64_t *restrict column) {
    const uint8_t *narrow = (const uint8_t *)b->pixel + y * b->width, *narrow2 = narrow + (y2 - y) * b->width;
    const uint16_t *wide = (const uint16_t *)b->pixel + y * b->width, *wide2 = wide + (y2 - y) * b->width;
    if (b->bits == 8)
        for (int64_t x = 0; x < b->width; x++) column[x] = folded(column[x] + by * narrow[x] + by2 * narrow2[x], c);
    else
        for (int64_t x = 0; x < b->width; x++) column[x] = folded(column[x] + by * wide[x] + by2 * wide2[x], c);
}

// Sums over a row of a: its pixels times s^x times the window of b's columns about each.
RG_HD uint64_t row_of(const rg_image *a, int64_t y, const uint64_t *restrict low, const uint64_t *restrict high,
    const uint64_t *restrict of_s, uint32_t c) {
    const uint8_t *narrow = (const uint8_t *)a->pixel + y * a->width;
    const uint16_t *wide = (const uint16_t *)a->pixel + y * a->width;
    uint64_t all = 0;
    for (int64_t first = 0, past; first < a->width; first = past) {
        uint64_t sum = 0;
        past = first + CHUNK < a->width ? first + CHUNK : a->width;
        if (a->bits == 8)
            for (int64_t x = first; x < past; x++) sum += product(reduced(high[x] - low[x], c), of_s[x], c) * narrow[x];
        else
            for (int64_t x = first; x < past; x++) sum += product(reduced(high[x] - low[x], c), of_s[x], c) * wide[x];
        all = reduced(all + reduced(sum, c), c);
    }
    return all;
}

// The right side. With u = 1/s and v = 1/t, B(x, y) is s^(x + R) t^(y + R) times the sum of b(x', y') u^x' v^y' over the box
// about (x, y): from sums of columns, updated by one row in and one row out, then windows along them by differences.
RG_HD uint64_t of_pixels(const rg_image *a, const rg_image *b, int64_t r, const ac_drawn *d) {
    const int64_t w = b->width, h = b->height;
    const uint32_t c = d->c;
    RG_FREED uint64_t *of_u = powers(1, inverse(d->s, c), w, c), *of_s = powers(power(d->s, r, c), d->s, w, c);
    RG_FREED uint64_t *of_v = powers(1, inverse(d->t, c), h, c), *of_t = powers(power(d->t, r, c), d->t, h, c);
    RG_FREED uint64_t *column = rg_alloc((size_t)w * sizeof *column), *weighed = rg_alloc((size_t)w * sizeof *weighed);
    RG_FREED uint64_t *before = rg_alloc((size_t)(w + 2 * r + 1) * sizeof *before); // before[r + x]: the sum left of x
    const uint64_t p = ((uint64_t)1 << BITS) - c;
    uint64_t all = 0;
    for (int64_t y = 0; y < r && y < h; y++) add_rows(b, y, of_v[y], y, 0, c, column);
    for (int64_t y = 0; y < h; y++) {
        const int64_t in = y + r < h ? y + r : y, out = y > r ? y - r - 1 : y; // y, times 0: none
        add_rows(b, in, y + r < h ? of_v[in] : 0, out, y > r ? 2 * p - of_v[out] : 0, c, column);
        for (int64_t x = 0; x < w; x++) weighed[x] = product(column[x], of_u[x], c);
        uint64_t sum = 0;
        for (int64_t x = 0; x < w; x++) before[r + x + 1] = sum += weighed[x];
        for (int64_t x = w; x < w + r; x++) before[r + x + 1] = sum;
        all = reduced(all + product(row_of(a, y, before, before + 2 * r + 1, of_s, c), of_t[y], c), c);
    }
    return all % p;
}

// The left side. Returns p, which the right side never is, if a sum is not between 0 and the largest possible one.
RG_HD uint64_t of_sums(const int64_t *restrict sums, int64_t most, int64_t r, const ac_drawn *d) {
    const int64_t side = ac_side(r);
    const uint32_t c = d->c;
    const uint64_t p = ((uint64_t)1 << BITS) - c, t = d->t;
    RG_FREED uint64_t *column = rg_alloc((size_t)side * sizeof *column);
    uint64_t all = 0, wrong = 0;
    for (int64_t row = side - 1; row >= 0; row--)
        for (int64_t x = 0; x < side; x++) {
            const int64_t sum = sums[row * side + x];
            wrong |= (uint64_t)(sum < 0) | (uint64_t)(sum > most);
            column[x] = reduced((uint64_t)(uint32_t)column[x] * (uint32_t)t + reduced((uint64_t)sum & INT64_MAX, c), c);
        }
    for (int64_t x = side - 1; x >= 0; x--) all = reduced(product(all, d->s, c) + column[x], c);
    return wrong ? p : all % p;
}

RG_HD void sides(
    const rg_image *a, const rg_image *b, const int64_t *sums, int64_t most, int64_t r, const ac_drawn *d, uint64_t side[2]) {
    side[0] = of_sums(sums, most, r, d);
    side[1] = of_pixels(a, b, r, d);
}
RG_AUTOVEC(sides,
    (const rg_image *a, const rg_image *b, const int64_t *sums, int64_t most, int64_t r, const ac_drawn *d, uint64_t side[2]),
    (a, b, sums, most, r, d, side))

static int check_all(const ac_worker *w, const ac_photo *photo, const rg_image *a, const rg_image *b, const int64_t *sums) {
    const int64_t r = photo->shape.n[AC_R], *n = photo->shape.n;
    uint64_t at[3], side[2];
    const int code = draw(at, sizeof at);
    if (code != RG_GOOD) return code;
    const uint32_t c = below[at[2] % RG_COUNT(below)];
    const uint64_t p = ((uint64_t)1 << BITS) - c;
    const ac_drawn d = {c, at[0] % (p - 1) + 1, at[1] % (p - 1) + 1};
    const double largest = a->bits == 8 ? 255 : 65535, most = largest * largest * (double)a->width * (double)a->height;
    const int64_t bound = most < 0x1p62 ? (int64_t)most : INT64_MAX;
    if (rg_cpu_has(RG_AUTOVEC_NEEDS))
        sides_for(rg_cpu_has(RG_AUTOVEC_WIDE))(a, b, sums, bound, r, &d, side);
    else
        sides(a, b, sums, bound, r, &d, side);
    return side[0] == side[1]
        ? RG_GOOD
        : rg_fail(RG_WRONG,
              "%s: %s gives sums that are not this photograph's; regather verify autocorr:%s --shape w%" PRId64 ",h%" PRId64
              ",r%" PRId64 ",k%" PRId64 " may show which",
              photo->name, w->job->entry->name, w->job->entry->name, n[AC_WIDTH], n[AC_HEIGHT], n[AC_R], n[AC_KIND]);
}

static int check_some(const ac_worker *w, const ac_photo *photo, const rg_image *a, const rg_image *b, int64_t *sums) {
    const rg_algo *algo = w->job->algo;
    const int64_t count = algo->arg[AC_SUMS].count(&photo->shape);
    const rg_tolerance allowed = w->job->entry->variant->tolerance(&photo->shape, w->job->param);
    void *const arg[] = {a->pixel, b->pixel, sums};
    uint64_t drawn[CHECKS];
    int64_t element[CHECKS], expected[CHECKS];
    const int code = draw(drawn, sizeof drawn);
    if (code != RG_GOOD) return code;
    for (int i = 0; i < CHECKS; i++) element[i] = (int64_t)(drawn[i] % (uint64_t)count);
    algo->reference_at(&photo->shape, arg, AC_SUMS, element, CHECKS, expected);
    for (int i = 0; i < CHECKS; i++) {
        const int64_t found = sums[element[i]];
        char where[64];
        if (fabs((double)((__int128)found - expected[i])) <= allowed.absolute + allowed.relative * fabs((double)expected[i]))
            continue;
        algo->where(&photo->shape, AC_SUMS, element[i], where);
        return rg_fail(RG_WRONG, "%s: %s gives S%s = %" PRId64 ", the reference %" PRId64, photo->name, w->job->entry->name,
            where, found, expected[i]);
    }
    return RG_GOOD;
}

// A plug-in cannot declare errors beyond the algorithm's.
bool ac_rounds(const ac_job *job, const rg_shape *shape) {
    const rg_entry *e = job->entry;
    return e->origin != RG_PLUGGED_IN && e->variant->tolerance && e->variant->tolerance(shape, job->param).kind != RG_EXACT;
}

int ac_check(const ac_worker *w, const ac_photo *photo, const rg_image *a, const rg_image *b, int64_t *sums) {
    return ac_rounds(w->job, &photo->shape) ? check_some(w, photo, a, b, sums) : check_all(w, photo, a, b, sums);
}
