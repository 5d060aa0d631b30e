// SPDX-License-Identifier: MIT
// compare.c: the command `compare`: compares two result files row by row, by the interval of the ratio of medians and a gate.
#include "../../impl/runtime/table.h"
#include "../timing/timing.h"
#include "validate.h"
#include "compared.h"
#include "../stats/stats.h"

#include <wordexp.h>

typedef struct comparison {
    rg_given given;
    const char *gate_text, *out, *junit, *markdown;
    rg_list map;
    bool allow_missing;
    rg_result file[2];
    double gate;
    rg_compared of;
} comparison;

static const rg_option options[] = {
    {"gate", "G%", "a change smaller than this counts as none", RG_TO(comparison, gate_text), 0, 0, "5%"},
    {"map", "MINE=SIMD", "variant MINE of A is compared with variant SIMD of B", RG_TO(comparison, map)},
    {"allow-missing", NULL, "kernels of A that B lacks or skipped are no reason for exit 3", RG_TO(comparison, allow_missing)},
    {"out", "F.tsv", "write the verdicts as a table", RG_TO(comparison, out)},
    {"junit", "F.xml", "write them for tools that read JUnit's reports", RG_TO(comparison, junit)},
    {"markdown", "F.md", "write them for a pull request", RG_TO(comparison, markdown)},
    {0},
};

// Whether compare uses the row: not the probes, which describe the machine, nor the self-test.
static bool measured(const rg_row *row) { return !rg_row_is_probe(row) && !rg_row_is_self_test(row); }

// The meaning of the parameters on this machine: "threads=all" if there are as many threads as cores, "tuned" if the head lists
// them as tuned there.
static void parameters_as(const rg_result *f, const rg_row *row, char text[300]) {
    const char *params = row->cell[RG_C_PARAMS], *cores = rg_result_head(f, "cores"), *threads = "";
    int all = cores ? atoi(cores) : 0;
    size_t first = strncmp(params, "threads=", 8) ? 0 : strcspn(params, ";");
    if (first && all > 1 && atoi(params + 8) == all) threads = "threads=all";
    const char *rest = params + first + (first && params[first] == ';');
    RG_FREED char *key = rg_print("tuned %s:%s %s", row->cell[RG_C_ALGO], row->cell[RG_C_VARIANT], row->cell[RG_C_SHAPE]);
    const char *tuned = rg_result_head(f, key);
    snprintf(text, 300, "%.*s;%s", *threads ? (int)strlen(threads) : (int)first, *threads ? threads : params,
        *rest && tuned && !strcmp(tuned, rest) ? "tuned" : rest);
}

static bool alike(const rg_result *f, const rg_row *row, const rg_row *key, const char *params) {
    char its[300];
    rg_row as = *row;
    as.cell[RG_C_PARAMS] = key->cell[RG_C_PARAMS];
    if (!rg_row_same(&as, key)) return false;
    parameters_as(f, row, its);
    return !strcmp(its, params);
}

// Whether the parameters that both rows have are equal: each of two kernels may have some that the other lacks.
static bool same_where_both(const char *a, const char *b) {
    for (; *a; a += strcspn(a, ";"), a += *a == ';') {
        const size_t name = strcspn(a, "=;"), whole = strcspn(a, ";");
        const char *at = b;
        while (*at && (strncmp(at, a, name) || at[name] != '=')) at += strcspn(at, ";"), at += *at == ';';
        if (*at && (strcspn(at, ";") != whole || strncmp(at, a, whole))) return false;
    }
    return true;
}

// The row of f that matches `key` in `of`: by the meaning of its parameters on each machine, else by their values; for another
// kernel (--map), by the values of the parameters that both have.
static const rg_row *find(const rg_result *f, const rg_result *of, const rg_row *key, bool mapped) {
    char params[300];
    parameters_as(of, key, params);
    for (int i = 0; i < f->n_rows; i++)
        if (alike(f, &f->row[i], key, params)) return &f->row[i];
    for (int i = 0; i < f->n_rows; i++)
        if (rg_row_same(&f->row[i], key)) return &f->row[i];
    for (int i = 0; i < f->n_rows && mapped; i++) {
        rg_row as = f->row[i];
        as.cell[RG_C_PARAMS] = key->cell[RG_C_PARAMS];
        if (rg_row_same(&as, key) && same_where_both(f->row[i].cell[RG_C_PARAMS], key->cell[RG_C_PARAMS])) return &f->row[i];
    }
    return NULL;
}

// The partner, in the other file, of a row of file `of`.
static const rg_row *partner(const comparison *c, int of, const rg_row *key) {
    bool mapped = false;
    for (int i = 0; i < c->map.n && !mapped; i++) mapped = !strcmp(strchr(c->map.item[i], '=') + 1, key->cell[RG_C_VARIANT]);
    return find(&c->file[!of], &c->file[of], key, mapped);
}

// ---- what must not be mixed ------------------------------------------------------------------------------------------------

static int check_heads(const comparison *c) {
    for (int i = 0; i < c->file[0].n_head; i++) {
        const char *key = c->file[0].head_key[i], *other = rg_result_head(&c->file[1], key);
        // Inputs of a job (", " in rg_input_key) are made on each machine and may differ in a rounding: its rows say so.
        if (!strncmp(key, "input ", 6) && !strstr(key, ", ") && other && strcmp(other, c->file[0].head_value[i]))
            return rg_fail(RG_USAGE, "compare: different inputs: %s is %s in %s, %s in %s (same --seed?)", key,
                c->file[0].head_value[i], c->file[0].path, other, c->file[1].path);
    }
    return RG_GOOD;
}

// A row without a partner whose twin in the other file differs only in the scope: the two files measure different things.
static int check_scopes(const comparison *c) {
    for (int i = 0; i < c->file[0].n_rows; i++) {
        const rg_row *a = &c->file[0].row[i];
        if (!measured(a) || partner(c, 0, a)) continue;
        for (int k = 0; k < c->file[1].n_rows; k++) {
            const rg_row *b = &c->file[1].row[k];
            rg_row as_a = *b;
            as_a.cell[RG_C_SCOPE] = a->cell[RG_C_SCOPE];
            as_a.cell[RG_C_MODE] = a->cell[RG_C_MODE];
            if (rg_row_same(&as_a, a) && strcmp(a->cell[RG_C_SCOPE], b->cell[RG_C_SCOPE]) && !partner(c, 1, b))
                return rg_fail(RG_USAGE, "compare: different scopes: %s:%s %s is timed as %s in %s, as %s in %s",
                    a->cell[RG_C_ALGO], a->cell[RG_C_VARIANT], a->cell[RG_C_SHAPE], a->cell[RG_C_SCOPE], c->file[0].path,
                    b->cell[RG_C_SCOPE], c->file[1].path);
        }
    }
    return RG_GOOD;
}

static int check_repeats(const rg_result *f) {
    for (int i = 0; i < f->n_rows; i++)
        if (find(f, f, &f->row[i], false) != &f->row[i])
            return rg_fail(RG_USAGE, "%s: expected each measurement once, found %s:%s %s %s twice", f->path,
                f->row[i].cell[RG_C_ALGO], f->row[i].cell[RG_C_VARIANT], f->row[i].cell[RG_C_SHAPE],
                f->row[i].cell[RG_C_PARAMS]);
    return RG_GOOD;
}

// ---- one row -------------------------------------------------------------------------------------------------------------

static void print_name(const rg_row *row, rg_change v) {
    printf("%s%-9s%s", rg_colour(stdout, rg_change_colour[v]), rg_change_name[v], rg_colour(stdout, "off"));
    rg_tsv_print(stdout, " %s:%s %s %s %s %s", row->cell[RG_C_ALGO], row->cell[RG_C_VARIANT], row->cell[RG_C_SHAPE],
        row->cell[RG_C_PARAMS], row->cell[RG_C_SCOPE], row->cell[RG_C_MODE]);
}

// Prints a word of a command that people copy into a shell: text from a file stays one word.
static void print_word(const char *option, const char *text, int most) {
    RG_FREED char *word = most < 0 ? rg_print("%s", text) : rg_print("%.*s", most, text);
    printf("%s ", option);
    rg_put_word(stdout, word);
}

// The first of these words that names a plug-in's file of that name and is readable here; NULL: none.
static char *plugin_among(const char *const *word, int n, const char *name) {
    for (int i = 0; i < n; i++) {
        char its[96];
        const char *path = word[i] + (strncmp(word[i], "--plugin=", 9) ? 0 : 9);
        rg_plugin_name(path, its);
        if (!strcmp(its, name) && !access(path, R_OK)) return rg_print("%s", path);
    }
    return NULL;
}

// A command in a file is data: one with words that a shell would expand is ignored.
static char *plugin_of_command(const rg_result *f, const char *name) {
    const char *command = rg_result_head(f, "command");
    wordexp_t words;
    if (!command || strpbrk(command, "$`*?[~") || wordexp(command, &words, WRDE_NOCMD)) return NULL;
    char *found = plugin_among((const char *const *)words.we_wordv, (int)words.we_wordc, name);
    wordfree(&words);
    return found;
}

// Rows and heads have no full paths: the folder is that of --plugin here, of the commands in the heads, or the current one.
static char *plugin_file(const comparison *c, const char *name) {
    char *found = plugin_among(c->given.plugin.item, c->given.plugin.n, name);
    for (int i = 1; i >= 0 && !found; i--) found = plugin_of_command(&c->file[i], name);
    return found ? found : plugin_among(&name, 1, name);
}

// The notes after the command.
static const char *print_plugin(const comparison *c, const rg_row *row) {
    const char *variant = row->cell[RG_C_VARIANT], *end = strstr(variant, ".so:"); // "mine.so:gather"
    if (!end) return "";
    RG_FREED char *name = rg_print("%.*s", (int)(end + 3 - variant), variant), *file = plugin_file(c, name);
    RG_FREED char *word = file ? rg_print("%s", file) : rg_print("FOLDER/%s", name);
    print_word(" --plugin", word, -1);
    const bool known = file != NULL;
    return known ? "" : ", FOLDER being where the plug-in lies, which the files do not say";
}

// The command that takes the missing samples: intervals shrink with the root of the time.
static void print_next_step(const comparison *c, const rg_row *row, const rg_ratio *r) {
    double width = (r->high - r->low) / 2, near = fmin(fabs(r->ratio - 1 - c->gate), fabs(r->ratio - 1 / (1 + c->gate)));
    double taken_s = rg_cell_number(row, RG_C_N) * rg_cell_number(row, RG_C_MEDIAN) / 1e9;
    double wanted = isfinite(width) ? pow(width / fmax(near, c->gate / 10), 2) * 1.5 : 10;
    if (near < c->gate / 10 && width < c->gate / 2)
        printf("          the change lies at the gate itself: choose another, as in --gate %.2g%%\n", 200 * c->gate);
    const char *params = row->cell[RG_C_PARAMS];
    if (!strcmp(row->cell[RG_C_SCOPE], "job")) {
        printf("          next, for both files: the command of its head (\"# command:\") with --rounds 20 --max-seconds %.0f\n",
            ceil(fmin(fmax(taken_s * wanted, 5), 3600)));
        return;
    }
    RG_FREED char *variant = rg_print("%s:%s", row->cell[RG_C_ALGO], row->cell[RG_C_VARIANT]);
    printf("          next, for both files: regather bench");
    print_word("", variant, -1);
    print_word(" --shape", row->cell[RG_C_SHAPE], -1);
    print_word(" --scope", row->cell[RG_C_SCOPE], -1);
    print_word(" --mode", row->cell[RG_C_MODE], -1);
    const char *behind = print_plugin(c, row);
    // On the host the first parameter is the number of threads; on a device all parameters belong to the variant.
    if (!strcmp(row->cell[RG_C_SPACE], "host") && !strncmp(params, "threads=", 8)) {
        printf(" --threads %d", atoi(params + 8));
        params += strcspn(params, ";");
        params += *params == ';';
    }
    for (; *params && *params != '-'; params += strcspn(params, ";"), params += *params == ';')
        print_word(" --param", params, (int)strcspn(params, ";"));
    printf(" --rounds 20 --max-seconds %.0f --out F.tsv%s\n", ceil(fmin(fmax(taken_s * wanted, 5), 3600)), behind);
    for (int i = 0; i < c->map.n; i++) {
        const char *equals = strchr(c->map.item[i], '=');
        if (!strcmp(equals + 1, row->cell[RG_C_VARIANT]))
            printf("          for A it is %s:%.*s\n", row->cell[RG_C_ALGO], (int)(equals - c->map.item[i]), c->map.item[i]);
    }
}

static bool skipped(const rg_row *row) { return !strcmp(row->cell[RG_C_STATUS], "SKIP"); }

// A pair in which at most one row has times. A row that could not run on one machine is no fault; one that failed where it had
// passed is worse than slower; one that never passed is no news.
static rg_change compare_untimed(const rg_row *a, const rg_row *b, char why[RG_WHY]) {
    const bool in_b = rg_row_is_timed(b);
    if (!rg_row_is_timed(a) && !in_b) return RG_CHANGES;
    rg_change v = in_b ? RG_ONLY_B : skipped(b) ? RG_ONLY_A : RG_BROKEN;
    const rg_row *untimed = in_b ? a : b;
    char reason[RG_REASON];
    rg_row_reason(untimed, reason);
    snprintf(why, RG_WHY, "%s in %s: %s", untimed->cell[RG_C_STATUS], in_b ? "A" : "B", reason);
    print_name(b, v);
    rg_tsv_print(stdout, ": %s\n", why);
    return v;
}

// Whether the heads of both files name the inputs of these rows, and they differ.
static bool inputs_differ(const comparison *c, const rg_row *row) {
    RG_FREED char *key = rg_input_key(row);
    const char *a = rg_result_head(&c->file[0], key), *b = rg_result_head(&c->file[1], key);
    return a && b && strcmp(a, b);
}

static rg_change compare_rows(const comparison *c, const rg_row *a, const rg_row *b, rg_ratio *ratio, char why[RG_WHY]) {
    if (!rg_row_is_timed(a) || !rg_row_is_timed(b)) return compare_untimed(a, b, why);
    if (inputs_differ(c, b)) {
        snprintf(why, RG_WHY, "the job was given other inputs");
        print_name(b, RG_UNDECIDED);
        printf(": %s; copy them from one machine to the other, and time it there again\n", why);
        return RG_UNDECIDED;
    }
    rg_samples of_a = rg_row_samples(a), of_b = rg_row_samples(b);
    rg_ratio r = rg_ratio_of_medians(&of_b, &of_a, c->given.seed);
    const bool one = of_a.processes < 2 || of_b.processes < 2;
    if (one) rg_ratio_widen(&r);
    rg_samples_free(&of_a);
    rg_samples_free(&of_b);
    const rg_confounder confounder = rg_confounder_find(&c->file[0], a, &c->file[1], b);
    const rg_change v = rg_confounder_judge(&confounder, &r, c->gate);
    const bool confounded = v != rg_gate_judge(&r, c->gate);
    *ratio = r;
    char time_a[32], time_b[32];
    rg_duration(rg_cell_number(a, RG_C_MEDIAN), time_a);
    rg_duration(rg_cell_number(b, RG_C_MEDIAN), time_b);
    print_name(b, v);
    printf(": %s -> %s, %.4g [%.4g, %.4g]%s\n", time_a, time_b, r.ratio, r.low, r.high, one ? ", one process" : "");
    if (confounded) {
        snprintf(why, RG_WHY, "%s", confounder.why);
        rg_tsv_print(stdout, "          %s: that may be all of it; \"regather duel\" lets both run by turns\n", why);
    } else if (v == RG_UNDECIDED) {
        print_next_step(c, b, &r);
    }
    if (c->map.n && strcmp(a->cell[RG_C_PARAMS], b->cell[RG_C_PARAMS])) {
        RG_FREED char *params =
            rg_print("%s%sparameters of A %s, of B %s", why, *why ? "; " : "", a->cell[RG_C_PARAMS], b->cell[RG_C_PARAMS]);
        rg_tsv_print(stdout, "          %s\n", params + (*why ? strlen(why) + 2 : 0));
        snprintf(why, RG_WHY, "%s", params);
    }
    return v;
}

// ---- the command ---------------------------------------------------------------------------------------------------------

static void note(comparison *c, rg_change word, const rg_row *a, const rg_row *b, rg_ratio ratio, const char *why) {
    rg_pair_of_rows *p = &c->of.pair[c->of.n++];
    *p = (rg_pair_of_rows){word, a, b, ratio, ""};
    snprintf(p->why, sizeof p->why, "%s", why);
    c->of.count[word]++;
}

static void compare_all(comparison *c) {
    const rg_ratio none = {NAN, NAN, NAN};
    c->of.pair = rg_alloc((size_t)(c->file[0].n_rows + c->file[1].n_rows + 1) * sizeof *c->of.pair);
    RG_FREED bool *paired = rg_alloc((size_t)c->file[0].n_rows + 1);
    for (int i = 0; i < c->file[1].n_rows; i++) {
        const rg_row *b = &c->file[1].row[i], *a = partner(c, 1, b);
        rg_ratio ratio = none;
        char why[RG_WHY] = "";
        if (!measured(b)) continue;
        if (a) paired[a - c->file[0].row] = true;
        if (!a) print_name(b, RG_ONLY_B), putchar('\n');
        rg_change v = a ? compare_rows(c, a, b, &ratio, why) : RG_ONLY_B;
        if (v < RG_CHANGES) note(c, v, a, b, ratio, why);
    }
    // Rows that were never timed are not missing. With --map, several rows may share a partner if the parameters differ.
    for (int i = 0; i < c->file[0].n_rows; i++) {
        const rg_row *a = &c->file[0].row[i], *b = partner(c, 0, a);
        rg_ratio ratio = none;
        char why[RG_WHY] = "no such row in B";
        if (!measured(a) || paired[i] || !rg_row_is_timed(a) || (b && !c->map.n)) continue;
        if (!b) print_name(a, RG_ONLY_A), printf(": %s\n", why);
        rg_change v = b ? (*why = '\0', compare_rows(c, a, b, &ratio, why)) : RG_ONLY_A;
        if (v < RG_CHANGES) note(c, v, a, b, ratio, why);
    }
}

// Whether the files are of two machines, two commits, or the same twice; and whether kernels changed between them.
static char *title(const comparison *c) {
    const char *said[2][2], *const key[] = {"machine", "revision"};
    int kernels = 0, changed = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 2; i++) {
            said[k][i] = rg_result_head(&c->file[i], key[k]);
            said[k][i] = said[k][i] ? said[k][i] : "unknown";
        }
    for (int i = 0; i < c->file[0].n_head; i++) {
        const char *other =
            strncmp(c->file[0].head_key[i], "source ", 7) ? NULL : rg_result_head(&c->file[1], c->file[0].head_key[i]);
        kernels += other != NULL;
        changed += other && strcmp(other, c->file[0].head_value[i]);
    }
    RG_FREED char *sources = kernels
        ? rg_print("; the source of %d of %d kernel%s changed", changed, kernels, rg_plural(kernels))
        : rg_print("%s", "");
    const bool machines = strcmp(said[0][0], said[0][1]), commits = strcmp(said[1][0], said[1][1]);
    char *text = machines && commits ? rg_print("two machines and two commits: A %s, %s; B %s, %s%s", said[0][0], said[1][0],
                                           said[0][1], said[1][1], sources)
        : machines ? rg_print("two machines at commit %s: A %s, B %s%s", said[1][0], said[0][0], said[0][1], sources)
        : commits  ? rg_print("two commits on %s: A %s, B %s%s", said[0][0], said[1][0], said[1][1], sources)
                   : rg_print("two runs of commit %s on %s%s", said[1][0], said[0][0], sources);
    return text;
}

static char *extreme(const comparison *c, rg_change word, const char *what) {
    const rg_pair_of_rows *found = NULL;
    for (int i = 0; i < c->of.n; i++) {
        const rg_pair_of_rows *p = &c->of.pair[i];
        if (p->word == word && (!found || (word == RG_SLOWER) == (p->ratio.ratio > found->ratio.ratio))) found = p;
    }
    RG_FREED char *name = found ? rg_pair_name(found) : NULL;
    return found ? rg_print(" (%s %s, %.4g)", what, name, found->ratio.ratio) : rg_print("%s", "");
}

static char *summary(const comparison *c) {
    const int *n = c->of.count, compared = n[RG_SAME] + n[RG_FASTER] + n[RG_SLOWER] + n[RG_UNDECIDED] + n[RG_BROKEN];
    RG_FREED char *worst = extreme(c, RG_SLOWER, "worst"), *best = extreme(c, RG_FASTER, "best");
    RG_FREED char *gone = n[RG_ONLY_A] ? rg_print(", and %d of A %s not in B", n[RG_ONLY_A], n[RG_ONLY_A] > 1 ? "are" : "is")
                                       : rg_print("%s", "");
    char *text =
        rg_print("Of %d row%s B is slower in %d%s, faster in %d%s, the same in %d, not decided in %d, broken in %d%s", compared,
            rg_plural(compared), n[RG_SLOWER], worst, n[RG_FASTER], best, n[RG_SAME], n[RG_UNDECIDED], n[RG_BROKEN], gone);
    return text;
}

static int conclude(const comparison *c) {
    const int *n = c->of.count, compared = n[RG_SAME] + n[RG_FASTER] + n[RG_SLOWER] + n[RG_UNDECIDED];
    rg_tsv_print(stdout,
        "A %s, B %s, gate %.3g %%: %d same, %d faster, %d slower, %d unsure, %d broken, %d only in A, %d only in B\n",
        c->file[0].path, c->file[1].path, 100 * c->gate, n[RG_SAME], n[RG_FASTER], n[RG_SLOWER], n[RG_UNDECIDED], n[RG_BROKEN],
        n[RG_ONLY_A], n[RG_ONLY_B]);
    rg_tsv_print(stdout, "%s\n", c->of.summary);
    for (int i = 0; i < 2; i++)
        if (*rg_validate_lacks(&c->file[i]))
            rg_tsv_print(stdout, "%c is %s: rows are not held against them\n", "AB"[i], rg_validate_lacks(&c->file[i]));
    int code = c->out ? rg_compared_tsv(&c->of, c->out) : RG_GOOD;
    code = code || !c->junit ? code : rg_compared_junit(&c->of, c->junit);
    code = code || !c->markdown ? code : rg_compared_markdown(&c->of, c->markdown);
    if (code) return code;
    if (n[RG_SLOWER] || n[RG_BROKEN]) return RG_WRONG;
    if (!compared) return rg_fail(RG_USAGE, "compare: the files have no timed row in common");
    const bool missing = n[RG_ONLY_A] && !c->allow_missing;
    if (missing) printf("Exit 3 for what is not in B; --allow-missing takes that\n");
    return n[RG_UNDECIDED] || missing ? RG_UNSURE : RG_GOOD;
}

static void leave_out(rg_result *f, const char *variant) {
    int kept = 0;
    for (int i = 0; i < f->n_rows; i++)
        if (strcmp(f->row[i].cell[RG_C_VARIANT], variant))
            f->row[kept++] = f->row[i];
        else
            rg_row_free(&f->row[i]);
    f->n_rows = kept;
}

// --map: gives A's rows the names that B has for them, replacing the rows that had these names. The head stays as it is, since
// its hashes were checked before.
static int map_names(comparison *c) {
    for (int i = 0; i < c->map.n; i++) {
        const char *text = c->map.item[i], *equals = strchr(text, '=');
        int found = 0, in_b = 0;
        char words[96];
        rg_near near = {0};
        if (!equals || equals == text || !equals[1])
            return rg_fail(RG_USAGE, "--map: expected NAME=NAME, a variant of A and one of B, found \"%s\"", text);
        for (int k = 0; k < c->file[1].n_rows; k++) {
            const char *variant = c->file[1].row[k].cell[RG_C_VARIANT];
            in_b += !strcmp(variant, equals + 1);
            rg_nearer(equals + 1, strlen(equals + 1), variant, &near);
        }
        if (!in_b)
            return rg_fail(RG_USAGE, "--map: %s has no variant \"%s\"; %sits rows name them", c->file[1].path, equals + 1,
                rg_near_words(&near, "", words));
        if (strlen(equals + 1) != (size_t)(equals - text) || strncmp(text, equals + 1, (size_t)(equals - text)))
            leave_out(&c->file[0], equals + 1);
        for (int k = 0; k < c->file[0].n_rows; k++) {
            char **name = &c->file[0].row[k].cell[RG_C_VARIANT];
            if (strlen(*name) != (size_t)(equals - text) || strncmp(*name, text, (size_t)(equals - text))) continue;
            free(*name);
            *name = rg_print("%s", equals + 1);
            found++;
        }
        if (!found) return rg_fail(RG_USAGE, "--map: %s has no variant \"%.*s\"", c->file[0].path, (int)(equals - text), text);
    }
    return c->map.n ? check_repeats(&c->file[0]) : RG_GOOD;
}

static int read_files(comparison *c) {
    int code = RG_GOOD;
    for (int i = 0; i < 2 && !code; i++) {
        bool cut;
        code = rg_result_read(c->given.word.item[i], &c->file[i], &cut);
        if (!code && cut) rg_warn("%s: its last line is incomplete and ignored", c->file[i].path);
        if (!code) code = check_repeats(&c->file[i]);
        if (!code) code = rg_validate(&c->file[i]);
        if (!code) code = rg_result_say_edited(c->file[i].path);
    }
    return code;
}

static int run(void *typed) {
    comparison *c = typed;
    int code = rg_gate_read(c->gate_text, &c->gate);
    if (!code) code = read_files(c);
    for (int i = 0; !code && i < 3; i++) code = rg_file_can_write((const char *const[]){c->out, c->junit, c->markdown}[i]);
    if (!code) code = check_heads(c);
    if (!code) code = map_names(c);
    if (!code) code = check_scopes(c);
    if (!code) {
        c->of = (rg_compared){
            .path = {c->file[0].path, c->file[1].path}, .gate = c->gate, .allow_missing = c->allow_missing, .title = title(c)};
        rg_tsv_print(stdout, "%s\n", c->of.title);
        compare_all(c);
        c->of.summary = summary(c);
        code = conclude(c);
    }
    free(c->of.title);
    free(c->of.summary);
    free(c->of.pair);
    rg_result_free(&c->file[0]);
    rg_result_free(&c->file[1]);
    return code;
}

const rg_command rg_cmd_compare = {
    .name = "compare",
    .words = "A.tsv B.tsv",
    .summary = "is B the same as A, faster or slower, row by row",
    .help = "Compares the rows that two result files share: the ratio of medians B / A and its 95 % interval against\n"
            "the gate. SLOWER: the whole interval lies above 1 + gate. FASTER: it lies below 1 / (1 + gate). SAME: it\n"
            "lies between the two. UNSURE: it crosses one of them; the command that would decide is printed. BROKEN:\n"
            "the row passed in A and does not pass in B. Rows in only one file are listed. A row that was timed in A and\n"
            "is missing or skipped in B gives exit code 3, unless --allow-missing.\n\n"
            "Rows are paired by meaning: all threads of one machine with all threads of the other, parameters tuned on\n"
            "one with those tuned on the other. --map pairs variants of different names; their parameters may differ in\n"
            "those that only one of them has. The first line says whether two machines or two commits are compared, and\n"
            "how many kernels have changed sources. The last line is a summary.\n\n"
            "The intervals cover what changes between processes: Welch's t over the medians of the processes of both\n"
            "rows. A row of a single process (files before format 3) cannot show that. It is marked `one process`, and its\n"
            "interval is widened by 3 % on each side, the largest difference found between processes of equal kernels.\n"
            "With a gate below 3 % such a row is never SAME, and it is SLOWER or FASTER only beyond gate + 3 %.\n\n"
            "Each verdict is checked against what the files say of their machines: other processes on its cores, a\n"
            "throttled clock, probes of the same run at other rates. A difference that these can explain is UNSURE, with\n"
            "the reason. A larger difference, or one of the other sign, stands.\n\n"
            "Files that contradict themselves are refused, with one line a row: medians that do not follow from their\n"
            "samples, samples below the clock's step, times beyond the file's own probes, inputs or sources without a\n"
            "hash. Files from before these hashes are compared, and the last lines say so. A warning says that a file was\n"
            "edited (its last line is the sha256 of the others), or that its times lie between the clock's steps, as\n"
            "scaled times do. Neither proves anything: who edits a file can write a new sum and round the times. Where\n"
            "that matters, use `regather kit` with a nonce.\n\n"
            "Files of different inputs (hashes in the head), or with rows that differ only\n"
            "in scope are refused. A job with other inputs is UNSURE. Exit codes: 0 nothing is slower; 1 something is\n"
            "slower or broken; 2 the files cannot be compared; 3 unsure, or B lacks rows of A.",
    .option = options,
    .bytes = sizeof(comparison),
    .run = run,
};
