// SPDX-License-Identifier: MIT
// test_coarsening.c: the simulator against theory: growth of small modes, conservation, decay of energy, Stokes' equation by
// finite differences, and the growth laws.
#include "../../../data/phantoms/coarsening.h"
#include "../../../data/phantoms/phantom.h"
#include "../test.h"
#include "../test_files.h"

static rg_coarsening_setup setup_of(rg_coarsening_model model, int64_t width, int64_t height) {
    return (rg_coarsening_setup){width, height, model, 7, 0, 0.1, 0.25, 2};
}

// A single mode of small amplitude grows as exp(k^2 (1 - k^2) t) (linearised Cahn-Hilliard equation).
TEST(test_linear_growth) {
    enum { W = 64, H = 48 };
    const int mode[][2] = {{4, 0}, {0, 5}, {6, 3}, {12, 0}};
    RG_FREED float *phi = rg_alloc(W * H * sizeof *phi);
    for (int m = 0; m < 4; m++) {
        rg_coarsening_setup setup = setup_of(RG_MODEL_B, W, H);
        rg_coarsening *c = rg_coarsening_make(&setup);
        double kx = 2 * M_PI * mode[m][0] / W, ky = 2 * M_PI * mode[m][1] / H, k2 = kx * kx + ky * ky, found = 0;
        for (int i = 0; i < W * H; i++) phi[i] = (float)(1e-3 * cos(kx * (i % W) + ky * (i / W)));
        rg_coarsening_set(c, phi);
        rg_coarsening_advance(c, 2, NULL, NULL);
        for (int i = 0; i < W * H; i++) found += 2e3 / (W * H) * rg_coarsening_phi(c)[i] * cos(kx * (i % W) + ky * (i / W));
        // 40 steps of dt = 0.05, first order in k^2 dt (STABILISER + k^2): 5 % of the rate at the largest k^2 of 1.4.
        double rate = k2 * (1 - k2);
        assert_true(fabs(log(found) / 2 - rate) < 0.1 * k2 * k2 * (1.1 + k2) * 0.5 + 1e-3);
        assert_true(m == 3 ? found < 1 : found > 1.05);
        rg_coarsening_free(c);
    }
}

TEST(test_mass_and_energy) {
    for (int model = RG_MODEL_B; model <= RG_MODEL_H; model++) {
        rg_coarsening_setup setup = setup_of(model, 90, 64);
        setup.mean = 0.2;
        rg_coarsening *c = rg_coarsening_make(&setup);
        double before = rg_coarsening_energy(c), sum = 0, largest = 0;
        for (double t = 5; t <= 60; t += 5) {
            rg_coarsening_advance(c, t, NULL, NULL);
            double now = rg_coarsening_energy(c);
            assert_true(now < before); // both models only dissipate
            before = now;
        }
        assert_true(rg_coarsening_time(c) == 60);
        for (int i = 0; i < 90 * 64; i++) {
            sum += rg_coarsening_phi(c)[i];
            largest = fmax(largest, fabs(rg_coarsening_phi(c)[i]));
        }
        assert_true(fabs(sum / (90 * 64) - 0.2) < 1e-6); // in single precision the k = 0 mode is right to rounding
        assert_true(largest > 0.9 && largest < 1.2);     // two phases near -1 and +1
        rg_coarsening_free(c);
    }
}

// Fourth-order central differences on a smooth periodic field, which share no arithmetic with the spectral method.
static double derivative(const float *f, int w, int h, int x, int y, int axis) {
    double v[5];
    for (int d = -2; d <= 2; d++) v[d + 2] = f[(y + (axis ? d : 0) + h) % h * w + (x + (axis ? 0 : d) + w) % w];
    return (8 * (v[3] - v[1]) - (v[4] - v[0])) / 12;
}

static void differentiate(float *to, const float *f, int w, int h, int axis) {
    for (int i = 0; i < w * h; i++) to[i] = (float)derivative(f, w, h, i % w, i / w, axis);
}

// curl of eta laplacian v + force = 0 with the force mu grad phi, which equals - phi grad mu up to a gradient; div v = 0.
TEST(test_stokes_flow) {
    enum { W = 96, H = 80, N = W * H };
    float *f[8], *phi, *vx, *vy, *mu, *t1, *t2, *vorticity, *curl;
    for (int i = 0; i < 8; i++) f[i] = rg_alloc(N * sizeof(float));
    phi = f[0], vx = f[1], vy = f[2], mu = f[3], t1 = f[4], t2 = f[5], vorticity = f[6], curl = f[7];
    for (int i = 0; i < N; i++) {
        double x = 2 * M_PI * (i % W) / W, y = 2 * M_PI * (i / W) / H;
        phi[i] = (float)(0.5 * cos(2 * x + 0.3) * cos(y) + 0.3 * sin(x - 2 * y) + 0.2 * cos(3 * y + x));
    }
    rg_coarsening_setup setup = setup_of(RG_MODEL_H, W, H);
    rg_coarsening *c = rg_coarsening_make(&setup);
    rg_coarsening_set(c, phi);
    rg_coarsening_flow(c, vx, vy);
    // mu = phi^3 - phi - laplacian phi; the first two give a gradient, (phi^3 - phi) grad phi, which drives no flow.
    for (int axis = 0; axis < 2; axis++) {
        differentiate(t1, phi, W, H, axis);
        differentiate(t2, t1, W, H, axis);
        for (int i = 0; i < N; i++) mu[i] -= t2[i];
    }
    double size = 0, fault = 0, divergence = 0, scale = 0;
    for (int i = 0; i < N; i++) {
        int x = i % W, y = i / W;
        curl[i] = (float)(derivative(mu, W, H, x, y, 0) * derivative(phi, W, H, x, y, 1) -
            derivative(mu, W, H, x, y, 1) * derivative(phi, W, H, x, y, 0));
        vorticity[i] = (float)(derivative(vy, W, H, x, y, 0) - derivative(vx, W, H, x, y, 1));
        divergence = fmax(divergence, fabs(derivative(vx, W, H, x, y, 0) + derivative(vy, W, H, x, y, 1)));
        scale = fmax(scale, fabs(derivative(vx, W, H, x, y, 0)));
    }
    float *laplacian = vx; // no longer needed
    memset(laplacian, 0, N * sizeof *laplacian);
    for (int axis = 0; axis < 2; axis++) {
        differentiate(t1, vorticity, W, H, axis);
        differentiate(t2, t1, W, H, axis);
        for (int i = 0; i < N; i++) laplacian[i] += t2[i];
    }
    for (int i = 0; i < N; i++) {
        size = fmax(size, fabs(curl[i]));
        fault = fmax(fault, fabs(setup.viscosity * laplacian[i] + curl[i]));
    }
    // Waves of the products have 13 pixels or more: fourth-order differences are right to (2 pi / 13)^4 / 30 = 0.2 % each, and
    // up to five are applied in turn.
    assert_true(scale > 0 && divergence < 0.001 * scale);
    print_message("curl of the force %.3g, residual %.3g; divergence %.3g of %.3g\n", size, fault, divergence, scale);
    assert_true(size > 0 && fault < 0.01 * size);
    rg_coarsening_free(c);
    for (int i = 0; i < 8; i++) free(f[i]);
}

// The slope of log length against log time between two times. The length is that of stripes with the same interface energy, 2
// sigma / energy: moments of the spectrum, which falls as k^-3 in two dimensions, would have a logarithm.
static double exponent(rg_coarsening_model model, int64_t side, double from, double to, double length[2]) {
    rg_coarsening_setup setup = setup_of(model, side, side);
    rg_coarsening *c = rg_coarsening_make(&setup);
    for (int i = 0; i < 2; i++) {
        rg_coarsening_advance(c, i ? to : from, NULL, NULL);
        length[i] = 2 * sqrt(8) / 3 / rg_coarsening_energy(c);
    }
    rg_coarsening_free(c);
    return log(length[1] / length[0]) / log(to / from);
}

TEST(test_growth_laws) {
    double b[2], h[2];
    // Lifshitz and Slyozov: 1/3, approached from below as 1/3 - O(interface width / L) (Huse 1986), which at L = 15..30 with a
    // width of 1.4 is up to 0.06; the finite frame adds 0.03 of scatter.
    double n = exponent(RG_MODEL_B, 192, 200, 1500, b);
    print_message("model B: L %.1f to %.1f, exponent %.3f\n", b[0], b[1], n);
    assert_true(n > 0.24 && n < 0.37);
    // Siggia: 1 by flow, once L is beyond sqrt(eta) and the phases are connected; 0.1 for the onset, 0.15 for the finite frame.
    n = exponent(RG_MODEL_H, 256, 30, 75, h);
    print_message("model H: L %.1f to %.1f, exponent %.3f\n", h[0], h[1], n);
    assert_true(n > 0.8 && n < 1.2);
    assert_true(h[1] > b[1]); // already at a twentieth of the time
}
