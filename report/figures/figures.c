// SPDX-License-Identifier: MIT
// figures.c: draws the figures of plots/figures.tsv, a row per figure; a new paper adds rows and a script, and nothing here.
//
// The scripts in plots/ contain neither our numbers nor file names: both are found here and passed as variables. Each figure is
// saved as fig/NAME.gp with its data beside it before it is drawn, so that a reader can draw it again.
#include "figures.h"

#include "../../impl/base/core.h"
#include <ctype.h>

enum { POINTS_LEAST = 4 }; // fewer are given as a sentence

static const rg_bench_machine *machine_of(const rg_listed *l) { return &l->all->ledger->machine[l->machine]; }

// Writes a table, which may be one of several in its file.
static int write_to_fig(const rg_listed *l, const rg_tsv *t, const char *name) {
    RG_FREED char *path = rg_print("%s/fig/%s", l->all->out, name);
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code == RG_GOOD) {
        rg_tsv_write(t, file.stream);
        code = rg_file_commit(&file);
    }
    return code;
}

// ---- kinds ---------------------------------------------------------------------------------------------------------------

// "stages", "stages?" (optional), "stages?=TITLE": all required tables, at least one, as FILES and TITLES of the script.
static void find_tables(const rg_listed *l, const char *name, rg_found *found) {
    enum { MOST = 8 };
    char word[MOST][160], *file[MOST];
    const char *title[MOST];
    int n = 0;
    bool all = true;
    for (const char *at = rg_listed_cell(l, "series"); n < MOST && rg_next_piece(&at, ',', word[n], sizeof word[n]);) {
        char *as = strchr(word[n], '=');
        title[n] = as ? as + 1 : word[n];
        if (as) *as = 0;
        const bool optional = strchr(word[n], '?') != NULL;
        word[n][strcspn(word[n], "?")] = 0;
        const rg_tsv *t = rg_table_of(rg_listed_rows(l), word[n]);
        all &= t || optional;
        if (!t || !all || found->code != RG_GOOD) continue;
        file[n] = rg_print("%s-%s.tsv", name, word[n]);
        found->code = write_to_fig(l, t, file[n++]);
        found->points += t->n_rows;
    }
    if (!all) found->points = 0;
    if (found->points && found->code == RG_GOOD) {
        snprintf(found->data, sizeof found->data, "%s", file[0]);
        rg_plot_paths(&found->plot, "FILES", n, (const char *const *)file);
        rg_plot_texts(&found->plot, "TITLES", n, title);
    }
    while (n > 0) free(file[--n]);
}

// Finds files of `regather bench --self-test`: rows of the algorithm "self-test".
static void find_self_test(const rg_listed *l, const char *name, rg_found *found) {
    const rg_bench_machine *m = machine_of(l);
    for (int k = 0; k < m->n_files; k++) {
        const rg_result *file = &m->file[k].result;
        if (file->n_rows == 0 || !rg_row_is_self_test(&file->row[0]) || found->points) continue;
        snprintf(found->data, sizeof found->data, "%.100s.tsv", name);
        found->code = rg_copy_to_fig(l, file->path, found->data);
        if (found->code != RG_GOOD) return;
        rg_plot_path(&found->plot, "DATA", found->data);
        for (int i = 0; i < file->n_rows; i++) // each with its least, quartiles, median and largest
            found->points += rg_row_is_self_test(&file->row[i]) ? 5 : 0;
    }
}

static void set_published(rg_plot *v, const rg_claims *c, int paper) {
    const rg_tsv *t = paper < 0 ? &c->paper : &c->published[paper];
    RG_FREED const char **id = rg_alloc((size_t)(t->n_rows + 1) * sizeof *id),
                        **value = rg_alloc((size_t)(t->n_rows + 1) * sizeof *value);
    for (int i = 0; i < t->n_rows; i++) {
        id[i] = rg_tsv_cell(t, i, "id");
        value[i] = rg_tsv_cell(t, i, "value");
    }
    if (t->n_rows && paper >= 0) {
        rg_plot_texts(v, "IDS", t->n_rows, id);
        rg_plot_texts(v, "VALUES", t->n_rows, value);
    }
}

// ---- one figure ----------------------------------------------------------------------------------------------------------

// The title is the finding of the first claim that has a sentence; otherwise the figure's own title.
static void set_title(const rg_listed *l, const rg_found *found, rg_figure *f) {
    char id[32];
    for (const char *at = rg_listed_cell(l, "findings"); rg_next_piece(&at, ',', id, sizeof id);)
        if (rg_finding(l->all->ledger, id, l->machine, f->title, sizeof f->title)) {
            const size_t n = strlen(f->title);
            if (n && f->title[n - 1] == '.') // titles end without a full stop
                f->title[n - 1] = 0;
            return;
        }
    snprintf(f->title, sizeof f->title, "%s", *found->title ? found->title : rg_listed_cell(l, "title"));
}

// Makes a file name: characters of the label that gnuplot or a URL would interpret are replaced.
static void file_name(const rg_listed *l, char name[100]) {
    const rg_bench_machine *m = machine_of(l);
    snprintf(name, 100, "%.40s%s%.50s", rg_listed_cell(l, "name"), m->here ? "" : "-", m->here ? "" : m->label);
    for (char *at = name; *at; at++) *at = isalnum((unsigned char)*at) || *at == '-' || *at == '_' ? *at : '_';
}

static int make(rg_figures *all, const rg_listed *l) {
    const char *kind = rg_listed_cell(l, "kind"), *form = rg_listed_cell(l, "form");
    char name[100];
    rg_found found = {0};
    file_name(l, name);
    if (!strcmp(kind, "rows"))
        rg_find_rows(l, name, &found);
    else if (!strcmp(kind, "tables"))
        find_tables(l, name, &found);
    else if (!strcmp(kind, "selftest"))
        find_self_test(l, name, &found);
    else if (!strcmp(kind, "generations")) {
        if (!l->machine) rg_find_generations(l, name, &found); // one figure for all machines
    } else if (machine_of(l)->here)
        rg_find_slices(l, name, &found);
    if (found.code != RG_GOOD || (!found.points && !*found.why_not)) { // nothing was measured
        rg_plot_free(&found.plot);
        return found.code;
    }
    all->figure = rg_grow(all->figure, all->n, sizeof *all->figure);
    rg_figure *f = &all->figure[all->n++];
    *f = (rg_figure){.paper = rg_listed_cell(l, "paper"),
        .name = rg_listed_cell(l, "name"),
        .machine = l->machine,
        .picture = strstr(form, "picture"),
        .whole = !strncmp(form, "whole", 5)};
    f->width = f->whole ? 1360 : 670; // as wide as the page, or half of it
    f->height = f->whole ? 470 : 430;
    f->narrow_height = f->whole ? 860 : 310 + 20 * (found.keys ? found.keys : 7); // the key is below the plot
    set_title(l, &found, f);
    rg_say_subtitle(strcmp(kind, "generations") ? machine_of(l) : NULL, rg_listed_cell(l, "subtitle"), found.about, f->subtitle,
        sizeof f->subtitle);
    snprintf(f->alt, sizeof f->alt, "%.350s. Shown: %.200s.", f->title, rg_listed_cell(l, "alt"));
    snprintf(f->wide, sizeof f->wide, "fig/%s.svg", name);
    snprintf(f->narrow, sizeof f->narrow, "fig/%s-narrow.svg", name);
    snprintf(f->script, sizeof f->script, "fig/%s.gp", name);
    snprintf(f->data, sizeof f->data, "fig/%s", found.data);
    snprintf(f->why_not, sizeof f->why_not, "%s", found.why_not);
    if (!*f->why_not && found.points < POINTS_LEAST)
        rg_say_undrawn(
            RG_FEW_POINTS, machine_of(l), NULL, (const int[]){found.points, POINTS_LEAST}, f->why_not, sizeof f->why_not);
    if (!*f->why_not) {
        set_published(&found.plot, &all->ledger->claims, rg_paper_of(&all->ledger->claims, f->paper));
        rg_plot_text(&found.plot, "TITLE", f->title);
        rg_plot_text(&found.plot, "SUBTITLE", f->subtitle);
        RG_FREED char *fig = rg_print("%s/fig", all->out);
        found.code = rg_plot_save(&found.plot, fig, name, rg_listed_cell(l, "script"));
        f->drawn = found.code == RG_GOOD; // saved; rg_draw tells whether it was drawn
    }
    rg_plot_free(&found.plot);
    return found.code;
}

// ---- all -----------------------------------------------------------------------------------------------------------------

// Draws every figure for wide and narrow screens, a figure per core at a time, while the next ones' data are collected.
enum { AT_ONCE_MOST = 64 };
typedef struct drawing {
    int code;                          // RG_GOOD, or an error of a file was printed
    int n, next, figure[AT_ONCE_MOST]; // slots, the slot that has run longest, the figure drawn there (-1: none)
    rg_plot_running running[AT_ONCE_MOST];
    char *log;
} drawing;

static void end(rg_figures *all, drawing *d, int place) {
    if (d->figure[place] < 0) return;
    rg_figure *f = &all->figure[d->figure[place]];
    d->figure[place] = -1;
    if (d->code != RG_GOOD) {
        rg_plot_abandon(&d->running[place]);
        return;
    }
    const int code = rg_plot_end(&d->running[place]);
    f->drawn &= code == RG_GOOD;
    if (code == RG_LACKS)
        rg_say_undrawn(RG_NO_GNUPLOT, NULL, NULL, NULL, f->why_not, sizeof f->why_not);
    else if (code == RG_WRONG)
        rg_say_undrawn(RG_GNUPLOT_FAILED, NULL, NULL, NULL, f->why_not, sizeof f->why_not);
    else
        d->code = code;
}

static void begin(rg_figures *all, drawing *d, int figure, bool narrow) {
    const rg_figure *f = &all->figure[figure];
    const int place = d->next;
    RG_FREED char *fig = rg_print("%s/fig", all->out),
                  *name = rg_print("%.*s", (int)(strlen(f->wide) - strlen("fig/.svg")), f->wide + strlen("fig/"));
    end(all, d, place);
    d->running[place] = narrow ? rg_plot_begin(fig, name, 360, f->narrow_height, true, d->log)
                               : rg_plot_begin(fig, name, f->width, f->height, false, d->log);
    d->figure[place] = figure;
    d->next = (place + 1) % d->n;
}

static drawing *nothing_drawn(const rg_figures *all) {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    RG_FREED char *log = rg_print("%s/fig/gnuplot.log", all->out);
    drawing *d = rg_alloc(sizeof *d);
    d->n = cores < 1 ? 1 : cores > AT_ONCE_MOST ? AT_ONCE_MOST : (int)cores;
    for (int k = 0; k < d->n; k++) d->figure[k] = -1;
    unlink(log);
    FILE *empty = fopen(log, "w");
    if (empty) fclose(empty);
    d->log = realpath(log, NULL);
    return d;
}

int rg_figures_read(rg_figures *all) {
    RG_FREED char *path = rg_share_path("plots/figures.tsv");
    int code = rg_tsv_read(path, &all->list);
    for (int i = 0; i < all->n_maps && !code; i++) {
        const int n = (int)strcspn(all->map[i], "=");
        char *name = rg_print("%.*s", n, all->map[i]), known[200] = "";
        if (rg_ends_with(name, ".truth")) name[n - (int)strlen(".truth")] = '\0';
        bool shown = false;
        for (int row = 0; row < all->list.n_rows; row++)
            if (!strcmp(rg_tsv_cell(&all->list, row, "kind"), "slices")) {
                const char *one = rg_tsv_cell(&all->list, row, "series");
                shown |= !strcmp(name, one);
                snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? ", " : "", one);
            }
        if (!shown)
            code = rg_fail(
                RG_USAGE, "report: --map: expected the name of a map that a figure shows (%s), found \"%s\"", known, name);
        free(name);
    }
    return code;
}

int rg_figures_draw(rg_figures *all) {
    RG_FREED drawing *d = nothing_drawn(all);
    for (int row = 0; row < all->list.n_rows; row++)
        for (int m = 0; m < all->ledger->n_machines && d->code == RG_GOOD; m++) {
            const int before = all->n;
            d->code = make(all, &(rg_listed){all, m, row});
            for (int narrow = 0; narrow < 2 && d->code == RG_GOOD && all->n > before && all->figure[before].drawn; narrow++)
                begin(all, d, before, narrow);
        }
    for (int k = 0; k < d->n; k++) end(all, d, k);
    const int code = d->code;
    free(d->log);
    return code;
}

void rg_figures_free(rg_figures *all) {
    rg_tsv_free(&all->list);
    free(all->figure);
}
