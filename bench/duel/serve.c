// SPDX-License-Identifier: MIT
// serve.c: the computing process of a duel: verifies its kernels, then runs blocks of calls on request.
#include "duel.h"

#include "../machine/sensors.h"

// The protocol uses the original standard output; the output of kernels and libraries goes to standard error.
static FILE *answers;

__attribute__((format(printf, 2, 3))) static int stop(int code, const char *format, ...) {
    va_list list;
    fprintf(answers, "stop %d ", code);
    va_start(list, format);
    vfprintf(answers, format, list);
    va_end(list);
    fputc('\n', answers);
    fflush(answers);
    return code;
}

// Parses "ALGO:VARIANT" or "ALGO:VARIANT:NAME=VALUE;..." into the plan of one variant.
int rg_duel_side_make(const rg_duel *d, const char *word, rg_duel_side *s) {
    snprintf(s->text, sizeof s->text, "%s", word);
    char *last = strrchr(s->text, ':');
    s->options = (rg_bench_options){.given = d->given,
        .max_s = 3600,
        .max_call_s = 3600,
        .rounds = 2,
        .preset = RG_QUICK,
        .scopes = {1u << RG_RESIDENT},
        .modes = {1u << d->mode}};
    s->options.given.threads = d->given.threads ? d->given.threads : 1;
    if (last && strchr(last, '=')) {
        *last++ = '\0';
        s->options.param.item = s->item;
        for (char *p; (p = strsep(&last, ";")) && s->options.param.n < RG_PARAMS_MAX;) s->item[s->options.param.n++] = p;
    }
    snprintf(s->options.pattern, sizeof s->options.pattern, "%s", s->text);
    if (d->shape) {
        s->options.shape.n = 1;
        s->options.shape.item = rg_unconst(&d->shape);
    }
    int code = rg_pattern_check(s->options.pattern, d->given.device);
    code = code ? code : rg_bench_plan_make(&s->options, &s->plan);
    if (code) return code;
    s->measurement = &s->plan.measurement[0];
    // Other shapes of the preset are not timed, and need not be verified.
    s->plan.n = 1;
    return RG_GOOD;
}

static int make_side(const rg_duel *d, const char *word, rg_duel_side *s) {
    char reason[RG_REASON];
    const int code = rg_duel_side_make(d, word, s);
    if (code) return stop(code, "\"%s\" cannot be timed", word);
    return s->measurement->done ? stop(RG_LACKS, "%s: %s", word, rg_measurement_reason(s->measurement, reason)) : RG_GOOD;
}

static int open_side(rg_duel_side *s, bool first, const rg_device *gpu, rg_inputs *in, uint64_t seed) {
    char reason[RG_REASON];
    rg_measurement_open(s->measurement, s->measurement->entry->variant->space == RG_HOST ? rg_device_cpu() : gpu, in);
    if (!s->measurement->done && first) {
        rg_measurement_judge(s->measurement, in, seed);
        s->measurement->done = s->measurement->verdict.status != RG_PASS;
    }
    const int code = s->measurement->verdict.status == RG_SKIP ? RG_UNSURE : RG_WRONG; // too busy to tell
    return s->measurement->done ? stop(code, "%s:%s: %s", s->measurement->entry->algo->name, s->measurement->entry->name,
                                      rg_measurement_reason(s->measurement, reason))
                                : RG_GOOD;
}

static int answer(rg_duel_side *s, int n, const rg_inputs *in) {
    char line[64];
    int which, calls;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%d %d", &which, &calls) != 2 || which < 0 || which >= n || calls < 1)
            return stop(RG_USAGE, "expected SIDE CALLS, found \"%.*s\"", (int)strcspn(line, "\n"), line);
        double ns;
        long preempted;
        int code = rg_measurement_block(s[which].measurement, in, calls, &ns, &preempted);
        if (code)
            return stop(RG_WRONG, "%s:%s: %s", s[which].measurement->entry->algo->name, s[which].measurement->entry->name,
                s[which].measurement->device->error(code));
        const rg_device *device = s[which].measurement->device;
        fprintf(answers, "%.9g %ld %d\n", ns, preempted, device->is_gpu && rg_gpu_held_down(device));
        fflush(answers);
    }
    return RG_GOOD;
}

static int serve(const rg_duel *d, rg_duel_side *s, int n, rg_inputs *in) {
    char why[200] = "", shape[96], reason[RG_REASON];
    const bool first = d->serve == RG_SERVE_FIRST;
    const rg_device *gpu = NULL;
    int code = RG_GOOD;
    for (int i = 0; i < n && !code; i++) code = make_side(d, d->given.word.item[i], &s[i]);
    if (code) return code;
    for (int i = 0; i < n; i++) {
        if (s[i].measurement->entry->algo != s[0].measurement->entry->algo)
            return stop(RG_USAGE, "%s and %s are no variants of one algorithm", d->given.word.item[0], d->given.word.item[i]);
        // The children of verify come before any GPU context or thread of this process.
        if (first) rg_bench_plan_verify(&s[i].plan, &s[i].options);
        if (s[i].measurement->done)
            return stop(s[i].measurement->verdict.status == RG_SKIP ? RG_LACKS : RG_WRONG, "%s: %s", d->given.word.item[i],
                rg_measurement_reason(s[i].measurement, reason));
    }
    for (int i = 0; i < n; i++)
        if (s[i].measurement->entry->variant->space == RG_DEVICE && !gpu && !(gpu = rg_device_open(d->given.device, why)))
            return stop(RG_LACKS, "%s", why);
    rg_inputs_make(in, s[0].measurement->entry->algo, &s[0].measurement->shape);
    rg_inputs_fill(in, rg_bits(d->given.seed, 0));
    for (int i = 0; i < n && !code; i++) code = open_side(&s[i], first, gpu, in, d->given.seed);
    if (code) return code;
    rg_shape_print(in->algo, &s[0].measurement->shape, shape);
    fprintf(answers, "ready %s", shape);
    for (int i = 0; i < n; i++) fprintf(answers, " %d", s[i].measurement->batch);
    fputc('\n', answers);
    fflush(answers);
    return answer(s, n, in);
}

int rg_duel_serve(const rg_duel *d) {
    RG_FREED rg_duel_side *s = rg_alloc(2 * sizeof *s);
    rg_inputs in = {0};
    answers = fdopen(dup(STDOUT_FILENO), "w");
    dup2(STDERR_FILENO, STDOUT_FILENO);
    int code = serve(d, s, d->given.word.n, &in);
    for (int i = 0; i < d->given.word.n; i++) {
        if (s[i].measurement) rg_measurement_close(s[i].measurement);
        rg_bench_plan_free(&s[i].plan);
    }
    if (in.algo) rg_inputs_free(&in);
    fclose(answers);
    return code;
}
