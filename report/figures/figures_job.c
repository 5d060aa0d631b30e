// SPDX-License-Identifier: MIT
// figures_job.c: the figures of the job: C2D and C1D of one photograph (Fig. 5), and the growth of R_max (Fig. 10).
#include "../../impl/base/core.h"
#include "figures.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MRC_HEADER_BYTES = 1024 }; // the job writes no extended header

// Colours run from the trough of C1D to as much above the peak as the peak stands above the trough, so that the ring shows and
// the bright middle does not drown it; for a faint peak to an eighth of the way to the middle, or noise would fill the picture.
static void set_range(rg_variables *v, const rg_tsv *c1d, double peak, double peak_value)
{
    double low = INFINITY, middle = rg_tsv_number(c1d, 1, "C1D");
    for (int i = 0; i < c1d->n_rows; i++) {
        double c = rg_tsv_number(c1d, i, "C1D"), r = rg_tsv_number(c1d, i, "R");
        if (c < low && !(r > peak))
            low = c;
    }
    double high = low + fmax(2 * (peak_value - low), (middle - low) / 8);
    rg_set_number_of(v, "LOW", low);
    rg_set_number_of(v, "HIGH", high > low ? high : 1);
}

static void draw_photo(rg_report *r, const char *folder, const char *name, double peak, double peak_value)
{
    char *c1d_path = rg_print("%s/%s.c1d.tsv", folder, name), *c2d_path = rg_print("%s/%s.c2d.mrc", folder, name);
    rg_tsv c1d = {0};
    if (!access(c2d_path, R_OK) && !access(c1d_path, R_OK) && rg_tsv_read(c1d_path, &c1d) == RG_GOOD && c1d.n_rows > 2) {
        rg_figure *f = rg_figure_new(r, "Lu 2009", "fig5", "");
        rg_variables v = {0};
        rg_variables_open(&v);
        rg_set_text(&v, "C1D", c1d_path);
        rg_set_text(&v, "C2D", c2d_path);
        rg_set_text(&v, "MACHINE", name);
        rg_set_number_of(&v, "SIDE", 2.0 * (c1d.n_rows - 1) + 1);
        rg_set_number_of(&v, "HEADER", MRC_HEADER_BYTES);
        rg_set_number_of(&v, "PEAK", peak);
        rg_set_number_of(&v, "PEAK_VALUE", peak_value);
        set_range(&v, &c1d, peak, peak_value);
        snprintf(f->caption, sizeof f->caption, "Fig. 5 again: C2D and its azimuthal mean C1D of `%.80s`, with R_max marked. "
                 "From `%.80s` and `%.80s`.", name, rg_base_name(c2d_path), rg_base_name(c1d_path));
        snprintf(f->alt, sizeof f->alt, "Left, C2D as a picture; right, C1D against R with R_max marked");
        rg_draw_one(r, f, &v);
    }
    rg_tsv_free(&c1d);
    free(c1d_path);
    free(c2d_path);
}

static void draw_growth(rg_report *r)
{
    char runs[1024] = "", names[256] = "";
    for (int k = 0; k < r->job.n; k++) {
        snprintf(runs + strlen(runs), sizeof runs - strlen(runs), "%s%s", k ? " " : "", r->job.growth[k].path);
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", k ? " " : "", rg_base_name(r->job.folder[k]));
    }
    rg_figure *f = rg_figure_new(r, "Lu 2009", "fig10", "");
    rg_variables v = {0};
    rg_variables_open(&v);
    rg_set_text(&v, "RUNS", runs);
    rg_set_text(&v, "NAMED", names);
    rg_set_text(&v, "MACHINE", r->machine[0].label);
    snprintf(f->caption, sizeof f->caption, "Fig. 10 again: growth of R_max over the series, with the straight line through "
             "the origin and the free one. From `rmax.tsv` in `%.150s`.", names);
    snprintf(f->alt, sizeof f->alt, "R_max against time, with a straight line through the origin");
    rg_draw_one(r, f, &v);
}

void rg_draw_job(rg_report *r)
{
    if (r->job.n == 0)
        return;
    const rg_tsv *growth = &r->job.growth[0];
    int points = 0, shown = -1;
    for (int i = 0; i < growth->n_rows; i++) {
        bool found = isfinite(rg_tsv_number(growth, i, "R_max"));
        points += found;
        // The middle of those that have a peak: early ones have hardly a structure, late ones hardly a dozen of its periods.
        if (found && (shown < 0 || 2 * i <= growth->n_rows))
            shown = i;
    }
    if (shown >= 0)
        draw_photo(r, r->job.folder[0], rg_tsv_cell(growth, shown, "photo"), rg_tsv_number(growth, shown, "R_max"),
                   rg_tsv_number(growth, shown, "C1D"));
    if (points > 2)
        draw_growth(r);
}
