// SPDX-License-Identifier: MIT
// phantom_cmd.c: the command `regather phantom`, a table of kinds.
#include "phantom.h"

#include <string.h>

static const rg_phantom kinds[] = {
    {"coarsening", "a series of photographs of a phase-separating fluid, for autocorr",
     "out width height frames model time viscosity format", rg_phantom_coarsening},
    {"particles", "particle images at random orientations, their STAR file and map, for reconstruct",
     "out shape box images pixel sigma shift snr ctf", rg_phantom_particles},
    {"tilt", "a series of images, each under a known similarity transform of the one before, for align",
     "out width height images pixel rotation shift scale snr", rg_phantom_tilt},
    {"subtomograms", "volumes of one particle at known poses, with a missing wedge, for average",
     "out box images pixel sigma shift wedge snr", rg_phantom_subtomograms},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const rg_option options[] = {
    {"out", "DIR", "the folder for the files, made when missing", false},
    {"width", "W", "coarsening, tilt: pixels of a row (default 750, 1024)", false},
    {"height", "H", "coarsening, tilt: rows (default 1500, the width)", false},
    {"frames", "N", "coarsening: photographs (default 8)", false},
    {"model", "B|H", "coarsening: diffusion only, or with Stokes flow (default H)", false},
    {"time", "T", "coarsening: time of the last photograph (default 16000 for model B, 120 for H: R_max near 80 pixels)",
     false},
    {"viscosity", "ETA", "coarsening: viscosity of model H (default 0.25)", false},
    {"format", "png|pgm", "coarsening: file format (default png)", false},
    {"shape", "NAME", "particles: icosahedral (default), asymmetric or d7", false},
    {"box", "N", "particles, subtomograms: side of images and map in pixels (default 64, 90)", false},
    {"images", "N", "particles, tilt, subtomograms: how many (default 2000, 41, 20)", false},
    {"pixel", "A", "all but coarsening: Angstrom a pixel (default 1.5; d7: 258 / N)", false},
    {"sigma", "PX", "particles, subtomograms: standard deviation of a Gaussian in pixels (default 0.8, box / 40)", false},
    {"shift", "PX", "particles, subtomograms: shifts lie within +-PX on every axis (default 2, 3); tilt: from image to image "
     "(default 20)", false},
    {"rotation", "DEG", "tilt: rotations from image to image lie within +-DEG (default 2)", false},
    {"scale", "S", "tilt: magnifications from image to image lie within 1/S and S (default 1.01)", false},
    {"wedge", "DEG", "subtomograms: the tilt series went from -DEG to DEG about y (default 60; 90: no missing wedge)", false},
    {"snr", "S", "all but coarsening: add white noise, its variance that of the first image or of the map over S; 0: none "
     "(default 0 for particles, else 1)", false},
    {"ctf", NULL, "particles: a CTF, see below", false},
    {NULL, NULL, NULL, false},
};

static const char help[] =
    "Makes input from a seed. KIND coarsening: 8-bit photographs coarsening_0001.. of a fluid that separates into two\n"
    "phases, and times.tsv (photo, time) for `regather autocorr --times`. The order parameter phi follows the\n"
    "Cahn-Hilliard equation on a periodic grid, a pixel being the unit of length; data/coarsening.h has the\n"
    "equations.\n"
    "\n"
    "Model B: the length grows as t^(1/3), by diffusion (Lifshitz and Slyozov). Model H: Stokes flow is added, and\n"
    "the length grows in proportion to t while both phases are connected (Siggia). In two dimensions they fall apart\n"
    "in the end and growth slows: at 750 x 1500 R_max is a straight line through the origin from 10 to 85 pixels, in\n"
    "smaller frames it ends sooner. Take R_max of these photographs with --norm overlap or centred: raw sums fall\n"
    "with the overlap and drown shallow maxima.\n"
    "\n"
    "Frames lie at equal steps of length by that law: t_i = T (i/N) for model H, T (i/N)^3 for model B. Photograph:\n"
    "grey = (128 + 100 phi) (1 - 0.02 d^2), d the distance from the middle in half diagonals (uneven light), plus\n"
    "nearly normal noise (four uniform deviates) of variance 4 + grey/8 (camera and photons), rounded, clamped to\n"
    "0..255.\n"
    "\n"
    "The same seed, size and number of threads gives the same files on one machine; elsewhere rounding may differ and\n"
    "the flow amplifies it, so that single photographs differ but the lengths agree.\n"
    "\n"
    "KIND particles: DIR/particles.mrcs and particles.star (RELION 3.1: angles, origins in A, CTF with --ctf), and map.mrc, the\n"
    "map of which the images are projections: a sum of Gaussians below the Nyquist frequency, without interpolation\n"
    "(data/blobs.h). icosahedral: 60 equal parts in RELION's setting I1; asymmetric: 24 unequal parts; d7: 168 parts in a barrel\n"
    "of the 20S proteasome's size and symmetry (Li et al. 2010). Orientations are uniform over all rotations. An image is the\n"
    "projection shifted by -origin, with --ctf times RELION's CTF (protein bright) over twice the box: 300 kV, Cs 2.7 mm, 10 %\n"
    "amplitude contrast (d7: 200 kV, 2 mm, 7 %), underfocus 1 to 2.5 um, astigmatism to 500 A; plus noise. A stack is written\n"
    "as it is made, whatever its size.\n"
    "\n"
    "KIND tilt: DIR/series.mrc, truth.tsv (the transforms, as `regather align` writes them) and series.rawtlt. A flat\n"
    "specimen without end, a sum of Gaussians 1.5 to 64 pixels wide, is evaluated at the pixels of each image: nothing is\n"
    "interpolated.\n"
    "\n"
    "KIND subtomograms: DIR/subtomogram_0001.mrc.., truth.tsv (the poses, as `regather average` writes them) and map.mrc.\n"
    "The asymmetric particle at random poses, the first as the map stands, plus white noise, then without the frequencies\n"
    "|kz| > |kx| tan DEG.";

static int run(const rg_cli *cli)
{
    const char *kind = rg_cli_word(cli, 0), *folder = rg_cli_text(cli, "out", NULL);
    if (!kind || rg_cli_count(cli) != 1 || !folder)
        return rg_fail(RG_USAGE, "phantom: expected one KIND and --out DIR (see regather phantom --help)");
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kind, kinds[i].name) == 0) {
            int code = rg_cli_takes(cli, kinds[i].options, kind);
            return code == RG_GOOD ? kinds[i].make(cli, folder) : code;
        }
    return rg_fail(RG_USAGE, "phantom: no kind \"%s\"; the kinds are coarsening, particles, tilt and subtomograms", kind);
}

const rg_command rg_cmd_phantom = {
    .name = "phantom",
    .usage = "KIND --out DIR",
    .summary = "input made from a seed: photographs, particle images, tilt series, subtomograms",
    .help = help,
    .option = options,
    .run = run,
    .one_process = true,
};
