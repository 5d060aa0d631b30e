// SPDX-License-Identifier: MIT
// figures.c: chooses what each figure shows, and has gnuplot draw it from the result files themselves.
//
// The scripts in plots/ hold no numbers and no names of files: image size, series and scopes are chosen here, from the rows,
// and handed over as variables. A series is one variant with its fastest parameters at the largest offset.
#include "../../bench/compare/believe.h"
#include "../../impl/base/core.h"
#include "../../impl/suite.h"
#include "figures.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SERIES_MOST = 48 };

static const char algo[] = "autocorr", paper[] = "Lu 2009"; // what the figures of this file show

typedef struct figure_series {
    rg_measure at[SERIES_MOST];
    int n;
    int64_t width, height, r; // the image, and the largest offset of it
} figure_series;

static const char *or_dash(const char *text)
{
    return *text ? text : "-";
}

// Jobs, of many images from files to files, have figures of their own.
static bool shown(const rg_row *row)
{
    return !strcmp(row->cell[RG_C_ALGO], algo) && strcmp(row->cell[RG_C_SCOPE], "job") && rg_timed(row) && rg_plain(row);
}

// The file of the machine that has the most timed rows of plain images.
static const rg_result *main_file(const rg_bench_machine *m)
{
    const rg_result *best = NULL;
    int most = 0;
    for (int f = 0; f < m->n_files; f++) {
        int n = 0;
        for (int i = 0; i < m->file[f].n_rows; i++)
            n += shown(&m->file[f].row[i]);
        if (n > most) {
            most = n;
            best = &m->file[f];
        }
    }
    return best;
}

static bool of_image(const rg_measure *a, int64_t width, int64_t height)
{
    return shown(a->row) && a->width == width && a->height == height;
}

// The image size with the most offsets, and the largest of them.
static void choose_image(const rg_result *file, figure_series *s)
{
    int most = 0;
    for (int i = 0; i < file->n_rows; i++) {
        rg_measure a = rg_measure_of(file, &file->row[i]);
        if (!shown(a.row))
            continue;
        int n = 0;
        int64_t r = 0;
        for (int k = 0; k < file->n_rows; k++) {
            rg_measure b = rg_measure_of(file, &file->row[k]);
            if (!of_image(&b, a.width, a.height))
                continue;
            n += b.r != r;
            r = b.r > r ? b.r : r;
        }
        if (n > most) {
            most = n;
            *s = (figure_series){.width = a.width, .height = a.height, .r = r};
        }
    }
}

// CPU times need no copies; of a GPU the time with copies is what the papers' "total execution time" holds.
static int scope_rank(const rg_row *row)
{
    static const char *const order[] = {"transfer", "device", "kernel"};
    for (int i = 0; i < RG_COUNT(order); i++)
        if (!strcmp(row->cell[RG_C_SCOPE], order[i]))
            return i;
    return RG_COUNT(order);
}

static bool better(const rg_measure *a, const rg_measure *b)
{
    int x = scope_rank(a->row), y = scope_rank(b->row);
    if (x != y)
        return x < y;
    if (a->r != b->r)
        return a->r > b->r;
    x = !strcmp(a->row->cell[RG_C_MODE], "cold");
    y = !strcmp(b->row->cell[RG_C_MODE], "cold");
    return x != y ? x < y : a->median_ns < b->median_ns;
}

// Slowest first, so that the legend runs as the curves of time do.
static int by_rate(const void *a, const void *b)
{
    double x = rg_cell_number(((const rg_measure *)a)->row, RG_C_RATE);
    double y = rg_cell_number(((const rg_measure *)b)->row, RG_C_RATE);
    return (x > y) - (x < y);
}

// only_r >= 0: rows at that offset alone. bounded: rows that know the part of their bound they reach.
static void choose_series(const rg_result *file, figure_series *s, int64_t only_r, bool bounded)
{
    s->n = 0;
    for (int i = 0; i < file->n_rows; i++) {
        rg_measure a = rg_measure_of(file, &file->row[i]);
        if (!of_image(&a, s->width, s->height) || (only_r >= 0 && a.r != only_r) ||
            (bounded && !(rg_cell_number(a.row, RG_C_FRACTION) <= RG_FRACTION_MOST)))
            continue;
        int k = 0;
        while (k < s->n && (strcmp(s->at[k].row->cell[RG_C_VARIANT], a.row->cell[RG_C_VARIANT]) ||
                            (s->at[k].threads > 1) != (a.threads > 1)))
            k++;
        if (k == s->n && s->n < SERIES_MOST)
            s->at[s->n++] = a;
        else if (k < s->n && better(&a, &s->at[k]))
            s->at[k] = a;
    }
    qsort(s->at, (size_t)s->n, sizeof s->at[0], by_rate);
}

static void set_cells(rg_plot *v, const char *name, const figure_series *s, rg_column column)
{
    const char *text[SERIES_MOST];
    for (int i = 0; i < s->n; i++)
        text[i] = or_dash(s->at[i].row->cell[column]);
    rg_plot_texts(v, name, s->n, text);
}

static bool on_host(const rg_measure *m) { return !strcmp(m->row->cell[RG_C_SPACE], "host"); }

static void set_series(rg_plot *v, const figure_series *s)
{
    double cores[SERIES_MOST], host[SERIES_MOST];
    const char *of_host = "", *of_device = "";
    int hosts = 0;
    for (int i = 0; i < s->n; i++) {
        cores[i] = s->at[i].threads;
        if (on_host(&s->at[i]))
            host[hosts++] = i + 1;
        *(!strcmp(s->at[i].row->cell[RG_C_SPACE], "device") ? &of_device : &of_host) = s->at[i].row->cell[RG_C_SCOPE];
    }
    rg_plot_text(v, "ALGO", algo);
    set_cells(v, "VARIANTS", s, RG_C_VARIANT);
    set_cells(v, "PARAMS", s, RG_C_PARAMS);
    set_cells(v, "SCOPES", s, RG_C_SCOPE);
    set_cells(v, "MODES", s, RG_C_MODE);
    rg_plot_numbers(v, "CORES", s->n, cores);
    if (hosts)
        rg_plot_numbers(v, "HOSTS", hosts, host);
    rg_plot_number(v, "WIDTH", (double)s->width);
    rg_plot_number(v, "HEIGHT", (double)s->height);
    rg_plot_number(v, "RADIUS", (double)s->r);
    char text[120];
    snprintf(text, sizeof text, *of_host && *of_device && strcmp(of_host, of_device) ? "%.40s (CPU), %.40s (GPU)" : "%.40s",
             *of_host ? of_host : of_device, of_device);
    rg_plot_text(v, "SCOPE_TEXT", text);
}

void rg_set_published(rg_plot *v, const rg_claims *c, int paper)
{
    const rg_tsv *t = &c->published[paper];
    const char **id = rg_alloc((size_t)t->n_rows * sizeof *id), **value = rg_alloc((size_t)t->n_rows * sizeof *value);
    for (int i = 0; i < t->n_rows; i++) {
        id[i] = rg_tsv_cell(t, i, "id");
        value[i] = rg_tsv_cell(t, i, "value");
    }
    if (t->n_rows) {
        rg_plot_texts(v, "IDS", t->n_rows, id);
        rg_plot_texts(v, "VALUES", t->n_rows, value);
    }
    free(id);
    free(value);
}

rg_figure *rg_figure_new(rg_report *r, const char *paper, const char *name, const char *suffix)
{
    rg_figure *grown = realloc(r->figure, (size_t)(r->n_figures + 1) * sizeof *grown);
    if (!grown)
        exit(rg_fail(RG_LACKS, "out of memory"));
    r->figure = grown;
    rg_figure *f = &r->figure[r->n_figures++];
    *f = (rg_figure){.paper = paper, .name = name};
    snprintf(f->file, sizeof f->file, "fig/%s%s%s", name, *suffix ? "-" : "", suffix);
    return f;
}

void rg_draw_one(const rg_report *r, rg_figure *f, rg_plot *v)
{
    char *script = rg_print("%s/%s.gp", r->plots, f->name), *log = rg_print("%s/fig/gnuplot.log", r->out);
    int code = RG_GOOD;
    for (int svg = 0; svg < 2 && code == RG_GOOD; svg++) {
        char *path = rg_print("%s/%s.%s", r->out, f->file, svg ? "svg" : "png");
        code = rg_plot_run(v, script, path, log);
        if (code != RG_GOOD)
            unlink(path); // of an earlier report
        free(path);
    }
    f->drawn = code == RG_GOOD;
    snprintf(f->wide, sizeof f->wide, "%s.svg", f->file);
    snprintf(f->title, sizeof f->title, "%s", f->caption);
    f->width = 1000;
    f->height = 700;
    if (code == RG_LACKS)
        snprintf(f->why_not, sizeof f->why_not, "gnuplot is not installed (package gnuplot-nox)");
    else if (code != RG_GOOD)
        snprintf(f->why_not, sizeof f->why_not, "gnuplot failed: see fig/gnuplot.log");
    free(script);
    free(log);
    rg_plot_free(v);
}

// ---- which figures -------------------------------------------------------------------------------------------------------

static bool has(const figure_series *s, const char *variant)
{
    for (int i = 0; i < s->n; i++)
        if (!strcmp(s->at[i].row->cell[RG_C_VARIANT], variant))
            return true;
    return false;
}

static bool any_host(const figure_series *s)
{
    for (int i = 0; i < s->n; i++)
        if (on_host(&s->at[i]))
            return true;
    return false;
}

static int most_cores(const figure_series *s)
{
    int most = 1;
    for (int i = 0; i < s->n; i++)
        most = s->at[i].threads > most ? s->at[i].threads : most;
    return most;
}

// Scaling wants the variants that were timed on one core and on more, each once.
static void keep_scaling(figure_series *s)
{
    figure_series kept = *s;
    kept.n = 0;
    for (int i = 0; i < s->n; i++) {
        bool more = false;
        for (int k = 0; k < s->n; k++)
            more |= s->at[k].threads > 1 && !strcmp(s->at[k].row->cell[RG_C_VARIANT], s->at[i].row->cell[RG_C_VARIANT]);
        if (s->at[i].threads == 1 && more)
            kept.at[kept.n++] = s->at[i];
    }
    *s = kept;
}

static const struct machine_figure {
    const char *name, *caption, *alt;
    bool one_r; // bars or points at the largest offset
} machine_figures[] = {
    {"fig6", "Fig. 6 again: median time of one image against the maximum offset R, every variant that passed.",
     "Time against maximum offset for all variants, both axes logarithmic", false},
    {"fig7", "Fig. 7 again: speed-up over the array-language code, or over simple C where that was not timed. "
     "Dotted: the paper.",
     "Speed-up against maximum offset for all variants, with the published ratios", false},
    {"fig9", "Fig. 9 again: how much faster the GPU code (gather) is than each CPU code. Dotted: the paper.",
     "Speed-up of the GPU code over each CPU code against maximum offset, with the published ratios", false},
    {"crossover", "Direct sums grow with the square of R, correlation through the FFT (thick) hardly: where they cross, change "
     "over.",
     "Time of direct and FFT variants against maximum offset", false},
    {"roofline", "How much of the rate measured on this same machine each variant reaches, and which resource limits it.",
     "Bars: fraction of the limiting bound for each variant", true},
    {"scaling", "Speed-up from one core to all of them (L12).", "Speed-up over the number of cores", true},
};

static void draw_machine(rg_report *r, const rg_bench_machine *m)
{
    const rg_result *file = main_file(m);
    if (!file)
        return;
    figure_series all = {0};
    choose_image(file, &all);
    for (int k = 0; k < RG_COUNT(machine_figures); k++) {
        const struct machine_figure *what = &machine_figures[k];
        figure_series s = all;
        choose_series(file, &s, what->one_r ? all.r : -1, !strcmp(what->name, "roofline"));
        int cores = most_cores(&s);
        if (s.n == 0 || (!strcmp(what->name, "fig9") && !(has(&s, "gather") && any_host(&s))) ||
            (!strcmp(what->name, "fig7") && !has(&s, "octave") && !has(&s, "naive")) ||
            (!strcmp(what->name, "scaling") && cores < 2))
            continue;
        if (!strcmp(what->name, "scaling"))
            keep_scaling(&s);
        rg_figure *f = rg_figure_new(r, paper, what->name, m->here ? "" : m->label);
        f->machine = (int)(m - r->machine);
        rg_plot v = {0};
        rg_plot_path(&v, "FILE", file->path);
        int of = rg_paper_of(&r->claims, paper);
        if (of >= 0)
            rg_set_published(&v, &r->claims, of);
        const char *name = rg_result_head(file, "machine");
        rg_plot_text(&v, "MACHINE", name ? name : m->label);
        rg_plot_number(&v, "MOST", cores);
        set_series(&v, &s);
        snprintf(f->caption, sizeof f->caption, "%s %s: `%s`.", what->caption, m->here ? "This machine" : "Reference machine",
                 rg_base_name(file->path));
        snprintf(f->alt, sizeof f->alt, "%s; %s", what->alt, name ? name : m->label);
        rg_draw_one(r, f, &v);
    }
}

// Files of `regather bench --self-test`: one row a variant, algorithm "self-test".
static void draw_self_tests(rg_report *r, const rg_bench_machine *m)
{
    for (int k = 0; k < m->n_files; k++) {
        const rg_result *file = &m->file[k];
        if (file->n_rows == 0 || strcmp(file->row[0].cell[RG_C_ALGO], "self-test"))
            continue;
        rg_figure *f = rg_figure_new(r, "", "selftest", m->here ? "" : m->label);
        rg_plot v = {0};
        rg_plot_path(&v, "FILE", file->path);
        rg_plot_text(&v, "MACHINE", m->label);
        rg_plot_number(&v, "MOST", file->n_rows);
        snprintf(f->caption, sizeof f->caption, "The error of the method: differences found between a variant and itself. "
                 "From `%s`.", rg_base_name(file->path));
        snprintf(f->alt, sizeof f->alt, "False differences of the A/A self-test, with the limit");
        rg_draw_one(r, f, &v);
    }
}

// ---- the job: C2D and C1D of one photograph (Fig. 5), and the growth of R_max (Fig. 10) -------------------------------------

enum { MRC_HEADER_BYTES = 1024 }; // the job writes no extended header

// Colours run from the trough of C1D to as much above the peak as the peak stands above the trough, so that the ring shows and
// the bright middle does not drown it; for a faint peak to an eighth of the way to the middle, or noise would fill the picture.
static void set_range(rg_plot *v, const rg_tsv *c1d, double peak, double peak_value)
{
    double low = INFINITY, middle = rg_tsv_number(c1d, 1, "C1D");
    for (int i = 0; i < c1d->n_rows; i++) {
        double c = rg_tsv_number(c1d, i, "C1D"), r = rg_tsv_number(c1d, i, "R");
        if (c < low && !(r > peak))
            low = c;
    }
    double high = low + fmax(2 * (peak_value - low), (middle - low) / 8);
    rg_plot_number(v, "LOW", low);
    rg_plot_number(v, "HIGH", high > low ? high : 1);
}

static void draw_photo(rg_report *r, const char *folder, const char *name, double peak, double peak_value)
{
    char *c1d_path = rg_print("%s/%s.c1d.tsv", folder, name), *c2d_path = rg_print("%s/%s.c2d.mrc", folder, name);
    rg_tsv c1d = {0};
    if (!access(c2d_path, R_OK) && !access(c1d_path, R_OK) && rg_tsv_read(c1d_path, &c1d) == RG_GOOD && c1d.n_rows > 2) {
        rg_figure *f = rg_figure_new(r, paper, "fig5", "");
        rg_plot v = {0};
        rg_plot_path(&v, "C1D", c1d_path);
        rg_plot_path(&v, "C2D", c2d_path);
        rg_plot_text(&v, "MACHINE", name);
        rg_plot_number(&v, "SIDE", 2.0 * (c1d.n_rows - 1) + 1);
        rg_plot_number(&v, "HEADER", MRC_HEADER_BYTES);
        rg_plot_number(&v, "PEAK", peak);
        rg_plot_number(&v, "PEAK_VALUE", peak_value);
        set_range(&v, &c1d, peak, peak_value);
        snprintf(f->caption, sizeof f->caption, "Fig. 5 again: C2D and its azimuthal mean C1D of `%.80s`, with R_max marked. "
                 "From `%.80s` and `%.80s`.", name, rg_base_name(c2d_path), rg_base_name(c1d_path));
        snprintf(f->alt, sizeof f->alt, "Left, C2D as a picture; right, C1D against R with R_max marked");
        rg_draw_one(r, f, &v);
    }
    rg_tsv_free(&c1d);
    free(c1d_path);
    free(c2d_path);
}

static void draw_growth(rg_report *r)
{
    const char *run[RG_JOBS_MOST], *name[RG_JOBS_MOST];
    char names[256] = "";
    for (int k = 0; k < r->job.n; k++) {
        run[k] = r->job.growth[k].path;
        name[k] = rg_base_name(r->job.folder[k]);
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", k ? " " : "", name[k]);
    }
    rg_figure *f = rg_figure_new(r, paper, "fig10", "");
    rg_plot v = {0};
    rg_plot_paths(&v, "RUNS", r->job.n, run);
    rg_plot_texts(&v, "NAMED", r->job.n, name);
    rg_plot_text(&v, "MACHINE", r->machine[0].label);
    snprintf(f->caption, sizeof f->caption, "Fig. 10 again: growth of R_max over the series, with the straight line through "
             "the origin and the free one. From `rmax.tsv` in `%.150s`.", names);
    snprintf(f->alt, sizeof f->alt, "R_max against time, with a straight line through the origin");
    rg_draw_one(r, f, &v);
}

static void draw_job(rg_report *r)
{
    if (r->job.n == 0)
        return;
    const rg_tsv *growth = &r->job.growth[0];
    int points = 0, shown = -1;
    for (int i = 0; i < growth->n_rows; i++) {
        bool found = isfinite(rg_tsv_number(growth, i, "R_max"));
        points += found;
        // The middle of those that have a peak: early ones have hardly a structure, late ones hardly a dozen of its periods.
        if (found && (shown < 0 || 2 * i <= growth->n_rows))
            shown = i;
    }
    if (shown >= 0)
        draw_photo(r, r->job.folder[0], rg_tsv_cell(growth, shown, "photo"), rg_tsv_number(growth, shown, "R_max"),
                   rg_tsv_number(growth, shown, "C1D"));
    if (points > 2)
        draw_growth(r);
}

void rg_draw(rg_report *r)
{
    char *log = rg_print("%s/fig/gnuplot.log", r->out);
    unlink(log);
    for (int m = 0; m < r->n_machines; m++) {
        draw_machine(r, &r->machine[m]);
        draw_self_tests(r, &r->machine[m]);
    }
    draw_job(r);
    rg_draw_listed(r);
    free(log);
}
