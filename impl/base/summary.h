// SPDX-License-Identifier: MIT
// summary.h: what a job did and found, and its page: one HTML file beside its output that needs no other. The job hands over
// facts, sentences and numbers while it has them; nothing of it is kept where neither page (--no-page, --dry-run, all processes
// but the first) nor screen (--quiet) is wanted. Texts are data: rich text (page.h) on the page, quoted strings for gnuplot. Calls come from the
// job's own thread.
#pragma once

#include "options.h"

bool rg_summary_wanted(void);          // whether anything below does something: asked before what is costly
bool rg_summary_affords(double bytes); // and whether there is memory for that, which no job counts as its own
// Whether a reader's code says that what the page shows is there. Else, one line being said, no page is written, and rg_summary_write
// ends with that code.
bool rg_summary_has(int code);
void rg_summary_did(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rg_summary_found(const char *format, ...) __attribute__((format(printf, 1, 2))); // a sentence, with its uncertainty
void rg_summary_stage(const char *stage, double seconds);                             // of all together: "whole", the last
// What a person does with it: looks at a file, and gives a command next: its words up to NULL, without those that are empty. A job that says what comes next
// ends with one screen of both, and of the facts above; these are kept for it without a page, too.
void rg_summary_look(const char *path, const char *what);
void rg_summary_next(const char *why, const char *const *word);

// title: what is seen, with its number; about: of what, how; alt: what one would see.
typedef struct rg_drawn {
    const char *title, *about, *alt, *x, *y; // x, y: what stands on the axes, with units
} rg_drawn;
// Curves of n values each over `at` (NULL: 1, 2, ...); NaN is none. level: horizontal lines, 0 none. Nothing with n below 2.
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
// How often values come, NaN left out. Nothing below 8 values.
void rg_summary_histogram(const rg_drawn *, int64_t n, const double *value);
// Grey values, row by row: the first pixel stands at x0, y0, the next ones `step` further; rows go down as in photographs, or
// up.
typedef struct rg_drawn_picture {
    rg_drawn is;
    int64_t width, height;
    const float *value;
    double x0, y0, step;
    bool down;
} rg_drawn_picture;
void rg_summary_picture(const rg_drawn_picture *);
// Where views come from: directions (rot, tilt) in degrees, each so many bytes behind the one before, counted in cells of equal
// area. Nothing below 8 of them.
void rg_summary_directions(int64_t n, const double *rot_deg, const double *tilt_deg, size_t apart);

// For the door of the commands. Where the page goes: --page, else OUT with the ending .html, or OUT/regather.html of a folder;
// malloc'ed, NULL: none is wanted.
char *rg_summary_path(const rg_command *, const void *options);
void rg_summary_begin(bool wanted, bool screen);
void rg_summary_say(const rg_command *, const void *options); // the screen, to stderr
// RG_GOOD, or one line and RG_USAGE. Without gnuplot the page has no plots and says so. A file that stands where nobody named
// it and is no page of this program is not written over.
int rg_summary_write(const rg_command *, const void *options);
void rg_summary_end(void);
