// SPDX-License-Identifier: MIT
// job.c: what the job `regather autocorr` left in its folders: the growth of R_max over a series, and the lines through it.
#include "../impl/base/core.h"
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rg_job_files_add(rg_job_files *job, const char *folder)
{
    if (job->n == RG_JOB_FOLDERS_MOST) return rg_fail(RG_USAGE, "report: at most %d job folders", RG_JOB_FOLDERS_MOST);
    char *path = rg_print("%s/rmax.tsv", folder);
    int code = access(path, R_OK) ? rg_fail(RG_USAGE, "%s: expected the growth table of a job, found none", path)
                                  : rg_tsv_read(path, &job->growth[job->n]);
    job->folder[job->n++] = folder;
    free(path);
    return code;
}

void rg_job_files_free(rg_job_files *job)
{
    for (int k = 0; k < job->n; k++) rg_tsv_free(&job->growth[k]);
}

int rg_job_growth(const rg_job_files *job, int k, const char *column, double **x, double **y)
{
    const rg_tsv *growth = &job->growth[k];
    int n = 0;
    *x = rg_alloc((size_t)(growth->n_rows + 1) * sizeof **x);
    *y = rg_alloc((size_t)(growth->n_rows + 1) * sizeof **y);
    for (int i = 0; i < growth->n_rows; i++) {
        (*x)[n] = rg_tsv_number(growth, i, "time");
        (*y)[n] = rg_tsv_number(growth, i, column);
        n += isfinite((*x)[n]) && isfinite((*y)[n]);
    }
    return n;
}

rg_line rg_line_fit(const double *x, const double *y, int n)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < n; i++) {
        sx += x[i];
        sy += y[i];
        sxx += x[i] * x[i];
        sxy += x[i] * y[i];
    }
    rg_line line = {n, NAN, NAN, NAN, NAN, NAN};
    if (n < 1 || sxx == 0) return line;
    line.slope_through_origin = sxy / sxx;
    double spread = n * sxx - sx * sx;
    if (n < 3 || spread <= 0) return line;
    line.slope = (n * sxy - sx * sy) / spread;
    line.intercept = (sy - line.slope * sx) / n;
    double rest = 0;
    for (int i = 0; i < n; i++) {
        double d = y[i] - line.intercept - line.slope * x[i];
        rest += d * d;
    }
    line.residual = sqrt(rest / n);
    line.intercept_error = sqrt(rest / (n - 2) * sxx / spread);
    return line;
}
