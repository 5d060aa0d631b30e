// SPDX-License-Identifier: MIT
// summary.h: what a job did and found, for the screen and for its page, a self-contained HTML file beside its output. The job hands
// over facts, sentences and numbers as they arise. They are dropped if neither the page (--no-page, --dry-run, all processes but
// the first) nor the screen (--quiet) needs them. Texts are data: rich text (fill.h) on the page, quoted strings for gnuplot. Only
// the job's own thread may call these.
#pragma once

#include "options.h"

bool rg_summary_wanted(void);          // whether anything below does something: asked before what is costly
bool rg_summary_affords(double bytes); // and whether there is memory for that, which no job counts as its own
// Whether a reader's code is RG_GOOD, so that the page has its data. Otherwise (the reader has printed its line) no page is written,
// and rg_summary_write returns that code.
bool rg_summary_has(int code);
void rg_summary_did(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rg_summary_found(const char *format, ...) __attribute__((format(printf, 1, 2))); // a sentence, with its uncertainty
void rg_summary_stage(const char *stage, double seconds);                             // of all together: "whole", the last
// What the user does next: a file to look at, and a command, as words up to NULL; empty words are left out. A job that has such a
// command ends with one screen of both and of the facts above, also without a page.
void rg_summary_look(const char *path, const char *what);
void rg_summary_next(const char *why, const char *const *word);

// title: the finding, with its number; about: of what, and how; alt: a description of the picture.
typedef struct rg_drawn {
    const char *title, *about, *alt, *x, *y; // x, y: labels of the axes, with units
} rg_drawn;
// Curves of n values over `at` (NULL: 1, 2, ...); NaN: no value. level: horizontal lines, 0: none. Draws nothing if n < 2.
typedef struct rg_drawn_curves {
    rg_drawn is;
    int64_t n;
    const double *at;
    int curves;
    const char *const *name;
    const double *const *value;
    double level[2];
    bool apart; // points, not joined
} rg_drawn_curves;
void rg_summary_curves(const rg_drawn_curves *);
// A histogram, without NaN. Draws nothing below 8 values.
void rg_summary_histogram(const rg_drawn *, int64_t n, const double *value);
// Grey values, row by row. The first pixel lies at x0, y0, with steps of `step`. Rows go down as in photographs, or up.
typedef struct rg_drawn_picture {
    rg_drawn is;
    int64_t width, height;
    const float *value;
    double x0, y0, step;
    bool down;
} rg_drawn_picture;
void rg_summary_picture(const rg_drawn_picture *);
// Directions of views (rot, tilt) in degrees, `stride` bytes apart, counted in cells of equal area. Draws nothing below 8 views.
void rg_summary_directions(int64_t n, const double *rot_deg, const double *tilt_deg, size_t apart);

// For command.c: the path of the page: --page, else OUT with the ending .html, or OUT/regather.html for a folder. malloc'ed; NULL:
// no page.
char *rg_summary_path(const rg_command *, const void *options);
void rg_summary_begin(bool wanted, bool screen);
void rg_summary_say(const rg_command *, const void *options); // the screen, to stderr
// RG_GOOD, or one line and RG_USAGE. Without gnuplot the page has no plots and says so. Unless --page names it, a file that is not
// a page of this program is not replaced.
int rg_summary_write(const rg_command *, const void *options);
void rg_summary_end(void);
