// SPDX-License-Identifier: MIT
// tune.c: the command `tune`. It makes the space of a variant's parameters; forks a process for the checker before anything
// else; opens the device; verifies and times configuration by configuration; times the best, the defaults and the published
// ones again in common rounds; and writes the files.
#include "tune.h"

static const rg_option options[] = {
    {"shape", "TEXT", "tune at this shape, as in s257,i52,o1,b19,k0", RG_TO(rg_tune, shape_text),
        .otherwise = "the first of the preset paper"},
    {"param", "NAME=VALUE[,VALUE...]", "fix a parameter to this value, or to one of these", RG_TO(rg_tune, kept)},
    {"search", "exhaustive|random|local", "the order", RG_TO(rg_tune, kind),
        .otherwise = "exhaustive, with --budget or --configs local"},
    {"budget", "S", "time for the search", RG_TO(rg_tune, budget_s), 0.001L, 1e6L, .unit = "seconds"},
    {"configs", "N", "configurations to try at most", RG_TO(rg_tune, configs), 1, INT32_MAX},
    {"energy", NULL, "measure the energy of a call of the best, too: 5 s more each", RG_TO(rg_tune, energy)},
    {"out", "F.tsv", "write the result file, a row a configuration; F.tsv.part while it grows", RG_TO(rg_tune, out)},
    {"resume", NULL, "go on with F.tsv.part, or with F.tsv, leaving out the configurations it has", RG_TO(rg_tune, resume),
        .needs = "out"},
    {"tuned", "DIR|none", "where the best configuration goes, in the file of this processor", RG_TO(rg_tune, tuned),
        .otherwise = "data/tuned"},
    {0},
};

static int read_entry(rg_tune *t) {
    const char *word = t->given.word.item[0];
    if (!strchr(word, ':')) return rg_fail(RG_USAGE, "tune: expected one ALGO:VARIANT, as in regather tune gridding:gather");
    if (!strcmp(t->given.device, "host"))
        return rg_fail(RG_LACKS, "tune: times of emulated variants (--device host) say nothing about a GPU");
    int code = rg_pattern_check(word, t->given.device);
    if (code) return code;
    t->entry = rg_entry_next(NULL, word, t->given.device);
    const char *lacks = rg_unavailable(t->entry);
    if (!lacks && t->entry->variant->space == RG_DEVICE && !strcmp(t->given.device, "cpu"))
        lacks = "it needs a GPU, and --device cpu was asked for";
    return lacks ? rg_fail(RG_LACKS, "tune: %s: %s", word, lacks) : RG_GOOD;
}

static int read_shape(rg_tune *t) {
    const rg_algo *algo = t->entry->algo;
    const char *text = t->shape_text;
    char why[160];
    if (text && !rg_shape_parse(algo, text, &t->shape, why)) return rg_fail(RG_USAGE, "--shape: %s", why);
    for (int i = 0; !text && i < algo->n_bench_shapes; i++)
        if (algo->bench_shape[i].preset == RG_PAPER) {
            t->shape = algo->bench_shape[i].shape;
            break;
        }
    t->shape.seed = t->given.seed;
    return RG_GOOD;
}

// The values of each parameter that --param names, a bit each; all if it names none.
static int read_among(const rg_tune *t, uint64_t *among) {
    const rg_variant *v = t->entry->variant;
    char why[160];
    bool named[RG_PARAMS_MAX] = {false};
    for (int k = 0; k < v->n_params; k++) among[k] = UINT64_MAX;
    for (int i = 0; i < t->kept.n; i++) {
        const char *given = t->kept.item[i], *at = given + strcspn(given, "=");
        do {
            const char *value = at + (*at != '\0');
            at = value + strcspn(value, ",");
            int64_t param[RG_PARAMS_MAX] = {0};
            RG_FREED char *one = rg_print("%.*s=%.*s", (int)strcspn(given, "="), given, (int)(at - value), value);
            const bool good = rg_params_set(v, one, param, why);
            for (int k = 0; k < v->n_params && good; k++)
                if (strlen(v->param[k].name) == strcspn(one, "=") && !strncmp(v->param[k].name, one, strcspn(one, "=")))
                    for (int j = 0; j < v->param[k].n_values; j++)
                        if (v->param[k].value[j] == param[k]) {
                            among[k] = (named[k] ? among[k] : 0) | UINT64_C(1) << j;
                            named[k] = true;
                        }
            if (!good) return rg_fail(RG_USAGE, "--param: %s", why);
        } while (*at);
    }
    return RG_GOOD;
}

static int read_space(rg_tune *t) {
    const rg_variant *v = t->entry->variant;
    uint64_t among[RG_PARAMS_MAX];
    const bool limited = t->configs || t->budget_s > 0;
    const rg_search_kind kind = t->kind >= 0 ? (rg_search_kind)t->kind : limited ? RG_SEARCH_LOCAL : RG_SEARCH_EXHAUSTIVE;
    const int code = read_among(t, among);
    const char *why =
        code ? NULL : rg_search_begin_among(&t->search, v, &t->shape, kind, (int)t->configs, t->given.seed, among);
    return why ? rg_fail(RG_USAGE, "tune: %s", why) : code;
}

static int read_options(rg_tune *t) {
    t->budget_s = fmax(0, t->budget_s); // NaN when it was not typed
    t->folder = !t->tuned ? rg_share_path("data/tuned") : strcmp(t->tuned, "none") ? rg_print("%s", t->tuned) : NULL;
    int code = read_entry(t);
    if (!code && t->given.threads > t->given.cores)
        code = rg_fail(RG_USAGE, "--threads: this process may use %d, found %d", (int)t->given.cores, (int)t->given.threads);
    t->threads = t->entry && t->entry->variant->flags & RG_THREADED ? rg_given_threads(&t->given) : 1;
    if (!code) code = read_shape(t);
    return code ? code : read_space(t);
}

static int open_all(rg_tune *t) {
    char why[200] = "", shape[96];
    int code = rg_out_begin(&t->file, t->out, t->resume);
    if (!code) code = rg_gate_open(&t->gate, t->entry, t->threads, t->given.device, t->given.seed);
    if (code) return code;
    if (t->entry->variant->space == RG_DEVICE && !(t->gpu = rg_device_open(t->given.device, why)))
        return rg_fail(RG_LACKS, "tune: %s", why);
    rg_head_make(&t->head, t->gpu, t->given.seed, t->given.line);
    rg_inputs_make(&t->in, t->entry->algo, &t->shape);
    rg_inputs_fill(&t->in, rg_bits(t->given.seed, 0));
    rg_shape_print(t->entry->algo, &t->shape, shape);
    RG_FREED char *key = rg_print("input %s %s", t->entry->algo->name, shape);
    rg_head_add(&t->head, key, "fnv1a %016llx", (unsigned long long)rg_inputs_hash(&t->in));
    rg_head_source(&t->head, t->entry);
    rg_head_add(&t->head, "search", "%s, %d configurations, %lld refused", rg_search_name[t->search.kind], t->search.n,
        (long long)t->search.refused);
    return rg_out_start(&t->file, &t->head);
}

static int write_all(rg_tune *t) {
    rg_tune_show(t, stdout);
    int code = rg_out_commit(&t->file);
    if (!code) code = rg_tune_store(t);
    if (!code && t->wrong)
        return rg_fail(RG_WRONG, "tune: %d configuration%s did not pass and %s no times", t->wrong, rg_plural(t->wrong),
            t->wrong > 1 ? "have" : "has");
    return code || rg_tune_best(t) ? code : rg_fail(RG_LACKS, "tune: no configuration could be timed here");
}

static int run(void *typed) {
    rg_tune *t = typed;
    t->gate = (rg_gate){.ask = -1, .answer = -1};
    int code = read_options(t);
    if (!code) {
        snprintf(t->named[0].name, sizeof t->named[0].name, "default");
        rg_params_standard(t->entry->variant, t->named[0].param);
        t->n_named = 1;
        code = rg_tune_read_presets(t);
    }
    if (!code) {
        rg_tune_show_space(t, stdout);
        code = open_all(t);
    }
    if (!code) code = rg_tune_screen(t);
    if (!code) code = rg_tune_finals(t);
    rg_gate_close(&t->gate);
    if (!code) code = write_all(t);
    rg_out_free(&t->file);
    rg_head_free(&t->head);
    if (t->in.algo) rg_inputs_free(&t->in);
    rg_search_end(&t->search);
    free(t->final);
    free(t->folder);
    for (int k = 0; k < RG_ARGS_MAX; k++) free(t->right[k]);
    return code;
}

const rg_command rg_cmd_tune = {
    .name = "tune",
    .words = "ALGO:VARIANT",
    .summary = "search a variant's parameters for the fastest; every one verified before it is timed",
    .help = "Tries combinations of the declared parameters of one variant at one shape. Combinations that the variant\n"
            "refuses are counted with their reasons. Each other one has to pass the checker at two small shapes before it\n"
            "is timed. The first one's outputs at the timed shape are compared with the reference, and those of the\n"
            "others, for the same inputs, with the first one's. A first look takes two visits of bench's sampler. Then the\n"
            "eight best, the defaults and the published configurations (impl/ALGO/presets.tsv) are timed in common rounds,\n"
            "and the table gives each as a percentage of the best, with its interval.\n\n"
            "--search exhaustive tries all. random draws combinations, none twice. local starts from the defaults, draws\n"
            "at random for a third of the budget, and then tries the neighbours of the best, those that differ in the\n"
            "fewest parameters first.\n\n"
            "--out has one row a configuration, in bench's format; --resume continues it. The best configuration goes to\n"
            "the file of this GPU or CPU in data/tuned. From then on it replaces the defaults wherever this variant runs\n"
            "at a shape nearest to it; a parameter on the command line overrides it. A file of another processor is\n"
            "ignored with a warning. `regather list` shows which values are in use.\n\n"
            "Exit codes: 0 good; 1 a configuration did not pass; 2 bad usage; 4 nothing could be timed here.",
    .option = options,
    .bytes = sizeof(rg_tune),
    .run = run,
};
