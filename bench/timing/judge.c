// SPDX-License-Identifier: MIT
// judge.c: checks that the timed calls of a measurement gave right results.
#include "sample.h"

#include "../../impl/base/core.h"
#include "../../impl/runtime/choice.h"
#include "../../impl/runtime/cpu.h"
#include "../machine/sensors.h"

// Time limit of the reference for one shape, whatever the number of measurements; there is none without reference_at.
static const double ANSWER_S = 0.5;

// Numbers of the inputs that measurements are judged by, beyond those of all rounds: JUDGED those that the reference answers,
// the others for the time alone.
enum { JUDGED = 1000, FRESH_MOST = 16 };
static const double FRESH_S = 0.03, SLOW_S = 1;
// A call on fresh inputs may take FRESH_FACTOR times the median, plus the time to read its arguments from memory and, with
// several threads, to wake them. A call whose answer was kept from call to call, or computed beside the calls, takes longer, in
// elapsed and in CPU time; the latter is checked too, as a busy machine may wake a thread late.
static const double FRESH_FACTOR = 4, FRESH_NS = 50e3, WAKE_NS = 5e6, MEMORY_NS_BYTE = 0.25;
// Above the rate at which any core or GPU reads from its nearest memory.
static const double CORE_BYTES_NS = 1e3, GPU_BYTES_NS = 1e5;

static void ask_reference(rg_inputs *in, double seconds, uint64_t seed) {
    if (in->answered && in->answered_seed == in->shape.seed) return;
    rg_answer_free(&in->answer);
    rg_answer_make(&in->answer, in->algo, &in->shape, in->arg, seconds, seed);
    in->answered = true;
    in->answered_seed = in->shape.seed;
    in->whole_of = NULL;
}

// The time of one call, from the samples or, without any, from the untimed calls.
static double typical_ns(const rg_measurement *measurement) {
    rg_summary s;
    const rg_samples samples = rg_measurement_samples(measurement);
    if (!measurement->n) return 1e9 * measurement->call_s - measurement->overhead_ns;
    rg_summarise(&samples, &s);
    return s.median;
}

static double allowed_ns(const rg_measurement *measurement) {
    return FRESH_FACTOR * typical_ns(measurement) + FRESH_NS + (measurement->threads > 1 ? WAKE_NS : 0) +
        MEMORY_NS_BYTE * (double)rg_measurement_bytes(measurement);
}

// Makes calls on inputs that the measurement has not seen: the first on those of JUDGED, leaving its outputs in in->found; more
// while there is time to fill inputs and call. The shortest counts. While it is too long, calls continue up to FRESH_MOST, then
// for SLOW_S: a busy machine, where threads wait milliseconds for a processor, makes many calls long, a kept answer all.
static int call_fresh(rg_measurement *measurement, rg_inputs *in, uint64_t seed, double *least_ns) {
    const double start = rg_seconds(), others_s = rg_cpu_others_s(), allowed = allowed_ns(measurement);
    int code = RG_OK;
    *least_ns = measurement->fresh = INFINITY;
    for (int i = 0, more = 1; more && !code; i++) {
        double elapsed_s;
        rg_inputs_fill(in, rg_bits(seed, (uint64_t)(JUDGED + i)));
        code = rg_measurement_call(measurement, in, i == 0, &elapsed_s);
        measurement->fresh = fmin(measurement->fresh, 1e9 * elapsed_s / typical_ns(measurement));
        *least_ns = fmin(*least_ns, 1e9 * (measurement->device->is_gpu ? elapsed_s : fmin(elapsed_s, measurement->cpu_s)));
        const double spent_s = rg_seconds() - start, next_s = in->fill_s + 1e-9 * typical_ns(measurement);
        const bool slow = !(*least_ns <= allowed);
        more = i + 1 < FRESH_MOST ? slow || spent_s + next_s < FRESH_S : slow && spent_s < SLOW_S;
    }
    if (in->shape.seed != rg_bits(seed, JUDGED)) {
        double untimed_s;
        rg_inputs_fill(in, rg_bits(seed, JUDGED));
        code = code || measurement->scope != RG_PAGEABLE
            ? code
            : rg_measurement_call(measurement, in, true, &untimed_s); // each copies its own
    }
    measurement->others = (rg_cpu_others_s() - others_s) / (rg_seconds() - start);
    return code;
}

static const char *guard_fault(rg_measurement *measurement) {
    bool hit;
    for (int i = 0; i < measurement->entry->algo->n_args; i++) {
        rg_buffer_guard(&measurement->frame.buffer[i], &hit);
        if (hit) return measurement->entry->algo->arg[i].name;
    }
    rg_buffer_guard(&measurement->frame.scratch, &hit);
    return hit ? "scratch" : NULL;
}

// Whether the outputs equal those of another variant at every element. The outputs of the first built-in variant that passes
// are kept for the others; a plug-in without one is compared with the variant that a job would use.
static bool computes_as_asked(const rg_entry *e) { return e->origin != RG_PLUGGED_IN && !e->variant->tolerance; }

static void keep_whole(rg_inputs *in, const rg_entry *e) {
    for (int i = 0; i < in->algo->n_args; i++)
        if (in->algo->arg[i].direction != RG_IN) {
            in->whole[i] = in->whole[i] ? in->whole[i] : rg_alloc(in->bytes[i] + 1);
            memcpy(in->whole[i], in->found[i], in->bytes[i]);
        }
    in->whole_of = e;
}

// Makes one call of the variant that a job would use, in another measurement; nothing if there is none, or no room.
static void ask_another(const rg_measurement *measurement, rg_inputs *in) {
    rg_choice c;
    double elapsed_s;
    rg_measurement other = {.shape = measurement->shape,
        .scope = RG_RESIDENT,
        .mode = RG_HOT,
        .threads = measurement->cores > 0 ? measurement->cores : 1,
        .device = measurement->device};
    if (rg_choose(in->algo, measurement->device->name, NULL, &measurement->shape, 1, NULL, &c) != RG_GOOD ||
        !computes_as_asked(c.entry))
        return;
    other.entry = c.entry;
    memcpy(other.param, c.param, sizeof other.param);
    if (rg_measurement_make(&other) == RG_OK && rg_measurement_call(&other, in, true, &elapsed_s) == RG_OK &&
        rg_compare_outputs(other.entry, &in->shape, other.param, in->found, &in->answer).status == RG_PASS)
        keep_whole(in, other.entry);
    rg_measurement_close(&other);
}

static bool is_whole(const rg_measurement *measurement, const rg_inputs *in) {
    bool all = true;
    for (int i = 0; i < in->algo->n_args; i++)
        all &= in->algo->arg[i].direction == RG_IN || in->answer.n[i] == in->algo->arg[i].count(&in->shape);
    return all || measurement->brief;
}

static int compare_whole(rg_measurement *measurement, rg_inputs *in) {
    if (measurement->verdict.status != RG_PASS || is_whole(measurement, in)) return RG_OK;
    if (!in->whole_of && computes_as_asked(measurement->entry)) {
        keep_whole(in, measurement->entry);
        return RG_OK;
    }
    if (!in->whole_of) ask_another(measurement, in);
    if (!in->whole_of) return RG_OK;
    double elapsed_s;
    const rg_verdict sampled = measurement->verdict;
    const int code = rg_measurement_call(measurement, in, true, &elapsed_s); // the other may have left its own outputs
    measurement->verdict = rg_compare_alike(measurement->entry, &in->shape, measurement->param, in->found, in->whole);
    if (measurement->verdict.status == RG_PASS) measurement->verdict = sampled;
    return code;
}

// How much was compared, for the row.
static void note_check(rg_measurement *measurement, const rg_inputs *in, bool alike) {
    int64_t known = 0, all = 0;
    for (int i = 0; i < in->algo->n_args; i++) {
        known += in->answer.n[i];
        all += in->algo->arg[i].direction == RG_IN ? 0 : in->algo->arg[i].count(&in->shape);
    }
    const bool some = !alike && known < all,
               others = some && in->whole_of && in->whole_of != measurement->entry && !measurement->brief;
    measurement->check = alike ? RG_HELD_CONFIGURATION : RG_HELD_REFERENCE;
    measurement->checked = some ? known : 0;
    measurement->elements = some ? all : 0;
    snprintf(measurement->against, sizeof measurement->against, "%s", others ? in->whole_of->name : "");
}

// Writes to `detail` why such a time is impossible; RG_STOPS: it is possible.
static rg_stop time_fault(rg_measurement *measurement, double fresh_ns, char detail[200]) {
    const double ns = typical_ns(measurement), bytes = measurement->entry->algo->traffic_bytes(&measurement->shape);
    if (fresh_ns > allowed_ns(measurement)) {
        snprintf(detail, 200, "a call on inputs not seen before takes %.4g ns, %.3g times the median of %.4g ns", fresh_ns,
            fresh_ns / ns, ns);
        return RG_STOP_KEPT;
    }
    if (measurement->late * 2 > measurement->n) {
        snprintf(detail, 200, "in %d of %d samples", measurement->late, measurement->n);
        return RG_STOP_LATE;
    }
    if (bytes > (ns + 1) * (measurement->device->is_gpu ? GPU_BYTES_NS : CORE_BYTES_NS * measurement->threads)) {
        snprintf(detail, 200, "%.4g bytes, a call takes %.4g ns", bytes, ns);
        return RG_STOP_TOO_FAST;
    }
    return RG_STOPS;
}

// Threads that wait for one whose core is used by another process spend CPU time waiting: neither clock can distinguish that
// from an answer kept from call to call.
static bool too_busy(const rg_measurement *measurement, double fresh_ns) {
    return fresh_ns > allowed_ns(measurement) && measurement->threads > 1 && !measurement->device->is_gpu &&
        measurement->others >= RG_OTHERS_LEAST;
}

// A call longer than the time of its process was its only one, on new inputs: it replaces the calls made here.
static int make_call(rg_measurement *measurement, rg_inputs *in, uint64_t seed, double *fresh_ns) {
    if (!measurement->brief || !measurement->single) return call_fresh(measurement, in, seed, fresh_ns);
    *fresh_ns = typical_ns(measurement);
    measurement->fresh = 0; // not asked for
    return rg_measurement_outputs(measurement, in);
}

void rg_measurement_judge(rg_measurement *measurement, rg_inputs *in, uint64_t seed) {
    char text[200];
    double fresh_ns = NAN;
    const bool alike = measurement->right != NULL;
    rg_cpu_pin(-1);                     // all cores may compute the answer and compare
    if (measurement->brief && !alike) { // first, so that the outputs' few elements alone are copied
        rg_inputs_fill(in, measurement->single ? measurement->seed : rg_bits(seed, JUDGED));
        ask_reference(in, 0, seed);
    }
    rg_cpu_pin(measurement->threads == 1 || measurement->device->is_gpu ? 0 : -1);
    int code = make_call(measurement, in, seed, &fresh_ns);
    rg_cpu_pin(-1);
    if (!code && !alike) ask_reference(in, measurement->brief ? 0 : ANSWER_S, seed); // nothing to do where it has answered
    if (!code)
        measurement->verdict = alike
            ? rg_compare_alike(measurement->entry, &in->shape, measurement->param, in->found, measurement->right)
            : rg_compare_outputs(measurement->entry, &in->shape, measurement->param, in->found, &in->answer);
    code = code || alike ? code : compare_whole(measurement, in);
    const char *past = code ? NULL : guard_fault(measurement);
    const rg_stop fault = code ? RG_STOPS : time_fault(measurement, fresh_ns, text);
    if (code) {
        rg_measurement_fault(measurement, "outputs", code);
    } else if (measurement->verdict.status != RG_PASS) {
        measurement->n = 0;
        rg_measurement_end(measurement, measurement->verdict.status, RG_STOP_WRONG, "%s", measurement->verdict.reason);
    } else if (!past && too_busy(measurement, fresh_ns)) {
        measurement->n = 0;
        rg_measurement_end(
            measurement, RG_SKIP, RG_STOP_BUSY, "calls on inputs not seen before took %.4g ns or more", fresh_ns);
    } else if (past || fault != RG_STOPS) {
        measurement->n = 0;
        rg_measurement_end(measurement, RG_FAIL, past ? RG_STOP_OVERRUN : fault, "%s", past ? past : text);
    } else {
        note_check(measurement, in, alike);
    }
    measurement->done = true;
}
