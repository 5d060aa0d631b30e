// SPDX-License-Identifier: MIT
#include "ctf.h"

#include "../../impl/base/core.h"

double rg_electron_wavelength_A(double voltage_kV) {
    double v = 1e3 * voltage_kV; // h / sqrt(2 m e V (1 + e V / (2 m c^2))), CODATA 2018
    return 12.264259661581955 / sqrt(v * (1 + 9.7847559e-7 * v));
}

// U cos^2 + V sin^2 of the azimuth against the angle is a quadratic form in (fx, fy).
rg_ctf rg_ctf_make(const rg_ctf_of *o) {
    double wave = rg_electron_wavelength_A(o->voltage_kV), degree = M_PI / 180, cs_A = 1e7 * o->cs_mm;
    double c = cos(o->defocus_angle_deg * degree), s = sin(o->defocus_angle_deg * degree), factor = -M_PI * wave;
    return (rg_ctf){
        .xx = factor * (o->defocus_u_A * c * c + o->defocus_v_A * s * s),
        .xy = factor * 2 * (o->defocus_u_A - o->defocus_v_A) * c * s,
        .yy = factor * (o->defocus_u_A * s * s + o->defocus_v_A * c * c),
        .quartic = M_PI / 2 * cs_A * wave * wave * wave,
        .constant = -o->phase_shift_deg * degree - asin(o->amplitude_contrast),
        .damping = -fabs(o->b_factor_A2) / 4,
        .scale = o->scale,
    };
}

double rg_ctf_at(const rg_ctf *ctf, double fx, double fy) {
    double g2 = fx * fx + fy * fy;
    double chi = ctf->xx * fx * fx + ctf->xy * fx * fy + ctf->yy * fy * fy + ctf->quartic * g2 * g2 + ctf->constant;
    double damping = ctf->damping == 0 ? 1 : exp(ctf->damping * g2);
    return -sin(chi) * ctf->scale * damping;
}

void rg_warn_of_defoci(const char *path, const char *rows, double least_A, double most_A) {
    static const double TOO_SMALL_A = 100;
    const double size_A = fmax(-least_A, most_A);
    if (size_A > 0 && size_A < TOO_SMALL_A)
        rg_warn("%s: defoci of all %s are within %g A; micrometres instead of Angstroms?", path, rows, TOO_SMALL_A);
    else if (most_A < 0)
        rg_warn("%s: defoci of all %s are below 0, which is overfocus here", path, rows);
}
