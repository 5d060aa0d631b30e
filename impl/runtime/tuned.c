// SPDX-License-Identifier: MIT
// tuned.c: reads, searches and writes data/tuned/NAME.tsv (tuned.h).
#include "tuned.h"
#include "../base/core.h"
#include "../base/log.h"
#include "cpu.h"
#include "../gpu/device.h"

#include <ctype.h>

static const char needed[] = "algo variant shape params";
static const char *const column[] = {"algo", "variant", "shape", "params", "median_ns", "rate", "rate_unit", "how"};

// The processor's name as a file name: each run of other characters than letters, digits and dots becomes a dash.
static void file_name(const char *processor, char name[128]) {
    size_t n = 0;
    for (const char *c = processor; *c && n < 120; c++)
        if (isalnum((unsigned char)*c) || *c == '.')
            name[n++] = *c;
        else if (n && name[n - 1] != '-')
            name[n++] = '-';
    while (n && name[n - 1] == '-') n--;
    snprintf(name + n, 128 - n, ".tsv");
}

// ---- reading -------------------------------------------------------------------------------------------------------------

// NULL if the table is valid here, else the reason why its values are not used.
static const char *stale(const rg_tsv *t, const char *processor) {
    static char why[400];
    const char *of = rg_tsv_head(t, "processor");
    if (of && !strcmp(of, processor)) return NULL;
    snprintf(why, sizeof why, "made on \"%.120s\", this is \"%s\"", of ? of : "", processor);
    return why;
}

// RG_GOOD also without a file: the table then has no rows. A malformed file is reported.
static int read_file(rg_tsv *t, const char *path) {
    *t = (rg_tsv){0};
    int code = access(path, F_OK) ? RG_GOOD : rg_tsv_read(path, t);
    if (code == RG_GOOD && t->path && (code = rg_tsv_needs(t, needed)) != RG_GOOD) rg_tsv_free(t);
    return code;
}

// Each file is allocated separately: callers keep it while those of other processors are read.
const rg_tsv *rg_tuned_file(const char *processor) {
    static struct known {
        struct known *next;
        char processor[128];
        rg_tsv file;
        bool holds;
    } * first;
    struct known *k = first;
    while (k && strcmp(k->processor, processor)) k = k->next;
    if (!k) {
        k = rg_alloc(sizeof *k);
        k->next = first;
        first = k;
        char name[128];
        file_name(processor, name);
        RG_FREED char *relative = rg_print("data/tuned/%s", name), *path = rg_share_path(relative);
        snprintf(k->processor, sizeof k->processor, "%s", processor);
        k->holds = read_file(&k->file, path) == RG_GOOD && k->file.path;
        const char *why = k->holds ? stale(&k->file, processor) : NULL;
        if (why) rg_warn("%s: %s: the defaults are used (run regather tune here)", path, why);
        k->holds = k->holds && !why;
    }
    return k->holds ? &k->file : NULL;
}

void rg_tuned_processor(const rg_entry *e, const char *device, char name[128]) {
    int index = 0;
    *name = 0;
    if (e->emulated) return;
    if (e->variant->space == RG_HOST) {
        rg_cpu_model(name);
        return;
    }
    if (device) sscanf(device, "gpu%d", &index);
    snprintf(name, 128, "%s", rg_gpu_name(index));
}

// ---- choosing ------------------------------------------------------------------------------------------------------------

// The distance between two shapes: the sum over their extents of |log2 of the ratio|.
static double apart(const rg_shape *a, const rg_shape *b) {
    double sum = 0;
    for (int i = 0; i < RG_DIMS; i++) sum += fabs(log2(((double)a->n[i] + 1) / ((double)b->n[i] + 1)));
    return sum;
}

static bool of_entry(const rg_tsv *f, int i, const rg_entry *e) {
    return !strcmp(rg_tsv_cell(f, i, "algo"), e->algo->name) && !strcmp(rg_tsv_cell(f, i, "variant"), e->name);
}

// Parameters that are best at one shape may be bad far from it: how many of 52 images gather inserts at a time says nothing of
// 100,000. Sides are tuned a factor of two apart. That leaves a factor of four for the images, by which the largest numbers that
// gather inserts at a time differ.
enum { NEAR = 3 };

// The row of the nearest shape that is less than this far away; *file is NULL if there is none.
static int row_of(const rg_entry *e, const char *device, const rg_shape *shape, double least, const rg_tsv **file) {
    char processor[128], why[160];
    rg_tuned_processor(e, device, processor);
    const rg_tsv *f = *processor ? rg_tuned_file(processor) : NULL;
    int best = -1;
    for (int i = 0; f && i < f->n_rows; i++) {
        rg_shape of = {.seed = 0};
        if (!of_entry(f, i, e) || !rg_shape_parse(e->algo, rg_tsv_cell(f, i, "shape"), &of, why) ||
            !(apart(shape, &of) < least))
            continue;
        least = apart(shape, &of);
        best = i;
    }
    *file = best < 0 ? NULL : f;
    return best;
}

// Copies the parameters of that row to param; false if there is none.
static bool lay_tuned(const rg_entry *e, const char *device, const rg_shape *shape, int64_t *param) {
    char why[160];
    const rg_tsv *f = NULL;
    const int best = e->variant->n_params ? row_of(e, device, shape, NEAR, &f) : -1;
    int64_t value[RG_PARAMS_MAX] = {0};
    if (!f || !rg_params_parse(e->variant, rg_tsv_cell(f, best, "params"), value, why)) return false;
    memcpy(param, value, (size_t)e->variant->n_params * sizeof *param);
    return true;
}

void rg_plan_time(const rg_entry *e, const char *device, const rg_shape *shape, double work) {
    const rg_tsv *f;
    char *what = rg_print("time of %s:%s", e->algo->name, e->name), text[96];
    const int row = row_of(e, device, shape, INFINITY, &f);
    const double rate = f ? rg_tsv_number(f, row, "rate") : NAN;
    rg_shape_print(e->algo, shape, text);
    if (rate > 0)
        rg_plan(what, "about %.3g s at the %s %s measured here at %s; files come beside", work / rate,
            rg_tsv_cell(f, row, "rate"), rg_tsv_cell(f, row, "rate_unit"), rg_tsv_cell(f, row, "shape"));
    else
        rg_plan(what, "not known; measured by: regather tune %s:%s --shape %s", e->algo->name, e->name, text);
    free(what);
}

bool rg_params_resolve(const rg_entry *e, const char *device, const rg_shape *shape, const char *given, int64_t *param,
    bool *tuned, char why[160]) {
    const rg_variant *v = e->variant;
    rg_params_standard(v, param);
    bool found = lay_tuned(e, device, shape, param);
    if (!rg_params_set(v, given, param, why)) return false;
    int64_t without[RG_PARAMS_MAX] = {0};
    rg_params_parse(v, given, without, why);
    if (found && v->refuse && v->refuse(shape, param)) memcpy(param, without, (size_t)v->n_params * sizeof *param);
    if (tuned) *tuned = memcmp(param, without, (size_t)v->n_params * sizeof *param) != 0;
    return true;
}

void rg_tuned_print(const rg_entry *e, const char *device, FILE *out) {
    char processor[128];
    rg_tuned_processor(e, device, processor);
    const rg_tsv *f = *processor ? rg_tuned_file(processor) : NULL;
    for (int i = 0; f && i < f->n_rows; i++)
        if (of_entry(f, i, e)) {
            fprintf(out, "  %-28s %s", "", rg_colour(out, "dim"));
            rg_tsv_print(out, "tuned on %s at %s: %s", processor, rg_tsv_cell(f, i, "shape"), rg_tsv_cell(f, i, "params"));
            fprintf(out, "%s\n", rg_colour(out, "off"));
        }
}

// ---- writing -------------------------------------------------------------------------------------------------------------

int rg_tuned_store(const char *folder, const char *processor, const char *driver, const rg_tuned_row *row, char path[512]) {
    char name[128];
    rg_tsv old;
    rg_file file;
    file_name(processor, name);
    snprintf(path, 512, "%s/%s", folder, name);
    int code = rg_make_folder(folder);
    rg_file_continues(path);
    if (code != RG_GOOD || (code = read_file(&old, path)) != RG_GOOD) // an unreadable file is not replaced
        return code;
    if ((code = rg_file_open(&file, path)) != RG_GOOD) {
        rg_tsv_free(&old);
        return code;
    }
    rg_tsv_print(file.stream,
        "# Best parameters that `regather tune` found, used for this processor only.\n"
        "# suite: regather " RG_VERSION "\n# processor: %s\n# driver: %s\n",
        processor, driver);
    for (int k = 0; k < RG_COUNT(column); k++) fprintf(file.stream, "%s%c", column[k], k + 1 < RG_COUNT(column) ? '\t' : '\n');
    for (int i = 0; old.path && !stale(&old, processor) && i < old.n_rows; i++)
        if (strcmp(rg_tsv_cell(&old, i, "algo"), row->algo) || strcmp(rg_tsv_cell(&old, i, "variant"), row->variant) ||
            strcmp(rg_tsv_cell(&old, i, "shape"), row->shape))
            for (int k = 0; k < RG_COUNT(column); k++)
                rg_tsv_print(file.stream, "%s%c", rg_tsv_cell(&old, i, column[k]), k + 1 < RG_COUNT(column) ? '\t' : '\n');
    rg_tsv_print(file.stream, "%s\t%s\t%s\t%s\t%.0f\t%.4g\t%s\t%s\n", row->algo, row->variant, row->shape, row->params,
        row->median_ns, row->rate, row->rate_unit, row->how);
    rg_tsv_free(&old);
    return rg_file_commit(&file);
}
