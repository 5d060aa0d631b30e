// SPDX-License-Identifier: MIT
#include "archive.h"

static const struct {
    const char *path, *columns;
    size_t at;
} table[] = {
    {"MANIFEST", "path bytes sha256", offsetof(rg_archive, manifest)},
    {"machine.tsv", "key value", offsetof(rg_archive, machine)},
    {"runs.tsv",
        "run job division kind began_s ended_s checked_s wall_s cpu_s others_cpu_s peak_bytes code input_sha256 output_sha256 difference error "
        "tolerance nonce status",
        offsetof(rg_archive, runs)},
    {"power.tsv", "job source first_run last_run window_s joules joules_a_run mean_W", offsetof(rg_archive, power)},
    {"summary.tsv", "job runs median_s", offsetof(rg_archive, summary)},
};
enum { TABLES = sizeof table / sizeof *table };

int rg_archive_table(const rg_archive *a, const char *path, rg_tsv *t) {
    const rg_bundled *f = rg_bundle_find(&a->bundle, path);
    if (!f) return rg_fail(RG_USAGE, "%s: expected an archive of `regather measure`, found no %s in it", a->bundle.path, path);
    RG_FREED char *name = rg_print("%s: %s", a->bundle.path, path);
    return rg_tsv_parse(name, f->bytes, f->n, t);
}

static int read_workload(rg_archive *a) {
    const rg_bundled *f = rg_bundle_find(&a->bundle, "workload.tsv");
    const char *size = rg_archive_value(a, "size");
    for (a->size = RG_SMALL; a->size < RG_SIZES && strcmp(size, rg_size_name[a->size]);) a->size++;
    if (!f || a->size == RG_SIZES)
        return rg_fail(RG_USAGE, "%s: expected an archive of `regather measure`, found %s", a->bundle.path,
            f ? "no size in its machine.tsv" : "no workload.tsv in it");
    RG_FREED char *name = rg_print("%s: workload.tsv", a->bundle.path);
    return rg_workload_parse(name, f->bytes, f->n, a->size, &a->workload);
}

int rg_archive_read(const char *path, rg_archive *a) {
    *a = (rg_archive){0};
    const char *base = rg_base_name(path), *dot = strrchr(base, '.');
    int code = rg_bundle_read(path, &a->bundle);
    if (code) return code;
    snprintf(a->label, sizeof a->label, "%.*s", dot && dot > base ? (int)(dot - base) : (int)strlen(base), base);
    for (int i = 0; i < TABLES && !code; i++) {
        rg_tsv *t = (rg_tsv *)((char *)a + table[i].at);
        code = rg_archive_table(a, table[i].path, t);
        code = code ? code : rg_tsv_needs(t, table[i].columns);
    }
    code = code ? code : read_workload(a);
    if (code) rg_archive_free(a);
    return code;
}

void rg_archive_free(rg_archive *a) {
    for (int i = 0; i < TABLES; i++) rg_tsv_free((rg_tsv *)((char *)a + table[i].at));
    rg_workload_free(&a->workload);
    rg_bundle_free(&a->bundle);
}

const char *rg_archive_value(const rg_archive *a, const char *key) {
    const int row = rg_tsv_find(&a->machine, "key", key);
    return row < 0 ? "" : rg_tsv_cell(&a->machine, row, "value");
}

double rg_archive_number(const rg_archive *a, const char *key) {
    char *end;
    const char *text = rg_archive_value(a, key);
    const double value = strtod(text, &end);
    return end == text ? NAN : value;
}

static bool counts(const rg_archive *a, int run, const char *job) {
    return !strcmp(rg_tsv_cell(&a->runs, run, "job"), job) && !strcmp(rg_tsv_cell(&a->runs, run, "kind"), "timed") &&
        !strcmp(rg_tsv_cell(&a->runs, run, "status"), "good");
}

double *rg_archive_times(const rg_archive *a, const char *job, int *n) {
    double *s = rg_alloc((size_t)a->runs.n_rows * sizeof *s + 1);
    *n = 0;
    for (int i = 0; i < a->runs.n_rows; i++)
        if (counts(a, i, job)) s[(*n)++] = rg_tsv_number(&a->runs, i, "wall_s");
    return s;
}

double rg_archive_median(const rg_archive *a, const char *job) {
    int n;
    RG_FREED double *s = rg_archive_times(a, job, &n);
    return rg_median(s, n);
}

double rg_archive_joules(const rg_archive *a, const char *job, const char **source) {
    double of[3] = {NAN, NAN, NAN};
    static const char *const name[] = {"meter", "NVML", "RAPL"};
    for (int i = 0; i < a->power.n_rows; i++)
        for (int k = 0; k < 3; k++)
            if (!strcmp(rg_tsv_cell(&a->power, i, "job"), job) && !strcmp(rg_tsv_cell(&a->power, i, "source"), name[k]))
                of[k] = rg_tsv_number(&a->power, i, "joules_a_run");
    *source = !isnan(of[0])            ? "meter"
        : isnan(of[1]) && isnan(of[2]) ? "none"
        : isnan(of[1])                 ? "RAPL, CPU packages alone"
        : isnan(of[2])                 ? "NVML, GPU boards alone"
                                       : "NVML + RAPL";
    return !isnan(of[0]) ? of[0] : isnan(of[1]) ? of[2] : isnan(of[2]) ? of[1] : of[1] + of[2];
}
