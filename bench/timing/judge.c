// SPDX-License-Identifier: MIT
// judge.c: whether what a lane has timed is right.

#include "sample.h"

#include "../../impl/base/core.h"
#include "../../impl/runtime/cpu.h"

#include <string.h>

// What the reference may take for one shape, whatever the number of lanes; without reference_at it takes its time.
static const double ANSWER_S = 0.5;

static bool accumulates(const rg_algo *algo)
{
    bool any = false;
    for (int i = 0; i < algo->n_args; i++)
        any |= algo->arg[i].direction == RG_INOUT;
    return any;
}

static void ask_reference(rg_inputs *in, double seconds, uint64_t seed)
{
    rg_answer_free(&in->answer);
    rg_answer_make(&in->answer, in->algo, &in->shape, in->arg, seconds, seed);
    in->answered = true;
    in->answered_seed = in->shape.seed;
}

// Arguments that calls read and write, and outputs that they add to, hold sums of all timed calls: they are judged by one more
// call, on what they were at first. It may as well be on the inputs that the reference has been asked about.
static int call_again(rg_lane *lane, rg_inputs *in)
{
    const uint64_t seed = in->shape.seed;
    if (seed != in->answered_seed)
        rg_inputs_fill(in, in->answered_seed);
    int code = rg_lane_call(lane, in);
    code = code ? code : rg_lane_outputs(lane, in);
    if (!code)
        lane->verdict = rg_compare_outputs(lane->entry, &in->shape, lane->param, in->found, &in->answer);
    if (seed != in->answered_seed)
        rg_inputs_fill(in, seed);
    return code;
}

static int compare(rg_lane *lane, rg_inputs *in)
{
    int code = rg_lane_outputs(lane, in);
    if (!code)
        lane->verdict = lane->right
                            ? rg_compare_alike(lane->entry, &in->shape, lane->param, in->found, lane->right)
                            : rg_compare_outputs(lane->entry, &in->shape, lane->param, in->found, &in->answer);
    return code;
}

static const char *guard_fault(rg_lane *lane)
{
    bool hit;
    for (int i = 0; i < lane->entry->algo->n_args; i++) {
        rg_buffer_guard(&lane->frame.buffer[i], &hit);
        if (hit)
            return lane->entry->algo->arg[i].name;
    }
    rg_buffer_guard(&lane->frame.scratch, &hit);
    return hit ? "scratch" : NULL;
}

// How much was looked at, for the row.
static void tell(rg_lane *lane, const rg_inputs *in, bool alike)
{
    int64_t known = 0, all = 0;
    for (int i = 0; i < in->algo->n_args; i++) {
        known += in->answer.n[i];
        all += in->algo->arg[i].direction == RG_IN ? 0 : in->algo->arg[i].count(&in->shape);
    }
    if (alike || known >= all)
        snprintf(lane->judged, sizeof lane->judged, "every element held against %s",
                 alike ? "another configuration's" : "the reference");
    else
        snprintf(lane->judged, sizeof lane->judged, "%.3g of %.3g elements held against the reference",
                 (double)known, (double)all);
}

void rg_lane_judge(rg_lane *lane, rg_inputs *in, uint64_t seed)
{
    const bool again = accumulates(in->algo) || lane->scope == RG_ADDING, alike = lane->right && !again;
    rg_cpu_pin(-1); // all cores may compute the answer and compare
    if (!alike && (!in->answered || (!again && in->answered_seed != in->shape.seed)))
        ask_reference(in, lane->brief ? 0 : ANSWER_S, seed);
    int code = again ? call_again(lane, in) : compare(lane, in);
    const char *past = code ? NULL : guard_fault(lane);
    if (code) {
        rg_lane_fault(lane, "outputs", code);
    } else if (lane->verdict.status != RG_PASS) {
        lane->n = 0;
        rg_lane_end(lane, lane->verdict.status, "after timing: %s", lane->verdict.reason);
    } else if (past) {
        lane->n = 0;
        rg_lane_end(lane, RG_FAIL, "after timing: wrote outside of %s", past);
    } else {
        tell(lane, in, alike);
    }
    lane->done = true;
}
