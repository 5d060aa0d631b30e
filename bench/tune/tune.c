// SPDX-License-Identifier: MIT
// tune.c: the command `tune`. In order: the space of a variant's parameters; a process for the checker, forked before anything
// else; the device; then configuration by configuration, verified and timed; the best of them, the defaults and the published
// ones again in common rounds; and the files.
#include "tune.h"

#include "../../impl/runtime/cpu.h"
#include "../../impl/runtime/tuned.h"
#include "../compare/export.h"

#include <stdlib.h>
#include <string.h>

static const rg_option options[] = {
    {"shape", "TEXT", "tune at this shape, as in s257,i52,o1,b19,k0 (default: the first of the preset paper)", false},
    {"param", "NAME=VALUE", "keep a parameter at this value; may be repeated", true},
    {"search", "exhaustive|random|local", "the order (default exhaustive; with --budget or --configs local)", false},
    {"budget", "S", "stop the search after S seconds", false},
    {"configs", "N", "try at most N configurations", false},
    {"energy", NULL, "measure the energy of a call of the best too: 5 s more each", false},
    {"out", "F.tsv", "write the result file, a row a configuration; F.tsv.part while it grows", false},
    {"resume", NULL, "go on with F.tsv.part, or with F.tsv, leaving out the configurations it has", false},
    {"t4", "F.json", "write the result file as the auto-tuners' T4 JSON too (needs --out)", false},
    {"tuned", "DIR|none", "where the best configuration goes, in the file of this processor (default: data/tuned)", false},
    {NULL, NULL, NULL, false},
};

static int read_search(const rg_cli *cli, bool limited, rg_search_kind *kind)
{
    const char *text = rg_cli_text(cli, "search", limited ? "local" : "exhaustive");
    for (int i = 0; i < RG_SEARCHES; i++)
        if (!strcmp(text, rg_search_name[i])) {
            *kind = (rg_search_kind)i;
            return RG_GOOD;
        }
    return rg_fail(RG_USAGE, "--search: expected exhaustive, random or local, found \"%s\"", text);
}

static int read_entry(const rg_cli *cli, rg_tune *t)
{
    const char *word = rg_cli_word(cli, 0);
    if (rg_cli_count(cli) != 1 || !strchr(word, ':'))
        return rg_fail(RG_USAGE, "tune: expected one ALGO:VARIANT, as in regather tune gridding:gather");
    if (!strcmp(t->device, "host"))
        return rg_fail(RG_LACKS, "tune: times of emulated variants (--device host) say nothing about a GPU");
    int code = rg_pattern_check(word, t->device);
    if (code)
        return code;
    t->entry = rg_entry_next(NULL, word, t->device);
    if (!t->entry->variant->n_params)
        return rg_fail(RG_USAGE, "tune: %s has no parameters", word);
    const char *lacks = rg_unavailable(t->entry);
    if (!lacks && t->entry->variant->space == RG_DEVICE && !strcmp(t->device, "cpu"))
        lacks = "it needs a GPU, and --device cpu was asked for";
    return lacks ? rg_fail(RG_LACKS, "tune: %s: %s", word, lacks) : RG_GOOD;
}

static int read_shape(const rg_cli *cli, rg_tune *t)
{
    const rg_algo *algo = t->entry->algo;
    const char *text = rg_cli_text(cli, "shape", NULL);
    char why[160];
    if (text && !rg_shape_parse(algo, text, &t->shape, why))
        return rg_fail(RG_USAGE, "--shape: %s", why);
    for (int i = 0; !text && i < algo->n_bench_shapes; i++)
        if (algo->bench_shape[i].preset == RG_PAPER) {
            t->shape = algo->bench_shape[i].shape;
            break;
        }
    t->shape.seed = t->seed;
    return RG_GOOD;
}

// Parameters that --param keeps.
static int read_fixed(const rg_cli *cli, const rg_variant *v, bool *fixed, int64_t *like)
{
    char why[160];
    const char *given;
    for (int i = 0; (given = rg_cli_nth(cli, "param", i)); i++) {
        if (!rg_params_set(v, given, like, why))
            return rg_fail(RG_USAGE, "--param: %s", why);
        for (int k = 0; k < v->n_params; k++)
            fixed[k] |= strlen(v->param[k].name) == strcspn(given, "=") &&
                        !strncmp(given, v->param[k].name, strcspn(given, "="));
    }
    return RG_GOOD;
}

static int read_space(const rg_cli *cli, rg_tune *t)
{
    const rg_variant *v = t->entry->variant;
    int64_t configs = 0, like[RG_PARAMS_MAX] = {0};
    bool fixed[RG_PARAMS_MAX] = {false};
    rg_search_kind kind = RG_SEARCH_EXHAUSTIVE;
    int code = rg_cli_int(cli, "configs", 0, 1, INT32_MAX, &configs);
    if (!code)
        code = rg_cli_real(cli, "budget", 0, 0.001, 1e6, &t->budget_s);
    if (!code)
        code = read_search(cli, configs || t->budget_s > 0, &kind);
    rg_params_standard(v, like);
    if (!code)
        code = read_fixed(cli, v, fixed, like);
    const char *why = code ? NULL
                           : rg_search_begin_fixed(&t->search, v, &t->shape, kind, (int)configs, t->seed, fixed, like);
    return why ? rg_fail(RG_USAGE, "tune: %s", why) : code;
}

static int read_options(const rg_cli *cli, rg_tune *t)
{
    int64_t seed = 1, threads = rg_cpu_cores();
    const char *folder = rg_cli_text(cli, "tuned", NULL);
    t->device = rg_cli_text(cli, "device", "gpu");
    t->out = rg_cli_text(cli, "out", NULL);
    t->command = rg_cli_line(cli);
    t->t4 = rg_cli_text(cli, "t4", NULL);
    t->energy = rg_cli_flag(cli, "energy");
    t->folder = !folder ? rg_share_path("data/tuned") : strcmp(folder, "none") ? rg_print("%s", folder) : NULL;
    int code = read_entry(cli, t);
    if (!code)
        code = rg_cli_int(cli, "seed", 1, 0, INT64_MAX, &seed);
    t->seed = (uint64_t)seed;
    if (!code)
        code = rg_cli_int(cli, "threads", threads, 1, threads, &threads);
    t->threads = t->entry && t->entry->variant->flags & RG_THREADED ? (int)threads : 1;
    if (!code && !t->out && (t->t4 || rg_cli_flag(cli, "resume")))
        code = rg_fail(RG_USAGE, "--%s: needs the result file, --out F.tsv", t->t4 ? "t4" : "resume");
    if (!code)
        code = read_shape(cli, t);
    return code ? code : read_space(cli, t);
}

static int open_all(rg_tune *t, bool resume)
{
    char why[200] = "", shape[96];
    int code = rg_out_begin(&t->file, t->out, resume);
    if (!code)
        code = rg_gate_open(&t->gate, t->entry, t->threads, t->device, t->seed);
    if (code)
        return code;
    if (t->entry->variant->space == RG_DEVICE && !(t->gpu = rg_device_open(t->device, why)))
        return rg_fail(RG_LACKS, "tune: %s", why);
    rg_head_make(&t->head, t->gpu, t->seed, t->command);
    rg_inputs_make(&t->in, t->entry->algo, &t->shape);
    rg_inputs_fill(&t->in, rg_bits(t->seed, 0));
    rg_shape_print(t->entry->algo, &t->shape, shape);
    char *key = rg_print("input %s %s", t->entry->algo->name, shape);
    rg_head_add(&t->head, key, "fnv1a %016llx", (unsigned long long)rg_inputs_hash(&t->in));
    free(key);
    rg_head_add(&t->head, "search", "%s, %d configurations, %lld refused", rg_search_name[t->search.kind], t->search.n,
                (long long)t->search.refused);
    return rg_out_start(&t->file, &t->head);
}

static int write_all(rg_tune *t)
{
    rg_tune_show(t, stdout);
    int code = rg_out_commit(&t->file);
    if (!code && t->t4) {
        rg_result result;
        bool cut;
        code = rg_result_read(t->out, &result, &cut);
        if (!code)
            code = rg_export(&result, "t4", t->t4);
        rg_result_free(&result);
    }
    if (!code)
        code = rg_tune_store(t);
    if (!code && t->wrong)
        return rg_fail(RG_WRONG, "tune: %d configuration%s did not pass and %s no times", t->wrong, t->wrong > 1 ? "s" : "",
                       t->wrong > 1 ? "have" : "has");
    return code || rg_tune_best(t) ? code : rg_fail(RG_LACKS, "tune: no configuration could be timed here");
}

static int run(const rg_cli *cli)
{
    rg_tune t = {.gate = {.ask = -1, .answer = -1}};
    int code = read_options(cli, &t);
    if (!code) {
        snprintf(t.named[0].name, sizeof t.named[0].name, "default");
        rg_params_standard(t.entry->variant, t.named[0].param);
        t.n_named = 1;
        code = rg_tune_read_presets(&t);
    }
    if (!code) {
        rg_tune_show_space(&t, stdout);
        code = open_all(&t, rg_cli_flag(cli, "resume"));
    }
    if (!code)
        code = rg_tune_screen(&t);
    if (!code)
        code = rg_tune_finals(&t);
    rg_gate_close(&t.gate);
    if (!code)
        code = write_all(&t);
    rg_out_free(&t.file);
    rg_head_free(&t.head);
    if (t.in.algo)
        rg_inputs_free(&t.in);
    rg_search_end(&t.search);
    free(t.final);
    free(t.folder);
    for (int k = 0; k < RG_ARGS_MAX; k++)
        free(t.right[k]);
    return code;
}

const rg_command rg_cmd_tune = {
    .name = "tune",
    .usage = "ALGO:VARIANT [--shape TEXT] [--budget S|--configs N] [--out F.tsv]",
    .summary = "search a variant's parameters for the fastest; every one verified before it is timed",
    .help = "Tries combinations of the declared parameters of one variant at one shape. Those that the variant refuses are\n"
            "counted with their reasons. Every other one has to pass the checker at two small shapes before it is timed;\n"
            "afterwards the first one's outputs at the timed shape are compared with the reference, and every other one's,\n"
            "for the same inputs, with those of the first. A first look takes two visits of\n"
            "bench's sampler; then the eight best, the defaults and the published configurations (impl/ALGO/presets.tsv) are\n"
            "timed in common rounds, and the table gives each as a percentage of the best with its interval.\n\n"
            "--search: exhaustive tries all; random any, none twice; local begins with the defaults, goes on at random for a\n"
            "third of the budget and then tries what differs from the best in as few parameters as there are.\n\n"
            "--out has a row a configuration, as bench writes them; --resume goes on from there. The best one goes into the\n"
            "file of this GPU or CPU in data/tuned and takes the defaults' place wherever this variant runs at a shape that\n"
            "is nearest to it; a parameter given on the command line goes before it. A file made on another processor or by\n"
            "another version is left alone with a warning. `regather list` shows what holds.\n\n"
            "Exit codes: 0 good, 1 a configuration did not pass, 2 bad usage, 4 nothing could be timed here.",
    .option = options,
    .run = run,
};
