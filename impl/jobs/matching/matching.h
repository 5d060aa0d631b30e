// SPDX-License-Identifier: MIT
// matching.h: shared by `regather align` and `regather average`, on top of the function table: matches images or volumes with a
// reference by correlation.
//
//    score.c    correlations of many transforms of an image with a reference, by the chosen variant
//    filter.c   Gaussian filters, masks, pyramids
//    search.c   refines candidates in lock step, a batch per step; then the optimiser
//    errors.c   the errors against a known truth
//
// Images are volumes of depth 1. Parameters of a transform are in pixels: a turn by a and a magnification by s count as a and
// ln s times the typical distance of a pixel from the centre, so that one step size suits all of them.
#pragma once

#include "../../affine/index.h"
#include "../../base/memory.h"
#include "../../base/options.h"
#include "../../runtime/call.h"
#include "../../runtime/choice.h"

enum { AJ_DIMS = 6 }; // parameters: turn, x, y, magnification; or a rotation vector and x, y, z

enum { AJ_LEVELS = 12 };
typedef struct aj_pyramid {
    int levels;
    int64_t side[AJ_LEVELS][3];
    float *v[AJ_LEVELS]; // level 0 has the full size
} aj_pyramid;

// ---- score.c ---------------------------------------------------------------------------------------------------------

// A variant with buffers for one size and batch, kept from image to image. The frame keeps the inputs until they are replaced.
typedef struct aj_scorer {
    rg_frame frame;
    int dims, threads;
    int64_t pixels, batch;
    float *matrix;
    double *rho;
    int32_t *part;
} aj_scorer;

// The shape of align2d (depth 1) or align3d.
rg_shape aj_shape(int dims, const int64_t side[3], int64_t transforms, int outside);
// Picks the variant and makes the buffers. RG_GOOD, or one line and a code.
int aj_scorer_make(aj_scorer *, int dims, const int64_t side[3], int64_t batch, int outside, const char *device,
    const char *asked, int threads);
void aj_scorer_free(aj_scorer *);

// Scorers for every level of a pyramid. On a GPU, where many transforms per call cost little more than one, they take `batch`
// of them, or as many fewer as memory holds. Only the full size, with `fine`, takes one, because the optimiser asks for one at
// a time. stage: the most that the job takes of the device beside them.
typedef struct aj_levels {
    int dims, outside, threads;
    int64_t batch;
    bool fine;
    const char *device, *asked;
    rg_needs stage;
} aj_levels;
// Finds the batch that fits in the device's free memory now, and its needs. RG_GOOD, or one line and a code.
int aj_scorers_fit(const aj_levels *, const aj_pyramid *, int64_t *batch, rg_needs *, const rg_device **);
// RG_GOOD, or one line and a code.
int aj_scorers_make(aj_scorer *, const aj_levels *, const aj_pyramid *);
// Rows of --dry-run.
int aj_scorers_plan(const aj_levels *, const aj_pyramid *);
// Replaces the image and, unless NULL, the reference.
int aj_scorer_put(aj_scorer *, const float *image, const float *reference);
// Computes rho for n matrices; -1: fewer than AJ_LEAST_PART of the pixels took part.
int aj_scorer_run(aj_scorer *, int64_t n, const float *matrix, double *rho);
#define AJ_LEAST_PART 0.25

// The memory that aj_warp takes on its device.
void aj_warp_needs(const rg_choice *, const int64_t side[3], int outside, int64_t n, rg_needs *);
// Transforms one image by n matrices with affine2d; `to` holds n images of the size.
int aj_warp(const rg_choice *, const int64_t side[3], int outside, int threads, const float *image, int64_t n,
    const float *matrix, float *to);

// ---- filter.c --------------------------------------------------------------------------------------------------------

// Replaces v by its Gaussian of standard deviation `low` minus that of `high`, in pixels; 0 omits either. Edges are reflected.
void aj_band_pass(const int64_t side[3], double low, double high, float *v, int threads);
// Checks --band-pass LOW,HIGH; both numbers are at most `most`. RG_GOOD, or one line and RG_USAGE.
int aj_band_pass_check(double band_px[2], double most);
// Halves the sides by the binomial filter 1 4 6 4 1 along every axis. Pixel X is at c + 2 (X - C), with c, C the centres, so
// that transforms about the centre keep their rotation and scale, and their shift halves exactly.
void aj_half(const int64_t side[3], const float *v, int64_t half[3], float *out, int threads);
// Subtracts the mean and divides by the standard deviation; false: it is 0.
bool aj_normalise(int64_t n, float *v, int threads);
double aj_mean(int64_t n, const float *v, int threads);

// Enough levels for the longest side to be at most `coarsest`. size: sets the sides only; make: also allocates the values.
void aj_pyramid_size(aj_pyramid *, const int64_t side[3], int64_t coarsest);
void aj_pyramid_make(aj_pyramid *, const int64_t side[3], int64_t coarsest);
void aj_pyramid_fill(aj_pyramid *, int threads); // computes all levels from level 0
void aj_pyramid_free(aj_pyramid *);

// ---- search.c --------------------------------------------------------------------------------------------------------

// The search space: the matrix of parameters u about base b, and the score of a candidate with correlation rho.
typedef struct aj_space {
    int dims;
    double low[AJ_DIMS], high[AJ_DIMS]; // bounds of u
    void (*matrix)(const void *data, int64_t base, const double *u, float *matrix);
    double (*score)(const void *data, int64_t base, const double *u, double rho); // NULL: rho
    const void *data;
} aj_space;

typedef struct aj_candidate {
    int64_t base;
    double u[AJ_DIMS], score;
} aj_candidate;

int aj_score(aj_scorer *, const aj_space *, int64_t n, aj_candidate *);
// Refines every candidate: with steps of `step` pixels, halved until below `least`, along each parameter both ways and to the
// top of the parabola through these. Then sorts them, best first.
int aj_climb(aj_scorer *, const aj_space *, int64_t n, aj_candidate *, double step, double least);
// Keeps, of candidates sorted best first, at most `most` that are at least `apart` from every better one; returns their number.
int64_t aj_distinct(const aj_space *, int64_t n, aj_candidate *, int64_t most,
    double (*distance)(const void *data, const aj_candidate *, const aj_candidate *), double apart);
void aj_sort(int64_t n, aj_candidate *);
// Refines the candidate by NLopt's BOBYQA (Powell 2009), until parameters change by less than `least` pixels. RG_LACKS without
// NLopt.
int aj_polish(aj_scorer *, const aj_space *, aj_candidate *, double step, double least);

// ---- errors.c ----------------------------------------------------------------------------------------------------------

// Writes columns quantity median largest; v holds n absolute errors for each quantity and is sorted.
int aj_write_errors(const char *path, const char *command, int quantities, const char *const *quantity, int64_t n, double **v);
double aj_median(int64_t n, double *v); // sorts v
void aj_print_stages(int n, const char *const *stage, const double *seconds);
