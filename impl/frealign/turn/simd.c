// SPDX-License-Identifier: MIT
// simd.c: ccp with AVX2 or AVX-512, on one core or all, without a transform for every rotation.
//
// Only 15 x 15 lags are required: w = Re sum_i h e^{i t i x} sum_j W(i,j) e^{i t j y}, t = 4 pi / N, as two products of thin
// matrices. Rows j and -j are folded, E = W(j) + W(-j), O = W(j) - W(-j), so that eight cosines and seven sines give all
// fifteen y; likewise for x. A rotation and its half turn use the same coefficients P: W = X conj P and X P. Only the columns
// and rows within 4b of the padded transform are computed, from N rows instead of 4N. Threads share the padded transform, then
// the rotations; results do not depend on the number of threads.
//
// Bound: RG_F32_MAD, 15 multiply-adds for each coefficient and rotation, where a transform takes about 1.25 (N/2)^2 log2
// (N/2)^2, ten times as many; besides, the lookups of P, 8 bytes each. Measured: data/machines/h100-16xeon.tsv.
#include "../../runtime/cpu.h"
#include "../simd_plane.h"
#include "index.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum { BLOCK = 16, BATCH = 8 }; // columns whose lags are summed together; columns transformed together

typedef struct lag_sums {
    float sum[4][FR_LAG + 1][BLOCK]; // Re and Im of sum E cos, Re and Im of sum O sin
} lag_sums;

#define SIMD_LANES 16
#include "../../simd/simd.h"
#include "lags_isa.h"
#undef SIMD_LANES
#define SIMD_LANES 8
#include "../../simd/simd.h"
#include "lags_isa.h"

typedef void lags_fn(const float *, int64_t, const float *, const float *, int64_t, lag_sums *);

typedef struct plan {
    fr_space space;
    int64_t wide, reach, pitch; // 4N; 4b; complex numbers per row of half and big
    int64_t rows, columns;      // of X: b, and b rounded up to whole blocks
    fftwf_plan row, column;
    float *plane, *half, *big; // big[ky + reach][kx]
    float *X;                  // Re X, Im X, Re and Im of the rows -j; by row, then by column, 0 outside the band
    float *cosine, *sine;      // [y][j]
    float *across;             // [x][i] cos, then sin, times h
    float *own;                // own_floats per thread
    size_t own_floats;
    int threads;
    lags_fn *lags;
} plan;

static void finish(rg_call *call) {
    plan *p = call->state;
    if (!p) return;
    float *const memory[] = {p->plane, p->half, p->big, p->X, p->cosine, p->sine, p->across, p->own};
    fr_space_free(&p->space);
    if (p->row) fftwf_destroy_plan(p->row);
    if (p->column) fftwf_destroy_plan(p->column);
    for (int i = 0; i < RG_COUNT(memory); i++) fftwf_free(memory[i]);
    free(p);
    call->state = NULL;
}

static void tables(plan *p, int64_t side) {
    const double turn = 4 * 3.14159265358979323846 / (double)side;
    for (int64_t l = 0; l <= FR_LAG; l++)
        for (int64_t i = 0; i < p->columns; i++) {
            const double h = i == 0 ? 1 : 2, angle = turn * (double)(l * i);
            p->cosine[l * p->columns + i] = (float)cos(angle);
            p->sine[l * p->columns + i] = (float)sin(angle);
            p->across[l * p->columns + i] = (float)(h * cos(angle));
            p->across[(FR_LAG + 1 + l) * p->columns + i] = (float)(h * sin(angle));
        }
}

static int prepare(rg_call *call) {
    const int64_t side = call->shape->n[FR_SIDE], b = call->shape->n[FR_OUTER];
    plan *p = call->state = calloc(1, sizeof *p);
    if (!p) return RG_E_STATE;
    p->wide = FR_PAD_TURN * side;
    p->reach = FR_PAD_TURN * b;
    p->pitch = (p->reach + 1 + BATCH - 1) / BATCH * BATCH;
    p->rows = b;
    p->columns = (b + BLOCK - 1) / BLOCK * BLOCK;
    p->threads = call->threads;
    p->lags = call->param[0] == 512 || (call->param[0] == 0 && rg_cpu_has("avx512")) ? avx512_lags : avx2_lags;
    // One thread's memory: the folded coefficients of both half turns and the sums of all lags, or a batch of columns, or a
    // row.
    const size_t folds = (size_t)(2 * 4 * BLOCK * b + 2 * 2 * FR_LAGS * p->columns), batch = (size_t)(2 * BATCH * p->wide);
    p->own_floats = ((folds > batch ? folds : batch) + 64) / 64 * 64;
    p->plane = fr_planes(side, 1);
    p->half = fftwf_alloc_real((size_t)(2 * side * p->pitch));
    p->big = fftwf_alloc_real((size_t)(2 * (2 * p->reach + 1) * p->pitch));
    p->X = fftwf_alloc_real((size_t)(4 * p->rows * p->columns));
    p->cosine = fftwf_alloc_real((size_t)((FR_LAG + 1) * p->columns));
    p->sine = fftwf_alloc_real((size_t)((FR_LAG + 1) * p->columns));
    p->across = fftwf_alloc_real((size_t)(2 * (FR_LAG + 1) * p->columns));
    p->own = fftwf_alloc_real(p->own_floats * (size_t)p->threads);
    int code = p->plane && p->half && p->big && p->X && p->cosine && p->sine && p->across && p->own ? RG_OK : RG_E_STATE;
    if (code == RG_OK) code = fr_space_make(&p->space, side, b);
    if (code == RG_OK) {
        const int wide = (int)p->wide;
        fftwf_complex *z = (fftwf_complex *)p->own;
        p->row = fftwf_plan_dft_r2c_1d(wide, p->own, z, FFTW_ESTIMATE);
        p->column = fftwf_plan_many_dft(1, &wide, BATCH, z, NULL, BATCH, 1, z, NULL, BATCH, 1, FFTW_FORWARD, FFTW_ESTIMATE);
        code = p->row && p->column ? RG_OK : RG_E_LIBRARY;
        tables(p, side);
    }
    if (code != RG_OK) finish(call);
    return code;
}

// ---- once per direction --------------------------------------------------------------------------------------------------

// Writes the section's image, masked or not, to the rows of the plane given by space.rows.
FR_AVX2 static void section_image(plan *p, const fr_call *c, int64_t at) {
    const fr_space *s = &p->space;
    const float *ctf = c->c + at / c->trials * c->stored;
    for (int64_t j = c->outer; j <= s->side - c->outer; j++)
        memset(fr_row(s, p->plane, j), 0, (size_t)c->width * 2 * sizeof *p->plane);
    for (int64_t j = 1 - c->outer; j < c->outer; j++) {
        float *A = fr_row(s, p->plane, j);
        const int64_t first = j == 0, past = fr_band_past(c->side, c->outer, j);
        memset(A, 0, (size_t)c->width * 2 * sizeof *A);
        fr_section_row(c, c->pose + FR_POSE_FLOATS * at, j, first, past, A);
        for (int64_t i = first; i < past; i++) {
            const float f = fr_factor(c, ctf[fr_element(c->side, i, j)]);
            A[2 * i] *= f;
            A[2 * i + 1] *= f;
        }
    }
    fr_back(s, p->plane);
    fr_mask_rows(s, p->plane);
}

static int in_rows(const fr_space *s, int64_t y) { return llabs(y) < s->rows; } // other rows are 0

static float border_mean(const fr_space *s, float *plane) {
    const int64_t half = s->side / 2;
    double sum = 0;
    for (int64_t y = -half; y < half; y++) {
        const float *row = fr_row(s, plane, y);
        if (!in_rows(s, y)) continue;
        if (y == -half || y == half - 1)
            for (int64_t x = 0; x < s->side; x++) sum += row[x];
        else
            sum += row[half] + row[half - 1];
    }
    return (float)(sum / (double)(4 * s->side - 4));
}

// Transforms row y of the image minus the border's mean, zero-padded to four times its width; keeps the columns 0..reach.
static void wide_row(const plan *p, int64_t y, float mean, float *own) {
    const fr_space *s = &p->space;
    const int64_t half = s->side / 2;
    const float *row = fr_row(s, p->plane, y);
    memset(own, 0, (size_t)p->wide * sizeof *own);
    for (int64_t x = 0; x < half; x++) {
        own[x] = (in_rows(s, y) ? row[x] : 0) - mean;
        own[p->wide - half + x] = (in_rows(s, y) ? row[half + x] : 0) - mean;
    }
    fftwf_execute_dft_r2c(p->row, own, (fftwf_complex *)own);
    memcpy(p->half + 2 * (y < 0 ? y + s->side : y) * p->pitch, own, (size_t)(p->reach + 1) * 2 * sizeof *own);
    memset(p->half + 2 * ((y < 0 ? y + s->side : y) * p->pitch + p->reach + 1), 0,
        (size_t)(p->pitch - p->reach - 1) * 2 * sizeof *own);
}

// Transforms BATCH columns from kx on.
static void wide_columns(const plan *p, int64_t kx, float *own) {
    const int64_t side = p->space.side, half = side / 2;
    const size_t bytes = 2 * BATCH * sizeof *own;
    memset(own + 2 * BATCH * half, 0, (size_t)(p->wide - side) * bytes);
    for (int64_t y = 0; y < side; y++)
        memcpy(own + 2 * BATCH * (y < half ? y : p->wide - side + y), p->half + 2 * (y * p->pitch + kx), bytes);
    fftwf_execute_dft(p->column, (fftwf_complex *)own, (fftwf_complex *)own);
    for (int64_t ky = -p->reach; ky <= p->reach; ky++)
        memcpy(p->big + 2 * ((ky + p->reach) * p->pitch + kx), own + 2 * BATCH * (ky < 0 ? ky + p->wide : ky), bytes);
}

// Loads the particle's coefficients, real and imaginary parts apart; returns the sum of their squares.
static double load_particle(plan *p, const fr_call *c, int64_t particle) {
    const int64_t size = p->rows * p->columns;
    const float *X = c->X + 2 * particle * c->stored;
    double square = 0;
    memset(p->X, 0, (size_t)(4 * size) * sizeof *p->X);
    for (int64_t j = 1 - c->outer; j < c->outer; j++)
        for (int64_t i = j == 0, past = fr_band_past(c->side, c->outer, j); i < past; i++) {
            const float *x = X + 2 * fr_element(c->side, i, j);
            float *to = p->X + (j < 0 ? 2 * size : 0) + llabs(j) * p->columns + i;
            to[0] = x[0];
            to[size] = x[1];
            square += (double)x[0] * x[0] + (double)x[1] * x[1];
        }
    return square;
}

// ---- once per rotation ---------------------------------------------------------------------------------------------------

typedef struct pair {
    __m256 re, im;
} pair;

// P_u at eight points (a, b): the coefficient of the padded transform nearest to 4(c a - s b), 4(s a + c b).
FR_AVX2 FR_INLINE pair look_up(const plan *p, const float *turn, __m256 a, __m256 b) {
    const __m256 c = _mm256_set1_ps(turn[0]), s = _mm256_set1_ps(turn[1]), four = _mm256_set1_ps(FR_PAD_TURN);
    const __m256 ca = _mm256_mul_ps(c, a), sb = _mm256_mul_ps(s, b), sa = _mm256_mul_ps(s, a), cb = _mm256_mul_ps(c, b);
    const __m256i x = _mm256_cvtps_epi32(_mm256_mul_ps(four, _mm256_sub_ps(ca, sb)));
    const __m256i y = _mm256_cvtps_epi32(_mm256_mul_ps(four, _mm256_add_ps(sa, cb)));
    const __m256i mate = _mm256_srai_epi32(x, 31), up = _mm256_sub_epi32(_mm256_xor_si256(y, mate), mate);
    const __m256i row = _mm256_add_epi32(up, _mm256_set1_epi32((int)p->reach));
    const __m256i at = _mm256_add_epi32(_mm256_mullo_epi32(row, _mm256_set1_epi32((int)p->pitch)), _mm256_abs_epi32(x));
    const __m256 low = _mm256_castpd_ps(_mm256_i32gather_pd((const double *)p->big, _mm256_castsi256_si128(at), 8));
    const __m256 high = _mm256_castpd_ps(_mm256_i32gather_pd((const double *)p->big, _mm256_extracti128_si256(at, 1), 8));
    const __m256 first = _mm256_permute2f128_ps(low, high, 0x20), second = _mm256_permute2f128_ps(low, high, 0x31);
    const __m256 sign = _mm256_and_ps(_mm256_castsi256_ps(mate), _mm256_set1_ps(-0.0f));
    const pair P = {_mm256_shuffle_ps(first, second, 0x88), _mm256_xor_ps(_mm256_shuffle_ps(first, second, 0xDD), sign)};
    return P;
}

// P_v of the eight columns from i in row j, v = 0 or 1; 0 at the origin and from column `past` on.
FR_AVX2 FR_INLINE pair turned(const plan *p, const float *turn, int v, int64_t i, int64_t j, int64_t past) {
    const __m256 column = _mm256_add_ps(_mm256_set1_ps((float)i), _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7));
    const __m256 row = _mm256_set1_ps((float)j), down = _mm256_set1_ps((float)-j), zero = _mm256_setzero_ps();
    const __m256 before = _mm256_cmp_ps(column, _mm256_set1_ps((float)past), _CMP_LT_OQ);
    const __m256 inside = j == 0 ? _mm256_and_ps(before, _mm256_cmp_ps(column, zero, _CMP_GT_OQ)) : before;
    // Lanes beyond the band look up the row's first column instead, which exists.
    const __m256 kept = _mm256_and_ps(column, inside);
    const pair P = v == 0 ? look_up(p, turn, kept, row) : look_up(p, turn, down, kept);
    const pair cut = {_mm256_blendv_ps(zero, P.re, inside), _mm256_blendv_ps(zero, P.im, inside)};
    return cut;
}

FR_AVX2 FR_INLINE __m256 square_of(pair P) { return _mm256_fmadd_ps(P.re, P.re, _mm256_mul_ps(P.im, P.im)); }

// X conj P and X P.
FR_AVX2 FR_INLINE void products(const float *X, int64_t size, pair P, pair W[2]) {
    const __m256 re = _mm256_loadu_ps(X), im = _mm256_loadu_ps(X + size);
    const __m256 rr = _mm256_mul_ps(re, P.re), ii = _mm256_mul_ps(im, P.im);
    const __m256 ir = _mm256_mul_ps(im, P.re), ri = _mm256_mul_ps(re, P.im);
    W[0] = (pair){_mm256_add_ps(rr, ii), _mm256_sub_ps(ir, ri)};
    W[1] = (pair){_mm256_sub_ps(rr, ii), _mm256_add_ps(ir, ri)};
}

FR_AVX2 FR_INLINE void store_fold(float *to, pair one, pair mate) {
    _mm256_storeu_ps(to, _mm256_add_ps(one.re, mate.re));
    _mm256_storeu_ps(to + BLOCK, _mm256_add_ps(one.im, mate.im));
    _mm256_storeu_ps(to + 2 * BLOCK, _mm256_sub_ps(one.re, mate.re));
    _mm256_storeu_ps(to + 3 * BLOCK, _mm256_sub_ps(one.im, mate.im));
}

// Computes the folded products of the eight columns from i, for both half turns. Returns the sum of |P|^2.
FR_AVX2 static __m256 fold_columns(const plan *p, const float *turn, int v, int64_t i, int64_t rows, float *fold[2]) {
    const int64_t size = p->rows * p->columns;
    __m256 norm = _mm256_setzero_ps();
    for (int64_t j = 0; j < rows; j++) {
        const int64_t past = fr_row_past(p->rows, j);
        const pair none = {_mm256_setzero_ps(), _mm256_setzero_ps()};
        const pair P = turned(p, turn, v, i, j, past), Q = j == 0 ? none : turned(p, turn, v, i, -j, past);
        pair one[2], mate[2];
        products(p->X + j * p->columns + i, size, P, one);
        products(p->X + 2 * size + j * p->columns + i, size, Q, mate);
        norm = _mm256_add_ps(norm, _mm256_add_ps(square_of(P), square_of(Q)));
        for (int k = 0; k < 2; k++) store_fold(fold[k] + 4 * BLOCK * j + i % BLOCK, one[k], mate[k]);
    }
    return norm;
}

// Computes T(i, y) of a block of columns from the sums of its lags: T[y][i], real parts, then imaginary parts.
static void spread_lags(const plan *p, const lag_sums *l, int64_t i, float *T) {
    for (int y = 0; y <= FR_LAG; y++)
        for (int k = 0; k < BLOCK; k++) {
            const float cr = l->sum[0][y][k], ci = l->sum[1][y][k], sr = l->sum[2][y][k], si = l->sum[3][y][k];
            float *up = T + (FR_LAG + y) * p->columns + i + k, *down = T + (FR_LAG - y) * p->columns + i + k;
            up[0] = cr - si;
            up[FR_LAGS * p->columns] = ci + sr;
            down[0] = cr + si;
            down[FR_LAGS * p->columns] = ci - sr;
        }
}

FR_AVX2 FR_INLINE float dot(const float *a, const float *b, int64_t n) {
    __m256 sum = _mm256_setzero_ps();
    for (int64_t i = 0; i < n; i += 8) sum = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), sum);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

FR_AVX2 static void across(const plan *p, const float *T, float scale, float *cc) {
    for (int64_t y = -FR_LAG; y <= FR_LAG; y++)
        for (int64_t x = 0; x <= FR_LAG; x++) {
            const float *re = T + (y + FR_LAG) * p->columns, *im = re + FR_LAGS * p->columns;
            const float a = dot(re, p->across + x * p->columns, p->columns);
            const float b = dot(im, p->across + (FR_LAG + 1 + x) * p->columns, p->columns);
            cc[fr_lag(x, y)] = scale * (a - b);
            cc[fr_lag(-x, y)] = scale * (a + b);
        }
}

// Computes quarters v and v + 2 of rotation u.
FR_AVX2 static void rotation(const plan *p, const float *turn, int v, double square, float *own, float *cc, float *opposite) {
    float *fold[2] = {own, own + 4 * BLOCK * p->rows}, *T[2] = {fold[1] + 4 * BLOCK * p->rows, NULL};
    T[1] = T[0] + 2 * FR_LAGS * p->columns;
    double norm = 0;
    for (int64_t i = 0; i < p->columns; i += BLOCK) {
        const int64_t rows = i < p->rows ? fr_row_past(p->rows, i) : 0; // the band is symmetric about the diagonal
        lag_sums l;
        for (int half = 0; half < BLOCK; half += FR_EIGHT) {
            float lane[FR_EIGHT];
            _mm256_storeu_ps(lane, fold_columns(p, turn, v, i + half, rows, fold));
            for (int k = 0; k < FR_EIGHT; k++) norm += lane[k];
        }
        for (int k = 0; k < 2; k++) {
            p->lags(fold[k], rows, p->cosine, p->sine, p->columns, &l);
            spread_lags(p, &l, i, T[k]);
        }
    }
    const float scale = norm * square > 0 ? (float)(1 / sqrt(norm * square)) : 0;
    across(p, T[0], scale, cc);
    across(p, T[1], scale, opposite);
}

static int run(rg_call *call) {
    plan *p = call->state;
    const fr_call c = fr_call_of(call);
    const int64_t turns = call->shape->n[FR_TURNS], half = c.side / 2, lags = FR_LAGS * FR_LAGS;
    const float *turn = call->arg[FR_CCP_TURN];
    if (!p) return RG_E_STATE;
    fr_space_mask(&p->space, call->shape->n[FR_KIND] & FR_MASKED ? c.setting[0] : 4 * (float)c.side);
    for (int64_t at = 0; at < c.comparisons; at++) {
        float *cc = (float *)call->arg[FR_CCP_CC] + at * FR_QUARTERS * turns * lags;
        section_image(p, &c, at);
        const double square = load_particle(p, &c, at / c.trials);
        const float mean = border_mean(&p->space, p->plane);
#pragma omp parallel num_threads(p->threads)
        {
#ifdef _OPENMP
            float *own = p->own + (size_t)omp_get_thread_num() * p->own_floats;
#else
            float *own = p->own;
#endif
#pragma omp for schedule(static)
            for (int64_t y = -half; y < half; y++) wide_row(p, y, mean, own);
#pragma omp for schedule(static)
            for (int64_t kx = 0; kx < p->pitch; kx += BATCH) wide_columns(p, kx, own);
#pragma omp for schedule(dynamic)
            for (int64_t r = 0; r < 2 * turns; r++)
                rotation(p, turn + 2 * (r % turns), (int)(r / turns), square, own, cc + r * lags, cc + (r + 2 * turns) * lags);
        }
    }
    return RG_OK;
}

static const char *refuse(const rg_shape *s, const int64_t *param) {
    (void)s;
    return param[0] == 512 && !rg_cpu_has("avx512") ? "isa=512 needs avx512" : NULL;
}

// 15 multiply-adds for each coefficient and rotation in the folded sums, 12 for its lookup and product; the padded transform.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    const double side = (double)s->n[FR_SIDE], b = (double)s->n[FR_OUTER], band = 1.5708 * b * b;
    const double directions = (double)(s->n[FR_PARTICLES] * s->n[FR_TRIALS]), wide = 4 * side;
    c->amount[RG_F32_MAD] = directions * ((double)fr_turns(s) * band * 27 + (1.25 * side + 2.5 * 4 * b) * wide * fr_log(wide));
}

static const int64_t isa_values[] = {0, 2, 512};
static const rg_param params[] = {{"isa", isa_values, RG_COUNT(isa_values), 0, "0 best here, 2 AVX2, 512 AVX-512"}};

RG_VARIANT(ccp_simd) = {
    RG_VARIANT_OF("ccp", "simd", RG_SIMD, RG_HOST,
        "only the lags required, as products of thin matrices with rows folded; no transform a rotation"),
    .needs = "avx2",
    .flags = RG_THREADED,
    RG_PARAMS(params),
    .refuse = refuse,
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .finish = finish,
};
