// SPDX-License-Identifier: MIT
// phantom_cmd.c: the command `regather phantom`: lists and runs the kinds.
#include "phantom.h"

void rg_phantom_plan(const char *folder, const char *what, double bytes, rg_memory_need *need, const void *of, const char *fits,
    int n, const char *const *name) {
    rg_plan("phantom", "%s", what);
    rg_plan_memory("memory", bytes, rg_memory_free(), need, of, fits);
    for (int i = 0; i < n; i++) {
        RG_FREED char *path = rg_print("%s/%s", folder, name[i]);
        rg_plan_file(path);
    }
}

static const rg_command *const kinds[] = {
    &rg_phantom_coarsening, &rg_phantom_particles, &rg_phantom_tilt, &rg_phantom_subtomograms, NULL};

const rg_command rg_cmd_phantom = {
    .name = "phantom",
    .summary = "input made from a seed: photographs, particle images, tilt series, subtomograms",
    .kind = kinds,
};
