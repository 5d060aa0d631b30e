// SPDX-License-Identifier: MIT
// score_write.c: tables, figures and the page of `score`.
#include "score.h"

#include "../../impl/base/core.h"
#include "../../impl/base/page.h"
#include "../../impl/base/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char made_by[] = "# regather score";

// ---- tables ----------------------------------------------------------------------------------------------------------------

static void put(FILE *f, double value, char end) { rg_tsv_put(f, "%.7g", value, end); }

static int open_table(rg_file *file, const rg_score *s, const char *folder, const char *name, const char *command)
{
    char *path = rg_print("%s/%s", folder, name);
    const int code = rg_file_open(file, path);
    free(path);
    if (!code)
        rg_tsv_print(file->stream, "%s %s\n# command: %s\n# workload: %s, size %s\n# reference: %s\n", made_by, RG_VERSION,
            command, s->workload->title, rg_size_name[s->machine[0].a.size], s->reference);
    return code;
}

// No other is both faster and cheaper a job.
static bool on_front(const rg_score *s, const rg_machine_score *m)
{
    for (int k = 0; k < s->n; k++)
        if (s->machine[k].seconds < m->seconds && s->machine[k].per_job < m->per_job) return false;
    return !isnan(m->per_job);
}

static int write_scores(const rg_score *s, const char *folder, const char *command)
{
    rg_file file;
    int code = open_table(&file, s, folder, "score.tsv", command);
    if (code) return code;
    FILE *f = file.stream;
    if (s->costs)
        rg_tsv_print(f, "# money: %s over %g years, %g a kWh, PUE %g, busy for %g of the time\n", s->costs->currency,
            s->costs->years, s->costs->electricity, s->costs->pue, s->costs->utilisation);
    fprintf(f,
        "machine\tdivision\tnonce\trank\tbest\tscore\tlow\thigh\tlog_se\tseconds\tjoules\tjoules_are\tprice\tsupport\tresidual\tenergy_busy\t"
        "energy_idle\ttotal\tmoney_a_job\tfront\n");
    for (int i = 0; i < s->n; i++) {
        const rg_machine_score *m = &s->machine[i];
        rg_tsv_print(f, "%s\t%s\t%s\t%d\t%.4f\t", m->a.label, rg_archive_value(&m->a, "division"),
            rg_archive_value(&m->a, "nonce"), m->rank, m->best);
        put(f, m->score, '\t'), put(f, m->low, '\t'), put(f, m->high, '\t'), put(f, sqrt(m->variance), '\t');
        put(f, m->seconds, '\t'), put(f, m->joules, '\t');
        rg_tsv_print(f, "%s\t", m->joules_are);
        put(f, m->price, '\t'), put(f, s->costs ? m->support * s->costs->years : NAN, '\t'), put(f, m->residual, '\t');
        put(f, m->energy_busy, '\t'), put(f, m->energy_idle, '\t'), put(f, m->total, '\t'), put(f, m->per_job, '\t');
        fprintf(f, "%d\n", on_front(s, m));
    }
    return rg_file_commit(&file);
}

static int write_jobs(const rg_score *s, const char *folder, const char *command)
{
    rg_file file;
    int code = open_table(&file, s, folder, "jobs.tsv", command);
    if (code) return code;
    FILE *f = file.stream;
    fprintf(f,
        "machine\tjob\tweight\tunits\truns\tmedian_s\tlow_s\thigh_s\ttimes_reference\tjoules\tjoules_are\tmoney\tplace\tnumber\tfrom_s\tto_s\n");
    for (int i = 0; i < s->n; i++) {
        double from_s = 0;
        for (int j = 0; j < s->workload->n; j++) {
            const rg_work *w = &s->workload->job[j];
            const rg_machine_score *m = &s->machine[i];
            const rg_job_score *of = &m->job[j];
            rg_variance v = {0};
            rg_variance_add(&v, of->variance, of->runs - 1);
            const double half = rg_half_interval(&v, 0.05);
            rg_tsv_print(f, "%s\t%s\t%g\t%g:%s\t%d\t", m->a.label, w->job, w->weight, w->units, w->unit, of->runs);
            put(f, of->median_s, '\t'), put(f, of->median_s * exp(-half), '\t'), put(f, of->median_s * exp(half), '\t');
            put(f, s->reference_s[j] / of->median_s, '\t'), put(f, of->joules, '\t');
            rg_tsv_print(f, "%s\t", of->source);
            put(f, m->per_job * of->median_s / m->seconds, '\t'); // a busy second costs the same, whatever runs
            fprintf(f, "%d\t%d\t", i + 1, j + 1);
            put(f, from_s, '\t'), put(f, from_s + w->weight * of->median_s, '\n');
            from_s += w->weight * of->median_s;
        }
    }
    return rg_file_commit(&file);
}

// Ranks by a value of each machine, the lowest first; equal to within 1 % they share one.
static void put_ranks(FILE *f, const rg_score *s, const char *what, const char *setting, int number, const double *value)
{
    for (int i = 0; i < s->n; i++) {
        double rank = isnan(value[i]) ? NAN : 1; // what is not known has no rank
        for (int k = 0; k < s->n; k++) rank += value[k] < 0.99 * value[i];
        rg_tsv_print(f, "%s\t%s\t%d\t%s\t%d\t", what, setting, number, s->machine[i].a.label, i + 1);
        rg_tsv_put(f, "%.0f", rank, '\t');
        rg_tsv_put(f, "%.7g", value[i], '\n');
    }
}

static int write_sensitivity(const rg_score *s, const char *folder, const char *command, int *settings)
{
    static const double price[] = {0.25, 0.5, 1, 2, 4}, busy[] = {0.1, 0.3, 0.5, 0.7, 0.9};
    double value[RG_MACHINES_MOST], weight[RG_JOBS_MOST];
    rg_file file;
    int number = 0, code = open_table(&file, s, folder, "sensitivity.tsv", command);
    if (code) return code;
    FILE *f = file.stream;
    fprintf(f,
        "# weights: rank by the score, times the reference; the others: by money a job\nwhat\tsetting\tnumber\tmachine\tplace\trank\tvalue\n");
    for (int j = 0; j < s->workload->n; j++)
        for (int up = 0; up < 2; up++) {
            double sum = 0;
            for (int k = 0; k < s->workload->n; k++)
                sum += weight[k] = s->workload->job[k].weight * (k != j ? 1 : up ? 2 : 0.5);
            for (int k = 0; k < s->workload->n; k++) weight[k] /= sum;
            for (int i = 0; i < s->n; i++) value[i] = exp(-rg_score_log(s, &s->machine[i], weight));
            char *setting = rg_print("%s x %s", s->workload->job[j].job, up ? "2" : "1/2");
            put_ranks(f, s, "weights", setting, ++number, value);
            free(setting);
        }
    for (int k = 0; k < 10 && s->costs; k++) {
        char *setting = k < 5 ? rg_print("kWh x %g", price[k]) : rg_print("busy %g %%", 100 * busy[k - 5]);
        for (int i = 0; i < s->n; i++) {
            rg_machine_score m = s->machine[i];
            rg_score_money(s, &m, s->costs->electricity * (k < 5 ? price[k] : 1), k < 5 ? s->costs->utilisation : busy[k - 5]);
            value[i] = m.per_job;
        }
        put_ranks(f, s, k < 5 ? "electricity" : "utilisation", setting, ++number, value);
        free(setting);
    }
    *settings = number;
    return rg_file_commit(&file);
}

// ---- figures and page ------------------------------------------------------------------------------------------------------

static const struct {
    const char *name, *title, *says, *data, *alt;
    bool money;
} figures[] = {
    {"ranks", "How much faster than the reference",
        "Weighted geometric mean over the jobs with its 95 % interval; intervals that overlap widely share a rank.",
        "score.tsv", "a dot with an interval for every machine", false},
    {"jobs", "Where a job's time goes", "Weighted seconds of each job, one behind the other.", "jobs.tsv",
        "a stacked bar for every machine", false},
    {"front", "Money a job against seconds a job",
        "Lower left is better; on the line no other machine is both faster and cheaper.", "score.tsv",
        "a point for every machine, and the Pareto front", true},
    {"costs", "What it costs over the years", "Price less residual, support, energy idle and busy.", "score.tsv",
        "a stacked bar for every machine", true},
    {"sensitivity", "What the rank hangs on",
        "Each weight halved and doubled, electricity and utilisation changed: the rank of each machine.", "sensitivity.tsv",
        "the rank of every machine over the settings", false},
};
enum { FIGURES = sizeof figures / sizeof *figures };

// Of an axis of logarithms: none of what is known is 0.
static bool has_money(const rg_score *s)
{
    int known = 0, free_of_charge = 0;
    for (int m = 0; m < s->n; m++) {
        known += s->machine[m].per_job > 0;
        free_of_charge += s->machine[m].per_job <= 0;
    }
    return known && !free_of_charge;
}

// The page shows the figures that are there: that of an earlier run goes, whatever comes of this one.
static int draw(const rg_score *s, const char *folder, int i, int settings)
{
    rg_plot plot = {0};
    const char *name[RG_MACHINES_MOST], *job[RG_JOBS_MOST];
    char *data = rg_print("%s/%s", folder, figures[i].data), *path = rg_print("%s/fig/%s.svg", folder, figures[i].name);
    unlink(path);
    for (int m = 0; m < s->n; m++) name[m] = s->machine[m].a.label;
    for (int j = 0; j < s->workload->n; j++) job[j] = s->workload->job[j].job;
    rg_plot_path(&plot, "DATA", data);
    rg_plot_text(&plot, "FIGURE", figures[i].name);
    rg_plot_texts(&plot, "MACHINES", s->n, name);
    rg_plot_texts(&plot, "JOBS", s->workload->n, job);
    rg_plot_text(&plot, "CURRENCY", s->costs ? s->costs->currency : "");
    rg_plot_text(&plot, "REFERENCE", s->reference);
    rg_plot_number(&plot, "SETTINGS", settings);
    const int code = figures[i].money && !has_money(s) ? RG_GOOD : rg_plot_draw(&plot, "score.gp", path);
    free(data), free(path);
    return code;
}

static char *number(double value) { return isfinite(value) ? rg_print("%.4g", value) : rg_print("%s", "-"); }

static void ranking(rg_page *p, const rg_score *s)
{
    static const char *const column[] = {"rank", "machine", "division", "times reference", "95 % interval", "P(best)",
        "s a job", "J a job", "total", "money a job"};
    p->make->table(p, "Ranking", "nllrnrrrrr", column, 10);
    for (int i = 0; i < s->n; i++) {
        const rg_machine_score *m = &s->machine[i];
        char *cell[] = {rg_print("%d", m->rank), rg_print("%s", m->a.label),
            rg_print("%s", rg_archive_value(&m->a, "division")), number(m->score), rg_print("%.4g to %.4g", m->low, m->high),
            rg_print("%.2f", m->best), number(m->seconds),
            isnan(m->joules) ? rg_print("%s", "-")
                : m->upper   ? rg_print("at most %.4g", m->joules)
                             : rg_print("%.4g (%s)", m->joules, m->joules_are),
            isnan(m->total) ? rg_print("%s", "-") : rg_print("%.0f", m->total), number(m->per_job)};
        p->make->row(p, (const char *const *)cell, 10);
        for (int c = 0; c < 10; c++) free(cell[c]);
    }
    p->make->table_end(p);
}

static void jobs(rg_page *p, const rg_score *s)
{
    static const char *const column[] = {
        "machine", "job", "weight", "runs", "median s", "times reference", "J a run", "joules are", "units"};
    p->make->table(p, "Jobs", "llrrrrrll", column, 9);
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->workload->n; j++) {
            const rg_work *w = &s->workload->job[j];
            const rg_job_score *of = &s->machine[i].job[j];
            char *cell[] = {rg_print("%s", s->machine[i].a.label), rg_print("%s", w->job), rg_print("%g", w->weight),
                rg_print("%d", of->runs), number(of->median_s), number(s->reference_s[j] / of->median_s), number(of->joules),
                rg_print("%s", of->source), rg_print("%g %s", w->units, w->unit)};
            p->make->row(p, (const char *const *)cell, 9);
            for (int c = 0; c < 9; c++) free(cell[c]);
        }
    p->make->table_end(p);
}

static void machines(rg_page *p, const rg_score *s)
{
    static const char *const column[] = {"machine", "what it is", "cores", "GPU", "revision", "nonce", "measured"};
    p->make->table(p, "Machines", "lllllll", column, 7);
    for (int i = 0; i < s->n; i++) {
        const rg_archive *a = &s->machine[i].a;
        const char *const cell[] = {a->label, rg_archive_value(a, "cpu"), rg_archive_value(a, "cores"),
            rg_archive_value(a, "gpu"), rg_archive_value(a, "revision"), rg_archive_value(a, "nonce"),
            rg_archive_value(a, "date")};
        p->make->row(p, cell, 7);
    }
    p->make->table_end(p);
}

// The shortest job, where starts of processes and GPUs weigh more than the work; NULL: none is so short.
static char *too_short(const rg_score *s)
{
    int machine = 0, job = 0;
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->workload->n; j++)
            if (s->machine[i].job[j].median_s < s->machine[machine].job[job].median_s) machine = i, job = j;
    const double shortest_s = s->machine[machine].job[job].median_s;
    return shortest_s >= 1
        ? NULL
        : rg_print("Runs of less than a second (%s on %s: %.2g s) are mostly the start of a process and of its "
                   "GPU. Rank machines for a purchase by a larger size, medium or full.",
              s->workload->job[job].job, s->machine[machine].a.label, shortest_s);
}

static int write_page(const rg_score *s, const char *folder)
{
    rg_file file;
    char *path = rg_print("%s/index.html", folder);
    int code = rg_file_open(&file, path);
    free(path);
    if (code) return code;
    rg_page p = {.out = file.stream, .make = &rg_html};
    code = rg_html_begin(&p, "regather: machines ranked");
    char *what = rg_print("%s, size %s: %d job%s on %d machine%s, against %s.", s->workload->title,
        rg_size_name[s->machine[0].a.size], s->workload->n, rg_s(s->workload->n), s->n, rg_s(s->n), s->reference);
    char *money = s->costs
        ? rg_print("Money: the buyer's file `%s`, %s over %g years, %g a kWh, PUE %g, busy for %g %% of the time.",
              rg_base_name(s->costs->table.path), s->costs->currency, s->costs->years, s->costs->electricity, s->costs->pue,
              100 * s->costs->utilisation)
        : rg_print("Without --costs there is no money here.");
    p.make->heading(&p, 1, NULL, "Machines ranked");
    p.make->paragraph(&p, what);
    ranking(&p, s);
    for (int i = 0; i < s->n; i++) {
        const rg_machine_score *m = &s->machine[i];
        char *refused = m->findings ? rg_print("`regather audit` refuses the archive of %s, so that its place means nothing: "
                                               "%d finding%s, the first %s.",
                                          m->a.label, m->findings, rg_s(m->findings), m->finding)
                                    : NULL;
        if (refused) p.make->paragraph(&p, refused);
        free(refused);
    }
    char *unlike = rg_score_unlike(s);
    if (unlike) p.make->paragraph(&p, unlike);
    free(unlike);
    char *brief = too_short(s);
    if (brief) p.make->paragraph(&p, brief);
    free(brief);
    p.make->paragraph(&p,
        "The score is the weighted geometric mean over the jobs. Its interval is Student's t over whole-process runs, and 1 % from one "
        "archive to the next on the same machine, which is assumed. Machines that it does not tell apart share a rank; P(best) is how "
        "often a machine would be the fastest, were all measured again.");
    p.make->paragraph(&p, money);
    for (int i = 0; i < s->n && s->costs; i++) { // a comment in the costs file that says what it is
        for (int k = 0; k < s->costs->table.n_head && i == 0; k++)
            if (strstr(s->costs->table.head[k].text, "invented")) p.make->paragraph(&p, s->costs->table.head[k].text + 2);
    }
    for (int i = 0; i < FIGURES; i++) {
        char *wide = rg_print("fig/%s.svg", figures[i].name), *full = rg_print("%s/%s", folder, wide);
        FILE *there = fopen(full, "r"); // without gnuplot there is none
        const rg_page_figure figure = {.title = figures[i].title,
            .subtitle = figures[i].says,
            .wide = wide,
            .alt = figures[i].alt,
            .data = figures[i].data,
            .width = 1000,
            .height = 420,
            .whole = true};
        if (there) {
            fclose(there);
            p.make->figures(&p, &figure, 1);
        }
        free(wide), free(full);
    }
    jobs(&p, s);
    machines(&p, s);
    p.make->paragraph(&p,
        "Every number stands in `score.tsv`, `jobs.tsv` and `sensitivity.tsv`. Runs are whole processes by the rules of "
        "`bench/RULES.md`; `regather audit` holds the archives to them.");
    rg_html_end(&p);
    free(what), free(money);
    return rg_file_end(&file, code);
}

int rg_score_write(const rg_score *s, const char *folder, const char *command)
{
    char *fig = rg_print("%s/fig", folder);
    int settings = 0, code = rg_make_folder(fig);
    free(fig);
    code = code ? code : write_scores(s, folder, command);
    code = code ? code : write_jobs(s, folder, command);
    code = code ? code : write_sensitivity(s, folder, command, &settings);
    for (int i = 0; i < FIGURES && !code; i++) code = draw(s, folder, i, settings);
    return code ? code : write_page(s, folder);
}
