// SPDX-License-Identifier: MIT
// write.c: a history as two tables, figures and a page.
#include "history.h"

#include "../../impl/base/core.h"
#include "../../impl/base/page.h"
#include "../../impl/base/plot.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char made_by[] = "# regather history";

// ---- the folder ----------------------------------------------------------------------------------------------------------

static bool made_here(const char *folder)
{
    char *path = rg_print("%s/history.tsv", folder), line[sizeof made_by] = "";
    FILE *f = fopen(path, "r");
    const bool made = f && fgets(line, sizeof line, f) && !strcmp(line, made_by);
    if (f) fclose(f);
    free(path);
    return made;
}

int rg_history_check_folder(const char *folder)
{
    DIR *d = opendir(folder);
    int others = 0;
    for (struct dirent *entry; d && (entry = readdir(d));) others += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    if (d) closedir(d);
    return !others || made_here(folder) ? RG_GOOD
                                        : rg_fail(RG_USAGE,
                                              "%s: expected a new or empty folder, or one of `history`, found %d other "
                                              "files in it",
                                              folder, others);
}

// ---- tables --------------------------------------------------------------------------------------------------------------

static void put_key(FILE *f, int number, const rg_history_series *s)
{
    static const rg_column key[] = {RG_C_ALGO, RG_C_VARIANT, RG_C_SHAPE, RG_C_PARAMS, RG_C_SCOPE, RG_C_MODE};
    fprintf(f, "%d\t", number);
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        rg_tsv_print(f, "%s\t", *s->key->cell[key[i]] ? s->key->cell[key[i]] : "-");
}
static const char key_columns[] = "series\talgo\tvariant\tshape\tparams\tscope\tmode\t";

static int open_table(const rg_history *h, rg_file *file, const char *folder, const char *name)
{
    char *path = rg_print("%s/%s", folder, name);
    int code = rg_file_open(file, path);
    if (!code)
        rg_tsv_print(file->stream, "%s %s\n# command: %s\n# seed: %llu\n# order: date of the %s\n", made_by, RG_VERSION,
            h->command, (unsigned long long)h->seed, h->by_commit ? "commit" : "run");
    free(path);
    return code;
}

static int write_runs(const rg_history *h, const char *folder)
{
    rg_file file;
    int code = open_table(h, &file, folder, "history.tsv");
    if (code) return code;
    FILE *f = file.stream;
    fprintf(f, "%srun\trevision\tcommitted\tdate\tfile\tstatus\tmedian_ns\tlow_ns\thigh_ns\tlevel_ns\tsource\tmachine\n",
        key_columns);
    for (int i = 0; i < h->n_series; i++)
        for (int k = 0; k < h->series[i].n; k++) {
            const rg_history_series *s = &h->series[i];
            const rg_history_point *p = &s->point[k];
            const rg_run *run = &h->run[p->run];
            put_key(f, i + 1, s);
            rg_tsv_print(f, "%d\t%s\t%s\t%s\t%s\t%s\t", p->run + 1, run->revision, *run->committed ? run->committed : "-",
                run->date, rg_base_name(run->file.path), p->row->cell[RG_C_STATUS]);
            rg_tsv_put(f, "%.7g", p->median_ns, '\t');
            rg_tsv_put(f, "%.7g", p->low_ns, '\t');
            rg_tsv_put(f, "%.7g", p->high_ns, '\t');
            rg_tsv_put(f, "%.7g", p->level_ns, '\t');
            rg_tsv_print(f, "%s\t%s\n", *p->row->cell[RG_C_SOURCE] ? p->row->cell[RG_C_SOURCE] : "-", s->machine);
        }
    return rg_file_commit(&file);
}

static int write_steps(const rg_history *h, const char *folder)
{
    rg_file file;
    int code = open_table(h, &file, folder, "steps.tsv");
    if (code) return code;
    FILE *f = file.stream;
    rg_tsv_print(f, "# error: %g of the rows without a step get one\n", RG_STEP_ERROR);
    fprintf(f, "%sverdict\tfrom\tto\tdate\trun\tratio\tlow\thigh\tchance\tchanged\n", key_columns);
    for (int i = 0; i < h->n_series; i++)
        for (int k = 0; k < h->series[i].n_steps; k++) {
            const rg_history_series *s = &h->series[i];
            const rg_step *step = &s->step[k];
            const int before = rg_timed_point(s, step->at - 1)->run, at = rg_timed_point(s, step->at)->run;
            char *cause = rg_step_cause(h, s, step);
            put_key(f, i + 1, s);
            rg_tsv_print(f, "%s\t%s\t%s\t%s\t%d\t%.6g\t%.6g\t%.6g\t%.4g\t%s\n", rg_step_word(step), h->run[before].revision,
                h->run[at].revision, h->by_commit ? h->run[at].committed : h->run[at].date, at + 1, step->ratio, step->low,
                step->high, step->chance, cause);
            free(cause);
        }
    return rg_file_commit(&file);
}

// ---- figures -------------------------------------------------------------------------------------------------------------

static bool drawn(const rg_history_series *s, bool all) { return s->n_timed > 1 && (all || s->n_steps); }

static int draw(const rg_history *h, int number, const char *folder)
{
    static const struct {
        double ns;
        const char *name;
    } unit[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    const rg_history_series *s = &h->series[number - 1];
    rg_plot plot = {0};
    int u = 0, first = 0;
    for (int i = 0; i < number - 1; i++) first += h->series[i].n;
    while (u < 3 && rg_timed_point(s, 0)->median_ns < unit[u].ns) u++;
    char *name = rg_series_name(s), *data = rg_print("%s/history.tsv", folder),
         *path = rg_print("%s/fig/%d.svg", folder, number);
    rg_plot_path(&plot, "DATA", data);
    rg_plot_number(&plot, "FIRST", first);
    rg_plot_number(&plot, "LAST", first + s->n - 1);
    rg_plot_number(&plot, "UNIT_NS", unit[u].ns);
    rg_plot_text(&plot, "UNIT", unit[u].name);
    rg_plot_text(&plot, "TITLE", name);
    rg_plot_text(&plot, "DETAIL", s->machine);
    int code = rg_plot_draw(&plot, "history.gp", path);
    free(name), free(data), free(path);
    return code;
}

static int draw_all(const rg_history *h, const char *folder, bool all)
{
    char *figures = rg_print("%s/fig", folder);
    int code = rg_make_folder(figures);
    for (int i = 0; i < h->n_series && !code; i++)
        if (drawn(&h->series[i], all)) code = draw(h, i + 1, folder);
    free(figures);
    return code;
}

// ---- the page ------------------------------------------------------------------------------------------------------------

static void step_rows(rg_page *p, const rg_history *h)
{
    static const char *const column[] = {
        "", "row", "new / old", "95 % interval", "between", "when", "by chance once in", "changed with it"};
    p->make->table(p, "Steps", "nlrnnnrl", column, 8);
    for (int i = 0; i < h->n_series; i++)
        for (int k = 0; k < h->series[i].n_steps; k++) {
            const rg_history_series *s = &h->series[i];
            const rg_step *step = &s->step[k];
            const rg_run *before = &h->run[rg_timed_point(s, step->at - 1)->run],
                         *at = &h->run[rg_timed_point(s, step->at)->run];
            char *cell[] = {rg_print("%s", rg_step_word(step)), rg_series_name(s), rg_print("%.4g", step->ratio),
                rg_print("%.4g to %.4g", step->low, step->high),
                strcmp(before->revision, at->revision) ? rg_print("%s and %s", before->revision, at->revision)
                                                       : rg_print("runs of %s: not by the code", at->revision),
                rg_print("%.10s", h->by_commit ? at->committed : at->date), rg_print("%.0f", 1 / step->chance),
                rg_step_cause(h, s, step)};
            p->make->row(p, (const char *const *)cell, 8);
            for (int c = 0; c < 8; c++) free(cell[c]);
        }
    p->make->table_end(p);
}

static void series_rows(rg_page *p, const rg_history *h)
{
    static const char *const column[] = {
        "row", "machine", "runs", "level at first", "level now", "now / first", "steps", "newest run"};
    p->make->table(p, "All rows", "llrrrrrn", column, 8);
    for (int i = 0; i < h->n_series; i++) {
        const rg_history_series *s = &h->series[i];
        const rg_history_point *first = rg_timed_point(s, 0), *last = rg_timed_point(s, s->n_timed - 1);
        char old[32] = "", new[32] = "";
        if (s->n_timed) {
            rg_duration(first->level_ns, old);
            rg_duration(last->level_ns, new);
        }
        char *cell[] = {rg_series_name(s), rg_print("%s", s->machine), rg_print("%d", s->n_timed), rg_print("%s", old),
            rg_print("%s", new), s->n_timed ? rg_print("%.4g", last->level_ns / first->level_ns) : rg_print("%s", ""),
            rg_print("%d", s->n_steps),
            rg_print("%s", rg_series_broken(s) ? "BROKEN" : s->point[s->n - 1].row->cell[RG_C_STATUS])};
        p->make->row(p, (const char *const *)cell, 8);
        for (int c = 0; c < 8; c++) free(cell[c]);
    }
    p->make->table_end(p);
}

static void figures(rg_page *p, const rg_history *h, const char *folder, bool all)
{
    for (int i = 0; i < h->n_series; i++) {
        const rg_history_series *s = &h->series[i];
        char *wide = rg_print("fig/%d.svg", i + 1), *path = rg_print("%s/%s", folder, wide), *name = rg_series_name(s);
        FILE *there = drawn(s, all) ? fopen(path, "r") : NULL; // without gnuplot there is none
        const rg_page_figure figure = {.title = name,
            .subtitle = s->machine,
            .wide = wide,
            .alt = "the row's median in every run, and its levels",
            .data = "history.tsv",
            .width = 1000,
            .height = 460,
            .whole = true};
        if (there) {
            fclose(there);
            p->make->figures(p, &figure, 1);
        }
        free(wide), free(path), free(name);
    }
}

static int write_page(const rg_history *h, const char *folder, bool all)
{
    static const char *const label[] = {"FASTER", "", "", "SLOWER", "", "BROKEN"}; // by the colours of the page
    rg_file file;
    int steps = 0;
    char *path = rg_print("%s/index.html", folder);
    int code = rg_file_open(&file, path);
    free(path);
    if (code) return code;
    rg_page p = {.out = file.stream, .make = &rg_html, .label = label, .n_labels = 6};
    for (int i = 0; i < h->n_series; i++) steps += h->series[i].n_steps;
    code = rg_html_begin(&p, "regather: times from commit to commit");
    char *what = rg_print("%d result file%s of %d commit%s, in the order of the %s: %d row%s, %d step%s.", h->n_runs,
        rg_s(h->n_runs), h->commits, rg_s(h->commits), h->by_commit ? "commits" : "runs", h->n_series, rg_s(h->n_series), steps,
        rg_s(steps));
    char *how = rg_print(
        "A step is a lasting change of a row's median: the span of runs whose mean logarithm differs most from the rest, where "
        "at most %g %% of the permutations of its runs have one as good (circular binary segmentation). Of rows without a step "
        "%g %% get one. Levels have at least %d runs.",
        100 * RG_STEP_ERROR, 100 * RG_STEP_ERROR, RG_STEP_RUNS);
    p.make->heading(&p, 1, NULL, "Times from commit to commit");
    p.make->paragraph(&p, what);
    p.make->paragraph(&p, how);
    step_rows(&p, h);
    figures(&p, h, folder, all);
    series_rows(&p, h);
    p.make->paragraph(&p, "Every median with its interval stands in `history.tsv`, the steps in `steps.tsv`.");
    rg_html_end(&p);
    free(what);
    free(how);
    return rg_file_end(&file, code);
}

int rg_history_write(const rg_history *h, const char *folder, bool all)
{
    int code = rg_make_folder(folder);
    code = code ? code : write_runs(h, folder);
    code = code ? code : write_steps(h, folder);
    code = code ? code : draw_all(h, folder, all);
    return code ? code : write_page(h, folder, all);
}
