// SPDX-License-Identifier: MIT
#include "workload.h"

#include "../../impl/base/core.h"

#include <ctype.h>

const char *const rg_size_name[RG_SIZES] = {"small", "medium", "full"};
const double rg_size_s[RG_SIZES] = {600, 3600, 0};
static const char *const check_name[RG_CHECKS] = {"map", "poses", "transforms", "sums"};
static const char columns[] = "job weight command size units reference_s min_runs check tolerance input";
static const char *const commands[] = {"autocorr", "reconstruct", "search", "refine", "align", "average", NULL};

bool rg_name_good(const char *name) {
    const size_t n = strlen(name);
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '_' && *at != '-') return false;
    return n > 0 && n < 40;
}

const char *rg_words_fault(const char *words, bool peak) {
    for (const char *at = words; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr(" ._/,:=+*{}-", *at))
            return "words of letters, digits and ._/,:=+*{}- alone";
    if (strstr(words, "..")) return "no \"..\"";
    if (*words == '/' || strstr(words, " /") || strstr(words, "=/")) return "relative paths";
    if (!peak && strstr(words, "--plugin")) return "no --plugin, which is a peak run's";
    return NULL;
}

static int word_of(const char *text, const char *const *word, int n) {
    for (int i = 0; i < n; i++)
        if (word[i] && !strcmp(text, word[i])) return i;
    return -1;
}

static bool first_word_is(const char *text, const char *const *word) {
    for (; *word; word++)
        if (!strncmp(text, *word, strlen(*word)) && text[strlen(*word)] == ' ') return true;
    return false;
}

// Whether a word is a file's name that is neither an input nor the output: an archive's commands run where it is audited, and
// write nothing of their own choice there. Numbers have digits behind their dots.
static bool names_another_file(const char *words) {
    for (const char *at = words; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        const int n = (int)strcspn(at, " ");
        if (strncmp(at, "{in}/", 5) && strncmp(at, "{out}", 5))
            for (int i = 0; i < n; i++)
                if (at[i] == '/' || (at[i] == '.' && i + 1 < n && isalpha((unsigned char)at[i + 1]))) return true;
    }
    const char *out = strstr(words, "--out");
    return out && strstr(out + 1, "--out");
}

// Checks only the form of the text; whether the program accepts it shows when it runs.
static int read_words(const rg_tsv *t, int row, rg_work *w) {
    static const char *const phantom[] = {"phantom", NULL};
    w->job = rg_tsv_cell(t, row, "job");
    w->command = rg_tsv_cell(t, row, "command");
    w->input = rg_tsv_cell(t, row, "input");
    if (!rg_name_good(w->job)) return rg_tsv_fault(t, row, "job", "a name of at most 39 letters, digits, _ and -");
    if (rg_words_fault(w->command, false)) return rg_tsv_fault(t, row, "command", rg_words_fault(w->command, false));
    if (!first_word_is(w->command, commands) || !strstr(w->command, "{in}/") || !strstr(w->command, "--out {out}"))
        return rg_tsv_fault(
            t, row, "command", "autocorr, reconstruct, search, refine, align or average of {in}/... with --out {out}");
    if (names_another_file(w->command)) return rg_tsv_fault(t, row, "command", "no file but {in}/... and one --out {out}");
    if (names_another_file(w->input)) return rg_tsv_fault(t, row, "input", "no file");
    if (rg_words_fault(w->input, false) || !first_word_is(w->input, phantom) || strstr(w->input, "--out") ||
        strstr(w->input, "--seed"))
        return rg_tsv_fault(t, row, "input", "phantom KIND and options of it, without --out and --seed");
    return RG_GOOD;
}

static int read_numbers(const rg_tsv *t, int row, rg_work *w) {
    char *end;
    const char *reference = rg_tsv_cell(t, row, "reference_s"), *units = rg_tsv_cell(t, row, "units");
    const double runs = rg_tsv_number(t, row, "min_runs");
    const int check = word_of(rg_tsv_cell(t, row, "check"), check_name, RG_CHECKS);
    w->weight = rg_tsv_number(t, row, "weight");
    w->reference_s = rg_tsv_number(t, row, "reference_s");
    w->tolerance = rg_tsv_number(t, row, "tolerance");
    w->units = strtod(units, &end);
    w->unit = end + (*end == ':');
    if (!(w->weight > 0 && w->weight <= 1)) return rg_tsv_fault(t, row, "weight", "a number above 0, at most 1");
    if (!(w->units > 0 && w->units < 1e15) || *end != ':' || !rg_name_good(w->unit))
        return rg_tsv_fault(t, row, "units", "N:UNIT as in 400:images");
    if (*reference && !(w->reference_s > 0 && w->reference_s < 1e9))
        return rg_tsv_fault(t, row, "reference_s", "seconds, or -");
    if (!(runs >= RG_LEAST_RUNS && runs <= RG_MOST_RUNS) || runs != floor(runs))
        return rg_tsv_fault(t, row, "min_runs", "a whole number from 5 to 1000");
    if (check < 0) return rg_tsv_fault(t, row, "check", "map, poses, transforms or sums");
    if (!(w->tolerance > 0 && isfinite(w->tolerance))) return rg_tsv_fault(t, row, "tolerance", "a number above 0");
    w->min_runs = (int)runs;
    w->check = (rg_check)check;
    return RG_GOOD;
}

// Checks every row, and keeps those of one size.
static int read_rows(rg_workload *w, rg_size size) {
    const rg_tsv *t = &w->table;
    int code = rg_tsv_needs(t, columns);
    double sum = 0;
    for (int row = 0; row < t->n_rows && !code; row++) {
        rg_work work = {0};
        const int its = word_of(rg_tsv_cell(t, row, "size"), rg_size_name, RG_SIZES);
        code = read_words(t, row, &work);
        code = code ? code : read_numbers(t, row, &work);
        if (!code && its < 0) code = rg_tsv_fault(t, row, "size", "small, medium or full");
        if (code || its != (int)size) continue;
        if (rg_workload_find(w, work.job) >= 0) return rg_tsv_fault(t, row, "job", "every job once a size");
        if (w->n == RG_JOBS_MOST)
            return rg_fail(RG_USAGE, "%s: expected at most %d jobs a size, found more", t->path, RG_JOBS_MOST);
        for (work.input_of = 0; work.input_of < w->n && strcmp(w->job[work.input_of].input, work.input);) work.input_of++;
        sum += work.weight;
        w->job[w->n++] = work;
    }
    if (!code && !w->n) code = rg_fail(RG_USAGE, "%s: expected jobs of size %s, found none", t->path, rg_size_name[size]);
    if (!code && fabs(sum - 1) > 1e-6)
        code = rg_fail(RG_USAGE, "%s: expected weights of size %s that sum to 1, found %.6g", t->path, rg_size_name[size], sum);
    return code;
}

static int made(rg_workload *w, rg_size size, int code) {
    code = code ? code : read_rows(w, size);
    if (code)
        rg_tsv_free(&w->table);
    else if (!(w->title = rg_tsv_head(&w->table, "title")))
        w->title = rg_base_name(w->table.path);
    return code;
}

int rg_workload_read(const char *path, rg_size size, rg_workload *w) {
    *w = (rg_workload){0};
    return made(w, size, rg_tsv_read(path, &w->table));
}

int rg_workload_parse(const char *name, const char *text, size_t bytes, rg_size size, rg_workload *w) {
    *w = (rg_workload){0};
    return made(w, size, rg_tsv_parse(name, text, bytes, &w->table));
}

void rg_workload_free(rg_workload *w) { rg_tsv_free(&w->table); }

int rg_workload_find(const rg_workload *w, const char *job) {
    for (int i = 0; i < w->n; i++)
        if (!strcmp(w->job[i].job, job)) return i;
    return -1;
}
