// SPDX-License-Identifier: MIT
// judge_jobs.c: judges claims by the small tables of jobs: stages, scaling, FSC, series of photographs.
#include "judge.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"

static rg_judgement of_job(void) {
    rg_judgement v = rg_unjudged();
    snprintf(v.scope, sizeof v.scope, "job");
    return v;
}

// A judgement without a value, for this reason.
static rg_judgement without(rg_why why) {
    rg_judgement v = rg_unjudged();
    v.why = why;
    return v;
}

// ---- cells of tables -----------------------------------------------------------------------------------------------------

// The number of images in the head of a job's table; NaN if it is missing.
static double images_of(const rg_tsv *t) {
    double n = NAN;
    char of[8] = "";
    for (int i = 0; i < t->n_head; i++)
        if (sscanf(t->head[i].text, "# %lf %7s", &n, of) == 2 && !strcmp(of, "images")) return n;
    return NAN;
}

// Reads the numbers that "TABLE key=value COLUMN" names, one a row of that key; if there are none, why has the reason. *work:
// the number of images, 1 where each number is for one image.
static rg_samples cells_of_one(rg_rows rows, const char *spec, const char *shape, double *work, rg_why *why) {
    char table[48] = "", key[160] = "", column[48] = "";
    rg_samples s = {.processes = 1};
    if (sscanf(spec, "%47s %159s %47s", table, key, column) != 3 || !strchr(key, '=')) {
        *why = (rg_why){RG_BY_BAD_SPEC, .text = {rg_text_of(spec)}};
        return s;
    }
    const rg_text of = rg_text_to(spec, " "), pair = rg_text_to(spec + of.n + 1, " "), name = rg_text_to(pair.at, "=");
    const rg_tsv *t = rg_table_of(rows, table);
    if (!t) {
        *why = (rg_why){RG_BY_NO_TABLE, .text = {of}};
        return s;
    }
    *work = images_of(t);
    char *value = strchr(key, '='), *per = strstr(column, "/images"), one[80];
    *value++ = 0;
    const double least = per && per[7] == '>' ? atof(per + 8) + 1 : 0;
    if (per && !(*work >= least)) {
        *why = (rg_why){RG_BY_FEW_IMAGES, .text = {of}, .number = {*work, least}};
        return s;
    }
    if (per) *per = 0;
    for (const char *at = value; rg_next_piece(&at, '+', one, sizeof one);) { // one run after another
        rg_samples more = rg_table_numbers(t, key, one, shape, column);
        const bool first = !s.ns;
        for (int i = 0; !first && i < s.n && i < more.n; i++) s.ns[i] += more.ns[i];
        if (first || more.n < s.n) s.n = more.n;
        if (first) s.ns = more.ns, more.ns = NULL;
        free(more.ns);
    }
    for (int i = 0; per && i < s.n; i++) s.ns[i] /= *work;
    if (per) *work = 1;
    if (!s.n)
        *why = (rg_why){RG_BY_NO_CELL,
            .text = {of, rg_text_to(pair.at + pair.n + 1, " /"), name, {name.at + name.n + 1, pair.n - name.n - 1},
                rg_text_of(shape)}};
    return s;
}

// Tries alternatives separated by '|' and returns the first that exists; the reason is the first one's.
static rg_samples cells_of(rg_rows rows, const char *spec, const char *shape, double *work, rg_why *why) {
    rg_why other;
    rg_samples s = cells_of_one(rows, spec, shape, work, why);
    while (!s.n && (spec = strchr(spec, '|'))) {
        rg_samples_free(&s);
        s = cells_of_one(rows, ++spec, shape, work, &other);
    }
    return s;
}

double rg_table_cell(rg_rows rows, const char *spec) {
    double work;
    rg_why why;
    RG_ENDS(rg_samples_free) rg_samples samples = cells_of(rows, spec, "", &work, &why);
    return rg_median_of(&samples).value;
}

// True for "s9cpu stage=region@24 busy_s" and "s9 stage=region busy_s", not for a stage over the whole job.
static bool is_of_one_stage(const char *a, const char *b) {
    const char *of_a = strchr(a, ' '), *of_b = strchr(b, ' ');
    const size_t n = strcspn(of_a + 1, "@ ");
    return strncmp(of_a, " stage=", 7) || (!strncmp(of_a + 1, of_b + 1, n) && strcspn(of_b + 1, "@ ") == n);
}

static rg_judgement judge_cell(const rg_comparison *q) {
    rg_judgement v = of_job();
    rg_why why = {.reason = RG_BY_NOTHING};
    double of_a = NAN, of_b = NAN;
    RG_ENDS(rg_samples_free) rg_samples a = cells_of(q->rows, q->a, q->size, &of_a, &why), b = {0};
    if (a.n && *q->b) b = cells_of(q->rows, q->b, q->size, &of_b, &why);
    if (a.n && (b.n || !*q->b)) {
        rg_estimate e = rg_median_of(&a);
        if (b.n) {
            const double x = e.value, y = rg_median_of(&b).value;
            e = rg_ratio_of(&a, &b);
            e.value = x / y;
            v.ours = (rg_ours){RG_OURS_CELLS, .number = {x, y}};
        } else {
            v.ours = (rg_ours){RG_OURS_CELL, .text = {rg_text_of(q->unit)}};
        }
        snprintf(v.size, sizeof v.size, "%s", q->size);
        rg_judge_number(q, e, &v);
        if (b.n && fabs(of_a - of_b) > 0) rg_refuse(RG_BY_UNEQUAL_WORK, of_a, of_b, &v);
        if (b.n && !is_of_one_stage(q->a, q->b)) rg_refuse(RG_BY_MIXED_STAGES, NAN, NAN, &v);
    } else {
        v = without(why);
    }
    return v;
}

// Judges a number that the same command, seed and files reproduce exactly: its interval is the value itself.
static void judge_exactly(const rg_comparison *q, double value, rg_judgement *v) {
    rg_judge_number(q, (rg_estimate){value, value, value}, v);
}

// Judges an error against the truth, or an FSC.
static rg_judgement judge_exact_cell(const rg_comparison *q) {
    rg_judgement v = judge_cell(q);
    if (!isnan(v.value)) judge_exactly(q, v.value, &v);
    return v;
}

static rg_judgement judge_least(const rg_comparison *q) {
    rg_judgement v = of_job();
    char table[48] = "", column[48] = "";
    const rg_tsv *t = sscanf(q->a, "%47s %47s", table, column) == 2 ? rg_table_of(q->rows, table) : NULL;
    double least = INFINITY;
    for (int i = 0; t && i < t->n_rows; i++) least = fmin(least, rg_tsv_number(t, i, column)); // skips NaN
    if (isinf(least)) {
        const rg_text of = rg_text_to(q->a, " ");
        return without((rg_why){RG_BY_NO_COLUMN, .text = {of, rg_text_of(q->a + of.n + (q->a[of.n] == ' '))}});
    }
    v.ours = (rg_ours){RG_OURS_LEAST, .number = {t->n_rows}};
    judge_exactly(q, least, &v);
    return v;
}

// The frequency at which the curve first falls below one half, between two shells; the last one if it never does.
static double crossing(const rg_tsv *t) {
    double last = NAN, before = NAN;
    for (int i = 0; i < t->n_rows; i++) {
        const double fsc = rg_tsv_number(t, i, "fsc"), at = rg_tsv_number(t, i, "frequency");
        if (isnan(fsc) || isnan(at)) continue;
        if (fsc < 0.5 && !isnan(before)) return last + (at - last) * (before - 0.5) / (before - fsc);
        before = fsc;
        last = at;
    }
    return last;
}

static rg_judgement judge_crossing(const rg_comparison *q) {
    rg_judgement v = of_job();
    const rg_tsv *a = rg_table_of(q->rows, q->a), *b = rg_table_of(q->rows, q->b);
    if (!a || !b) return without((rg_why){RG_BY_NO_TABLE, .text = {rg_text_of(a ? q->b : q->a)}});
    const double of_a = crossing(a), of_b = crossing(b);
    v.ours = (rg_ours){RG_OURS_CROSSING, .number = {of_a, of_b}};
    judge_exactly(q, of_a / of_b, &v);
    return v;
}

// ---- the table `seeds`: series of photographs, one a seed; a quantity sets ours and an estimate, or leaves it NaN -----------

enum { SERIES_MOST = 100 };
typedef struct series {
    const rg_tsv *table;
    int n, n_variants;
    const char *seed[SERIES_MOST], *variant[SERIES_MOST];
} series;

static int add_once(const char *list[SERIES_MOST], int n, const char *text) {
    for (int i = 0; i < n; i++)
        if (!strcmp(list[i], text)) return n;
    if (n < SERIES_MOST) list[n++] = text;
    return n;
}

static series series_of(const rg_tsv *t) {
    series s = {.table = t};
    for (int i = 0; i < t->n_rows; i++) {
        s.n = add_once(s.seed, s.n, rg_tsv_cell(t, i, "seed"));
        s.n_variants = add_once(s.variant, s.n_variants, rg_tsv_cell(t, i, "variant"));
    }
    return s;
}

// Reads a column against the time, where both are numbers, of series i by variant k: the count, *x and *y malloc'ed.
static int growth_of(const series *s, int i, int k, const char *column, double **x, double **y) {
    const rg_tsv *t = s->table;
    int n = 0;
    *x = rg_alloc((size_t)(t->n_rows + 1) * sizeof **x);
    *y = rg_alloc((size_t)(t->n_rows + 1) * sizeof **y);
    for (int row = 0; row < t->n_rows; row++) {
        if (strcmp(rg_tsv_cell(t, row, "seed"), s->seed[i]) || strcmp(rg_tsv_cell(t, row, "variant"), s->variant[k])) continue;
        (*x)[n] = rg_tsv_number(t, row, "time");
        (*y)[n] = rg_tsv_number(t, row, column);
        n += isfinite((*x)[n]) && isfinite((*y)[n]);
    }
    return n;
}

// The median over all series, with an interval, so of at least two.
static rg_estimate over_series(double *value, int n) {
    const rg_samples all = {.n = n, .processes = 1, .ns = value};
    return n > 1 ? rg_median_of(&all) : RG_NO_ESTIMATE;
}

// The fraction of photographs whose curve has a maximum after its first minimum.
static rg_estimate with_r_max(const series *s, rg_judgement *v) {
    double found = 0, all = 0, first = NAN, last = NAN;
    for (int i = 0; i < s->table->n_rows; i++) {
        if (strcmp(rg_tsv_cell(s->table, i, "variant"), s->variant[0])) continue;
        const double r = rg_tsv_number(s->table, i, "R_max");
        all++;
        found += isfinite(r);
        if (strcmp(rg_tsv_cell(s->table, i, "seed"), s->seed[0]) || !isfinite(r)) continue;
        if (isnan(first)) first = r;
        last = r;
    }
    v->ours = (rg_ours){RG_OURS_PHOTOS, .number = {found, all, first, last}};
    return (rg_estimate){all > 0 ? found / all : NAN, NAN, NAN};
}

// Intercept of the free line as a fraction of the last R_max. It may be negative, so the last R_max is added, then subtracted.
static rg_estimate intercept(const series *s, rg_judgement *v) {
    double part[SERIES_MOST];
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        RG_FREED double *x = NULL, *r = NULL;
        const int points = growth_of(s, i, 0, "R_max", &x, &r);
        const rg_line line = rg_line_fit(x, r, points);
        if (isfinite(line.intercept)) part[n++] = 1 + line.intercept / r[points - 1];
    }
    const rg_estimate e = over_series(part, n);
    v->ours = (rg_ours){RG_OURS_INTERCEPT, .number = {n}};
    return (rg_estimate){e.value - 1, e.low - 1, e.high - 1};
}

// Scatter about the free line as a fraction of the growth over the series; infinite without growth.
static double scatter(const series *s, int i, const char *column) {
    RG_FREED double *x = NULL, *y = NULL;
    double value = NAN;
    const int n = growth_of(s, i, 0, column, &x, &y);
    const rg_line line = rg_line_fit(x, y, n);
    if (isfinite(line.slope)) {
        const double growth = fabs(line.slope) * (x[n - 1] - x[0]);
        value = growth > 1e-9 * fabs(y[0]) ? line.residual / growth : INFINITY;
    }
    return value;
}

// The factor by which the length from the spectrum's peak follows the growth worse than R_max, where R_max grows.
static rg_estimate reciprocal(const series *s, rg_judgement *v) {
    static const double does_not_move = 1e9;
    double worse[SERIES_MOST], of_spectrum[SERIES_MOST], of_r_max[SERIES_MOST];
    int n = 0, flat = 0;
    for (int i = 0; i < s->n; i++) {
        const double spectrum = scatter(s, i, "k_peak_length"), real_space = scatter(s, i, "R_max");
        flat += !isnan(spectrum) && real_space > 1;
        if (isnan(spectrum) || !(real_space > 0 && real_space <= 1)) continue;
        of_spectrum[n] = fmin(spectrum, does_not_move);
        of_r_max[n] = real_space;
        worse[n] = of_spectrum[n] / real_space;
        n++;
    }
    v->ours = (rg_ours){RG_OURS_RECIPROCAL, .number = {over_series(of_spectrum, n).value, over_series(of_r_max, n).value, n}};
    if (flat && !n) v->why = (rg_why){.reason = RG_BY_NO_GROWTH};
    return over_series(worse, n);
}

// The largest difference of R_max between the first variant and the others.
static rg_estimate difference(const series *s, rg_judgement *v) {
    double most = 0, photos = 0;
    bool same = s->n_variants > 1;
    for (int i = 0; i < s->n; i++)
        for (int k = 1; k < s->n_variants; k++) {
            RG_FREED double *x = NULL, *r = NULL, *x_k = NULL, *r_k = NULL;
            const int n = growth_of(s, i, 0, "R_max", &x, &r);
            same &= n > 0 && growth_of(s, i, k, "R_max", &x_k, &r_k) == n;
            for (int p = 0; p < n && same; p++) most = fmax(most, fabs(r_k[p] - r[p]));
            if (k == 1) photos += n;
        }
    v->ours = (rg_ours){RG_OURS_DIFFERENCE, .number = {s->n_variants, photos}};
    return (rg_estimate){same ? most : NAN, NAN, NAN};
}

static rg_judgement judge_job(const rg_comparison *q) {
    static const struct {
        const char *name;
        rg_estimate (*find)(const series *, rg_judgement *);
        rg_reason lacks;
    } quantity[] = {{"with_r_max", with_r_max, RG_BY_NO_PHOTO}, {"intercept", intercept, RG_BY_FEW_SERIES},
        {"reciprocal", reciprocal, RG_BY_FEW_SERIES}, {"difference", difference, RG_BY_NO_SECOND_RUN}};
    const rg_tsv *t = rg_table_of(q->rows, "seeds");
    if (!t || !t->n_rows) return without((rg_why){RG_BY_NO_TABLE, .text = {rg_text_of("seeds")}});
    const series s = series_of(t);
    rg_judgement v = of_job();
    for (int k = 0; k < RG_COUNT(quantity); k++) {
        if (strcmp(q->a, quantity[k].name)) continue;
        v.why = (rg_why){.reason = quantity[k].lacks};
        const rg_estimate e = quantity[k].find(&s, &v);
        if (isnan(e.value)) return without(v.why);
        snprintf(v.size, sizeof v.size, "%d series", s.n);
        if (isnan(e.low)) // the files are complete: another run gives the same
            judge_exactly(q, e.value, &v);
        else
            rg_judge_number(q, e, &v);
        return v;
    }
    return without((rg_why){RG_BY_UNKNOWN_QUANTITY, .text = {rg_text_of(q->a)}});
}

// Judges a quantity of the job that says whether something exists, not how large it is.
static rg_judgement judge_peaks(const rg_comparison *q) {
    rg_judgement v = judge_job(q);
    v.outcome = rg_shown(v.outcome);
    return v;
}

const rg_claim_kind rg_kinds_of_jobs[] = {{"cell", judge_cell}, {"exact", judge_exact_cell}, {"least", judge_least},
    {"crossing", judge_crossing}, {"job", judge_job}, {"peaks", judge_peaks}, {NULL, NULL}};
