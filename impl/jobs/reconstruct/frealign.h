// SPDX-License-Identifier: MIT
// frealign.h: --method frealign, what the command needs to know of it.
#pragma once

#include "frealign_map.h"

extern const rg_option fr_reconstruct_options[]; // of fr_reconstruction
// --method frealign: the particles of the first word to out, with side, files.invert, half maps and mask as typed.
int fr_reconstruct(fr_reconstruction *, const rg_given *, const rg_computing *, const char *group);
