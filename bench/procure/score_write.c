// SPDX-License-Identifier: MIT
// score_write.c: writes tables, figures and the page of `score`.
#include "score.h"

#include "../../impl/base/core.h"
#include "../../impl/base/fill.h"
#include "../../impl/base/plot.h"

static const char made_by[] = "# regather score";

// ---- tables ----------------------------------------------------------------------------------------------------------------

static void put(FILE *f, double value, char end) { rg_tsv_put(f, "%.7g", value, end); }

static int open_table(rg_file *file, const rg_score *s, const char *folder, const char *name, const char *command) {
    RG_FREED char *path = rg_print("%s/%s", folder, name);
    const int code = rg_file_open(file, path);
    if (!code)
        rg_tsv_print(file->stream, "%s %s\n# command: %s\n# workload: %s, size %s\n# reference: %s\n", made_by, RG_VERSION,
            command, s->workload->title, rg_size_name[s->machine[0].a.size], s->reference);
    return code;
}

// Whether no other machine is both faster and cheaper a job.
static bool on_front(const rg_score *s, const rg_machine_score *m) {
    for (int k = 0; k < s->n; k++)
        if (s->machine[k].seconds < m->seconds && s->machine[k].per_job < m->per_job) return false;
    return !isnan(m->per_job);
}

static int write_scores(const rg_score *s, const char *folder, const char *command) {
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

static int write_jobs(const rg_score *s, const char *folder, const char *command) {
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
            put(f, m->per_job * of->median_s / m->seconds, '\t'); // a busy second costs the same for any job
            fprintf(f, "%d\t%d\t", i + 1, j + 1);
            put(f, from_s, '\t'), put(f, from_s + w->weight * of->median_s, '\n');
            from_s += w->weight * of->median_s;
        }
    }
    return rg_file_commit(&file);
}

// Ranks by a value of each machine, the lowest first; equal to within 1 % they share one.
static void put_ranks(FILE *f, const rg_score *s, const char *what, const char *setting, int number, const double *value) {
    for (int i = 0; i < s->n; i++) {
        double rank = isnan(value[i]) ? NAN : 1; // unknown values have no rank
        for (int k = 0; k < s->n; k++) rank += value[k] < 0.99 * value[i];
        rg_tsv_print(f, "%s\t%s\t%d\t%s\t%d\t", what, setting, number, s->machine[i].a.label, i + 1);
        rg_tsv_put(f, "%.0f", rank, '\t');
        rg_tsv_put(f, "%.7g", value[i], '\n');
    }
}

static int write_sensitivity(const rg_score *s, const char *folder, const char *command, int *settings) {
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
            RG_FREED char *setting = rg_print("%s x %s", s->workload->job[j].job, up ? "2" : "1/2");
            put_ranks(f, s, "weights", setting, ++number, value);
        }
    for (int k = 0; k < 10 && s->costs; k++) {
        RG_FREED char *setting = k < 5 ? rg_print("kWh x %g", price[k]) : rg_print("busy %g %%", 100 * busy[k - 5]);
        for (int i = 0; i < s->n; i++) {
            rg_machine_score m = s->machine[i];
            rg_score_money(s, &m, s->costs->electricity * (k < 5 ? price[k] : 1), k < 5 ? s->costs->utilisation : busy[k - 5]);
            value[i] = m.per_job;
        }
        put_ranks(f, s, k < 5 ? "electricity" : "utilisation", setting, ++number, value);
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

// Whether costs fit a logarithmic axis: some are known, and none of those is 0.
static bool has_money(const rg_score *s) {
    int known = 0, free_of_charge = 0;
    for (int m = 0; m < s->n; m++) {
        known += s->machine[m].per_job > 0;
        free_of_charge += s->machine[m].per_job <= 0;
    }
    return known && !free_of_charge;
}

// The page shows the figures that exist, so those of an earlier run are removed first.
static int draw(const rg_score *s, const char *folder, int i, int settings) {
    rg_plot plot = {0};
    const char *name[RG_MACHINES_MOST], *job[RG_JOBS_MOST];
    RG_FREED char *data = rg_print("%s/%s", folder, figures[i].data),
                  *path = rg_print("%s/fig/%s.svg", folder, figures[i].name);
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
    return figures[i].money && !has_money(s) ? RG_GOOD : rg_plot_draw(&plot, "score.gp", path);
}

// Prints a number for people: three digits, no power of ten, commas between thousands.
static void set_plain(rg_data *d, const char *name, double value) {
    char text[64];
    const int places = value > 0 && value < 100 ? (int)fmin(9, 2 - floor(log10(value))) : 0;
    int n = snprintf(text, sizeof text, "%.*f", places, value);
    for (int at = (places ? n - places - 1 : n) - 3; at > 0; at -= 3, n++) {
        memmove(text + at + 1, text + at, (size_t)(n - at) + 1);
        text[at] = ',';
    }
    rg_set(d, name, "%s", isfinite(value) ? text : "not known");
}

static const rg_machine_score *cheapest(const rg_score *s) {
    const rg_machine_score *best = NULL;
    for (int i = 0; i < s->n; i++)
        if (s->machine[i].per_job >= 0 && (!best || s->machine[i].per_job < best->per_job)) best = &s->machine[i];
    return best;
}

// Names the fastest machines (all of the first rank), the cheapest or, without prices, the next, and by how much they differ.
static void lay_answer(const rg_score *s, rg_data *d) {
    const rg_machine_score *first = s->machine, *cheap = cheapest(s), *other = cheap;
    char names[800] = "";
    int n = 0;
    for (int i = 0; i < s->n; i++)
        if (s->machine[i].rank == 1) {
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", n++ ? ", " : "", s->machine[i].a.label);
            if (cheap == &s->machine[i]) first = cheap;
        }
    if (!cheap && n < s->n) other = &s->machine[n];
    rg_set(d, "fastest", "%s", names);
    rg_set(d, "tied", "%s", n > 1 ? "yes" : "");
    if (cheap) rg_set(d, "cheapest", "%s", cheap->a.label);
    if (!other || other == first) return;
    const rg_variance v = rg_score_variance(s->workload, first->job, other->job);
    const double ratio = log(first->score / other->score), half = rg_half_interval(&v, 0.05);
    rg_data *differ = rg_add(d, cheap ? "differ" : "next");
    rg_set(differ, "other", "%s", other->a.label);
    set_plain(differ, "ratio", exp(ratio));
    set_plain(differ, "low", exp(ratio - half));
    set_plain(differ, "high", exp(ratio + half));
    set_plain(differ, "dearer", cheap ? first->per_job / cheap->per_job : NAN);
}

static void lay_machine(const rg_score *s, const rg_machine_score *m, rg_data *d) {
    static const char *const key[] = {"division", "cpu", "cores", "gpu", "revision", "nonce", "date"};
    rg_set(d, "rank", "%d", m->rank);
    rg_set(d, "machine", "%s", m->a.label);
    for (size_t k = 0; k < sizeof key / sizeof *key; k++) rg_set(d, key[k], "%s", rg_archive_value(&m->a, key[k]));
    set_plain(d, "score", m->score);
    rg_set(d, "low", "%s", "");
    if (m->low < m->high) set_plain(d, "low", m->low); // else it is the reference
    set_plain(d, "high", m->high);
    rg_set(d, "best", "%.0f", 100 * m->best);
    set_plain(d, "seconds", m->seconds);
    set_plain(d, "joules", m->joules);
    rg_set(d, "upper", "%s", m->upper ? "yes" : "");
    rg_set(d, "joules_are", "%s", m->joules_are);
    if (s->costs) {
        rg_data *money = rg_add(d, "paid");
        set_plain(money, "total", m->total);
        set_plain(money, "a_thousand", 1000 * m->per_job);
    }
    if (!m->findings) return;
    rg_data *refused = rg_add(d, "refused");
    rg_set(refused, "n", "%d finding%s", m->findings, rg_plural(m->findings));
    rg_set(refused, "first", "%s", m->finding);
}

// A bar for each machine: its speed relative to the reference, scaled to the fastest.
static void lay_job(const rg_score *s, int j, rg_data *d) {
    const rg_work *w = &s->workload->job[j];
    double most = 0;
    for (int i = 0; i < s->n; i++) most = fmax(most, s->reference_s[j] / s->machine[i].job[j].median_s);
    rg_set(d, "job", "%s", w->job);
    rg_set(d, "weight", "%.3g", 100 * w->weight);
    rg_set(d, "units", "%.0f %s", w->units, w->unit);
    for (int i = 0; i < s->n; i++) {
        const rg_job_score *of = &s->machine[i].job[j];
        const double ratio = s->reference_s[j] / of->median_s;
        rg_data *bar = rg_add(d, "bar");
        rg_set(bar, "machine", "%s", s->machine[i].a.label);
        rg_set(bar, "percent", "%.1f", 100 * ratio / most);
        set_plain(bar, "ratio", ratio);
        set_plain(bar, "seconds", of->median_s);
        rg_set(bar, "runs", "%d", of->runs);
    }
}

// Names the shortest job if it is so short that starting processes and GPUs weighs more than its work.
static void lay_shortest(const rg_score *s, rg_data *d) {
    int machine = 0, job = 0;
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->workload->n; j++)
            if (s->machine[i].job[j].median_s < s->machine[machine].job[job].median_s) machine = i, job = j;
    const double shortest_s = s->machine[machine].job[job].median_s;
    if (shortest_s >= 1) return;
    rg_data *brief = rg_add(d, "brief");
    rg_set(brief, "job", "%s", s->workload->job[job].job);
    rg_set(brief, "machine", "%s", s->machine[machine].a.label);
    rg_set(brief, "seconds", "%.2g", shortest_s);
}

// Embeds it in the page, which is passed on as one file.
static void lay_figures(const char *folder, rg_data *d) {
    for (int i = 0; i < FIGURES; i++) {
        size_t bytes;
        RG_FREED char *path = rg_print("%s/fig/%s.svg", folder, figures[i].name), *svg = rg_file_bytes(path, &bytes);
        if (svg) { // without gnuplot there is none
            rg_data *one = rg_add(d, "figure");
            const char *const text[][2] = {{"class", "lines whole broad"}, {"title", figures[i].title},
                {"subtitle", figures[i].says}, {"alt", figures[i].alt}, {"svg", svg}, {"data", figures[i].data},
                {"broad", "yes"}, {"wide", ""}, {"narrow", ""}, {"script", ""}};
            for (size_t k = 0; k < sizeof text / sizeof *text; k++) rg_set(one, text[k][0], "%s", text[k][1]);
            rg_set(one, "width", "%d", 1000);
            rg_set(one, "height", "%d", 420);
        }
    }
}

static int write_page(const rg_score *s, const char *folder) {
    rg_data *d = rg_data_new();
    rg_set(d, "title", "%s", "regather: machines ranked");
    rg_set(d, "workload", "%s", s->workload->title);
    rg_set(d, "size", "%s", rg_size_name[s->machine[0].a.size]);
    rg_set(d, "reference", "%s", s->reference);
    rg_set(d, "currency", "%s", s->costs ? s->costs->currency : "");
    lay_answer(s, d);
    for (int i = 0; i < s->n; i++) lay_machine(s, &s->machine[i], rg_add(d, "machines"));
    for (int j = 0; j < s->workload->n; j++) lay_job(s, j, rg_add(d, "jobs"));
    lay_shortest(s, d);
    RG_FREED char *unlike = rg_score_unlike(s);
    rg_set(d, "unlike", "%s", unlike);
    if (s->costs) {
        rg_data *money = rg_add(d, "money");
        rg_set(money, "file", "%s", rg_base_name(s->costs->table.path));
        rg_set(money, "years", "%g", s->costs->years);
        rg_set(money, "kWh", "%g", s->costs->electricity);
        rg_set(money, "pue", "%g", s->costs->pue);
        rg_set(money, "busy", "%.3g", 100 * s->costs->utilisation);
    }
    for (int k = 0; s->costs && k < s->costs->table.n_head; k++) // a comment in the costs file that says what it is
        if (strstr(s->costs->table.head[k].text, "invented")) rg_add_text(d, "invented", s->costs->table.head[k].text + 2);
    lay_figures(folder, d);
    RG_FREED char *path = rg_print("%s/index.html", folder);
    const int code = rg_fill_file(path, "score.html", d);
    rg_data_free(d);
    return code;
}

int rg_score_write(const rg_score *s, const char *folder, const char *command) {
    RG_FREED char *fig = rg_print("%s/fig", folder);
    int settings = 0, code = rg_make_folder(fig);
    code = code ? code : write_scores(s, folder, command);
    code = code ? code : write_jobs(s, folder, command);
    code = code ? code : write_sensitivity(s, folder, command, &settings);
    for (int i = 0; i < FIGURES && !code; i++) code = draw(s, folder, i, settings);
    return code ? code : write_page(s, folder);
}
