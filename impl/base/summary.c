// SPDX-License-Identifier: MIT
// summary.c: see summary.h.
#include "summary.h"
#include "memory.h"
#include "page.h"
#include "plot.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIGURES = 24, WIDTH = 360, HEIGHT = 300, SQUARE = 340, FILES_SHOWN = 12 };

typedef struct fact {
    char *what, *text;
} fact;
typedef struct facts {
    int n;
    fact *at;
} facts;
typedef struct figure {
    char *title, *about, *alt, *script;
    rg_plot plot;
    FILE *data;
    int height;
    bool picture;
    rg_plot_holding run;
} figure;

static bool wanted;
static int lacking; // code of what the page shows and could not be read
static facts did, found, stages, warnings;
static figure fig[FIGURES];
static int n_figures;
static pthread_mutex_t warnings_lock = PTHREAD_MUTEX_INITIALIZER; // threads warn

// ---- what is handed over -------------------------------------------------------------------------------------------------

bool rg_summary_wanted(void) { return wanted; }

bool rg_summary_has(int code)
{
    lacking = lacking ? lacking : code;
    return code == RG_GOOD;
}

bool rg_summary_affords(double bytes) { return wanted && bytes < rg_memory_free() / 2; }

static void add(facts *f, const char *what, char *text)
{
    f->at = rg_more(f->at, f->n, sizeof *f->at);
    f->at[f->n++] = (fact){rg_print("%s", what), text};
}

static char *text_of(const char *format, va_list list)
{
    char *text = NULL;
    if (vasprintf(&text, format, list) < 0) rg_end(RG_LACKS, "out of memory");
    return text;
}

void rg_summary_did(const char *what, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (wanted) add(&did, what, text_of(format, list));
    va_end(list);
}

void rg_summary_found(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (wanted) add(&found, "", text_of(format, list));
    va_end(list);
}

void rg_summary_stage(const char *stage, double seconds)
{
    if (wanted) add(&stages, stage, rg_print("%.3f", seconds));
}

static void warned(const char *text)
{
    pthread_mutex_lock(&warnings_lock);
    add(&warnings, "", rg_print("%s", text));
    pthread_mutex_unlock(&warnings_lock);
}

// A figure and the stream of its data; NULL where none is wanted.
static figure *draw(const rg_drawn *is, const char *script, int height)
{
    if (!wanted || n_figures == FIGURES) return NULL;
    figure *f = &fig[n_figures];
    *f = (figure){.height = height, .data = tmpfile()};
    if (!f->data) return NULL;
    n_figures++;
    f->title = rg_print("%s", is->title);
    f->about = rg_print("%s", is->about);
    f->alt = rg_print("%s", is->alt);
    f->script = rg_print("%s", script);
    rg_plot_text(&f->plot, "X_LABEL", is->x ? is->x : "");
    rg_plot_text(&f->plot, "Y_LABEL", is->y ? is->y : "");
    return f;
}

void rg_summary_curves(const rg_drawn_curves *c)
{
    figure *f = c->n < 2 ? NULL : draw(&c->is, "job_curves", HEIGHT);
    if (!f) return;
    fputs("x", f->data);
    for (int k = 0; k < c->curves; k++) fprintf(f->data, "\ty%d", k + 1);
    for (int64_t i = 0; i < c->n; i++) {
        fprintf(f->data, "\n%.9g", c->at ? c->at[i] : (double)(i + 1));
        for (int k = 0; k < c->curves; k++) fprintf(f->data, isfinite(c->value[k][i]) ? "\t%.9g" : "\tNaN", c->value[k][i]);
    }
    putc('\n', f->data);
    rg_plot_stream(&f->plot, "DATA", f->data);
    rg_plot_texts(&f->plot, "CURVES", c->curves, c->name);
    rg_plot_numbers(&f->plot, "LEVELS", 2, c->level);
    rg_plot_number(&f->plot, "APART", c->apart);
}

// As many bars as the root of the values, 8 to 40, over all that come.
void rg_summary_histogram(const rg_drawn *is, int64_t n, const double *value)
{
    enum { LEAST = 8, MOST = 40 };
    double low = INFINITY, high = -INFINITY;
    int64_t counted = 0, bar[MOST] = {0};
    for (int64_t i = 0; i < n; i++)
        if (isfinite(value[i])) {
            low = fmin(low, value[i]);
            high = fmax(high, value[i]);
            counted++;
        }
    figure *f = counted < LEAST || !(high > low) ? NULL : draw(is, "job_bars", HEIGHT);
    if (!f) return;
    const int bars = (int)fmin(fmax(sqrt((double)counted), LEAST), MOST);
    for (int64_t i = 0; i < n; i++)
        if (isfinite(value[i])) bar[(int)fmin((value[i] - low) / (high - low) * bars, bars - 1)]++;
    fputs("x\ty1\n", f->data);
    for (int k = 0; k < bars; k++) fprintf(f->data, "%.9g\t%lld\n", low + (k + 0.5) * (high - low) / bars, (long long)bar[k]);
    rg_plot_stream(&f->plot, "DATA", f->data);
    rg_plot_number(&f->plot, "BROAD", (high - low) / bars);
}

// Means of blocks, so that no side has more than MOST; grey from the 0.5th to the 99.5th of a hundred.
void rg_summary_picture(const rg_drawn_picture *p)
{
    enum { MOST = 256 };
    const int64_t side = p->width > p->height ? p->width : p->height, block = (side + MOST - 1) / MOST;
    const int64_t w = p->width / block, h = p->height / block, n = w * h;
    figure *f = n < 2 ? NULL : draw(&p->is, "job_picture", SQUARE);
    if (!f) return;
    double *sorted = rg_alloc((size_t)n * sizeof *sorted);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t k = 0; k < block * block; k++)
            sum += p->value[(i / w * block + k / block) * p->width + i % w * block + k % block];
        const float mean = (float)(sum / (double)(block * block));
        sorted[i] = mean;
        fwrite(&mean, sizeof mean, 1, f->data);
    }
    qsort(sorted, (size_t)n, sizeof *sorted, rg_ascending);
    f->picture = true;
    rg_plot_stream(&f->plot, "DATA", f->data);
    rg_plot_number(&f->plot, "W", (double)w);
    rg_plot_number(&f->plot, "H", (double)h);
    rg_plot_number(&f->plot, "X0", p->x0 + p->step * (double)(block - 1) / 2);
    rg_plot_number(&f->plot, "Y0", p->y0 + p->step * (double)(block - 1) / 2);
    rg_plot_number(&f->plot, "STEP", p->step * (double)block);
    rg_plot_number(&f->plot, "DOWN", p->down);
    rg_plot_number(&f->plot, "BLACK", sorted[n / 200]);
    rg_plot_number(&f->plot, "WHITE", sorted[n - 1 - n / 200]);
    free(sorted);
}

void rg_summary_directions(int64_t n, const double *rot_deg, const double *tilt_deg)
{
    enum { AROUND = 24, DOWN = 12 };
    int cell[AROUND * DOWN] = {0}, seen = 0, most = 0;
    if (!wanted || n < 8) return;
    for (int64_t i = 0; i < n; i++) {
        // A tilt outside 0 to 180 is that of the other side: the direction itself decides.
        const double tilt = tilt_deg[i] * M_PI / 180, rot = rot_deg[i] + (sin(tilt) < 0 ? 180 : 0);
        const int x = (int)((rot / 360 - floor(rot / 360)) * AROUND) % AROUND,
                  y = (int)fmin((1 - cos(tilt)) / 2 * DOWN, DOWN - 1);
        seen += cell[y * AROUND + x]++ == 0;
        most = cell[y * AROUND + x] > most ? cell[y * AROUND + x] : most;
    }
    char *title = rg_print("Views come from %d of %d equal parts of the sphere", seen, AROUND * DOWN);
    char *about =
        rg_print("%lld views; the fullest part has %d, the mean %.2g.", (long long)n, most, (double)n / (AROUND * DOWN));
    figure *f = draw(&(rg_drawn){title, about,
                         "how many views come from each direction, rot to the right, tilt downwards, in "
                         "cells of equal area",
                         "rot (degrees)", "tilt (degrees)"},
        "job_directions", HEIGHT);
    for (int i = 0; i < AROUND * DOWN && f; i++)
        fprintf(f->data, "%s%g\t%.9g\t%d\n", i ? "" : "rot\tcos_tilt\tviews\n", (i % AROUND + 0.5) * 360 / AROUND,
            1 - (i / AROUND + 0.5) * 2 / DOWN, cell[i]);
    if (f) rg_plot_stream(&f->plot, "DATA", f->data);
    free(title);
    free(about);
}

// ---- the page ------------------------------------------------------------------------------------------------------------

typedef struct output {
    const char *text;
    bool folder;
} output;
static output out_of(const rg_command *command, const void *options)
{
    rg_placed placed[RG_OPTIONS_MAX];
    int i = rg_options_of(command, placed) - 1;
    while (i > 0 && strcmp(placed[i].option->name, "out")) i--;
    return (output){
        *(const char *const *)(const void *)((const char *)options + placed[i].at), !strcmp(placed[i].option->arg, "DIR")};
}

char *rg_summary_path(const rg_command *command, const void *options)
{
    const rg_given *given = options;
    const char *no = getenv("REGATHER_PAGE");
    if (!command->page || given->no_page || (!given->page && no && !strcmp(no, "no"))) return NULL;
    if (given->page) return rg_print("%s", given->page);
    const output out = out_of(command, options);
    return out.folder ? rg_print("%s/regather.html", out.text) : rg_path_beside(out.text, "", ".html");
}

void rg_summary_begin(bool is_wanted)
{
    wanted = is_wanted;
    lacking = RG_GOOD;
    rg_warned = wanted ? warned : NULL;
}

static void free_facts(facts *f)
{
    for (int i = 0; i < f->n; i++) {
        free(f->at[i].what);
        free(f->at[i].text);
    }
    free(f->at);
    *f = (facts){0};
}

void rg_summary_end(void)
{
    rg_summary_begin(false);
    for (int i = 0; i < n_figures; i++) {
        fclose(fig[i].data);
        rg_plot_free(&fig[i].plot);
        free(fig[i].title);
        free(fig[i].about);
        free(fig[i].alt);
        free(fig[i].script);
    }
    n_figures = 0;
    free_facts(&did);
    free_facts(&found);
    free_facts(&stages);
    free_facts(&warnings);
}

static bool is_page(const char *path)
{
    enum { HEAD = 2048 };
    char text[HEAD] = "";
    FILE *f = fopen(path, "r");
    if (f) {
        text[fread(text, 1, HEAD - 1, f)] = '\0';
        fclose(f);
    }
    return strstr(text, RG_PAGE_MARK);
}

static void section(rg_page *p, const char *id, const char *heading) { p->make->heading(p, 2, id, heading); }

static void list(rg_page *p, const facts *f)
{
    for (int i = 0; i < f->n; i++) p->make->item(p, f->at[i].text);
}

static void table(rg_page *p, const facts *f, const char *caption, const char *align, const char *first, const char *second)
{
    p->make->table(p, caption, align, (const char *[]){first, second}, 2);
    for (int i = 0; i < f->n; i++) p->make->row(p, (const char *[]){f->at[i].what, f->at[i].text}, 2);
    p->make->table_end(p);
}

// "map.mrc" of --out DIR/map.mrc, "results" of --out DIR/results/.
static char *name_of(const char *out)
{
    size_t end = strlen(out), from;
    while (end > 1 && out[end - 1] == '/') end--;
    for (from = end; from > 0 && out[from - 1] != '/'; from--) {}
    return rg_print("%.*s", (int)(end - from), out + from);
}

// Those of gnuplot go on at the same time.
static void put_figures(rg_page *p)
{
    rg_page_figure drawn[FIGURES];
    char *gnuplot = rg_program_path("gnuplot");
    int n = 0;
    for (int i = 0; i < n_figures && gnuplot; i++)
        fig[i].run = rg_plot_hold(&fig[i].plot, fig[i].script, WIDTH, fig[i].height, true);
    for (int i = 0; i < n_figures && gnuplot; i++) {
        char *svg = rg_plot_held(&fig[i].run);
        if (svg)
            drawn[n++] = (rg_page_figure){.title = fig[i].title,
                .subtitle = fig[i].about,
                .alt = fig[i].alt,
                .svg = svg,
                .width = WIDTH,
                .height = fig[i].height,
                .picture = fig[i].picture};
        else
            rg_warn("the plot \"%s\" is not on the page: gnuplot failed on it", fig[i].title);
    }
    if (n)
        p->make->figures(p, drawn, n);
    else
        p->make->paragraph(p,
            gnuplot ? "Nothing to be drawn."
                    : "No plots: there is no gnuplot here (`regather doctor` has "
                      "more).");
    for (int i = 0; i < n; i++) free((char *)(uintptr_t)drawn[i].svg);
    free(gnuplot);
}

typedef struct listing {
    rg_page *page;
    const char *path; // of the page
    int seen[2];      // read, written
} listing;

// Files in the page's folder are links.
static void put_file(void *of, const char *path, bool written)
{
    listing *l = of;
    const char *name = rg_base_name(path);
    FILE *out = l->page->out;
    const size_t folder = (size_t)(name - path);
    if (access(path, F_OK) != 0 || l->seen[written]++ >= FILES_SHOWN) return;
    fprintf(out, "<tr><td>%s</td><td>", written ? "written" : "read");
    const bool near = (size_t)(rg_base_name(l->path) - l->path) == folder && !strncmp(path, l->path, folder);
    if (near) {
        fputs("<a href=\"", out);
        rg_html_link(out, name);
        fputs("\">", out);
    }
    rg_html_text(out, path);
    fputs(near ? "</a></td></tr>\n" : "</td></tr>\n", out);
}

static void put_files(rg_page *p, const char *path)
{
    listing l = {.page = p, .path = path};
    p->make->table(
        p, "With sizes and hashes they stand in the log beside the output.", "ll", (const char *[]){"what", "file"}, 2);
    rg_files_each(put_file, &l);
    p->make->table_end(p);
    for (int written = 0; written < 2; written++)
        if (l.seen[written] > FILES_SHOWN) {
            char *text = rg_print("And %d more that were %s.", l.seen[written] - FILES_SHOWN, written ? "written" : "read");
            p->make->paragraph(p, text);
            free(text);
        }
}

static int put_page(rg_page *p, const rg_command *command, const rg_given *given, const char *path)
{
    char now[40];
    const time_t seconds = time(NULL);
    struct tm utc;
    char *name = name_of(out_of(command, given).text), *title = rg_print("%s: %s", command->name, name);
    strftime(now, sizeof now, "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&seconds, &utc));
    int code = rg_html_begin(p, title);
    fputs("<a class=\"skip\" href=\"#found\">to what was found</a>\n<header>\n", p->out);
    p->make->heading(p, 1, NULL, title);
    fprintf(p->out, "<p class=\"run\">regather " RG_VERSION " (%s), %s</p>\n", rg_revision(), now);
    fputs("<nav aria-label=\"sections\"><a href=\"#found\">Found</a><a href=\"#figures\">Figures</a><a href=\"#done\">Done</a>"
          "<a href=\"#times\">Times</a><a href=\"#files\">Files</a></nav>\n</header>\n<main class=\"job\">\n<section>\n",
        p->out);
    section(p, "found", "What was found");
    list(p, &found);
    p->make->heading(p, 3, NULL, warnings.n ? "Warnings" : "No warnings");
    list(p, &warnings);
    section(p, "figures", "Figures");
    put_figures(p);
    section(p, "done", "What was done");
    char *line = rg_print("`%s`", given->line);
    p->make->paragraph(p, line);
    table(p, &did, command->summary, "ll", "what", "which");
    section(p, "times", "Times");
    table(p, &stages, "Stages that go on beside each other may add up to more than the whole.", "lr", "stage", "seconds");
    section(p, "files", "Files");
    put_files(p, path);
    fputs("</section>\n</main>\n<footer><p>Made by regather; this file needs no other.</p></footer>\n", p->out);
    rg_html_end(p);
    free(title);
    free(name);
    free(line);
    return code;
}

int rg_summary_write(const rg_command *command, const void *options)
{
    const rg_given *given = options;
    if (lacking != RG_GOOD) return lacking;
    char *path = wanted ? rg_summary_path(command, options) : NULL;
    rg_page page = {.make = &rg_html};
    rg_file file;
    int code = RG_GOOD;
    if (path && !given->page && access(path, F_OK) == 0 && !is_page(path))
        rg_warn("%s: is there and no page of regather, so no page was written", path);
    else if (path && (code = rg_file_open(&file, path)) == RG_GOOD) {
        page.out = file.stream;
        code = rg_file_end(&file, put_page(&page, command, given, path));
    }
    free(path);
    return code;
}
