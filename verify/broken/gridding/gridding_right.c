// SPDX-License-Identifier: MIT
// gridding_right.c: the control: the scatter that the others spoil, as it should be. It must pass.
#include "gridding.h"

BROKEN_GRIDDING("gridding_right", "the control: as it should be");
