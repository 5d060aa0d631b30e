// SPDX-License-Identifier: MIT
// show.c: prints rows as tables for people. Everything printed comes from rows, so that a resumed run shows what its file
// contains.
#include "timing.h"

void rg_show_scaled(double value, char text[32]) {
    static const char *const prefix[] = {"", " k", " M", " G", " T", " P"};
    int i = 0;
    while (i < RG_COUNT(prefix) - 1 && fabs(value) >= 999.5) {
        value /= 1e3;
        i++;
    }
    snprintf(text, 32, "%.3g%s", value, prefix[i]);
}

// "naive", or one of several such: "naive_scatter".
static bool is_naive(const char *variant) { return !strncmp(variant, "naive", 5) && (!variant[5] || variant[5] == '_'); }

// The baseline of speed-ups: the algorithm's first naive variant on one core.
static const rg_row *baseline(const rg_row *row, int n) {
    for (int i = 0; i < n; i++)
        if (rg_row_is_timed(&row[i]) && is_naive(row[i].cell[RG_C_VARIANT]) &&
            !strncmp(row[i].cell[RG_C_PARAMS], "threads=1", 9) && !strcmp(row[i].cell[RG_C_MODE], "hot"))
            return &row[i];
    return NULL;
}

static rg_ratio ratio_of_rows(const rg_row *above, const rg_row *below, uint64_t seed) {
    RG_ENDS(rg_samples_free) rg_samples a = rg_row_samples(above), b = rg_row_samples(below);
    return rg_ratio_of_medians(&a, &b, seed);
}

static void show_row(FILE *f, const rg_row *row, const rg_row *naive, uint64_t seed) {
    char time[32], rate[32], interval[32] = "", speed[64] = "", bound[96] = "";
    rg_duration(rg_cell_number(row, RG_C_MEDIAN), time);
    rg_show_scaled(rg_cell_number(row, RG_C_RATE), rate);
    RG_ENDS(rg_samples_free) rg_samples samples = rg_row_samples(row);
    rg_summary s;
    rg_summarise(&samples, &s);
    if (isfinite(rg_relative_width(&s)))
        snprintf(interval, sizeof interval, rg_relative_width(&s) < 10 ? "%.2g %%" : "> 999 %%", 100 * rg_relative_width(&s));
    if (naive) {
        rg_ratio r = ratio_of_rows(naive, row, seed);
        if (naive == row)
            snprintf(speed, sizeof speed, "1");
        else if (isinf(r.high))
            snprintf(speed, sizeof speed, "%.4g (one sample)", r.ratio);
        else
            snprintf(speed, sizeof speed, "%.4g [%.4g, %.4g]", r.ratio, r.low, r.high);
    }
    if (*row->cell[RG_C_ABOVE])
        snprintf(bound, sizeof bound, "above %.40s as probed (busy?)", row->cell[RG_C_BOUND]);
    else if (*row->cell[RG_C_FRACTION])
        snprintf(bound, sizeof bound, "%3.0f %% of %.40s", 100 * rg_cell_number(row, RG_C_FRACTION), row->cell[RG_C_BOUND]);
    fprintf(f, "  %-15s %-22s %-8s %-4s %11s %7s %9s  %-25s %s\n", row->cell[RG_C_VARIANT], row->cell[RG_C_PARAMS],
        row->cell[RG_C_SCOPE], row->cell[RG_C_MODE], time, interval, rate, speed, bound);
}

static bool of_one_reason(const rg_row *a, const rg_row *b) {
    return !rg_row_is_timed(a) && !strcmp(a->cell[RG_C_STOP], b->cell[RG_C_STOP]) &&
        !strcmp(a->cell[RG_C_DETAIL], b->cell[RG_C_DETAIL]);
}

// Prints the variants without a time, a line for each reason.
static void show_untimed(FILE *f, const rg_row *row, int n) {
    char reason[RG_REASON];
    for (int i = 0; i < n; i++) {
        bool told = rg_row_is_timed(&row[i]);
        for (int k = 0; k < i && !told; k++) told = of_one_reason(&row[k], &row[i]);
        if (told) continue;
        bool skipped = !strcmp(row[i].cell[RG_C_STATUS], "SKIP");
        fprintf(f, "  %s%-7s%s ", rg_colour(f, skipped ? "dim" : "red"), row[i].cell[RG_C_STATUS], rg_colour(f, "off"));
        const char *last = "";
        for (int k = i; k < n; k++)
            if (of_one_reason(&row[k], &row[i]) && strcmp(last, row[k].cell[RG_C_VARIANT])) {
                fprintf(f, "%s%s", *last ? ", " : "", row[k].cell[RG_C_VARIANT]);
                last = row[k].cell[RG_C_VARIANT];
            }
        rg_row_reason(&row[i], reason);
        fprintf(f, ": %s\n", reason);
    }
}

void rg_show_rows(FILE *f, const rg_row *row, int n, uint64_t seed) {
    if (!n) return;
    const rg_algo *algo = rg_algo_find(row[0].cell[RG_C_ALGO]);
    rg_shape shape;
    char words[192], why[160];
    snprintf(words, sizeof words, "%s", row[0].cell[RG_C_SHAPE]);
    if (algo && rg_shape_parse(algo, row[0].cell[RG_C_SHAPE], &shape, why)) rg_shape_describe(algo, &shape, words);
    fprintf(f, "\n%s%s %s%s  rate in %s\n", rg_colour(f, "bold"), row[0].cell[RG_C_ALGO], words, rg_colour(f, "off"),
        row[0].cell[RG_C_RATE_UNIT]);
    const rg_row *naive = baseline(row, n);
    bool headed = false;
    for (int i = 0; i < n; i++)
        if (rg_row_is_timed(&row[i])) {
            if (!headed) {
                char times[48];
                snprintf(times, sizeof times, "times %.20s, 1 core", naive ? naive->cell[RG_C_VARIANT] : "naive");
                fprintf(f, "%s  %-15s %-22s %-8s %-4s %11s %7s %9s  %-25s %s%s\n", rg_colour(f, "dim"), "variant", "params",
                    "scope", "mode", "median", "+-95%", "rate", times, "bound", rg_colour(f, "off"));
            }
            headed = true;
            show_row(f, &row[i], naive, seed);
        }
    show_untimed(f, row, n);
    fflush(f);
}

void rg_show_probes(FILE *f, const rg_row *row, int n) {
    const char *last = "";
    for (int i = 0; i < n; i++) {
        if (!rg_row_is_probe(&row[i]) || !*row[i].cell[RG_C_RATE]) continue;
        char rate[32];
        rg_show_scaled(rg_cell_number(&row[i], RG_C_RATE), rate);
        const char *where = *row[i].cell[RG_C_PARAMS] == '-' ? "GPU" : row[i].cell[RG_C_PARAMS];
        if (strcmp(last, where)) fprintf(f, "%smeasured rates, %s:", *last ? "\n" : "", where);
        last = where;
        fprintf(f, "  %s %s%s", row[i].cell[RG_C_VARIANT], rate, row[i].cell[RG_C_RATE_UNIT]);
    }
    fprintf(f, "%s", *last ? "\n" : "");
}
