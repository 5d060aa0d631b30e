// SPDX-License-Identifier: MIT
// figures.h: private to figures.c and figures_listed.c.
#ifndef RG_FIGURES_H
#define RG_FIGURES_H

#include "../../impl/base/plot.h"
#include "../report.h"

// paper: whose section it goes to, "" for what is of none. Valid until the next one.
rg_figure *rg_figure_new(rg_report *, const char *paper, const char *name, const char *suffix);
void rg_set_published(rg_plot *, const rg_claims *, int paper); // IDS and VALUES
void rg_draw_listed(rg_report *); // figures_listed.c: those of plots/figures.tsv
// Draws plots/NAME.gp as SVG and PNG, says in the figure whether that went well, and frees the variables.
void rg_draw_one(const rg_report *, rg_figure *, rg_plot *);

#endif
