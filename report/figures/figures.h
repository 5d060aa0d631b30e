// SPDX-License-Identifier: MIT
// figures.h: private to figures.c and gnuplot.c.
#ifndef RG_FIGURES_H
#define RG_FIGURES_H

#include "../report.h"
#include <stdio.h>

// Variables as one script text for gnuplot -e. The stream keeps the addresses of the fields: it must not move until drawn.
typedef struct rg_variables {
    char *text;
    size_t length;
    FILE *to;
} rg_variables;
void rg_variables_open(rg_variables *);
void rg_set_text(rg_variables *, const char *name, const char *text);
void rg_set_number_of(rg_variables *, const char *name, double); // NaN for what is not finite

// paper: whose section it goes to, "" for what is of none. Valid until the next one.
rg_figure *rg_figure_new(rg_report *, const char *paper, const char *name, const char *suffix);
void rg_draw_job(rg_report *); // figures_job.c: Figs 5 and 10 of Lu et al.
void rg_draw_listed(rg_report *); // figures_listed.c: those of plots/figures.tsv

// Draws plots/NAME.gp as SVG and PNG, says in the figure whether that went well, and closes the variables.
void rg_draw_one(const rg_report *, rg_figure *, rg_variables *);

#endif
