// SPDX-License-Identifier: MIT
// job_figures.c: figures of the folders that `regather autocorr` left: C2D and C1D of one photograph, and the growth of R_max.
#include "figures.h"
#include "../../impl/base/core.h"

enum { MRC_HEADER_BYTES = 1024 }; // the job writes no extended header

// Colours run from the trough of C1D to as much above the peak as the peak stands above the trough, so that the ring shows and
// the bright middle does not drown it; for a faint peak to an eighth of the way to the middle, or noise would fill the picture.
static void set_range(rg_plot *v, const rg_tsv *c1d, double peak, double peak_value)
{
    double low = INFINITY, middle = rg_tsv_number(c1d, 1, "C1D");
    for (int i = 0; i < c1d->n_rows; i++) {
        double c = rg_tsv_number(c1d, i, "C1D"), r = rg_tsv_number(c1d, i, "R");
        if (c < low && !(r > peak)) low = c;
    }
    double high = low + fmax(2 * (peak_value - low), (middle - low) / 8);
    rg_plot_number(v, "LOW", low);
    rg_plot_number(v, "HIGH_VALUE", high > low ? high : 1);
}

// Of the photographs that have a peak the middle one: early ones have hardly a structure, late ones hardly a dozen of its
// periods. -1: none has.
static int middle_photo(const rg_tsv *growth)
{
    int shown = -1;
    for (int i = 0; i < growth->n_rows; i++)
        if (isfinite(rg_tsv_number(growth, i, "R_max")) && (shown < 0 || 2 * i <= growth->n_rows)) shown = i;
    return shown;
}

void rg_find_photo(const rg_listed *l, const char *name, rg_found *found)
{
    const rg_job_files *job = &l->all->ledger->job;
    const int shown = job->n ? middle_photo(&job->growth[0]) : -1;
    if (shown < 0) return;
    const char *photo = rg_tsv_cell(&job->growth[0], shown, "photo");
    const double peak = rg_tsv_number(&job->growth[0], shown, "R_max"), value = rg_tsv_number(&job->growth[0], shown, "C1D");
    char *from[2] = {rg_print("%s/%s.c1d.tsv", job->folder[0], photo), rg_print("%s/%s.c2d.mrc", job->folder[0], photo)};
    char *to[2] = {rg_print("%s.tsv", name), rg_print("%s.mrc", name)};
    RG_ENDS(rg_tsv_free) rg_tsv c1d = {0};
    const bool there = !access(from[1], R_OK) && !access(from[0], R_OK);
    if (there) found->code = rg_tsv_read(from[0], &c1d);
    for (int k = 0; k < 2 && there && found->code == RG_GOOD; k++) found->code = rg_copy_to_fig(l, from[k], to[k]);
    if (there && found->code == RG_GOOD) {
        rg_plot_path(&found->plot, "C1D", to[0]);
        rg_plot_path(&found->plot, "C2D", to[1]);
        rg_plot_number(&found->plot, "SIDE", 2.0 * (c1d.n_rows - 1) + 1);
        rg_plot_number(&found->plot, "HEADER", MRC_HEADER_BYTES);
        rg_plot_number(&found->plot, "PEAK", peak);
        rg_plot_number(&found->plot, "PEAK_VALUE", value);
        set_range(&found->plot, &c1d, peak, value);
        found->points = c1d.n_rows;
        snprintf(found->data, sizeof found->data, "%s", to[0]);
        rg_say_photo(photo, peak, found->title, found->about, sizeof found->about);
    }
    for (int k = 0; k < 2; k++) {
        free(from[k]);
        free(to[k]);
    }
}

void rg_find_growth(const rg_listed *l, const char *name, rg_found *found)
{
    const rg_job_files *job = &l->all->ledger->job;
    const char *run[RG_JOB_FOLDERS_MOST], *label[RG_JOB_FOLDERS_MOST];
    char file[RG_JOB_FOLDERS_MOST][160];
    for (int k = 0; k < job->n; k++) {
        RG_FREED double *x = NULL, *y = NULL;
        const int n = rg_job_growth(job, k, "R_max", &x, &y);
        label[k] = rg_base_name(job->folder[k]);
        snprintf(file[k], sizeof file[k], "%.100s-%d.tsv", name, k);
        run[k] = file[k];
        found->code = rg_copy_to_fig(l, job->growth[k].path, file[k]);
        if (found->code != RG_GOOD) return;
        found->points += k ? 0 : n; // lines are drawn through those of the first
    }
    if (!found->points) return;
    rg_plot_paths(&found->plot, "RUNS", job->n, run);
    rg_plot_texts(&found->plot, "NAMED", job->n, label);
    snprintf(found->data, sizeof found->data, "%.120s", file[0]);
}
