// SPDX-License-Identifier: MIT
#include "noise.h"
#include "../../impl/suite.h"

#include <math.h>

double rg_uniform(uint64_t seed, uint64_t index) { return ((double)(rg_bits(seed, index) >> 11) + 0.5) * 0x1p-53; }

// Two deviates from 64 bits.
void rg_add_noise(double sd, uint64_t seed, int64_t image, int64_t n, double *value) {
    seed ^= 0xA0761D6478BD642Fu * (uint64_t)(image + 1);
    for (int64_t j = 0; j < n; j += 2) {
        uint64_t bits = rg_bits(seed, (uint64_t)j);
        double radius = sd * sqrt(-2 * log(((double)(bits >> 32) + 0.5) * 0x1p-32));
        double angle = 2 * M_PI * (double)(bits & 0xFFFFFFFF) * 0x1p-32;
        value[j] += radius * cos(angle);
        if (j + 1 < n) value[j + 1] += radius * sin(angle);
    }
}
