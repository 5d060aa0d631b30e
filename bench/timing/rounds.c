// SPDX-License-Identifier: MIT
// rounds.c: the timing loop; sample.c takes one sample.
#include "sample.h"

static bool finish(const rg_rounds *r, rg_measurement *measurement, rg_inputs *in) {
    if (!measurement->done) rg_measurement_judge(measurement, in, r->seed);
    if (r->energy_s > 0 && measurement->verdict.status == RG_PASS) rg_measurement_energy(measurement, in, r->energy_s);
    bool more = r->finished(r->of, measurement);
    rg_measurement_close(measurement);
    return more;
}

// Restores the inputs of a round, which judging a measurement may have changed.
static void pose(const rg_rounds *r, rg_inputs *in, int round, uint64_t given) {
    rg_inputs_fill(in, r->same_inputs ? given : rg_bits(r->seed, (uint64_t)round));
}

void rg_time_rounds(const rg_rounds *r, rg_measurement **measurement, int n, rg_inputs *in) {
    const uint64_t given = in->shape.seed;
    int left = 0;
    bool more = true;
    for (int i = 0; i < n; i++) {
        pose(r, in, r->first, given);
        rg_measurement_open(measurement[i], measurement[i]->entry->variant->space == RG_HOST ? rg_device_cpu() : r->gpu, in);
        if (measurement[i]->done || rg_measurement_enough(measurement[i])) more &= finish(r, measurement[i], in);
        left += measurement[i]->device != NULL;
    }
    for (int round = r->first; left && more; round++) {
        pose(r, in, round, given);
        for (int i = 0; i < n; i++) {
            rg_measurement *turn = measurement[round % 2 ? n - 1 - i : i];
            if (turn->device && !turn->done) rg_measurement_visit(turn, in);
            if (turn->device) r->visited(r->of);
        }
        for (int i = 0; i < n; i++)
            if (measurement[i]->device && (measurement[i]->done || rg_measurement_enough(measurement[i]))) {
                more &= finish(r, measurement[i], in);
                left--;
            }
    }
    for (int i = 0; i < n; i++) rg_measurement_close(measurement[i]);
}
