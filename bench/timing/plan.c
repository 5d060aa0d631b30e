// SPDX-License-Identifier: MIT
// plan.c: chooses the variants, shapes, parameters, threads, scopes and modes to time, and verifies them.
#include "timing.h"

#include "../../impl/runtime/cpu.h"
#include "../../impl/runtime/tuned.h"

// Check shapes that a measurement has to pass before it is timed, spread over the algorithm's list. `verify` runs them all.
enum { GATE_SHAPES = 8 };

// ---- options -------------------------------------------------------------------------------------------------------------

const rg_option rg_bench_option[] = {
    {"preset", "quick|paper|large", "which of the algorithm's shapes", RG_TO(rg_bench_options, preset),
        .otherwise = "quick, paper of --self-test"},
    {"shape", "TEXT", "time this shape instead, as in w750,h1500,r250,k0", RG_TO(rg_bench_options, shape)},
    {"variant", "NAME", "the same as ALGO:NAME", RG_TO(rg_bench_options, variant)},
    {"param", "NAME=VALUE", "a parameter of the variants that have it", RG_TO(rg_bench_options, param)},
    {"scope", "kernel|device|transfer|pageable|adding", "what is timed; several with commas", RG_TO(rg_bench_options, scopes),
        0, 0, "device"},
    {"mode", "cold|hot|both", "caches flushed before each call, or not", RG_TO(rg_bench_options, modes),
        .otherwise = "hot on the CPU, both on a GPU"},
    {"max-seconds", "S", "time for the samples of one row", RG_TO(rg_bench_options, max_s), 0.01L, 86400,
        .otherwise = "1 with quick, else 20", .unit = "seconds"},
    {"max-call", "S", "skip a row of which one call would take longer, by the rate at another shape",
        RG_TO(rg_bench_options, max_call_s), 0.001L, 86400, .otherwise = "60 with quick, else 600", .unit = "seconds"},
    {"rounds", "N", "rounds, an even number; each is a process", RG_TO(rg_bench_options, rounds), 2, RG_ROUNDS_MAX, "6"},
    {"energy", NULL, "measure the energy of a call, too: 5 s more a row", RG_TO(rg_bench_options, energy)},
    {"out", "F.tsv", "write the result file; F.tsv.part while it grows", RG_TO(rg_bench_options, out)},
    {"resume", NULL, "go on with F.tsv.part, or with F.tsv, leaving out the rows it has of kernels that are the same",
        RG_TO(rg_bench_options, resume), .needs = "out"},
    {"job", "COMMAND", "time a whole command of this program, files to files; {out} in it: a folder, new for every run",
        RG_TO(rg_bench_options, job)},
    {"gpus", "LIST", "numbers of GPUs, as in 1,2,4; 0 for none", RG_TO(rg_bench_options, gpus), .otherwise = "all there are",
        .needs = "job"},
    {"work", "N:UNIT", "items that the job handles, for the rate, as in 16:photographs", RG_TO(rg_bench_options, work), 0, 0,
        "1:jobs", .needs = "job"},
    {"serve", "ROUND:LANES", "be the process of one round, of the measurements that have a 1 (what bench starts)",
        RG_TO(rg_bench_options, serve)},
    {"check", "COMMAND", "for sh, after every run: exit 0 when the outputs, which begin with {out}, are right",
        RG_TO(rg_bench_options, check), .needs = "job"},
    {"self-test", NULL, "time one variant against itself and report the false difference", RG_TO(rg_bench_options, self_test)},
    {0},
};

static int read_pattern(rg_bench_options *o) {
    char words[sizeof o->pattern];
    int code = rg_given_words(&o->given, words, sizeof words);
    if (!code && o->variant && (!*words || strpbrk(words, ": ")))
        return rg_fail(RG_USAGE,
            "--variant: needs an algorithm without a variant before it, as in regather bench autocorr --variant %s",
            o->variant);
    if (!code &&
        snprintf(o->pattern, sizeof o->pattern, "%s%s%s", words, o->variant ? ":" : "", o->variant ? o->variant : "") >=
            (int)sizeof o->pattern)
        code = rg_fail(RG_USAGE, "--variant: expected a name, found \"%s\"", o->variant);
    return code ? code : rg_pattern_check(o->pattern, o->given.device);
}

int rg_bench_options_check(rg_bench_options *o) {
    enum { BOTH = 1 << RG_MODES };
    if (!strcmp(o->given.device, "host"))
        return rg_fail(
            RG_LACKS, "bench: emulated variants (--device host) are for checking: their times say nothing about a GPU");
    if (o->preset < 0) o->preset = o->self_test ? RG_PAPER : RG_QUICK;
    if (o->modes.bits & BOTH) o->modes.bits = BOTH - 1;
    if (isnan(o->max_s)) o->max_s = o->self_test || o->preset == RG_QUICK ? 1 : 20;
    if (isnan(o->max_call_s)) o->max_call_s = o->preset == RG_QUICK ? 60 : 600;
    int code = read_pattern(o);
    if (!code && o->given.threads > o->given.cores)
        code = rg_fail(RG_USAGE, "--threads: this process may use %d, found %d", (int)o->given.cores, (int)o->given.threads);
    if (!code && o->rounds % 2)
        code = rg_fail(RG_USAGE,
            "--rounds: expected an even number, so that every order of the variants comes as often, found %d", (int)o->rounds);
    return code;
}

// The --param options that this variant has, as one text; marks them in `used`.
static int read_params(
    const rg_bench_options *o, const rg_entry *e, const rg_shape *shape, int64_t *param, bool *tuned, unsigned *used) {
    const rg_variant *v = e->variant;
    char text[512] = "", why[160];
    size_t length = 0;
    for (int i = 0; i < o->param.n; i++)
        for (int k = 0; k < v->n_params; k++) {
            const char *given = o->param.item[i];
            if (strlen(v->param[k].name) == strcspn(given, "=") && !strncmp(given, v->param[k].name, strcspn(given, "="))) {
                length += (size_t)snprintf(text + length, sizeof text - length, "%s%.60s", *text ? ";" : "", given);
                *used |= 1u << (i & 31);
            }
        }
    return rg_params_resolve(e, o->given.device, shape, text, param, tuned, why) ? RG_GOOD
                                                                                 : rg_fail(RG_USAGE, "--param: %s", why);
}

// ---- measurements
// ---------------------------------------------------------------------------------------------------------------

static rg_measurement *add_lane(rg_bench_plan *l) {
    l->measurement = rg_grow(l->measurement, l->n, sizeof *l->measurement);
    return &l->measurement[l->n++];
}

static void add_scopes(rg_bench_plan *l, const rg_measurement *like, unsigned scopes, unsigned modes) {
    for (int s = 0; s < RG_SCOPES; s++)
        for (int m = 0; m < RG_MODES; m++) {
            // Copies determine the state of the caches: a transfer is timed once, not cold and hot.
            if (!(scopes & 1u << s) || !((rg_copies((rg_scope)s) ? 1u << RG_HOT : modes) & 1u << m)) continue;
            rg_measurement *measurement = add_lane(l);
            *measurement = *like;
            measurement->scope = (rg_scope)s;
            measurement->mode = (rg_mode)m;
            if (rg_copies(measurement->scope) && measurement->entry->variant->space == RG_HOST)
                rg_measurement_end(measurement, RG_SKIP, RG_STOP_NO_COPIES, "%s", "");
            if (s == RG_ADDING && !measurement->entry->variant->clear)
                rg_measurement_end(measurement, RG_SKIP, RG_STOP_NO_CLEAR, "%s", "");
        }
}

static void add_variant(
    rg_bench_plan *l, const rg_bench_options *o, const rg_entry *e, const rg_shape *shape, const int64_t *param, bool tuned) {
    const rg_variant *v = e->variant;
    bool host = v->space == RG_HOST;
    rg_measurement like = {.entry = e,
        .shape = *shape,
        .threads = 1,
        .cores = rg_cpu_cores(),
        .max_s = o->max_s,
        .rounds = (int)o->rounds,
        .joules = NAN,
        .tuned = tuned};
    memcpy(like.param, param, (size_t)v->n_params * sizeof *param);
    unsigned scopes = o->scopes.bits;
    unsigned modes = o->modes.bits ? o->modes.bits : host ? 1u << RG_HOT : 1u << RG_HOT | 1u << RG_COLD;
    const char *lacks = rg_unavailable(e), *why = lacks;
    if (!why && v->refuse) why = v->refuse(shape, param);
    if (why) {
        // One row suffices to report that it is unavailable.
        rg_measurement_end(&like, RG_SKIP, lacks ? RG_STOP_LACKS : RG_STOP_REFUSED, "%s", why);
        scopes &= -scopes;
        modes = 1u << RG_HOT;
    }
    bool threaded = host && (v->flags & RG_THREADED) != 0;
    if (threaded && o->given.threads) like.threads = (int)o->given.threads;
    add_scopes(l, &like, scopes, modes);
    if (threaded && !o->given.threads && like.cores > 1 && !why) {
        like.threads = like.cores;
        add_scopes(l, &like, scopes, modes);
    }
}

static int add_shape(rg_bench_plan *l, const rg_bench_options *o, const rg_algo *algo, rg_shape shape, unsigned *used) {
    shape.seed = o->given.seed;
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, o->pattern, o->given.device));) {
        int64_t param[RG_PARAMS_MAX] = {0};
        if (e->algo != algo || (!strcmp(o->given.device, "cpu") && e->variant->space == RG_DEVICE)) continue;
        bool tuned;
        int code = read_params(o, e, &shape, param, &tuned, used);
        if (code) return code;
        add_variant(l, o, e, &shape, param, tuned);
    }
    return RG_GOOD;
}

static bool is_asked_for(const rg_bench_options *o, const rg_algo *algo) {
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, o->pattern, o->given.device));)
        if (e->algo == algo) return true;
    return false;
}

static int add_algo(rg_bench_plan *l, const rg_bench_options *o, const rg_algo *algo, unsigned *used) {
    int code = RG_GOOD;
    for (int i = 0; !code && i < o->shape.n; i++) {
        const char *text = o->shape.item[i];
        rg_shape shape = {0};
        char why[160];
        code = rg_shape_parse(algo, text, &shape, why) ? add_shape(l, o, algo, shape, used)
                                                       : rg_fail(RG_USAGE, "--shape: %s", why);
    }
    if (!o->shape.n)
        for (int i = 0; !code && i < algo->n_bench_shapes; i++)
            if ((int)algo->bench_shape[i].preset == o->preset) code = add_shape(l, o, algo, algo->bench_shape[i].shape, used);
    return code;
}

int rg_bench_plan_make(const rg_bench_options *o, rg_bench_plan *l) {
    *l = (rg_bench_plan){0};
    unsigned used = 0;
    int code = RG_GOOD;
    for (int i = 0; !code && i < rg_algo_count(); i++)
        if (is_asked_for(o, rg_algo_at(i))) code = add_algo(l, o, rg_algo_at(i), &used);
    for (int i = 0; !code && i < 32 && i < o->param.n; i++)
        if (!(used & 1u << i))
            code = rg_fail(RG_USAGE, "--param %s: none of the chosen variants has this parameter", o->param.item[i]);
    if (!code && !l->n) code = rg_fail(RG_LACKS, "bench: nothing to time for \"%s\" on device %s", o->pattern, o->given.device);
    if (code) rg_bench_plan_free(l);
    return code;
}

void rg_bench_plan_free(rg_bench_plan *l) {
    free(l->measurement);
    *l = (rg_bench_plan){0};
}

int rg_bench_plan_group(const rg_bench_plan *l, int first) {
    int past = first;
    while (past < l->n && l->measurement[past].entry->algo == l->measurement[first].entry->algo &&
        !memcmp(l->measurement[past].shape.n, l->measurement[first].shape.n, sizeof l->measurement[first].shape.n))
        past++;
    return past;
}

// ---- the gate ------------------------------------------------------------------------------------------------------------

static void verify_lane(rg_measurement *measurement, const rg_bench_options *o) {
    const rg_algo *algo = measurement->entry->algo;
    const rg_variant *v = measurement->entry->variant;
    rg_verify_options options = {.device = v->space == RG_HOST ? "cpu" : o->given.device, .seed = o->given.seed};
    int passed = 0;
    for (int i = 0; i < GATE_SHAPES; i++) {
        const rg_shape *shape = &algo->check_shape[(size_t)i * (size_t)algo->n_check_shapes / GATE_SHAPES];
        if (v->refuse && v->refuse(shape, measurement->param)) continue;
        measurement->verdict = rg_verify_case(measurement->entry, shape, measurement->param, measurement->threads, &options);
        if (measurement->verdict.status != RG_PASS && measurement->verdict.status != RG_SKIP) {
            char text[96];
            rg_shape_print(algo, shape, text);
            rg_measurement_end(
                measurement, measurement->verdict.status, RG_STOP_UNVERIFIED, "at %s: %s", text, measurement->verdict.reason);
            return;
        }
        passed += measurement->verdict.status == RG_PASS;
    }
    if (!passed) rg_measurement_end(measurement, RG_SKIP, RG_STOP_NO_SHAPE, "%s", "");
}

// An earlier measurement of the same variant, parameters and threads, which differs in shape, scope or mode only.
static const rg_measurement *gated_twin(const rg_bench_plan *l, const rg_measurement *measurement) {
    for (const rg_measurement *k = l->measurement; k < measurement; k++)
        if (k->gated && k->entry == measurement->entry && k->threads == measurement->threads &&
            !memcmp(k->param, measurement->param, sizeof measurement->param))
            return k;
    return NULL;
}

void rg_bench_plan_verify(rg_bench_plan *l, const rg_bench_options *o) {
    rg_progress progress;
    rg_progress_begin(&progress, "bench: verify", "measurements", l->n);
    for (rg_measurement *measurement = l->measurement; measurement < l->measurement + l->n; measurement++) {
        const rg_measurement *twin = measurement->done ? NULL : gated_twin(l, measurement);
        if (twin && twin->done)
            rg_measurement_end(measurement, twin->verdict.status, twin->stop, "%s", twin->detail);
        else if (!twin && !measurement->done)
            verify_lane(measurement, o);
        else if (measurement->done)
            continue;
        measurement->gated = true;
        rg_progress_at(&progress, (double)(measurement - l->measurement + 1));
    }
    rg_verify_end();
    rg_progress_end(&progress);
}
