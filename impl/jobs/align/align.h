// SPDX-License-Identifier: MIT
// align.h: the command `regather align`. Private to its room and its tests.
//
//     align.c    the command;  pair.c   aligns an image to its neighbour;  axis.c   finds the tilt axis
//     write.c    its files;    tomogram.c   a tomogram for RELION
#pragma once

#include "../../../data/formats/series.h"
#include "../../../data/formats/transforms.h"
#include "../matching/matching.h"

// ---- pair.c ----------------------------------------------------------------------------------------------------------

typedef struct aj_ranges {
    double rotation_deg[2], shift_px, scale[2],
        stretch; // stretch: for the affine model, from 1 / stretch to stretch along any direction
} aj_ranges;

typedef struct aj_pair {
    int levels, threads;
    bool fine, affine;
    aj_ranges range;
    rg_affine stretch; // known stretch of the image, applied before the searched transform
    int outside;
    aj_scorer scorer[AJ_LEVELS];
    rg_choice warp; // the variant of affine2d that transforms the coarse image
} aj_pair;

// whole: images are also transformed at full size, for the aligned series or the page. RG_GOOD, or one line and a code.
int aj_pair_make(aj_pair *, const aj_pyramid *, const char *device, const char *asked, bool whole);
int aj_pair_plan(aj_pair *, const aj_pyramid *, const char *device, const char *asked, bool whole); // rows of --dry-run
void aj_pair_free(aj_pair *);
typedef struct aj_found {
    rg_affine step;
    double correlation;
    int edge; // which of "rotation", "shift", "scale", "stretch" are at an end of their ranges: aj_edge_name, "-" for none
} aj_found;
// Finds the transform that maps image onto reference, pair->stretch and the searched part together, on the pyramids' level
// `finest`; its shift is in pixels of that level.
int aj_pair_align(aj_pair *, const aj_pyramid *reference, const aj_pyramid *image, int finest, aj_found *);
// Writes [M | t] for affine2d and align2d, which maps from the result into the image.
void aj_matrix(const rg_affine *, float m[6]);
const char *aj_edge_name(int edge);

// ---- tomogram.c -------------------------------------------------------------------------------------------------------

struct aj_align;
typedef struct aj_tomogram {
    const char *path, *mdoc; // NULL: writes none
    double thickness_px, pixel_A, voltage_kV, cs_mm, contrast, dose, defocus_A;
    int64_t hand;
    struct rg_mdoc_image *image; // dose and defocus of each image of the series
} aj_tomogram;

extern const rg_option aj_tomogram_options[];
int aj_tomogram_check(struct aj_align *); // checks that all inputs are there. RG_GOOD, or one line and RG_USAGE
int aj_tomogram_write(const struct aj_align *, const rg_affine *frame); // frame: maps each image into the tomogram's frame

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
    double low_px, high_px; // widths of the band-pass
    rg_affine *truth;       // NULL: unknown
    int64_t n_tilts;
    double *tilt_deg;      // NULL: not given
    double axis_deg;       // from the direction of growing rows towards -x; NaN: no tilt axis, images are not stretched
    double axis_error_deg; // NaN: not searched
    int64_t axis_pairs;
    double axis_s;
    aj_tomogram tomogram;
    float *mask; // NULL: none; 1 where pixels are kept, else 0
    int outside, threads;
    aj_pair pair;
    rg_affine *step, *whole; // maps each image into the one before, and into the first
    double *correlation;
    const char **edge; // of each image: aj_edge_name
    double read_s, filter_s, align_s, write_s;
} aj_align;

// Writes TRANSFORMS.tsv, the cumulative transforms, the plot and the errors beside it; --xf and --tomogram.
int aj_write_tables(const aj_align *);
int aj_write_aligned(aj_align *);
int aj_show(aj_align *); // adds the results, and the series before and after, to the job's page

// Reads, filters and halves image i.
int aj_load(aj_align *, int64_t i, aj_pyramid *);
// axis.c: finds the tilt axis of the largest correlation: axis_deg, axis_error_deg and axis_pairs. RG_GOOD, or one line and a
// code.
int aj_axis_search(aj_align *, aj_pyramid p[2]);
// Converts the tilt axis between the user's angle, from +y upwards, and ours: rows of pictures go down.
static inline double aj_axis_up_deg(const aj_align *job, double axis_deg) {
    return job->series.rows_down ? -axis_deg : axis_deg;
}
void aj_flip_rows(const aj_align *, float *image);
