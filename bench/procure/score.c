// SPDX-License-Identifier: MIT
// score.c: the command `score`: see score.h.
#include "score.h"

#include "../../impl/base/core.h"
#include "../../impl/base/hash.h"
#include "../../impl/suite.h"

typedef struct request {
    rg_given given;
    const char *workload, *costs, *reference, *out;
} request;

// ---- costs -----------------------------------------------------------------------------------------------------------------

static int head_number(const rg_tsv *t, const char *key, double low, double high, double *value) {
    char *end;
    const char *text = rg_tsv_head(t, key);
    *value = text ? strtod(text, &end) : NAN;
    if (!text || end == text || *end || !(*value >= low && *value <= high))
        return rg_fail(RG_USAGE, "%s: expected a line \"# %s: NUMBER\" from %g to %g, found %s%s", t->path, key, low, high,
            text ? text : "none", "");
    return RG_GOOD;
}

static int read_costs(const char *path, rg_costs *c) {
    int code = rg_tsv_read(path, &c->table);
    code = code ? code : rg_tsv_needs(&c->table, "machine price support_a_year residual idle_W cap_W");
    code = code ? code : head_number(&c->table, "years", 0.1, 50, &c->years);
    code = code ? code : head_number(&c->table, "electricity_a_kWh", 0, 100, &c->electricity);
    code = code ? code : head_number(&c->table, "pue", 1, 5, &c->pue);
    code = code ? code : head_number(&c->table, "utilisation", 0.001, 1, &c->utilisation);
    if (!code) {
        c->currency = rg_tsv_head(&c->table, "currency");
        if (!c->currency || !rg_name_good(c->currency))
            code = rg_fail(RG_USAGE, "%s: expected a line \"# currency: EUR\", found none", path);
    }
    return code;
}

static int costs_of(const rg_costs *c, rg_machine_score *m) {
    static const char *const column[] = {"price", "support_a_year", "residual", "idle_W", "cap_W"};
    double *const value[] = {&m->price, &m->support, &m->residual, &m->idle_W, &m->cap_W};
    bool found = false;
    for (int row = 0; row < c->table.n_rows; row++) {
        if (strcmp(rg_tsv_cell(&c->table, row, "machine"), m->a.label)) continue;
        if (found) return rg_fail(RG_USAGE, "%s: expected one row of machine %s, found two", c->table.path, m->a.label);
        found = true;
        for (int i = 0; i < 5; i++) {
            *value[i] = rg_tsv_number(&c->table, row, column[i]);
            if (!(*value[i] >= 0 && isfinite(*value[i])))
                for (int k = 0; k < c->table.n_columns; k++)
                    if (!strcmp(c->table.column[k], column[i]))
                        return rg_tsv_fault_at(&c->table, row, k, "a number, 0 or more,");
        }
        if (m->idle_W > m->cap_W)
            return rg_fail(RG_USAGE, "%s: machine %s: expected idle_W up to cap_W, %g, found %g", c->table.path, m->a.label,
                m->cap_W, m->idle_W);
        if (m->residual > m->price)
            return rg_fail(RG_USAGE, "%s: machine %s: expected a residual up to its price, %g, found %g", c->table.path,
                m->a.label, m->price, m->residual);
    }
    return found ? RG_GOOD : rg_fail(RG_USAGE, "%s: expected a row of machine %s, found none", c->table.path, m->a.label);
}

void rg_score_money(const rg_score *s, rg_machine_score *m, double electricity, double utilisation) {
    const rg_costs *c = s->costs;
    const double hours = c->years * 8760, kWh = electricity * c->pue / 1000;
    m->energy_busy = utilisation * hours * m->joules / m->seconds * kWh;
    m->energy_idle = (1 - utilisation) * hours * m->idle_W * kWh;
    m->total = m->price + c->years * m->support - m->residual + m->energy_busy + m->energy_idle;
    m->per_job = m->total / (utilisation * hours * 3600 / m->seconds);
}

// ---- one machine -----------------------------------------------------------------------------------------------------------

// Median, and variance of the mean of the times' logarithms.
static int score_times(const rg_archive *a, const rg_work *w, double *s, rg_job_score *of) {
    double mean;
    if (of->runs < w->min_runs)
        return rg_fail(RG_USAGE, "%s: expected %d runs of %s that count, found %d: others were busy; measure again",
            a->bundle.path, w->min_runs, w->job, of->runs);
    for (int i = 0; i < of->runs; i++)
        if (!(s[i] > 0))
            return rg_fail(RG_USAGE, "%s: expected times above 0, found one of %s that is none", a->bundle.path, w->job);
    of->variance = rg_log_mean(s, of->runs, &mean);
    of->median_s = rg_median(s, of->runs);
    return RG_GOOD;
}

int rg_job_scores(const rg_archive *a, const rg_workload *workload, rg_job_score *job, double *seconds) {
    for (int i = 0; i < a->runs.n_rows; i++) {
        const char *status = rg_tsv_cell(&a->runs, i, "status");
        if (!strcmp(status, "failed") || !strcmp(status, "wrong"))
            return rg_fail(RG_USAGE, "%s: expected runs that are right, found run %d of %s %s", a->bundle.path, i + 1,
                rg_tsv_cell(&a->runs, i, "job"), status);
    }
    for (int j = 0; j < workload->n; j++) {
        const rg_work *w = &workload->job[j];
        rg_job_score *of = &job[j];
        RG_FREED double *s = rg_archive_times(a, w->job, &of->runs);
        const int code = score_times(a, w, s, of);
        if (code != RG_GOOD) return code;
        of->joules = rg_archive_joules(a, w->job, &of->source);
        *seconds += w->weight * of->median_s;
    }
    return RG_GOOD;
}

static int read_machine(const rg_score *s, const char *path, const char *hash, rg_machine_score *m) {
    char its[65];
    int code = rg_archive_read(path, &m->a);
    if (code) return code;
    const rg_bundled *f = rg_bundle_find(&m->a.bundle, "workload.tsv");
    rg_sha256_of(f->bytes, f->n, its);
    if (strcmp(its, hash))
        return rg_fail(RG_USAGE, "%s: expected an archive of workload %s, found another", path, s->workload->table.path);
    m->seconds = 0;
    code = rg_job_scores(&m->a, s->workload, m->job, &m->seconds);
    m->findings = code ? 0 : rg_audit_findings(&m->a, m->finding);
    if (m->findings)
        rg_warn("%s: `regather audit` refuses it: %d finding%s, the first %s", path, m->findings, rg_plural(m->findings),
            m->finding);
    return code;
}

// Electricity is paid for the whole machine: by the meter, else the cap times the time, which is an upper bound. Joules of GPU
// boards or CPU packages are only a part, used if there is no cap.
static void fill_joules(const rg_score *s, rg_machine_score *m) {
    m->joules = 0;
    m->joules_are = s->workload->n ? m->job[0].source : "none";
    for (int j = 0; j < s->workload->n; j++) {
        rg_job_score *of = &m->job[j];
        const bool upper = strcmp(of->source, "meter") && m->cap_W > 0;
        const double whole_J = upper ? m->cap_W * of->median_s : of->joules;
        if (strcmp(of->source, m->joules_are)) m->joules_are = "several sources";
        if (isnan(of->joules) && upper) {
            of->joules = whole_J;
            of->source = "cap x time, an upper estimate";
        }
        m->upper |= upper;
        m->joules += s->workload->job[j].weight * whole_J;
    }
    if (isnan(m->joules))
        m->joules_are = "none";
    else if (m->upper)
        m->joules_are = "upper estimate";
}

double rg_score_log(const rg_score *s, const rg_machine_score *m, const double *weight) {
    double sum = 0;
    for (int j = 0; j < s->workload->n; j++) sum += weight[j] * log(s->reference_s[j] / m->job[j].median_s);
    return sum;
}

// ---- intervals and ranks ---------------------------------------------------------------------------------------------------

rg_variance rg_score_variance(const rg_workload *workload, const rg_job_score *a, const rg_job_score *b) {
    rg_variance v = {0};
    for (int side = 0; side < 1 + (b != NULL); side++) {
        for (int j = 0; j < workload->n; j++) {
            const rg_job_score *of = side ? &b[j] : &a[j];
            rg_variance_add(&v, workload->job[j].weight * workload->job[j].weight * of->variance, of->runs - 1);
        }
        rg_variance_add_known(&v, RG_SESSION * RG_SESSION);
    }
    return v;
}

static void rank_all(rg_score *s) {
    for (int m = 0; m < s->n; m++) {
        s->machine[m].rank = 1;
        for (int k = 0; k < s->n; k++) {
            const rg_variance v = rg_score_variance(s->workload, s->machine[m].job, s->machine[k].job);
            s->machine[m].rank += k != m && log(s->machine[k].score / s->machine[m].score) > rg_half_interval(&v, 0.05);
        }
    }
}

static double normal(uint64_t seed, uint64_t i) {
    const double u = ((double)(rg_bits(seed, 2 * i) >> 11) + 0.5) * 0x1p-53,
                 v = (double)(rg_bits(seed, 2 * i + 1) >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

// Estimates how often each would be the fastest if all were measured again: draws logarithms with their variances.
static void chance_of_best(rg_score *s, uint64_t seed) {
    enum { DRAWS = 20000 };
    for (int d = 0; d < DRAWS; d++) {
        int best = 0;
        double most = -INFINITY;
        for (int m = 0; m < s->n; m++) {
            const double drawn =
                log(s->machine[m].score) + sqrt(s->machine[m].variance) * normal(seed, (uint64_t)(d * s->n + m));
            if (drawn > most) {
                most = drawn;
                best = m;
            }
        }
        s->machine[best].best += 1.0 / DRAWS;
    }
}

static int by_score(const void *x, const void *y) {
    const rg_machine_score *a = x, *b = y;
    return a->rank != b->rank ? a->rank - b->rank : (a->score < b->score) - (a->score > b->score);
}

static void judge(rg_score *s, const rg_machine_score *reference, uint64_t seed) {
    double weight[RG_JOBS_MOST];
    for (int j = 0; j < s->workload->n; j++) weight[j] = s->workload->job[j].weight;
    for (int i = 0; i < s->n; i++) {
        rg_machine_score *m = &s->machine[i];
        const double at = rg_score_log(s, m, weight);
        const rg_variance own = rg_score_variance(s->workload, m->job, NULL),
                          v = reference ? rg_score_variance(s->workload, m->job, reference->job) : own;
        const double half = m == reference ? 0 : rg_half_interval(&v, 0.05); // of the ratio to that archive
        m->variance = own.sum;
        m->score = exp(at);
        m->low = exp(at - half);
        m->high = exp(at + half);
        fill_joules(s, m);
        m->total = m->per_job = m->energy_busy = m->energy_idle = NAN;
        if (s->costs) rg_score_money(s, m, s->costs->electricity, s->costs->utilisation);
    }
    rank_all(s);
    chance_of_best(s, seed);
    qsort(s->machine, (size_t)s->n, sizeof *s->machine, by_score);
}

char *rg_score_unlike(const rg_score *s) {
    static const char *const key[] = {"revision", "nonce", "division"};
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    for (int k = 0; k < RG_COUNT(key); k++) {
        bool unlike = false;
        for (int m = 1; m < s->n; m++)
            unlike |= strcmp(rg_archive_value(&s->machine[m].a, key[k]), rg_archive_value(&s->machine[0].a, key[k])) != 0;
        if (!unlike) continue;
        fflush(f);
        fprintf(f, "%s%s (", n ? "; " : "Not of one ", key[k]);
        for (int m = 0; m < s->n; m++)
            fprintf(f, "%s%s %s", m ? ", " : "", s->machine[m].a.label, rg_archive_value(&s->machine[m].a, key[k]));
        fputc(')', f);
    }
    fflush(f);
    if (n) fputs(": what machines differ by may come of that.", f);
    fclose(f);
    return text;
}

// ---- the command -----------------------------------------------------------------------------------------------------------

// The rows of one size, given by the first archive.
static int read_all(const request *r, rg_score *s, rg_workload *w) {
    char hash[65];
    rg_archive first;
    int code = rg_archive_read(r->given.word.item[0], &first);
    if (code) return code;
    code = rg_workload_read(r->workload, first.size, w);
    const rg_size size = first.size;
    rg_archive_free(&first);
    code = code ? code : rg_sha256_file(r->workload, hash, NULL);
    for (int i = 0; i < r->given.word.n && !code; i++) {
        rg_machine_score *m = &s->machine[s->n];
        *m = (rg_machine_score){.price = NAN, .support = NAN, .residual = NAN, .idle_W = NAN, .cap_W = NAN};
        code = read_machine(s, r->given.word.item[i], hash, m);
        s->n += m->a.bundle.path != NULL;
        if (!code && m->a.size != size)
            code = rg_fail(RG_USAGE, "%s: expected size %s as in the first archive, found %s", m->a.bundle.path,
                rg_size_name[size], rg_size_name[m->a.size]);
        for (int k = 0; k < s->n - 1 && !code; k++)
            if (!strcmp(s->machine[k].a.label, m->a.label))
                code = rg_fail(
                    RG_USAGE, "%s: expected every machine once, found the label %s again", m->a.bundle.path, m->a.label);
        if (!code && s->costs) code = costs_of(s->costs, m);
    }
    return code;
}

static int find_reference(const request *r, rg_score *s, const rg_machine_score **reference) {
    *reference = NULL;
    for (int m = 0; m < s->n && r->reference; m++)
        if (!strcmp(s->machine[m].a.label, r->reference)) *reference = &s->machine[m];
    if (r->reference && !*reference) {
        char labels[400] = "";
        for (int m = 0; m < s->n; m++)
            snprintf(labels + strlen(labels), sizeof labels - strlen(labels), "%s, ", s->machine[m].a.label);
        return rg_fail(
            RG_USAGE, "--reference: expected the label of one of the archives, %sfound \"%s\"", labels, r->reference);
    }
    s->reference = r->reference ? r->reference : rg_tsv_head(&s->workload->table, "reference");
    for (int j = 0; j < s->workload->n; j++) {
        s->reference_s[j] = *reference ? (*reference)->job[j].median_s : s->workload->job[j].reference_s;
        if (isnan(s->reference_s[j]))
            return rg_fail(RG_USAGE,
                "%s: job %s has no reference_s: name the archive that is the reference machine by --reference",
                s->workload->table.path, s->workload->job[j].job);
    }
    s->reference = s->reference ? s->reference : "reference_s of the workload";
    return RG_GOOD;
}

static int run(void *typed) {
    const request *r = typed;
    static rg_score s;
    RG_ENDS(rg_workload_free) rg_workload w = {0};
    rg_costs costs = {0};
    const rg_machine_score *reference;
    s = (rg_score){.workload = &w, .costs = r->costs ? &costs : NULL};
    if (r->given.word.n > RG_MACHINES_MOST)
        return rg_fail(RG_USAGE, "score: expected at most %d archives, found %d", RG_MACHINES_MOST, r->given.word.n);
    int code = r->costs ? read_costs(r->costs, &costs) : RG_GOOD;
    code = code ? code : read_all(r, &s, &w);
    code = code ? code : find_reference(r, &s, &reference);
    if (!code) {
        judge(&s, reference, r->given.seed);
        RG_FREED char *unlike = rg_score_unlike(&s);
        if (*unlike) rg_warn("score: %s", unlike);
        code = rg_score_write(&s, r->out, r->given.line);
    }
    for (int m = 0; m < s.n && !code; m++) {
        const rg_machine_score *at = &s.machine[m];
        printf("%d\t%s\t%.4g [%.4g, %.4g] times %s, P(best) %.2f, %.4g s a job", at->rank, at->a.label, at->score, at->low,
            at->high, s.reference, at->best, at->seconds);
        if (s.costs && isnan(at->per_job))
            printf(", money unknown: neither joules of all jobs nor cap_W");
        else if (s.costs)
            printf(", %.4g %s per 1,000 jobs", 1000 * at->per_job, costs.currency);
        printf("\n");
    }
    for (int m = 0; m < s.n; m++) rg_archive_free(&s.machine[m].a);
    rg_tsv_free(&costs.table);
    return code;
}

static const rg_option options[] = {
    {"workload", "FILE.tsv", "that of all archives", RG_TO(request, workload), .required = true},
    {"costs", "COSTS.tsv", "the buyer's prices: see bench/workloads/costs.example.tsv", RG_TO(request, costs)},
    {"reference", "LABEL", "the archive that counts as 1", RG_TO(request, reference),
        .otherwise = "reference_s of the workload"},
    {"out", "DIR", "the folder of the tables, figures and page", RG_TO(request, out), .required = true},
    {0},
};

const rg_command rg_cmd_score = {
    .name = "score",
    .words = "A.rgz...",
    .summary = "machines ranked by archives of one workload: seconds, joules, money",
    .help = "Writes DIR/score.tsv (one row a machine), DIR/jobs.tsv (one row a machine and job), DIR/sensitivity.tsv and\n"
            "a page to print, DIR/index.html. The score is the weighted geometric mean of the speed relative to the\n"
            "reference, with its 95 % interval (Student's t over runs, and 1 % between archives). Machines that the\n"
            "interval does not separate share a rank. P(best) is how often a machine would be the fastest if all were\n"
            "measured again (20,000 draws, --seed).\n\n"
            "COSTS.tsv has lines \"# currency: EUR\", \"# years: 5\", \"# electricity_a_kWh: 0.3\", \"# pue: 1.4\",\n"
            "\"# utilisation: 0.7\" and columns machine price support_a_year residual idle_W cap_W, one row a label. A\n"
            "machine without a row is refused. Electricity is that of the whole machine: from the meter, else cap_W times\n"
            "the time, marked as an upper estimate, even where the power of GPU boards or CPU packages was measured\n"
            "(jobs.tsv has that). Audit the archives first. score warns, also on the page, of archives that audit rejects\n"
            "without running a job again. It refuses archives of another workload or size, with a wrong run, or with too\n"
            "few runs that count.",
    .option = options,
    .bytes = sizeof(request),
    .run = run,
};
