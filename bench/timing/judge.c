// SPDX-License-Identifier: MIT
// judge.c: whether what a lane has timed is right.

#include "sample.h"

#include "../../impl/base/core.h"
#include "../../impl/runtime/choice.h"
#include "../../impl/runtime/cpu.h"
#include "../machine/sensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What the reference may take for one shape, whatever the number of lanes; without reference_at it takes its time.
static const double ANSWER_S = 0.5;

// Numbers of the inputs that lanes are judged by, beyond those of all rounds: JUDGED those that the reference answers, the
// others for the time alone.
enum { JUDGED = 1000, FRESH_MOST = 16 };
static const double FRESH_S = 0.03, SLOW_S = 1;
// A call on fresh inputs may take so many times the median, and besides the time to read its arguments from memory and, of
// several threads, that to wake them. An answer that is kept from call to call, or comes of work done beside them, takes more:
// elapsed and, since nobody knows when a busy machine wakes a thread, of processors.
static const double FRESH_FACTOR = 4, FRESH_NS = 50e3, WAKE_NS = 5e6, MEMORY_NS_BYTE = 0.25;
// What no core and no GPU reads from its nearest memory.
static const double CORE_BYTES_NS = 1e3, GPU_BYTES_NS = 1e5;

static void ask_reference(rg_inputs *in, double seconds, uint64_t seed)
{
    if (in->answered && in->answered_seed == in->shape.seed) return;
    rg_answer_free(&in->answer);
    rg_answer_make(&in->answer, in->algo, &in->shape, in->arg, seconds, seed);
    in->answered = true;
    in->answered_seed = in->shape.seed;
    in->whole_of = NULL;
}

// Of one call: by the samples or, without any, by the untimed calls.
static double typical_ns(const rg_lane *lane)
{
    rg_summary s;
    const rg_samples samples = rg_lane_samples(lane);
    if (!lane->n) return 1e9 * lane->call_s - lane->overhead_ns;
    rg_summarise(&samples, &s);
    return s.median;
}

static double allowed_ns(const rg_lane *lane)
{
    return FRESH_FACTOR * typical_ns(lane) + FRESH_NS + (lane->threads > 1 ? WAKE_NS : 0) +
        MEMORY_NS_BYTE * (double)rg_lane_bytes(lane);
}

// Calls on inputs that the lane has not seen: the first on those of JUDGED, whose outputs are left in in->found; further ones
// while there is time, also to fill them. The shortest is taken, and as many as FRESH_MOST or SLOW_S where that is too long: a
// machine that is busy, where threads wait for processors for milliseconds, makes many long, and a kept answer all.
static int call_fresh(rg_lane *lane, rg_inputs *in, uint64_t seed, double *least_ns)
{
    const double start = rg_seconds(), others_s = rg_cpu_others_s(), allowed = allowed_ns(lane);
    int code = RG_OK;
    *least_ns = lane->fresh = INFINITY;
    for (int i = 0, more = 1; more && !code; i++) {
        double elapsed_s;
        rg_inputs_fill(in, rg_bits(seed, (uint64_t)(JUDGED + i)));
        code = rg_lane_call(lane, in, i == 0, &elapsed_s);
        lane->fresh = fmin(lane->fresh, 1e9 * elapsed_s / typical_ns(lane));
        *least_ns = fmin(*least_ns, 1e9 * (lane->device->is_gpu ? elapsed_s : fmin(elapsed_s, lane->cpu_s)));
        const double spent_s = rg_seconds() - start, next_s = in->fill_s + 1e-9 * typical_ns(lane);
        const bool slow = !(*least_ns <= allowed);
        more = i + 1 < FRESH_MOST ? slow || spent_s + next_s < FRESH_S : slow && spent_s < SLOW_S;
    }
    if (in->shape.seed != rg_bits(seed, JUDGED)) {
        double untimed_s;
        rg_inputs_fill(in, rg_bits(seed, JUDGED));
        code = code || lane->scope != RG_PAGEABLE ? code : rg_lane_call(lane, in, true, &untimed_s); // each copies its own
    }
    lane->others = (rg_cpu_others_s() - others_s) / (rg_seconds() - start);
    return code;
}

static const char *guard_fault(rg_lane *lane)
{
    bool hit;
    for (int i = 0; i < lane->entry->algo->n_args; i++) {
        rg_buffer_guard(&lane->frame.buffer[i], &hit);
        if (hit) return lane->entry->algo->arg[i].name;
    }
    rg_buffer_guard(&lane->frame.scratch, &hit);
    return hit ? "scratch" : NULL;
}

// Whether the outputs are also those of another variant, at every element. The first of this program that passes is kept for
// the others; a plug-in without one beside it is held against what a job would take.
static bool computes_as_asked(const rg_entry *e) { return e->origin != RG_PLUGGED_IN && !e->variant->tolerance; }

static void keep_whole(rg_inputs *in, const rg_entry *e)
{
    for (int i = 0; i < in->algo->n_args; i++)
        if (in->algo->arg[i].direction != RG_IN) {
            in->whole[i] = in->whole[i] ? in->whole[i] : rg_alloc(in->bytes[i] + 1);
            memcpy(in->whole[i], in->found[i], in->bytes[i]);
        }
    in->whole_of = e;
}

// Another lane, of the variant that a job would take, makes one call; nothing where there is none, or no room.
static void ask_another(const rg_lane *lane, rg_inputs *in)
{
    rg_choice c;
    double elapsed_s;
    rg_lane other = {.shape = lane->shape,
        .scope = RG_RESIDENT,
        .mode = RG_HOT,
        .threads = lane->cores > 0 ? lane->cores : 1,
        .device = lane->device};
    if (rg_choose(in->algo, lane->device->name, NULL, &lane->shape, 1, NULL, &c) != RG_GOOD || !computes_as_asked(c.entry))
        return;
    other.entry = c.entry;
    memcpy(other.param, c.param, sizeof other.param);
    if (rg_lane_make(&other) == RG_OK && rg_lane_call(&other, in, true, &elapsed_s) == RG_OK &&
        rg_compare_outputs(other.entry, &in->shape, other.param, in->found, &in->answer).status == RG_PASS)
        keep_whole(in, other.entry);
    rg_lane_close(&other);
}

static bool is_whole(const rg_lane *lane, const rg_inputs *in)
{
    bool all = true;
    for (int i = 0; i < in->algo->n_args; i++)
        all &= in->algo->arg[i].direction == RG_IN || in->answer.n[i] == in->algo->arg[i].count(&in->shape);
    return all || lane->brief;
}

static int compare_whole(rg_lane *lane, rg_inputs *in)
{
    if (lane->verdict.status != RG_PASS || is_whole(lane, in)) return RG_OK;
    if (!in->whole_of && computes_as_asked(lane->entry)) {
        keep_whole(in, lane->entry);
        return RG_OK;
    }
    if (!in->whole_of) ask_another(lane, in);
    if (!in->whole_of) return RG_OK;
    double elapsed_s;
    const rg_verdict sampled = lane->verdict;
    const int code = rg_lane_call(lane, in, true, &elapsed_s); // the other may have left its own outputs
    lane->verdict = rg_compare_alike(lane->entry, &in->shape, lane->param, in->found, in->whole);
    if (lane->verdict.status == RG_PASS) lane->verdict = sampled;
    return code;
}

// How much was looked at, for the row.
static void note_check(rg_lane *lane, const rg_inputs *in, bool alike)
{
    int64_t known = 0, all = 0;
    for (int i = 0; i < in->algo->n_args; i++) {
        known += in->answer.n[i];
        all += in->algo->arg[i].direction == RG_IN ? 0 : in->algo->arg[i].count(&in->shape);
    }
    const bool some = !alike && known < all, others = some && in->whole_of && in->whole_of != lane->entry && !lane->brief;
    lane->check = alike ? RG_HELD_CONFIGURATION : RG_HELD_REFERENCE;
    lane->checked = some ? known : 0;
    lane->elements = some ? all : 0;
    snprintf(lane->against, sizeof lane->against, "%s", others ? in->whole_of->name : "");
}

// Why no such time can be, in `detail`; RG_STOPS: it can.
static rg_stop time_fault(rg_lane *lane, double fresh_ns, char detail[200])
{
    const double ns = typical_ns(lane), bytes = lane->entry->algo->traffic_bytes(&lane->shape);
    if (fresh_ns > allowed_ns(lane)) {
        snprintf(detail, 200, "a call on inputs not seen before takes %.4g ns, %.3g times the median of %.4g ns", fresh_ns,
            fresh_ns / ns, ns);
        return RG_STOP_KEPT;
    }
    if (lane->late * 2 > lane->n) {
        snprintf(detail, 200, "in %d of %d samples", lane->late, lane->n);
        return RG_STOP_LATE;
    }
    if (bytes > (ns + 1) * (lane->device->is_gpu ? GPU_BYTES_NS : CORE_BYTES_NS * lane->threads)) {
        snprintf(detail, 200, "%.4g bytes, a call takes %.4g ns", bytes, ns);
        return RG_STOP_TOO_FAST;
    }
    return RG_STOPS;
}

// Threads that wait for one whose core another process has spend their own time waiting: neither clock tells that from an answer
// that is kept from call to call.
static bool too_busy(const rg_lane *lane, double fresh_ns)
{
    return fresh_ns > allowed_ns(lane) && lane->threads > 1 && !lane->device->is_gpu && lane->others >= RG_OTHERS_LEAST;
}

// A call that is longer than the time of its process was its only one, on inputs that were new: it stands for those made here.
static int make_call(rg_lane *lane, rg_inputs *in, uint64_t seed, double *fresh_ns)
{
    if (!lane->brief || !lane->single) return call_fresh(lane, in, seed, fresh_ns);
    *fresh_ns = typical_ns(lane);
    lane->fresh = 0; // not asked for
    return rg_lane_outputs(lane, in);
}

void rg_lane_judge(rg_lane *lane, rg_inputs *in, uint64_t seed)
{
    char text[200];
    double fresh_ns = NAN;
    const bool alike = lane->right != NULL;
    rg_cpu_pin(-1);              // all cores may compute the answer and compare
    if (lane->brief && !alike) { // first, so that the outputs' few elements alone are copied
        rg_inputs_fill(in, lane->single ? lane->seed : rg_bits(seed, JUDGED));
        ask_reference(in, 0, seed);
    }
    rg_cpu_pin(lane->threads == 1 || lane->device->is_gpu ? 0 : -1);
    int code = make_call(lane, in, seed, &fresh_ns);
    rg_cpu_pin(-1);
    if (!code && !alike) ask_reference(in, lane->brief ? 0 : ANSWER_S, seed); // nothing to do where it has answered
    if (!code)
        lane->verdict = alike ? rg_compare_alike(lane->entry, &in->shape, lane->param, in->found, lane->right)
                              : rg_compare_outputs(lane->entry, &in->shape, lane->param, in->found, &in->answer);
    code = code || alike ? code : compare_whole(lane, in);
    const char *past = code ? NULL : guard_fault(lane);
    const rg_stop fault = code ? RG_STOPS : time_fault(lane, fresh_ns, text);
    if (code) {
        rg_lane_fault(lane, "outputs", code);
    } else if (lane->verdict.status != RG_PASS) {
        lane->n = 0;
        rg_lane_end(lane, lane->verdict.status, RG_STOP_WRONG, "%s", lane->verdict.reason);
    } else if (!past && too_busy(lane, fresh_ns)) {
        lane->n = 0;
        rg_lane_end(lane, RG_SKIP, RG_STOP_BUSY, "calls on inputs not seen before took %.4g ns or more", fresh_ns);
    } else if (past || fault != RG_STOPS) {
        lane->n = 0;
        rg_lane_end(lane, RG_FAIL, past ? RG_STOP_OVERRUN : fault, "%s", past ? past : text);
    } else {
        note_check(lane, in, alike);
    }
    lane->done = true;
}
