// SPDX-License-Identifier: MIT
// selftest.c: A against A. One variant under two names, each with buffers of its own, goes through the same rounds as any two
// variants; what the ratio of their medians differs from 1 is the error of the method on this machine, today.

#include "lineup.h"

#include <math.h>
#include <string.h>

enum { PAIRS = 9 }; // the least with which the 95 % interval of their median leaves out an outlier on each side
static const double limit_percent[] = {[RG_HOST] = 1, [RG_DEVICE] = 0.5};

// Operations of one call at most: on a core so few that hundreds of samples fit the time, on a GPU enough that the kernel is
// timed and not its launch, whose cost hangs on where the buffers happen to lie (3 % between equal buffers of 10 us kernels).
static const double most_work[] = {[RG_HOST] = 1e9, [RG_DEVICE] = 3e10};

static double size(const rg_lane *lane)
{
    double work = lane->entry->algo->work(&lane->shape);
    return work <= most_work[lane->entry->variant->space] ? work : 1 / work;
}

// The lane to test of one space: hot, on one core, of the role that is the suite's own work rather than a baseline or a
// library, at the largest shape within most_work.
static rg_lane *choose(const rg_lineup *l, rg_space space)
{
    const rg_role wanted = space == RG_HOST ? RG_SIMD : RG_GATHER;
    rg_lane *best = NULL;
    for (rg_lane *lane = l->lane; lane < l->lane + l->n; lane++) {
        const rg_variant *v = lane->entry->variant;
        if (lane->done || v->space != space || lane->mode != RG_HOT || lane->threads > 1) continue;
        const bool own = v->role == wanted, best_own = best && best->entry->variant->role == wanted;
        if (!best || (own && !best_own) || (own == best_own && v == best->entry->variant && size(lane) > size(best)))
            best = lane;
    }
    return best;
}

// One pair, as a difference in percent; NaN when a lane could not be timed (its stop says why).
static double false_difference(rg_lane *a, rg_lane *again, const rg_device *device, rg_inputs *in, uint64_t seed)
{
    rg_lane *lane[2] = {a, again};
    bool enough = false, failed = false;
    rg_inputs_fill(in, rg_bits(seed, 0));
    for (int i = 0; i < 2; i++) {
        rg_lane_open(lane[i], device, in);
        failed |= lane[i]->done;
        enough |= !failed && rg_lane_enough(lane[i]);
    }
    for (int round = 0; !enough && !failed; round++) {
        rg_inputs_fill(in, rg_bits(seed, (uint64_t)round));
        for (int i = 0; i < 2; i++) {
            rg_lane_visit(lane[(round + i) % 2], in);
            failed |= lane[(round + i) % 2]->done;
        }
        // Both go on until both have had enough: the two sides of a ratio are treated alike.
        enough = !failed && rg_lane_enough(a) && rg_lane_enough(again);
    }
    for (int i = 0; i < 2; i++) {
        if (!failed) rg_lane_judge(lane[i], in, seed);
        failed |= lane[i]->verdict.status != RG_PASS;
        rg_lane_close(lane[i]);
    }
    if (failed) return NAN;
    const rg_samples of_a = rg_lane_samples(a), of_again = rg_lane_samples(again);
    rg_ratio r = rg_ratio_of_medians(&of_a, &of_again, seed);
    return 100 * fabs(r.ratio - 1);
}

static rg_row result_row(const rg_lane *lane, const double *percent, const rg_summary *s, double limit)
{
    rg_row row = rg_lane_key(lane);
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
    rg_set_cell(
        &row, RG_C_DETAIL, "%d pairs of %s, 95 %% interval %.3g to %.3g %%", s->n, lane->entry->algo->name, s->low, s->high);
    char text[PAIRS * 16] = "";
    for (int i = 0; i < s->n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.7g", i ? ";" : "", percent[i]);
    rg_set_cell(&row, RG_C_SAMPLES, "%s", text);
    return row;
}

static int test_lane(const rg_lane *lane, const rg_device *device, const rg_bench_options *o, rg_out *out)
{
    double percent[PAIRS], limit = limit_percent[lane->entry->variant->space];
    char shape[96];
    rg_inputs in;
    rg_inputs_make(&in, lane->entry->algo, &lane->shape);
    rg_shape_print(lane->entry->algo, &lane->shape, shape);
    rg_progress progress;
    rg_progress_begin(&progress, "bench: A against A", "pairs", PAIRS);
    for (int i = 0; i < PAIRS; i++) {
        rg_lane a = *lane, again = *lane;
        percent[i] = false_difference(&a, &again, device, &in, rg_bits(o->given.seed, (uint64_t)i));
        if (isnan(percent[i])) {
            char reason[RG_REASON];
            const rg_lane *failed = a.verdict.status == RG_PASS ? &again : &a;
            rg_inputs_free(&in);
            return rg_fail(
                RG_WRONG, "self-test: %s:%s: %s", lane->entry->algo->name, lane->entry->name, rg_lane_reason(failed, reason));
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
        lane->entry->algo->name, lane->entry->name, shape, lane->threads, rg_s(lane->threads), s.median, s.low, s.high, PAIRS,
        limit, rg_colour(stdout, good ? "green" : "red"), good ? "good" : "above it", rg_colour(stdout, "off"));
    int code = rg_out_add(out, result_row(lane, percent, &s, limit));
    return code ? code : good ? RG_GOOD : RG_WRONG;
}

int rg_self_test(const rg_bench_options *o)
{
    rg_lineup l;
    rg_out out;
    char why[200] = "";
    int code = rg_lineup_make(o, &l);
    if (code) return code;
    rg_lane *host = choose(&l, RG_HOST), *device = choose(&l, RG_DEVICE);
    // Only what is timed needs to be verified.
    for (rg_lane *lane = l.lane; lane < l.lane + l.n; lane++)
        if (lane != host && lane != device && !lane->done) rg_lane_end(lane, RG_SKIP, RG_STOP_OTHER, "not chosen");
    code = rg_out_begin(&out, o->out, false);
    if (!code) rg_lineup_verify(&l, o);
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
    rg_lineup_free(&l);
    return code ? code : worst;
}
