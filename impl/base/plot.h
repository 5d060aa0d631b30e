// SPDX-License-Identifier: MIT
// plot.h: the one runner of gnuplot. A script of plots/ gets its data as names of files, numbers and quoted texts, set as
// variables before it runs; no text ever becomes a command, an `eval` or the name of a pipe.
#pragma once

#include "core.h"

// Variables of a figure; {0} has none. Setters copy.
typedef struct rg_plot {
    int n;
    char **set; // one assignment each
} rg_plot;

void rg_plot_text(rg_plot *, const char *name, const char *text); // control bytes become blanks
void rg_plot_path(rg_plot *, const char *name, const char *path); // of a file: "./" before what gnuplot would take for a pipe
void rg_plot_number(rg_plot *, const char *name, double);         // NaN for what is not finite
// Arrays: NAME[1] to NAME[n], n at least 1; |NAME| is n.
void rg_plot_texts(rg_plot *, const char *name, int n, const char *const *text);
void rg_plot_paths(rg_plot *, const char *name, int n, const char *const *path);
void rg_plot_numbers(rg_plot *, const char *name, int n, const double *);
void rg_plot_free(rg_plot *);

// Runs gnuplot on a script, with variables OUT (a part that becomes path if all went well), TERM ("svg" or "png", by the ending of
// path) and PLOTS (the script's folder). gnuplot's messages are appended to the file log; NULL: dropped. RG_GOOD; RG_LACKS without
// gnuplot and RG_WRONG if it failed, both without a message; one line and RG_USAGE if path cannot be written.
int rg_plot_run(const rg_plot *, const char *script, const char *path, const char *log);

// Writes a figure of a page: FOLDER/NAME.gp holds the variables and loads SCRIPT.gp from copies in FOLDER/plots, so that
// `gnuplot NAME.gp` draws it again there. Paths in variables are relative to FOLDER. RG_GOOD, or one line and RG_USAGE.
int rg_plot_save(const rg_plot *, const char *folder, const char *name, const char *script);
// Draws that figure, without its title, for a page of `width` pixels (narrow: a phone) as FOLDER/NAME.svg or
// FOLDER/NAME-narrow.svg. Runs beside the caller until rg_plot_end, which returns as rg_plot_run does.
typedef struct rg_plot_running {
    int process, code; // code: the reason if nothing runs
    rg_file file;
} rg_plot_running;
rg_plot_running rg_plot_begin(const char *folder, const char *name, int width, int height, bool narrow, const char *log);
int rg_plot_end(rg_plot_running *);
void rg_plot_abandon(rg_plot_running *); // in place of it: nothing is said, no file stays

// Draws plots/SCRIPT.gp into memory, for pages that embed their figures, as an SVG without its title. Runs beside the caller until
// rg_plot_held, which returns the text, malloc'ed, or NULL if gnuplot failed. Data can be in unnamed files: rg_plot_stream sets
// NAME to the content of a stream, which must stay open until then.
typedef struct rg_plot_holding {
    int process;
    FILE *drawn;
} rg_plot_holding;
void rg_plot_stream(rg_plot *, const char *name, FILE *);
rg_plot_holding rg_plot_hold(const rg_plot *, const char *script, int width, int height, bool narrow);
char *rg_plot_held(rg_plot_holding *);

// For jobs: draws `path` by a script of plots/ ("fsc.gp") and frees the variables. RG_GOOD, also without gnuplot, which gives a
// warning; or one line and RG_USAGE.
int rg_plot_draw(rg_plot *, const char *script, const char *path);
