// SPDX-License-Identifier: MIT
// plot.h: the one runner of gnuplot. A script of plots/ gets its data as names of files, numbers and quoted texts, set as
// variables before it runs; no text ever becomes a command, an `eval` or the name of a pipe.
#pragma once

#include "core.h"

// Variables of one figure; {0} is none. Setters copy.
typedef struct rg_plot {
    int n;
    char **set; // one assignment each
} rg_plot;

void rg_plot_text(rg_plot *, const char *name, const char *text); // control bytes become blanks
void rg_plot_path(rg_plot *, const char *name, const char *path); // of a file: "./" before what gnuplot would take for a pipe
void rg_plot_number(rg_plot *, const char *name, double);         // NaN for what is not finite
// Arrays: NAME[1] to NAME[n], |NAME| is n, which is at least 1.
void rg_plot_texts(rg_plot *, const char *name, int n, const char *const *text);
void rg_plot_paths(rg_plot *, const char *name, int n, const char *const *path);
void rg_plot_numbers(rg_plot *, const char *name, int n, const double *);
void rg_plot_free(rg_plot *);

// One run of gnuplot on a script: it draws to OUT, as TERM ("svg" or "png", after the ending of path), PLOTS being the script's
// folder, and when all went well that becomes path. What gnuplot says is added to the file log (NULL: dropped). RG_GOOD,
// RG_LACKS without gnuplot, RG_WRONG when it failed, nothing being printed; one line and RG_USAGE when path cannot be written.
int rg_plot_run(const rg_plot *, const char *script, const char *path, const char *log);

// A figure of a page: FOLDER/NAME.gp, which holds the variables and loads SCRIPT.gp from copies in FOLDER/plots, so that
// `gnuplot NAME.gp` there draws it again; paths among the variables are relative to FOLDER. RG_GOOD, or one line and RG_USAGE.
int rg_plot_save(const rg_plot *, const char *folder, const char *name, const char *script);
// Draws it for a page that is width pixels broad (narrow: a phone), without its title: FOLDER/NAME.svg or
// FOLDER/NAME-narrow.svg. Runs beside the caller until rg_plot_end, whose result is that of rg_plot_run.
typedef struct rg_plot_running {
    int process, code; // code: why nothing runs
    rg_file file;
} rg_plot_running;
rg_plot_running rg_plot_begin(const char *folder, const char *name, int width, int height, bool narrow, const char *log);
int rg_plot_end(rg_plot_running *);
void rg_plot_abandon(rg_plot_running *); // in place of it: nothing is said, no file stays

// Draws it into memory, for pages that hold their figures: plots/SCRIPT.gp as an SVG without its title. Runs beside the caller
// until rg_plot_held, which gives its text, malloc'ed, or NULL when gnuplot failed. Data can be handed over in files without a
// name: rg_plot_stream sets NAME to what stands in the stream, which has to stay open till then.
typedef struct rg_plot_holding {
    int process;
    FILE *drawn;
} rg_plot_holding;
void rg_plot_stream(rg_plot *, const char *name, FILE *);
rg_plot_holding rg_plot_hold(const rg_plot *, const char *script, int width, int height, bool narrow);
char *rg_plot_held(rg_plot_holding *);

// For jobs: a script of plots/ by its name ("fsc.gp") draws `path`, and the variables are freed. RG_GOOD, also without gnuplot,
// which is told of by a warning; or one line and RG_USAGE.
int rg_plot_draw(rg_plot *, const char *script, const char *path);
