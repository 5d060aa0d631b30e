// SPDX-License-Identifier: MIT
// figures.h: draws the figures of plots/figures.tsv, each by a script of plots/ with its data beside it in fig/.
#pragma once

#include "../../impl/base/plot.h"
#include "../words/words.h"

typedef struct rg_figure {
    const char *paper; // of whose section it is part
    const char *name;  // plots/NAME.gp
    int machine;       // whose results it shows
    char title[400], subtitle[300], alt[600];
    char wide[200], narrow[200], data[200], script[200]; // files, relative to the report
    int width, height, narrow_height;                    // narrow_height: for phones
    bool picture, whole;                                 // picture: images instead of curves; whole: full page width
    bool drawn;
    char why_not[160]; // if not drawn
} rg_figure;

typedef struct rg_figures {
    const rg_ledger *ledger;
    const char *out; // folder of the report
    int n_maps;
    const char *const *map; // "NAME=FILE.mrc", and the true map as "NAME.truth=FILE.mrc"
    rg_tsv list;            // plots/figures.tsv
    int n;
    rg_figure *figure; // in the order of the list
} rg_figures;

// Reads the list. RG_GOOD, or RG_USAGE with one line, also if --map names a map that no figure shows.
int rg_figures_read(rg_figures *);
// Draws all figures that the files allow, each by its own gnuplot. Without gnuplot every figure has that as its reason.
int rg_figures_draw(rg_figures *);
void rg_figures_free(rg_figures *);
// Copies a file to the report's folder as NAME; RG_GOOD, or one line and RG_USAGE.
int rg_copy_beside(const char *out, const char *from, const char *name);

// ---- for the kinds of figures --------------------------------------------------------------------------------------------

// A row of the list, on one machine.
typedef struct rg_listed {
    const rg_figures *all;
    int machine, row;
} rg_listed;
const char *rg_listed_cell(const rg_listed *, const char *column);
rg_rows rg_listed_rows(const rg_listed *);
int rg_copy_to_fig(const rg_listed *, const char *from, const char *name);

// The result of a kind of figures: variables of its script, data beside it in fig/, words for the title.
typedef struct rg_found {
    rg_plot plot;
    int points, keys;  // points: of ours, in all; keys: lines of the key
    char data[128];    // file in fig/ that the figure shows
    char about[200];   // for the subtitle: size, scope
    char title[400];   // "": the title of the list
    char why_not[160]; // why nothing can be drawn; "" and no points: nothing was measured
    int code;          // RG_GOOD, or an error of a file after one line
} rg_found;
typedef void rg_find(const rg_listed *, const char *name, rg_found *);
rg_find rg_find_rows, rg_find_slices, rg_find_generations; // points.c, slices.c, generations.c
