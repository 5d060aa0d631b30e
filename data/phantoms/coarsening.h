// SPDX-License-Identifier: MIT
// coarsening.h: phase separation in two dimensions on a periodic grid, from a seed; the built-in photographs of `autocorr`.
//
// The order parameter phi (-1 and +1 in the two phases) follows, in units of pixels with mobility, gradient coefficient and the
// quartic potential's constants 1,
//     d phi/dt + v . grad phi = laplacian mu,   mu = phi^3 - phi - laplacian phi                 (Cahn and Hilliard 1958)
// Model B: v = 0. Model H in the viscous regime: v is the Stokes flow eta laplacian v = grad p + phi grad mu, div v = 0, found
// spectrally at every step. A pure mode of small amplitude grows as exp(k^2 (1 - k^2) t); interfaces are tanh(x / sqrt 2).
//
// Growth laws of the length L: model B, t^(1/3) by diffusion (Lifshitz and Slyozov 1961); model H, t by capillary flow,
// L = c (sigma / eta) t with sigma = sqrt(8)/3 (Siggia 1979), once L is beyond sqrt(eta), where flow overtakes diffusion.
//
// Time stepping: semi-implicit in Fourier space, stabilised so that any step is stable (Eyre 1998); the step follows the
// coarsening, dt ~ t^(2/3) (Vollmayr-Lee and Rutenberg 2003), and with flow moves nothing further than half a pixel.
#pragma once

#include <stdint.h>

typedef enum { RG_MODEL_B, RG_MODEL_H } rg_coarsening_model;

typedef struct rg_coarsening_setup {
    int64_t width, height;
    rg_coarsening_model model;
    uint64_t seed;
    double mean;      // of phi, 0 for equal phases
    double amplitude; // standard deviation of the initial white noise
    double viscosity; // eta, model H only
    int threads;
} rg_coarsening_setup;

typedef struct rg_coarsening rg_coarsening;

// Ends the program with RG_LACKS if memory is short. The same setup on the same machine gives the same bits.
rg_coarsening *rg_coarsening_make(const rg_coarsening_setup *);
void rg_coarsening_free(rg_coarsening *);
void rg_coarsening_set(rg_coarsening *, const float *phi); // sets another initial state, height * width values
// Advances to `time` and calls progress(data, time now), unless NULL, after each step.
void rg_coarsening_advance(rg_coarsening *, double time, void (*progress)(void *, double), void *data);
double rg_coarsening_time(const rg_coarsening *);
const float *rg_coarsening_phi(const rg_coarsening *); // height * width values, row by row
double rg_coarsening_energy(const rg_coarsening *);    // per pixel: phi^4/4 - phi^2/2 + 1/4 + |grad phi|^2/2
void rg_coarsening_flow(
    rg_coarsening *, float *vx, float *vy); // the Stokes flow of the present state, height * width values each
