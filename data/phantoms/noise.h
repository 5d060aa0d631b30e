// SPDX-License-Identifier: MIT
// noise.h: random numbers for the simulators, from a seed and an index only, the same on every machine.
#pragma once

#include <stdint.h>

// A uniform number in (0, 1), 53 bits.
double rg_uniform(uint64_t seed, uint64_t index);
// Adds normal deviates of this standard deviation (Box and Muller 1958), different for each image of a series.
void rg_add_noise(double sd, uint64_t seed, int64_t image, int64_t n, double *value);
