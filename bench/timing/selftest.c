// SPDX-License-Identifier: MIT
// selftest.c: times a variant against itself. Under two names, each with its own buffers, it goes through the same rounds as
// any two variants. The deviation of the ratio of their medians from 1 is the error of the method on this machine now.
#include "timing.h"

enum { PAIRS = 9 }; // the least with which the 95 % interval of their median leaves out an outlier on each side
static const double limit_percent[] = {[RG_HOST] = 1, [RG_DEVICE] = 0.5};

// Most operations of a call: on a core few enough that hundreds of samples fit the time, on a GPU enough to time the kernel and
// not its launch, whose cost depends on the addresses of buffers (3 % between equal buffers of 10 us kernels).
static const double most_work[] = {[RG_HOST] = 1e9, [RG_DEVICE] = 3e10};

static double size(const rg_measurement *measurement) {
    double work = measurement->entry->algo->work(&measurement->shape);
    return work <= most_work[measurement->entry->variant->space] ? work : 1 / work;
}

// The measurement to test of one space: hot, on one core, of the role that is the suite's own work rather than a baseline or a
// library, at the largest shape within most_work.
static rg_measurement *choose(const rg_bench_plan *l, rg_space space) {
    const rg_role wanted = space == RG_HOST ? RG_SIMD : RG_GATHER;
    rg_measurement *best = NULL;
    for (rg_measurement *measurement = l->measurement; measurement < l->measurement + l->n; measurement++) {
        const rg_variant *v = measurement->entry->variant;
        if (measurement->done || v->space != space || measurement->mode != RG_HOT || measurement->threads > 1) continue;
        const bool own = v->role == wanted, best_own = best && best->entry->variant->role == wanted;
        if (!best || (own && !best_own) || (own == best_own && v == best->entry->variant && size(measurement) > size(best)))
            best = measurement;
    }
    return best;
}

// One pair, as a difference in percent; NaN when a measurement could not be timed (its stop says why).
static double false_difference(
    rg_measurement *a, rg_measurement *again, const rg_device *device, rg_inputs *in, uint64_t seed) {
    rg_measurement *measurement[2] = {a, again};
    bool enough = false, failed = false;
    rg_inputs_fill(in, rg_bits(seed, 0));
    for (int i = 0; i < 2; i++) {
        rg_measurement_open(measurement[i], device, in);
        failed |= measurement[i]->done;
        enough |= !failed && rg_measurement_enough(measurement[i]);
    }
    for (int round = 0; !enough && !failed; round++) {
        rg_inputs_fill(in, rg_bits(seed, (uint64_t)round));
        for (int i = 0; i < 2; i++) {
            rg_measurement_visit(measurement[(round + i) % 2], in);
            failed |= measurement[(round + i) % 2]->done;
        }
        // Both continue until both have enough: the two sides of a ratio are treated alike.
        enough = !failed && rg_measurement_enough(a) && rg_measurement_enough(again);
    }
    for (int i = 0; i < 2; i++) {
        if (!failed) rg_measurement_judge(measurement[i], in, seed);
        failed |= measurement[i]->verdict.status != RG_PASS;
        rg_measurement_close(measurement[i]);
    }
    if (failed) return NAN;
    const rg_samples of_a = rg_measurement_samples(a), of_again = rg_measurement_samples(again);
    rg_ratio r = rg_ratio_of_medians(&of_a, &of_again, seed);
    return 100 * fabs(r.ratio - 1);
}

static rg_row result_row(const rg_measurement *measurement, const double *percent, const rg_summary *s, double limit) {
    rg_row row = rg_measurement_key(measurement);
    rg_set_cell(&row, RG_C_ALGO, "self-test");
    rg_set_cell(&row, RG_C_UNIT, "%%");
    rg_set_cell(&row, RG_C_N, "%d", s->n);
    rg_set_number(&row, RG_C_MIN, s->min);
    rg_set_number(&row, RG_C_Q1, s->q1);
    rg_set_number(&row, RG_C_MEDIAN, s->median);
    rg_set_number(&row, RG_C_Q3, s->q3);
    rg_set_number(&row, RG_C_MAX, s->max);
    rg_set_number(&row, RG_C_ERROR, s->median);
    rg_set_number(&row, RG_C_TOL, limit);
    rg_set_cell(&row, RG_C_STATUS, "%s", rg_status_name[s->median <= limit ? RG_PASS : RG_FAIL]);
    rg_set_cell(&row, RG_C_STOP, "%s", rg_stop_word[RG_STOP_SELF_TEST].word);
    rg_set_cell(&row, RG_C_DETAIL, "%d pairs of %s, 95 %% interval %.3g to %.3g %%", s->n, measurement->entry->algo->name,
        s->low, s->high);
    char text[PAIRS * 16] = "";
    for (int i = 0; i < s->n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.7g", i ? ";" : "", percent[i]);
    rg_set_cell(&row, RG_C_SAMPLES, "%s", text);
    return row;
}

static int test_lane(const rg_measurement *measurement, const rg_device *device, const rg_bench_options *o, rg_out *out) {
    double percent[PAIRS], limit = limit_percent[measurement->entry->variant->space];
    char shape[96];
    rg_inputs in;
    rg_inputs_make(&in, measurement->entry->algo, &measurement->shape);
    rg_shape_print(measurement->entry->algo, &measurement->shape, shape);
    rg_progress progress;
    rg_progress_begin(&progress, "bench: A against A", "pairs", PAIRS);
    for (int i = 0; i < PAIRS; i++) {
        rg_measurement a = *measurement, again = *measurement;
        percent[i] = false_difference(&a, &again, device, &in, rg_bits(o->given.seed, (uint64_t)i));
        if (isnan(percent[i])) {
            char reason[RG_REASON];
            const rg_measurement *failed = a.verdict.status == RG_PASS ? &again : &a;
            rg_inputs_free(&in);
            return rg_fail(RG_WRONG, "self-test: %s:%s: %s", measurement->entry->algo->name, measurement->entry->name,
                rg_measurement_reason(failed, reason));
        }
        rg_progress_at(&progress, i + 1);
    }
    rg_progress_end(&progress);
    rg_inputs_free(&in);
    rg_summary s;
    const rg_samples pairs = rg_one_process(percent, PAIRS);
    rg_summarise(&pairs, &s);
    bool good = s.median <= limit;
    printf(
        "self-test %s:%s %s, %d thread%s: median false difference %.3g %% [%.3g, %.3g] over %d pairs, limit %.3g %%: %s%s%s\n",
        measurement->entry->algo->name, measurement->entry->name, shape, measurement->threads, rg_plural(measurement->threads),
        s.median, s.low, s.high, PAIRS, limit, rg_colour(stdout, good ? "green" : "red"), good ? "good" : "above it",
        rg_colour(stdout, "off"));
    int code = rg_out_add(out, result_row(measurement, percent, &s, limit));
    return code ? code : good ? RG_GOOD : RG_WRONG;
}

int rg_self_test(const rg_bench_options *o) {
    rg_bench_plan l;
    rg_out out;
    char why[200] = "";
    int code = rg_bench_plan_make(o, &l);
    if (code) return code;
    rg_measurement *host = choose(&l, RG_HOST), *device = choose(&l, RG_DEVICE);
    // Only timed measurements need verification.
    for (rg_measurement *measurement = l.measurement; measurement < l.measurement + l.n; measurement++)
        if (measurement != host && measurement != device && !measurement->done)
            rg_measurement_end(measurement, RG_SKIP, RG_STOP_OTHER, "not chosen");
    code = rg_out_begin(&out, o->out, false);
    if (!code) rg_bench_plan_verify(&l, o);
    const rg_device *gpu = !code && device && !device->done ? rg_device_open(o->given.device, why) : NULL;
    rg_head head;
    rg_head_make(&head, gpu, o->given.seed, o->given.line);
    if (!code) code = rg_out_start(&out, &head);
    rg_head_free(&head);
    int worst = RG_GOOD;
    if (!code && host && !host->done) worst = test_lane(host, rg_device_cpu(), o, &out);
    if (!code && gpu) {
        int gpu_code = test_lane(device, gpu, o, &out);
        worst = gpu_code ? gpu_code : worst;
    }
    if (!code && !out.n_rows && !worst) worst = rg_fail(RG_LACKS, "self-test: nothing of \"%s\" can be timed here", o->pattern);
    if (!code) code = rg_out_commit(&out);
    rg_out_free(&out);
    rg_bench_plan_free(&l);
    return code ? code : worst;
}
