// SPDX-License-Identifier: MIT
// score_write.c: tables, figures and the page of `score`.
#include "score.h"

#include "../../impl/base/core.h"
#include "../../impl/base/fill.h"
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

static void ranking(rg_data *d, const rg_score *s)
{
    static const char *const column[] = {"rank", "machine", "division", "times reference", "95 % interval", "P(best)",
        "s a job", "J a job", "total", "money a job"};
    rg_data *table = rg_add_table(d, "Ranking", "nllrnrrrrr", column, 10);
    for (int i = 0; i < s->n; i++) {
        const rg_machine_score *m = &s->machine[i];
        char *cell[] = {rg_print("%d", m->rank), rg_print("%s", m->a.label),
            rg_print("%s", rg_archive_value(&m->a, "division")), number(m->score), rg_print("%.4g to %.4g", m->low, m->high),
            rg_print("%.2f", m->best), number(m->seconds),
            isnan(m->joules) ? rg_print("%s", "-")
                : m->upper   ? rg_print("at most %.4g", m->joules)
                             : rg_print("%.4g (%s)", m->joules, m->joules_are),
            isnan(m->total) ? rg_print("%s", "-") : rg_print("%.0f", m->total), number(m->per_job)};
        rg_add_row(table, (const char *const *)cell, 10);
        for (int c = 0; c < 10; c++) free(cell[c]);
    }
}

static void jobs(rg_data *d, const rg_score *s)
{
    static const char *const column[] = {
        "machine", "job", "weight", "runs", "median s", "times reference", "J a run", "joules are", "units"};
    rg_data *table = rg_add_table(d, "Jobs", "llrrrrrll", column, 9);
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->workload->n; j++) {
            const rg_work *w = &s->workload->job[j];
            const rg_job_score *of = &s->machine[i].job[j];
            char *cell[] = {rg_print("%s", s->machine[i].a.label), rg_print("%s", w->job), rg_print("%g", w->weight),
                rg_print("%d", of->runs), number(of->median_s), number(s->reference_s[j] / of->median_s), number(of->joules),
                rg_print("%s", of->source), rg_print("%g %s", w->units, w->unit)};
            rg_add_row(table, (const char *const *)cell, 9);
            for (int c = 0; c < 9; c++) free(cell[c]);
        }
}

static void machines(rg_data *d, const rg_score *s)
{
    static const char *const column[] = {"machine", "what it is", "cores", "GPU", "revision", "nonce", "measured"};
    rg_data *table = rg_add_table(d, "Machines", "lllllll", column, 7);
    for (int i = 0; i < s->n; i++) {
        const rg_archive *a = &s->machine[i].a;
        const char *const cell[] = {a->label, rg_archive_value(a, "cpu"), rg_archive_value(a, "cores"),
            rg_archive_value(a, "gpu"), rg_archive_value(a, "revision"), rg_archive_value(a, "nonce"),
            rg_archive_value(a, "date")};
        rg_add_row(table, cell, 7);
    }
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

static void lay_figures(const char *folder, rg_data *d)
{
    for (int i = 0; i < FIGURES; i++) {
        char *wide = rg_print("fig/%s.svg", figures[i].name), *full = rg_print("%s/%s", folder, wide);
        if (access(full, R_OK) == 0) { // without gnuplot there is none
            rg_data *one = rg_add(d, "figure");
            const char *const text[][2] = {{"class", "lines whole broad"}, {"title", figures[i].title},
                {"subtitle", figures[i].says}, {"alt", figures[i].alt}, {"wide", wide}, {"data", figures[i].data},
                {"broad", "yes"}, {"svg", ""}, {"narrow", ""}, {"script", ""}};
            for (size_t k = 0; k < sizeof text / sizeof *text; k++) rg_set(one, text[k][0], "%s", text[k][1]);
            rg_set(one, "width", "%d", 1000);
            rg_set(one, "height", "%d", 420);
        }
        free(wide), free(full);
    }
}

static int write_page(const rg_score *s, const char *folder)
{
    rg_data *d = rg_data_new();
    rg_set(d, "title", "%s", "regather: machines ranked");
    rg_set(d, "what", "%s, size %s: %d job%s on %d machine%s, against %s.", s->workload->title,
        rg_size_name[s->machine[0].a.size], s->workload->n, rg_plural(s->workload->n), s->n, rg_plural(s->n), s->reference);
    ranking(rg_add(d, "ranking"), s);
    for (int i = 0; i < s->n; i++) {
        const rg_machine_score *m = &s->machine[i];
        if (!m->findings) continue;
        rg_data *refused = rg_add(d, "refused");
        rg_set(refused, "machine", "%s", m->a.label);
        rg_set(refused, "n", "%d finding%s", m->findings, rg_plural(m->findings));
        rg_set(refused, "first", "%s", m->finding);
    }
    char *unlike = rg_score_unlike(s), *brief = too_short(s);
    rg_set(d, "unlike", "%s", unlike ? unlike : "");
    rg_set(d, "brief", "%s", brief ? brief : "");
    free(unlike), free(brief);
    if (s->costs)
        rg_set(d, "money", "`%s`, %s over %g years, %g a kWh, PUE %g, busy for %g %% of the time",
            rg_base_name(s->costs->table.path), s->costs->currency, s->costs->years, s->costs->electricity, s->costs->pue,
            100 * s->costs->utilisation);
    for (int k = 0; s->costs && k < s->costs->table.n_head; k++) // a comment in the costs file that says what it is
        if (strstr(s->costs->table.head[k].text, "invented")) rg_add_text(d, "invented", s->costs->table.head[k].text + 2);
    lay_figures(folder, d);
    jobs(rg_add(d, "jobs"), s);
    machines(rg_add(d, "jobs"), s);
    char *path = rg_print("%s/index.html", folder);
    const int code = rg_fill_file(path, "score.html", d);
    free(path);
    rg_data_free(d);
    return code;
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
