// SPDX-License-Identifier: MIT
// phantom_cmd.c: the command `regather phantom`, a table of kinds.
#include "phantom.h"

#include <string.h>

static const rg_phantom kinds[] = {
    {"coarsening", "a series of photographs of a phase-separating fluid, for autocorr", rg_phantom_coarsening},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const rg_option options[] = {
    {"out", "DIR", "the folder for the photographs and times.tsv, made when missing", false},
    {"width", "W", "coarsening: pixels of a row (default 750)", false},
    {"height", "H", "coarsening: rows (default 1500)", false},
    {"frames", "N", "coarsening: photographs (default 8)", false},
    {"model", "B|H", "coarsening: diffusion only, or with Stokes flow (default H)", false},
    {"time", "T", "coarsening: time of the last photograph (default 16000 for model B, 120 for H: R_max near 80 pixels)",
     false},
    {"viscosity", "ETA", "coarsening: viscosity of model H (default 0.25)", false},
    {"format", "png|pgm", "coarsening: file format (default png)", false},
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
    "the flow amplifies it, so that single photographs differ but the lengths agree.";

static int run(const rg_cli *cli)
{
    const char *kind = rg_cli_word(cli, 0), *folder = rg_cli_text(cli, "out", NULL);
    if (!kind || rg_cli_count(cli) != 1 || !folder)
        return rg_fail(RG_USAGE, "phantom: expected one KIND and --out DIR (see regather phantom --help)");
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kind, kinds[i].name) == 0)
            return kinds[i].make(cli, folder);
    return rg_fail(RG_USAGE, "phantom: no kind \"%s\"; there is %s (%s)", kind, kinds[0].name, kinds[0].doc);
}

const rg_command rg_cmd_phantom = {
    .name = "phantom",
    .usage = "KIND --out DIR",
    .summary = "input made from a seed: photographs of a phase-separating fluid",
    .help = help,
    .option = options,
    .run = run,
};
