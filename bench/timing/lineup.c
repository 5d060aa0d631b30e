// SPDX-License-Identifier: MIT
// lineup.c: which variants, at which shapes, with which parameters, threads, scopes and modes; and whether they are right.

#include "lineup.h"

#include "../../impl/runtime/cpu.h"
#include "../../impl/runtime/tuned.h"

#include <stdlib.h>
#include <string.h>

// Check shapes that a lane has to pass before it is timed, spread over the algorithm's list. `verify` runs them all.
enum { GATE_SHAPES = 8 };

// ---- options -------------------------------------------------------------------------------------------------------------

// A list of names separated by commas as a bit mask.
static int read_mask(const char *option, const char *text, const char *const *name, int n, unsigned *mask)
{
    *mask = 0;
    for (const char *at = text; at && *at;) {
        size_t length = strcspn(at, ",");
        unsigned bit = 0;
        for (int i = 0; i < n; i++)
            if (strlen(name[i]) == length && !strncmp(name[i], at, length))
                bit = 1u << i;
        if (!bit)
            return rg_fail(RG_USAGE, "--%s: unknown value \"%.*s\" (see regather bench --help)", option, (int)length, at);
        *mask |= bit;
        at += length + (at[length] == ',');
    }
    return RG_GOOD;
}

static int read_pattern(const rg_cli *cli, rg_bench_options *o)
{
    const char *word = rg_cli_word(cli, 0), *variant = rg_cli_text(cli, "variant", NULL);
    if (rg_cli_count(cli) > 1)
        return rg_fail(RG_USAGE, "bench: expected one ALGO[:VARIANT], found also \"%s\"", rg_cli_word(cli, 1));
    if (variant && (!word || strchr(word, ':')))
        return rg_fail(RG_USAGE,
                       "--variant: needs an algorithm without a variant before it, as in regather bench autocorr --variant %s",
                       variant);
    snprintf(o->pattern, sizeof o->pattern, "%s%s%s", word ? word : "", variant ? ":" : "", variant ? variant : "");
    return rg_pattern_check(o->pattern, o->device);
}

int rg_bench_options_read(const rg_cli *cli, rg_bench_options *o)
{
    static const char *const preset_name[RG_PRESETS] = {"quick", "paper", "large"};
    *o = (rg_bench_options){.cli = cli, .device = rg_cli_text(cli, "device", "gpu"), .out = rg_cli_text(cli, "out", NULL),
                            .energy = rg_cli_flag(cli, "energy"), .resume = rg_cli_flag(cli, "resume"),
                            .self_test = rg_cli_flag(cli, "self-test")};
    if (!strcmp(o->device, "host"))
        return rg_fail(RG_LACKS,
                       "bench: emulated variants (--device host) are for checking: their times say nothing about a GPU");
    unsigned presets;
    int64_t seed = 0;
    const char *mode = rg_cli_text(cli, "mode", NULL);
    int code = read_pattern(cli, o);
    if (!code)
        code = read_mask("preset", rg_cli_text(cli, "preset", o->self_test ? "paper" : "quick"), preset_name, RG_PRESETS,
                         &presets);
    if (!code && (presets & (presets - 1) || !presets))
        code = rg_fail(RG_USAGE, "--preset: expected one of quick, paper, large");
    for (int i = 0; !code && i < RG_PRESETS; i++)
        if (presets == 1u << i)
            o->preset = (rg_preset)i;
    if (!code)
        code = read_mask("scope", rg_cli_text(cli, "scope", NULL), rg_scope_name, RG_SCOPES, &o->scopes);
    if (!code)
        code = read_mask("mode", mode && !strcmp(mode, "both") ? "cold,hot" : mode, rg_mode_name, RG_MODES, &o->modes);
    if (!code)
        code = rg_cli_int(cli, "threads", 0, 1, rg_cpu_cores(), &o->threads);
    if (!code)
        code = rg_cli_int(cli, "rounds", 10, 2, 100, &o->rounds);
    if (!code && o->rounds % 2)
        code =
            rg_fail(RG_USAGE, "--rounds: expected an even number, so that every order of the variants comes as often, found %d",
                    (int)o->rounds);
    if (!code)
        code = rg_cli_real(cli, "max-seconds", o->self_test || o->preset == RG_QUICK ? 1 : 20, 0.01, 86400, &o->max_s);
    if (!code)
        code = rg_cli_real(cli, "max-call", o->preset == RG_QUICK ? 60 : 600, 0.001, 86400, &o->max_call_s);
    if (!code)
        code = rg_cli_int(cli, "seed", 1, 0, INT64_MAX, &seed);
    o->seed = (uint64_t)seed;
    if (!code && o->resume && !o->out)
        code = rg_fail(RG_USAGE, "--resume: needs the file to go on with, --out F.tsv");
    return code;
}

// The --param options that this variant knows, as one text; every use of an option is noted in `used`.
static int read_params(const rg_bench_options *o, const rg_entry *e, const rg_shape *shape, int64_t *param, bool *tuned,
                       unsigned *used)
{
    const rg_variant *v = e->variant;
    char text[512] = "", why[160];
    size_t length = 0;
    const char *given;
    for (int i = 0; (given = rg_cli_nth(o->cli, "param", i)); i++)
        for (int k = 0; k < v->n_params; k++)
            if (strlen(v->param[k].name) == strcspn(given, "=") && !strncmp(given, v->param[k].name, strcspn(given, "="))) {
                length += (size_t)snprintf(text + length, sizeof text - length, "%s%.60s", *text ? ";" : "", given);
                *used |= 1u << (i & 31);
            }
    return rg_params_resolve(e, o->device, shape, text, param, tuned, why) ? RG_GOOD : rg_fail(RG_USAGE, "--param: %s", why);
}

// ---- lanes ---------------------------------------------------------------------------------------------------------------

static rg_lane *add_lane(rg_lineup *l)
{
    rg_lane *more = rg_alloc((size_t)(l->n + 1) * sizeof *more);
    if (l->n)
        memcpy(more, l->lane, (size_t)l->n * sizeof *more);
    free(l->lane);
    l->lane = more;
    return &l->lane[l->n++];
}

static void add_scopes(rg_lineup *l, const rg_lane *like, unsigned scopes, unsigned modes)
{
    for (int s = 0; s < RG_SCOPES; s++)
        for (int m = 0; m < RG_MODES; m++) {
            // Copies leave the caches as they will: a transfer is timed once, not cold and hot.
            if (!(scopes & 1u << s) || !((s == RG_TRANSFER ? 1u << RG_HOT : modes) & 1u << m))
                continue;
            rg_lane *lane = add_lane(l);
            *lane = *like;
            lane->scope = (rg_scope)s;
            lane->mode = (rg_mode)m;
            if (s == RG_TRANSFER && lane->entry->variant->space == RG_HOST)
                rg_lane_end(lane, RG_SKIP, "scope transfer: the data of a CPU variant are where it computes");
        }
}

static void add_variant(rg_lineup *l, const rg_bench_options *o, const rg_entry *e, const rg_shape *shape,
                        const int64_t *param, bool tuned)
{
    const rg_variant *v = e->variant;
    bool host = v->space == RG_HOST;
    rg_lane like = {
        .entry = e, .shape = *shape, .threads = 1, .cores = rg_cpu_cores(), .max_s = o->max_s, .rounds = (int)o->rounds,
        .tuned = tuned};
    memcpy(like.param, param, (size_t)v->n_params * sizeof *param);
    unsigned scopes = o->scopes ? o->scopes : 1u << RG_RESIDENT;
    unsigned modes = o->modes ? o->modes : host ? 1u << RG_HOT : 1u << RG_HOT | 1u << RG_COLD;
    const char *why = rg_unavailable(e);
    if (!why && v->refuse)
        why = v->refuse(shape, param);
    if (why) {
        // One row is enough to say that it cannot be had.
        rg_lane_end(&like, RG_SKIP, "%s", why);
        scopes &= -scopes;
        modes = 1u << RG_HOT;
    }
    bool threaded = host && (v->flags & RG_THREADED) != 0;
    if (threaded && o->threads)
        like.threads = (int)o->threads;
    add_scopes(l, &like, scopes, modes);
    if (threaded && !o->threads && like.cores > 1 && !why) {
        like.threads = like.cores;
        add_scopes(l, &like, scopes, modes);
    }
}

static int add_shape(rg_lineup *l, const rg_bench_options *o, const rg_algo *algo, rg_shape shape, unsigned *used)
{
    shape.seed = o->seed;
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, o->pattern, o->device));) {
        int64_t param[RG_PARAMS_MAX] = {0};
        if (e->algo != algo || (!strcmp(o->device, "cpu") && e->variant->space == RG_DEVICE))
            continue;
        bool tuned;
        int code = read_params(o, e, &shape, param, &tuned, used);
        if (code)
            return code;
        add_variant(l, o, e, &shape, param, tuned);
    }
    return RG_GOOD;
}

static bool is_asked_for(const rg_bench_options *o, const rg_algo *algo)
{
    size_t name = strcspn(o->pattern, ":");
    return !name || (strlen(algo->name) == name && !strncmp(algo->name, o->pattern, name));
}

static int add_algo(rg_lineup *l, const rg_bench_options *o, const rg_algo *algo, unsigned *used)
{
    const char *text = rg_cli_nth(o->cli, "shape", 0);
    int code = RG_GOOD;
    for (int i = 0; !code && (text = rg_cli_nth(o->cli, "shape", i)); i++) {
        rg_shape shape = {0};
        char why[160];
        code = rg_shape_parse(algo, text, &shape, why) ? add_shape(l, o, algo, shape, used)
                                                       : rg_fail(RG_USAGE, "--shape: %s", why);
    }
    if (!rg_cli_nth(o->cli, "shape", 0))
        for (int i = 0; !code && i < algo->n_bench_shapes; i++)
            if (algo->bench_shape[i].preset == o->preset)
                code = add_shape(l, o, algo, algo->bench_shape[i].shape, used);
    return code;
}

int rg_lineup_make(const rg_bench_options *o, rg_lineup *l)
{
    *l = (rg_lineup){0};
    unsigned used = 0;
    int code = RG_GOOD;
    const char *given;
    for (int i = 0; !code && i < rg_algo_count(); i++)
        if (is_asked_for(o, rg_algo_at(i)))
            code = add_algo(l, o, rg_algo_at(i), &used);
    for (int i = 0; !code && i < 32 && (given = rg_cli_nth(o->cli, "param", i)); i++)
        if (!(used & 1u << i))
            code = rg_fail(RG_USAGE, "--param %s: none of the chosen variants has this parameter", given);
    if (!code && !l->n)
        code = rg_fail(RG_LACKS, "bench: nothing to time for \"%s\" on device %s", o->pattern, o->device);
    if (code)
        rg_lineup_free(l);
    return code;
}

void rg_lineup_free(rg_lineup *l)
{
    free(l->lane);
    *l = (rg_lineup){0};
}

int rg_lineup_group(const rg_lineup *l, int first)
{
    int past = first;
    while (past < l->n && l->lane[past].entry->algo == l->lane[first].entry->algo &&
           !memcmp(l->lane[past].shape.n, l->lane[first].shape.n, sizeof l->lane[first].shape.n))
        past++;
    return past;
}

// ---- the gate ------------------------------------------------------------------------------------------------------------

static void verify_lane(rg_lane *lane, const rg_bench_options *o)
{
    const rg_algo *algo = lane->entry->algo;
    const rg_variant *v = lane->entry->variant;
    rg_verify_options options = {.device = v->space == RG_HOST ? "cpu" : o->device, .seed = o->seed};
    int passed = 0;
    for (int i = 0; i < GATE_SHAPES; i++) {
        const rg_shape *shape = &algo->check_shape[(size_t)i * (size_t)algo->n_check_shapes / GATE_SHAPES];
        if (v->refuse && v->refuse(shape, lane->param))
            continue;
        lane->verdict = rg_verify_case(lane->entry, shape, lane->param, lane->threads, &options);
        if (lane->verdict.status != RG_PASS && lane->verdict.status != RG_SKIP) {
            char text[96];
            rg_shape_print(algo, shape, text);
            rg_lane_end(lane, lane->verdict.status, "not timed: verify at %s: %s", text, lane->verdict.reason);
            return;
        }
        passed += lane->verdict.status == RG_PASS;
    }
    if (!passed)
        rg_lane_end(lane, RG_SKIP, "not timed: it takes none of the small shapes on which it could be verified");
}

// An earlier lane of the same variant, parameters and threads, which differs in shape, scope or mode only.
static const rg_lane *gated_twin(const rg_lineup *l, const rg_lane *lane)
{
    for (const rg_lane *k = l->lane; k < lane; k++)
        if (k->gated && k->entry == lane->entry && k->threads == lane->threads &&
            !memcmp(k->param, lane->param, sizeof lane->param))
            return k;
    return NULL;
}

void rg_lineup_verify(rg_lineup *l, const rg_bench_options *o)
{
    rg_progress progress;
    rg_progress_begin(&progress, "bench: verify", "lanes", l->n);
    for (rg_lane *lane = l->lane; lane < l->lane + l->n; lane++) {
        const rg_lane *twin = lane->done ? NULL : gated_twin(l, lane);
        if (twin && twin->done)
            rg_lane_end(lane, twin->verdict.status, "%s", twin->stop);
        else if (!twin && !lane->done)
            verify_lane(lane, o);
        else if (lane->done)
            continue;
        lane->gated = true;
        rg_progress_at(&progress, lane - l->lane + 1);
    }
    rg_verify_end();
    rg_progress_end(&progress);
}
