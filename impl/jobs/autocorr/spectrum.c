// SPDX-License-Identifier: MIT
// spectrum.c: finds the characteristic length from the peak of the power spectrum, the method that Lu et al. argue against.
#include "autocorr.h"

#include <fftw3.h>

static double *ring_power(const rg_image *image, const fftw_complex *f, int64_t *rings) {
    int64_t w = image->width, h = image->height, side = w > h ? w : h, half = w / 2 + 1;
    *rings = side / 2 + 1;
    double *power = rg_alloc((size_t)*rings * sizeof *power);
    RG_FREED int64_t *n = rg_alloc((size_t)*rings * sizeof *n);
    for (int64_t v = 0; v < h; v++)
        for (int64_t u = 0; u < half; u++) {
            double kx = (double)u * (double)side / (double)w;
            double ky = (double)(v <= h / 2 ? v : v - h) * (double)side / (double)h;
            int64_t k = (int64_t)(sqrt(kx * kx + ky * ky) + 0.5);
            const double *z = f[v * half + u];
            int64_t mates = u == 0 || 2 * u == w ? 1 : 2; // the other half plane, by Friedel symmetry
            if (k < *rings) {
                power[k] += (double)mates * (z[0] * z[0] + z[1] * z[1]);
                n[k] += mates;
            }
        }
    for (int64_t k = 0; k < *rings; k++) power[k] = n[k] ? power[k] / (double)n[k] : 0;
    return power;
}

double ac_spectrum_length(const rg_image *image) {
    int64_t w = image->width, h = image->height, rings, best = 0;
    double *grey = fftw_malloc((size_t)(w * h) * sizeof *grey), mean = 0;
    fftw_complex *f = fftw_malloc((size_t)(h * (w / 2 + 1)) * sizeof *f);
    if (!grey || !f) rg_end(RG_LACKS, "no memory for a Fourier transform of %lld x %lld pixels", (long long)w, (long long)h);
    for (int64_t i = 0; i < w * h; i++) {
        grey[i] = ac_grey(image, i);
        mean += grey[i];
    }
    for (int64_t i = 0; i < w * h; i++) grey[i] -= mean / (double)(w * h);
    fftw_plan plan;
#pragma omp critical(fftw_planner)
    plan = fftw_plan_dft_r2c_2d((int)h, (int)w, grey, f, FFTW_ESTIMATE);
    fftw_execute(plan);
#pragma omp critical(fftw_planner)
    fftw_destroy_plan(plan);
    double *power = ring_power(image, f, &rings);
    for (int64_t k = 1; k < rings; k++)
        if (power[k] > (best ? power[best] : 0)) best = k;
    // The mean is subtracted in floating point, so a constant photograph leaves rounding errors below 2^-40 of it.
    bool flat = !best || power[best] <= ldexp(mean * mean, -80);
    free(power);
    fftw_free(grey);
    fftw_free(f);
    return flat ? NAN : (double)(w > h ? w : h) / (double)best;
}
