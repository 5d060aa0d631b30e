// figures.h: private to the parts that make figures.
#ifndef RG_FIGURES_H
#define RG_FIGURES_H

#include "../../impl/base/plot.h"
#include "../report.h"

// A row of plots/figures.tsv, on one machine.
typedef struct rg_listed {
    rg_report *report;
    int machine;
    const rg_tsv *list;
    int row;
} rg_listed;
const char *rg_listed_cell(const rg_listed *, const char *column);
const rg_bench_machine *rg_listed_machine(const rg_listed *);

// What a kind of figures finds: the variables of its script, data beside it in fig/, words for the title.
typedef struct rg_found {
    rg_plot plot;
    int points, keys;  // of ours, in all; lines of the key
    char data[128];    // file in fig/ that the figure shows
    char about[200];   // for the subtitle: size, scope
    char title[400];   // "" unless it has one of its own
    char why_not[160]; // when nothing of it can be drawn; "" and no points: nothing was measured
    int code;          // RG_GOOD, or one line was said of a file
} rg_found;
void rg_find_rows(const rg_listed *, const char *name, rg_found *);   // points.c
void rg_find_growth(const rg_listed *, const char *name, rg_found *); // job_figures.c
void rg_find_photo(const rg_listed *, const char *name, rg_found *);
void rg_find_slices(const rg_listed *, const char *name, rg_found *); // slices.c

// Copies a file to fig/NAME as the figure's; RG_GOOD, or one line and RG_USAGE.
int rg_copy_to_fig(const rg_report *, const char *from, const char *name);
int rg_copy_beside(const rg_report *, const char *from, const char *name); // the page
#endif
