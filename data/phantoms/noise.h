// SPDX-License-Identifier: MIT
// noise.h: random numbers of the simulators, the same on every machine from a seed and an index alone.
#pragma once

#include <stdint.h>

// In (0, 1), 53 bits.
double rg_uniform(uint64_t seed, uint64_t index);
// Adds normal deviates of this standard deviation (Box and Muller 1958), those of image `image` of a series.
void rg_add_noise(double sd, uint64_t seed, int64_t image, int64_t n, double *value);
