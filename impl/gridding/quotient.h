// SPDX-License-Identifier: MIT
// quotient.h: one frequency of a map from the sums G and W of index.h, on the host and on a GPU.
//
//     F(v) = (G/W - d . grad(G/W)) W / (W + f),   d = s^2 grad W / W
//
// The sums are a mean of the samples within b, and represent the centre of their weight, v + d. Sections cross in the centre,
// so that samples are denser there, as 1/|v|, and d points to it; the gridding correction ignores d. For a Gaussian of standard
// deviation s, which the kernel nearly is, the gradient of the weights gives d exactly for any sampling; the rest is Taylor's
// series to its first term (in statistics: local linear regression instead of a local mean). Far from the centre d is small,
// and the noise of the gradients exceeds it.
//
// Beyond the sphere of radius k, which a shell of the map's Nyquist frequency crosses, there are only samples on one side. They
// are less reliable, so their weight falls from 1 to 0 over a voxel; planes of the frequency P/2, which is also -P/2, are
// omitted there.
#ifndef RG_GRIDDING_QUOTIENT_H
#define RG_GRIDDING_QUOTIENT_H

#include "index.h"

#include <math.h>

enum { GR_CENTRE = 6 };   // voxels: beyond, d is below s^2/6, and its correction adds more noise than it gains
#define GR_SHIFT_MOST 0.1 // voxels: beyond, the series is not valid, and sums have few samples

// Inputs for every voxel of a map.
typedef struct gr_sums {
    int64_t k;
    const float *g, *w;
    double wiener, variance; // f and s^2
} gr_sums;

// Whether v = (x, y, z) takes part in a map.
RG_HD int gr_takes_part(int64_t k, int64_t x, int64_t y, int64_t z) {
    const int64_t rr = x * x + y * y + z * z;
    return rr <= k * k || (rr < (k + 1) * (k + 1) && x < k && y < k && y > -k && z < k && z > -k);
}

// G/W, 0 where nothing was added, at v with any x; also gives W.
RG_HD double gr_mean(const gr_sums *s, int64_t x, int64_t y, int64_t z, double mean[2]) {
    const int64_t turn = x < 0 ? -1 : 1, e = gr_voxel(s->k, turn * x, turn * y, turn * z);
    const double per = s->w[e] > 0 ? 1 / (double)s->w[e] : 0;
    mean[0] = s->g[2 * e] * per;
    mean[1] = (double)turn * s->g[2 * e + 1] * per;
    return s->w[e];
}

// W times d . grad(G/W) at v, whose six neighbours are stored.
RG_HD void gr_offset(const gr_sums *s, int64_t x, int64_t y, int64_t z, double offset[2]) {
    double rise = 0;
    offset[0] = offset[1] = 0;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t i = axis == 0, j = axis == 1, l = axis == 2;
        double low[2], high[2];
        const double below = gr_mean(s, x - i, y - j, z - l, low), above = gr_mean(s, x + i, y + j, z + l, high);
        const double slope = below > 0 && above > 0 ? s->variance * (above - below) / 2 : 0;
        rise += slope * slope;
        for (int part = 0; part < 2; part++) offset[part] += slope * (high[part] - low[part]) / 2;
    }
    const double most = GR_SHIFT_MOST * s->w[gr_voxel(s->k, x, y, z)], shift = sqrt(rise),
                 share = shift > most ? most / shift : 1;
    for (int part = 0; part < 2; part++) offset[part] *= share;
}

// F(v), x >= 0, of a voxel that takes part.
RG_HD void gr_quotient(const gr_sums *s, int64_t x, int64_t y, int64_t z, float to[2]) {
    const int64_t k = s->k, e = gr_voxel(k, x, y, z), rr = x * x + y * y + z * z;
    const int64_t centre = k > GR_CENTRE ? (int64_t)GR_CENTRE : k - 1;
    double per = s->w[e] > 0 ? 1 / (s->w[e] + s->wiener) : 0, offset[2] = {0, 0};
    if (rr > k * k) per *= (double)(k + 1) - sqrt((double)rr);
    if (per > 0 && rr <= centre * centre) gr_offset(s, x, y, z, offset);
    to[0] = (float)((s->g[2 * e] - offset[0]) * per);
    to[1] = (float)((s->g[2 * e + 1] - offset[1]) * per);
}

#endif
