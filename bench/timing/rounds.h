// SPDX-License-Identifier: MIT
// rounds.h: measurements of one shape timed in rounds, each in turn, in alternating order: the one timing loop of bench and tune.
#pragma once

#include "sample.h"

typedef struct rg_rounds {
    const rg_device *gpu; // NULL when no measurement needs one
    uint64_t seed;
    int first;                                    // number of the first round: what its inputs and its order follow from
    bool same_inputs;                             // those that `in` holds, in all rounds; else fresh ones in each
    double energy_s;                              // window of the energy measurement of measurements that passed; 0: none
    bool (*finished)(void *of, rg_measurement *); // a measurement with its verdict, still open; false ends the timing
    void (*visited)(void *of);                    // after every turn
    void *of;
} rg_rounds;

// The measurements, not done yet, have all room at once. All are closed on return.
void rg_time_rounds(const rg_rounds *, rg_measurement **measurement, int n, rg_inputs *);
