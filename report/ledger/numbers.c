// SPDX-License-Identifier: MIT
#include "numbers.h"

#include "../../bench/stats/stats.h"
#include "../../impl/base/core.h"

enum { BOOTSTRAP_SEED = 1 }; // fixed, so that the same files give the same page

// ---- times ---------------------------------------------------------------------------------------------------------------

rg_estimate rg_median_of(const rg_samples *samples) {
    rg_summary s;
    rg_summarise(samples, &s);
    rg_estimate median = {s.median, NAN, NAN};
    if (samples->n < 2) return median;
    rg_samples ones = *samples;
    ones.ns = rg_alloc((size_t)ones.n * sizeof *ones.ns);
    for (int i = 0; i < ones.n; i++) ones.ns[i] = 1;
    const rg_ratio ratio = rg_ratio_of_medians(samples, &ones, BOOTSTRAP_SEED);
    median.value = ratio.ratio;
    median.low = ratio.low;
    median.high = ratio.high;
    free(ones.ns);
    return median;
}

rg_estimate rg_ratio_of(const rg_samples *a, const rg_samples *b) {
    const rg_ratio r = rg_ratio_of_medians(a, b, BOOTSTRAP_SEED);
    return a->n > 1 && b->n > 1 ? (rg_estimate){r.ratio, r.low, r.high} : (rg_estimate){r.ratio, NAN, NAN};
}

int rg_times_beside(rg_rows of_a, rg_rows of_b, bool gpu, rg_estimate *half) {
    int n = 0, most = 0;
    for (rg_cursor a = {.rows = of_a}; rg_next(&a);) most++;
    RG_FREED double *ratio = rg_alloc((size_t)most * sizeof *ratio);
    for (rg_cursor a = {.rows = of_a}; rg_next(&a);) {
        bool found = !rg_timed(a.row) || rg_on_gpu(a.row) != gpu || (!gpu && rg_row_threads(a.row, 0) != 1);
        for (rg_cursor b = {.rows = of_b}; !found && rg_next(&b);) {
            found = rg_timed(b.row) && rg_row_same(a.row, b.row);
            if (found) ratio[n++] = a.row->timed_ns / b.row->timed_ns;
        }
    }
    half->value = rg_median(ratio, n);
    if (n) half->low = rg_quantile(ratio, n, 0.25), half->high = rg_quantile(ratio, n, 0.75);
    return n;
}

double rg_more_work(const rg_row *a, const rg_row *b) {
    const double x = rg_cell_number(a, RG_C_WORK), y = rg_cell_number(b, RG_C_WORK);
    return x > 0 && y > 0 ? y / x : 1;
}

rg_estimate rg_time_ratio(const rg_row *a, const rg_row *b) {
    if (a == b) return (rg_estimate){1, 1, 1}; // compared with itself
    const double more = rg_more_work(a, b);
    RG_ENDS(rg_samples_free) rg_samples of_a = rg_row_samples(a), of_b = rg_row_samples(b);
    const rg_estimate ratio = rg_ratio_of(&of_a, &of_b);
    return (rg_estimate){more * ratio.value, more * ratio.low, more * ratio.high};
}

rg_estimate rg_calls_a_second(const rg_row *row) {
    RG_ENDS(rg_samples_free) rg_samples samples = rg_row_samples(row);
    const rg_estimate of = rg_median_of(&samples);
    const double ns = rg_row_ns(row, RG_C_MEDIAN) / rg_cell_number(row, RG_C_MEDIAN); // nanoseconds per unit of the row
    return (rg_estimate){1e9 / (ns * of.value), 1e9 / (ns * of.high), 1e9 / (ns * of.low)};
}

double rg_fixed_ns(rg_rows rows, const char *spec, const rg_row *of) {
    const char *shape = of->cell[RG_C_SHAPE], *particles = strstr(shape, ",p");
    const double work = rg_cell_number(of, RG_C_WORK);
    double few = work, few_ns = NAN;
    for (rg_cursor at = {.rows = rows}; particles && rg_next(&at);) {
        const double pieces = rg_cell_number(at.row, RG_C_WORK);
        if (rg_timed(at.row) && !strncmp(at.row->cell[RG_C_SHAPE], shape, (size_t)(particles - shape) + 2) &&
            !strcmp(at.row->cell[RG_C_SCOPE], of->cell[RG_C_SCOPE]) && rg_matches(at.row, spec) && pieces < few) {
            few = pieces;
            few_ns = rg_row_ns(at.row, RG_C_MEDIAN);
        }
    }
    return (work * few_ns - few * of->timed_ns) / (work - few);
}

// ---- tables of jobs ------------------------------------------------------------------------------------------

rg_samples rg_table_numbers(const rg_tsv *t, const char *key, const char *value, const char *shape, const char *number) {
    rg_samples s = {.processes = 1, .ns = rg_alloc((size_t)(t->n_rows + 1) * sizeof *s.ns)};
    for (int i = 0; i < t->n_rows; i++)
        if (!strcmp(rg_tsv_cell(t, i, key), value) && isfinite(rg_tsv_number(t, i, number)) &&
            (!*shape || !strcmp(rg_tsv_cell(t, i, "shape"), shape)))
            s.ns[s.n++] = rg_tsv_number(t, i, number);
    return s;
}

rg_line rg_line_fit(const double *x, const double *y, int n) {
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
