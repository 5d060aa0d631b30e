// SPDX-License-Identifier: MIT
// table.c: reads a table of steps: variables, a step for every value, needs.
#include "steps.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"

#include <ctype.h>
#include <fnmatch.h>
#include <wordexp.h>

// The text with its variables replaced, malloc'ed; NULL: an error was printed.
static char *expand(const rg_tsv *t, int line, const char *text) {
    RG_FREED char *quoted = rg_print("\"%s\"", text);
    char *found = NULL;
    wordexp_t words;
    const int fault = wordexp(quoted, &words, WRDE_NOCMD | WRDE_UNDEF);
    if (!fault) {
        if (words.we_wordc == 1) found = rg_print("%s", words.we_wordv[0]);
        wordfree(&words);
    }
    if (!found)
        rg_fail(RG_USAGE, "%s: line %d: expected %s, found \"%s\"", t->path, line,
            fault == WRDE_BADVAL ? "variables that are set" : "a text with $variables, without quotes and commands", text);
    return found;
}

int rg_steps_variable(const char *who, const char *name, const char *value) {
    for (const char *c = value; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_./+,:=@%~-", *c))
            return rg_fail(RG_USAGE, "%s: expected a name of letters, digits and _./+,:=@%%~- alone, found \"%s\"", who, value);
    setenv(name, value, 1);
    return RG_GOOD;
}

// ---- variables -------------------------------------------------------------------------------------------------------------

static void set_variables(const char *set) {
    RG_FREED char *pairs = rg_print("%s", set);
    for (char *rest = pairs, *pair; (pair = strsep(&rest, ";"));) {
        char *equals = strchr(pair, '=');
        if (equals) *equals = '\0', setenv(pair, equals + 1, 1);
    }
}

void rg_step_set_variables(const rg_step *s) { set_variables(s->set); }

static int let(const rg_tsv *t, int row) {
    RG_FREED char *value = expand(t, t->row_line[row], rg_tsv_cell(t, row, "command"));
    if (value) setenv(rg_tsv_cell(t, row, "name"), value, 1);
    return value ? RG_GOOD : RG_USAGE;
}

// The output of a command, its lines as words.
static int ask(const rg_tsv *t, int row) {
    const char *command = rg_tsv_cell(t, row, "command");
    char value[1 << 14];
    FILE *f = popen(command, "re");
    const size_t n = f ? fread(value, 1, sizeof value - 1, f) : 0;
    if (!f || pclose(f)) return rg_fail(RG_USAGE, "%s: line %d: the command failed: %s", t->path, t->row_line[row], command);
    value[n] = '\0';
    for (char *c = value; *c; c++)
        if (*c == '\n') *c = c[1] ? ' ' : '\0';
    setenv(rg_tsv_cell(t, row, "name"), value, 1);
    return RG_GOOD;
}

// ---- rows ------------------------------------------------------------------------------------------------------------------

const char *rg_step_cell(const rg_steps *steps, const rg_step *s, const char *column) {
    for (int c = 0; c < steps->table.n_columns; c++)
        if (!strcmp(steps->table.column[c], column)) return s->cell[c];
    return "";
}

rg_step *rg_step_find(const rg_steps *steps, const char *name) {
    for (int i = 0; i < steps->n; i++)
        if (!strcmp(steps->step[i].name, name)) return &steps->step[i];
    return NULL;
}

static int check_step(const rg_steps *steps, const rg_step *s) {
    static const char *const runs[] = {"", "core", "gpu", "alone"};
    const rg_tsv *t = &steps->table;
    const char *seconds = rg_step_cell(steps, s, "seconds"), *found = rg_step_cell(steps, s, "runs");
    int k = 0;
    while (k < RG_COUNT(runs) && strcmp(found, runs[k])) k++;
    if (k == RG_COUNT(runs)) return rg_tsv_fault(t, s->row, "runs", "core, gpu or alone");
    if (*seconds && !(s->seconds > 0))
        return rg_fail(RG_USAGE, "%s: line %d: expected seconds above 0 in %s", t->path, t->row_line[s->row], s->name);
    return rg_step_find(steps, s->name) != s ? rg_fail(RG_USAGE, "%s: line %d: expected a name of its own, found \"%s\" again",
                                                   t->path, t->row_line[s->row], s->name)
                                             : RG_GOOD;
}

static int add_step(rg_steps *steps, int row, const char *set) {
    const rg_tsv *t = &steps->table;
    rg_step s = {.row = row, .core = -1, .set = rg_print("%s", set)};
    int code = RG_GOOD;
    s.cell = rg_alloc((size_t)t->n_columns * sizeof *s.cell);
    for (int c = 0; c < t->n_columns; c++) {
        const char *text = rg_tsv_cell(t, row, t->column[c]);
        const bool as_it_is = !strcmp(t->column[c], "command") || !strcmp(t->column[c], "each");
        s.cell[c] = as_it_is ? rg_print("%s", text) : expand(t, t->row_line[row], text);
        if (!s.cell[c]) s.cell[c] = rg_print("%s", ""), code = RG_USAGE;
    }
    s.name = rg_step_cell(steps, &s, "name");
    s.needs = rg_step_cell(steps, &s, "needs");
    s.product = rg_step_cell(steps, &s, "product");
    s.command = rg_step_cell(steps, &s, "command");
    const char *seconds = rg_step_cell(steps, &s, "seconds"), *runs = rg_step_cell(steps, &s, "runs");
    s.seconds = *seconds ? strtod(seconds, NULL) : 0;
    s.runs = !strcmp(runs, "core") ? RG_RUNS_CORE : !strcmp(runs, "gpu") ? RG_RUNS_GPU : RG_RUNS_ALONE;
    steps->step = rg_grow(steps->step, steps->n, sizeof *steps->step);
    steps->step[steps->n++] = s;
    return code ? code : check_step(steps, &steps->step[steps->n - 1]);
}

// Adds a row for every value of each, with "A=1;B=2" already set.
static int add_each(rg_steps *steps, int row, const char *each, const char *set) {
    const rg_tsv *t = &steps->table;
    if (!*each) return add_step(steps, row, set);
    const size_t length = strcspn(each, ";"), at = strcspn(each, "=");
    if (at >= length) return rg_tsv_fault(t, row, "each", "VARIABLE=VALUES");
    RG_FREED char *raw = rg_print("%.*s", (int)(length - at - 1), each + at + 1), *values = expand(t, t->row_line[row], raw);
    int code = values ? RG_GOOD : RG_USAGE;
    for (char *rest = values, *value; !code && (value = strsep(&rest, " "));) {
        if (!*value) continue;
        RG_FREED char *names = rg_print("%.*s", (int)at, each), *more = rg_print("%s", set);
        for (char *rest_of = names, *name; (name = strsep(&rest_of, ":"));) {
            char *part = strsep(&value, ":"), *longer = rg_print("%s%s%s=%s", more, *more ? ";" : "", name, part ? part : "");
            free(more);
            more = longer;
        }
        set_variables(more);
        code = add_each(steps, row, each + length + (each[length] == ';'), more);
    }
    return code;
}

// ---- needs -----------------------------------------------------------------------------------------------------------------

bool rg_step_each_need(const rg_steps *steps, const rg_step *s, bool (*keep_on)(rg_step *, void *), void *of) {
    RG_FREED char *needs = rg_print("%s", s->needs);
    bool all = true;
    for (char *rest = needs, *need; all && (need = strsep(&rest, " "));) {
        if (!*need || strchr(need, '/')) continue;
        char *maybe = strchr(need, '?');
        if (maybe) *maybe = '\0';
        rg_step *of_need = rg_step_find(steps, need);
        if (!(maybe && of_need->absent)) all = keep_on(of_need, of);
    }
    return all;
}

static int check_needs(const rg_steps *steps) {
    int code = RG_GOOD;
    for (int i = 0; i < steps->n && !code; i++) {
        RG_FREED char *needs = rg_print("%s", steps->step[i].needs);
        for (char *rest = needs, *need; !code && (need = strsep(&rest, " "));) {
            RG_FREED char *name = rg_print("%.*s", (int)strcspn(need, "?"), need);
            if (*need && !strchr(need, '/') && !rg_step_find(steps, name))
                code = rg_fail(
                    RG_USAGE, "%s: %s needs \"%s\", which no step is called", steps->table.path, steps->step[i].name, need);
        }
    }
    return code;
}

// ---- the whole -------------------------------------------------------------------------------------------------------------

// Whether a row belongs to this run.
static bool is_meant(const rg_tsv *t, int row, int *code) {
    const char *when = rg_tsv_cell(t, row, "when"), *head = rg_tsv_head(t, "when");
    if (!*when || !head) return true;
    RG_FREED char *of = expand(t, t->row_line[row], head);
    const bool meant = of && fnmatch(when, of, 0) == 0;
    if (!of) *code = RG_USAGE;
    return meant;
}

int rg_steps_read(rg_steps *steps, const char *path) {
    *steps = (rg_steps){0};
    rg_tsv *t = &steps->table;
    int code = rg_tsv_read(path, t);
    if (code) return code;
    code = rg_tsv_needs(t, "kind name command");
    for (int row = 0; !code && row < t->n_rows; row++) {
        const char *kind = rg_tsv_cell(t, row, "kind");
        if (!is_meant(t, row, &code) || code) continue;
        code = !strcmp(kind, "let") ? let(t, row)
            : !strcmp(kind, "ask")  ? ask(t, row)
                                    : add_each(steps, row, rg_tsv_cell(t, row, "each"), "");
    }
    return code ? code : check_needs(steps);
}

char **rg_step_words(const rg_steps *steps, const rg_step *s, const char *more) {
    wordexp_t words;
    rg_step_set_variables(s);
    RG_FREED char *line = rg_print("%s%s", s->command, more);
    const int fault = wordexp(line, &words, WRDE_NOCMD | WRDE_UNDEF);
    if (fault) {
        rg_fail(RG_USAGE, "%s: line %d: expected words of a command and $variables, found \"%s\"", steps->table.path,
            steps->table.row_line[s->row], s->command);
        return NULL;
    }
    size_t bytes = 0;
    for (size_t i = 0; i < words.we_wordc; i++) bytes += strlen(words.we_wordv[i]) + 1;
    char **word = rg_alloc((words.we_wordc + 1) * sizeof *word + bytes), *to = (char *)(word + words.we_wordc + 1);
    for (size_t i = 0; i < words.we_wordc; i++) {
        word[i] = to;
        to = stpcpy(to, words.we_wordv[i]) + 1;
    }
    wordfree(&words);
    return word;
}

void rg_steps_free(rg_steps *steps) {
    for (int i = 0; i < steps->n; i++) {
        for (int c = 0; c < steps->table.n_columns; c++) free(steps->step[i].cell[c]);
        free(steps->step[i].cell);
        free(steps->step[i].set);
    }
    free(steps->step);
    rg_tsv_free(&steps->table);
    *steps = (rg_steps){0};
}
