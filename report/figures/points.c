// SPDX-License-Identifier: MIT
// points.c: makes figures of kind rows: times as points "series x ...", in fig/NAME.tsv.
//
// A series has the rows that match "LABEL=ALGO:VARIANT name=value@part;part", over the part x of the shape; the fastest of
// several parameter sets represents a variant. ratio is time(base) / time(series), at equal work.
#include "figures.h"

#include "../../bench/compare/validate.h"
#include "../../impl/base/core.h"
#include "../../impl/suite.h"
#include <ctype.h>

enum { SERIES_MOST = 64, SPEC = 200 };

typedef struct point {
    int64_t x;
    const rg_row *of, *base;
    rg_estimate ratio; // NaN without a base
    double work;       // of the row that it represents; 0: an old file without it
    bool sure;         // both have an interval
} point;

typedef struct series {
    char label[96], spec[SPEC];
    int n;
    point *point;
} series;

typedef struct search {
    const rg_listed *listed;
    rg_rows rows;
    char shape[96], base[SPEC];
    const char *scopes, *needs;
    char x[16];
    bool last; // "r+": only at the largest x of all
    int n;
    series series[SERIES_MOST];
} search;

// ---- rows ----------------------------------------------------------------------------------------------------------------

static bool has_needed(const search *s, const rg_row *row) {
    if (!*s->needs || !strcmp(s->needs, "host")) return true;
    if (!strcmp(s->needs, "fraction")) // beyond its bound: from an older file, whose cost or probe was wrong
        return rg_cell_number(row, RG_C_FRACTION) <= RG_FRACTION_MOST;
    for (int c = 0; c < RG_COLUMNS; c++)
        if (!strcmp(rg_column_name[c], s->needs)) return *row->cell[c];
    return false;
}

// Finds the base of the ratio: a row at the same shape, or one with the same x that has the figure's parts and those that the
// base names after '@'. A base "*:naive@p1" has the series' algorithm, and the parts of the series' spec too.
static bool partner_at(
    const search *s, const char *spec, const char *shape, int64_t x, const char *scope, const rg_row **partner) {
    char base[2 * SPEC];
    const char *parts = strchr(spec, '@');
    if (*s->base == '*')
        snprintf(base, sizeof base, "%.*s%s%s%s", (int)strcspn(spec, ":"), spec, s->base + 1,
            parts && strchr(s->base, '@') ? ";" : "", parts ? parts + (strchr(s->base, '@') != NULL) : "");
    else
        snprintf(base, sizeof base, "%s", s->base);
    *partner = rg_pick(s->rows, base, shape, scope);
    for (rg_cursor at = {.rows = s->rows}; !*partner && strchr(base, '@') && rg_next(&at);) {
        const char *other = at.row->cell[RG_C_SHAPE];
        if (rg_timed(at.row) && rg_matches(at.row, base) && rg_cell_part(other, s->x, -1) == x &&
            rg_shaped(other, s->shape, ","))
            *partner = rg_pick(s->rows, base, other, scope);
    }
    return *partner;
}

// Finds spec's time at this shape, in the first scope in which the base, if there is one, was timed too.
static bool measured_at(const search *s, const char *spec, const char *shape, int64_t x, point *p) {
    char scope[SPEC];
    for (const char *at = s->scopes; rg_next_piece(&at, ',', scope, SPEC);) {
        *p = (point){.x = x, .of = rg_pick(s->rows, spec, shape, scope), .ratio = RG_NO_ESTIMATE};
        if (p->of && (!*s->base || partner_at(s, spec, shape, x, scope, &p->base))) return true;
    }
    return false;
}

static int by_x(const void *a, const void *b) {
    const point *const p[2] = {a, b};
    return (p[0]->x > p[1]->x) - (p[0]->x < p[1]->x);
}

// Makes one point per x, in order, so that lines can be drawn. Of several rows (with a base, those that have a partner) it
// takes one with an interval, as claims do, then the one with the most work.
static int find_points(const search *s, series *to) {
    to->point = NULL;
    to->n = 0;
    for (rg_cursor at = {.rows = s->rows}; rg_next(&at);) {
        const rg_row *row = at.row;
        const char *shape = row->cell[RG_C_SHAPE];
        const double said = rg_cell_number(row, RG_C_WORK);
        point new;
        if (!rg_timed(row) || !rg_matches(row, to->spec) || !rg_shaped(shape, s->shape, ",")) continue;
        const int64_t x = rg_cell_part(shape, s->x, -1);
        int k = 0;
        while (k < to->n && to->point[k].x != x) k++;
        if (x < 0 || !measured_at(s, to->spec, shape, x, &new)) continue;
        // Few rows have joules, and the fastest may have none.
        if (!strcmp(s->needs, "joules") && !has_needed(s, new.of) && !strcmp(row->cell[RG_C_SCOPE], new.of->cell[RG_C_SCOPE]))
            new.of = row;
        if (!has_needed(s, new.of)) continue;
        new.work = isnan(said) ? 0 : said;
        new.sure = *s->base &&rg_has_interval(new.of) && rg_has_interval(new.base);
        if (k < to->n && (new.sure < to->point[k].sure || (new.sure == to->point[k].sure &&new.work <= to->point[k].work)))
            continue;
        if (k == to->n) to->point = rg_grow(to->point, to->n++, sizeof *to->point);
        to->point[k] = new;
    }
    for (point *p = to->point; *s->base && p < to->point + to->n; p++) p->ratio = rg_time_ratio(p->base, p->of);
    if (to->n) qsort(to->point, (size_t)to->n, sizeof *to->point, by_x);
    return to->n;
}

// ---- series --------------------------------------------------------------------------------------------------------------

static void add_series(search *s, const char *label, const char *spec) {
    if (s->n == SERIES_MOST) return;
    series *new = &s->series[s->n];
    snprintf(new->label, sizeof new->label, "%.95s", label);
    snprintf(new->spec, sizeof new->spec, "%s", spec);
    s->n += find_points(s, new) > 0;
}

// "*=ALGO:*@part;part": every variant with a time, on one core (or a GPU), and on the most cores; CPUs only if the figure needs
// them. Names with a blank are left out, as no spec can have one.
static void add_every(search *s, const char *spec_of_all) {
    char algo[64];
    const char *parts = strchr(spec_of_all, '@');
    const bool hosts = !strcmp(s->needs, "host");
    snprintf(algo, sizeof algo, "%.*s", (int)strcspn(spec_of_all, ":"), spec_of_all);
    parts = parts ? parts : "";
    char variant[SERIES_MOST][96];
    int n = 0;
    for (rg_cursor at = {.rows = s->rows}; rg_next(&at);) {
        const rg_row *row = at.row;
        const char *name = row->cell[RG_C_VARIANT];
        bool known = !rg_timed(row) || strcmp(row->cell[RG_C_ALGO], algo) || strpbrk(name, " |@,:") || strlen(name) >= 96;
        known |= hosts && strcmp(row->cell[RG_C_SPACE], "host");
        for (int k = 0; k < n && !known; k++) known = !strcmp(variant[k], name);
        if (!known && n < SERIES_MOST) snprintf(variant[n++], 96, "%s", name);
    }
    for (int k = 0; k < n; k++) {
        char spec[SPEC];
        snprintf(spec, sizeof spec, "%.60s:%.90s threads=1%.30s", algo, variant[k], parts);
        add_series(s, variant[k], spec);
        snprintf(spec, sizeof spec, "%.60s:%.90s threads=all%.30s", algo, variant[k], parts);
        const int before = s->n;
        add_series(s, variant[k], spec);
        if (s->n > before) {
            series *all = &s->series[before];
            const int threads = rg_row_threads(all->point[all->n - 1].of, 1);
            snprintf(all->label, sizeof all->label, "%.70s (%d core%s)", variant[k], threads, rg_plural(threads));
        }
    }
}

// Slowest first at the end of the curve, so that the key has the order of the curves of time.
static int by_rate(const void *a, const void *b) {
    const series *const s[2] = {a, b};
    double rate[2];
    for (int k = 0; k < 2; k++) rate[k] = rg_cell_number(s[k]->point[s[k]->n - 1].of, RG_C_RATE);
    return (rate[0] > rate[1]) - (rate[0] < rate[1]);
}

static bool find_series(search *s) {
    char text[SPEC];
    for (const char *at = rg_listed_cell(s->listed, "series"); rg_next_piece(&at, ',', text, SPEC);) {
        char *equals = strchr(text, '=');
        if (!equals) continue;
        *equals++ = 0;
        if (strcmp(text, "*")) {
            add_series(s, text, equals);
        } else {
            add_every(s, equals);
            qsort(s->series, (size_t)s->n, sizeof *s->series, by_rate);
        }
    }
    return s->n > 0;
}

// Keeps only the points at the largest x of all, and the series that have one there.
static void keep_last(search *s) {
    int64_t x = -1;
    int n = 0;
    for (int k = 0; k < s->n; k++)
        x = s->series[k].point[s->series[k].n - 1].x > x ? s->series[k].point[s->series[k].n - 1].x : x;
    for (int k = 0; k < s->n; k++) {
        series one = s->series[k];
        if (one.point[one.n - 1].x != x) {
            free(one.point);
            continue;
        }
        one.point[0] = one.point[one.n - 1];
        one.n = 1;
        s->series[n++] = one;
    }
    s->n = n;
}

// ---- shapes --------------------------------------------------------------------------------------------------------------

// Fixes the parts that must hold; those without a number ("w,h,k0") as in this row. false: the row lacks such a part.
static bool fix_shape(const char *wanted, const rg_row *row, char shape[96]) {
    char part[SPEC];
    size_t n = 0;
    for (const char *at = wanted; rg_next_piece(&at, ',', part, SPEC);) {
        const int64_t value = rg_cell_part(row->cell[RG_C_SHAPE], part, -1);
        const bool open = !part[strcspn(part, "0123456789")];
        if (open && value < 0) return false;
        if (open) snprintf(part + strlen(part), sizeof part - strlen(part), "%lld", (long long)value);
        n += (size_t)snprintf(shape + n, 96 - n, "%s%s", n ? "," : "", part);
    }
    return true;
}

// Chooses the shape with the most x; among equals, the first.
static void choose_shape(search *s) {
    const char *wanted = rg_listed_cell(s->listed, "shape"), *spec = strchr(rg_listed_cell(s->listed, "series"), '=');
    char algo[64], shape[96];
    int most = 0;
    snprintf(s->shape, sizeof s->shape, "%.90s", wanted);
    snprintf(algo, sizeof algo, "%.*s", spec ? (int)strcspn(spec + 1, ":") : 0, spec ? spec + 1 : "");
    bool open = false;
    for (const char *at = wanted; *at; at++)
        open |= isalpha((unsigned char)*at) && !isdigit((unsigned char)at[1]) && at[1] != '<' && at[1] != '>' && at[1] != '!';
    for (rg_cursor at = {.rows = s->rows}; open && rg_next(&at);) {
        const rg_row *row = at.row;
        if (!rg_timed(row) || strcmp(row->cell[RG_C_ALGO], algo) || !fix_shape(wanted, row, shape) ||
            !rg_shaped(row->cell[RG_C_SHAPE], shape, ","))
            continue;
        int n = 0;
        int64_t last = -1; // rows of one x are adjacent
        for (rg_cursor all = {.rows = s->rows}; rg_next(&all);) {
            const rg_row *other = all.row;
            if (all.file != at.file) continue;
            const int64_t x = rg_cell_part(other->cell[RG_C_SHAPE], s->x, -1);
            if (x == last || !rg_timed(other) || strcmp(other->cell[RG_C_ALGO], algo) ||
                !rg_shaped(other->cell[RG_C_SHAPE], shape, ","))
                continue;
            n++;
            last = x;
        }
        if (n > most) {
            most = n;
            memcpy(s->shape, shape, sizeof shape);
        }
    }
}

// ---- output --------------------------------------------------------------------------------------------------------------

static const char *or_nan(const rg_row *row, rg_column c) { return *row->cell[c] ? row->cell[c] : "NaN"; }

static int write_points(const search *s, FILE *out) {
    int n = 0;
    fputs(
        "series\tx\tshape\tparams\tspace\tscope\tmode\tmedian_s\trate\trate_unit\tratio\tratio_low\tratio_high\terror\ttol\tjoules\t"
        "work\tbound\tfraction\n",
        out);
    for (int k = 0; k < s->n; k++)
        for (int i = 0; i < s->series[k].n; i++, n++) {
            const point *p = &s->series[k].point[i];
            const rg_row *row = p->of;
            rg_tsv_print(out, "%s\t%lld\t%s\t%s\t%s\t%s\t%s\t%.6g\t%.6g\t%s\t%.6g\t%.6g\t%.6g\t%s\t%s\t%s\t%s\t%s\t%s\n",
                s->series[k].label, (long long)p->x, row->cell[RG_C_SHAPE], row->cell[RG_C_PARAMS], row->cell[RG_C_SPACE],
                row->cell[RG_C_SCOPE], row->cell[RG_C_MODE], row->timed_ns * 1e-9, rg_cell_number(row, RG_C_RATE),
                row->cell[RG_C_RATE_UNIT], p->ratio.value, p->ratio.low, p->ratio.high, or_nan(row, RG_C_ERROR),
                or_nan(row, RG_C_TOL), or_nan(row, RG_C_JOULES), row->cell[RG_C_WORK], row->cell[RG_C_BOUND],
                or_nan(row, RG_C_FRACTION));
        }
    return n;
}

// Rates a point by what its figure shows; larger is better.
static double goodness(const search *s, const point *p) {
    const rg_row *row = p->of;
    return !strcmp(s->needs, "fraction") ? rg_cell_number(row, RG_C_FRACTION)
        : !strcmp(s->needs, "joules")    ? -rg_cell_number(row, RG_C_JOULES) / rg_cell_number(row, RG_C_WORK)
        : !strcmp(s->needs, "error")     ? rg_cell_number(row, RG_C_ERROR) / rg_cell_number(row, RG_C_TOL)
                                         : rg_cell_number(row, RG_C_RATE);
}

static bool is_curve(const search *s) {
    bool any = false;
    for (int k = 0; k < s->n; k++) any |= s->series[k].n > 1;
    return any;
}

// Writes the title's words about the best point at the largest x of all.
static void say_best(const search *s, const char *from, char *to, size_t room) {
    const point *best = NULL;
    const char *label = "";
    for (int k = 0; k < s->n; k++) {
        const point *p = &s->series[k].point[s->series[k].n - 1];
        if (best && (p->x == best->x ? goodness(s, p) <= goodness(s, best) : p->x < best->x)) continue;
        best = p;
        label = s->series[k].label;
    }
    rg_say_best(label, best->x, best->of, from, to, room);
}

static void say_scope(const search *s, char *to, size_t room) {
    rg_scopes said = {rg_cell_part(s->shape, "w", -1), rg_cell_part(s->shape, "h", -1), "", "", ""};
    for (int k = 0; k < s->n; k++)
        for (int i = 0; i < s->series[k].n; i++) {
            const rg_row *row = s->series[k].point[i].of;
            const char *scope = row->cell[RG_C_SCOPE];
            *(!rg_on_gpu(row) ? &said.host : *said.device && strcmp(said.device, scope) ? &said.besides : &said.device) = scope;
        }
    rg_say_scope(&said, to, room);
}

// Lines of the key below a narrow figure: two entries a line if all are short, plus a few lines of the paper's.
static int keys(const search *s) {
    enum { SHORT = 11, PAPERS = 4 };
    bool pairs = !*s->base;
    for (int k = 0; k < s->n; k++) pairs &= strlen(s->series[k].label) <= SHORT;
    return pairs ? s->n / 2 + 1 : s->n + (*s->base ? PAPERS : 0);
}

// Reports panels without a point; they are not drawn.
static void check_panels(const search *s, rg_found *found) {
    char panel[SPEC];
    for (const char *at = rg_listed_cell(s->listed, "panels"); rg_next_piece(&at, ',', panel, SPEC);) {
        bool any = false;
        for (int k = 0; k < s->n; k++) any |= !strncmp(s->series[k].label, panel, strlen(panel));
        if (!any && !*found->why_not) rg_say_undrawn(RG_EMPTY_PANEL, NULL, panel, NULL, found->why_not, sizeof found->why_not);
    }
}

// "LABEL=ID,LABEL=ID@BASE": words BESIDE and PRINTED, from the entries with this base.
static void put_marks(const search *s, rg_plot *plot) {
    char one[SPEC], beside[2 * SPEC] = "", printed[2 * SPEC] = "";
    const char *list = rg_listed_cell(s->listed, "marks");
    while (rg_next_piece(&list, ',', one, SPEC)) {
        char *id = strchr(one, '='), *base = strchr(one, '@');
        if (!id || (base && !strstr(s->base, base + 1))) continue;
        *id++ = 0;
        id[strcspn(id, "@")] = 0;
        snprintf(beside + strlen(beside), sizeof beside - strlen(beside), " %s", one);
        snprintf(printed + strlen(printed), sizeof printed - strlen(printed), " %s", id);
    }
    rg_plot_text(plot, "BESIDE", beside);
    rg_plot_text(plot, "PRINTED", printed);
}

// Sets VALUE and LABEL of lines.gp from "VALUE=LABEL".
static void put_value(const char *y, rg_plot *plot) {
    const size_t n = strcspn(y, "=");
    RG_FREED char *value = rg_print("%.*s", (int)n, y);
    rg_plot_text(plot, "VALUE", value);
    rg_plot_text(plot, "LABEL", y[n] ? y + n + 1 : "");
}

static void drop_series(search *s) {
    for (int k = 0; k < s->n; k++) free(s->series[k].point);
    memset(s->series, 0, sizeof s->series);
    s->n = 0;
}

// Of several bases, uses the first that gives a curve; otherwise the first that was timed.
void rg_find_rows(const rg_listed *l, const char *name, rg_found *found) {
    RG_FREED search *s = rg_alloc(sizeof *s);
    char base[SPEC], first[SPEC] = "";
    *s = (search){.listed = l,
        .rows = rg_listed_rows(l),
        .scopes = rg_listed_cell(l, "scope"),
        .needs = rg_listed_cell(l, "needs"),
        .last = strchr(rg_listed_cell(l, "x"), '+')};
    snprintf(s->x, sizeof s->x, "%.*s", (int)strcspn(rg_listed_cell(l, "x"), "+"), rg_listed_cell(l, "x"));
    const char *bases = rg_listed_cell(l, "base");
    choose_shape(s);
    for (bool more = true; more && !is_curve(s);) {
        drop_series(s);
        more = rg_next_piece(&bases, '/', base, SPEC);
        snprintf(s->base, sizeof s->base, "%s", more ? base : first);
        if (more || *first || !*rg_listed_cell(l, "base")) find_series(s);
        if (s->n && !*first) snprintf(first, sizeof first, "%s", s->base);
    }
    if (s->last) keep_last(s);
    RG_FREED char *path = rg_print("%s/fig/%s.tsv", l->all->out, name);
    rg_file file;
    if (s->n && (found->code = rg_file_open(&file, path)) == RG_GOOD) {
        found->points = write_points(s, file.stream);
        found->code = rg_file_commit(&file);
    }
    if (found->code == RG_GOOD && found->points) {
        const char *label[SERIES_MOST];
        for (int k = 0; k < s->n; k++) label[k] = s->series[k].label;
        snprintf(found->data, sizeof found->data, "%.100s.tsv", name);
        rg_plot_path(&found->plot, "DATA", found->data);
        rg_plot_texts(&found->plot, "SERIES", s->n, label);
        rg_plot_text(&found->plot, "BASE", s->base);
        rg_plot_text(&found->plot, "AXIS", s->x);
        put_value(rg_listed_cell(l, "y"), &found->plot);
        put_marks(s, &found->plot);
        found->keys = keys(s);
        say_best(s, rg_listed_cell(l, "title"), found->title, sizeof found->title);
        say_scope(s, found->about, sizeof found->about);
        check_panels(s, found);
    }
    drop_series(s);
}
