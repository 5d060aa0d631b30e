// SPDX-License-Identifier: MIT
// history.c: the command `history`: reads the result files of a folder, orders them in time, makes a series of every row, looks
// for steps, says what it found.
#include "history.h"

#include "../compare/believe.h"
#include "../timing/stats.h"

#include "../../impl/base/core.h"
#include "../../impl/base/options.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    rg_given given;
    const char *out;
    bool all_figures;
} request;

// ---- files ---------------------------------------------------------------------------------------------------------------

static const char *head_of(const rg_result *f, const char *key)
{
    const char *value = rg_result_head(f, key);
    return value ? value : "";
}

static int read_files(rg_history *h)
{
    struct dirent **entry;
    const int n = scandir(h->folder, &entry, rg_is_file_of_rows, alphasort);
    if (n < 0) return rg_fail(RG_USAGE, "%s: cannot be read: %s", h->folder, strerror(errno));
    int code = n ? RG_GOOD : rg_fail(RG_USAGE, "%s: expected result files of `bench --out`, found no .tsv file", h->folder);
    h->run = rg_alloc((size_t)(n + 1) * sizeof *h->run);
    for (int i = 0; i < n; i++) {
        rg_run *run = &h->run[h->n_runs];
        bool cut;
        char *path = rg_print("%s/%s", h->folder, entry[i]->d_name);
        int its = code == RG_GOOD ? rg_result_read(path, &run->file, &cut) : code;
        if (its == RG_GOOD) {
            run->revision = head_of(&run->file, "revision");
            run->committed = head_of(&run->file, "revision_date");
            run->committed = isdigit((unsigned char)*run->committed) ? run->committed : ""; // "unknown (why)"
            run->date = head_of(&run->file, "date");
            h->n_runs++;
        }
        code = its;
        free(path);
        free(entry[i]);
    }
    free(entry);
    // A line for every row of every file that cannot be believed, not of the first alone.
    for (int i = 0, all = h->n_runs; i < all && (code == RG_GOOD || i > 0); i++)
        if (rg_believe(&h->run[i].file)) code = RG_USAGE;
    return code;
}

static int by_commit(const void *x, const void *y)
{
    const rg_run *a = x, *b = y;
    int order = strcmp(a->committed, b->committed);
    order = order ? order : strcmp(a->date, b->date);
    return order ? order : strcmp(a->file.path, b->file.path);
}

static int by_run(const void *x, const void *y)
{
    const rg_run *a = x, *b = y;
    int order = strcmp(a->date, b->date);
    return order ? order : strcmp(a->file.path, b->file.path);
}

static int put_in_order(rg_history *h)
{
    h->by_commit = true;
    for (int i = 0; i < h->n_runs; i++) {
        const rg_run *run = &h->run[i];
        h->by_commit &= *run->committed != '\0';
        if (!*run->date || !*run->revision)
            return rg_fail(RG_USAGE, "%s: expected the date of the run and its revision in the head, found no line \"%s\"",
                run->file.path, *run->date ? "revision" : "date");
    }
    qsort(h->run, (size_t)h->n_runs, sizeof *h->run, h->by_commit ? by_commit : by_run);
    for (int i = 0; i < h->n_runs; i++) {
        bool known = false;
        for (int k = 0; k < i; k++) known |= !strcmp(h->run[k].revision, h->run[i].revision);
        h->commits += !known;
    }
    return RG_GOOD;
}

// ---- series --------------------------------------------------------------------------------------------------------------

static const char *input_of(const rg_result *f, const rg_row *row)
{
    char *key = rg_print("input %s %s", row->cell[RG_C_ALGO], row->cell[RG_C_SHAPE]);
    const char *hash = head_of(f, key);
    free(key);
    return hash;
}

static rg_history_series *series_of(rg_history *h, const rg_run *run, const rg_row *row)
{
    const char *machine = head_of(&run->file, "machine"), *suite = head_of(&run->file, "suite"),
               *input = input_of(&run->file, row);
    for (int i = 0; i < h->n_series; i++) {
        rg_history_series *s = &h->series[i];
        if (rg_row_same(s->key, row) && !strcmp(s->machine, machine) && !strcmp(s->suite, suite) && !strcmp(s->input, input))
            return s;
    }
    h->series = rg_more(h->series, h->n_series, sizeof *h->series);
    rg_history_series *s = &h->series[h->n_series++];
    *s = (rg_history_series){.key = row, .machine = machine, .suite = suite, .input = input};
    s->point = rg_alloc((size_t)h->n_runs * sizeof *s->point);
    return s;
}

static rg_history_point point_of(int run, const rg_row *row)
{
    rg_history_point p = {run, row, NAN, NAN, NAN, NAN};
    rg_summary summary;
    if (!rg_row_is_timed(row)) return p;
    rg_samples samples = rg_row_samples(row);
    rg_summarise(&samples, &summary);
    rg_samples_free(&samples);
    p.median_ns = rg_cell_number(row, RG_C_MEDIAN);
    // Too few samples have no interval of their own.
    p.low_ns = isfinite(summary.low) ? summary.low : summary.min;
    p.high_ns = isfinite(summary.high) ? summary.high : summary.max;
    return p;
}

static int make_series(rg_history *h)
{
    for (int r = 0; r < h->n_runs; r++)
        for (int i = 0; i < h->run[r].file.n_rows; i++) {
            const rg_row *row = &h->run[r].file.row[i];
            if (rg_row_is_probe(row) || rg_row_is_self_test(row)) continue;
            rg_history_series *s = series_of(h, &h->run[r], row);
            if (s->n && s->point[s->n - 1].run == r)
                return rg_fail(RG_USAGE, "%s: expected each measurement once, found %s:%s %s %s twice", h->run[r].file.path,
                    row->cell[RG_C_ALGO], row->cell[RG_C_VARIANT], row->cell[RG_C_SHAPE], row->cell[RG_C_PARAMS]);
            s->point[s->n++] = point_of(r, row);
            s->n_timed += rg_row_is_timed(row);
        }
    return RG_GOOD;
}

static void find_steps(const rg_history *h, rg_history_series *s)
{
    double *value = rg_alloc((size_t)(s->n + 1) * sizeof *value), *level = rg_alloc((size_t)(s->n + 1) * sizeof *level);
    s->step = rg_alloc((size_t)(s->n + 1) * sizeof *s->step);
    int n = 0;
    for (int i = 0; i < s->n; i++)
        if (!isnan(s->point[i].median_ns)) value[n++] = log(s->point[i].median_ns);
    s->n_steps = rg_steps_find(value, n, h->seed, s->step, level);
    n = 0;
    for (int i = 0; i < s->n; i++)
        if (!isnan(s->point[i].median_ns)) s->point[i].level_ns = exp(level[n++]);
    free(value);
    free(level);
}

const rg_history_point *rg_timed_point(const rg_history_series *s, int timed)
{
    for (int i = 0; i < s->n; i++)
        if (!isnan(s->point[i].median_ns) && timed-- == 0) return &s->point[i];
    return NULL;
}

char *rg_series_name(const rg_history_series *s)
{
    char *const *c = s->key->cell;
    return rg_print(
        "%s:%s %s %s %s %s", c[RG_C_ALGO], c[RG_C_VARIANT], c[RG_C_SHAPE], c[RG_C_PARAMS], c[RG_C_SCOPE], c[RG_C_MODE]);
}

const char *rg_step_word(const rg_step *step) { return step->ratio > 1 ? "SLOWER" : "FASTER"; }

bool rg_series_broken(const rg_history_series *s)
{
    const rg_row *newest = s->point[s->n - 1].row;
    return s->n_timed && !rg_row_is_timed(newest) && strcmp(newest->cell[RG_C_STATUS], "SKIP");
}

char *rg_step_cause(const rg_history *h, const rg_history_series *s, const rg_step *step)
{
    static const char *const key[] = {
        "compiler", "cflags", "nvcc", "nvcc_flags", "gpu_driver", "cuda_runtime", "gpu_power_cap", "kernel", "governor"};
    const rg_history_point *before = rg_timed_point(s, step->at - 1), *at = rg_timed_point(s, step->at);
    const rg_result *old = &h->run[before->run].file, *new = &h->run[at->run].file;
    const char *source[2] = {before->row->cell[RG_C_SOURCE], at->row->cell[RG_C_SOURCE]};
    char *text = rg_print("%s", *source[0] && *source[1] && strcmp(source[0], source[1]) ? "its source" : "");
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        if (strcmp(head_of(old, key[i]), head_of(new, key[i]))) {
            char *more = rg_print("%s%s%s", text, *text ? ", " : "", key[i]);
            free(text);
            text = more;
        }
    if (!*text) {
        free(text);
        text = rg_print(
            "%s", *source[0] && *source[1] ? "nothing that the files name, its source neither" : "nothing that the files name");
    }
    return text;
}

// ---- the command ---------------------------------------------------------------------------------------------------------

static void print_step(const rg_history *h, const rg_history_series *s, const rg_step *step)
{
    char *name = rg_series_name(s), *cause = rg_step_cause(h, s, step);
    const rg_run *before = &h->run[rg_timed_point(s, step->at - 1)->run], *at = &h->run[rg_timed_point(s, step->at)->run];
    const bool same = !strcmp(before->revision, at->revision);
    printf("%s%-9s%s %s: %.4g [%.4g, %.4g] ", rg_colour(stdout, step->ratio > 1 ? "red" : "green"), rg_step_word(step),
        rg_colour(stdout, "off"), name, step->ratio, step->low, step->high);
    if (same)
        printf("within commit %s: not by the code", at->revision);
    else
        printf("between commits %s and %s", before->revision, at->revision);
    printf(", %s, by chance once in %.0f; changed: %s\n", h->by_commit ? at->committed : at->date, 1 / step->chance, cause);
    free(name);
    free(cause);
}

static int conclude(const rg_history *h)
{
    int steps = 0, slower = 0, broken = 0, short_ones = 0;
    for (int i = 0; i < h->n_series; i++) {
        const rg_history_series *s = &h->series[i];
        for (int k = 0; k < s->n_steps; k++) print_step(h, s, &s->step[k]);
        steps += s->n_steps;
        slower += s->n_steps && s->step[s->n_steps - 1].ratio > 1;
        short_ones += s->n_timed < 2 * RG_STEP_RUNS;
        if (rg_series_broken(s)) {
            char *name = rg_series_name(s);
            printf("%sBROKEN%s    %s: %s: %s\n", rg_colour(stdout, "red"), rg_colour(stdout, "off"), name,
                s->point[s->n - 1].row->cell[RG_C_STATUS], s->point[s->n - 1].row->cell[RG_C_STOP]);
            free(name);
            broken++;
        }
    }
    printf(
        "%d file%s of %d commit%s, in the order of the %s; %d row%s: %d step%s, the newest to slower in %d row%s, broken: %d\n",
        h->n_runs, rg_s(h->n_runs), h->commits, rg_s(h->commits), h->by_commit ? "commits" : "runs", h->n_series,
        rg_s(h->n_series), steps, rg_s(steps), slower, rg_s(slower), broken);
    if (short_ones)
        printf("%d row%s fewer than %d times: no step can be found there\n", short_ones, short_ones == 1 ? " has" : "s have",
            2 * RG_STEP_RUNS);
    return slower || broken ? RG_WRONG : RG_GOOD;
}

static int run(void *typed)
{
    const request *r = typed;
    rg_history h = {.folder = r->given.word.item[0], .command = r->given.line, .seed = r->given.seed};
    int code = rg_history_check_folder(r->out);
    code = code ? code : read_files(&h);
    code = code ? code : put_in_order(&h);
    code = code ? code : make_series(&h);
    if (!code && !h.n_series) code = rg_fail(RG_USAGE, "%s: expected files with timed rows, found none", h.folder);
    for (int i = 0; i < h.n_series && !code; i++) find_steps(&h, &h.series[i]);
    code = code ? code : rg_history_write(&h, r->out, r->all_figures);
    code = code ? code : conclude(&h);
    for (int i = 0; i < h.n_series; i++) {
        free(h.series[i].point);
        free(h.series[i].step);
    }
    for (int i = 0; i < h.n_runs; i++) rg_result_free(&h.run[i].file);
    free(h.series);
    free(h.run);
    return code;
}

static const rg_option options[] = {
    {"out", "H", "the folder of the tables, figures and page", RG_TO(request, out), .required = true},
    {"all-figures", NULL, "a figure of every row, not of those with steps alone", RG_TO(request, all_figures)},
    {0},
};

const rg_command rg_cmd_history = {
    .name = "history",
    .words = "DIR",
    .summary = "what each time was from commit to commit, and where it changed",
    .help = "DIR holds result files of `bench --out`, one or more a commit (its other .tsv files are refused; so\n"
            "are files that cannot be believed, as by compare). They are ordered by the date of the commit, which\n"
            "bench writes into the head, or by that of the run where one has none. Each row is a series of its\n"
            "own; rows of another machine, version of the suite or hash of inputs are other series.\n\n"
            "Steps: of all spans of a series the one whose mean logarithm differs most from that of the rest; it\n"
            "counts when at most 1 % of 2,000 permutations of the series (--seed) have one as good, and the\n"
            "pieces are searched in the same way (circular binary segmentation). So of rows without a step 1 in\n"
            "100 gets one. A level has at least 3 runs: of 12 runs a step in the middle can be found, of 25 one\n"
            "with 3 runs after it; of the newest commit ask duel or compare. A slow drift appears as several\n"
            "steps. The size is the ratio of the levels with its 95 % interval (Student's t, the scatter about\n"
            "all levels). Beside it: what else changed between the two runs, the kernel's own source first; a\n"
            "step within one commit is not by the code.\n\n"
            "H/history.tsv has a line for every row of every run, H/steps.tsv one a step, H/index.html both for\n"
            "people, with a figure of each row that has a step. H is a new or empty folder, or one that history\n"
            "wrote.\n\n"
            "Exit codes: 0 good; 1 the newest step of some row is to slower, or a row that passed fails in the\n"
            "newest run; 2 bad usage or input.",
    .option = options,
    .bytes = sizeof(request),
    .run = run,
};
