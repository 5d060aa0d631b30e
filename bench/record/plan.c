// SPDX-License-Identifier: MIT
// plan.c: the table of a record's steps, what each makes on this machine, and what that is worth a second.
#include "record.h"

#include "../compare/believe.h"
#include "../../impl/base/core.h"
#include "../../impl/runtime/cpu.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const rg_command rg_cmd_bench;

static const char columns[] = "kind name each needs gpus runs seconds claims shapes command";
// Claims come before figures and tables, of which many steps take seconds; that a step may be worth nothing would leave it out
// for ever.
static const double VALUE_OTHER = 0.05, VALUE_LEAST = 0.001;

// ---- words -----------------------------------------------------------------------------------------------------------------

typedef struct lets {
    int n;
    char **name, **value;
} lets;

static void let(lets *l, const char *name, const char *value)
{
    l->name = rg_more(l->name, l->n, sizeof *l->name);
    l->value = rg_more(l->value, l->n, sizeof *l->value);
    l->name[l->n] = rg_print("%s", name);
    l->value[l->n++] = rg_print("%s", value);
}

static void lets_free(lets *l)
{
    for (int i = 0; i < l->n; i++) {
        free(l->name[i]);
        free(l->value[i]);
    }
    free(l->name);
    free(l->value);
}

// $name replaced where the name is known, the last one first; others are the shell's.
static char *expand(const lets *l, const char *text)
{
    char *out = NULL;
    size_t bytes;
    FILE *f = open_memstream(&out, &bytes);
    while (*text) {
        const size_t plain = strcspn(text, "$");
        fwrite(text, 1, plain, f);
        text += plain;
        size_t n = *text ? 1 : 0;
        while (n && (isalnum((unsigned char)text[n]) || text[n] == '_')) n++;
        int k = l->n - 1;
        while (n && k >= 0 && (strlen(l->name[k]) != n - 1 || strncmp(l->name[k], text + 1, n - 1))) k--;
        if (n && k >= 0)
            fputs(l->value[k], f);
        else
            fwrite(text, 1, n, f);
        text += n;
    }
    fclose(f);
    return out;
}

char **rg_record_words(const char *command)
{
    const size_t n = strlen(command);
    char **word = rg_alloc((n / 2 + 2) * sizeof *word + n + 1), *to = (char *)(word + n / 2 + 2);
    int words = 0;
    bool inside = false, quoted = false;
    for (const char *c = command; *c; c++) {
        if (!inside && *c != ' ') {
            word[words++] = to;
            inside = true;
        }
        if (*c == '"') {
            quoted = !quoted;
        } else if (*c == ' ' && !quoted) {
            if (inside) *to++ = '\0';
            inside = false;
        } else {
            *to++ = *c;
        }
    }
    return word;
}

// ---- the table -------------------------------------------------------------------------------------------------------------

static int choice(const rg_tsv *t, int row, const char *column, const char *const *name, int n, const char *expected)
{
    const char *found = rg_tsv_cell(t, row, column);
    for (int i = 0; i < n; i++)
        if (!strcmp(found, name[i])) return i;
    return -rg_tsv_fault(t, row, column, expected);
}

// -1: there is none.
static int find_step(const rg_record_plan *plan, const char *name)
{
    for (int i = 0; i < plan->n; i++)
        if (!strcmp(plan->step[i].name, name)) return i;
    return -1;
}

static int add_step(rg_record_plan *plan, const rg_tsv *t, int i, const lets *l)
{
    static const char *const kind[] = {"data", "bench", "tune", "table"}, *const runs[] = {"core", "gpu", "alone"};
    rg_record_step s = {.core = -1, .pid = 0};
    const int k = choice(t, i, "kind", kind, RG_COUNT(kind), "let, data, bench, tune or table");
    const int r = k < 0 ? k : choice(t, i, "runs", runs, RG_COUNT(runs), "core, gpu or alone");
    if (r < 0) return RG_USAGE;
    s.kind = (rg_step_kind)k;
    s.runs = (rg_step_runs)r;
    s.seconds = rg_tsv_number(t, i, "seconds");
    s.gpus = *rg_tsv_cell(t, i, "gpus") ? (int)rg_tsv_number(t, i, "gpus") : 0;
    s.name = expand(l, rg_tsv_cell(t, i, "name"));
    s.needs = expand(l, rg_tsv_cell(t, i, "needs"));
    s.claims = expand(l, rg_tsv_cell(t, i, "claims"));
    char *shapes = expand(l, rg_tsv_cell(t, i, "shapes")), *command = expand(l, rg_tsv_cell(t, i, "command"));
    for (char *rest = shapes, *shape; (shape = strsep(&rest, " "));)
        if (*shape) {
            char *more = rg_print("%s --shape %s", command, shape);
            free(command);
            command = more;
        }
    s.command = command;
    free(shapes);
    plan->step = rg_more(plan->step, plan->n, sizeof *plan->step);
    const bool twice = find_step(plan, s.name) >= 0;
    plan->step[plan->n++] = s;
    if (!(s.seconds > 0))
        return rg_fail(RG_USAGE, "%s: line %d: expected seconds above 0 in %s", t->path, t->row_line[i], s.name);
    return twice
        ? rg_fail(RG_USAGE, "%s: line %d: expected a name of its own, found \"%s\" again", t->path, t->row_line[i], s.name)
        : RG_GOOD;
}

static int add_each(rg_record_plan *plan, const rg_tsv *t, int i, lets *l)
{
    const char *each = rg_tsv_cell(t, i, "each");
    if (!*each) return add_step(plan, t, i, l);
    const char *equals = strchr(each, '=');
    if (!equals)
        return rg_fail(
            RG_USAGE, "%s: line %d: expected VARIABLE=VALUES in column each, found \"%s\"", t->path, t->row_line[i], each);
    char *name = rg_print("%.*s", (int)(equals - each), each), *values = expand(l, equals + 1);
    int code = RG_GOOD;
    for (char *rest = values, *value; !code && (value = strsep(&rest, " "));) {
        if (!*value) continue;
        let(l, name, value); // the last of a name stands
        code = add_step(plan, t, i, l);
    }
    free(name);
    free(values);
    return code;
}

// The place of a step that another one needs, by its name, or name and "?"; -1 when there is none.
static int needed(const rg_record_plan *plan, const char *need)
{
    char *name = rg_print("%.*s", (int)strcspn(need, "?"), need);
    const int k = find_step(plan, name);
    free(name);
    return k;
}

static int check_needs(const rg_record_plan *plan, const char *path)
{
    for (int i = 0; i < plan->n; i++) {
        char *needs = rg_print("%s", plan->step[i].needs);
        int unknown = 0;
        for (char *rest = needs, *need; (need = strsep(&rest, " "));)
            if (*need && needed(plan, need) < 0)
                unknown = rg_fail(RG_USAGE, "%s: %s needs \"%s\", which no step is called", path, plan->step[i].name, need);
        free(needs);
        if (unknown) return unknown;
    }
    return RG_GOOD;
}

int rg_record_plan_read(const char *path, const char *work, rg_record_plan *plan)
{
    rg_tsv t;
    lets l = {0};
    *plan = (rg_record_plan){0};
    int code = rg_tsv_read(path, &t);
    if (code) return code;
    code = rg_tsv_needs(&t, columns);
    let(&l, "work", work);
    for (int i = 0; !code && i < t.n_rows; i++)
        if (!strcmp(rg_tsv_cell(&t, i, "kind"), "let")) {
            char *value = expand(&l, rg_tsv_cell(&t, i, "command"));
            let(&l, rg_tsv_cell(&t, i, "name"), value);
            free(value);
        } else {
            code = add_each(plan, &t, i, &l);
        }
    code = code ? code : check_needs(plan, path);
    lets_free(&l);
    rg_tsv_free(&t);
    return code;
}

bool rg_record_each_need(
    const rg_record_plan *plan, const rg_record_step *s, bool (*keep_on)(rg_record_step *, void *), void *of)
{
    char *needs = rg_print("%s", s->needs);
    bool all = true;
    for (char *rest = needs, *need; all && (need = strsep(&rest, " "));) {
        rg_record_step *of_need = *need ? &plan->step[needed(plan, need)] : NULL;
        if (of_need && !(strchr(need, '?') && of_need->gpus > plan->gpus)) all = keep_on(of_need, of);
    }
    free(needs);
    return all;
}

void rg_record_plan_free(rg_record_plan *plan)
{
    for (int i = 0; i < plan->n; i++) {
        rg_record_step *s = &plan->step[i];
        for (int k = 0; k < s->n_keys; k++) rg_row_free(&s->key[k]);
        free(s->key);
        free(s->name);
        free(s->needs);
        free(s->claims);
        free(s->command);
    }
    free(plan->step);
    *plan = (rg_record_plan){0};
}

// ---- what a step makes here ------------------------------------------------------------------------------------------------

static void add_key(rg_record_step *s, rg_row row)
{
    s->key = rg_more(s->key, s->n_keys, sizeof *s->key);
    s->key[s->n_keys++] = row;
}

static int add_lanes(rg_record_step *s)
{
    char *line = rg_print("bench %s", s->command), **word = rg_record_words(line);
    int n = 0;
    while (word[n]) n++;
    void *options = NULL;
    int code = rg_options_parse(&rg_cmd_bench, n, word, &options);
    rg_bench_options *o = options;
    if (!code) o->given.cores = rg_cpu_cores(); // what the door of a command sets
    code = code ? code : rg_bench_options_check(o);
    rg_lineup lineup = {0};
    if (!code && o->job) {
        for (const char *at = o->gpus ? o->gpus : "0"; *at; at += strcspn(at, ","), at += *at == ',')
            add_key(s, rg_bench_job_key(o, atoi(at)));
    } else if (!code) {
        code = rg_lineup_make(o, &lineup);
        for (int i = 0; !code && i < lineup.n; i++)
            if (!lineup.lane[i].done) // refused, or not available here
                add_key(s, rg_lane_key(&lineup.lane[i]));
        rg_lineup_free(&lineup);
    }
    s->energy = !code && o->energy;
    rg_options_free(&rg_cmd_bench, options);
    free(word);
    free(line);
    return code ? rg_fail(code, "record: the plan's step %s is no command of bench", s->name) : RG_GOOD;
}

// A row of a search: of its variant and shape, with parameters, timed as `tune` times.
static bool is_of_search(const rg_record_step *s, char *const *c)
{
    char algo[64] = "", variant[64] = "";
    const char *shape = strstr(s->command, "--shape ");
    sscanf(s->command, "%63[^: ]:%63s", algo, variant);
    shape = shape ? shape + strlen("--shape ") : "";
    return !strcmp(c[RG_C_ALGO], algo) && !strcmp(c[RG_C_VARIANT], variant) && strlen(c[RG_C_SHAPE]) == strcspn(shape, " ") &&
        !strncmp(c[RG_C_SHAPE], shape, strcspn(shape, " ")) && !strcmp(c[RG_C_SCOPE], "device") && *c[RG_C_MEDIAN] &&
        strstr(c[RG_C_PARAMS], "=");
}

bool rg_record_step_has(const rg_record *r, const rg_record_step *s, const rg_row *row)
{
    if (s->kind == RG_STEP_TUNE) return is_of_search(s, row->cell) && rg_record_has(r, row, false);
    for (int k = 0; k < s->n_keys; k++)
        if (rg_row_same(row, &s->key[k])) return rg_record_has(r, row, s->energy) && !rg_record_is_wide(r, row);
    return false;
}

int rg_record_rows_of(const rg_record *r, const rg_record_step *s)
{
    int n = 0;
    for (int i = 0; i < r->rows.n_rows; i++) n += rg_record_step_has(r, s, &r->rows.row[i]);
    return n;
}

// ---- cost and value --------------------------------------------------------------------------------------------------------

// What the step took before, on this kind of machine.
static double known_seconds(const rg_record *r, const char *name)
{
    const char *text = rg_tables_find(&r->tables, "record_seconds");
    rg_tsv t;
    double found = NAN;
    if (!text || rg_tsv_parse("record_seconds", text, strlen(text), &t)) return NAN;
    const int row = rg_tsv_find(&t, "step", name);
    if (row >= 0) found = rg_tsv_number(&t, row, "seconds_a_row");
    rg_tsv_free(&t);
    return found;
}

// How many unfinished steps a claim waits for, who share it; 0 when one of them cannot be had here.
static int steps_of(const rg_record_plan *plan, const char *claim)
{
    int n = 0;
    for (int i = 0; i < plan->n; i++) {
        const rg_record_step *s = &plan->step[i];
        const size_t length = strlen(claim);
        const char *at = s->done ? NULL : strstr(s->claims, claim);
        while (at && ((at > s->claims && at[-1] != ' ') || (at[length] && at[length] != ' '))) at = strstr(at + 1, claim);
        if (at && s->why) return 0;
        n += at != NULL;
    }
    return n;
}

static double value_of(const rg_record_plan *plan, const rg_record_step *s)
{
    char *claims = rg_print("%s", s->claims);
    double value = VALUE_LEAST;
    for (char *rest = claims, *claim; (claim = strsep(&rest, " "));)
        if (*claim && steps_of(plan, claim))
            value += (isupper((unsigned char)*claim) ? 1 : VALUE_OTHER) / steps_of(plan, claim);
    free(claims);
    return value;
}

static bool has_table(const rg_record *r, const rg_record_step *s)
{
    const char *text = rg_tables_find(&r->tables, s->name);
    return text && !rg_table_is_stale(text);
}

// A table of tables is as old as the oldest.
static bool is_current(rg_record_step *need, void *of) { return (void)of, need->kind != RG_STEP_TABLE || need->done; }

int rg_record_plan_weigh(rg_record_plan *plan, const rg_record *r, int gpus)
{
    int code = RG_GOOD;
    plan->gpus = gpus;
    for (int i = 0; !code && i < plan->n; i++) {
        rg_record_step *s = &plan->step[i];
        s->missing = 1;
        if (s->gpus > gpus) s->why = "more GPUs";
        if (s->kind == RG_STEP_BENCH) {
            code = add_lanes(s);
            s->missing = 0;
            for (int k = 0; k < s->n_keys; k++)
                s->missing += !rg_record_has(r, &s->key[k], s->energy) || rg_record_is_wide(r, &s->key[k]);
            if (!s->n_keys && !s->why) s->why = "what it times is not here";
        }
        s->done = s->kind == RG_STEP_BENCH ? !s->missing && s->n_keys
            : s->kind == RG_STEP_TABLE     ? has_table(r, s) && rg_record_each_need(plan, s, is_current, NULL)
            : s->kind == RG_STEP_TUNE      ? rg_tables_find(&r->tables, s->name) && rg_record_rows_of(r, s)
                                           : false;
        const double a_row = known_seconds(r, s->name), rows = s->n_keys ? s->n_keys : 1;
        s->cost_s = isnan(a_row) ? s->seconds * s->missing / rows : a_row * s->missing;
    }
    for (int i = 0; i < plan->n; i++)
        plan->step[i].value = plan->step[i].kind == RG_STEP_DATA ? 0 : value_of(plan, &plan->step[i]);
    return code;
}
