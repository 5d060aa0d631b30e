// SPDX-License-Identifier: MIT
// command.h: runs a command: parses its options, finds its device, loads its plug-ins, calls it.
#pragma once

#include "../base/options.h"

int rg_command_run(const rg_command *, int argc, char **argv); // argv[0] is the command's name; returns the exit code

// ---- commands.c ----------------------------------------------------------------------------------------------------------

extern const rg_command *const rg_commands[]; // of commands.def; ended by NULL
int rg_main(int argc, char **argv);           // the command that argv[1] names; returns the exit code
