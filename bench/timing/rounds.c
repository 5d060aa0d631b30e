// SPDX-License-Identifier: MIT
// rounds.c: see rounds.h; how one sample is taken is in sample.c.
#include "rounds.h"

static bool finish(const rg_rounds *r, rg_lane *lane, rg_inputs *in)
{
    if (!lane->done) rg_lane_judge(lane, in, r->seed);
    if (r->energy_s > 0 && lane->verdict.status == RG_PASS) rg_lane_energy(lane, in, r->energy_s);
    bool more = r->finished(r->of, lane);
    rg_lane_close(lane);
    return more;
}

// The inputs of a round, which a lane that was judged before may have left changed.
static void pose(const rg_rounds *r, rg_inputs *in, int round, uint64_t given)
{
    rg_inputs_fill(in, r->same_inputs ? given : rg_bits(r->seed, (uint64_t)round));
}

void rg_time_rounds(const rg_rounds *r, rg_lane **lane, int n, rg_inputs *in)
{
    const uint64_t given = in->shape.seed;
    int left = 0;
    bool more = true;
    for (int i = 0; i < n; i++) {
        pose(r, in, r->first, given);
        rg_lane_open(lane[i], lane[i]->entry->variant->space == RG_HOST ? rg_device_cpu() : r->gpu, in);
        if (lane[i]->done || rg_lane_enough(lane[i])) more &= finish(r, lane[i], in);
        left += lane[i]->device != NULL;
    }
    for (int round = r->first; left && more; round++) {
        pose(r, in, round, given);
        for (int i = 0; i < n; i++) {
            rg_lane *turn = lane[round % 2 ? n - 1 - i : i];
            if (turn->device && !turn->done) rg_lane_visit(turn, in);
            if (turn->device) r->visited(r->of);
        }
        for (int i = 0; i < n; i++)
            if (lane[i]->device && (lane[i]->done || rg_lane_enough(lane[i]))) {
                more &= finish(r, lane[i], in);
                left--;
            }
    }
    for (int i = 0; i < n; i++) rg_lane_close(lane[i]);
}
