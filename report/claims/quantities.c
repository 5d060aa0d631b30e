// SPDX-License-Identifier: MIT
// quantities.c: the numbers of the job that claims are held against. Each fills value and ours, or leaves value NaN.
#include "../../impl/suite.h"
#include "../report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The part of the photos whose curve has a maximum after its first minimum.
static void with_r_max(const rg_job_files *job, rg_judgement *j)
{
    double *x, *r;
    int n = rg_job_growth(job, 0, "R_max", &x, &r), all = job->growth[0].n_rows;
    if (all > 0) {
        j->value = (double)n / all;
        int used = snprintf(j->ours, sizeof j->ours, "in %d of %d photos", n, all);
        if (n > 0)
            snprintf(
                j->ours + used, sizeof j->ours - (size_t)used, ", %.2f px in the first, %.2f px in the last", r[0], r[n - 1]);
    }
    free(x);
    free(r);
}

// Intercept of the free line as a part of the last R_max, with two standard errors either way.
static void intercept(const rg_job_files *job, rg_judgement *j)
{
    double *x, *r;
    int n = rg_job_growth(job, 0, "R_max", &x, &r);
    rg_line line = rg_line_fit(x, r, n);
    if (n > 2) {
        double last = r[n - 1], width = 2 * line.intercept_error;
        j->value = line.intercept / last;
        j->low = (line.intercept - width) / last;
        j->high = (line.intercept + width) / last;
        snprintf(j->ours, sizeof j->ours, "intercept %.2f +- %.2f px: %.2g of the last R_max; %d points", line.intercept, width,
            j->value, n);
    }
    free(x);
    free(r);
}

// Scatter about the free line as a part of the growth over the series: what a length would have to show. Infinite for one that
// does not move.
static double scatter(const rg_job_files *job, const char *column)
{
    double *x, *y, value = NAN;
    int n = rg_job_growth(job, 0, column, &x, &y);
    rg_line line = rg_line_fit(x, y, n);
    if (isfinite(line.slope)) {
        double growth = fabs(line.slope) * (x[n - 1] - x[0]);
        value = growth > 1e-9 * fabs(y[0]) ? line.residual / growth : INFINITY;
    }
    free(x);
    free(y);
    return value;
}

// How much worse the length from the peak of the spectrum follows the growth than R_max does.
static void reciprocal(const rg_job_files *job, rg_judgement *j)
{
    double spectrum = scatter(job, "k_peak_length"), real_space = scatter(job, "R_max");
    if (isnan(spectrum) || !(real_space > 0)) return;
    if (real_space > 1) {
        snprintf(j->why, sizeof j->why, "R_max does not grow over this series");
        return;
    }
    j->value = spectrum / real_space;
    if (isinf(spectrum))
        snprintf(j->ours, sizeof j->ours, "the spectrum's peak does not move; R_max scatters %.2g %% of its growth",
            100 * real_space);
    else
        snprintf(j->ours, sizeof j->ours, "scatter %.2g %% of the growth, R_max %.2g %%: %.3g x", 100 * spectrum,
            100 * real_space, j->value);
}

// Largest difference of R_max between the first run and the others.
static void difference(const rg_job_files *job, rg_judgement *j)
{
    double *x, *r, most = 0;
    int n = rg_job_growth(job, 0, "R_max", &x, &r), same = job->n > 1;
    for (int k = 1; k < job->n; k++) {
        double *x_k, *r_k;
        int n_k = rg_job_growth(job, k, "R_max", &x_k, &r_k);
        same &= n_k == n;
        for (int i = 0; i < n && n_k == n; i++) most = fmax(most, fabs(r_k[i] - r[i]));
        free(x_k);
        free(r_k);
    }
    if (same && n > 0) {
        j->value = most;
        snprintf(j->ours, sizeof j->ours, "largest difference %.2g px, %d runs of %d photos", most, job->n, n);
    }
    free(x);
    free(r);
}

void rg_job_quantity(const rg_job_files *job, const char *name, rg_judgement *j)
{
    static const struct {
        const char *name, *lacks;
        void (*find)(const rg_job_files *, rg_judgement *);
    } quantity[] = {{"with_r_max", "no photo was looked at", with_r_max},
        {"intercept", "fewer than three photos have an R_max", intercept},
        {"reciprocal", "the series has no lengths from the spectrum", reciprocal},
        {"difference", "a second run of the same series by another variant is needed", difference}};
    snprintf(j->why, sizeof j->why, "claims.tsv asks for the unknown quantity \"%s\"", name);
    for (int k = 0; k < RG_COUNT(quantity); k++)
        if (!strcmp(name, quantity[k].name)) {
            snprintf(j->why, sizeof j->why, "%s", quantity[k].lacks);
            quantity[k].find(job, j);
        }
}
