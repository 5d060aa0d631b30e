// SPDX-License-Identifier: MIT
// figures_listed.c: the figures of plots/figures.tsv, one row each: a new paper adds rows and a script, and nothing here.
//
// kind rows: series "LABEL=ALGO:VARIANT name=value@part;part", separated by commas, against the part x of the shape; what was
// timed goes to fig/NAME.tsv (series x shape params rate ratio ... error joules), which the script draws; ratio is time(base) /
// time(series), of equal work.
// kind tables: the small tables named in series have to be there; the script gets each path as TABLE_NAME.
#include "../../impl/base/core.h"
#include "../../impl/suite.h"
#include "figures.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct listed {
    rg_report *report;
    const rg_bench_machine *machine;
    const char *paper, *name, *series, *base, *x, *shape, *scopes, *needs;
} listed;

static bool next_of(const char **at, char text[160])
{
    if (!**at)
        return false;
    size_t length = strcspn(*at, ",");
    snprintf(text, 160, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ',');
    return true;
}

// Whether the row has a value in this column.
static bool lists(const rg_row *row, const char *column)
{
    for (int c = 0; c < RG_COLUMNS; c++)
        if (!strcmp(rg_column_name[c], column))
            return *row->cell[c];
    return false;
}

// The row that the ratio of one at this shape rests on: at the same shape, or at that which the base names after '@'. A base
// "*:naive@p1" is of the series' own algorithm and has the parts of the series' shape, too.
static bool partner_at(const listed *l, const char *spec, const char *shape, int64_t x, rg_measure *partner)
{
    char base[200];
    const char *parts = strchr(spec, '@');
    if (*l->base == '*')
        snprintf(base, sizeof base, "%.*s%s%s%s", (int)strcspn(spec, ":"), spec, l->base + 1,
                 parts && strchr(l->base, '@') ? ";" : "", parts ? parts + (strchr(l->base, '@') != NULL) : "");
    else
        snprintf(base, sizeof base, "%s", l->base);
    if (rg_pick(l->machine, base, shape, l->scopes, partner))
        return true;
    for (int f = 0; strchr(base, '@') && f < l->machine->n_files; f++)
        for (int i = 0; i < l->machine->file[f].n_rows; i++) {
            const rg_row *row = &l->machine->file[f].row[i];
            if (rg_timed(row) && rg_matches(row, base) && rg_part(row->cell[RG_C_SHAPE], ",", l->x, -1) == x &&
                rg_pick(l->machine, base, row->cell[RG_C_SHAPE], l->scopes, partner))
                return true;
        }
    return false;
}

// The row of spec that stands for x: with a partner where there is a base; of the most work.
static bool best_at(const listed *l, const char *spec, int64_t x, rg_measure *best, rg_measure *partner)
{
    double most = -1;
    for (int f = 0; f < l->machine->n_files; f++)
        for (int i = 0; i < l->machine->file[f].n_rows; i++) {
            const rg_row *row = &l->machine->file[f].row[i];
            const char *shape = row->cell[RG_C_SHAPE];
            rg_measure a, b = {0};
            double work = rg_cell_number(row, RG_C_WORK);
            if (!rg_timed(row) || !(work > most) || !rg_matches(row, spec) || rg_part(shape, ",", l->x, -1) != x ||
                !rg_shaped(shape, l->shape, ",") || !rg_pick(l->machine, spec, shape, l->scopes, &a) ||
                (*l->base && !partner_at(l, spec, shape, x, &b)))
                continue;
            if (*l->needs && !lists(a.row, l->needs))
                continue;
            most = work;
            *best = a;
            *partner = b;
        }
    return most >= 0;
}

static const char *or_nan(const rg_row *row, rg_column c) { return *row->cell[c] ? row->cell[c] : "NaN"; }

static void write_point(const listed *l, FILE *out, const char *label, int64_t x, const rg_measure *a, const rg_measure *b)
{
    double ratio = NAN, low = NAN, high = NAN;
    if (*l->base)
        ratio = rg_time_ratio(b, a, &low, &high);
    const rg_row *row = a->row;
    rg_tsv_print(out, "%s\t%lld\t%s\t%s\t%s\t%s\t%.6g\t%s\t%.6g\t%.6g\t%.6g\t%s\t%s\t%s\t%s\n", label, (long long)x,
                 row->cell[RG_C_SHAPE], row->cell[RG_C_PARAMS], row->cell[RG_C_SCOPE], row->cell[RG_C_MODE],
                 rg_cell_number(row, RG_C_RATE), row->cell[RG_C_RATE_UNIT], ratio, low, high, or_nan(row, RG_C_ERROR),
                 or_nan(row, RG_C_TOL), or_nan(row, RG_C_JOULES), row->cell[RG_C_WORK]);
}

enum { X_MOST = 8192 }; // extents up to here are looked for

static int write_series(const listed *l, FILE *out, const char *series)
{
    char label[160];
    const char *equals = strchr(series, '=');
    snprintf(label, sizeof label, "%.*s", (int)(equals ? equals - series : 0), series);
    int n = 0;
    bool seen[X_MOST] = {false};
    for (int f = 0; f < l->machine->n_files; f++)
        for (int i = 0; i < l->machine->file[f].n_rows; i++) {
            const rg_row *row = &l->machine->file[f].row[i];
            int64_t x = rg_matches(row, equals + 1) ? rg_part(row->cell[RG_C_SHAPE], ",", l->x, -1) : -1;
            if (x >= 0 && x < X_MOST)
                seen[x] = true;
        }
    for (int64_t x = 0; x < X_MOST; x++) { // in order, so that lines can be drawn
        rg_measure a, b;
        if (seen[x] && best_at(l, equals + 1, x, &a, &b)) {
            write_point(l, out, label, x, &a, &b);
            n++;
        }
    }
    return n;
}

enum { SERIES_MOST = 64 };

// fig/NAME.tsv, and the labels of the series that have points. false without any.
static bool set_rows(const listed *l, rg_plot *v)
{
    char series[160], *label[SERIES_MOST];
    char *path = rg_print("%s/fig/%s%s%s.tsv", l->report->out, l->name, l->machine->here ? "" : "-",
                          l->machine->here ? "" : l->machine->label);
    rg_file file;
    int n = 0;
    bool good = false;
    if (rg_file_open(&file, path) == RG_GOOD) {
        fputs("series\tx\tshape\tparams\tscope\tmode\trate\trate_unit\tratio\tratio_low\tratio_high\terror\ttol\tjoules\t"
              "work\n", file.stream);
        for (const char *at = l->series; next_of(&at, series) && n < SERIES_MOST;)
            if (strchr(series, '=') && write_series(l, file.stream, series))
                label[n++] = rg_print("%.*s", (int)strcspn(series, "="), series);
        if (!n)
            rg_file_abandon(&file);
        else if ((good = rg_file_commit(&file) == RG_GOOD)) {
            rg_plot_path(v, "DATA", path);
            rg_plot_texts(v, "SERIES", n, (const char *const *)label);
        }
    }
    for (int i = 0; i < n; i++)
        free(label[i]);
    free(path);
    return good;
}

// "stages", "stages?" (may be absent), "stages?=AS" (handed over as AS): whether all that have to be there are, and at least
// one.
static bool set_tables(const listed *l, rg_plot *v)
{
    char name[160];
    int found = 0;
    for (const char *at = l->series; next_of(&at, name);) {
        char *as = strchr(name, '=');
        if (as)
            *as++ = 0;
        bool optional = strchr(name, '?') != NULL;
        name[strcspn(name, "?")] = 0;
        const rg_tsv *t = rg_machine_table(l->machine, name);
        if (!t && !optional)
            return false;
        char *variable = as ? rg_print("%s", as) : rg_print("TABLE_%s", name);
        if (t) {
            rg_plot_path(v, variable, t->path);
            found++;
        }
        free(variable);
    }
    return found > 0;
}

static void draw(const rg_tsv *list, int row, listed *l)
{
    rg_report *r = l->report;
    const char *kind = rg_tsv_cell(list, row, "kind");
    int paper = rg_paper_of(&r->claims, l->paper);
    rg_plot v = {0};
    if (paper < 0 || !(!strcmp(kind, "rows") ? set_rows(l, &v) : set_tables(l, &v))) {
        rg_plot_free(&v);
        return;
    }
    rg_set_published(&v, &r->claims, paper);
    rg_plot_text(&v, "MACHINE", l->machine->label);
    rg_figure *f = rg_figure_new(r, rg_tsv_cell(&r->claims.paper, paper, "paper"), l->name,
                                 l->machine->here ? "" : l->machine->label);
    f->machine = (int)(l->machine - r->machine);
    snprintf(f->caption, sizeof f->caption, "%.250s %s.", rg_tsv_cell(list, row, "caption"),
             l->machine->here ? "This machine" : "Reference machine");
    snprintf(f->alt, sizeof f->alt, "%.120s; %.70s", rg_tsv_cell(list, row, "alt"), l->machine->label);
    rg_draw_one(r, f, &v);
}

void rg_draw_listed(rg_report *r)
{
    static rg_tsv list; // names of figures are kept by them until the end
    char *path = rg_print("%s/figures.tsv", r->plots);
    if (!list.path && rg_tsv_read(path, &list) != RG_GOOD)
        list.n_rows = 0;
    free(path);
    for (int i = 0; i < list.n_rows; i++)
        for (int m = 0; m < r->n_machines; m++) {
            listed l = {r, &r->machine[m], rg_tsv_cell(&list, i, "paper"), rg_tsv_cell(&list, i, "name"),
                        rg_tsv_cell(&list, i, "series"), rg_tsv_cell(&list, i, "base"), rg_tsv_cell(&list, i, "x"),
                        rg_tsv_cell(&list, i, "shape"), rg_tsv_cell(&list, i, "scope"), rg_tsv_cell(&list, i, "needs")};
            draw(&list, i, &l);
        }
}
