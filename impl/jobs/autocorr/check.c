// SPDX-License-Identifier: MIT
// check.c: whether all sums of a photograph are right, in the time of a few of them. For every s and t,
//     sum over X0, Y0 of S(X0, Y0) s^(X0 + R) t^(Y0 + R) = sum over x, y of a(x, y) B(x, y),
//     B(x, y) = sum over |X0|, |Y0| <= R of b(x - X0, y - Y0) s^(X0 + R) t^(Y0 + R).
// Both sides are polynomials of degree 4R at most: where one sum is wrong they agree at 4R / P of all s and t modulo a prime P
// (Schwartz 1980, J. ACM 27, 701), which are drawn once the sums are there, by the system's random numbers. Differences of sums are
// below P, so that none vanishes modulo P, up to 2^29 pixels of 16 bits.
// Variants that round (Fourier transforms of large photographs of 16 bits) have CHECKS random sums computed again instead.
#include "autocorr.h"

#include <sys/random.h>

enum { CHECKS = 16 };
#define P (((uint64_t)1 << 61) - 1)

typedef unsigned __int128 wide;

// Of the same class as x modulo P, and below 2^61 + 64: two products of such numbers and 2^64 are below 2^128.
static uint64_t reduced(wide x)
{
    const uint64_t sum = (uint64_t)(x & P) + (uint64_t)(x >> 61 & P) + (uint64_t)(x >> 122);
    return sum >= P ? sum - P : sum;
}

static uint64_t product(uint64_t x, uint64_t y) { return reduced((wide)x * y); }

static uint64_t power(uint64_t x, int64_t n)
{
    uint64_t y = 1;
    for (; n; n >>= 1, x = product(x, x))
        if (n & 1) y = product(y, x);
    return y % P;
}

static int draw(void *to, size_t bytes)
{
    return getrandom(to, bytes, 0) == (ssize_t)bytes ? RG_GOOD
                                                     : rg_fail(RG_LACKS, "autocorr: the system has no random numbers");
}

// The right side. With u = 1/s and v = 1/t, B(x, y) is s^(x + R) t^(y + R) times the sum of b(x', y') u^x' v^y' over the box
// about (x, y), of which sums over corners give any: no pixel waits for another.
static uint64_t of_pixels(const rg_image *a, const rg_image *b, int64_t r, uint64_t s, uint64_t t)
{
    const int64_t w = b->width, h = b->height, pitch = w + 1;
    const uint64_t u = power(s, P - 2), v = power(t, P - 2);
    RG_FREED uint64_t *corner = rg_alloc((size_t)(pitch * (h + 1)) * sizeof *corner); // of what is left of and above (x, y)
    RG_FREED uint64_t *of_u = rg_alloc((size_t)w * sizeof *of_u), *of_s = rg_alloc((size_t)w * sizeof *of_s);
    uint64_t of_v = 1, of_t = power(t, r), all = 0;
    for (int64_t x = 0; x < w; x++) {
        of_u[x] = x ? product(of_u[x - 1], u) : 1;
        of_s[x] = x ? product(of_s[x - 1], s) : power(s, r);
    }
    for (int64_t y = 0; y < h; y++, of_v = product(of_v, v)) {
        const uint64_t *above = corner + y * pitch + 1;
        uint64_t *to = corner + (y + 1) * pitch + 1;
        wide row = 0;
        for (int64_t x = 0; x < w; x++) {
            row += (wide)of_u[x] * ac_grey(b, y * w + x);
            to[x] = above[x] + product(reduced(row), of_v);
            to[x] -= to[x] >= P ? P : 0;
        }
    }
    for (int64_t y = 0; y < h; y++, of_t = product(of_t, t)) {
        const uint64_t *low = corner + (y > r ? y - r : 0) * pitch, *high = corner + (y + r < h ? y + r + 1 : h) * pitch;
        wide row = 0;
        for (int64_t x = 0; x < w; x++) {
            const int64_t first = x > r ? x - r : 0, past = x + r < w ? x + r + 1 : w;
            const uint64_t box = high[past] + low[first] + (4 * P - high[first] - low[past]); // none is above 2^61 + 2^40
            row += (wide)product(box, of_s[x]) * ac_grey(a, y * w + x);
        }
        all = reduced((wide)all + product(reduced(row), of_t));
    }
    return all % P;
}

// The left side; P, which the right one never is, where a sum is not between 0 and the most that there is.
static uint64_t of_sums(const int64_t *sums, wide most, int64_t r, uint64_t s, uint64_t t)
{
    const int64_t side = ac_side(r);
    RG_FREED uint64_t *column = rg_alloc((size_t)side * sizeof *column);
    uint64_t all = 0;
    for (int64_t row = side - 1; row >= 0; row--)
        for (int64_t x = 0; x < side; x++) {
            const int64_t sum = sums[row * side + x];
            if (sum < 0 || (wide)sum > most) return P;
            column[x] = reduced((wide)column[x] * t + (uint64_t)sum);
        }
    for (int64_t x = side - 1; x >= 0; x--) all = reduced((wide)all * s + column[x]);
    return all % P;
}

static int check_all(const ac_worker *w, const ac_photo *photo, const rg_image *a, const rg_image *b, const int64_t *sums)
{
    const int64_t r = photo->shape.n[AC_R], *n = photo->shape.n;
    uint64_t at[2];
    const int code = draw(at, sizeof at);
    if (code != RG_GOOD) return code;
    const uint64_t s = at[0] % (P - 1) + 1, t = at[1] % (P - 1) + 1; // of those that have an inverse
    const uint64_t largest = a->bits == 8 ? 255 : 65535;
    return of_sums(sums, (wide)(largest * largest) * (uint64_t)(a->width * a->height), r, s, t) == of_pixels(a, b, r, s, t)
        ? RG_GOOD
        : rg_fail(RG_WRONG,
              "%s: %s gives sums that are not this photograph's; regather verify autocorr:%s --shape w%" PRId64 ",h%" PRId64
              ",r%" PRId64 ",k%" PRId64 " may show which",
              photo->name, w->job->entry->name, w->job->entry->name, n[AC_WIDTH], n[AC_HEIGHT], n[AC_R], n[AC_KIND]);
}

static int check_some(const ac_worker *w, const ac_photo *photo, const rg_image *a, const rg_image *b, int64_t *sums)
{
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

// By its own word a plug-in has no errors that the algorithm has not.
bool ac_rounds(const ac_job *job, const rg_shape *shape)
{
    const rg_entry *e = job->entry;
    return e->origin != RG_PLUGGED_IN && e->variant->tolerance && e->variant->tolerance(shape, job->param).kind != RG_EXACT;
}

int ac_check(const ac_worker *w, const ac_photo *photo, const rg_image *a, const rg_image *b, int64_t *sums)
{
    return ac_rounds(w->job, &photo->shape) ? check_some(w, photo, a, b, sums) : check_all(w, photo, a, b, sums);
}
