// SPDX-License-Identifier: MIT
// plan.c: finds the rows that each step of a record makes on this machine and their value per second, and describes the plan.
#include "record.h"

#include "../compare/validate.h"
#include "../../impl/base/core.h"
#include "../../impl/runtime/cpu.h"

#include <ctype.h>

extern const rg_command rg_cmd_bench;

static const char columns[] = "each needs gpus runs seconds claims shapes";
// Claims come before figures and tables, many steps of which take seconds. A step worth nothing would never be chosen.
static const double VALUE_OTHER = 0.05, VALUE_LEAST = 0.001;

// ---- the table -------------------------------------------------------------------------------------------------------------

// Words for bench or tune; --shape before each of shapes.
static char **words_of(const rg_steps *plan, const rg_step *s, const char *shapes) {
    RG_FREED char *all = rg_print("%s", shapes), *more = rg_print("%s", "");
    for (char *rest = all, *shape; (shape = strsep(&rest, " "));) {
        char *longer = *shape ? rg_print("%s --shape %s", more, shape) : NULL;
        if (longer) free(more), more = longer;
    }
    return rg_step_words(plan, s, more);
}

static int read_own(const rg_steps *plan, rg_step *s) {
    static const char *const kind[] = {"data", "bench", "tune", "table"};
    rg_record_step *own = s->own = rg_alloc(sizeof *own);
    int k = 0;
    while (k < RG_COUNT(kind) && strcmp(rg_step_cell(plan, s, "kind"), kind[k])) k++;
    if (k == RG_COUNT(kind)) return rg_tsv_fault(&plan->table, s->row, "kind", "let, data, bench, tune or table");
    own->kind = (rg_step_kind)k;
    own->gpus = atoi(rg_step_cell(plan, s, "gpus"));
    own->claims = rg_step_cell(plan, s, "claims");
    own->shapes = rg_step_cell(plan, s, "shapes");
    s->first = own->kind == RG_STEP_DATA;
    if (own->kind != RG_STEP_BENCH && own->kind != RG_STEP_TUNE) return RG_GOOD;
    own->word = words_of(plan, s, own->shapes);
    return own->word ? RG_GOOD : RG_USAGE;
}

int rg_record_plan_read(const char *path, rg_steps *plan) {
    int code = rg_steps_read(plan, path);
    code = code ? code : rg_tsv_needs(&plan->table, columns);
    for (int i = 0; i < plan->n && !code; i++) {
        code = read_own(plan, &plan->step[i]);
        if (!code && !(plan->step[i].seconds > 0))
            code = rg_fail(RG_USAGE, "%s: line %d: expected seconds above 0 in %s", path,
                plan->table.row_line[plan->step[i].row], plan->step[i].name);
    }
    return code;
}

void rg_record_plan_free(rg_steps *plan) {
    for (int i = 0; i < plan->n; i++) {
        RG_FREED rg_record_step *own = rg_record_of(&plan->step[i]);
        for (int k = 0; own && k < own->n_keys; k++) rg_row_free(&own->key[k]);
        if (own) free(own->key), free(own->word);
    }
    rg_steps_free(plan);
}

// ---- what a step makes here ------------------------------------------------------------------------------------------------

static void add_key(rg_record_step *s, rg_row row) {
    s->key = rg_grow(s->key, s->n_keys, sizeof *s->key);
    s->key[s->n_keys++] = row;
}

static int add_lanes(const rg_step *step, rg_record_step *s) {
    int n = 0;
    while (s->word[n]) n++;
    RG_FREED char **line = rg_alloc((size_t)(n + 2) * sizeof *line);
    line[0] = (char *)"bench";
    memcpy(line + 1, s->word, (size_t)n * sizeof *line);
    void *options = NULL;
    int code = rg_options_parse(&rg_cmd_bench, n + 1, line, &options);
    rg_bench_options *o = options;
    if (!code) o->given.cores = rg_cpu_cores(); // which a command sets at its start
    code = code ? code : rg_bench_options_check(o);
    rg_bench_plan plan = {0};
    if (!code && o->job) {
        for (const char *at = o->gpus ? o->gpus : "0"; *at; at += strcspn(at, ","), at += *at == ',')
            add_key(s, rg_bench_job_key(o, atoi(at)));
    } else if (!code) {
        code = rg_bench_plan_make(o, &plan);
        for (int i = 0; !code && i < plan.n; i++)
            if (!plan.measurement[i].done) // else refused, or not available here
                add_key(s, rg_measurement_key(&plan.measurement[i]));
        rg_bench_plan_free(&plan);
    }
    s->energy = !code && o->energy;
    rg_options_free(&rg_cmd_bench, options);
    return code ? rg_fail(code, "record: the plan's step %s is no command of bench", step->name) : RG_GOOD;
}

// Whether a row belongs to a search: its variant and shape, with parameters, timed as `tune` times.
static bool is_of_search(const rg_record_step *s, char *const *c) {
    char algo[64] = "", variant[64] = "";
    sscanf(s->word[0], "%63[^:]:%63s", algo, variant);
    return !strcmp(c[RG_C_ALGO], algo) && !strcmp(c[RG_C_VARIANT], variant) && !strcmp(c[RG_C_SHAPE], s->shapes) &&
        !strcmp(c[RG_C_SCOPE], "device") && *c[RG_C_MEDIAN] && strstr(c[RG_C_PARAMS], "=");
}

bool rg_record_step_has(const rg_record *r, const rg_record_step *s, const rg_row *row) {
    if (s->kind == RG_STEP_TUNE) return is_of_search(s, row->cell) && rg_record_has(r, row, false);
    for (int k = 0; k < s->n_keys; k++)
        if (rg_row_same(row, &s->key[k])) return rg_record_has(r, row, s->energy) && !rg_record_is_wide(r, row);
    return false;
}

int rg_record_rows_of(const rg_record *r, const rg_record_step *s) {
    int n = 0;
    for (int i = 0; i < r->rows.n_rows; i++) n += rg_record_step_has(r, s, &r->rows.row[i]);
    return n;
}

// ---- cost and value --------------------------------------------------------------------------------------------------------

// The earlier time of the step on this kind of machine.
static double known_seconds(const rg_record *r, const char *name) {
    const char *text = rg_tables_find(&r->tables, "record_seconds");
    RG_ENDS(rg_tsv_free) rg_tsv t = {0};
    if (!text || rg_tsv_parse("record_seconds", text, strlen(text), &t)) return NAN;
    const int row = rg_tsv_find(&t, "step", name);
    return row < 0 ? NAN : rg_tsv_number(&t, row, "seconds_a_row");
}

// The number of unfinished steps that a claim waits for, which share its value; 0 if one of them is impossible here.
static int steps_of(const rg_steps *plan, const char *claim) {
    int n = 0;
    for (int i = 0; i < plan->n; i++) {
        const rg_step *s = &plan->step[i];
        const size_t length = strlen(claim);
        const char *claims = rg_record_of(s)->claims, *at = s->done ? NULL : strstr(claims, claim);
        while (at && ((at > claims && at[-1] != ' ') || (at[length] && at[length] != ' '))) at = strstr(at + 1, claim);
        if (at && s->why) return 0;
        n += at != NULL;
    }
    return n;
}

static double value_of(const rg_steps *plan, const rg_step *s) {
    RG_FREED char *claims = rg_print("%s", rg_record_of(s)->claims);
    double value = VALUE_LEAST;
    for (char *rest = claims, *claim; (claim = strsep(&rest, " "));)
        if (*claim && steps_of(plan, claim))
            value += (isupper((unsigned char)*claim) ? 1 : VALUE_OTHER) / steps_of(plan, claim);
    return value;
}

static bool has_table(const rg_record *r, const rg_step *s) {
    const char *text = rg_tables_find(&r->tables, s->name);
    return text && !rg_table_is_stale(text);
}

// A table made of tables is as old as the oldest.
static bool is_current(rg_step *need, void *of) { return (void)of, rg_record_of(need)->kind != RG_STEP_TABLE || need->done; }

static int weigh_rows(const rg_record *r, rg_step *step) {
    rg_record_step *s = rg_record_of(step);
    const int code = add_lanes(step, s);
    s->missing = 0;
    for (int k = 0; k < s->n_keys; k++)
        s->missing += !rg_record_has(r, &s->key[k], s->energy) || rg_record_is_wide(r, &s->key[k]);
    if (!s->n_keys && !step->why) step->why = "what it times is not here";
    return code;
}

int rg_record_plan_weigh(rg_steps *plan, const rg_record *r, int gpus) {
    int code = RG_GOOD;
    for (int i = 0; !code && i < plan->n; i++) {
        rg_step *step = &plan->step[i];
        rg_record_step *s = rg_record_of(step);
        s->missing = 1;
        step->absent = s->gpus > gpus;
        if (step->absent) step->why = "more GPUs";
        if (s->kind == RG_STEP_BENCH) code = weigh_rows(r, step);
        step->done = s->kind == RG_STEP_BENCH ? !s->missing && s->n_keys
            : s->kind == RG_STEP_TABLE        ? has_table(r, step) && rg_step_each_need(plan, step, is_current, NULL)
            : s->kind == RG_STEP_TUNE         ? rg_tables_find(&r->tables, step->name) && rg_record_rows_of(r, s)
                                              : false;
        const double a_row = known_seconds(r, step->name), rows = s->n_keys ? s->n_keys : 1;
        step->cost_s = isnan(a_row) ? step->seconds * s->missing / rows : a_row * s->missing;
    }
    for (int i = 0; i < plan->n; i++) plan->step[i].value = plan->step[i].first ? 0 : value_of(plan, &plan->step[i]);
    return code;
}

// ---- in words --------------------------------------------------------------------------------------------------------------

static int by_order(const void *a, const void *b) {
    const rg_step *x = *(rg_step *const *)a, *y = *(rg_step *const *)b;
    return x->order != y->order ? (x->order > y->order) - (x->order < y->order) : (x > y) - (x < y);
}

void rg_record_show(const rg_steps *plan, const rg_cores *cores, int gpus, double expected_s) {
    static const char *const runs[] = {"alone", "core", "gpu"};
    int done = 0, n = 0, left = 0;
    RG_FREED rg_step **shown = rg_alloc((size_t)(plan->n + 1) * sizeof *shown);
    for (int i = 0; i < plan->n; i++) {
        rg_step *s = &plan->step[i];
        done += s->done;
        left += !s->done && !s->chosen && !s->first;
        if (s->chosen) shown[n++] = s;
    }
    qsort(shown, (size_t)n, sizeof *shown, by_order);
    if (cores->hidden)
        puts(cores->beside ? "A virtual machine that hides which processors share a core: times of one core may be too long."
                           : "A virtual machine that hides which processors share a core: one step at a time.");
    printf(
        "%d step%s of the plan %s in the record. These %d fit, in about %.0f s with at most %d of one core beside another:\n",
        done, rg_plural(done), done == 1 ? "is" : "are", n, expected_s, cores->beside);
    for (int i = 0; i < n; i++)
        printf("  %-28s %-6s %6.0f s %5d row%s  %s\n", shown[i]->name, runs[shown[i]->runs], shown[i]->cost_s,
            rg_record_of(shown[i])->missing, rg_record_of(shown[i])->missing == 1 ? " " : "s",
            *rg_record_of(shown[i])->claims ? rg_record_of(shown[i])->claims : "(for others)");
    if (left) printf("These %d are not begun:\n", left);
    for (int i = 0; i < plan->n; i++) {
        const rg_step *s = &plan->step[i];
        if (s->done || s->chosen || s->first) continue;
        const rg_record_step *own = rg_record_of(s);
        char why[80];
        snprintf(
            why, sizeof why, "it needs %d GPU%s, here %s %d", own->gpus, rg_plural(own->gpus), gpus == 1 ? "is" : "are", gpus);
        printf("  %-28s %-6s %6.0f s %5d row%s  %s: %s\n", s->name, runs[s->runs], s->cost_s, own->missing,
            own->missing == 1 ? " " : "s", s->absent ? why : s->why, own->claims);
    }
    fflush(stdout);
}
