// SPDX-License-Identifier: MIT
// job.c: what the job `regather autocorr` left in its folder: the growth of R_max over a series, and the line through it.
#include "../impl/core/core.h"
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rg_job_files_read(const char *folder, rg_job_files *job)
{
    *job = (rg_job_files){.folder = folder};
    if (!folder)
        return RG_GOOD;
    char *path = rg_print("%s/rmax.tsv", folder);
    int code = access(path, R_OK) ? RG_GOOD : rg_tsv_read(path, &job->growth);
    free(path);
    return code;
}

void rg_job_files_free(rg_job_files *job)
{
    rg_tsv_free(&job->growth);
}

int rg_job_growth(const rg_job_files *job, double **x, double **r_max, const char **axis)
{
    int n = 0;
    bool timed = job->growth.n_rows > 0 && isfinite(rg_tsv_number(&job->growth, 0, "t"));
    *axis = timed ? "t" : "photo";
    *x = rg_alloc((size_t)(job->growth.n_rows + 1) * sizeof **x);
    *r_max = rg_alloc((size_t)(job->growth.n_rows + 1) * sizeof **r_max);
    for (int i = 0; i < job->growth.n_rows; i++) {
        double t = timed ? rg_tsv_number(&job->growth, i, "t") : i + 1, r = rg_tsv_number(&job->growth, i, "R_max");
        if (!isfinite(t) || !isfinite(r))
            continue;
        (*x)[n] = t;
        (*r_max)[n++] = r;
    }
    return n;
}

rg_line rg_line_fit(const double *x, const double *y, int n)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
    for (int i = 0; i < n; i++) {
        sx += x[i];
        sy += y[i];
        sxx += x[i] * x[i];
        sxy += x[i] * y[i];
        syy += y[i] * y[i];
    }
    rg_line line = {.n = n, .slope_through_origin = NAN, .slope = NAN, .intercept = NAN, .intercept_error = NAN, .r2 = NAN};
    if (n < 1 || sxx == 0)
        return line;
    line.slope_through_origin = sxy / sxx;
    line.r2 = sxy * sxy / (sxx * syy);
    double spread = n * sxx - sx * sx;
    if (n < 3 || spread <= 0)
        return line;
    line.slope = (n * sxy - sx * sy) / spread;
    line.intercept = (sy - line.slope * sx) / n;
    double rest = 0;
    for (int i = 0; i < n; i++) {
        double d = y[i] - line.intercept - line.slope * x[i];
        rest += d * d;
    }
    line.intercept_error = sqrt(rest / (n - 2) * sxx / spread);
    return line;
}
