// SPDX-License-Identifier: MIT
// pair.c: aligns an image to its neighbour, from coarse to fine.
//
// On the smallest level all rotations and magnifications of the range are tried in steps of 1.5 pixels: affine2d turns the
// image, and an FFT gives its correlation with the neighbour at all shifts. align2d judges the best shifts again, by Pearson's
// correlation over the overlap. The best of those are refined from level to level, fewer on each, and the optimiser refines the
// last on the images themselves.
#include "align.h"

#include <fftw3.h>

enum { PEAKS = 3, JUDGED = 96, CLIMBING = 8, CHUNK = 64, BATCH = 32 };
static const double STEP = 1.5, RADIAN = M_PI / 180;

// ---- parameters ----------------------------------------------------------------------------------------------------------

// One level: u = (turn r, x, y, ln magnification r, and for the affine model two stretches r); r is the root mean square
// distance of a pixel from the centre.
typedef struct level {
    double r;
    rg_affine stretch; // known in advance, applied before the transform
} level;

static level level_of(const aj_pair *pair, const int64_t side[3]) {
    return (level){sqrt((double)(side[0] * side[0] + side[1] * side[1]) / 12), pair->stretch};
}

// scale Rot(turn) times the known stretch times exp [[g, h], [h, -g]], which is symmetric and of determinant 1: g stretches
// along x (and shrinks along y), h along the diagonal. Every A with det A > 0 is such a product.
static rg_affine transform_of(const level *l, const double *u) {
    const double g = u[4] / l->r, h = u[5] / l->r, s = hypot(g, h), even = cosh(s), odd = s > 0 ? sinh(s) / s : 1;
    const rg_affine deform = {{even + odd * g, odd * h, odd * h, even - odd * g}, {0, 0}};
    const rg_affine move = rg_affine_of(&(rg_similarity){u[0] / l->r / RADIAN, u[1], u[2], exp(u[3] / l->r)});
    const rg_affine stretched = rg_affine_then(&deform, &l->stretch);
    return rg_affine_then(&stretched, &move);
}

void aj_matrix(const rg_affine *t, float m[6]) {
    const rg_affine back = rg_affine_inverse(t);
    for (int row = 0; row < 2; row++) {
        m[3 * row] = (float)back.a[2 * row];
        m[3 * row + 1] = (float)back.a[2 * row + 1];
        m[3 * row + 2] = (float)back.shift_px[row];
    }
}

static void matrix_of(const void *data, int64_t base, const double *u, float *matrix) {
    const rg_affine t = transform_of(data, u);
    (void)base;
    aj_matrix(&t, matrix);
}

static aj_space space_of(const aj_pair *pair, const level *l, int number) {
    const aj_ranges *range = &pair->range;
    const double shift = ldexp(range->shift_px, -number), stretch = log(range->stretch) * l->r;
    return (aj_space){.dims = pair->affine ? 6 : 4,
        .low = {range->rotation_deg[0] * RADIAN * l->r, -shift, -shift, log(range->scale[0]) * l->r, -stretch, -stretch},
        .high = {range->rotation_deg[1] * RADIAN * l->r, shift, shift, log(range->scale[1]) * l->r, stretch, stretch},
        .matrix = matrix_of,
        .data = l};
}

static double apart(const void *data, const aj_candidate *a, const aj_candidate *b) {
    double sum = 0;
    (void)data;
    for (int k = 0; k < 6; k++) // the last two of a similarity are 0
        sum += (a->u[k] - b->u[k]) * (a->u[k] - b->u[k]);
    return sqrt(sum);
}

// ---- all shifts at once --------------------------------------------------------------------------------------------------

// Correlations by FFT, padded so that shifts in the range do not wrap around.
typedef struct shifts {
    int64_t width, height, most_x, most_y; // of the images; the largest shift
    int64_t nx, ny, pitch;                 // of the padded plane
    fftwf_plan there, back;
    float *plane;
    fftwf_complex *reference;
} shifts;

// The next number without a prime factor above 7.
static int64_t smooth_number(int64_t n) {
    for (;; n++) {
        int64_t rest = n;
        for (int64_t p = 2; p <= 7; p++)
            while (rest % p == 0) rest /= p;
        if (rest == 1) return n;
    }
}

static void transform(const shifts *s, const float *image, float *plane) {
    memset(plane, 0, (size_t)(s->ny * 2 * s->pitch) * sizeof *plane);
    for (int64_t y = 0; y < s->height; y++)
        memcpy(plane + y * 2 * s->pitch, image + y * s->width, (size_t)s->width * sizeof *plane);
    fftwf_execute_dft_r2c(s->there, plane, (fftwf_complex *)plane);
}

static void shifts_make(shifts *s, const int64_t side[3], double shift_px, const float *reference) {
    *s = (shifts){.width = side[0], .height = side[1]};
    s->most_x = (int64_t)fmin(floor(shift_px), (double)side[0] - 1);
    s->most_y = (int64_t)fmin(floor(shift_px), (double)side[1] - 1);
    s->nx = smooth_number(side[0] + s->most_x);
    s->ny = smooth_number(side[1] + s->most_y);
    s->pitch = s->nx / 2 + 1;
    s->plane = fftwf_alloc_real((size_t)(s->ny * 2 * s->pitch));
    fftwf_complex *f = (fftwf_complex *)s->plane;
    s->there = fftwf_plan_dft_r2c_2d((int)s->ny, (int)s->nx, s->plane, f, FFTW_ESTIMATE);
    s->back = fftwf_plan_dft_c2r_2d((int)s->ny, (int)s->nx, f, s->plane, FFTW_ESTIMATE);
    transform(s, reference, s->plane);
    s->reference = f;
}

static void shifts_free(shifts *s) {
    fftwf_destroy_plan(s->there);
    fftwf_destroy_plan(s->back);
    fftwf_free(s->plane);
}

// Sum over q of reference(q) image(q - t), over the root of the overlapping pixels: noise has the same level everywhere.
static double value_at(const shifts *s, const float *plane, int64_t x, int64_t y) {
    double overlap = (double)((s->width - llabs(x)) * (s->height - llabs(y)));
    int64_t column = x < 0 ? x + s->nx : x, row = y < 0 ? y + s->ny : y;
    return plane[row * 2 * s->pitch + column] / sqrt(overlap);
}

static bool is_peak(const shifts *s, const float *plane, int64_t x, int64_t y, double value) {
    for (int64_t v = y - 1; v <= y + 1; v++)
        for (int64_t u = x - 1; u <= x + 1; u++)
            if (llabs(u) <= s->most_x && llabs(v) <= s->most_y && value_at(s, plane, u, v) > value) return false;
    return true;
}

// Writes the best PEAKS shifts of one turned image to c, which already holds its turn and magnification. Scores the rest -1.
static void find_peaks(const shifts *s, const float *image, float *plane, aj_candidate c[PEAKS]) {
    fftwf_complex *f = (fftwf_complex *)plane;
    transform(s, image, plane);
    for (int64_t i = 0; i < s->ny * s->pitch; i++) {
        float re = f[i][0], im = f[i][1];
        f[i][0] = s->reference[i][0] * re + s->reference[i][1] * im;
        f[i][1] = s->reference[i][1] * re - s->reference[i][0] * im;
    }
    fftwf_execute_dft_c2r(s->back, f, plane);
    for (int k = 0; k < PEAKS; k++) c[k].score = -INFINITY;
    for (int64_t y = -s->most_y; y <= s->most_y; y++)
        for (int64_t x = -s->most_x; x <= s->most_x; x++) {
            double value = value_at(s, plane, x, y);
            if (value <= c[PEAKS - 1].score || !is_peak(s, plane, x, y, value)) continue;
            int k = PEAKS - 1;
            for (; k > 0 && c[k - 1].score < value; k--) {
                c[k].score = c[k - 1].score;
                c[k].u[1] = c[k - 1].u[1];
                c[k].u[2] = c[k - 1].u[2];
            }
            c[k].score = value;
            c[k].u[1] = (double)x;
            c[k].u[2] = (double)y;
        }
}

// ---- the smallest level --------------------------------------------------------------------------------------------------

// Sampled: turn, magnification and the two stretches, the last in steps twice as long; the climb covers values in between.
enum { TRIED = 4 };
static const int tried[TRIED] = {0, 3, 4, 5};
static const double step_of[TRIED] = {1, 1, 2, 2}; // times STEP

static int64_t steps_of(const aj_space *space, int i) {
    const int k = tried[i];
    return k < space->dims ? 1 + (int64_t)ceil((space->high[k] - space->low[k]) / (STEP * step_of[i])) : 1;
}

static double step_at(double low, double high, int64_t i, int64_t n) {
    return n == 1 ? (low + high) / 2 : low + (high - low) * (double)i / (double)(n - 1);
}

// Tries every turn, magnification and stretch, each with its best shifts; *n candidates, malloc'ed.
static int try_all(aj_pair *pair, const aj_space *space, const int64_t side[3], const float *reference, const float *image,
    int64_t *n, aj_candidate **list) {
    int64_t steps[TRIED], combinations = 1, pixels = side[0] * side[1];
    for (int i = 0; i < TRIED; i++) combinations *= steps[i] = steps_of(space, i);
    aj_candidate *c = rg_alloc((size_t)(combinations * PEAKS) * sizeof *c);
    float *turned = rg_alloc((size_t)(CHUNK * pixels) * sizeof *turned), matrix[CHUNK * 6];
    shifts s;
    int code = RG_GOOD;
    shifts_make(&s, side, space->high[1], reference);
    for (int64_t first = 0; first < combinations && code == RG_GOOD; first += CHUNK) {
        int64_t count = combinations - first < CHUNK ? combinations - first : CHUNK;
        for (int64_t i = 0; i < count; i++) {
            aj_candidate *here = &c[(first + i) * PEAKS];
            int64_t rest = first + i;
            for (int t = 0; t < TRIED; rest /= steps[t++])
                here->u[tried[t]] = step_at(space->low[tried[t]], space->high[tried[t]], rest % steps[t], steps[t]);
            for (int k = 1; k < PEAKS; k++) here[k] = here[0];
            space->matrix(space->data, 0, here->u, matrix + 6 * i);
        }
        code = aj_warp(&pair->warp, side, AF_ZERO, pair->threads, image, count, matrix, turned);
#pragma omp parallel num_threads(pair->threads)
        {
            float *plane = fftwf_alloc_real((size_t)(s.ny * 2 * s.pitch));
#pragma omp for schedule(dynamic)
            for (int64_t i = 0; i < count; i++) find_peaks(&s, turned + i * pixels, plane, c + (first + i) * PEAKS);
            fftwf_free(plane);
        }
    }
    shifts_free(&s);
    free(turned);
    *n = combinations * PEAKS;
    *list = c;
    return code;
}

// ---- from level to level -------------------------------------------------------------------------------------------------

// How to make the scorers. Images are also turned beside them: on the smallest level, and if `whole` at full size.
static int levels_of(aj_pair *pair, const aj_pyramid *p, const char *device, const char *asked, bool whole, aj_levels *how) {
    const int last = p->levels - 1;
    const level coarse = level_of(pair, p->side[last]);
    const aj_space space = space_of(pair, &coarse, last);
    int64_t combinations = 1;
    rg_needs at_once = {0};
    rg_shape shape = aj_shape(2, p->side[0], 1, AF_ZERO);
    for (int i = 0; i < TRIED; i++) combinations *= steps_of(&space, i);
    *how = (aj_levels){.dims = 2,
        .outside = pair->outside,
        .threads = pair->threads,
        .batch = BATCH,
        .fine = pair->fine,
        .device = device,
        .asked = asked};
    int code = rg_choose(rg_algo_find("affine2d"), device, NULL, &shape, 1, NULL, &pair->warp);
    if (code == RG_GOOD) code = rg_entry_device(pair->warp.entry, device, &pair->warp.device);
    if (code != RG_GOOD) return code;
    aj_warp_needs(&pair->warp, p->side[last], AF_ZERO, combinations < CHUNK ? combinations : CHUNK, &how->stage);
    if (whole) aj_warp_needs(&pair->warp, p->side[0], AF_ZERO, 1, &at_once);
    if (at_once.bytes > how->stage.bytes) how->stage = at_once;
    return code;
}

int aj_pair_make(aj_pair *pair, const aj_pyramid *p, const char *device, const char *asked, bool whole) {
    aj_levels how;
    pair->levels = p->levels;
    int code = levels_of(pair, p, device, asked, whole, &how);
    return code == RG_GOOD ? aj_scorers_make(pair->scorer, &how, p) : code;
}

int aj_pair_plan(aj_pair *pair, const aj_pyramid *p, const char *device, const char *asked, bool whole) {
    aj_levels how;
    int code = levels_of(pair, p, device, asked, whole, &how);
    return code == RG_GOOD ? aj_scorers_plan(&how, p) : code;
}

void aj_pair_free(aj_pair *pair) {
    for (int l = 0; l < pair->levels; l++) aj_scorer_free(&pair->scorer[l]);
}

// Converts transforms to the parameters of the next level, which has twice the pixels.
static void descend(int64_t n, aj_candidate *c, const level *from, const level *to) {
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 6; k++) c[i].u[k] *= k == 1 || k == 2 ? 2 : to->r / from->r;
}

// Interpolation ripples the score with a period of a pixel, and an optimiser stops there. So it restarts from its answer with
// longer steps, and the result is compared with steps along each parameter.
static int polish(aj_scorer *s, const aj_space *space, aj_candidate *c) {
    enum { ROUNDS = 4 };
    static const double STEPS_PX[ROUNDS] = {0.5, 1, 0.25, 1}, GAIN = 1e-6;
    int code = RG_GOOD;
    for (int round = 0; round < ROUNDS && code == RG_GOOD; round++) {
        const double before = c->score;
        code = aj_polish(s, space, c, STEPS_PX[round], 0.002);
        if (code == RG_GOOD && round % 2) code = aj_climb(s, space, 1, c, 0.25, 0.02);
        if (round && c->score - before < GAIN) break;
    }
    return code;
}

const char *aj_edge_name(int edge) {
    static const char *const name[16] = {"-", "rotation", "shift", "rotation,shift", "scale", "rotation,scale", "shift,scale",
        "rotation,shift,scale", "stretch", "rotation,stretch", "shift,stretch", "rotation,shift,stretch", "scale,stretch",
        "rotation,scale,stretch", "shift,scale,stretch", "rotation,shift,scale,stretch"};
    return name[edge];
}

// Returns the ends of ranges that a transform has reached, within the optimiser's last step; a range of one value has none.
static int edge_of(const aj_space *space, const aj_candidate *c) {
    static const int bit[6] = {1, 2, 2, 4, 8, 8};
    int at = 0;
    for (int k = 0; k < space->dims; k++)
        if (space->high[k] - space->low[k] > 0.004 && (c->u[k] < space->low[k] + 0.002 || c->u[k] > space->high[k] - 0.002))
            at |= bit[k];
    return at;
}

int aj_pair_align(aj_pair *pair, const aj_pyramid *reference, const aj_pyramid *image, int finest, aj_found *found) {
    int last = pair->levels - 1;
    level here = level_of(pair, image->side[last]);
    const bool fine = pair->fine && finest == 0;
    aj_space space = space_of(pair, &here, last);
    RG_FREED aj_candidate *c;
    int64_t n;
    int code = try_all(pair, &space, image->side[last], reference->v[last], image->v[last], &n, &c);
    aj_sort(n, c);
    n = n < JUDGED ? n : JUDGED;
    for (int l = last, most = CLIMBING; l >= finest && code == RG_GOOD; l--, most = most > 1 ? most / 2 : 1) {
        aj_scorer *s = &pair->scorer[l];
        level before = here;
        here = level_of(pair, image->side[l]);
        space = space_of(pair, &here, l);
        if (l < last) descend(n, c, &before, &here);
        code = aj_scorer_put(s, image->v[l], reference->v[l]);
        if (l == last && code == RG_GOOD) {
            code = aj_score(s, &space, n, c);
            aj_sort(n, c);
        }
        n = aj_distinct(&space, n, c, most, apart, 1);
        if (code == RG_GOOD && (l > 0 || last == 0 || !fine))
            code = aj_climb(s, &space, n, c, 1, l > finest || fine ? 0.25 : 0.02);
        if (code == RG_GOOD && l == 0 && fine && last > 0) code = aj_score(s, &space, n, c); // in the order of the level above
        if (l == 0 && fine) aj_sort(n, c);
        if (code == RG_GOOD && l == 0 && fine) code = polish(s, &space, c);
    }
    *found = (aj_found){transform_of(&here, c->u), c->score, edge_of(&space, c)};
    return code;
}
