// SPDX-License-Identifier: MIT
// predict.h: times of kernels on a machine that is known by its rates alone.
//
// A variant's cost() says how much of each resource a call asks for; amount / rate of the scarcest is its bound, the roofline
// of Williams, Waterman and Patterson (2009, CACM 52:65). Kernels reach another share of the memory's rate than of the others,
// and overlap the two in part: its time is taken as  t = s + k M + l C, M the bound by memory, C the largest of the others, s
// the part that does not grow. s, k, l >= 0 are fitted to measured rows by least squares of relative errors: one of them up to
// 2 rows, two up to 5. The error of a prediction is how far off the fit without a machine is on that machine: the factor
// exp(rms of log(predicted / measured)).
#ifndef RG_PREDICT_H
#define RG_PREDICT_H

#include "../../impl/base/tsv.h"
#include "../../impl/runtime/table.h"
#include "../machine/machine.h"

#include <math.h>

// What computes: a machine's GPU, one core, or all of its cores.
typedef enum { RG_ON_GPU, RG_ON_CORE, RG_ON_CPU, RG_ON } rg_on;
extern const char *const rg_on_name[RG_ON]; // "gpu", "core", "cpu", as in a line "probe cpu memory" of machine.tsv
rg_on rg_entry_on(const rg_entry *);
typedef struct rg_computer {
    char label[64]; // of the machine
    int threads;    // 0: its GPU
    double per_s[RG_RESOURCES];
} rg_computer;

// A measured row: the fastest of its variant, shape and computer.
typedef struct rg_bound_s {
    double part[3]; // 1, M, C
    double longest_s;
    int limit; // the resource of the longest, or the one whose rate is missing: then it is NaN
} rg_bound_s;
typedef struct rg_point {
    const rg_entry *entry;
    int computer;
    rg_shape shape;
    int64_t param[RG_PARAMS_MAX];
    rg_bound_s bound;
    double seconds;
} rg_point;
typedef struct rg_points {
    int n, n_computers;
    rg_point *point;
    rg_computer *computer;
} rg_points;
// Adds the kernel rows of a result file that passed, of sources that are today's; another table adds none. The label is the
// file's name up to its first dot. RG_GOOD, or one line and RG_USAGE.
int rg_points_read(rg_points *, const char *path);
int rg_points_read_folder(rg_points *, const char *folder); // of every .tsv of it
void rg_points_free(rg_points *);

rg_bound_s rg_bound(const rg_entry *, const rg_shape *, const int64_t *param, const double per_s[RG_RESOURCES]);

typedef struct rg_fit {
    int n, machines;
    double by[3];         // s, k, l
    double low_s, high_s; // bounds of its rows
    double low_per_s[RG_RESOURCES], high_per_s[RG_RESOURCES];
    double factor;        // error; NaN: too few rows
    const char *left_out; // what the error's rows were left out by: "machine", "size", "none"
} rg_fit;
rg_fit rg_fit_of(const rg_points *, const rg_entry *);
static inline double rg_fit_s(const rg_fit *f, const rg_bound_s *b)
{
    return isnan(b->longest_s) ? NAN : f->by[0] * b->part[0] + f->by[1] * b->part[1] + f->by[2] * b->part[2];
}

// crossover.c: grid: rows of a scatter and a gather over two extents, measured anywhere; DIR/crossover.tsv, border.tsv and
// .svg. The border is predicted by the other rows alone. A line a pair on stdout. RG_GOOD, or one line and a code.
int rg_crossover(const rg_points *, const char *grid, const char *folder, const char *command);

#endif
