// SPDX-License-Identifier: MIT
#include "summary.h"
#include "memory.h"
#include "fill.h"
#include "plot.h"

#include <pthread.h>
#include <time.h>

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

static bool wanted, kept; // a page; facts, for a page or the screen
static int lacking;       // code of data for the page that could not be read
static facts did, found, looks, next, stages, warnings;
static figure fig[FIGURES];
static int n_figures;
static pthread_mutex_t warnings_lock = PTHREAD_MUTEX_INITIALIZER; // any thread may warn

// ---- facts and data of figures -------------------------------------------------------------------------------------------

bool rg_summary_wanted(void) { return wanted; }

bool rg_summary_has(int code) {
    lacking = lacking ? lacking : code;
    return code == RG_GOOD;
}

bool rg_summary_affords(double bytes) { return wanted && bytes < rg_memory_free() / 2; }

static void add(facts *f, const char *what, char *text) {
    f->at = rg_grow(f->at, f->n, sizeof *f->at);
    f->at[f->n++] = (fact){rg_print("%s", what), text};
}

void rg_summary_did(const char *what, const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (kept) add(&did, what, rg_print_list(format, list));
    va_end(list);
}

void rg_summary_found(const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (kept) add(&found, "", rg_print_list(format, list));
    va_end(list);
}

void rg_summary_stage(const char *stage, double seconds) {
    if (wanted) add(&stages, stage, rg_print("%.3f", seconds));
}

void rg_summary_look(const char *path, const char *what) {
    if (kept) add(&looks, path, rg_print("%s", what));
}

void rg_summary_next(const char *why, const char *const *word) {
    char *line = NULL;
    size_t bytes;
    FILE *f = kept ? open_memstream(&line, &bytes) : NULL;
    if (!f) return;
    for (const char *const *w = word; *w; w++) {
        if (!**w) continue;
        fputs(w == word ? "" : " ", f);
        rg_put_word(f, *w);
    }
    fclose(f);
    add(&next, why, line);
}

static void warned(const char *text) {
    pthread_mutex_lock(&warnings_lock);
    add(&warnings, "", rg_print("%s", text));
    pthread_mutex_unlock(&warnings_lock);
}

// Adds a figure with a stream for its data; NULL if none is wanted.
static figure *draw(const rg_drawn *is, const char *script, int height) {
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

void rg_summary_curves(const rg_drawn_curves *c) {
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

// The number of bars is the root of the number of values, 8 to 40; together they span all values.
void rg_summary_histogram(const rg_drawn *is, int64_t n, const double *value) {
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

// Averages blocks so that no side has more than MOST pixels; black and white are the 0.5th and 99.5th percentiles.
void rg_summary_picture(const rg_drawn_picture *p) {
    enum { MOST = 256 };
    const int64_t side = p->width > p->height ? p->width : p->height, block = (side + MOST - 1) / MOST;
    const int64_t w = p->width / block, h = p->height / block, n = w * h;
    figure *f = n < 2 ? NULL : draw(&p->is, "job_picture", SQUARE);
    if (!f) return;
    RG_FREED double *sorted = rg_alloc((size_t)n * sizeof *sorted);
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
}

void rg_summary_directions(int64_t n, const double *rot_deg, const double *tilt_deg, size_t apart) {
    enum { AROUND = 24, DOWN = 12 };
    int cell[AROUND * DOWN] = {0}, seen = 0, most = 0;
    if (!wanted || n < 8) return;
    for (int64_t i = 0; i < n; i++) {
        // A tilt outside 0 to 180 degrees is a direction on the other side: rot changes by 180 degrees.
        const size_t at = (size_t)i * apart / sizeof *rot_deg;
        const double tilt = tilt_deg[at] * M_PI / 180, rot = rot_deg[at] + (sin(tilt) < 0 ? 180 : 0);
        const int x = (int)((rot / 360 - floor(rot / 360)) * AROUND) % AROUND,
                  y = (int)fmin((1 - cos(tilt)) / 2 * DOWN, DOWN - 1);
        seen += cell[y * AROUND + x]++ == 0;
        most = cell[y * AROUND + x] > most ? cell[y * AROUND + x] : most;
    }
    RG_FREED char *title = rg_print("Views come from %d of %d equal parts of the sphere", seen, AROUND * DOWN);
    RG_FREED char *about =
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
}

// ---- the page ------------------------------------------------------------------------------------------------------------

typedef struct output {
    const char *text;
    bool folder;
} output;
static output out_of(const rg_command *command, const void *options) {
    rg_placed placed[RG_OPTIONS_MAX];
    int i = rg_options_of(command, placed) - 1;
    while (i > 0 && strcmp(placed[i].option->name, "out")) i--;
    return (output){
        *(const char *const *)(const void *)((const char *)options + placed[i].at), !strcmp(placed[i].option->arg, "DIR")};
}

char *rg_summary_path(const rg_command *command, const void *options) {
    const rg_given *given = options;
    const char *no = getenv("REGATHER_PAGE");
    if (!command->page || given->no_page || (!given->page && no && !strcmp(no, "no"))) return NULL;
    if (given->page) return rg_print("%s", given->page);
    const output out = out_of(command, options);
    return out.folder ? rg_print("%s/regather.html", out.text) : rg_path_beside(out.text, "", ".html");
}

void rg_summary_begin(bool is_wanted, bool screen) {
    wanted = is_wanted;
    kept = wanted || screen;
    lacking = RG_GOOD;
    rg_warned = wanted ? warned : NULL;
}

static void free_facts(facts *f) {
    for (int i = 0; i < f->n; i++) {
        free(f->at[i].what);
        free(f->at[i].text);
    }
    free(f->at);
    *f = (facts){0};
}

void rg_summary_end(void) {
    rg_summary_begin(false, false);
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
    free_facts(&looks);
    free_facts(&next);
    free_facts(&stages);
    free_facts(&warnings);
}

static void say(const char *head, const char *between, const facts *f) {
    for (int i = 0; i < f->n; i++) {
        fprintf(stderr, "%-9s ", i ? "" : head);
        rg_put_text(stderr, f->at[i].what, -1);
        fputs(between, stderr);
        rg_put_text(stderr, f->at[i].text, -1);
        putc('\n', stderr);
    }
}

void rg_summary_say(const rg_command *command, const void *options) {
    if (!next.n || rg_quiet) return;
    RG_FREED char *page = wanted ? rg_summary_path(command, options) : NULL;
    if (page) rg_summary_look(page, "all of this, with plots");
    fflush(stdout);
    say("done", ": ", &did);
    say("found", "", &found);
    say("look at", ": ", &looks);
    say("next", ":\n            ", &next);
}

static bool is_page(const char *path) {
    enum { HEAD = 2048 };
    char text[HEAD] = "";
    FILE *f = fopen(path, "r");
    if (f) {
        text[fread(text, 1, HEAD - 1, f)] = '\0';
        fclose(f);
    }
    return strstr(text, RG_PAGE_MARK);
}

static void lay_facts(rg_data *d, const char *list, const facts *f) {
    for (int i = 0; i < f->n; i++) {
        rg_data *one = rg_add(d, list);
        rg_set(one, "what", "%s", f->at[i].what);
        rg_set(one, "text", "%s", f->at[i].text);
    }
}

// "map.mrc" for --out DIR/map.mrc, "results" for --out DIR/results/.
static char *name_of(const char *out) {
    size_t end = strlen(out), from;
    while (end > 1 && out[end - 1] == '/') end--;
    for (from = end; from > 0 && out[from - 1] != '/'; from--) {}
    return rg_print("%.*s", (int)(end - from), out + from);
}

// The gnuplot processes run at the same time.
static void lay_figures(rg_data *d) {
    RG_FREED char *gnuplot = rg_program_path("gnuplot");
    rg_set(d, "gnuplot", "%s", gnuplot ? "yes" : "");
    for (int i = 0; i < n_figures && gnuplot; i++)
        fig[i].run = rg_plot_hold(&fig[i].plot, fig[i].script, WIDTH, fig[i].height, true);
    for (int i = 0; i < n_figures && gnuplot; i++) {
        RG_FREED char *svg = rg_plot_held(&fig[i].run);
        if (svg) {
            rg_data *one = rg_add(d, "figure");
            const char *const text[][2] = {{"class", fig[i].picture ? "picture" : "lines"}, {"title", fig[i].title},
                {"subtitle", fig[i].about}, {"alt", fig[i].alt}, {"svg", svg}, {"wide", ""}, {"narrow", ""}, {"broad", ""},
                {"data", ""}, {"script", ""}};
            for (size_t k = 0; k < sizeof text / sizeof *text; k++) rg_set(one, text[k][0], "%s", text[k][1]);
            rg_set(one, "width", "%d", WIDTH);
            rg_set(one, "height", "%d", fig[i].height);
        } else {
            rg_warn("the plot \"%s\" is not on the page: gnuplot failed on it", fig[i].title);
        }
    }
}

typedef struct listing {
    rg_data *page;
    const char *path; // of the page
    int seen[2];      // read, written
} listing;

static const char *kind_of(bool written) { return written ? "written" : "read"; }

// Files in the page's folder become links.
static void lay_file(void *of, const char *path, bool written) {
    listing *l = of;
    const char *name = rg_base_name(path);
    const size_t folder = (size_t)(name - path);
    if (access(path, F_OK) != 0 || l->seen[written]++ >= FILES_SHOWN) return;
    const bool near = (size_t)(rg_base_name(l->path) - l->path) == folder && !strncmp(path, l->path, folder);
    rg_data *file = rg_add(l->page, "files");
    rg_set(file, "kind", "%s", kind_of(written));
    rg_set(file, "path", "%s", path);
    rg_set(file, "near", "%s", near ? name : "");
}

static void lay_files(rg_data *d, const char *path) {
    listing l = {.page = d, .path = path};
    rg_files_each(lay_file, &l);
    for (int written = 0; written < 2; written++)
        if (l.seen[written] > FILES_SHOWN) {
            rg_data *others = rg_add(d, "others");
            rg_set(others, "n", "%d", l.seen[written] - FILES_SHOWN);
            rg_set(others, "kind", "%s", kind_of(written));
        }
}

static int write_page(FILE *out, const rg_command *command, const rg_given *given, const char *path) {
    char now[40];
    const time_t seconds = time(NULL);
    struct tm utc;
    RG_FREED char *name = name_of(out_of(command, given).text);
    rg_data *d = rg_data_new();
    strftime(now, sizeof now, "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&seconds, &utc));
    rg_set(d, "title", "%s: %s", command->name, name);
    rg_set(d, "now", "%s", now);
    rg_set(d, "line", "%s", given->line);
    rg_set(d, "summary", "%s", command->summary);
    lay_facts(d, "found", &found);
    lay_facts(d, "did", &did);
    lay_facts(d, "stages", &stages);
    lay_figures(d);
    lay_facts(d, "warnings", &warnings); // also those of plots
    rg_set(d, "warned", "%s", warnings.n ? "yes" : "");
    lay_files(d, path);
    const int code = rg_fill(out, "job.html", d);
    rg_data_free(d);
    return code;
}

int rg_summary_write(const rg_command *command, const void *options) {
    const rg_given *given = options;
    if (lacking != RG_GOOD) return lacking;
    RG_FREED char *path = wanted ? rg_summary_path(command, options) : NULL;
    rg_file file;
    int code = RG_GOOD;
    if (path && !given->page && access(path, F_OK) == 0 && !is_page(path))
        rg_warn("%s: exists and is not a page of regather; no page was written", path);
    else if (path && (code = rg_file_open(&file, path)) == RG_GOOD)
        code = rg_file_end(&file, write_page(file.stream, command, given, path));
    return code;
}
