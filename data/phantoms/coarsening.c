// SPDX-License-Identifier: MIT
#include "coarsening.h"
#include "../../impl/base/core.h"
#include "../../impl/suite.h"

#include <fftw3.h>

// Above (3 phi^2 - 1)/2 at phi = 1, with room for overshoot: the explicit part then never gains energy (Eyre 1998).
static const double STABILISER = 1.1;
// dt = STEP t^(2/3) keeps the stabiliser's delay of the modes that carry the pattern, dt k^2 STABILISER, below about 2 %.
static const double STEP = 0.04, FIRST_STEP = 0.05;
static const double MOVE = 0.5; // pixels that the flow may carry phi in one step

// Pointers to real fields and their half-plane transforms; flow's are NULL in model B.
struct rg_coarsening {
    rg_coarsening_setup setup;
    int64_t n, bins, half; // pixels, complex values, width / 2 + 1
    double time;
    float *phi, *f, *gx, *gy, *vx, *vy;              // phi; products; gradient; velocity
    fftwf_complex *phi_k, *work_k, *f_k, *a_k, *b_k; // phi; scratch of inverse transforms; products
    fftwf_plan forward, inverse;                     // used on other arrays of the same alignment
    double *kx, *ky;                                 // wave numbers by column and row of the half plane
    double *kx_odd, *ky_odd;                         // the same for first derivatives: 0 where the sign is undefined (Nyquist)
};

static void *allocate(size_t bytes) {
    void *p = fftwf_malloc(bytes);
    if (!p) rg_end(RG_LACKS, "no memory: a simulation field needs %zu bytes", bytes);
    memset(p, 0, bytes);
    return p;
}

// Standard normal deviates from counter-based bits (Box and Muller 1958).
static double normal(uint64_t seed, uint64_t i) {
    double u = ((double)(rg_bits(seed, 2 * i) >> 11) + 0.5) * 0x1p-53, v = (double)(rg_bits(seed, 2 * i + 1) >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static void wave_numbers(rg_coarsening *c) {
    int64_t w = c->setup.width, h = c->setup.height;
    c->kx = rg_alloc((size_t)c->half * sizeof(double));
    c->kx_odd = rg_alloc((size_t)c->half * sizeof(double));
    c->ky = rg_alloc((size_t)h * sizeof(double));
    c->ky_odd = rg_alloc((size_t)h * sizeof(double));
    for (int64_t u = 0; u < c->half; u++) {
        c->kx[u] = 2 * M_PI * (double)u / (double)w;
        c->kx_odd[u] = 2 * u == w ? 0 : c->kx[u];
    }
    for (int64_t v = 0; v < h; v++) {
        c->ky[v] = 2 * M_PI * (double)(2 * v <= h ? v : v - h) / (double)h;
        c->ky_odd[v] = 2 * v == h ? 0 : c->ky[v];
    }
}

static void forward(const rg_coarsening *c, float *real, fftwf_complex *spectrum) {
    fftwf_execute_dft_r2c(c->forward, real, spectrum);
}

// Destroys the spectrum, as FFTW's inverse does, so callers pass work_k.
static void inverse(const rg_coarsening *c, float *real) { fftwf_execute_dft_c2r(c->inverse, c->work_k, real); }

rg_coarsening *rg_coarsening_make(const rg_coarsening_setup *setup) {
    rg_coarsening *c = rg_alloc(sizeof *c);
    c->setup = *setup;
    c->n = setup->width * setup->height;
    c->half = setup->width / 2 + 1;
    c->bins = setup->height * c->half;
    size_t real = (size_t)c->n * sizeof(float), complex_bytes = (size_t)c->bins * sizeof(fftwf_complex);
    c->phi = allocate(real);
    c->f = allocate(real);
    c->phi_k = allocate(complex_bytes);
    c->work_k = allocate(complex_bytes);
    c->f_k = allocate(complex_bytes);
    if (setup->model == RG_MODEL_H) {
        float **field[] = {&c->gx, &c->gy, &c->vx, &c->vy};
        for (int i = 0; i < 4; i++) *field[i] = allocate(real);
        c->a_k = allocate(complex_bytes);
        c->b_k = allocate(complex_bytes);
    }
    wave_numbers(c);
#if HAVE_FFTW_OMP
    fftwf_init_threads();
    fftwf_plan_with_nthreads(setup->threads);
#endif
    // ESTIMATE, so that the plan and with it every rounding is the same in each run.
    c->forward = fftwf_plan_dft_r2c_2d((int)setup->height, (int)setup->width, c->f, c->f_k, FFTW_ESTIMATE);
    c->inverse = fftwf_plan_dft_c2r_2d((int)setup->height, (int)setup->width, c->work_k, c->phi, FFTW_ESTIMATE);
    double sum = 0;
    for (int64_t i = 0; i < c->n; i++) sum += c->f[i] = (float)(setup->amplitude * normal(setup->seed, (uint64_t)i));
    for (int64_t i = 0; i < c->n; i++) c->f[i] += (float)(setup->mean - sum / (double)c->n);
    rg_coarsening_set(c, c->f);
    return c;
}

void rg_coarsening_free(rg_coarsening *c) {
    fftwf_destroy_plan(c->forward);
    fftwf_destroy_plan(c->inverse);
    void *field[] = {c->phi, c->f, c->gx, c->gy, c->vx, c->vy, c->phi_k, c->work_k, c->f_k, c->a_k, c->b_k};
    for (int i = 0; i < RG_COUNT(field); i++) fftwf_free(field[i]);
    free(c->kx);
    free(c->ky);
    free(c->kx_odd);
    free(c->ky_odd);
    free(c);
}

void rg_coarsening_set(rg_coarsening *c, const float *phi) {
    memmove(c->phi, phi, (size_t)c->n * sizeof *phi);
    forward(c, c->phi, c->phi_k);
}

// phi from its transform.
static void to_real(rg_coarsening *c) {
    float scale = 1 / (float)c->n;
#pragma omp parallel for num_threads(c->setup.threads)
    for (int64_t i = 0; i < c->bins; i++)
        for (int part = 0; part < 2; part++) c->work_k[i][part] = scale * c->phi_k[i][part];
    inverse(c, c->phi);
}

// out = i k z, the derivative of one Fourier component.
static void times_ik(float *out, double k, const float *z) {
    out[0] = (float)-k * z[1];
    out[1] = (float)k * z[0];
}

// gx, gy = grad phi.
static void gradient(rg_coarsening *c) {
    for (int axis = 0; axis < 2; axis++) {
#pragma omp parallel for num_threads(c->setup.threads)
        for (int64_t v = 0; v < c->setup.height; v++)
            for (int64_t u = 0; u < c->half; u++)
                times_ik(
                    c->work_k[v * c->half + u], (axis ? c->ky_odd[v] : c->kx_odd[u]) / (double)c->n, c->phi_k[v * c->half + u]);
        inverse(c, axis ? c->gy : c->gx);
    }
}

// The force phi grad mu equals, but for a gradient, the divergence of grad phi (x) grad phi, so with A = phi_x phi_y and
// B = phi_y^2 - phi_x^2 the stream function of eta laplacian^2 psi = curl is
//     psi(k) = [(kx^2 - ky^2) A(k) + kx ky B(k)] / (eta k^4),   v = (d psi/dy, -d psi/dx).
static void flow(rg_coarsening *c) {
    gradient(c);
    for (int product = 0; product < 2; product++) {
#pragma omp parallel for num_threads(c->setup.threads)
        for (int64_t i = 0; i < c->n; i++) c->f[i] = product ? c->gy[i] * c->gy[i] - c->gx[i] * c->gx[i] : c->gx[i] * c->gy[i];
        forward(c, c->f, product ? c->b_k : c->a_k);
    }
    for (int axis = 0; axis < 2; axis++) {
#pragma omp parallel for num_threads(c->setup.threads)
        for (int64_t v = 0; v < c->setup.height; v++)
            for (int64_t u = 0; u < c->half; u++) {
                int64_t i = v * c->half + u;
                double kx = c->kx_odd[u], ky = c->ky_odd[v], k2 = kx * kx + ky * ky;
                double scale = k2 > 0 ? 1 / (c->setup.viscosity * k2 * k2 * (double)c->n) : 0;
                float of_a = (float)(scale * (kx * kx - ky * ky)), of_b = (float)(scale * kx * ky), psi[2];
                for (int part = 0; part < 2; part++) psi[part] = of_a * c->a_k[i][part] + of_b * c->b_k[i][part];
                times_ik(c->work_k[i], axis ? -kx : ky, psi);
            }
        inverse(c, axis ? c->vy : c->vx);
    }
}

void rg_coarsening_flow(rg_coarsening *c, float *vx, float *vy) {
    flow(c);
    memcpy(vx, c->vx, (size_t)c->n * sizeof *vx);
    memcpy(vy, c->vy, (size_t)c->n * sizeof *vy);
}

static double fastest(const rg_coarsening *c) {
    float most = 0;
#pragma omp parallel for num_threads(c->setup.threads) reduction(max : most)
    for (int64_t i = 0; i < c->n; i++) {
        float speed2 = c->vx[i] * c->vx[i] + c->vy[i] * c->vy[i];
        most = speed2 > most ? speed2 : most;
    }
    return sqrt(most);
}

// f = v . grad phi, transformed into a_k.
static void advection(rg_coarsening *c) {
#pragma omp parallel for num_threads(c->setup.threads)
    for (int64_t i = 0; i < c->n; i++) c->f[i] = c->vx[i] * c->gx[i] + c->vy[i] * c->gy[i];
    forward(c, c->f, c->a_k);
}

static void step(rg_coarsening *c, double dt) {
#pragma omp parallel for num_threads(c->setup.threads)
    for (int64_t i = 0; i < c->n; i++) c->f[i] = c->phi[i] * (c->phi[i] * c->phi[i] - 1);
    forward(c, c->f, c->f_k);
#pragma omp parallel for num_threads(c->setup.threads)
    for (int64_t v = 0; v < c->setup.height; v++)
        for (int64_t u = 0; u < c->half; u++) {
            int64_t i = v * c->half + u;
            double k2 = c->kx[u] * c->kx[u] + c->ky[v] * c->ky[v];
            double divisor = 1 / (1 + dt * k2 * (STABILISER + k2));
            float keep = (float)((1 + dt * k2 * STABILISER) * divisor), gain = (float)(dt * k2 * divisor);
            float carried = c->a_k && i > 0 ? (float)(dt * divisor) : 0; // v has no divergence, so the mean of phi is constant
            for (int part = 0; part < 2; part++)
                c->phi_k[i][part] =
                    keep * c->phi_k[i][part] - gain * c->f_k[i][part] - (c->a_k ? carried * c->a_k[i][part] : 0);
        }
    to_real(c);
    c->time += dt;
}

void rg_coarsening_advance(rg_coarsening *c, double time, void (*progress)(void *, double), void *data) {
    while (c->time < time) {
        double dt = fmax(FIRST_STEP, STEP * pow(c->time, 2.0 / 3));
        if (c->setup.model == RG_MODEL_H) {
            flow(c);
            double speed = fastest(c);
            dt = speed * dt > MOVE ? MOVE / speed : dt;
            advection(c);
        }
        // The last step ends at the requested time, and no step is tiny.
        double left = time - c->time;
        dt = left <= dt ? left : left < 2 * dt ? left / 2 : dt;
        step(c, dt);
        if (progress) progress(data, c->time);
        if (left <= dt) c->time = time;
    }
}

double rg_coarsening_time(const rg_coarsening *c) { return c->time; }
const float *rg_coarsening_phi(const rg_coarsening *c) { return c->phi; }

double rg_coarsening_energy(const rg_coarsening *c) {
    double gradient = 0, bulk = 0, n = (double)c->n;
    for (int64_t v = 0; v < c->setup.height; v++) // the whole plane from the half plane, by Friedel symmetry
        for (int64_t u = 0; u < c->half; u++) {
            double re = c->phi_k[v * c->half + u][0], im = c->phi_k[v * c->half + u][1];
            double mates = u == 0 || 2 * u == c->setup.width ? 1 : 2;
            gradient += (c->kx[u] * c->kx[u] + c->ky[v] * c->ky[v]) * mates * (re * re + im * im);
        }
    for (int64_t i = 0; i < c->n; i++) {
        double excess = 1 - (double)c->phi[i] * c->phi[i];
        bulk += excess * excess / 4;
    }
    return bulk / n + gradient / 2 / n / n;
}
