// SPDX-License-Identifier: MIT
// options.c: parses a command line into a command's struct by the rows of options.h; prints --help and regather(1) from the
// same rows.
#include "options.h"
#include "malformed.h"
#include "memory.h"
#include "../suite.h"

static const rg_option common_options[] = {
    {"help", NULL, "print this and exit", RG_TO(rg_given, help)},
    {"quiet", NULL, "no progress line", RG_TO(rg_given, quiet)},
    {"seed", "N", "seed of every random choice; printed in every result", RG_TO(rg_given, seed), 0, INT64_MAX, "1"},
    {"threads", "N", "CPU threads", RG_TO(rg_given, threads), 1, 4096, .otherwise = "all that this process may use"},
    {"device", "NAME", "gpu, gpu0.. or host, the emulated GPU: where device variants run; cpu: without them",
        RG_TO(rg_given, device), 0, 0, "gpu"},
    {"plugin", "FILE.so", "load variants from a plug-in: code, which runs with your rights", RG_TO(rg_given, plugin)},
    {0},
};

static const rg_option job_options[] = {
    {"dry-run", NULL,
        "read the inputs and print the plan, its memory and the largest that fits, the kernels' times at the rates that `regather "
        "tune` measured here, and the files that would be written; write nothing",
        RG_TO(rg_given, dry_run)},
    {0},
};

static const rg_option page_options[] = {
    {"page", "FILE.html", "a page of what was done and found, with plots, as one file", RG_TO(rg_given, page),
        .endings = ".html", .otherwise = "beside --out, ending in .html; none where the environment has REGATHER_PAGE=no",
        .excludes = "no-page"},
    {"no-page", NULL, "write no page", RG_TO(rg_given, no_page)},
    {0},
};

const rg_option rg_computing_options[] = {
    {"gpus", "N", "GPUs that share the work", RG_TO(rg_computing, gpus), 1, 64, .otherwise = "all that --device names"},
    {"variant", "[ALGO:]NAME",
        "variant that computes, with parameters as NAME:block=128;...; for a job with several algorithms "
        "one for each; see regather list",
        RG_TO(rg_computing, variant)},
    {"gpu-memory", "SIZE",
        "use no more of each GPU's memory than this, as 16GiB or 512MiB: context, buffers, textures and work areas of "
        "transforms; also of the emulated GPU",
        RG_TO(rg_computing, gpu_memory), .otherwise = "REGATHER_GPU_MEMORY of the environment, else all that is free"},
    {0},
};

static int place(const rg_option *o, size_t at, rg_placed *placed, int n) {
    for (; o && o->name; o++) {
        if (o->kind == RG_GROUP) {
            n = place(o->group, at + o->at, placed, n);
            continue;
        }
        if (n == RG_OPTIONS_MAX) {
            rg_fail(RG_USAGE, "internal: more than %d options at --%s", RG_OPTIONS_MAX, o->name);
            abort();
        }
        placed[n++] = (rg_placed){o, at + o->at};
    }
    return n;
}

int rg_options_of(const rg_command *command, rg_placed placed[RG_OPTIONS_MAX]) {
    int n = place(command->option, 0, placed, 0);
    if (command->job) n = place(job_options, 0, placed, n);
    if (command->page) n = place(page_options, 0, placed, n);
    return place(common_options, 0, placed, n);
}

// ---- similar names -------------------------------------------------------------------------------------------------------

// The number of edits (a letter inserted, deleted or replaced, or two swapped) that turn the word into `name`; names are short.
static int edits(const char *word, int length, const char *name) {
    enum { LONGEST = 32 };
    int row[3][LONGEST + 1], *before = row[0], *last = row[1], *now = row[2], n = (int)strlen(name);
    if (n > LONGEST || length > LONGEST) return LONGEST;
    for (int j = 0; j <= n; j++) last[j] = j;
    for (int i = 1; i <= length; i++) {
        now[0] = i;
        for (int j = 1; j <= n; j++) {
            bool same = word[i - 1] == name[j - 1];
            int best = last[j - 1] + !same;
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && word[i - 1] == name[j - 2] && word[i - 2] == name[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        int *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[n];
}

// Up to a third of the letters may be wrong; a prefix counts as one edit.
void rg_nearer(const char *word, size_t length, const char *name, rg_near *near) {
    int n = (int)length, distance = n > 1 && !strncmp(word, name, length) ? 1 : edits(word, n, name);
    if (distance <= (n + 2) / 3 && (!near->name || distance < near->distance)) *near = (rg_near){name, distance};
}

const char *rg_near_words(const rg_near *near, const char *before, char text[96]) {
    snprintf(text, 96, near->name ? "did you mean %s%.60s? " : "", before, near->name);
    return text;
}

// ---- the command line ----------------------------------------------------------------------------------------------------

typedef struct parsing {
    const rg_command *command;
    int n_words, n_values, n_options;
    const char **word;
    rg_placed option[RG_OPTIONS_MAX];
    struct {
        const rg_option *option;
        const char *text;
    } * value;
    char *options; // the command's struct
} parsing;

static const rg_placed *option_named(const parsing *p, const char *name, size_t length) {
    for (int i = 0; i < p->n_options; i++)
        if (strlen(p->option[i].option->name) == length && !strncmp(p->option[i].option->name, name, length))
            return &p->option[i];
    return NULL;
}

// The last text given for this option; NULL: none.
static const char *typed(const parsing *p, const char *name) {
    const char *text = NULL;
    for (int i = 0; i < p->n_values; i++)
        if (!strcmp(p->value[i].option->name, name)) text = p->value[i].text;
    return text;
}

static int unknown_option(const parsing *p, const char *name, size_t length) {
    const char *command = p->command->name;
    char words[96];
    rg_near near = {0};
    for (const rg_command *const *kind = p->command->of ? p->command->of->kind : NULL; kind && *kind; kind++)
        for (const rg_option *o = (*kind)->option; o->name; o++)
            if (strlen(o->name) == length && !strncmp(o->name, name, length))
                return rg_fail(RG_USAGE, "%s: takes no --%s (see 'regather %s --help')", command, o->name, command);
    for (int i = 0; i < p->n_options; i++) rg_nearer(name, length, p->option[i].option->name, &near);
    return rg_fail(RG_USAGE, "%s: unknown option --%.*s; %ssee 'regather %s --help'", command, (int)length, name,
        rg_near_words(&near, "--", words), command);
}

// ---- values --------------------------------------------------------------------------------------------------------------

// Writes " from 1 to 8 pixels". A bound beyond `telling` is a machine limit and is not shown.
static void print_range(const rg_option *o, long double telling, char text[96]) {
    const char *unit = o->unit ? o->unit : "", *blank = *unit ? " " : "";
    text[0] = '\0';
    if (fabsl(o->high) <= telling)
        snprintf(text, 96, " from %.15Lg to %.15Lg%s%s", o->low, o->high, blank, unit);
    else if (fabsl(o->low) <= telling)
        snprintf(text, 96, " from %.15Lg%s%s on", o->low, blank, unit);
}

static int expected(const rg_option *o, const char *what, const char *text) {
    char range[96];
    print_range(o, 1e15L, range);
    return rg_fail(RG_USAGE, "--%s: expected %s%s, found \"%s\"", o->name, what, range, text);
}

static int put_pair(const rg_option *o, const char *text, double pair[2]) {
    const char mark = o->arg[strcspn(o->arg, ":,")];
    char *end;
    pair[0] = pair[1] = strtod(text, &end);
    if (end != text && *end == mark) {
        const char *second = end + 1;
        pair[1] = strtod(second, &end);
        if (end == second) end = rg_unconst(text);
    }
    bool good = end != text && !*end;
    for (int i = 0; i < 2; i++) good = good && pair[i] >= o->low && pair[i] <= o->high;
    return good ? RG_GOOD : expected(o, mark == ':' ? "two numbers, A:B," : "two numbers, A,B,", text);
}

// Returns "a|b|c" as "a, b or c".
static char *listed(const char *words) {
    char *text = rg_alloc(2 * strlen(words) + 4), *last = strrchr(words, '|'), *to = text;
    for (const char *at = words; *at; at++) to += sprintf(to, *at != '|' ? "%c" : at == last ? " or " : ", ", *at);
    return text;
}

// The index of the word in "a|b|c"; -1: it is not there.
static int word_in(const char *words, const char *word, size_t length) {
    int which = 0;
    for (const char *at = words;; at++, which++) {
        const size_t n = strcspn(at, "|");
        if (n == length && !strncmp(at, word, n)) return which;
        if (!*(at += n)) return -1;
    }
}

static int put_words(const rg_option *o, const char *text, void *to) {
    int which = -1;
    for (const char *at = text; *at;) {
        const size_t n = o->kind == RG_CHOICES ? strcspn(at, ",") : strlen(at);
        if ((which = word_in(o->arg, at, n)) < 0) break;
        if (o->kind == RG_CHOICES)
            ((rg_mask *)to)->bits |= UINT32_C(1) << which;
        else
            *(int *)to = which;
        at += n + (at[n] == ',');
    }
    if (which >= 0) return RG_GOOD;
    RG_FREED char *words = listed(o->arg);
    rg_fail(RG_USAGE, "--%s: expected %s, found \"%s\"", o->name, words, text);
    return RG_USAGE;
}

static int put_value(const rg_option *o, const char *text, void *to) {
    char *end;
    errno = 0;
    switch (o->kind) {
    case RG_FLAG: *(bool *)to = true; return RG_GOOD;
    case RG_INTEGER: {
        const long long n = strtoll(text, &end, 10);
        *(int64_t *)to = n;
        const bool good = !errno && end != text && !*end && n >= o->low && n <= o->high;
        return good ? RG_GOOD : expected(o, "a whole number", text);
    }
    case RG_REAL: {
        const double v = *(double *)to = strtod(text, &end);
        return end != text && !*end && v >= o->low && v <= o->high ? RG_GOOD : expected(o, "a number", text);
    }
    case RG_PAIR: return put_pair(o, text, to);
    case RG_TEXT: *(const char **)to = text; return RG_GOOD;
    case RG_TEXTS: {
        rg_list *list = to;
        const char **more = rg_alloc((size_t)(list->n + 1) * sizeof *more);
        for (int i = 0; i < list->n; i++) more[i] = list->item[i];
        more[list->n++] = text;
        free(list->item);
        list->item = more;
        return RG_GOOD;
    }
    case RG_CHOICE:
    case RG_CHOICES: return put_words(o, text, to);
    case RG_GROUP: // its options have their own places
        break;
    }
    return RG_GOOD;
}

static void put_standard(const rg_option *o, void *to) {
    if (o->standard) {
        if (put_value(o, o->standard, to) != RG_GOOD) abort(); // reported: the default is not an allowed value
    } else if (o->kind == RG_REAL || o->kind == RG_PAIR) {
        for (int i = 0; i < (o->kind == RG_PAIR ? 2 : 1); i++) ((double *)to)[i] = NAN;
    } else if (o->kind == RG_CHOICE) {
        *(int *)to = -1;
    }
}

int rg_option_within(const char *name, double *value, double standard, double low, double high) {
    char text[32];
    if (isnan(*value)) *value = standard;
    snprintf(text, sizeof text, "%.15g", *value);
    return *value >= low && *value <= high ? RG_GOOD
                                           : expected(&(rg_option){.name = name, .low = low, .high = high}, "a number", text);
}

int rg_given_words(const rg_given *g, char *text, size_t size) {
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < g->word.n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", g->word.item[i]);
    return used < size ? RG_GOOD : rg_fail(RG_USAGE, "expected words of %zu characters together, found more", size - 1);
}

int rg_computing_variant(const rg_computing *c, const char *algo, const char **variant) {
    const size_t n = strlen(algo);
    *variant = c->variant.n ? c->variant.item[0] : NULL;
    if (c->variant.n > 1)
        return rg_fail(RG_USAGE, "--variant: only %s computes here: expected one variant, found %d", algo, c->variant.n);
    if (*variant && !strncmp(*variant, algo, n) && (*variant)[n] == ':') *variant += n + 1;
    return RG_GOOD;
}

int rg_computing_gpus(const rg_computing *c, int there, int *gpus) {
    *gpus = c->gpus ? (int)c->gpus : there;
    if (c->gpus && !there) return rg_fail(RG_USAGE, "--gpus %d: the chosen variants compute on the CPU", *gpus);
    return *gpus <= there ? RG_GOOD : rg_fail(RG_LACKS, "--gpus %d: a process of this job can use %d here", *gpus, there);
}

// ---- arguments -----------------------------------------------------------------------------------------------------------

static int take_option(parsing *p, int argc, char **argv, int *i) {
    const char *command = p->command->name, *name = argv[*i] + 2;
    const size_t length = strcspn(name, "=");
    const rg_placed *placed = option_named(p, name, length);
    if (!placed) return unknown_option(p, name, length);
    const rg_option *o = placed->option;
    if (o->kind != RG_TEXTS && o->kind != RG_CHOICES && typed(p, o->name))
        return rg_fail(RG_USAGE, "%s: --%s given twice", command, o->name);
    const char *text = name[length] == '=' ? name + length + 1 : NULL;
    if (!o->arg && text) return rg_fail(RG_USAGE, "%s: --%s takes no value", command, o->name);
    if (o->arg && !text) {
        if (*i + 1 >= argc) return rg_fail(RG_USAGE, "%s: --%s needs a value: --%s %s", command, o->name, o->name, o->arg);
        text = argv[++*i];
    }
    const bool first = !typed(p, o->name);
    p->value[p->n_values].option = o;
    p->value[p->n_values++].text = text ? text : "";
    if (first && o->kind == RG_CHOICES)
        *(rg_mask *)(void *)(p->options + placed->at) = (rg_mask){0}; // these replace the default
    return put_value(o, text, p->options + placed->at);
}

static int take_words(parsing *p, int argc, char **argv) {
    bool words_only = false;
    for (int i = 1; i < argc; i++) // tables, STAR files and logs cannot hold such a name
        for (const char *at = argv[i]; *at; at++)
            if ((unsigned char)*at < 32 || *at == 127)
                return rg_fail(RG_USAGE, "%s: expected words without control bytes (line ends, tabs, escapes), found \"%s\"",
                    p->command->name, argv[i]);
    for (int i = 1; i < argc; i++) {
        if (!words_only && !strcmp(argv[i], "--")) {
            words_only = true;
        } else if (!words_only && !strcmp(argv[i], "-h")) {
            argv[i] = (char *)"--help";
            i--;
        } else if (!words_only && !strncmp(argv[i], "--", 2)) {
            int code = take_option(p, argc, argv, &i);
            if (code) return code;
        } else if (!words_only && argv[i][0] == '-' && argv[i][1]) {
            return rg_fail(
                RG_USAGE, "%s: unknown option %s; see 'regather %s --help'", p->command->name, argv[i], p->command->name);
        } else {
            p->word[p->n_words++] = argv[i];
        }
    }
    return RG_GOOD;
}

// "A.mrc B.mrc": two words; "[ALGO]": none or one; "PHOTO...": one or more.
static int check_words(const parsing *p) {
    const char *words = p->command->words, *name = p->command->name;
    int least = 0, most = 0;
    for (const char *at = words; *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        least += *at != '[';
        most = n > 3 && !strncmp(at + n - 3, "...", 3) ? INT32_MAX : most + 1;
        at += n;
    }
    if (p->n_words < least)
        return rg_fail(RG_USAGE, "%s: expected %s, found %s (see 'regather %s --help')", name, words,
            p->n_words ? p->word[0] : "nothing", name);
    if (p->n_words > most)
        return rg_fail(RG_USAGE, "%s: expected %s, found \"%s\" too (see 'regather %s --help')", name,
            *words ? words : "options alone", p->word[most], name);
    return RG_GOOD;
}

static int check_needs(const parsing *p, const rg_option *o) {
    const char *needs = o->needs, *command = p->command->name;
    const size_t length = strcspn(needs, "="), bytes = strlen(needs);
    if (*needs == '.') {
        const size_t n = strlen(p->word[0]);
        return n > bytes && !strcmp(p->word[0] + n - bytes, needs)
            ? RG_GOOD
            : rg_fail(RG_USAGE, "%s: --%s goes with a %s file only", command, o->name, needs);
    }
    const rg_option *other = option_named(p, needs, length)->option;
    const char *text = typed(p, other->name);
    if (!needs[length])
        return text ? RG_GOOD
                    : rg_fail(RG_USAGE, "%s: --%s needs --%s%s%s too", command, o->name, other->name, other->arg ? " " : "",
                          other->arg ? other->arg : "");
    return !strcmp(text ? text : other->standard, needs + length + 1)
        ? RG_GOOD
        : rg_fail(RG_USAGE, "%s: --%s goes with --%s %s only", command, o->name, other->name, needs + length + 1);
}

// An output whose extension names another format would be misread later, or not read at all.
static int check_ending(const parsing *p, const rg_option *o) {
    const char *text = typed(p, o->name);
    const size_t length = strlen(text);
    for (const char *at = o->endings; *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        if (length > n && !strncmp(text + length - n, at, n)) return RG_GOOD;
        at += n;
    }
    return rg_fail(RG_USAGE, "%s: --%s %s: expected a name that ends in %s, found %s", p->command->name, o->name, o->arg,
        o->endings, rg_quote_bytes(text, (int)length));
}

static int check_excludes(const parsing *p, const rg_option *o) {
    for (const char *at = o->excludes; *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        const rg_option *other = option_named(p, at, n)->option;
        if (typed(p, other->name))
            return rg_fail(RG_USAGE, "%s: --%s and --%s exclude each other", p->command->name, o->name, other->name);
        at += n;
    }
    return RG_GOOD;
}

// If a job lacks an option, a missing input is reported first: it comes first on the line.
static int check_inputs(const parsing *p) {
    for (int i = 0; i < p->n_words && p->command->job; i++)
        if (access(p->word[i], R_OK) != 0) return rg_fail(RG_USAGE, "%s: cannot be read: %s", p->word[i], strerror(errno));
    return RG_GOOD;
}

static int check_all(const parsing *p) {
    int code = check_words(p);
    for (int i = 0; i < p->n_options && !code; i++) {
        const rg_option *o = p->option[i].option;
        if (o->required && !typed(p, o->name) && (code = check_inputs(p)) == RG_GOOD)
            code = rg_fail(RG_USAGE, "%s: --%s %s is needed (see 'regather %s --help')", p->command->name, o->name, o->arg,
                p->command->name);
    }
    for (int i = 0; i < p->n_values && !code; i++) {
        const rg_option *o = p->value[i].option;
        code = o->needs ? check_needs(p, o) : RG_GOOD;
        if (!code && o->endings) code = check_ending(p, o);
        if (!code && o->excludes) code = check_excludes(p, o);
    }
    return code;
}

// --gpu-memory applies to this process and those that it starts.
static int limit_gpu_memory(const parsing *p) {
    const char *option = typed(p, "gpu-memory"), *text = option ? option : getenv("REGATHER_GPU_MEMORY");
    double bytes;
    if (text && !rg_memory_size(text, &bytes))
        return rg_fail(
            RG_USAGE, "%s: expected a size such as 16GiB, found \"%s\"", option ? "--gpu-memory" : "REGATHER_GPU_MEMORY", text);
    return option && setenv("REGATHER_GPU_MEMORY", option, 1) ? rg_fail(RG_LACKS, "out of memory") : RG_GOOD;
}

static char *join(const char *name, int argc, char **argv) {
    char *line = NULL;
    size_t length;
    FILE *to = open_memstream(&line, &length);
    if (!to) rg_end(RG_LACKS, "out of memory");
    fprintf(to, "regather %s", name);
    for (int i = 1; i < argc; i++) { // for the heads of files: one line, whatever the names contain, that a shell can read
        putc(' ', to);
        rg_put_word(to, argv[i]);
    }
    fclose(to);
    return line;
}

int rg_options_parse(const rg_command *command, int argc, char **argv, void **options) {
    rg_given *given = *options = rg_alloc(command->bytes);
    parsing p = {.command = command,
        .options = *options,
        .word = rg_alloc((size_t)argc * sizeof *p.word),
        .value = rg_alloc((size_t)argc * sizeof *p.value)};
    p.n_options = rg_options_of(command, p.option);
    for (int i = 0; i < p.n_options; i++) put_standard(p.option[i].option, p.options + p.option[i].at);
    given->line = join(command->name, argc, argv);
    given->argv = argv;
    int code = take_words(&p, argc, argv);
    given->word = (rg_list){p.n_words, p.word};
    given->device_typed = typed(&p, "device");
    if (!code && !given->help) code = check_all(&p);
    if (!code) code = limit_gpu_memory(&p);
    free(p.value);
    return code;
}

void rg_options_free(const rg_command *command, void *options) {
    RG_FREED rg_given *given = options;
    rg_placed placed[RG_OPTIONS_MAX];
    for (int i = rg_options_of(command, placed); i-- > 0;)
        if (placed[i].option->kind == RG_TEXTS) free(((rg_list *)(void *)((char *)options + placed[i].at))->item);
    free(given->word.item);
    free(rg_unconst(given->line));
}

// ---- help and manual from the same rows ----------------------------------------------------------------------------------

// The text in brackets after `doc`, derived from the row; malloc'ed.
static char *doc_of(const rg_option *o) {
    char range[96] = "";
    if (o->kind == RG_INTEGER || o->kind == RG_REAL || o->kind == RG_PAIR) print_range(o, 1e6L, range);
    const char *const said[] = {o->required ? "needed" : "", *range ? range + 1 : "",
        o->standard || o->otherwise ? "default " : "", o->kind == RG_TEXTS || o->kind == RG_CHOICES ? "may be repeated" : ""};
    char *text = rg_print("%s", o->doc);
    const char *mark = " (";
    for (int i = 0; i < RG_COUNT(said); i++) {
        if (!*said[i]) continue;
        char *longer = rg_print("%s%s%s%s", text, mark, said[i], i != 2 ? "" : o->otherwise ? o->otherwise : o->standard);
        free(text);
        text = longer;
        mark = "; ";
    }
    char *whole = rg_print("%s%s", text, *mark == ';' ? ")" : "");
    free(text);
    return whole;
}

enum { LEFT = 29, WIDTH = 122 };

// Breaks lines at blanks so that they end before WIDTH; continued lines begin at LEFT.
static void print_wrapped(FILE *out, const char *text) {
    while (strlen(text) > WIDTH - LEFT) {
        int n = WIDTH - LEFT;
        while (n > 0 && text[n] != ' ') n--;
        if (!n) break;
        fprintf(out, "%.*s\n%*s", n, text, LEFT, "");
        text += n + 1;
    }
    fprintf(out, "%s\n", text);
}

static void print_options(const rg_placed *placed, int n, FILE *out) {
    for (int i = 0; i < n; i++) {
        const rg_option *o = placed[i].option;
        RG_FREED char *left = rg_print("  --%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : ""), *doc = doc_of(o);
        if (strlen(left) > LEFT - 1)
            fprintf(out, "%s\n%*s", left, LEFT, "");
        else
            fprintf(out, "%-*s", LEFT, left);
        print_wrapped(out, doc);
    }
}

// "PHOTO... --max-offset R --out DIR [options]"; malloc'ed.
static char *usage_of(const rg_command *c) {
    rg_placed placed[RG_OPTIONS_MAX];
    char *usage = rg_print("%s", c->kind ? "KIND" : c->words);
    const int n = rg_options_of(c, placed);
    for (int i = 0; i < n; i++)
        if (placed[i].option->required) {
            char *longer = rg_print("%s%s--%s %s", usage, *usage ? " " : "", placed[i].option->name, placed[i].option->arg);
            free(usage);
            usage = longer;
        }
    char *whole = rg_print("%s%s[options]", usage, *usage ? " " : "");
    free(usage);
    return whole;
}

void rg_command_help(const rg_command *c, FILE *out) {
    rg_placed placed[RG_OPTIONS_MAX];
    char *usage = usage_of(c);
    const int n = rg_options_of(c, placed), common = place(common_options, 0, (rg_placed[RG_OPTIONS_MAX]){0}, 0);
    fprintf(out, "regather %s: %s\n\nusage: regather %s %s\n\n", c->name, c->summary, c->name, usage);
    free(usage);
    if (c->help && *c->help) fprintf(out, "%s\n\n", c->help);
    for (const rg_command *const *kind = c->kind; kind && *kind; kind++)
        fprintf(out, "  %-24s %s\n%s", (*kind)->name, (*kind)->summary, kind[1] ? "" : "\n");
    if (c->kind) {
        fprintf(out, "'regather %s --help' explains each.\n", c->kind[0]->name);
        return;
    }
    if (n > common) fprintf(out, "options:\n");
    print_options(placed, n - common, out);
    fprintf(out, "%scommon options:\n", n > common ? "\n" : "");
    print_options(placed + n - common, common, out);
    fprintf(out,
        "\nexit: 0 good, 1 a check failed or something is slower, 2 bad usage or bad input, 3 unsure,\n"
        "      4 the machine lacks what was asked for\n");
}

// Prints text for troff: doubles backslashes and protects a dot or quote at the start of a line.
static void roff(FILE *out, const char *text) {
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\'')) fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
        line_start = *text == '\n';
    }
}

static void roff_options(const rg_placed *placed, int n, FILE *out) {
    for (int i = 0; i < n; i++) {
        const rg_option *o = placed[i].option;
        RG_FREED char *doc = doc_of(o);
        fprintf(out, ".TP\n\\fB\\-\\-");
        roff(out, o->name);
        fprintf(out, "\\fR%s%s%s\n", o->arg ? " \\fI" : "", o->arg ? o->arg : "", o->arg ? "\\fR" : "");
        roff(out, doc);
        fputc('\n', out);
    }
}

static void roff_command(const rg_command *c, FILE *out) {
    rg_placed placed[RG_OPTIONS_MAX];
    char *usage = usage_of(c);
    const int common = place(common_options, 0, placed, 0), n = rg_options_of(c, placed);
    fprintf(out, ".SS regather %s ", c->name);
    roff(out, usage);
    fputc('\n', out);
    roff(out, c->summary);
    fprintf(out, "\n.PP\n.nf\n");
    roff(out, c->help ? c->help : "");
    fprintf(out, "\n.fi\n");
    free(usage);
    roff_options(placed, n - common, out);
    for (const rg_command *const *kind = c->kind; kind && *kind; kind++) roff_command(*kind, out);
}

void rg_command_man(const rg_command *const *command, FILE *out) {
    rg_placed placed[RG_OPTIONS_MAX];
    fprintf(out,
        ".TH REGATHER 1 \"\" \"regather %s\" \"User Commands\"\n.SH NAME\nregather \\- GPU imaging kernels of four papers: "
        "reproduced, checked, timed, compared\n.SH SYNOPSIS\n.B regather\n.I COMMAND\n[options]\n.SH COMMANDS\n",
        RG_VERSION);
    for (const rg_command *const *c = command; *c; c++) roff_command(*c, out);
    fprintf(out, ".SH COMMON OPTIONS\n");
    roff_options(placed, place(common_options, 0, placed, 0), out);
    fprintf(out,
        ".SH EXIT STATUS\n0 good; 1 a check failed or something is slower; 2 bad usage or bad input; 3 unsure; "
        "4 the machine lacks what was asked for.\n");
}
