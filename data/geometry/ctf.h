// SPDX-License-Identifier: MIT
// ctf.h: the contrast transfer function in RELION's form and sign (Mindell and Grigorieff 2003, with phase shift and damping):
//     df  = (U + V)/2 + (U - V)/2 cos 2(azimuth - angle)
//     chi = -pi L df g^2 + pi/2 Cs L^3 g^4 - phase shift - asin(amplitude contrast)
//     c   = -sin(chi) scale exp(-|B| g^2 / 4)
// g is the spatial frequency in 1/A and L the electron's wavelength, so c(0) is plus the amplitude contrast: protein is bright.
// FREALIGN's c has the other sign. RELION writes a damping B above 0, Warp and M below 0; c never grows with g, hence |B|.
#pragma once

typedef struct rg_ctf_of {
    double voltage_kV, cs_mm, amplitude_contrast;
    double defocus_u_A, defocus_v_A, defocus_angle_deg, phase_shift_deg; // underfocus is positive
    double b_factor_A2, scale;
} rg_ctf_of;

typedef struct rg_ctf {
    double xx, xy, yy, quartic, constant, damping, scale;
} rg_ctf;

rg_ctf rg_ctf_make(const rg_ctf_of *);
double rg_ctf_at(const rg_ctf *, double fx, double fy); // frequencies in 1/A along columns and rows
// Warns if the defoci of all `rows` of a file, between least_A and most_A, are such as no specimen has.
void rg_warn_of_defoci(const char *path, const char *rows, double least_A, double most_A);
double rg_electron_wavelength_A(double voltage_kV); // relativistic
