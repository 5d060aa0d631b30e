// SPDX-License-Identifier: MIT
// autocorr.h: the command `regather autocorr` on top of the function table. Private to impl/jobs/autocorr and its test.
//
//     autocorr.c  the command line, photographs read and checked before any work
//     series.c    photographs over cores and GPUs, memory, resumption, rmax.tsv
//     run.c       runs a variant on a photograph
//     check.c     checks its sums
//     curve.c     normalisations, C1D, R_max, half-width: pure functions
//     spectrum.c  the length from the power spectrum
//     write.c     the files of one photograph
//     growth.c    R_max over a series
//     input.c     the list of photographs, their names, times and hashes
#pragma once

#include "../../../data/formats/image.h"
#include "../../base/options.h"
#include "../../runtime/call.h"
#include "../../runtime/choice.h"
#include "../../runtime/table.h"
#include "../../autocorr/index.h"
#include <pthread.h>

// ---- curve.c ---------------------------------------------------------------------------------------------------------

typedef enum { AC_RAW, AC_OVERLAP, AC_CENTRED } ac_norm;
extern const char *const ac_norm_name[3];

// Exact sums of a photograph's pixels: of whole columns left of x, of whole rows above y, and of the corner above and left,
// which is computed when first needed.
typedef struct ac_areas {
    const rg_image *image;
    uint64_t *column, *row, *corner;
} ac_areas;
// The sums of a photograph (or pair) and the input of the normalisations.
typedef struct ac_field {
    int64_t width, height, r;
    const int64_t *sums;
    ac_areas *a, *b; // b is a in an autocorrelation
} ac_field;

void ac_field_make(ac_field *, const rg_image *a, const rg_image *b, int64_t r, const int64_t *sums); // b NULL: a again
void ac_field_free(ac_field *);

// The unnormalised value: C2D is its ratio to the value at (0, 0). With N = (width - |X0|)(height - |Y0|), the pixels of the
// overlap:
//    raw      S
//    overlap  S / N
//    centred  sum over the overlap of (a - mean a)(b - mean b), / N; the means are those of the whole photographs.
// *defined is false for overlap and centred if N is 0.
long double ac_value(const ac_field *, ac_norm, int64_t x0, int64_t y0, bool *defined);
// ac_value at (0, 0) if C2D exists; else 0 with the reason in why.
long double ac_unit(const ac_field *, ac_norm, char why[120]);
// Computes the (2R+1)^2 values of C2D; 0 where it is undefined.
void ac_c2d(const ac_field *, ac_norm, long double unit, float *c2d);

// Computes C1D(R) for R = 0..r: the mean of C2D over the n[R] offsets of ring R = floor(sqrt(x0^2 + y0^2) + 0.5) where it is
// defined; NaN: no such offset.
void ac_c1d(const ac_field *, ac_norm, long double unit, double *c1d, int64_t *n);
// Finds the first local maximum after the first minimum of c[0..count), by the parabola through it and its neighbours (for a
// plateau, its last point). It must rise above that minimum, and the curve must then fall below it again, by more than
// prominence * (c[0] - the minimum); 0 accepts any. False: none; a maximum at the end of the curve does not count.
bool ac_peak(const double *c, int64_t count, double prominence, double *position, double *value);
// The largest prominence at which ac_peak still finds the maximum at `position`: its height above the minimum before it, or
// above the lowest point after it before the curve is higher again, whichever is less, over c[0] - the minimum before it.
double ac_prominence(const double *c, int64_t count, double position);
// The interpolated lag L at which the mean of C2D(L, 0) and C2D(0, L), centred, first falls to 0.5; NaN: not within r.
double ac_half_width(const ac_field *);

// ---- spectrum.c ------------------------------------------------------------------------------------------------------

// The longer side / k, where k is the whole wave number (1..) at which the ring average of |FFT(I - mean)|^2 is largest; wave
// numbers are counted per longer side. NaN: all grey values are equal.
double ac_spectrum_length(const rg_image *);

// ---- the job -------------------------------------------------------------------------------------------------------------

typedef struct ac_photo {
    const char *path;
    rg_image_place place;
    int64_t pages;
    char *name;    // prefix of its files in DIR
    uint64_t hash; // of sides, bits and pixels
    rg_shape shape;
    double time;   // NaN: not given
    rg_image kept; // the image that ac_input read, if memory allows; pixel NULL: it is read again
} ac_photo;

typedef struct ac_result {
    bool done, resumed;
    int code;
    double r_max, c1d, prominence, half_width, k_peak_length, seconds; // NaN: none
    double r_max_centred; // set if the requested normalisation has none and the centred one has; else NaN
} ac_result;

typedef struct ac_job {
    rg_given given;
    rg_computing computing;
    double grey_range[2];
    const char *times; // path; NULL: none
    const rg_algo *algo;
    const rg_entry *entry;
    int64_t param[RG_PARAMS_MAX];
    const char *why; // reason for choosing this variant
    const char *out, *command;
    char *gnuplot; // its path; NULL: not installed
    int64_t r;
    ac_norm norm;
    double pixel_um; // NaN: lengths are in pixels only
    double prominence;
    rg_grey_range range;
    bool dump_sums, spectrum, resume, has_times;
    const char *device;
    int threads;
    uint64_t seed;
    int64_t n_photos;
    ac_photo *photo;
    void *names;               // tree of the photographs' names
    double keep_bytes, read_s; // memory left for photographs; time spent reading them
    ac_result *result;
    const char *cross_path, *mask_path;
    rg_image mask;  // pixel NULL: none
    rg_image cross; // pixel NULL: autocorrelation
    uint64_t cross_hash;
} ac_job;

static inline uint32_t ac_grey(const rg_image *image, int64_t i) {
    return image->bits == 8 ? ((const uint8_t *)image->pixel)[i] : ((const uint16_t *)image->pixel)[i];
}
uint64_t ac_hash(const rg_image *);  // of sides, bits and pixels
rg_image ac_widen(const rg_image *); // the same grey values in 16 bits

// run.c: a variant with its buffers, which are kept for photographs of the same shape. Threads that share it take turns at the
// device, and check its sums concurrently.
typedef struct ac_worker {
    const ac_job *job;
    const rg_device *device;
    int threads;
    rg_frame frame;
    pthread_mutex_t turn;
} ac_worker;
void ac_worker_make(ac_worker *, const ac_job *, const rg_device *, int threads);
int ac_worker_run(ac_worker *, const ac_photo *, const rg_image *a, const rg_image *b, int64_t *sums);
void ac_worker_free(ac_worker *);
// check.c: RG_GOOD, or one line and RG_WRONG.
int ac_check(const ac_worker *, const ac_photo *, const rg_image *a, const rg_image *b, int64_t *sums);
bool ac_rounds(const ac_job *, const rg_shape *); // whether only some sums can be checked

// write.c
double ac_lane_need(const void *job, int64_t r); // series.c: bytes of one photograph at work
int ac_plan_gpu(const ac_job *);                 // series.c: rows of --dry-run. RG_GOOD, or one line and RG_LACKS
int ac_plan(const ac_job *);                     // prints the files and the memory of --dry-run; the same
int ac_write_photo(const ac_job *, const ac_photo *, const ac_field *, ac_result *);
// Returns whether all files of this photograph exist, made from the same input by the same request; then *result has their
// results.
bool ac_already_written(const ac_job *, const ac_photo *, ac_result *);

// write.c: adds the results of the written photographs to the job's page.
void ac_show(const ac_job *);
// growth.c: writes rmax.tsv and rmax.svg.
int ac_write_growth(const ac_job *);

// series.c: processes every photograph that is not done.
int ac_series(ac_job *);

// input.c: reads a photograph and applies the mask. RG_GOOD, or one line and RG_USAGE.
int ac_read(const ac_job *, const char *path, const rg_image_place *, rg_image *);
// input.c: opens and checks every photograph before any work, so that a bad one stops the job at once.
int ac_input(ac_job *);
void ac_input_free(ac_job *);
