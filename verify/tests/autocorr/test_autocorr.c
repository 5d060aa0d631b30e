// SPDX-License-Identifier: MIT
// test_autocorr.c: the algorithm and its variants for the CPU against sums from arithmetic, not from other code.
#include "../../../impl/autocorr/index.h"
#include "../test_variants.h"

static const rg_algo *algo;

// ---- one call ------------------------------------------------------------------------------------------------------------

// Runs a variant on inputs given as 64-bit integers, narrowed to the type of the shape. The caller frees the sums.
static int64_t *sums_of(
    const rg_variant *v, rg_shape s, const int64_t *param, int threads, const int64_t *a, const int64_t *b) {
    problem p = {.algo = algo, .shape = s};
    const int64_t *from[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        int64_t n = algo->arg[i].count(&s);
        p.arg[i] = malloc((size_t)n * 2 + 1);
        for (int64_t j = 0; j < n; j++) {
            if (s.n[AC_KIND] & AC_16BIT)
                ((uint16_t *)p.arg[i])[j] = (uint16_t)from[i][j];
            else
                ((uint8_t *)p.arg[i])[j] = (uint8_t)from[i][j];
        }
    }
    p.arg[AC_SUMS] = malloc((size_t)algo->arg[AC_SUMS].count(&s) * 8);
    run(v, param, threads, &p);
    free(p.arg[AC_A]), free(p.arg[AC_B]);
    return p.arg[AC_SUMS];
}

// Runs every variant of the CPU available on this machine, except those in `except`, with every value of its first parameter
// that it accepts at the shape.
typedef void with_sums(const rg_variant *, const int64_t *param, const void *);
static void each_but(const rg_shape *s, const char *except, with_sums *f, const void *context) {
    int ran = 0, least = strstr(except, "fftw") ? 2 : 4; // naive, ordered, fftw with two plans; with AVX2 also simd
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, "autocorr", "cpu"));) {
        if (rg_unavailable(e) || strstr(except, e->variant->name)) continue;
        for (int i = 0; i < (e->variant->n_params ? e->variant->param[0].n_values : 1); i++) {
            int64_t param[RG_PARAMS_MAX] = {0};
            rg_params_standard(e->variant, param);
            if (e->variant->n_params) param[0] = e->variant->param[0].value[i];
            if (e->variant->refuse && e->variant->refuse(s, param)) continue;
            f(e->variant, param, context);
            ran++;
        }
    }
    assert_true(ran >= least);
}

typedef struct by_hand {
    rg_shape shape;
    const int64_t *a, *b, *sums;
} by_hand;

static void check_by_hand(const rg_variant *v, const int64_t *param, const void *context) {
    const by_hand *c = context;
    RG_FREED int64_t *found = sums_of(v, c->shape, param, 1, c->a, c->b);
    for (int64_t e = 0; e < algo->arg[AC_SUMS].count(&c->shape); e++) assert_int_equal(found[e], c->sums[e]);
}

TEST(sums_by_hand) {
    // 1 2   S(1,0) = 2 1 + 4 3, S(0,1) = 3 1 + 4 2, S(1,1) = 4 1, S(1,-1) = 2 3
    // 3 4
    static const int64_t square[] = {1, 2, 3, 4}, square_sums[] = {4, 11, 6, 14, 30, 14, 6, 11, 4};
    // b is one pixel ahead at X0 = -1: S(-1) = 1 5 + 2 6; S(2) = 3 4; past one row nothing overlaps
    static const int64_t a[] = {1, 2, 3}, b[] = {4, 5, 6};
    static const int64_t line[25] = {[10] = 6, [11] = 17, [12] = 32, [13] = 23, [14] = 12};
    // the same in a column
    static const int64_t column[25] = {[2] = 6, [7] = 17, [12] = 32, [17] = 23, [22] = 12};
    for (int64_t depth = 0; depth <= AC_16BIT; depth += AC_16BIT) {
        const by_hand cases[] = {{{{2, 2, 1, depth}, 1}, square, NULL, square_sums},
            {{{3, 1, 2, AC_CROSS | depth}, 1}, a, b, line}, {{{1, 3, 2, AC_CROSS | depth}, 1}, a, b, column}};
        for (int i = 0; i < RG_COUNT(cases); i++) each_but(&cases[i].shape, "", check_by_hand, &cases[i]);
    }
}

// ---- laws ----------------------------------------------------------------------------------------------------------------

static int64_t *random_image(const rg_shape *s, uint64_t seed) {
    int64_t n = s->n[AC_WIDTH] * s->n[AC_HEIGHT], *image = malloc((size_t)n * sizeof *image);
    for (int64_t i = 0; i < n; i++) image[i] = (int64_t)(rg_bits(seed, (uint64_t)i) >> (s->n[AC_KIND] & AC_16BIT ? 48 : 56));
    return image;
}

static void check_exchange(const rg_variant *v, const int64_t *param, const void *context) {
    const rg_shape *s = context;
    int64_t *a = random_image(s, 1), *b = random_image(s, 2), n = algo->arg[AC_SUMS].count(s);
    RG_FREED int64_t *ab = sums_of(v, *s, param, 1, a, b), *ba = sums_of(v, *s, param, 1, b, a);
    double tol = v->tolerance ? 2 * v->tolerance(s, param).absolute : 0;
    for (int64_t e = 0; e < n; e++) assert_true(fabs((double)(ab[e] - ba[ac_mirror(s->n[AC_R], e)])) <= tol);
    free(a), free(b);
}

// S_ab(X0, Y0) = S_ba(-X0, -Y0)
TEST(exchange_of_images) {
    const rg_shape shapes[] = {{{70, 41, 9, AC_CROSS}, 1}, {{41, 70, 33, AC_CROSS | AC_16BIT}, 1}, {{131, 2, 40, AC_CROSS}, 1}};
    for (int i = 0; i < RG_COUNT(shapes); i++) each_but(&shapes[i], "octave numpy", check_exchange, &shapes[i]);
}

static void check_total(const rg_variant *v, const int64_t *param, const void *context) {
    const rg_shape *s = context;
    int64_t *a = random_image(s, 3), *b = random_image(s, 4), total = 0, sum_a = 0, sum_b = 0;
    const int64_t *second = s->n[AC_KIND] & AC_CROSS ? b : a;
    RG_FREED int64_t *sums = sums_of(v, *s, param, 1, a, b);
    for (int64_t i = 0; i < s->n[AC_WIDTH] * s->n[AC_HEIGHT]; i++) sum_a += a[i], sum_b += second[i];
    for (int64_t e = 0; e < algo->arg[AC_SUMS].count(s); e++) total += sums[e];
    assert_int_equal(total, sum_a * sum_b);
    free(a), free(b);
}

// With R up to the full image every pixel of a meets every pixel of b once: the total is the product of two sums.
TEST(every_pair_once) {
    const rg_shape shapes[] = {
        {{33, 29, 32, 0}, 1}, {{29, 33, 32, AC_CROSS}, 1}, {{66, 5, 65, AC_16BIT}, 1}, {{2, 65, 64, AC_CROSS}, 1}};
    for (int i = 0; i < RG_COUNT(shapes); i++) each_but(&shapes[i], "", check_total, &shapes[i]);
}

// ---- 32-bit lanes --------------------------------------------------------------------------------------------------------

typedef struct flat {
    rg_shape shape;
    int64_t a, b;
} flat;

// Flat images: S = a b (width - |X0|) (height - |Y0|).
static void check_flat(const rg_variant *v, const int64_t *param, const void *context) {
    const flat *f = context;
    const rg_shape *s = &f->shape;
    int64_t n = s->n[AC_WIDTH] * s->n[AC_HEIGHT], r = s->n[AC_R];
    RG_FREED int64_t *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b);
    for (int64_t i = 0; i < n; i++) a[i] = f->a, b[i] = f->b;
    RG_FREED int64_t *sums = sums_of(v, *s, param, 2, a, b);
    double tol = v->tolerance ? v->tolerance(s, param).absolute : 0;
    for (int64_t e = 0; e < algo->arg[AC_SUMS].count(s); e++) {
        int64_t expected = f->a * f->b * (s->n[AC_WIDTH] - llabs(ac_x0(r, e))) * (s->n[AC_HEIGHT] - llabs(ac_y0(r, e)));
        assert_true(fabs((double)(sums[e] - expected)) <= tol);
    }
}

// vpdpbusd overflows after 2^31 / (4 255 128) = 16,448 rows, vpmaddwd after 16,512, and with 16-bit pixels after 128. Both
// sides of all three, and of the 512 after which simd empties its lanes; b at its brightest and, at the other end of biased
// arithmetic, black.
TEST(lanes_do_not_overflow) {
    const int64_t narrow[] = {511, 512, 513, 1025, 16448, 16449, 16513, 17000}, wide[] = {127, 128, 129, 257, 513, 17000};
    for (int black = 0; black < 2; black++) {
        for (int i = 0; i < RG_COUNT(narrow); i++) {
            flat f = {{{64, narrow[i], 1, AC_CROSS}, 1}, 255, black ? 0 : 255};
            each_but(&f.shape, "octave numpy fftw", check_flat, &f);
        }
        for (int i = 0; i < RG_COUNT(wide); i++) {
            flat f = {{{64, wide[i], 1, AC_CROSS | AC_16BIT}, 1}, 65535, black ? 0 : 65535};
            each_but(&f.shape, "octave numpy fftw", check_flat, &f);
        }
    }
}

TEST(threads_change_nothing) {
    const rg_shape s = {{150, 90, 21, 0}, 1};
    RG_FREED int64_t *a = random_image(&s, 5);
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, "autocorr", "cpu"));) {
        if (rg_unavailable(e) || !(e->variant->flags & RG_THREADED)) continue;
        int64_t standard[RG_PARAMS_MAX] = {0};
        rg_params_standard(e->variant, standard);
        RG_FREED int64_t *one = sums_of(e->variant, s, standard, 1, a, NULL);
        for (int threads = 2; threads < 12; threads += 3) {
            RG_FREED int64_t *many = sums_of(e->variant, s, standard, threads, a, NULL);
            assert_memory_equal(one, many, (size_t)algo->arg[AC_SUMS].count(&s) * 8);
        }
    }
}

// ---- the algorithm as data -----------------------------------------------------------------------------------------------

TEST(shapes_are_valid) {
    int bright = 0;
    for (int i = 0; i < algo->n_check_shapes; i++) {
        const rg_shape *s = &algo->check_shape[i];
        assert_null(algo->invalid(s));
        assert_null(algo->index_fault(s));
        bright += s->n[AC_WIDTH] * s->n[AC_HEIGHT] > 33025;
    }
    assert_true(bright > 0);
    for (int i = 0; i < algo->n_bench_shapes; i++) assert_null(algo->invalid(&algo->bench_shape[i].shape));
    const rg_shape bad[] = {{{0, 5, 0, 0}, 1}, {{5, 0, 0, 0}, 1}, {{-3, 5, 0, 0}, 1}, {{5, 4, -1, 0}, 1}, {{5, 4, 5, 0}, 1},
        {{5, 4, 3, 4}, 1}, {{5, 4, 3, -1}, 1}, {{INT64_C(1) << 31, INT64_C(1) << 31, 1, 0}, 1},
        {{INT64_C(1) << 16, (INT64_C(1) << 15) + 2, 1, AC_16BIT}, 1}};
    for (int i = 0; i < RG_COUNT(bad); i++) assert_non_null(algo->invalid(&bad[i]));
    const rg_shape largest = {{INT64_C(1) << 16, INT64_C(1) << 15, 1, AC_16BIT}, 1}; // 65535^2 2^31 = 0.99997 2^63
    assert_null(algo->invalid(&largest));
}

// Counts one multiply-add for every pixel pair and every pair of opposite offsets, in the slow way.
TEST(work_is_counted) {
    const rg_shape shapes[] = {{{7, 5, 3, 0}, 1}, {{7, 5, 6, AC_CROSS}, 1}, {{1, 9, 8, 0}, 1}, {{4, 4, 0, 0}, 1}};
    for (int i = 0; i < RG_COUNT(shapes); i++) {
        const int64_t *n = shapes[i].n, r = n[AC_R];
        int64_t count = 0;
        for (int64_t y0 = -r; y0 <= r; y0++)
            for (int64_t x0 = -r; x0 <= r; x0++)
                for (int64_t p = 0; p < n[AC_WIDTH] * n[AC_HEIGHT]; p++) {
                    int64_t x = p % n[AC_WIDTH] - x0, y = p / n[AC_WIDTH] - y0;
                    int first = n[AC_KIND] & AC_CROSS || y0 > 0 || (y0 == 0 && x0 >= 0);
                    count += first && x >= 0 && x < n[AC_WIDTH] && y >= 0 && y < n[AC_HEIGHT];
                }
        assert_true(algo->work(&shapes[i]) == (double)count);
        for (const rg_entry *e = NULL; (e = rg_entry_next(e, "autocorr", "cpu"));) {
            if (!e->variant->cost || e->variant->role == RG_LIBRARY) continue; // Fourier transforms need fewer
            int64_t standard[RG_PARAMS_MAX] = {0};
            rg_params_standard(e->variant, standard);
            rg_cost c = {{0}};
            double mads = 0;
            e->variant->cost(&shapes[i], standard, &c);
            for (int k = RG_F32_MAD; k <= RG_MATRIX_I8_MAD; k++) mads += c.amount[k];
            assert_true(mads >= (double)count);
        }
    }
}

TEST(inputs_fill_the_range) {
    rg_shape s = {{128, 64, 2, AC_CROSS}, 7};
    enum { N = 128 * 64 };
    uint8_t a[N], b[N], again[N];
    void *arg[] = {a, b, NULL}, *arg_again[] = {again, b, NULL};
    algo->fill(&s, RG_RANDOM, arg);
    int seen[256] = {0}, levels = 0;
    for (int i = 0; i < N; i++) levels += seen[a[i]]++ == 0;
    assert_true(levels > 250);
    assert_memory_not_equal(a, b, N);
    algo->fill(&s, RG_RANDOM, arg_again);
    assert_memory_equal(a, again, N);
    s.seed++;
    algo->fill(&s, RG_RANDOM, arg_again);
    assert_memory_not_equal(a, again, N);
    algo->fill(&s, RG_MAXIMUM, arg);
    for (int i = 0; i < N; i++) assert_true(a[i] == 255 && b[i] == 255);
}

TEST(invariant_sees) {
    const rg_shape s = {{9, 8, 3, 0}, 1};
    uint8_t a[72];
    int64_t sums[49];
    void *arg[] = {a, NULL, sums};
    algo->fill(&s, RG_RANDOM, arg);
    algo->reference(&s, arg);
    assert_null(algo->invariant(&s, arg));
    for (int64_t e = 0; e < 49; e++) { // one sum is wrong by one: its mirror, or at the centre the sum of squares, shows it
        sums[e]++;
        assert_non_null(algo->invariant(&s, arg));
        sums[e]--;
    }
    for (int64_t e = 0; e < 49; e++) sums[e] = -1;
    assert_non_null(algo->invariant(&s, arg));
}

// ---- the bound of the Fourier transforms ---------------------------------------------------------------------------------

TEST(fourier_bound) {
    const rg_entry *e = rg_entry_next(NULL, "autocorr:fftw", "cpu");
    assert_non_null(e);
    const int64_t estimate[RG_PARAMS_MAX] = {0}; // plan 0 keeps the test quick
    const rg_shape paper = {{750, 1500, 300, 0}, 1}, wide = {{750, 1500, 300, AC_16BIT}, 1}, huge = {{16384, 16384, 1, 0}, 1};
    assert_int_equal(e->variant->tolerance(&paper, estimate).kind, RG_EXACT);
    assert_int_equal(e->variant->tolerance(&wide, estimate).kind, RG_BOUND);
    assert_true(e->variant->tolerance(&wide, estimate).absolute < 1e-12 * 750 * 1500 * 65535. * 65535.);
    assert_int_equal(e->variant->tolerance(&huge, estimate).kind, RG_BOUND);
    // All white, where the error is largest.
    const flat cases[] = {{{{750, 1500, 2, AC_CROSS}, 1}, 255, 255}, {{{750, 1500, 2, AC_CROSS | AC_16BIT}, 1}, 65535, 65535}};
    for (int i = 0; i < RG_COUNT(cases); i++) check_flat(e->variant, estimate, &cases[i]);
}

FIXTURE(find_algo) {
    algo = rg_algo_find("autocorr");
    return algo == NULL;
}

TESTS(find_algo, NULL)
