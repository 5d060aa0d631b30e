// SPDX-License-Identifier: MIT
// align.h: the commands `regather align` and `regather average` on top of the function table. Private to impl/jobs/align,
// impl/jobs/average and their tests.
//
//     score.c    correlations of many transforms of one image with a reference, through the variant that does the work
//     filter.c   Gaussian filters, masks, pyramids
//     search.c   candidates refined in lock step, a batch a step; the optimiser at the end
//     align.c    the command align;     pair.c one image against its neighbour;   axis.c   where the tilt axis lies
//     write.c    its files;              tomogram.c   one of RELION
//     average.c  the command average, of whose files average.h has the rest
//
// Images are volumes of depth 1. Parameters of a transform are counted in pixels: a turn by a and a magnification by s count as
// a and ln s times the typical distance of a pixel from the centre, so that one step size serves all of them.
#ifndef RG_AFFINE_JOB_H
#define RG_AFFINE_JOB_H

#include "../../../data/formats/series.h"
#include "../../../data/formats/transforms.h"
#include "../../runtime/call.h"
#include "../../base/options.h"
#include "../../runtime/choice.h"
#include "../../affine/index.h"

enum { AJ_DIMS = 6 }; // parameters: turn, x, y, magnification; or a rotation vector and x, y, z

// ---- score.c ---------------------------------------------------------------------------------------------------------

// The variant with buffers of one size and batch, kept from image to image. The job's inputs stand in the frame until replaced.
typedef struct aj_scorer {
    rg_frame frame;
    int dims, threads;
    int64_t pixels, batch;
    float *matrix;
    double *rho;
    int32_t *part;
} aj_scorer;

// Shape of align2d (depth 1) or align3d.
rg_shape aj_shape(int dims, const int64_t side[3], int64_t transforms, int outside);
// Picks the variant and makes the buffers. RG_GOOD, or one line and a code.
int aj_scorer_make(aj_scorer *, int dims, const int64_t side[3], int64_t batch, int outside, const char *device,
                   const char *asked, int threads);
void aj_scorer_free(aj_scorer *);
bool aj_scorer_batches(const aj_scorer *); // on a GPU many transforms a call cost little more than one
// Replaces the image and, unless NULL, the reference.
int aj_scorer_put(aj_scorer *, const float *image, const float *reference);
// rho of n matrices; -1 where fewer than AJ_LEAST_PART of the pixels took part.
int aj_scorer_run(aj_scorer *, int64_t n, const float *matrix, double *rho);
#define AJ_LEAST_PART 0.25

// ---- filter.c --------------------------------------------------------------------------------------------------------

// Replaces v by its Gaussian of standard deviation `low` minus that of `high`, in pixels; 0 leaves either out. Edges are
// reflected.
void aj_band_pass(const int64_t side[3], double low, double high, float *v, int threads);
// Half the side, binomial 1 4 6 4 1 along every axis, pixel X at c + 2 (X - C) with c, C the centres, so that transforms about
// the centre keep their rotation and scale and their shift halves exactly.
void aj_half(const int64_t side[3], const float *v, int64_t half[3], float *out, int threads);
// Subtracts the mean of, and divides by, the standard deviation; false when there is none.
bool aj_normalise(int64_t n, float *v, int threads);
double aj_mean(int64_t n, const float *v, int threads);

enum { AJ_LEVELS = 12 };
typedef struct aj_pyramid {
    int levels;
    int64_t side[AJ_LEVELS][3];
    float *v[AJ_LEVELS]; // level 0 is the whole size
} aj_pyramid;
// As many levels as it takes for the longest side to be at most `coarsest`: their sides alone, and with room for their values.
void aj_pyramid_size(aj_pyramid *, const int64_t side[3], int64_t coarsest);
void aj_pyramid_make(aj_pyramid *, const int64_t side[3], int64_t coarsest);
void aj_pyramid_fill(aj_pyramid *, int threads); // from level 0
void aj_pyramid_free(aj_pyramid *);

// ---- search.c --------------------------------------------------------------------------------------------------------

// What is searched: the matrix of parameters u about base b, and the score of one that has correlation rho.
typedef struct aj_space {
    int dims;
    double low[AJ_DIMS], high[AJ_DIMS]; // of u
    void (*matrix)(const void *data, int64_t base, const double *u, float *matrix);
    double (*score)(const void *data, int64_t base, const double *u, double rho); // NULL: rho
    const void *data;
} aj_space;

typedef struct aj_candidate {
    int64_t base;
    double u[AJ_DIMS], score;
} aj_candidate;

int aj_score(aj_scorer *, const aj_space *, int64_t n, aj_candidate *);
// Every candidate climbs: from steps of `step` pixels, halved until below `least`, along each parameter both ways and to the
// top of the parabolas through these. Then sorted, best first.
int aj_climb(aj_scorer *, const aj_space *, int64_t n, aj_candidate *, double step, double least);
// Of candidates sorted best first, those at least `apart` from every better one, at most `most`; returns how many.
int64_t aj_distinct(const aj_space *, int64_t n, aj_candidate *, int64_t most,
                    double (*distance)(const void *data, const aj_candidate *, const aj_candidate *), double apart);
void aj_sort(int64_t n, aj_candidate *);
// NLopt's BOBYQA (Powell 2009) from the candidate on, until parameters change by less than `least` pixels. RG_LACKS without it.
int aj_polish(aj_scorer *, const aj_space *, aj_candidate *, double step, double least);

// ---- pair.c ----------------------------------------------------------------------------------------------------------

typedef struct aj_ranges {
    double rotation_deg[2], shift_px, scale[2], stretch; // stretch: of the affine model, from 1 / stretch to it along any direction
} aj_ranges;

typedef struct aj_pair {
    int levels, threads;
    bool fine, affine;
    aj_ranges range;
    rg_affine stretch; // known, of the image, before the transform that is searched
    int outside;
    aj_scorer scorer[AJ_LEVELS];
    rg_choice warp; // the variant of affine2d that turns the coarse image
} aj_pair;

int aj_pair_make(aj_pair *, const aj_pyramid *, const char *device, const char *asked);
void aj_pair_free(aj_pair *);
typedef struct aj_found {
    rg_affine step;
    double correlation;
    int edge; // which of "rotation", "shift", "scale", "stretch" stand at an end of their ranges: aj_edge_name, "-" for none
} aj_found;
// The transform that brings image onto reference, pair->stretch and what is searched together, on the pyramids' level `finest`,
// in whose pixels its shift is.
int aj_pair_align(aj_pair *, const aj_pyramid *reference, const aj_pyramid *image, int finest, aj_found *);
// [M | t] of affine2d and align2d, which leads from the result into the image.
void aj_matrix(const rg_affine *, float m[6]);
const char *aj_edge_name(int edge);

// One image through affine2d; `to` holds n images of the size.
int aj_warp(const rg_choice *, const int64_t side[3], int outside, int threads, const float *image, int64_t n,
            const float *matrix, float *to);

// ---- tomogram.c -------------------------------------------------------------------------------------------------------

struct aj_align;
typedef struct aj_tomogram {
    const char *path, *mdoc; // NULL: none is written
    double thickness_px, pixel_A, voltage_kV, cs_mm, contrast, dose, defocus_A;
    int64_t hand;
    struct rg_mdoc_image *image; // of the series: dose and defocus
} aj_tomogram;

extern const rg_option aj_tomogram_options[];
int aj_tomogram_check(struct aj_align *);                            // that all is there. RG_GOOD, or one line and RG_USAGE
int aj_tomogram_write(const struct aj_align *, const rg_affine *frame); // each image into the tomogram's frame

// ---- align.c, write.c ----------------------------------------------------------------------------------------------------

typedef struct aj_align {
    rg_given given;
    rg_computing computing;
    const char *out, *aligned, *xf, *tilts, *axis, *mask_path, *truth_path;
    double turn_deg, band_px[2];
    int model; // 0 similarity, 1 affine
    bool no_fine;
    rg_series series;
    const char *command, *device;
    double low_px, high_px; // of the band-pass
    rg_affine *truth; // NULL: not known
    int64_t n_tilts;
    double *tilt_deg; // NULL: not given
    double axis_deg;  // NaN: no tilt axis, the images are not stretched
    double axis_error_deg; // NaN: not searched
    int64_t axis_pairs;
    double axis_s;
    aj_tomogram tomogram;
    float *mask;      // NULL: none; 1 where pixels are kept, else 0
    int outside, threads;
    aj_pair pair;
    rg_affine *step, *whole; // of each image into the one before, and into the first
    double *correlation;
    const char **edge; // of each image: aj_edge_name
    double read_s, filter_s, align_s, write_s;
} aj_align;

// TRANSFORMS.tsv, beside it the cumulative ones, the plot, the errors; --xf and --tomogram.
int aj_write_tables(const aj_align *);
int aj_write_aligned(aj_align *);
int aj_show(aj_align *); // for the job's page: what was found, and the series before and after

// Reads, filters and halves image i.
int aj_load(aj_align *, int64_t i, aj_pyramid *);
// axis.c: the tilt axis of the largest correlation, into axis_deg, axis_error_deg and axis_pairs. RG_GOOD, or one line and a code.
int aj_axis_search(aj_align *, aj_pyramid p[2]);

// Columns quantity median largest; v holds n absolute errors of each and is sorted.
int aj_write_errors(const char *path, const char *command, int quantities, const char *const *quantity, int64_t n, double **v);
double aj_median(int64_t n, double *v); // sorts v
// --band-pass LOW,HIGH, whose numbers may be as large as `most`. RG_GOOD, or one line and RG_USAGE.
int aj_band_pass_check(double band_px[2], double most);

#endif
