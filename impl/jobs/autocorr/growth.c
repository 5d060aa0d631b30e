// SPDX-License-Identifier: MIT
// growth.c: writes R_max over a series, with the straight lines through it (Lu et al., Fig. 10): rmax.tsv and rmax.svg.
#include "../../base/plot.h"
#include "../../base/summary.h"
#include "autocorr.h"

typedef struct line_fit {
    int n;
    double origin_slope;     // of the line through the origin
    double slope, intercept; // of the free line; NaN with fewer than two times
    double error;            // standard deviation of origin_slope from the residuals; NaN with fewer than two times
    double residual;         // root mean square residual of the line through the origin
} line_fit;

static double time_of(const ac_job *job, int64_t i) { return job->has_times ? job->photo[i].time : (double)(i + 1); }

// Least squares over the photographs with an R_max.
static line_fit fit(const ac_job *job) {
    double n = 0, t = 0, r = 0, tt = 0, tr = 0, rr = 0;
    for (int64_t i = 0; i < job->n_photos; i++) {
        double x = time_of(job, i), y = job->result[i].r_max;
        if (isnan(y)) continue;
        n += 1, t += x, r += y, tt += x * x, tr += x * y, rr += y * y;
    }
    line_fit f = {.n = (int)n, .origin_slope = tt > 0 ? tr / tt : NAN, .slope = NAN, .intercept = NAN};
    double spread = n * tt - t * t;
    if (n >= 2 && spread > 0) {
        f.slope = (n * tr - t * r) / spread;
        f.intercept = (r - f.slope * t) / n;
    }
    const double squares = fmax(0, rr - 2 * f.origin_slope * tr + f.origin_slope * f.origin_slope * tt);
    f.residual = sqrt(squares / n);
    f.error = n >= 2 && tt > 0 ? sqrt(squares / (n - 1) / tt) : NAN;
    return f;
}

static void cell(FILE *out, double v) {
    if (isnan(v))
        fprintf(out, "\tnone");
    else
        fprintf(out, "\t%.17g", v);
}

// Adds the growth to the job's page.
static void show(const ac_job *job, const line_fit *f) {
    const int64_t n = job->n_photos;
    if (!rg_summary_wanted()) return;
    double *time = rg_alloc((size_t)(3 * n) * sizeof *time), *r_max = time + n, *half_width = r_max + n;
    for (int64_t i = 0; i < n; i++) {
        time[i] = time_of(job, i);
        r_max[i] = job->result[i].r_max;
        half_width[i] = job->result[i].half_width;
    }
    if (!isnan(f->slope))
        rg_summary_found("R_max = slope x %s: slope %.4g +- %.2g (standard error of %d photographs), %.3g pixels root mean "
                         "square off the line; "
                         "the free line has slope %.4g and begins at %.3g.",
            job->has_times ? "time" : "number", f->origin_slope, f->error, f->n, f->residual, f->slope, f->intercept);
    rg_summary_curves(
        &(rg_drawn_curves){.is = {"R_max over the series", "With the half-width of the correlation.",
                               "R_max and half-width of every photograph", job->has_times ? "time" : "photograph", "pixels"},
            .n = n,
            .at = time,
            .curves = 2,
            .name = (const char *[]){"R_max", "half-width"},
            .value = (const double *[]){r_max, half_width},
            .apart = true});
    free(time);
}

int ac_write_growth(const ac_job *job) {
    rg_file file;
    RG_FREED char *path = rg_print("%s/rmax.tsv", job->out), *svg = rg_print("%s/rmax.svg", job->out);
    int code = rg_file_open(&file, path);
    line_fit f = fit(job);
    show(job, &f);
    if (code == RG_GOOD) {
        FILE *out = file.stream;
        fprintf(out, "# command: %s\n# time: %s\n# photographs with an R_max: %d of %lld\n", job->command,
            job->has_times ? "as given" : "the number of the photograph", f.n, (long long)job->n_photos);
        if (!isnan(f.slope))
            fprintf(out,
                "# R_max = slope time: slope %.9g, rms residual %.4g\n# R_max = intercept + slope time: intercept %.9g, "
                "slope %.9g\n",
                f.origin_slope, f.residual, f.intercept, f.slope);
        fprintf(out, "photo\tR_max\ttime\tC1D\thalf_width%s%s\n", job->spectrum ? "\tk_peak_length" : "",
            isnan(job->pixel_um) ? "" : "\tR_max_um\thalf_width_um");
        for (int64_t i = 0; i < job->n_photos; i++) {
            const ac_result *r = &job->result[i];
            fprintf(out, "%s", job->photo[i].name);
            cell(out, r->r_max);
            cell(out, time_of(job, i));
            cell(out, r->c1d);
            cell(out, r->half_width);
            if (job->spectrum) cell(out, r->k_peak_length);
            if (!isnan(job->pixel_um)) {
                cell(out, r->r_max * job->pixel_um);
                cell(out, r->half_width * job->pixel_um);
            }
            putc('\n', out);
        }
        code = rg_file_commit(&file);
    }
    if (code == RG_GOOD && f.n == 0) rg_warn("no photograph has an R_max, so there is no %s", svg);
    if (code == RG_GOOD && job->gnuplot && f.n > 0) {
        rg_plot plot = {0};
        rg_plot_path(&plot, "DATA", path);
        rg_plot_text(&plot, "UNIT", job->has_times ? "time" : "photograph");
        rg_plot_number(&plot, "HAS_LINE", !isnan(f.slope));
        rg_plot_number(&plot, "ORIGIN_SLOPE", f.origin_slope);
        rg_plot_number(&plot, "INTERCEPT", f.intercept);
        rg_plot_number(&plot, "SLOPE", f.slope);
        code = rg_plot_draw(&plot, "autocorr_growth.gp", svg);
    }
    return code;
}
