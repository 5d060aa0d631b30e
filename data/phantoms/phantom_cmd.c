// SPDX-License-Identifier: MIT
// phantom_cmd.c: the command `regather phantom`, a list of kinds.
#include "phantom.h"

static const rg_command *const kinds[] = {&rg_phantom_coarsening, &rg_phantom_particles, &rg_phantom_tilt,
                                          &rg_phantom_subtomograms, NULL};

const rg_command rg_cmd_phantom = {
    .name = "phantom",
    .summary = "input made from a seed: photographs, particle images, tilt series, subtomograms",
    .kind = kinds,
};
