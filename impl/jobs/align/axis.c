// SPDX-License-Identifier: MIT
// axis.c: finds the tilt axis. A flat specimen shrinks across the axis by the cosine of its tilt, so two neighbours agree best
// if one is stretched along the right direction. The correlation is smooth in the axis: a turn by d moves a pixel at distance r
// by no more than r d ln(cosine ratio), some pixels for 15 degrees. The search therefore tries every 15 degrees on the smallest
// images of three pairs, and ends with the tops of parabolas through three angles on larger images of up to eight.
#include "align.h"

enum { PAIRS = 8, FIRST_PAIRS = 3, TURNS = 12, LARGE = 1024 };
static const double RADIAN = M_PI / 180;
static const double LEAST_STRETCH = 0.005; // a fifth of a pixel at the corners of the smallest images

typedef struct stretched {
    int64_t image; // of the pair of this image and the one before
    double by;     // |ln| of the ratio of their cosines
} stretched;

static int by_stretch(const void *a, const void *b) {
    const stretched *x = a, *y = b;
    return (x->by < y->by) - (x->by > y->by);
}

// Chooses the pairs of the largest stretch; returns how many are informative.
static int choose(const aj_align *job, stretched pair[PAIRS]) {
    int n = 0;
    RG_FREED stretched *all = rg_alloc((size_t)job->series.n * sizeof *all);
    for (int64_t i = 1; i < job->series.n; i++)
        all[i - 1] = (stretched){i, fabs(log(cos(job->tilt_deg[i] * RADIAN) / cos(job->tilt_deg[i - 1] * RADIAN)))};
    qsort(all, (size_t)job->series.n - 1, sizeof *all, by_stretch);
    while (n < PAIRS && n < job->series.n - 1 && all[n].by > LEAST_STRETCH) {
        pair[n] = all[n];
        n++;
    }
    return n;
}

// Finds the best correlation of each pair for each axis, on the pyramids' level.
static int try_axes(aj_align *job, aj_pyramid p[2], int n, const stretched *pair, int axes, const double *axis_deg, int level,
    double (*score)[TURNS]) {
    int code = RG_GOOD;
    for (int k = 0; k < n && code == RG_GOOD; k++) {
        const int64_t i = pair[k].image;
        code = aj_load(job, i - 1, &p[0]);
        if (code == RG_GOOD) code = aj_load(job, i, &p[1]);
        for (int a = 0; a < axes && code == RG_GOOD; a++) {
            aj_found found;
            job->pair.stretch = rg_tilt_stretch(axis_deg[a], job->tilt_deg[i], job->tilt_deg[i - 1]);
            code = aj_pair_align(&job->pair, &p[0], &p[1], level, &found);
            score[k][a] = found.correlation;
        }
    }
    return code;
}

// Fits one parabola through all pairs' sums at axis - step, axis, axis + step: its top, at most a step away, and the standard
// error from leaving out each pair in turn (the jackknife; the top moves by slope over bend). False: no top.
static bool top_of(int n, double (*score)[TURNS], double step, double *axis_deg, double *error_deg) {
    double slope[PAIRS], bend[PAIRS], slopes = 0, bends = 0, mean = 0, square = 0;
    for (int k = 0; k < n; k++) {
        slopes += slope[k] = (score[k][2] - score[k][0]) / (2 * step);
        bends += bend[k] = (score[k][0] - 2 * score[k][1] + score[k][2]) / (step * step);
    }
    if (!(bends < 0)) return false;
    *axis_deg += fmax(-step, fmin(step, -slopes / bends));
    for (int k = 0; k < n; k++) {
        const double without = -(slopes - slope[k]) / (bends - bend[k]);
        mean += without / n;
        square += without * without / n;
    }
    *error_deg = n > 1 ? sqrt((n - 1) * fmax(0, square - mean * mean)) : NAN;
    return true;
}

int aj_axis_search(aj_align *job, aj_pyramid p[2]) {
    stretched pair[PAIRS];
    double score[PAIRS][TURNS], axis_deg[TURNS], best = -INFINITY;
    static const double STEP[] = {7.5, 3};
    const bool affine = job->pair.affine;
    const int n = choose(job, pair), few = n < FIRST_PAIRS ? n : FIRST_PAIRS, coarsest = p[0].levels - 1;
    int level = 0;
    if (n == 0)
        return rg_fail(RG_USAGE,
            "%s: --tilt-axis search: no two neighbours whose cosines differ by %g %%: expected a tilt series, or "
            "the axis' angle",
            job->tilts, 100 * LEAST_STRETCH);
    while (level < coarsest && p[0].side[level][0] > LARGE && p[0].side[level][1] > LARGE) level++;
    job->pair.affine = false; // a free stretch would replace the one that is searched for
    for (int a = 0; a < TURNS; a++) axis_deg[a] = 180.0 * a / TURNS - 90;
    int code = try_axes(job, p, few, pair, TURNS, axis_deg, coarsest, score);
    for (int a = 0; a < TURNS && code == RG_GOOD; a++) {
        double sum = 0;
        for (int k = 0; k < few; k++) sum += score[k][a];
        if (sum > best) {
            best = sum;
            job->axis_deg = axis_deg[a];
        }
    }
    for (int round = 0; round < RG_COUNT(STEP) && code == RG_GOOD; round++) {
        for (int a = 0; a < 3; a++) axis_deg[a] = job->axis_deg + (a - 1) * STEP[round];
        code = try_axes(job, p, n, pair, 3, axis_deg, level, score);
        if (code == RG_GOOD && !top_of(n, score, STEP[round], &job->axis_deg, &job->axis_error_deg))
            code = rg_fail(RG_USAGE,
                "--tilt-axis search: the correlation has no top near %.1f degrees: the images do not shrink across "
                "an axis as %s says; expected the axis' angle",
                aj_axis_up_deg(job, job->axis_deg), job->tilts);
    }
    job->axis_deg -= 180 * floor((job->axis_deg + 90) / 180);
    job->axis_pairs = n;
    job->pair.affine = affine;
    return code;
}
