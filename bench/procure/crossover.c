// SPDX-License-Identifier: MIT
// crossover.c: where scatter and gather cross: a measured grid, and the border that rows of other sizes predict: see predict.h.
#include "predict.h"

#include "../../impl/base/core.h"
#include "../../impl/base/plot.h"

#include <stdlib.h>
#include <string.h>

enum { PAIRS_MOST = 8, STEPS = 64 };

typedef struct pair {
    const rg_point *scatter, *gather; // one of each
    rg_fit fit[2];
    int cells, predicted, scatter_wins, right; // right: of the predicted ones, as to which is faster
    double squares;                            // of log2(predicted ratio / measured ratio)
} pair;

typedef struct map {
    rg_points grid;
    int n, x, y; // dims of the shape
    pair pair[PAIRS_MOST];
} map;

static const rg_point *same_place(const rg_points *g, const rg_point *like, const rg_entry *e)
{
    for (int i = 0; i < g->n; i++)
        if (g->point[i].entry == e && g->point[i].computer == like->computer &&
            !memcmp(&g->point[i].shape, &like->shape, sizeof like->shape))
            return &g->point[i];
    return NULL;
}

// Rows that the grid has are no prediction of it: the records without them.
static rg_points others(const rg_points *records, const rg_points *grid)
{
    rg_points p = *records;
    p.point = rg_alloc((size_t)(records->n + 1) * sizeof *p.point);
    p.n = 0;
    for (int i = 0; i < records->n; i++) {
        const rg_point *at = &records->point[i];
        const rg_computer *c = &records->computer[at->computer];
        bool there = false;
        for (int k = 0; k < grid->n && !there; k++) {
            const rg_computer *its = &grid->computer[grid->point[k].computer];
            there = grid->point[k].entry == at->entry && !memcmp(&grid->point[k].shape, &at->shape, sizeof at->shape) &&
                !strcmp(its->label, c->label) && its->threads == c->threads;
        }
        if (!there) p.point[p.n++] = *at;
    }
    return p;
}

static bool is_first(const rg_points *g, int i)
{
    for (int k = 0; k < i; k++)
        if (g->point[k].entry == g->point[i].entry) return false;
    return true;
}

static int find_pairs(map *m, const rg_points *records, const char *path)
{
    const rg_points *g = &m->grid;
    for (int i = 0; i < g->n; i++)
        for (int k = 0; k < g->n && strstr(g->point[i].entry->name, "scatter") && is_first(g, i); k++)
            if (is_first(g, k) && g->point[k].entry->algo == g->point[i].entry->algo &&
                strstr(g->point[k].entry->name, "gather") && g->point[k].computer == g->point[i].computer && m->n < PAIRS_MOST)
                m->pair[m->n++] = (pair){&g->point[i], &g->point[k],
                    {rg_fit_of(records, g->point[i].entry), rg_fit_of(records, g->point[k].entry)}, .cells = 0};
    bool varies[RG_DIMS] = {false};
    int n = 0;
    for (int i = 1; i < g->n; i++)
        for (int d = 0; d < RG_DIMS; d++) {
            n += !varies[d] && g->point[i].shape.n[d] != g->point[0].shape.n[d];
            varies[d] |= g->point[i].shape.n[d] != g->point[0].shape.n[d];
        }
    if (!m->n || n != 2)
        return rg_fail(RG_USAGE,
            "%s: expected rows of a variant named scatter and of one named gather, over two extents that vary; found %d pairs, %d extents",
            path, m->n, n);
    for (m->x = 0; !varies[m->x];) m->x++;
    for (m->y = m->x + 1; !varies[m->y];) m->y++;
    return RG_GOOD;
}

// log2 of scatter's time over gather's, by the records at the grid's rates; NaN where they tell nothing.
static double predicted_log2(const map *m, const pair *at, const rg_shape *shape)
{
    double s[2];
    for (int k = 0; k < 2; k++) {
        const rg_point *of = k ? at->gather : at->scatter;
        const rg_bound_s bound = rg_bound(of->entry, shape, of->param, m->grid.computer[of->computer].per_s);
        s[k] = at->fit[k].n ? rg_fit_s(&at->fit[k], &bound) : NAN;
    }
    return log2(s[0] / s[1]);
}

static void write_cells(map *m, FILE *f)
{
    fprintf(f, "pair\tscatter\tgather\t%s\t%s\tscatter_s\tgather_s\tlog2_ratio\tpredicted_log2\n",
        m->pair->scatter->entry->algo->dim_name[m->x], m->pair->scatter->entry->algo->dim_name[m->y]);
    for (int p = 0; p < m->n; p++) {
        pair *at = &m->pair[p];
        for (int i = 0; i < m->grid.n; i++) {
            const rg_point *a = &m->grid.point[i],
                           *b = a->entry == at->scatter->entry ? same_place(&m->grid, a, at->gather->entry) : NULL;
            if (!b) continue;
            const double ratio = log2(a->seconds / b->seconds), predicted = predicted_log2(m, at, &a->shape);
            rg_tsv_print(f, "%d\t%s\t%s\t%lld\t%lld\t%.6g\t%.6g\t%.4f\t", p + 1, a->entry->name, b->entry->name,
                (long long)a->shape.n[m->x], (long long)a->shape.n[m->y], a->seconds, b->seconds, ratio);
            if (isnan(predicted))
                fprintf(f, "-\n");
            else
                fprintf(f, "%.4f\n", predicted);
            at->cells++;
            at->scatter_wins += ratio < 0;
            at->predicted += !isnan(predicted);
            at->right += (predicted < 0) == (ratio < 0) && !isnan(predicted);
            at->squares += isnan(predicted) ? 0 : (predicted - ratio) * (predicted - ratio);
        }
    }
}

static int64_t step(double low, double high, double at) { return llround(low * pow(high / low, at)); }

static void write_border(const map *m, FILE *f)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0};
    for (int i = 0; i < m->grid.n; i++)
        for (int k = 0; k < 2; k++) {
            const double n = (double)m->grid.point[i].shape.n[k ? m->y : m->x];
            low[k] = fmin(low[k], n);
            high[k] = fmax(high[k], n);
        }
    fprintf(f, "pair\tx\ty\n");
    for (int p = 0; p < m->n; p++)
        for (int i = 0; i <= STEPS; i++) {
            double before = NAN, y_before = 0;
            if (i && step(low[0], high[0], (double)i / STEPS) == step(low[0], high[0], (double)(i - 1) / STEPS)) continue;
            for (int k = 0; k <= 4 * STEPS; k++) {
                rg_shape shape = m->pair[p].scatter->shape;
                shape.n[m->x] = step(low[0], high[0], (double)i / STEPS);
                shape.n[m->y] = step(low[1], high[1], 0.25 * k / STEPS);
                const double now = predicted_log2(m, &m->pair[p], &shape), y = (double)shape.n[m->y];
                if (before * now < 0) fprintf(f, "%d\t%lld\t%.6g\n", p + 1, (long long)shape.n[m->x], sqrt(y * y_before));
                before = now;
                y_before = y;
            }
        }
}

static int draw(const map *m, const char *folder)
{
    rg_plot plot = {0};
    const char *title[PAIRS_MOST];
    const rg_algo *algo = m->pair->scatter->entry->algo;
    char *cells = rg_print("%s/crossover.tsv", folder), *border = rg_print("%s/border.tsv", folder),
         *path = rg_print("%s/crossover.svg", folder);
    char *text[PAIRS_MOST];
    for (int p = 0; p < m->n; p++)
        title[p] = text[p] = rg_print("%s against %s", m->pair[p].scatter->entry->name, m->pair[p].gather->entry->name);
    rg_plot_path(&plot, "DATA", cells);
    rg_plot_path(&plot, "BORDER", border);
    rg_plot_texts(&plot, "TITLES", m->n, title);
    rg_plot_text(&plot, "RATIO", "time of scatter / time of gather");
    rg_plot_text(&plot, "XNAME", algo->dim_name[m->x]);
    rg_plot_text(&plot, "YNAME", algo->dim_name[m->y]);
    const int code = rg_plot_draw(&plot, "crossover.gp", path);
    for (int p = 0; p < m->n; p++) free(text[p]);
    free(cells), free(border), free(path);
    return code;
}

static int write_file(map *m, const char *folder, const char *name, const char *command, bool border)
{
    rg_file file;
    char *path = rg_print("%s/%s", folder, name);
    const int code = rg_file_open(&file, path);
    free(path);
    if (code) return code;
    rg_tsv_print(file.stream, "# regather predict %s\n# command: %s\n", RG_VERSION, command);
    border ? write_border(m, file.stream) : write_cells(m, file.stream);
    return rg_file_commit(&file);
}

int rg_crossover(const rg_points *records, const char *grid, const char *folder, const char *command)
{
    map m = {.n = 0};
    int code = rg_points_read(&m.grid, grid);
    rg_points rest = others(records, &m.grid);
    code = code ? code : find_pairs(&m, &rest, grid);
    free(rest.point);
    code = code ? code : rg_make_folder(folder);
    code = code ? code : write_file(&m, folder, "crossover.tsv", command, false);
    code = code ? code : write_file(&m, folder, "border.tsv", command, true);
    code = code ? code : draw(&m, folder);
    for (int p = 0; p < m.n && !code; p++) {
        const pair *at = &m.pair[p];
        printf("%s against %s: %s is faster at %d of %d sizes", at->scatter->entry->name, at->gather->entry->name,
            at->scatter->entry->name, at->scatter_wins, at->cells);
        if (at->predicted)
            printf("; predicted right at %d of %d, the ratio off by a factor of %.3g (rms)\n", at->right, at->predicted,
                exp2(sqrt(at->squares / at->predicted)));
        else
            printf("; no row of both in the records, so no prediction\n");
    }
    rg_points_free(&m.grid);
    return code;
}
