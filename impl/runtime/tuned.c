// SPDX-License-Identifier: MIT
// tuned.c: data/tuned/NAME.tsv read, chosen from, and written (tuned.h).
#include "tuned.h"
#include "../base/core.h"
#include "cpu.h"
#include "../gpu/device.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 8, ROWS_MAX = 512 };
enum { C_ALGO, C_VARIANT, C_SHAPE, C_PARAMS };
static const char columns[] = "algo\tvariant\tshape\tparams\tmedian_ns\trate\trate_unit\thow\n";

typedef struct tuned_file {
    char processor[128], suite[64]; // of the head
    int n;
    char *line[ROWS_MAX], *cell[ROWS_MAX][CELLS]; // cells point into a line of their own
} tuned_file;

// The name as a file's: everything but letters, digits and dots becomes one dash.
static void file_name(const char *processor, char name[128])
{
    size_t n = 0;
    for (const char *c = processor; *c && n < 120; c++)
        if (isalnum((unsigned char)*c) || *c == '.')
            name[n++] = *c;
        else if (n && name[n - 1] != '-')
            name[n++] = '-';
    while (n && name[n - 1] == '-')
        n--;
    snprintf(name + n, 128 - n, ".tsv");
}

// ---- reading -------------------------------------------------------------------------------------------------------------

static void take_line(tuned_file *f, char *line)
{
    line[strcspn(line, "\r\n")] = 0;
    if (*line == '#') {
        sscanf(line, "# processor: %127[^\n]", f->processor);
        sscanf(line, "# suite: %63[^\n]", f->suite);
        return;
    }
    if (f->n == ROWS_MAX || !*line || !strncmp(line, columns, 5))
        return;
    char *rest = f->line[f->n] = rg_print("%s", line);
    for (int c = 0; c < CELLS; c++)
        if (!(f->cell[f->n][c] = strsep(&rest, "\t"))) { // a damaged row is as good as none
            free(f->line[f->n]);
            return;
        }
    f->n++;
}

static bool read_file(tuned_file *f, const char *path)
{
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    *f = (tuned_file){.n = 0};
    while (in && getline(&line, &room, in) > 0)
        take_line(f, line);
    free(line);
    if (in)
        fclose(in);
    return in != NULL;
}

static void free_file(tuned_file *f)
{
    for (int i = 0; i < f->n; i++)
        free(f->line[i]);
    f->n = 0;
}

// NULL when the file holds here, else why its values are left alone.
static const char *stale(const tuned_file *f, const char *processor)
{
    static char why[400];
    if (strcmp(f->processor, processor))
        snprintf(why, sizeof why, "made on \"%s\", this is \"%s\"", f->processor, processor);
    else if (strcmp(f->suite, "regather " RG_VERSION))
        snprintf(why, sizeof why, "made by \"%s\", this is \"regather " RG_VERSION "\"", f->suite);
    else
        return NULL;
    return why;
}

// The file of this processor, read once; NULL when there is none that holds.
static const tuned_file *file_of(const char *processor)
{
    static struct known {
        char processor[128];
        tuned_file file;
        bool holds;
    } *known;
    static int n;
    for (int i = 0; i < n; i++)
        if (!strcmp(known[i].processor, processor))
            return known[i].holds ? &known[i].file : NULL;
    struct known *more = rg_alloc((size_t)(n + 1) * sizeof *more);
    if (n)
        memcpy(more, known, (size_t)n * sizeof *more);
    free(known);
    known = more;
    char name[128];
    file_name(processor, name);
    char *relative = rg_print("data/tuned/%s", name), *path = rg_share_path(relative);
    struct known *k = &known[n++];
    snprintf(k->processor, sizeof k->processor, "%s", processor);
    bool there = read_file(&k->file, path);
    const char *why = there ? stale(&k->file, processor) : NULL;
    if (why)
        rg_warn("%s: %s: the defaults hold (run regather tune here)", path, why);
    k->holds = there && !why;
    free(relative);
    free(path);
    return k->holds ? &k->file : NULL;
}

void rg_tuned_processor(const rg_entry *e, const char *device, char name[128])
{
    int index = 0;
    *name = 0;
    if (e->emulated)
        return;
    if (e->variant->space == RG_HOST) {
        rg_cpu_model(name);
        return;
    }
    if (device)
        sscanf(device, "gpu%d", &index);
    snprintf(name, 128, "%s", rg_gpu_name(index));
}

// ---- choosing ------------------------------------------------------------------------------------------------------------

// How far apart two shapes are: the sum over their extents of |log2 of the ratio|.
static double apart(const rg_shape *a, const rg_shape *b)
{
    double sum = 0;
    for (int i = 0; i < RG_DIMS; i++)
        sum += fabs(log2(((double)a->n[i] + 1) / ((double)b->n[i] + 1)));
    return sum;
}

static bool of_entry(const tuned_file *f, int i, const rg_entry *e)
{
    return !strcmp(f->cell[i][C_ALGO], e->algo->name) && !strcmp(f->cell[i][C_VARIANT], e->name);
}

// The row of the nearest shape laid over param; false when there is none.
static bool take_tuned(const rg_entry *e, const char *device, const rg_shape *shape, int64_t *param)
{
    char processor[128], why[160];
    rg_tuned_processor(e, device, processor);
    const tuned_file *f = *processor && e->variant->n_params ? file_of(processor) : NULL;
    int best = -1;
    double least = INFINITY;
    for (int i = 0; f && i < f->n; i++) {
        rg_shape of = {.seed = 0};
        if (!of_entry(f, i, e) || !rg_shape_parse(e->algo, f->cell[i][C_SHAPE], &of, why) || !(apart(shape, &of) < least))
            continue;
        least = apart(shape, &of);
        best = i;
    }
    int64_t value[RG_PARAMS_MAX] = {0};
    if (best < 0 || !rg_params_parse(e->variant, f->cell[best][C_PARAMS], value, why))
        return false;
    memcpy(param, value, (size_t)e->variant->n_params * sizeof *param);
    return true;
}

bool rg_params_resolve(const rg_entry *e, const char *device, const rg_shape *shape, const char *given, int64_t *param,
                       bool *tuned, char why[160])
{
    const rg_variant *v = e->variant;
    rg_params_standard(v, param);
    bool took = take_tuned(e, device, shape, param);
    if (!rg_params_set(v, given, param, why))
        return false;
    int64_t without[RG_PARAMS_MAX] = {0};
    rg_params_parse(v, given, without, why);
    if (took && v->refuse && v->refuse(shape, param))
        memcpy(param, without, (size_t)v->n_params * sizeof *param);
    if (tuned)
        *tuned = memcmp(param, without, (size_t)v->n_params * sizeof *param) != 0;
    return true;
}

void rg_tuned_print(const rg_entry *e, const char *device, FILE *out)
{
    char processor[128];
    rg_tuned_processor(e, device, processor);
    const tuned_file *f = *processor ? file_of(processor) : NULL;
    for (int i = 0; f && i < f->n; i++)
        if (of_entry(f, i, e))
            fprintf(out, "  %-28s %stuned on %s at %s: %s%s\n", "", rg_colour(out, "dim"), processor, f->cell[i][C_SHAPE],
                    f->cell[i][C_PARAMS], rg_colour(out, "off"));
}

// ---- writing -------------------------------------------------------------------------------------------------------------

static void write_row(FILE *out, const rg_tuned_row *r)
{
    fprintf(out, "%s\t%s\t%s\t%s\t%.0f\t%.4g\t%s\t%s\n", r->algo, r->variant, r->shape, r->params, r->median_ns, r->rate,
            r->rate_unit, r->how);
}

int rg_tuned_store(const char *folder, const char *processor, const char *driver, const rg_tuned_row *row, char path[512])
{
    char name[128];
    tuned_file old;
    rg_file file;
    file_name(processor, name);
    snprintf(path, 512, "%s/%s", folder, name);
    int code = rg_make_folder(folder);
    if (code != RG_GOOD || (code = rg_file_open(&file, path)) != RG_GOOD)
        return code;
    bool keep = read_file(&old, path) && !stale(&old, processor);
    fprintf(file.stream,
            "# Best parameters that `regather tune` found, taken for this processor and version of the suite only.\n"
            "# suite: regather " RG_VERSION "\n# processor: %s\n# driver: %s\n%s", processor, driver, columns);
    for (int i = 0; keep && i < old.n; i++) {
        char **c = old.cell[i];
        if (strcmp(c[C_ALGO], row->algo) || strcmp(c[C_VARIANT], row->variant) || strcmp(c[C_SHAPE], row->shape))
            for (int k = 0; k < CELLS; k++)
                fprintf(file.stream, "%s%c", c[k], k + 1 < CELLS ? '\t' : '\n');
    }
    write_row(file.stream, row);
    free_file(&old);
    return rg_file_commit(&file);
}
